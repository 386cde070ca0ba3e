//! The claim of a violation: does it follow from the history and from the edges, which have been checked already?

use super::writes_of;
use isoscope_judge::report::{
    ClaimKind, EdgeEntry, MissedEntry, OperationEntry, ProofEntry, ReasonEntry, SightWord,
    ViolationEntry,
};
use isoscope_model::history::{
    History, KeyId, OperationId, OperationKind, Outcome, TransactionId, Value,
};
use rustc_hash::FxHashSet;

/// Whether the claim of a violation is true. `wrong` are the reads that its proof shows to be wrong. O(edges²).
pub(super) fn check(
    history: &History,
    violation: &ViolationEntry,
    transactions: &[TransactionId],
    wrong: &[OperationId],
) -> Result<(), String> {
    let Some(claim) = &violation.claim else {
        return Ok(());
    };
    let scene = ClaimScope {
        history,
        violation,
        transactions,
    };
    let checked = match &claim.says {
        ClaimKind::WrongValue { pattern, reads } => scene.wrong_value(pattern, reads, wrong),
        ClaimKind::StaleRead {
            read,
            older,
            newer,
            write,
            sight,
            seen,
        } => scene.stale_read(
            read,
            (*older, *newer),
            write.as_ref(),
            (*sight, seen.as_ref()),
        ),
        ClaimKind::TwoReads { reads } => scene.two_reads(reads),
        ClaimKind::Observed => {
            // A contradiction of real time is claimed of the clock.
            let holds = |e: &&EdgeEntry| scene.is_known(e) && e.kind != "RT";
            require!(
                scene.cycle()?.iter().all(holds),
                "it rests on more than sessions, reads and lists"
            )
        }
        ClaimKind::LostWrite {
            key,
            writer,
            readers,
        } => scene.lost_write(key, *writer, readers),
        ClaimKind::Overlap {
            key,
            writers,
            is_open,
        } => scene.overlap(key, writers, *is_open),
        ClaimKind::ReadersDisagree { missed } | ClaimKind::MissedEachOther { missed } => {
            let each_other = matches!(claim.says, ClaimKind::MissedEachOther { .. });
            scene.two_missed(missed, each_other)
        }
        ClaimKind::Ring { missing } => scene.ring(missing),
        ClaimKind::AgainstTheClock {
            ended,
            began,
            missed,
        } => scene.clock(*ended, *began, missed.as_ref()),
        ClaimKind::OverwrittenBefore { read, write } => scene.overwritten_before(read, write),
        ClaimKind::Cases => require!(
            scene.cycle().is_err() && !is_of_reads(&violation.proof),
            "it has no cases"
        ),
    };
    checked.map_err(|message| format!("its claim does not hold: {message}"))
}

/// Whether each statement has its number, follows from earlier ones, and mentions only what exists.
pub(super) fn statements(violation: &ViolationEntry) -> Result<(), String> {
    for (place, statement) in violation.statements.iter().enumerate() {
        let number = statement.number;
        let wrong = |what: &str| Err(format!("statement {number} {what}"));
        if number != place + 1 {
            return wrong(&format!("is in place {}", place + 1));
        }
        if statement
            .premises
            .iter()
            .any(|&premise| premise == 0 || premise >= number)
        {
            return wrong("does not follow from earlier ones");
        }
        if !matches!(
            statement.role.as_str(),
            "observed" | "rule" | "supposed" | "concluded" | "contradiction"
        ) {
            return wrong("has no role in an argument");
        }
        if statement.edges.iter().any(|&e| e >= violation.edges.len())
            || statement
                .transactions
                .iter()
                .any(|&t| t >= violation.transactions.len())
        {
            return wrong("speaks of what is not listed");
        }
    }
    Ok(())
}

fn is_of_reads(proof: &ProofEntry) -> bool {
    matches!(proof, ProofEntry::Read | ProofEntry::Reads { .. })
}

/// Whether an edge follows from sessions, reads and lists.
fn is_observed(edge: &EdgeEntry) -> bool {
    use ReasonEntry::{Listed, Path, ReadModifyWrite, Reads, SessionOrder};
    matches!(
        edge.reason,
        SessionOrder | Reads | Path { .. } | Listed { .. } | ReadModifyWrite { .. }
    )
}

