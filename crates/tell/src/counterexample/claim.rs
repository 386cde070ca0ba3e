//! What a counterexample claims, as data: its headline follows from the listed facts and says no more than they do.
//!
//! A pattern names how a violation was found; two violations of one pattern may show quite different things. A read is
//! called stale only where a newer version was seen and *observed* to be newer: by session order, reads and lists
//! alone, without what the read itself forces. Otherwise several reads contradict together, and the claim says that.

use super::{MAX_SHOWN_WHOLE, involved_operations};
use isoscope_check::checkers::{Level, Pattern, Proof, Violation};
use isoscope_model::history::{
    History, KeyId, Operation, OperationId, OperationKind, Outcome, TransactionId, Value,
};
use isoscope_model::relations::{
    Axiom, Edge, EdgeIndex, Guarantee, Reason, Relation, last_write, list_from_outside,
    value_from_outside,
};
use rustc_hash::FxHashSet;

/// How a reader is known to see another transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// The transaction precedes it in its session.
    OwnSession,
    /// The reader read from it before the stale read.
    ReadBefore(OperationId),
    /// The reader read from it.
    Read(OperationId),
    /// A transaction before the reader in its session read from it.
    SessionRead(OperationId),
    /// The reader read from a transaction after it in its session.
    WroteLater(OperationId),
    /// The reader read from a transaction before which its session, or which itself, had read from it, directly or through
    /// others.
    Followed(OperationId),
    /// A transaction before the reader in its session read from one after it in its session.
    SessionSawLater(OperationId),
    /// The reader could see it through others.
    Through,
    /// The rest of the cycle orders it before the reader, and no other write was missed on it.
    Order,
}

/// What is wrong, in one of few ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// A read returned a value that is wrong in any order.
    WrongValue {
        /// In which way.
        pattern: Pattern,
        /// The reads.
        reads: Vec<OperationId>,
    },
    /// A read returned a version although its transaction saw, or had to see, one that is newer.
    StaleRead {
        /// The read.
        read: OperationId,
        /// The writer of the version it returned; ⊥ for the initial version.
        older: TransactionId,
        /// The writer of the newer version, and its write.
        newer: (TransactionId, Option<OperationId>),
        /// How the reader saw that transaction.
        visibility: Visibility,
    },
    /// Each of these edges, which reads force, is possible alone; together with what was observed they close a cycle.
    TwoReads {
        /// Edges of the violation.
        forced: Vec<EdgeIndex>,
    },
    /// What was observed closes a cycle by itself.
    Observed,
    /// Two writers of a key overwrote one version, or one of them overwrote a version that it had not read.
    LostWrite {
        /// The key.
        key: KeyId,
        /// The writer of the version; ⊥ for the initial one.
        writer: TransactionId,
        /// The transactions that read it and wrote the key.
        readers: Vec<TransactionId>,
    },
    /// Two writers of a key overlapped: the second started before the first had committed.
    Overlap {
        /// The key.
        key: KeyId,
        /// Its writers, in the order of their versions.
        writers: [TransactionId; 2],
        /// Whether their versions could also be in the other order, which contradicts as well.
        is_open: bool,
    },
    /// Two readers saw one of two writes each, and not the other one.
    ReadersDisagree {
        /// The anti-dependencies, each from a reader to the writer that it missed.
        missed: [EdgeIndex; 2],
    },
    /// Two transactions each read what the other overwrote.
    MissedEachOther {
        /// The anti-dependencies.
        missed: [EdgeIndex; 2],
    },
    /// Transactions each missed a write, and together leave no order.
    Ring {
        /// The transactions that missed one, in the order of the cycle; none where a cycle needs no miss.
        missing: Vec<TransactionId>,
    },
    /// A dependency runs against real time.
    AgainstTheClock {
        /// The edge of real time on the cycle.
        clock: EdgeIndex,
        /// The anti-dependency back, where the cycle is only these two.
        missed: Option<EdgeIndex>,
    },
    /// A read returned a value although another was written after all writes of that value had ended and before the
    /// read began.
    OverwrittenBefore {
        /// The read.
        read: OperationId,
        /// The write between.
        by: OperationId,
    },
    /// An open question has several possible answers, and each leads to a contradiction.
    Cases,
}

