//! What the integration tests share: a literal oracle, small random histories, and where things lie on disk.

// Every test binary compiles this module and uses its own part of it.
#![allow(dead_code)]

pub(crate) mod adya;
pub(crate) mod enumerate;
pub(crate) mod examine;
pub(crate) mod forgeries;
pub(crate) mod formulas;
pub(crate) mod instances;
pub(crate) mod linear;
pub(crate) mod mixed;
pub(crate) mod notation;
pub(crate) mod oracle;
pub(crate) mod papers;
pub(crate) mod parts;
pub(crate) mod pattern_oracle;
#[cfg(unix)]
pub(crate) mod postgres;
pub(crate) mod published_oracle;
pub(crate) mod random;
pub(crate) mod rewrite;
#[cfg(unix)]
pub(crate) mod servers;
pub(crate) mod shop;
pub(crate) mod sketch;
pub(crate) mod store;
pub(crate) mod strong;
pub(crate) mod tamper;

use isoscope::history::{Builder, History, OperationKind, Origin, Outcome, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A file or folder of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The folder of real histories, which is not part of the repository: `ISOSCOPE_CORPUS`, or `shared/corpus` beside the
/// repository. Prints a line and answers `None` where it is absent.
pub(crate) fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("ISOSCOPE_CORPUS").map_or_else(|| repository("../shared/corpus"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no corpus");
    None
}

/// Reads Plume's one-operation-a-line text, for tests that must not depend on the readers of the library. Every line of
/// the pseudo-transaction -1 becomes an aborted transaction of its own: nothing depends on how they are grouped.
pub(crate) fn plume(text: &str) -> History {
    let mut builder = Builder::new(Origin::default());
    builder.initial_value(Value(0));
    let mut drafts = BTreeMap::new();
    for line in text.split_whitespace() {
        let inner = line[2..].strip_suffix(')').expect("an operation ends in a parenthesis");
        let field: Vec<i64> = inner.split(',').map(|n| n.parse().expect("fields are numbers")).collect();
        let session = builder.session_number(field[2] as u64);
        let draft = match field[3] {
            -1 => builder.transaction(session, Outcome::Aborted),
            id => *drafts.entry(id).or_insert_with(|| builder.transaction(session, Outcome::Committed)),
        };
        let kind = if line.starts_with('r') { OperationKind::Read } else { OperationKind::Write };
        let key = builder.key_number(field[0] as u64);
        builder.operation(draft, kind, key, Value(field[1] as u64), 0);
    }
    builder.finish().expect("tiny histories fit")
}
