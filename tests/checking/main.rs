//! Verdicts and their evidence: engines against each other, against brute force, against the papers and against recorded histories.

#[path = "../common/mod.rs"]
mod common;

mod agreement;
mod asked_levels;
mod choices;
mod claims;
mod combinations;
mod corpus;
mod corpus_failed;
mod corpus_papers;
mod counterexamples;
mod exhaustive;
mod hidden;
mod instances;
mod lattice;
mod linear;
mod list_outcomes;
mod listed;
mod lists;
mod long_histories;
mod machines;
mod metamorphic;
mod papers;
mod papers_strong;
mod published_counts;
mod reductions;
mod repeated_values;
mod second_opinion;
mod shards;
mod strict;
mod tables;
mod tampered;
mod tiny;
mod update_serializability;
mod weak_tiny;
