//! A violation as an argument: its edges, and what each of them says.

use super::operations::operation;
use super::resolution::{Resolution, Source};
use super::setting::Setting;
use super::subject::Subject;
use crate::report::{EdgeEntry, OperationEntry, ViolationEntry};
use isoscope_model::history::{History, KeyId, OperationId, TransactionId};

/// A part of an edge's meaning that may hold in one case and not in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// The transaction participates.
    Member(TransactionId),
    /// The read returned what the transaction wrote.
    ReadFrom(OperationId, TransactionId),
}

/// A violation with what is known of its edges.
pub(super) struct Argument<'a> {
    pub(super) history: &'a History,
    pub(super) resolution: &'a Resolution<'a>,
    pub(super) violation: &'a ViolationEntry,
    pub(super) transactions: &'a [TransactionId],
    /// By checked edge: the key it is about.
    pub(super) keys: Vec<Option<KeyId>>,
    /// By checked edge: its claims that depend on the case, or why it does not hold in any.
    pub(super) claims: Vec<Result<Vec<Claim>, String>>,
    /// No append can have made some place of a list.
    pub(super) is_impossible: bool,
}

impl<'a> Argument<'a> {
    /// `is_impossible`: no append can have made some place of a list.
    pub(super) fn new(subject: Subject<'a>, is_impossible: bool) -> Argument<'a> {
        let Subject {
            history,
            resolution,
            violation,
            transactions,
            ..
        } = subject;
        let mut argument = Argument {
            history,
            resolution,
            violation,
            transactions,
            keys: Vec::new(),
            claims: Vec::new(),
            is_impossible,
        };
        for (index, edge) in violation.edges.iter().enumerate() {
            let (key, claims) = match argument.observed(index, edge) {
                Ok((key, claims)) => (key, Ok(claims)),
                Err(message) => (None, Err(format!("edge {index}: {message}"))),
            };
            argument.keys.push(key);
            argument.claims.push(claims);
        }
        argument
    }

    pub(super) fn transaction(&self, place: usize) -> Result<TransactionId, String> {
        let t = self.transactions.get(place).copied();
        t.ok_or_else(|| format!("there is no transaction at place {place}"))
    }

    pub(super) fn edge(&self, index: usize) -> Result<&EdgeEntry, String> {
        self.violation
            .edges
            .get(index)
            .ok_or_else(|| format!("there is no edge {index}"))
    }

    pub(super) fn entry(&self, entry: &OperationEntry) -> Result<OperationId, String> {
        operation(
            self.history,
            self.transactions,
            entry.transaction,
            entry.index,
        )
    }

    /// Whether what an edge says holds in a case.
    pub(super) fn holds(&self, edge: usize, setting: &Setting<'_>) -> Result<(), String> {
        let name = |t: TransactionId| self.history.transaction_name(t);
        let text = |o: OperationId| self.history.operation_text(o);
        let claims = self.claims.get(edge).map_or(Ok(&[][..]), |claims| {
            claims.as_deref().map_err(String::clone)
        })?;
        claims.iter().try_for_each(|&claim| match claim {
            Claim::Member(t) if setting.is_member(t) => Ok(()),
            Claim::Member(t) => Err(format!("edge {edge}: {} did not commit", name(t))),
            Claim::ReadFrom(read, writer) => match setting.source(read) {
                Source::Other { writer: is, .. } if is == writer => Ok(()),
                Source::Ambiguous => Err(format!(
                    "edge {edge}: several transactions may have written what {} returned",
                    text(read)
                )),
                _ => Err(format!(
                    "edge {edge}: {} did not return what {} wrote",
                    text(read),
                    name(writer)
                )),
            },
        })
    }
}
