//! What a single edge says: its kind, its key, its operations and its premises, followed back to operations.
//!
//! Each reason allows certain kinds, and names operations in one way only: a write-read edge goes from the write that
//! was returned to the read; an edge that orders two versions connects the writes that others may see, the last of each
//! transaction to the key; edges of sessions and of real time name neither operations nor a key.

use super::argument::{Argument, Claim};
use super::operations::{operation, writes_of};
use super::resolution::Resolution;
use crate::report::{AxiomWord, EdgeEntry, ReasonEntry};
use isoscope_model::history::{History, KeyId, OperationId, OperationKind, Outcome, TransactionId};
use isoscope_model::relations::Relation;

impl Argument<'_> {
    /// Checks what an edge says about operations and that its premises precede it; returns its key and what is left to
    /// check in each case. O(operations of its ends).
    pub(super) fn observed(
        &self,
        index: usize,
        edge: &EdgeEntry,
    ) -> Result<(Option<KeyId>, Vec<Claim>), String> {
        let (from, to) = (self.transaction(edge.from)?, self.transaction(edge.to)?);
        let mut claims = vec![Claim::Member(from), Claim::Member(to)];
        if let Some(late) = edge
            .reason
            .premises()
            .iter()
            .find(|&&premise| premise >= index)
        {
            return Err(format!("its premise {late} does not come before it"));
        }
        let key = match &edge.reason {
            ReasonEntry::SessionOrder => {
                self.session_order(edge, from, to)?;
                names_no_operations(edge)?;
                None
            }
            ReasonEntry::Reads => {
                kind_is(edge, &[Relation::WriteRead])?;
                let read = self.operation_of(edge.to, edge.to_operation, OperationKind::Read)?;
                claims.push(Claim::ReadFrom(read, from));
                self.names_returned(edge, read)?;
                Some(self.history.operation(read).key)
            }
            ReasonEntry::Path { through } => {
                kind_is(edge, &[Relation::CausalOrder, Relation::CommitOrder])?;
                self.is_path(through, from, to)?;
                names_no_operations(edge)?;
                None
            }
            ReasonEntry::Visible {
                axiom,
                reader,
                read,
                seen,
            } => {
                // The weak levels force the commit order, from which the version order follows.
                kind_is(
                    edge,
                    if *axiom == AxiomWord::CommitOrder {
                        &[Relation::WriteWrite]
                    } else {
                        &[Relation::CommitOrder]
                    },
                )?;
                let t3 = self.transaction(*reader)?;
                if t3.is_initial() {
                    return Err("the initial state reads nothing".to_owned());
                }
                let read = operation(self.history, self.transactions, *reader, *read)?;
                let key = self.history.operation(read).key;
                claims.extend([Claim::Member(t3), Claim::ReadFrom(read, to)]);
                self.names_last_write((edge.from, edge.from_operation), key)?;
                if from == to || from == t3 {
                    return Err(
                        "the writer it orders must differ from reader and source".to_owned()
                    );
                }
                let returned = || self.names((edge.to, edge.to_operation), self.returned(to, read));
                if self
                    .names_last_write((edge.to, edge.to_operation), key)
                    .is_err()
                {
                    returned()?;
                }
                self.is_path(seen, from, t3)?;
                Some(key)
            }
            ReasonEntry::Overwrites { writer, order } => {
                kind_is(edge, &[Relation::AntiDependency])?;
                let t1 = self.transaction(*writer)?;
                let read =
                    self.operation_of(edge.from, edge.from_operation, OperationKind::Read)?;
                let key = self.history.operation(read).key;
                claims.extend([Claim::Member(t1), Claim::ReadFrom(read, t1)]);
                self.names_last_write((edge.to, edge.to_operation), key)?;
                if to == from || to == t1 {
                    return Err(
                        "the overwriting transaction must differ from reader and source".to_owned(),
                    );
                }
                if order.is_empty() && t1.is_initial() {
                } else {
                    self.is_path(order, t1, to)?
                }
                Some(key)
            }
            ReasonEntry::Conflict { order } => {
                let key = self.orders_writes(edge, from, to)?;
                self.is_path(order, from, to)?;
                Some(key)
            }
            ReasonEntry::ReadModifyWrite { read } => {
                let key = self.orders_writes(edge, from, to)?;
                let wr = self.edge(*read)?;
                let is_of_key =
                    self.keys[*read] == Some(key) && matches!(wr.reason, ReasonEntry::Reads);
                if !is_of_key || wr.from != edge.from || wr.to != edge.to {
                    return Err(
                        "its premise is no read of the key by the one from the other".to_owned(),
                    );
                }
                Some(key)
            }
            ReasonEntry::Listed { reader, read } => {
                let t3 = self.transaction(*reader)?;
                let key = self.orders_writes(edge, from, to)?;
                let read = operation(self.history, self.transactions, *reader, *read)?;
                super::list_evidence::shows_order(
                    self.history,
                    self.resolution,
                    t3,
                    read,
                    key,
                    (from, to),
                )?;
                claims.push(Claim::Member(t3));
                Some(key)
            }
            ReasonEntry::Assumed => Some(self.orders_writes(edge, from, to)?),
        };
        names_key(self.history, edge, key)?;
        Ok((key, claims))
    }

    fn session_order(
        &self,
        edge: &EdgeEntry,
        from: TransactionId,
        to: TransactionId,
    ) -> Result<(), String> {
        if edge.kind == Relation::RealTime {
            let known =
                |t: TransactionId| !t.is_initial() && self.history.outcome(t) != Outcome::Unknown;
            let times = (known(from) && !to.is_initial())
                .then(|| Some((self.history.interval(from)?, self.history.interval(to)?)))
                .flatten();
            return match times {
                Some((a, b)) if a.end < b.start => Ok(()),
                _ => Err("the one did not end before the other began".to_owned()),
            };
        }
        // ⊥ is in the causal past of all transactions, and precedes the first of every session.
        kind_is(
            edge,
            if from.is_initial() {
                &[Relation::SessionOrder, Relation::CausalOrder]
            } else {
                &[Relation::SessionOrder]
            },
        )?;
        let in_order = from != to
            && !to.is_initial()
            && (from.is_initial()
                || self.history.session_of(from) == self.history.session_of(to)
                    && self.history.position_of(from) < self.history.position_of(to));
        if in_order {
            Ok(())
        } else {
            Err("they are not of one session in this order".to_owned())
        }
    }

    /// The key of the two writes that an edge orders.
    fn orders_writes(
        &self,
        edge: &EdgeEntry,
        from: TransactionId,
        to: TransactionId,
    ) -> Result<KeyId, String> {
        kind_is(edge, &[Relation::WriteWrite])?;
        let write = self.operation_of(edge.from, edge.from_operation, OperationKind::Write)?;
        let key = self.history.operation(write).key;
        self.names_last_write((edge.from, edge.from_operation), key)?;
        self.names_last_write((edge.to, edge.to_operation), key)?;
        // Nothing is older than the initial version.
        if from == to || to.is_initial() {
            Err("it relates a transaction to itself or to the initial state".to_owned())
        } else {
            Ok(key)
        }
    }

    /// Whether an end of an edge names the write of a key that others may see.
    fn names_last_write(&self, end: (usize, Option<usize>), key: KeyId) -> Result<(), String> {
        let t = self.transaction(end.0)?;
        if t.is_initial() {
            return self.names(end, None);
        }
        match last_write(self.history, t, key, |_| true) {
            Some(write) => self.names(end, Some(write)),
            None => Err(format!(
                "{} does not write key {}",
                self.history.transaction_name(t),
                self.history.key_name(key)
            )),
        }
    }

    /// Whether the source of a write-read edge is the write that the read returned.
    fn names_returned(&self, edge: &EdgeEntry, read: OperationId) -> Result<(), String> {
        let from = self.transaction(edge.from)?;
        self.names((edge.from, edge.from_operation), self.returned(from, read))
    }

    /// See [`returned`].
    fn returned(&self, from: TransactionId, read: OperationId) -> Option<OperationId> {
        returned(self.history, self.resolution, from, read)
    }

    /// Whether an end of an edge names this operation, or none if there is none.
    fn names(
        &self,
        (place, index): (usize, Option<usize>),
        expected: Option<OperationId>,
    ) -> Result<(), String> {
        let named = index
            .map(|index| operation(self.history, self.transactions, place, index))
            .transpose()?;
        match (named == expected, expected) {
            (true, _) => Ok(()),
            (false, Some(expected)) => Err(format!(
                "it should name {} of transaction {place}",
                self.history.operation_text(expected)
            )),
            (false, None) => Err("it names an operation that is not there".to_owned()),
        }
    }

    fn operation_of(
        &self,
        place: usize,
        index: Option<usize>,
        kind: OperationKind,
    ) -> Result<OperationId, String> {
        let index = index.ok_or("it does not name its operation")?;
        let operation = operation(self.history, self.transactions, place, index)?;
        if self.history.operation(operation).kind == kind {
            Ok(operation)
        } else {
            Err(format!(
                "{} is not the kind of operation it needs",
                self.history.operation_text(operation)
            ))
        }
    }

    /// Whether these edges lead from the one to the other; at least one edge.
    pub(super) fn is_path(
        &self,
        path: &[usize],
        from: TransactionId,
        to: TransactionId,
    ) -> Result<(), String> {
        let mut at = from;
        for &e in path {
            let edge = self.edge(e)?;
            if self.transaction(edge.from)? != at {
                return Err(format!(
                    "edge {e} of its path does not begin where the path is"
                ));
            }
            at = self.transaction(edge.to)?;
        }
        require!(
            at == to && !path.is_empty(),
            "its path does not lead where it should"
        )
    }
}