/// Two reads of a key, of the newer version and then of the older one, where a cycle of real time says no more than that: the
/// first reader had ended before the second began. O(edges).
pub(super) fn new_then_old(violation: &Violation) -> Option<[OperationId; 2]> {
    let edge = |e: EdgeIndex| violation.edges.get(e);
    let cycle = violation.proof.cycle_edges();
    let &[a, b] = cycle.as_slice() else {
        return None;
    };
    let [a, b] = [edge(a)?, edge(b)?];
    let (clock, other) = match a.relation {
        Relation::RealTime => (a, b),
        _ => (b, a),
    };
    if clock.relation != Relation::RealTime {
        return None;
    }
    let (writer, [first, second], old) = match &other.because {
        Reason::Visible { read, seen, .. } => {
            let &[saw, ran] = seen.as_slice() else {
                return None;
            };
            let [saw, ran] = [edge(saw)?, edge(ran)?];
            let is_it = saw.because == Reason::Reads && ran.relation == Relation::RealTime;
            is_it.then_some((saw.from, [ran.from, ran.to], *read))?
        }
        _ if other.relation == Relation::AntiDependency => {
            (other.to, [clock.from, clock.to], other.from_operation?)
        }
        _ => return None,
    };
    let is_first = |edge: &&Edge| {
        edge.because == Reason::Reads
            && (edge.from, edge.to, edge.key) == (writer, first, other.key)
    };
    let new = violation.edges.iter().find(is_first)?.to_operation?;
    (first != second).then_some([new, old])
}

/// What a violation claims. O(edges²).
pub fn claim(history: &History, violation: &Violation) -> Claim {
    let cycle = match &violation.proof {
        // Above CI the two reads close a cycle; what they show is the same.
        Proof::Cycle(_) if violation.id.pattern == Pattern::NonRepeatableRead => {
            return wrong_value(history, violation);
        }
        Proof::Cycle(cycle) => cycle,
        Proof::Reads(_) => {
            return overwritten_before(history, violation)
                .unwrap_or_else(|| wrong_value(history, violation));
        }
        _ => return Claim::Cases,
    };
    let edges: Vec<(EdgeIndex, &Edge)> = cycle
        .iter()
        .filter_map(|&e| violation.edges.get(e).map(|edge| (e, edge)))
        .collect();
    let of = |relation: Relation| -> Vec<EdgeIndex> {
        edges
            .iter()
            .filter(|(_, edge)| edge.relation == relation)
            .map(|&(e, _)| e)
            .collect()
    };
    if let Some(&clock) = of(Relation::RealTime).first() {
        let missed = of(Relation::AntiDependency);
        let missed = if edges.len() == 2 {
            missed.first().copied()
        } else {
            None
        };
        return Claim::AgainstTheClock { clock, missed };
    }
    let named = match violation.id.pattern {
        Pattern::Divergence | Pattern::LostUpdate => lost_write(history, violation, cycle),
        Pattern::LongFork | Pattern::WriteSkew => two_missed(violation, cycle),
        _ => None,
    };
    if let Some(named) = named.or_else(|| overlap(history, violation, &edges)) {
        return named;
    }
    let is_open = |edge: &Edge| is_forced(edge) && !is_known(history, edge);
    let forced: Vec<EdgeIndex> = edges
        .iter()
        .filter(|(_, edge)| is_open(edge))
        .map(|&(e, _)| e)
        .collect();
    let is_weak = edges
        .iter()
        .all(|(_, edge)| is_forced(edge) || is_known(history, edge));
    match forced.as_slice() {
        _ if !is_weak => ring(&edges),
        [] => Claim::Observed,
        [..] => {
            let stale = forced
                .iter()
                .find_map(|&e| stale_read(history, violation, cycle, e));
            stale.unwrap_or(Claim::TwoReads { forced })
        }
    }
}

/// The writers of a cycle of snapshot isolation with one edge between writers of a key: by the rest of the cycle the
/// second of them started before the first committed. Not if the second saw what the first wrote: then they did not.
fn overlap(
    history: &History,
    violation: &Violation,
    edges: &[(EdgeIndex, &Edge)],
) -> Option<Claim> {
    let mut of_writers = edges
        .iter()
        .filter(|(_, edge)| edge.relation == Relation::WriteWrite);
    let (&(_, edge), None) = (of_writers.next()?, of_writers.next()) else {
        return None;
    };
    let is_snapshots = violation.levels.weakest() == Some(Level::SnapshotIsolation);
    let is_open = match edge.because {
        Reason::Conflict { .. } => true,
        Reason::Listed { .. } | Reason::Visible { .. } => false,
        _ => return None,
    };
    let writers = [edge.from, edge.to];
    let key = edge
        .key
        .filter(|_| is_snapshots && !saw(history, edge.to, edge.from))?;
    Some(Claim::Overlap {
        key,
        writers,
        is_open,
    })
}

