#![doc = include_str!("../README.md")]

pub mod control;
pub mod files;
pub mod graph;
pub mod history;
pub mod levels;
pub mod relations;

// Unit tests include the random histories of `isoscope-testing`, which know this crate by its name.
#[cfg(test)]
mod common;
#[cfg(test)]
extern crate self as isoscope_model;
