//! The description of a violation in addition to its proof: its name and number, its transactions, operations and key.

use super::roles::{self, last_write};
use super::{Described, Scene, Surplus, claim, names, pattern};
use isoscope_judge::report::{
    OperationEntry, OptionEntry, ProofEntry, ReasonEntry, ViolationEntry,
};
use isoscope_model::history::{OperationId, OperationKind, TransactionId};
use rustc_hash::FxHashSet;

impl Described<'_> {
    /// Everything that is wrong in its description. `told` is what its proof shows.
    pub(super) fn flaws(&self, told: &Scene, surplus: Surplus) -> Vec<String> {
        let claimed = claim::check(
            self.history,
            self.violation,
            &self.transactions,
            &told.reads,
        );
        let mut checks = vec![
            self.name(),
            self.texts(),
            self.key(told),
            self.other_names(told),
            claimed,
            claim::statements(self.violation),
        ];
        if surplus == Surplus::Refused {
            checks.extend([self.participants(), self.named_operations(told)]);
        }
        checks.into_iter().filter_map(Result::err).collect()
    }

    fn name(&self) -> Result<(), String> {
        let ViolationEntry {
            id, name, implied, ..
        } = self.violation;
        let pattern = self.violation.pattern.id();
        let known =
            pattern::name_of(pattern).ok_or_else(|| format!("there is no pattern {pattern}"))?;
        if known != name {
            return Err(format!("{pattern} is called {known}, not {name}"));
        }
        let ordinal = id
            .rsplit_once('/')
            .filter(|(of, _)| *of == pattern)
            .and_then(|(_, n)| n.parse::<u32>().ok());
        match ordinal {
            Some(1..) if !implied || pattern::cell(pattern).is_some() => Ok(()),
            Some(1..) => Err(format!("instances of {pattern} are never implied")),
            _ => Err(format!("its id is {id}, expected {pattern} and a number")),
        }
    }

    /// Every operation that it spells out must be in the history as given.
    fn texts(&self) -> Result<(), String> {
        let stated = self
            .violation
            .statements
            .iter()
            .flat_map(|statement| &statement.operations);
        let entries = self
            .violation
            .operations
            .iter()
            .chain(named(&self.violation.proof))
            .chain(stated);
        let claimed = self
            .violation
            .claim
            .iter()
            .flat_map(|claim| claim.operations());
        let entries = entries.chain(claimed);
        entries.into_iter().try_for_each(|entry| {
            let o = self.entry(entry)?;
            let (text, line) = (self.history.operation_text(o), self.history.line_of(o));
            let line = Some(line).filter(|&line| line > 0);
            let spot = self.named.spot_of(o);
            let place = spot.map(|spot| spot.text(self.named.origin()));
            if entry.place.is_some() && entry.place != place {
                return Err(format!(
                    "{text} is at {}",
                    place.unwrap_or_else(|| "no known place".to_owned())
                ));
            }
            match (entry.text == text, entry.line == line) {
                (true, true) => Ok(()),
                (false, _) => Err(format!(
                    "operation {} is {text}, not {}",
                    entry.index, entry.text
                )),
                (true, false) => Err(match line {
                    Some(line) => format!(
                        "{text} is at {line}, not at {:?}",
                        entry.line.unwrap_or_default()
                    ),
                    None => format!("{text} has no line"),
                }),
            }
        })
    }

    /// Each transaction is listed once, and for a reason.
    fn participants(&self) -> Result<(), String> {
        let mut seen = FxHashSet::default();
        if let Some(twice) = self.transactions.iter().find(|&&t| !seen.insert(t)) {
            return Err(format!(
                "{} is listed twice",
                self.history.transaction_name(*twice)
            ));
        }
        let mut used = vec![false; self.transactions.len()];
        let mut mark = |place: usize| {
            if let Some(used) = used.get_mut(place) {
                *used = true;
            }
        };
        for edge in &self.violation.edges {
            mark(edge.from);
            mark(edge.to);
            match edge.reason {
                ReasonEntry::Visible { reader, .. } | ReasonEntry::Listed { reader, .. } => {
                    mark(reader)
                }
                ReasonEntry::Overwrites { writer, .. } => mark(writer),
                _ => {}
            }
        }
        let proof = &self.violation.proof;
        self.violation
            .operations
            .iter()
            .chain(named(proof))
            .for_each(|entry| mark(entry.transaction));
        writers(proof).into_iter().for_each(&mut mark);
        let stated = self
            .violation
            .statements
            .iter()
            .flat_map(|said| &said.operations);
        stated
            .filter(|entry| self.wrote_what_was_read(entry))
            .for_each(|entry| mark(entry.transaction));
        let unused = used
            .iter()
            .zip(&self.transactions)
            .filter(|(used, _)| !**used)
            .map(|(_, &t)| t);
        match unused.into_iter().find(|&t| !self.is_one_of_many(t)) {
            Some(unused) => Err(format!(
                "{} has no part in it",
                self.history.transaction_name(unused)
            )),
            None => Ok(()),
        }
    }

    /// Whether an operation is a write of a value that one of the operations that no order explains read.
    fn wrote_what_was_read(&self, entry: &OperationEntry) -> bool {
        let of = |entry: &OperationEntry| {
            let o = self.entry(entry).ok()?;
            Some(self.history.operation(o))
        };
        let Some(write) = of(entry).filter(|o| o.kind == OperationKind::Write) else {
            return false;
        };
        let mut reads = self.violation.operations.iter().filter_map(of);
        self.violation.pattern == names::LINEAR
            && reads.any(|read| {
                (read.kind, read.key, read.value) == (OperationKind::Read, write.key, write.value)
            })
    }

    /// Whether one of its reads may have read from a transaction, but has too many such writers to list one by one.
    fn is_one_of_many(&self, t: TransactionId) -> bool {
        const MOST_TOLD: usize = 8;
        let stated = self
            .violation
            .statements
            .iter()
            .flat_map(|statement| &statement.operations);
        let entries = self
            .violation
            .operations
            .iter()
            .chain(named(&self.violation.proof))
            .chain(stated);
        let claimed = self
            .violation
            .claim
            .iter()
            .flat_map(|claim| claim.operations());
        let entries = entries.chain(claimed);
        let of = |entry: &OperationEntry| self.entry(entry);
        let operations = entries.filter_map(|entry| of(entry).ok());
        let mut reads =
            operations.filter(|&o| self.history.operation(o).kind == OperationKind::Read);
        reads.any(|read| {
            let writers = self.reads.writers(read);
            writers.len() > MOST_TOLD && writers.contains(&t)
        })
    }

    fn key(&self, told: &Scene) -> Result<(), String> {
        let is = told
            .key
            .map(|key| self.history.key_names().get(key.index()));
        match (&self.violation.key, is) {
            (said, is) if *said == is => Ok(()),
            (_, Some(is)) => Err(format!("its contradiction shows on key {is}")),
            (_, None) => Err("its contradiction does not show on one key".to_owned()),
        }
    }

    fn other_names(&self, told: &Scene) -> Result<(), String> {
        let also = &self.violation.also;
        match also
            .iter()
            .find(|name| self.violation.pattern == name.as_str() || !told.also.contains(name))
        {
            Some(name) => Err(format!("it is not known as {name}, too")),
            None if also.iter().collect::<FxHashSet<_>>().len() < also.len() => {
                Err("one of its other names is given twice".to_owned())
            }
            None => Ok(()),
        }
    }

    /// The operations that it names in addition to those of its edges concern its reads.
    fn named_operations(&self, told: &Scene) -> Result<(), String> {
        let proof = &self.violation.proof;
        let listed = &self.violation.operations;
        if self.violation.pattern == names::LINEAR {
            // What its lines name besides wrote what was read.
            let mut whole: Vec<usize> = listed.iter().map(|entry| entry.transaction).collect();
            whole.sort_unstable();
            whole.dedup();
            let n_operations = |&place: &usize| {
                let t = self.transactions.get(place);
                t.map_or(0, |&t| self.history.operations_of(t).len())
            };
            let all: usize = whole.iter().map(n_operations).sum();
            let mut places: Vec<(usize, usize)> = listed
                .iter()
                .map(|entry| (entry.transaction, entry.index))
                .collect();
            places.sort_unstable();
            places.dedup();
            return require!(
                places.len() == all && listed.len() == all,
                "it does not name all operations of its transactions"
            );
        }
        let has_cases = !names::is_last_part(proof) || matches!(proof, ProofEntry::Appends { .. });
        if !has_cases
            && matches!(
                proof,
                ProofEntry::Cycle { .. } | ProofEntry::Split { .. } | ProofEntry::Clauses { .. }
            )
        {
            return match listed.first() {
                Some(entry) => Err(format!("{} has no part in its cycles", entry.text)),
                None => Ok(()),
            };
        }
        let mut reads = told.reads.clone();
        let of = |entry: &OperationEntry| self.entry(entry);
        let in_proof = named(proof)
            .into_iter()
            .map(of)
            .collect::<Result<Vec<_>, _>>()?;
        reads.extend(
            in_proof
                .iter()
                .filter(|&&o| self.history.operation(o).kind == OperationKind::Read),
        );
        let shown = roles::ReadRoles {
            reads: self.reads,
            pattern: self.violation.pattern.id(),
        };
        for entry in listed {
            let o = of(entry)?;
            let has_part = if has_cases {
                self.may_concern(o, &reads)
            } else {
                shown.concerns(&told.reads, o)
            };
            if !in_proof.contains(&o) && !reads.contains(&o) && !has_part {
                return Err(format!("{} has no part in it", entry.text));
            }
        }
        Ok(())
    }

    /// Whether one of some reads may have returned a write or a version that it overwrote, or has it as a list element.
    fn may_concern(&self, o: OperationId, reads: &[OperationId]) -> bool {
        let history = self.history;
        let write = history.operation(o);
        let t = history.transaction_of(o);
        let is_last = |before| last_write(history, t, write.key, before) == Some(o);
        write.kind == OperationKind::Write
            && reads.iter().any(|&read| {
                let seen = history.operation(read);
                let is_own = t == history.transaction_of(read);
                let is_of_list = history.lists().read_by(read).is_some();
                let is_concerned =
                    seen.value == write.value || is_last(None) || is_own && is_last(Some(read));
                seen.key == write.key && (is_concerned || is_of_list)
            })
    }
}

