//! A counterexample as something to run: an order of its operations, a script for several terminals, a specification
//! for PostgreSQL's isolation tester.
//!
//! [`interleave()`] finds an order in which one up-to-date copy of the data, under a weaker isolation setting, answers what
//! was observed; [`sql()`] and [`spec()`] write that order down. What is made is a text: nothing here talks to a database.

mod script;
mod spec;
mod sql;
mod table;

pub use crate::counterexample::replay::{Action, Isolation, Plan, PlanStep, interleave};
pub use spec::spec;
pub use sql::sql;

use crate::history::History;

/// What a script is about.
pub struct Reproduction<'a> {
    /// The history to run: small, all of it is run.
    pub history: &'a History,
    /// The order to run it in.
    pub plan: &'a Plan,
    /// The setting that is claimed to forbid what was observed.
    pub isolation: Isolation,
    /// What it shows, in a line.
    pub headline: String,
    /// Where it is from, in a line.
    pub origin: String,
}
