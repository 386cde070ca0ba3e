#![doc = include_str!("../README.md")]

pub mod follow;
#[cfg(feature = "hunt")]
pub mod hunt;
