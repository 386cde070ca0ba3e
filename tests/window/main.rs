//! The window, driven without a screen.
#![cfg(feature = "window")]

#[path = "../common/mod.rs"]
mod common;

mod arranging;
mod basics;
mod collect;
mod drawing;
mod legibility;
mod live;
mod replay;
mod tasks;
mod views;
mod window;
