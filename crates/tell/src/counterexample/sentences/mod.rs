//! Every sentence about a counterexample: what it claims, what each step states, why an edge is there, which levels
//! allow it, what it takes for granted, and what its replay shows.
//!
//! Nothing is decided here. Sentences are made of data, and no other module of this room makes any: `narrate` and
//! `at_length` only assemble them.

pub(super) mod captions;
mod cases;
mod edges;
pub(super) mod facts;
mod headline;
pub(super) mod orders;
mod rules;
pub(super) mod runs;
mod scans;
mod size;
mod speaker;
mod statements;
pub(super) mod verdict;
mod words;
mod wrong_reads;
mod wrong_values;

pub(super) use edges::{at_length, capitalized};
pub use headline::{Headline, codes, headline, summary, title};
pub use size::size;
pub(super) use speaker::Speaker;
pub(super) use statements::step_number;
pub(super) use words::{Words, counted};
