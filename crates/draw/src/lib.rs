#![doc = include_str!("../README.md")]

pub mod diagram;
#[cfg(feature = "fonts")]
pub mod fonts;
