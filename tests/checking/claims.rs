//! Headlines follow from the file: each claim is compared with the history alone, by code that knows neither edges nor
//! proofs.

use crate::common;

use common::mixed::{self, Mix};
use common::random::{Shape, for_histories, for_seeds, sketch};
use common::{corpus, examine, repository};
use isoscope::checkers::{Findings, Level, Options, Pattern, Violation};
use isoscope::control::Control;
use isoscope::counterexample::{self, Claim, Visibility};
use isoscope::formats;
use isoscope::history::{
    History, KeyId, Operation, OperationId, OperationKind, Outcome, TransactionId, Value,
};
use isoscope::relations::Relation;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const HISTORIES: u64 = 5_000;
const REGISTERS: Shape = Shape {
    transactions: 9,
    operations: 4,
    keys: 3,
    sessions: 4,
    repeated_values: false,
    clean: true,
};
const TROUBLED: Shape = Shape {
    transactions: 8,
    operations: 4,
    keys: 3,
    sessions: 4,
    repeated_values: false,
    clean: false,
};

/// Of a real history at most this many violations of each pattern are looked at.
const LOOKED_AT: usize = 20;

/// What the operations say by themselves.
struct Facts<'a> {
    history: &'a History,
    /// By key and value: who wrote it and may have committed.
    writers: BTreeMap<(KeyId, Value), BTreeSet<TransactionId>>,
}

impl Facts<'_> {
    fn of(history: &History) -> Facts<'_> {
        let mut writers: BTreeMap<_, BTreeSet<TransactionId>> = BTreeMap::new();
        for t in history
            .transactions()
            .filter(|&t| history.outcome(t) != Outcome::Aborted)
        {
            for o in history
                .operations_of(t)
                .map(|o| history.operation(o))
                .filter(|o| o.kind == OperationKind::Write)
            {
                writers.entry((o.key, o.value)).or_default().insert(t);
            }
        }
        Facts { history, writers }
    }

    fn operation(&self, o: OperationId) -> Operation {
        self.history.operation(o)
    }

    fn owner(&self, o: OperationId) -> TransactionId {
        self.history.transaction_of(o)
    }

    fn writes(&self, t: TransactionId, key: KeyId) -> bool {
        let mut operations = self.history.operations_of(t).map(|o| self.operation(o));
        operations.any(|o| o.kind == OperationKind::Write && o.key == key)
    }

    /// The values that a read returned, oldest first.
    fn returned(&self, read: OperationId) -> Vec<Value> {
        match self.history.lists().read_by(read) {
            Some(list) => list.to_vec(),
            None => vec![self.operation(read).value],
        }
    }

    /// Whether a read may have returned what a transaction wrote.
    fn may_read(&self, read: OperationId, from: TransactionId) -> bool {
        let key = self.operation(read).key;
        let returned = self.returned(read);
        if from.is_initial() {
            return returned.is_empty()
                || returned
                    .iter()
                    .all(|&v| v == Value::INITIAL || self.history.may_be_initial(key, v))
                || self.history.lists().read_by(read).is_some();
        }
        returned.iter().any(|&v| {
            self.writers
                .get(&(key, v))
                .is_some_and(|writers| writers.contains(&from))
        })
    }

    /// The transactions that come after one at once: in its session, by reading what only it wrote, by standing behind it in
    /// a list.
    fn after(&self, t: TransactionId) -> Vec<TransactionId> {
        let history = self.history;
        let mut after: Vec<TransactionId> = history
            .transactions_of(history.session_of(t))
            .filter(|&u| u > t)
            .collect();
        let only = |key: KeyId, value: Value| match self.writers.get(&(key, value)) {
            Some(writers) if writers.len() == 1 => writers.first().copied(),
            _ => None,
        };
        for read in (0..history.n_operations()).map(OperationId::new) {
            let Operation { kind, key, .. } = self.operation(read);
            let reader = self.owner(read);
            if kind != OperationKind::Read || history.outcome(reader) == Outcome::Aborted {
                continue;
            }
            let returned = self.returned(read);
            let wrote: Vec<Option<TransactionId>> =
                returned.iter().map(|&value| only(key, value)).collect();
            let mine = wrote.iter().rposition(|writer| *writer == Some(t));
            if let Some(mine) = mine {
                after.push(reader);
                after.extend(wrote[mine + 1..].iter().flatten());
                // Who appended what the list lacks did so later.
                if history.lists().read_by(read).is_some() {
                    let others = self
                        .writers
                        .iter()
                        .filter(|((k, v), _)| *k == key && !returned.contains(v));
                    after.extend(
                        others
                            .filter(|(_, writers)| writers.len() == 1)
                            .flat_map(|(_, writers)| writers),
                    );
                }
            }
        }
        after.retain(|&u| u != t);
        after
    }

    /// Whether a transaction read what another one wrote.
    fn reads_from(&self, reader: TransactionId, writer: TransactionId) -> bool {
        let mut all = self.history.operations_of(reader);
        all.any(|o| self.operation(o).kind == OperationKind::Read && self.may_read(o, writer))
    }

    /// Whether a value of a key was written by several transactions, or is initial as well.
    fn repeats(&self) -> bool {
        let may_be_initial = |key: &KeyId, value: &Value| self.history.may_be_initial(*key, *value);
        self.writers
            .iter()
            .any(|((key, v), writers)| writers.len() > 1 || may_be_initial(key, v))
    }

    /// Where values repeat, who was read from takes more than a look at them: then this says nothing.
    fn leads(&self, from: TransactionId, to: TransactionId) -> bool {
        if from.is_initial() || self.repeats() {
            return true;
        }
        let mut reached = BTreeSet::from([from]);
        let mut open = vec![from];
        while let Some(t) = open.pop() {
            for u in self.after(t) {
                if reached.insert(u) {
                    open.push(u);
                }
            }
        }
        reached.contains(&to)
    }
}

