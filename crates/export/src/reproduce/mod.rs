//! A counterexample in runnable form: an order of its operations, a script for several terminals, a specification for
//! PostgreSQL's isolation tester.
//!
//! [`plan()`] finds an order in which one up-to-date copy of the data, under a weaker isolation setting, answers
//! what was observed; [`sql()`] and [`spec()`] write that order down. The result is text: nothing here talks to a
//! database.

mod script;
mod spec;
mod sql;
mod table;

pub use isoscope_tell::counterexample::replay::{
    Action, Isolation, Plan, PlanStep, interleave, plan,
};
pub use spec::spec;
pub use sql::sql;

use isoscope_model::history::History;

/// The subject of a script.
pub struct Reproduction<'a> {
    /// The history to run: small, because all of it is run.
    pub history: &'a History,
    /// The order to run it in.
    pub plan: &'a Plan,
    /// The setting that is claimed to forbid what was observed.
    pub isolation: Isolation,
    /// What it shows, in one line.
    pub headline: String,
    /// Its origin, in one line.
    pub origin: String,
}
