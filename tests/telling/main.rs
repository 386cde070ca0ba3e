//! What is said of a verdict: on the command line, in reports, in exported pictures and pages.

#[path = "../common/mod.rs"]
mod common;

mod bundles;
mod cli;
mod exports;
mod golden;
mod health;
mod html_report;
mod itself;
mod orders;
mod passes;
mod pictures;
mod stories;
mod structured;
mod told;