/// Whether a transaction read a value that another wrote, or a list that has an element of it. O(operations and elements).
fn saw(history: &History, reader: TransactionId, writer: TransactionId) -> bool {
    if reader.is_initial() || writer.is_initial() {
        return false;
    }
    let operations = |t: TransactionId, is_read: bool| {
        let of_kind =
            move |&o: &OperationId| (history.operation(o).kind == OperationKind::Read) == is_read;
        history.operations_of(t).filter(of_kind)
    };
    let written =
        operations(writer, false).map(|o| (history.operation(o).key, history.operation(o).value));
    let written: FxHashSet<(KeyId, Value)> = written.collect();
    operations(reader, true).any(|o| {
        let read = history.operation(o);
        let list = history.lists().read_by(o).unwrap_or_default();
        list.iter()
            .chain([&read.value])
            .any(|&value| written.contains(&(read.key, value)))
    })
}

/// Whether an edge is there only because a read returned what it returned, at RC, RA, TCC or by a guarantee of sessions.
fn is_forced(edge: &Edge) -> bool {
    matches!(&edge.because, Reason::Visible { axiom, .. } if *axiom != Axiom::CommitOrder)
}

/// Whether an edge follows from sessions, reads and lists.
pub(super) fn is_observed(edge: &Edge) -> bool {
    matches!(
        edge.because,
        Reason::SessionOrder
            | Reason::Reads
            | Reason::Listed { .. }
            | Reason::ReadModifyWrite { .. }
    )
}

/// Whether an edge follows from sessions, reads and lists, or from the very list that its reader returned.
pub(super) fn is_known(history: &History, edge: &Edge) -> bool {
    is_observed(edge) || is_in_its_list(history, edge)
}

/// Whether the list that an edge rests on has both versions: their order is then observed.
pub(super) fn is_in_its_list(history: &History, edge: &Edge) -> bool {
    let (Reason::Visible { read, .. }, Some(append)) = (&edge.because, edge.from_operation) else {
        return false;
    };
    let element = history.operation(append);
    let list = history.lists().read_by(*read).unwrap_or_default();
    let is_repeated = || history.is_repeated_element(element.key, element.value);
    !edge.to.is_initial() && list.contains(&element.value) && !is_repeated()
}

/// The reads that are wrong, without those that only show which transactions committed.
fn wrong_value(history: &History, violation: &Violation) -> Claim {
    let pattern = match &violation.proof {
        Proof::Reads(Some(wrong)) if !wrong.reads.is_empty() => {
            return Claim::WrongValue {
                pattern: wrong.pattern,
                reads: wrong.reads.clone(),
            };
        }
        Proof::Reads(Some(wrong)) => wrong.pattern,
        _ => violation.id.pattern,
    };
    let involved = involved_operations(violation);
    let is_read = |o: &OperationId| history.operation(*o).kind == OperationKind::Read;
    let all: Vec<OperationId> = involved.iter().copied().filter(is_read).collect();
    // A single read is certain to be wrong, and checking may scan all operations.
    let is_open = all.len() > 1;
    let mut wrong: Vec<OperationId> = all
        .iter()
        .copied()
        .filter(|&read| is_open && is_wrong(history, pattern, read, &involved))
        .collect();
    // Those of the transaction that it is about, after the writers of the two versions.
    let about = violation
        .transactions
        .get(2)
        .filter(|_| pattern == Pattern::NonRepeatableRead);
    wrong.sort_by_key(|&read| Some(&history.transaction_of(read)) != about);
    Claim::WrongValue {
        pattern,
        reads: if wrong.is_empty() { all } else { wrong },
    }
}