pub(super) fn kind_is(edge: &EdgeEntry, allowed: &[Relation]) -> Result<(), String> {
    require!(
        allowed.contains(&edge.kind),
        "its kind is {}, expected {}",
        edge.kind,
        allowed
            .iter()
            .map(|kind| kind.code())
            .collect::<Vec<_>>()
            .join(" or ")
    )
}

/// An edge's key in words must be the one its operations are about.
pub(super) fn names_key(
    history: &History,
    edge: &EdgeEntry,
    key: Option<KeyId>,
) -> Result<(), String> {
    let is = key.map(|key| history.key_names().get(key.index()));
    let or_none = |name: &Option<String>| name.clone().unwrap_or_else(|| "none".to_owned());
    require!(
        edge.key == is,
        "it speaks of key {}, its operations of {}",
        or_none(&edge.key),
        or_none(&is)
    )
}

fn names_no_operations(edge: &EdgeEntry) -> Result<(), String> {
    match (edge.from_operation, edge.to_operation) {
        (None, None) => Ok(()),
        _ => Err(format!(
            "edges of kind {} for this reason are about no operations",
            edge.kind
        )),
    }
}

/// The last write of a key by a transaction among those that `admit` allows.
pub(super) fn last_write(
    history: &History,
    t: TransactionId,
    key: KeyId,
    admit: impl Fn(OperationId) -> bool,
) -> Option<OperationId> {
    writes_of(history, t, key).filter(|&o| admit(o)).last()
}

/// The write of a transaction that a read returned, if the transaction was its source: its last of that value; for a
/// list the last element before the reader's own appends determines it.
pub(super) fn returned(
    history: &History,
    resolution: &Resolution<'_>,
    from: TransactionId,
    read: OperationId,
) -> Option<OperationId> {
    let seen = resolution.seen(read).0;
    last_write(history, from, seen.key, |o| {
        super::rows::explains(history, read, seen.value, Some(history.operation(o).value))
    })
}