/// The operations that a proof names.
fn named(proof: &ProofEntry) -> Vec<&OperationEntry> {
    let (mut found, mut open) = (Vec::new(), vec![proof]);
    while let Some(part) = open.pop() {
        match part {
            ProofEntry::Reads { reads, .. } => found.extend(reads),
            ProofEntry::Split { first, second, .. } => open.extend([&*first.proof, &*second.proof]),
            ProofEntry::Writers { read, .. } => found.push(read),
            ProofEntry::Appends { read, cases, .. } => {
                found.push(read);
                found.extend(cases.iter().map(|case| &case.append));
            }
            ProofEntry::Combinations { options, .. } => {
                for option in options {
                    match option {
                        OptionEntry::Writer { read, .. } => found.push(read),
                        OptionEntry::Append { read, append, .. } => found.extend([read, append]),
                        OptionEntry::Outcome { .. } => {}
                    }
                }
            }
            ProofEntry::Read
            | ProofEntry::Cycle { .. }
            | ProofEntry::Clauses { .. }
            | ProofEntry::Outcomes { .. } => {}
        }
        open.extend(part.cases());
    }
    found
}

/// Places of the writers and of the transactions of unknown outcome that a proof distinguishes.
fn writers(proof: &ProofEntry) -> Vec<usize> {
    let (mut found, mut open) = (Vec::new(), vec![proof]);
    while let Some(part) = open.pop() {
        match part {
            ProofEntry::Split { first, second, .. } => open.extend([&*first.proof, &*second.proof]),
            ProofEntry::Writers { cases, .. } => found.extend(cases.iter().map(|case| case.writer)),
            ProofEntry::Outcomes { transaction, .. } => found.push(*transaction),
            ProofEntry::Combinations { options, .. } => {
                found.extend(options.iter().filter_map(|option| match option {
                    OptionEntry::Writer { writer, .. } => Some(*writer),
                    OptionEntry::Outcome { transaction, .. } => Some(*transaction),
                    OptionEntry::Append { .. } => None,
                }));
            }
            _ => {}
        }
        open.extend(part.cases());
    }
    found
}
