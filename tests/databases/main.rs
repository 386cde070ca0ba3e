//! Recording from real servers, which the tests start and stop.

#[path = "../common/mod.rs"]
mod common;

mod cluster;
mod collect;
mod collect_barriers;
mod postgres;
