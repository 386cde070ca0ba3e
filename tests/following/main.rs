//! Histories that are checked while they grow.

#[path = "../common/mod.rs"]
mod common;

mod answers;
mod barriers;
mod checkpoints;
mod cli;
mod live;
