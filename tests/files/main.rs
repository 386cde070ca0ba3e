//! Formats, readers and writers, and what they make of broken or hostile input.

#[path = "../common/mod.rs"]
mod common;

mod clause_logs;
mod containers;
mod conversions;
mod corpus_formats;
mod damaged;
mod declared_set_up;
mod elle;
mod elle_cli;
mod elle_issues;
mod formats;
mod generate;
mod hostile_names;
mod limits;
mod meanings;
mod porcupine;
mod recorder;
mod set_up;
mod streams;
mod workloads;
