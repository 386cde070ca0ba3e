//! IsoScope: see which isolation anomalies a database history contains, and why.
//!
//! Data flows one way, bytes → History → Relations → Verdict → Counterexample → Diagram → Layout → Scene, and each
//! stop is a plain value that can be printed, tested and kept:
//!
//! | value | made by | what it is | leaves as |
//! |---|---|---|---|
//! | [`history::History`] | `formats`, `generate`, `collect`, `recorder` | what was observed | history files |
//! | [`relations::Index`], [`relations::Edge`] | `relations` | what that forces, each edge with its reason | |
//! | [`health::Health`] | `health` | whether that can be believed | report |
//! | [`checkers::Findings`] | `checkers`, `papers` | witness, violations or undecided, per level | report, which `verify` checks |
//! | [`counterexample::Counterexample`] | `counterexample` | the smallest part that convinces, and why | text, markdown |
//! | [`diagram::Diagram`] | `diagram` | nodes and edges | dot, json |
//! | `diagram::layout::Layout` | `diagram::layout` | coordinates | |
//! | `diagram::scene::Scene` | `diagram::scene` | shapes, each with its role and target | canvas, svg, png |
//!
//! Each part is a crate of its own, with a page that says what it knows and what it does not; Cargo keeps their arrows:
//!
//! | crate | modules | needs |
//! |---|---|---|
//! | `isoscope-model` | `control`, `files`, `graph`, `history`, `levels`, `relations` | |
//! | `isoscope-formats` | `formats`: bytes ⇄ `History` | model |
//! | `isoscope-judge` | `verify`: is the evidence real? And the report as data | model |
//! | `isoscope-check` | `checkers`: level → verdict; `sat`; `health`: can the history be trusted? | model, judge for the report |
//! | `isoscope-papers` | `papers`: published checkers to compare with | model, check |
//! | `isoscope-tell` | `counterexample`: smallest convincing part, and why; `report`; `audit`: verified verdicts | model, judge, check |
//! | `isoscope-draw` | `diagram`: what to draw and where; `fonts` | model |
//! | `isoscope-export` | `export`: pictures, pages, texts | model, formats, check, tell, draw |
//! | `isoscope-record` | `generate`, `collect`: histories from workloads, store models and real databases | model |
//! | `isoscope-follow` | `follow`: a history checked while it is written; `hunt`: rounds of a workload | model, formats, check, tell, record |
//! | `isoscope-testing` | histories and oracles for tests | model, formats, judge for the report |
//! | `isoscope` | `recorder`: histories of a test's threads, and an assertion; `cli`: arguments → work → exit code; `app`: window; `jobs`: start, poll, cancel | all |
//!
//! # As a library
//!
//! `isoscope = { version = "0.1", default-features = false }` is the library without window, command line and databases:
//! histories, checkers, counterexamples, reports and pictures as SVG; the feature `png` adds pictures as PNG. It builds in
//! about a minute on two cores.
//!
//! A history is opened, [recorded by the threads of a test](recorder), which [`assert_holds!`] then judges (`docs/testing.md`),
//! or built by [`history::Builder`]; its first anomaly becomes a picture. `examples` has a store with a bug that its test
//! finds, a test suite, a gate for continuous integration, and a format of one's own.
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
pub use isoscope_export as export;
pub use isoscope_follow::follow;
#[cfg(feature = "cli")]
pub use isoscope_follow::hunt;
pub use isoscope_formats as formats;
pub use isoscope_judge::verify;
pub use isoscope_model::{control, files, graph, history, levels, relations};
pub use isoscope_papers as papers;
#[cfg(feature = "cli")]
pub use isoscope_record::collect;
pub use isoscope_record::generate;
pub use isoscope_tell::{audit, counterexample, document, report, workload};

// Public for the program, its tests and its benches: what a name says is not said again.
#[allow(missing_docs)]
#[cfg(feature = "window")]
pub mod app;
#[allow(missing_docs)]
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "window")]
pub mod jobs;
pub mod recorder;

// Unit tests share the small histories and the oracles of the integration tests, which know this crate by its name.
#[cfg(test)]
extern crate self as isoscope;

#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;
