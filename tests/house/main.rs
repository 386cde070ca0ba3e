//! The source, the documents and the samples themselves.

#[path = "../common/mod.rs"]
mod common;

mod documents;
mod languages;
mod samples;
mod schemas;
mod wording;