/// A read among operations that no order explains whose value was overwritten for certain before it began.
/// O(operations) for each read of the violation.
fn overwritten_before(history: &History, violation: &Violation) -> Option<Claim> {
    if violation.id.pattern != Pattern::NoLinearOrder {
        return None;
    }
    let is_read = |o: &&OperationId| history.operation(**o).kind == OperationKind::Read;
    violation
        .operations
        .iter()
        .filter(is_read)
        .find_map(|&read| {
            let Operation { key, value, .. } = history.operation(read);
            let reader = history.interval(history.transaction_of(read))?;
            let mut ended = i64::MIN;
            for write in writes_of(history, key, value)
                .filter(|&w| history.transaction_of(w) != history.transaction_of(read))
            {
                let t = history.transaction_of(write);
                let ran = history.interval(t)?;
                if ran.start > reader.end {
                    continue;
                }
                if history.outcome(t) != Outcome::Committed {
                    return None;
                }
                ended = ended.max(ran.end);
            }
            let is_between = |o: &&OperationId| {
                let (write, t) = (history.operation(**o), history.transaction_of(**o));
                let in_time = history
                    .interval(t)
                    .is_some_and(|ran| ended < ran.start && ran.end < reader.start);
                let overwrites =
                    (write.kind, write.key) == (OperationKind::Write, key) && write.value != value;
                overwrites && in_time && history.outcome(t) == Outcome::Committed
            };
            let is_known = value != Value::UNRECORDED && history.differs_from(read).is_none();
            let &by = violation
                .operations
                .iter()
                .filter(|_| is_known)
                .find(is_between)?;
            Some(Claim::OverwrittenBefore { read, by })
        })
}

/// The writes of the value that a read returned that began before the read ended, its own transaction's aside. O(operations).
pub(super) fn earlier_writes(history: &History, read: OperationId) -> Vec<OperationId> {
    let Operation { key, value, .. } = history.operation(read);
    let reader = history.transaction_of(read);
    let end = history.interval(reader).map(|ran| ran.end);
    let is_earlier = |&w: &OperationId| {
        let t = history.transaction_of(w);
        t != reader && history.interval(t).map(|ran| ran.start) <= end
    };
    writes_of(history, key, value).filter(is_earlier).collect()
}

/// Whether operations that no order explains are shown with all writes of the same values. O(operations + edges²).
pub(super) fn tells_all(history: &History, violation: &Violation) -> bool {
    let is_named = |t: TransactionId| violation.transactions.contains(&t);
    let mut all = history
        .transactions()
        .filter(|&t| history.outcome(t) != Outcome::Aborted);
    violation.id.pattern == Pattern::NoLinearOrder
        && history.n_operations() <= MAX_SHOWN_WHOLE
        && all.all(is_named)
        && !matches!(claim(history, violation), Claim::OverwrittenBefore { .. })
}

/// Whether the transaction of an operation may have committed.
pub(super) fn may_count(history: &History, o: OperationId) -> bool {
    history.outcome(history.transaction_of(o)) != Outcome::Aborted
}

/// The writes of a value to a key by transactions that may have committed. O(operations).
pub(super) fn writes_of(
    history: &History,
    key: KeyId,
    value: Value,
) -> impl Iterator<Item = OperationId> + '_ {
    let written = Operation {
        kind: OperationKind::Write,
        key,
        value,
    };
    let all = (0..history.n_operations())
        .map(OperationId::new)
        .filter(move |&o| history.operation(o) == written);
    all.filter(|&o| may_count(history, o))
}

/// What a read returned from other transactions: a value, and for a list all elements that are theirs.
fn found_outside(history: &History, read: OperationId) -> (Value, Option<&[Value]>) {
    let t = history.transaction_of(read);
    let list = list_from_outside(history, t, read).or_else(|| history.lists().read_by(read));
    (value_from_outside(history, t, read), list)
}