/// A read that did not return the newer of two versions: by place the reader, its read, and the two writers.
struct Choice {
    reader: usize,
    read: Option<usize>,
    older: usize,
    newer: (usize, Option<usize>),
}

/// The choice that an edge rests on, if it rests on one.
fn choice(edge: &EdgeEntry) -> Option<Choice> {
    match edge.reason {
        ReasonEntry::Visible { reader, read, .. } => Some(Choice {
            reader,
            read: Some(read),
            older: edge.to,
            newer: (edge.from, edge.from_operation),
        }),
        ReasonEntry::Overwrites { writer, .. } => Some(Choice {
            reader: edge.from,
            read: edge.from_operation,
            older: writer,
            newer: (edge.to, edge.to_operation),
        }),
        _ => None,
    }
}

struct ClaimScope<'a> {
    history: &'a History,
    violation: &'a ViolationEntry,
    transactions: &'a [TransactionId],
}

impl ClaimScope<'_> {
    /// The edges of the only cycle.
    fn cycle(&self) -> Result<Vec<&EdgeEntry>, String> {
        match &self.violation.proof {
            ProofEntry::Cycle { edges } => Ok(edges
                .iter()
                .filter_map(|&e| self.violation.edges.get(e))
                .collect()),
            _ => Err("it does not end in one cycle".to_owned()),
        }
    }

    /// Whether an edge follows from sessions, reads and lists, or from both versions in the list that its reader
    /// returned.
    fn is_known(&self, edge: &EdgeEntry) -> bool {
        is_observed(edge) || self.is_in_its_list(edge) == Ok(true)
    }

    fn is_in_its_list(&self, edge: &EdgeEntry) -> Result<bool, String> {
        let (&ReasonEntry::Visible { reader, read, .. }, Some(append)) =
            (&edge.reason, edge.from_operation)
        else {
            return Ok(false);
        };
        let read = operation(self.history, self.transactions, reader, read)?;
        let appended = self.history.operation(operation(
            self.history,
            self.transactions,
            edge.from,
            append,
        )?);
        let has_it = self
            .history
            .lists()
            .read_by(read)
            .is_some_and(|list| list.contains(&appended.value));
        let is_repeated = || {
            self.history
                .is_repeated_element(appended.key, appended.value)
        };
        Ok(has_it && !self.transaction(edge.to)?.is_initial() && !is_repeated())
    }

    fn transaction(&self, place: usize) -> Result<TransactionId, String> {
        self.transactions
            .get(place)
            .copied()
            .ok_or_else(|| format!("there is no transaction at place {place}"))
    }

    fn operation(
        &self,
        entry: &OperationEntry,
        kind: OperationKind,
    ) -> Result<OperationId, String> {
        let o = operation(
            self.history,
            self.transactions,
            entry.transaction,
            entry.index,
        )?;
        if self.history.operation(o).kind == kind {
            Ok(o)
        } else {
            Err(format!("{} is another kind of operation", entry.text))
        }
    }

    fn writes(&self, t: TransactionId, key: KeyId) -> bool {
        writes_of(self.history, t, key).next().is_some()
    }

    fn wrong_value(
        &self,
        pattern: &str,
        reads: &[OperationEntry],
        wrong: &[OperationId],
    ) -> Result<(), String> {
        let known = match &self.violation.proof {
            ProofEntry::Reads { pattern, .. } => *pattern,
            _ => self.violation.pattern,
        };
        require!(known == *pattern, "it is of another pattern")?;
        let reads = reads
            .iter()
            .map(|read| self.operation(read, OperationKind::Read))
            .collect::<Result<Vec<_>, _>>()?;
        // For two different versions in one transaction all reads of the key may be listed.
        let is_told = match pattern {
            // Which of equal elements was read may be open.
            _ if wrong.is_empty() || !self.history.appends().repeated().is_empty() => true,
            "TAP-j" => wrong.iter().all(|read| reads.contains(read)),
            _ => reads.iter().all(|read| wrong.contains(read)) && !reads.is_empty(),
        };
        require!(is_told, "these reads are not the wrong ones")
    }

    fn stale_read(
        &self,
        entry: &OperationEntry,
        (older, newer): (usize, usize),
        write: Option<&OperationEntry>,
        (sight, seen): (SightWord, Option<&OperationEntry>),
    ) -> Result<(), String> {
        let read = self.operation(entry, OperationKind::Read)?;
        let key = self.history.operation(read).key;
        let (reader, writer) = (
            self.transaction(entry.transaction)?,
            self.transaction(newer)?,
        );
        require!(
            older != newer && self.writes(writer, key),
            "the newer version is none of this key"
        )?;
        if let Some(write) = write {
            let o = self.operation(write, OperationKind::Write)?;
            let is_it = write.transaction == newer && self.history.operation(o).key == key;
            require!(is_it, "the newer version is another write")?;
        }
        let cycle: Vec<&EdgeEntry> = self
            .cycle()?
            .into_iter()
            .filter(|e| choice(e).is_none() || !self.is_known(e))
            .collect();
        let is_it = |made: &Choice| {
            (made.reader, made.read, made.older, made.newer.0)
                == (entry.transaction, Some(entry.index), older, newer)
                && made.newer.1 == write.map(|write| write.index)
        };
        require!(
            cycle
                .iter()
                .filter_map(|e| choice(e))
                .any(|made| is_it(&made)),
            "no edge says that it missed this version",
        )?;
        let read_from = |seen: &OperationEntry| {
            let is_it = |e: &&EdgeEntry| {
                let ends = (newer, entry.transaction, Some(seen.index));
                matches!(e.reason, ReasonEntry::Reads) && (e.from, e.to, e.to_operation) == ends
            };
            require!(
                seen.transaction == entry.transaction,
                "it saw it by the read of another transaction"
            )?;
            require!(
                self.violation.edges.iter().any(|e| is_it(&e)),
                "no edge says that it read from it"
            )
        };
        match (sight, seen) {
            (SightWord::OwnSession, None) => {
                // ⊥, which has no session, writes no key.
                let one = self.history.session_of(writer) == self.history.session_of(reader);
                let before = self.history.position_of(writer) < self.history.position_of(reader);
                require!(
                    one && before,
                    "the newer version was not written before in its session"
                )?;
            }
            (SightWord::ReadBefore, Some(seen)) => {
                read_from(seen)?;
                let moment = |read: &OperationEntry| {
                    let first = self.history.operation_range(reader).start;
                    self.history.moment_of(OperationId::new(first + read.index))
                };
                require!(
                    moment(seen) <= moment(entry),
                    "it saw the newer version only later"
                )?;
            }
            (SightWord::Read, Some(seen)) => read_from(seen)?,
            (SightWord::SessionRead, Some(seen)) => {
                let from = self.read_at(seen)?;
                let earlier = self.transaction(seen.transaction)?;
                require!(from == newer, "the session read from another transaction")?;
                require!(
                    self.in_session(earlier, reader),
                    "the transaction that read from it is not of the session"
                )?;
            }
            (SightWord::WroteLater, Some(seen)) => {
                let later = self.transaction(self.read_at(seen)?)?;
                require!(
                    seen.transaction == entry.transaction,
                    "another transaction read from the session"
                )?;
                require!(
                    self.in_session(writer, later),
                    "the newer version was not written before in that session"
                )?;
            }
            (SightWord::SessionSawLater, Some(seen)) => {
                let later = self.transaction(self.read_at(seen)?)?;
                let earlier = self.transaction(seen.transaction)?;
                require!(
                    self.in_session(earlier, reader),
                    "the transaction that read it is not of the session"
                )?;
                require!(
                    self.in_session(writer, later),
                    "the newer version was not written before in that session"
                )?;
            }
            (SightWord::Followed, Some(seen)) => {
                let later = self.read_at(seen)?;
                require!(
                    seen.transaction == entry.transaction,
                    "another transaction read what follows"
                )?;
                require!(
                    later != newer && self.leads(newer, later),
                    "nothing observed leads to what was read"
                )?;
            }
            (SightWord::Through, None) => {
                require!(
                    self.leads(newer, entry.transaction),
                    "nothing observed leads from the one to the other"
                )?;
            }
            (SightWord::Order, None) => {
                let n = cycle
                    .iter()
                    .filter(|e| choice(e).is_some() && !self.is_known(e))
                    .count();
                return require!(n == 1, "something else was missed, too");
            }
            _ => return Err("it does not say how the newer version was seen".to_owned()),
        }
        let is_initial = self.transaction(older)?.is_initial();
        require!(
            is_initial || self.leads(older, newer),
            "nothing observed says that the version is older"
        )
    }

    /// The writer of what a read returned, by place, as an edge says it.
    fn read_at(&self, read: &OperationEntry) -> Result<usize, String> {
        let is_it = |e: &&EdgeEntry| {
            matches!(e.reason, ReasonEntry::Reads)
                && (e.to, e.to_operation) == (read.transaction, Some(read.index))
        };
        let edge = self.violation.edges.iter().find(is_it);
        edge.map(|edge| edge.from)
            .ok_or_else(|| "no edge says what it saw it by".to_owned())
    }

    /// Whether one transaction ran before another in its session. ⊥ has none.
    fn in_session(&self, before: TransactionId, after: TransactionId) -> bool {
        let history = self.history;
        !before.is_initial()
            && !after.is_initial()
            && history.session_of(before) == history.session_of(after)
            && history.position_of(before) < history.position_of(after)
    }

    /// Whether observed edges lead from one transaction to another, by place.
    fn leads(&self, from: usize, to: usize) -> bool {
        let mut reached = FxHashSet::from_iter([from]);
        let mut open = vec![from];
        while let Some(place) = open.pop() {
            for edge in self
                .violation
                .edges
                .iter()
                .filter(|e| e.from == place && self.is_known(e))
            {
                if reached.insert(edge.to) {
                    open.push(edge.to);
                }
            }
        }
        reached.contains(&to)
    }

    fn two_reads(&self, reads: &[OperationEntry]) -> Result<(), String> {
        let cycle = self.cycle()?;
        let said: Vec<_> = reads
            .iter()
            .map(|read| (read.transaction, Some(read.index)))
            .collect();
        let are_it = |edges: &mut dyn Iterator<Item = &&EdgeEntry>| {
            edges
                .filter_map(|edge| choice(edge))
                .map(|made| (made.reader, made.read))
                .eq(said.iter().copied())
        };
        // An order that a list shows by itself need not count as a read that forces an order.
        let holds = are_it(&mut cycle.iter())
            || are_it(&mut cycle.iter().filter(|edge| !self.is_known(edge)));
        require!(!said.is_empty() && holds, "other reads close the cycle")
    }

    /// Whether each of these read what one transaction wrote to the key, wrote the key itself, and none that did is left out.
    fn lost_write(&self, key: &str, writer: usize, readers: &[usize]) -> Result<(), String> {
        // By place: whose version an edge says was read, and the reader, which wrote the key.
        let update = |edge: &EdgeEntry| -> Option<(usize, usize)> {
            let (of, reader, index) = match edge.reason {
                ReasonEntry::Reads => (edge.from, edge.to, edge.to_operation),
                ReasonEntry::Overwrites { writer: of, .. } => (of, edge.from, edge.from_operation),
                _ => return None,
            };
            let read = operation(self.history, self.transactions, reader, index?).ok()?;
            let is_of_key = edge.key.as_deref() == Some(key);
            let t = self.transaction(reader).ok()?;
            (is_of_key && self.writes(t, self.history.operation(read).key)).then_some((of, reader))
        };
        let updates: Vec<(usize, usize)> = self.violation.edges.iter().filter_map(update).collect();
        let distinct: FxHashSet<usize> = readers.iter().copied().collect();
        require!(!readers.is_empty(), "no transaction updated the key")?;
        require!(
            distinct.len() == readers.len(),
            "it names one of them twice"
        )?;
        let took = |reader: &usize| updates.contains(&(writer, *reader));
        require!(
            readers.iter().all(took),
            "one of them did not read and write it"
        )?;
        // Where several versions were updated, only those on the cycle are told.
        let is_one = updates.iter().all(|(of, _)| *of == writer);
        let is_told = updates.iter().all(|(_, reader)| distinct.contains(reader));
        require!(
            !is_one || is_told,
            "it leaves out one that read and wrote it"
        )
    }

    /// Whether snapshot isolation is the weakest level broken, and the cycle has one edge between writers of the key,
    /// whose rest leads from the start of the second to the commit of the first.
    fn overlap(&self, key: &str, writers: &[usize], is_open: bool) -> Result<(), String> {
        let levels = &self.violation.levels;
        let is_weakest =
            levels.iter().any(|level| *level == "SI") && levels.iter().all(|level| *level != "PC");
        require!(
            is_weakest,
            "snapshot isolation is not the weakest level broken"
        )?;
        let cycle = self.cycle()?;
        let of_writers: Vec<&&EdgeEntry> = cycle.iter().filter(|edge| edge.kind == "WW").collect();
        let [edge] = of_writers.as_slice() else {
            return Err("the cycle has several orders of writers".to_owned());
        };
        let is_it = writers == [edge.from, edge.to] && edge.key.as_deref() == Some(key);
        require!(is_it, "the cycle orders other writers")?;
        let (from, to) = (edge.from_operation, edge.to_operation);
        for (place, index) in [(edge.from, from), (edge.to, to)] {
            let index = index.ok_or("a write is not named")?;
            let write =
                self.history
                    .operation(operation(self.history, self.transactions, place, index)?);
            let is_of_key = write.kind == OperationKind::Write
                && self.history.key_names().get(write.key.index()) == key;
            require!(is_of_key, "one of them did not write the key")?;
        }
        require!(
            is_open == matches!(edge.reason, ReasonEntry::Conflict { .. }),
            "the order of the two is not as open"
        )?;
        let missed = |edge: &&EdgeEntry| edge.kind == "RW";
        let apart = cycle
            .iter()
            .zip(cycle.iter().cycle().skip(1))
            .all(|(a, b)| !(missed(a) && missed(b)));
        require!(apart, "two reads in a row missed a write")
    }

    /// Whether an edge of the cycle says that a reader missed a write.
    fn is_missed(&self, missed: &MissedEntry) -> Result<(), String> {
        let of = |entry: Option<&OperationEntry>, t: usize| match entry {
            Some(entry) if entry.transaction != t => {
                Err("an operation is of another transaction".to_owned())
            }
            entry => Ok(entry.map(|entry| entry.index)),
        };
        let (read, write) = (
            of(missed.read.as_ref(), missed.reader)?,
            of(missed.write.as_ref(), missed.writer)?,
        );
        let is_it = |edge: &&EdgeEntry| {
            matches!(edge.reason, ReasonEntry::Overwrites { .. })
                && (edge.from, edge.to) == (missed.reader, missed.writer)
                && (edge.from_operation, edge.to_operation) == (read, write)
        };
        require!(
            self.cycle()?.iter().any(is_it),
            "no edge says that it was missed"
        )
    }

    fn two_missed(&self, missed: &[MissedEntry], each_other: bool) -> Result<(), String> {
        let [a, b] = missed else {
            return Err("it takes two".to_owned());
        };
        self.is_missed(a)?;
        self.is_missed(b)?;
        let cycle = self.cycle()?;
        if each_other {
            return require!(
                (a.reader, a.writer) == (b.writer, b.reader),
                "it was not of each other"
            );
        }
        require!(
            a.reader != b.writer && b.reader != a.writer && a.reader != b.reader,
            "it is no two readers and two writers",
        )?;
        let saw = |edge: &&EdgeEntry| matches!(edge.kind.code(), "WR" | "SO" | "CO");
        let others = cycle.iter().filter(|edge| edge.kind != "RW").all(saw);
        let n = cycle.iter().filter(|edge| edge.kind == "RW").count();
        require!(others && n == 2, "they did not see the other write")
    }

    fn ring(&self, missing: &[usize]) -> Result<(), String> {
        let cycle = self.cycle()?;
        let has_seen = |edge: &&EdgeEntry| matches!(edge.reason, ReasonEntry::Visible { .. });
        require!(
            !cycle.iter().any(has_seen),
            "who saw a newer version need not have missed one"
        )?;
        let readers: Vec<usize> = cycle
            .iter()
            .filter_map(|e| choice(e))
            .map(|made| made.reader)
            .collect();
        require!(readers.len() != 1, "a single missed write is no ring")?;
        let readers: FxHashSet<usize> = readers.into_iter().collect();
        let said: FxHashSet<usize> = missing.iter().copied().collect();
        require!(
            said == readers && said.len() == missing.len(),
            "others missed a write"
        )
    }

    fn clock(
        &self,
        ended: usize,
        began: usize,
        missed: Option<&MissedEntry>,
    ) -> Result<(), String> {
        let interval = |place: usize| -> Result<_, String> {
            let t = self.transaction(place)?;
            Ok(if t.is_initial() {
                None
            } else {
                self.history.interval(t)
            })
        };
        let in_order =
            matches!((interval(ended)?, interval(began)?), (Some(a), Some(b)) if a.end < b.start);
        require!(in_order, "the one had not ended before the other began")?;
        let cycle = self.cycle()?;
        let is_there = cycle
            .iter()
            .any(|edge| edge.kind == "RT" && (edge.from, edge.to) == (ended, began));
        require!(is_there, "the cycle does not rest on it")?;
        missed.map_or(Ok(()), |missed| {
            require!(
                (missed.reader, missed.writer) == (began, ended) && cycle.len() == 2,
                "it is not of the earlier one",
            )?;
            self.is_missed(missed)
        })
    }

    /// Whether every write of the value read ended before another write began or began after the read, which began
    /// after that other write.
    fn overwritten_before(
        &self,
        read: &OperationEntry,
        write: &OperationEntry,
    ) -> Result<(), String> {
        let history = self.history;
        let (read, by) = (
            self.operation(read, OperationKind::Read)?,
            self.operation(write, OperationKind::Write)?,
        );
        let time = |o: OperationId| {
            let interval = history.interval(history.transaction_of(o));
            interval.ok_or_else(|| format!("{} has no times", history.operation_text(o)))
        };
        let (returned, newer) = (history.operation(read), history.operation(by));
        require!(
            returned.key == newer.key && returned.value != newer.value,
            "the one did not overwrite the other"
        )?;
        require!(
            returned.value != Value::UNRECORDED && history.differs_from(read).is_none(),
            "what was read is not known",
        )?;
        require!(
            history.outcome(history.transaction_of(by)) == Outcome::Committed,
            "the write may not have happened"
        )?;
        let (read_at, by_at) = (time(read)?, time(by)?);
        require!(by_at.end < read_at.start, "the read began too early")?;
        for t in history
            .transactions()
            .filter(|&t| t != history.transaction_of(read))
        {
            let writes = |o: &OperationId| {
                let o = history.operation(*o);
                (o.kind, o.key, o.value) == (OperationKind::Write, returned.key, returned.value)
            };
            if history.outcome(t) == Outcome::Aborted
                || !history.operations_of(t).any(|o| writes(&o))
            {
                continue;
            }
            let ran = history
                .interval(t)
                .ok_or("another write of what was read has no times")?;
            let had_ended = ran.end < by_at.start && history.outcome(t) == Outcome::Committed;
            require!(
                had_ended || ran.start > read_at.end,
                "another write of what was read may have come later"
            )?;
        }
        Ok(())
    }
}

/// Operation `index` of the transaction at `place`.
fn operation(
    history: &History,
    transactions: &[TransactionId],
    place: usize,
    index: usize,
) -> Result<OperationId, String> {
    let t = transactions.get(place).filter(|t| !t.is_initial());
    t.and_then(|&t| history.operations_of(t).nth(index))
        .ok_or_else(|| format!("place {place} has no operation {index}"))
}
