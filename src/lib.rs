//! IsoScope: see which isolation anomalies a database history contains, and why.
//!
//! Data flows one way, bytes → History → Relations → Verdict → Counterexample → Diagram → Layout → Scene, and each
//! stop is a plain value that can be printed, tested and kept:
//!
//! | value | made by | what it is | leaves as |
//! |---|---|---|---|
//! | [`history::History`] | `formats`, `generate`, `collect` | what was observed | history files |
//! | [`relations::Index`], [`relations::Edge`] | `relations` | what that forces, each edge with its reason | |
//! | [`health::Health`] | `health` | whether that can be believed | report |
//! | [`checkers::Findings`] | `checkers`, `papers` | witness, violations or undecided, per level | report, which `verify` checks |
//! | [`counterexample::Counterexample`] | `counterexample` | the smallest part that convinces, and why | text, markdown |
//! | [`diagram::Diagram`] | `diagram` | nodes and edges | dot, json |
//! | `diagram::layout::Layout` | `diagram::layout` | coordinates | |
//! | `diagram::scene::Scene` | `diagram::scene` | shapes, each with its role and target | canvas, svg, png |
//!
//! What can be used without the rest is a crate of its own, with a page that says what it knows and what it does not;
//! Cargo keeps their arrows:
//!
//! | crate | modules | needs |
//! |---|---|---|
//! | `isoscope-model` | `control`, `files`, `graph`, `history`, `relations` | |
//! | `isoscope-formats` | `formats` | model |
//! | `isoscope-judge` | `verify`, and the report as data | model |
//! | `isoscope-draw` | `diagram`, `fonts` | model |
//! | `isoscope-record` | `generate`, `collect` | model |
//! | `isoscope-testing` | histories for tests | model, formats |
//! | `isoscope` | all others | model, formats, judge, draw, record |
//!
//! Who may import what (`tests/house/architecture.rs` keeps this table true):
//!
//! | module | what lives there | may import |
//! |---|---|---|
//! | `control` | stop flag, limits and progress; loops that end when they are stopped | |
//! | `files` | output files, whole or not there | |
//! | `history` | what was observed, nothing inferred | |
//! | `graph` | algorithms on vertex numbers | |
//! | `formats` | bytes ⇄ `History` | |
//! | `relations` | edges a history forces, each with its reason | |
//! | `sat` | clauses, acyclicity theory | graph, control |
//! | `checkers` | level → verdict | history, graph, relations, sat, control |
//! | `papers` | published checkers to compare with, and who is asked | history, graph, relations, sat, checkers, control |
//! | `health` | can the history be trusted? | history, relations, control |
//! | `counterexample` | smallest convincing part, and why | history, graph, relations, checkers, control |
//! | `report` | everything said about one history, as data | control, history, graph, relations, checkers, counterexample, health |
//! | `verify` | is the evidence real? | |
//! | `audit` | verdicts and counterexamples whose evidence was verified | history, relations, checkers, health, counterexample, report, verify, control |
//! | `follow` | a history checked while it is written | history, formats, checkers, audit, control |
//! | `diagram` | what to draw and where | |
//! | `export` | diagram, scene or explanation → bytes, and whole reports of them | control, history, formats, relations, checkers, health, counterexample, report, audit, diagram, fonts |
//! | `fonts` | which characters the bundled fonts lack, and installed ones that have them | |
//! | `jobs` | start, poll, cancel | control |
//! | `generate` | histories from workloads and store models | |
//! | `collect` | histories from workloads and real databases | |
//! | `hunt` | rounds of a workload, each recorded and checked; files followed as they grow | history, control, formats, checkers, audit, follow, generate, collect |
//! | `app` | window, panels, input | control, files, history, graph, formats, relations, sat, checkers, papers, health, counterexample, report, verify, audit, follow, diagram, export, fonts, jobs, generate, collect, hunt |
//! | `cli` | arguments → work → exit code | control, files, history, graph, formats, relations, sat, checkers, papers, health, counterexample, report, verify, audit, follow, diagram, export, fonts, generate, collect, hunt |
//!
//! Within a module, files import each other in one direction, too. Only what a `mod.rs` defines for the files below it
//! is for all of them: in `app`, the window itself.
//!
//! # As a library
//!
//! `isoscope = { version = "0.1", default-features = false }` is the library without window, command line and databases:
//! histories, checkers, counterexamples, reports and pictures as SVG; the feature `png` adds pictures as PNG. It builds in
//! about a minute on two cores.
//!
//! A history is opened, or built by [`history::Builder`]; its first anomaly becomes a picture. `examples` has a test suite
//! that checks what it recorded, a gate for continuous integration, and a format of one's own.
//!
//! ```
//! use isoscope::audit::{self, Examples};
//! use isoscope::checkers::Options;
//! use isoscope::control::Control;
//! use isoscope::export::{self, ComposeOptions, ExportKind};
//! use isoscope::formats;
//!
//! let control = Control::new();
//! let history = formats::open("sample_histories/web-shop.txt".as_ref(), None, &control)?;
//! let findings = audit::check(&history, &Options::default(), &control, &|_| {});
//! let first = findings.violations.first().expect("it violates read atomic");
//! let example = Examples::new(&history, &findings).of(first, &control);
//! let (small, why) = (&example.counterexample, &example.explanation);
//! let picture = export::compose(small, why, &history, &ComposeOptions::default());
//! let svg = export::export(ExportKind::Svg, &picture)?;
//! assert!(String::from_utf8(svg)?.contains("</svg>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use isoscope_check::{checkers, health, sat};
pub use isoscope_draw::diagram;
#[cfg(feature = "png")]
pub use isoscope_draw::fonts;
pub use isoscope_formats as formats;
pub use isoscope_judge::verify;
pub use isoscope_model::{control, files, graph, history, relations};
pub use isoscope_papers as papers;
#[cfg(feature = "cli")]
pub use isoscope_record::collect;
pub use isoscope_record::generate;
pub use isoscope_tell::{audit, counterexample, report};

#[cfg(feature = "window")]
pub mod app;
#[cfg(feature = "cli")]
pub mod cli;
pub mod export;
pub mod follow;
#[cfg(feature = "cli")]
pub mod hunt;
#[cfg(feature = "window")]
pub mod jobs;

// Unit tests share the small histories and the oracles of the integration tests, which know this crate by its name.
#[cfg(test)]
extern crate self as isoscope;

#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;