/// Whether the operations that a violation involves show that a read is an instance of a pattern.
fn is_wrong(
    history: &History,
    pattern: Pattern,
    read: OperationId,
    involved: &[OperationId],
) -> bool {
    let (reader, returned) = (history.transaction_of(read), history.operation(read));
    let element = |value| {
        history
            .lists()
            .read_by(read)
            .is_some_and(|list| list.contains(&value))
    };
    let mut writes = involved.iter().copied().filter(|&w| {
        let write = history.operation(w);
        write.kind == OperationKind::Write && write.key == returned.key
    });
    let is_returned = |w: OperationId| {
        history.operation(w).value == returned.value || element(history.operation(w).value)
    };
    match pattern {
        Pattern::AbortedRead => writes.any(|w| {
            let writer = history.transaction_of(w);
            writer != reader && history.outcome(writer) == Outcome::Aborted && is_returned(w)
        }),
        Pattern::FutureRead => {
            writes.any(|w| history.transaction_of(w) == reader && w > read && is_returned(w))
        }
        Pattern::NotMyOwnWrite | Pattern::NotMyLastWrite => {
            writes.any(|w| history.transaction_of(w) == reader && w < read)
        }
        Pattern::IntermediateRead => writes.any(|w| {
            let writer = history.transaction_of(w);
            let last = last_write(history, writer, returned.key, |_| true);
            writer != reader
                && is_returned(w)
                && last.is_some_and(|last| last != w && !is_returned(last))
        }),
        // Another pair of such reads may show which transactions committed.
        Pattern::NonRepeatableRead => involved.iter().any(|&other| {
            let again = history.operation(other);
            history.transaction_of(other) == reader
                && again.kind == OperationKind::Read
                && again.key == returned.key
                && found_outside(history, other) != found_outside(history, read)
        }),
        Pattern::ThinAirRead => {
            let all = (0..history.n_operations()).map(|o| history.operation(OperationId::new(o)));
            let written: Vec<Value> = all
                .filter(|o| o.kind == OperationKind::Write && o.key == returned.key)
                .map(|write: Operation| write.value)
                .collect();
            let values = history
                .lists()
                .read_by(read)
                .unwrap_or(std::slice::from_ref(&returned.value));
            values.iter().any(|value| {
                !history.may_be_initial(returned.key, *value) && !written.contains(value)
            })
        }
        _ => true,
    }
}

/// The claim that one forced edge makes alone: the version that was read is observed to be older than the one seen.
fn stale_read(
    history: &History,
    violation: &Violation,
    cycle: &[EdgeIndex],
    index: EdgeIndex,
) -> Option<Claim> {
    let edge = violation.edges.get(index)?;
    let Reason::Visible {
        axiom, read, seen, ..
    } = &edge.because
    else {
        return None;
    };
    let rest_is_observed = cycle.iter().filter(|&&e| e != index).all(|&e| {
        violation
            .edges
            .get(e)
            .is_some_and(|edge| is_known(history, edge))
    });
    if !rest_is_observed && !observed_before(history, violation, edge.to, edge.from) {
        return None;
    }
    let visibility = visibility(violation, *axiom, seen);
    Some(Claim::StaleRead {
        read: *read,
        older: edge.to,
        newer: (edge.from, edge.from_operation),
        visibility,
    })
}

/// How a reader saw the newer version, by the path that led there.
fn visibility(violation: &Violation, axiom: Axiom, seen: &[EdgeIndex]) -> Visibility {
    use Relation::{SessionOrder, WriteRead};
    let path: Vec<&Edge> = seen
        .iter()
        .filter_map(|&e| violation.edges.get(e))
        .collect();
    let kinds: Vec<Relation> = path.iter().map(|edge| edge.relation).collect();
    let read_at = |place: usize, how: fn(OperationId) -> Visibility| {
        let read = path.get(place).and_then(|edge| edge.to_operation);
        read.map_or(Visibility::Through, how)
    };
    let last = path.len().saturating_sub(1);
    let is_from_initial = path.first().is_some_and(|edge| edge.from.is_initial());
    match kinds.as_slice() {
        _ if is_from_initial => Visibility::Through,
        [SessionOrder] => Visibility::OwnSession,
        [WriteRead] if axiom == Axiom::ReadCommitted => read_at(0, Visibility::ReadBefore),
        [WriteRead] => read_at(0, Visibility::Read),
        [WriteRead, SessionOrder] => read_at(0, Visibility::SessionRead),
        [SessionOrder, WriteRead] => read_at(last, Visibility::WroteLater),
        [SessionOrder, WriteRead, SessionOrder] => read_at(1, Visibility::SessionSawLater),
        [WriteRead, WriteRead] | [WriteRead, SessionOrder, WriteRead] => {
            read_at(last, Visibility::Followed)
        }
        _ if axiom == Axiom::Session(Guarantee::WritesFollowReads) => {
            read_at(last, Visibility::Followed)
        }
        _ => Visibility::Through,
    }
}

/// Whether the observed edges of a violation, which are shown, lead from one transaction to another.
fn observed_before(
    history: &History,
    violation: &Violation,
    from: TransactionId,
    to: TransactionId,
) -> bool {
    let mut reached = vec![from];
    let mut next = 0;
    while let Some(&t) = reached.get(next) {
        next += 1;
        for edge in violation
            .edges
            .iter()
            .filter(|edge| edge.from == t && is_known(history, edge))
        {
            if !reached.contains(&edge.to) {
                reached.push(edge.to);
            }
        }
    }
    from.is_initial() || reached.contains(&to)
}

