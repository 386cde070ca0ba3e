//! Steps → [`History`].

use super::line::{Access, Key};
use super::{FORMAT, Steps, refuse};
use crate::{Problem, ReadError, name};
use isoscope_model::control::Control;
use isoscope_model::history::{Builder, Draft, History, OperationKind, Outcome, Value};
use std::collections::BTreeMap;

/// Most reads of keys that a history gets.
const MOST_READS: usize = 1 << 24;

/// The value that `Del` writes.
const ABSENT: &str = "absent";

/// The keys that occur, and whether they are deleted.
fn keys(steps: &Steps<'_>) -> BTreeMap<Key, bool> {
    let mut keys = BTreeMap::new();
    for (access, _) in steps.transactions.iter().flat_map(|(_, accesses)| accesses) {
        match access {
            Access::Get(key, _) | Access::Put(key, _) => _ = keys.entry(key.clone()).or_default(),
            Access::Del(key) => _ = keys.insert(key.clone(), true),
            Access::Scan(_, _, rows) => rows.iter().for_each(|(key, _)| {
                keys.entry(key.clone()).or_default();
            }),
            Access::Nothing => {}
        }
    }
    keys
}

/// Makes the history of these steps.
pub(super) fn history(
    steps: &Steps<'_>,
    builder: Builder,
    control: &Control,
) -> Result<History, ReadError> {
    let mut writing = Writing {
        keys: keys(steps),
        builder,
        n_read: 0,
    };
    writing.remark(steps);
    for ((outcome, accesses), number) in steps.transactions.iter().zip(1..) {
        let session = writing.builder.session_number(number);
        let draft = writing.builder.transaction(session, *outcome);
        for (access, line) in accesses {
            writing.access(draft, access, *line, control)?;
        }
    }
    writing.set_up();
    let finished = writing.builder.finish();
    finished.map_err(|error| ReadError::whole(FORMAT.name, error))
}

/// A history while it is built.
struct Writing {
    builder: Builder,
    keys: BTreeMap<Key, bool>,
    /// Number of keys that scans read.
    n_read: usize,
}

impl Writing {
    fn remark(&mut self, steps: &Steps<'_>) {
        self.builder.assume(
            "The text names neither clients nor times: each transaction is a session of its own, and only levels without order are decided.",
        );
        let counts = [
            (steps.n_passed, "Lines that are no steps"),
            (
                steps.n_aside,
                "Steps that concern no data, such as `AdminSplit`",
            ),
        ];
        for (n, what) in counts.into_iter().filter(|(n, _)| *n > 0) {
            self.builder.assume(format!("{what}: {n}, passed over."));
        }
        if steps.n_weaker > 0 {
            self.builder.assume(format!(
                "Transactions that ask for a weaker level than serializable: {}.",
                steps.n_weaker
            ));
        }
    }

    fn access(
        &mut self,
        draft: Draft,
        access: &Access,
        line: u32,
        control: &Control,
    ) -> Result<(), ReadError> {
        use OperationKind::{Read, Write};
        match access {
            Access::Get(key, value) => self.operation(draft, Read, key, value.as_deref(), line),
            Access::Put(_, value) if value == ABSENT => {
                let message = format!("the value `{ABSENT}` means that there is none here");
                return refuse(line, Problem::Other(message));
            }
            Access::Put(key, value) => self.operation(draft, Write, key, Some(value), line),
            Access::Del(key) => self.operation(draft, Write, key, None, line),
            Access::Scan(from, to, rows) if from < to => {
                control
                    .check()
                    .map_err(|interrupt| ReadError::whole(FORMAT.name, interrupt))?;
                let rows: BTreeMap<&Key, &str> =
                    rows.iter().map(|(key, value)| (key, &**value)).collect();
                let known: Vec<Key> = self
                    .keys
                    .range(from..to)
                    .map(|(key, _)| key.clone())
                    .collect();
                self.n_read += known.len();
                if self.n_read > MOST_READS {
                    let message = format!("too large: scans read more than {MOST_READS} keys");
                    return refuse(line, Problem::Other(message));
                }
                for key in known {
                    self.operation(draft, Read, &key, rows.get(&key).copied(), line);
                }
            }
            Access::Scan(..) | Access::Nothing => {}
        }
        Ok(())
    }

    /// Adds a read or a write of a value, or of none.
    fn operation(
        &mut self,
        draft: Draft,
        kind: OperationKind,
        key: &Key,
        value: Option<&str>,
        line: u32,
    ) {
        let is_deleted = self.keys.get(key) == Some(&true);
        let builder = &mut self.builder;
        let value = match value {
            None if !is_deleted => Value::INITIAL,
            value => name::value(builder, value.unwrap_or(ABSENT)),
        };
        let key = name::key(builder, &key.name());
        builder.operation(draft, kind, key, value, line);
    }

    /// Adds a transaction from before all others, in which the keys that are deleted later are absent, too: so what reads
    /// of them find may be that, or any of the deletions.
    fn set_up(&mut self) {
        let deleted: Vec<Key> = self
            .keys
            .iter()
            .filter(|(_, is)| **is)
            .map(|(key, _)| key.clone())
            .collect();
        if deleted.is_empty() {
            return;
        }
        let session = self.builder.session_name("before");
        let draft = self.builder.transaction(session, Outcome::Committed);
        for key in &deleted {
            self.operation(draft, OperationKind::Write, key, None, 0);
        }
        self.builder.set_up(draft);
    }
}
