#![doc = include_str!("../README.md")]

pub mod checkers;
pub mod health;
pub mod report;
pub mod sat;
