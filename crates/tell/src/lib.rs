#![doc = include_str!("../README.md")]

pub mod audit;
pub mod counterexample;
pub mod document;
pub mod report;
pub mod workload;