fn expect(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// Whether the history alone bears a claim out.
fn is_true(facts: &Facts<'_>, violation: &Violation, claim: &Claim) -> Result<(), String> {
    let history = facts.history;
    match claim {
        Claim::StaleRead {
            read,
            older,
            newer: (newer, write),
            visibility,
        } => {
            let (reader, key) = (facts.owner(*read), facts.operation(*read).key);
            expect(
                facts.may_read(*read, *older),
                "the read did not return that version",
            )?;
            expect(
                facts.writes(*newer, key),
                "the newer version is of another key",
            )?;
            let of_key =
                |o: &OperationId| facts.operation(*o).key == key && facts.owner(*o) == *newer;
            expect(
                write.as_ref().is_none_or(of_key),
                "the newer version is another write",
            )?;
            expect(newer != older, "one transaction wrote both")?;
            let written = write.map(|write| facts.operation(write).value);
            let has_it = facts.history.lists().read_by(*read).is_some()
                && written.is_some_and(|value| facts.returned(*read).contains(&value));
            expect(
                !has_it || facts.repeats(),
                "the list that was read has the newer version",
            )?;
            match visibility {
                Visibility::OwnSession => {
                    let one = history.session_of(*newer) == history.session_of(reader);
                    expect(
                        one && *newer < reader,
                        "it does not come before it in its session",
                    )?;
                }
                Visibility::ReadBefore(seen) | Visibility::Read(seen) => {
                    expect(
                        facts.owner(*seen) == reader,
                        "that read is of another transaction",
                    )?;
                    expect(facts.may_read(*seen, *newer), "it did not read from it")?;
                    let before = !matches!(visibility, Visibility::ReadBefore(_)) || seen < read;
                    expect(before, "it read from it only later")?;
                }
                Visibility::SessionRead(seen) => {
                    let earlier = facts.owner(*seen);
                    let one = history.session_of(earlier) == history.session_of(reader);
                    expect(
                        one && earlier < reader,
                        "that read is not of an earlier transaction of its session",
                    )?;
                    expect(
                        facts.may_read(*seen, *newer),
                        "its session did not read from it",
                    )?;
                }
                Visibility::WroteLater(seen) => {
                    expect(
                        facts.owner(*seen) == reader,
                        "that read is of another transaction",
                    )?;
                    let mut later = history
                        .transactions_of(history.session_of(*newer))
                        .filter(|later| later > newer);
                    expect(
                        later.any(|later| facts.may_read(*seen, later)),
                        "it did not read from that session later",
                    )?;
                }
                Visibility::SessionSawLater(seen) => {
                    let earlier = facts.owner(*seen);
                    let one = history.session_of(earlier) == history.session_of(reader);
                    expect(
                        one && earlier < reader,
                        "that read is not of an earlier transaction of its session",
                    )?;
                    let mut later = history
                        .transactions_of(history.session_of(*newer))
                        .filter(|later| later > newer);
                    expect(
                        later.any(|later| facts.may_read(*seen, later)),
                        "its session did not read from that one",
                    )?;
                }
                Visibility::Followed(seen) => {
                    expect(
                        facts.owner(*seen) == reader,
                        "that read is of another transaction",
                    )?;
                    expect(facts.leads(*newer, reader), "it does not follow it")?;
                }
                Visibility::Through => expect(facts.leads(*newer, reader), "it could not see it")?,
                // That the newer version comes before takes the whole cycle.
                Visibility::Order => return expect(*newer != reader, "it missed its own write"),
            }
            expect(
                facts.leads(*older, *newer),
                "nothing observed says that the version is newer",
            )
        }
        Claim::TwoReads { forced } => {
            expect(forced.len() >= 2, "one forced edge alone is no two reads")
        }
        Claim::LostWrite {
            key,
            writer,
            readers,
        } => {
            let took = |&t: &TransactionId| {
                let read = |o: OperationId| {
                    let is_read = facts.operation(o).kind == OperationKind::Read
                        && facts.operation(o).key == *key;
                    is_read && facts.may_read(o, *writer)
                };
                facts.writes(t, *key) && history.operations_of(t).any(read)
            };
            expect(
                !readers.is_empty() && readers.iter().all(took),
                "one of them did not read and write it",
            )
        }
        Claim::Overlap { key, writers, .. } => {
            let [first, second] = *writers;
            expect(first != second, "it is one transaction")?;
            expect(
                writers.iter().all(|&t| facts.writes(t, *key)),
                "one of them did not write the key",
            )?;
            expect(
                violation.levels.weakest() == Some(Level::SnapshotIsolation),
                "a weaker level is violated",
            )?;
            // Writers of the same key one after the other would leave nothing wrong.
            let missed = violation
                .edges
                .iter()
                .any(|edge| edge.relation == Relation::AntiDependency);
            expect(
                missed,
                "no read says that one started before the other committed",
            )?;
            expect(
                facts.repeats() || !facts.reads_from(second, first),
                "the second one read from the first",
            )
        }
        Claim::MissedEachOther { missed } | Claim::ReadersDisagree { missed } => {
            let [a, b] = missed.map(|e| &violation.edges[e]);
            for edge in [a, b] {
                let key = edge.key.ok_or("an anti-dependency has a key")?;
                let read = edge.from_operation.ok_or("an anti-dependency has a read")?;
                expect(
                    facts.owner(read) == edge.from,
                    "another transaction read it",
                )?;
                expect(
                    facts.writes(edge.to, key),
                    "what was missed was not written",
                )?;
                let newer = edge.to_operation.map(|write| facts.operation(write).value);
                let returned = facts.returned(read);
                let is_there = newer.is_some_and(|newer| returned.contains(&newer));
                expect(!is_there || facts.repeats(), "what was missed was read")?;
            }
            match claim {
                Claim::MissedEachOther { .. } => {
                    expect(a.from == b.to && b.from == a.to, "they are more than two")
                }
                _ => {
                    expect(
                        facts.leads(b.to, a.from),
                        "the first reader did not see the other write",
                    )?;
                    expect(
                        facts.leads(a.to, b.from),
                        "the second reader did not see the other write",
                    )
                }
            }
        }
        Claim::AgainstTheClock { clock, .. } => {
            let edge = &violation.edges[*clock];
            let (Some(first), Some(then)) =
                (history.interval(edge.from), history.interval(edge.to))
            else {
                return Err("there are no times".to_owned());
            };
            expect(first.end < then.start, "it had not ended")
        }
        Claim::OverwrittenBefore { read, by } => {
            let (old, new) = (facts.operation(*read), facts.operation(*by));
            expect(
                old.key == new.key && old.value != new.value,
                "it did not overwrite what was read",
            )?;
            let ran = |t: TransactionId| history.interval(t).ok_or("no times");
            let (reader, writer) = (ran(facts.owner(*read))?, ran(facts.owner(*by))?);
            expect(writer.end < reader.start, "the write had not ended")?;
            let same = |o: &OperationId| {
                facts.operation(*o)
                    == Operation {
                        kind: OperationKind::Write,
                        ..old
                    }
            };
            for o in (0..history.n_operations())
                .map(OperationId::new)
                .filter(same)
            {
                let t = facts.owner(o);
                if t == facts.owner(*read) || history.outcome(t) == Outcome::Aborted {
                    continue;
                }
                let other = ran(t)?;
                let is_old = history.outcome(t) == Outcome::Committed && other.end < writer.start;
                expect(
                    is_old || reader.end < other.start,
                    "another write of it may be newer",
                )?;
            }
            Ok(())
        }
        Claim::WrongValue { pattern, reads } => reads
            .iter()
            .try_for_each(|&read| wrong_value(facts, *pattern, read)),
        Claim::Observed | Claim::Ring { .. } | Claim::Cases => Ok(()),
    }
}

fn wrong_value(facts: &Facts<'_>, pattern: Pattern, read: OperationId) -> Result<(), String> {
    let (reader, Operation { key, value, .. }) = (facts.owner(read), facts.operation(read));
    if facts.history.lists().read_by(read).is_some() {
        return Ok(());
    }
    let own = |before: bool| {
        let writes = facts
            .history
            .operations_of(reader)
            .filter(move |o| (*o < read) == before);
        writes
            .map(|o| facts.operation(o))
            .filter(|o| o.kind == OperationKind::Write && o.key == key)
    };
    match pattern {
        Pattern::ThinAirRead | Pattern::AbortedRead => {
            let others = facts
                .writers
                .get(&(key, value))
                .is_none_or(|writers| writers.iter().all(|&t| t == reader));
            let own = own(true).any(|o| o.value == value);
            expect(
                others && !own,
                "a transaction that may have committed wrote it",
            )
        }
        Pattern::FutureRead => expect(
            own(false).any(|o| o.value == value),
            "it did not write it later",
        ),
        Pattern::NotMyOwnWrite => expect(
            own(true).last().is_some_and(|o| o.value != value),
            "it had not written another value",
        ),
        Pattern::NotMyLastWrite => {
            let last = own(true).last().is_some_and(|o| o.value != value);
            expect(
                last && own(true).any(|o| o.value == value),
                "it had not overwritten it",
            )
        }
        _ => Ok(()),
    }
}

/// How often each kind of claim was made.
type Tally = Mutex<BTreeMap<String, u64>>;

fn look_at(history: &History, tally: &Tally) -> Result<(), String> {
    look_at_found(history, &examine::check(history), tally)
}

fn look_at_found(history: &History, findings: &Findings, tally: &Tally) -> Result<(), String> {
    let facts = Facts::of(history);
    let mut looked_at: BTreeMap<Pattern, usize> = BTreeMap::new();
    for violation in &findings.violations {
        let n = looked_at.entry(violation.id.pattern).or_default();
        *n += 1;
        if *n > LOOKED_AT {
            continue;
        }
        let claim = counterexample::claim(history, violation);
        let words = || format!("{}: {claim:?}", counterexample::summary(history, violation));
        is_true(&facts, violation, &claim)
            .map_err(|problem| format!("{} {}: {problem}", violation.id, words()))?;
        let kind = format!("{claim:?}")
            .chars()
            .take_while(|c| c.is_alphanumeric())
            .collect();
        *tally
            .lock()
            .expect("no holder panics")
            .entry(kind)
            .or_default() += 1;
        let example = counterexample::minimize(
            history,
            violation,
            &Control::new().with_time_limit(std::time::Duration::from_millis(200)),
        );
        let claim = counterexample::claim(&example.history, &example.violation);
        is_true(&Facts::of(&example.history), &example.violation, &claim)
            .map_err(|problem| format!("{} minimised: {claim:?}: {problem}", violation.id))?;
    }
    Ok(())
}

#[test]
fn claims_about_generated_registers_are_true() {
    let tally = Tally::default();
    for shape in [REGISTERS, TROUBLED] {
        for_histories(shape, HISTORIES, |sketch| {
            look_at(&sketch.history(), &tally)
        });
    }
    let tally = tally.into_inner().expect("no holder panics");
    println!("{tally:?}");
    for kind in [
        "StaleRead",
        "TwoReads",
        "WrongValue",
        "LostWrite",
        "MissedEachOther",
        "ReadersDisagree",
        "Ring",
    ] {
        assert!(tally.contains_key(kind), "no {kind}");
    }
}

#[test]
fn claims_about_generated_histories_of_all_kinds_are_true() {
    let tally = Tally::default();
    for_seeds(2 * HISTORIES, |seed| {
        let mix = Mix::any(&mut fastrand::Rng::with_seed(seed));
        let text = mixed::text(&mix, seed);
        let Ok(history) = formats::text::parse(&text) else {
            return Ok(());
        };
        look_at(&history, &tally).map_err(|problem| format!("{text}{problem}"))
    });
    println!("{:?}", tally.into_inner().expect("no holder panics"));
}

#[test]
fn claims_about_guarantees_of_sessions_are_true() {
    let levels: Vec<Level> = Level::EVERY
        .into_iter()
        .filter(|level| level.is_of_sessions())
        .collect();
    let tally = Tally::default();
    for_seeds(HISTORIES, |seed| {
        let mix = Mix::any(&mut fastrand::Rng::with_seed(seed));
        let text = mixed::text(&mix, seed);
        let Ok(mixed) = formats::text::parse(&text) else {
            return Ok(());
        };
        let simulated = sketch(if seed % 2 == 0 { REGISTERS } else { TROUBLED }, seed);
        for (history, text) in [(mixed, text), (simulated.history(), simulated.to_string())] {
            let options = Options {
                levels: levels.clone(),
                max_instances: 3,
                ..Options::default()
            };
            let findings = isoscope::audit::check(&history, &options, &Control::new(), &|_| {});
            look_at_found(&history, &findings, &tally)
                .map_err(|problem| format!("{text}{problem}"))?;
        }
        Ok(())
    });
    println!("{:?}", tally.into_inner().expect("no holder panics"));
}

fn files_below(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files_below(&path, all)
        } else {
            all.push(path)
        }
    }
}

#[test]
fn claims_about_samples_and_the_corpus_are_true() {
    /// Larger files take long: the facts are worked out without any index.
    const MOST_OPERATIONS: usize = 3_000;
    let mut files = Vec::new();
    files_below(&repository("sample_histories"), &mut files);
    files_below(&corpus(), &mut files);
    files.sort();
    let tally = Tally::default();
    for path in &files {
        let Ok(history) = formats::open(path, None, &Control::new()) else {
            continue;
        };
        if history.n_operations() <= MOST_OPERATIONS {
            look_at(&history, &tally)
                .unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
        }
    }
    println!("{:?}", tally.into_inner().expect("no holder panics"));
}