/// Among readers of several versions only those on the cycle count.
fn lost_write(history: &History, violation: &Violation, cycle: &[EdgeIndex]) -> Option<Claim> {
    let key = violation.key?;
    let writes = |t: TransactionId| {
        let mut operations = history.operations_of(t).map(|o| history.operation(o));
        operations.any(|o| o.kind == OperationKind::Write && o.key == key)
    };
    let update = |edge: &Edge| match edge.because {
        _ if edge.key != Some(key) => None,
        Reason::Reads => Some((edge.from, edge.to)).filter(|(_, reader)| writes(*reader)),
        Reason::Overwrites { writer, .. } => {
            Some((writer, edge.from)).filter(|(_, reader)| writes(*reader))
        }
        _ => None,
    };
    let all: Vec<_> = violation.edges.iter().filter_map(update).collect();
    let on_cycle: Vec<_> = cycle
        .iter()
        .filter_map(|&e| violation.edges.get(e))
        .filter_map(update)
        .collect();
    [all, on_cycle].into_iter().find_map(|updates| {
        let &(writer, _) = updates.first()?;
        let mut readers: Vec<TransactionId> = Vec::new();
        for (from, reader) in updates {
            match from == writer {
                true if !readers.contains(&reader) => readers.push(reader),
                true => {}
                false => return None,
            }
        }
        Some(Claim::LostWrite {
            key,
            writer,
            readers,
        })
    })
}

/// A cycle with exactly two anti-dependencies: a long fork or, where each directly follows the other, a write skew.
fn two_missed(violation: &Violation, cycle: &[EdgeIndex]) -> Option<Claim> {
    let relation = |e: EdgeIndex| violation.edges.get(e).map(|edge| edge.relation);
    let missed: Vec<EdgeIndex> = cycle
        .iter()
        .copied()
        .filter(|&e| relation(e) == Some(Relation::AntiDependency))
        .collect();
    let [a, b] = missed.as_slice() else {
        return None;
    };
    let (first, second) = (&violation.edges[*a], &violation.edges[*b]);
    let (there, back) = (first.to == second.from, second.to == first.from);
    let saw = |e: EdgeIndex| {
        matches!(
            relation(e),
            Some(Relation::WriteRead | Relation::SessionOrder | Relation::CausalOrder)
        )
    };
    match (there, back) {
        (true, true) => Some(Claim::MissedEachOther { missed: [*a, *b] }),
        // A transaction may miss one write, see another, and miss that one later.
        (false, false)
            if first.from != second.from && cycle.iter().all(|e| missed.contains(e) || saw(*e)) =>
        {
            Some(Claim::ReadersDisagree { missed: [*a, *b] })
        }
        _ => None,
    }
}

/// Several transactions each missed a write, or one of them did and the rest of the cycle says that it came before.
fn ring(edges: &[(EdgeIndex, &Edge)]) -> Claim {
    let missed: Vec<_> = edges
        .iter()
        .filter_map(|(_, edge)| match edge.because {
            Reason::Overwrites { writer, .. } => Some((
                edge.from,
                edge.from_operation,
                writer,
                (edge.to, edge.to_operation),
            )),
            Reason::Visible { reader, read, .. } => Some((
                reader,
                Some(read),
                edge.to,
                (edge.from, edge.from_operation),
            )),
            _ => None,
        })
        .collect();
    if let [(_, Some(read), older, newer)] = missed.as_slice() {
        return Claim::StaleRead {
            read: *read,
            older: *older,
            newer: *newer,
            visibility: Visibility::Order,
        };
    }
    let of_reads = |edge: &Edge| {
        matches!(
            edge.because,
            Reason::Overwrites { .. } | Reason::Visible { .. }
        )
    };
    // A reader that saw a write but read another version may have read a newer one: it need not have missed any.
    if edges
        .iter()
        .any(|(_, edge)| matches!(edge.because, Reason::Visible { .. }))
    {
        let forced = edges
            .iter()
            .filter(|(_, edge)| of_reads(edge))
            .map(|&(e, _)| e)
            .collect();
        return Claim::TwoReads { forced };
    }
    let mut distinct: Vec<TransactionId> = Vec::new();
    for (t, ..) in missed {
        if !distinct.contains(&t) {
            distinct.push(t);
        }
    }
    Claim::Ring { missing: distinct }
}
