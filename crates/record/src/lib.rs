#![doc = include_str!("../README.md")]

#[cfg(feature = "collect")]
pub mod collect;
pub mod generate;
