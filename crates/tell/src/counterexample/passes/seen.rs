//! Which write each read saw where a level holds.

use super::{OrderLine, Seen};
use crate::counterexample::replay::{Replay, StepKind, Version};
use isoscope_check::checkers::{Engine, LevelResult};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, KeyId, OperationId, OperationKind, TransactionId, Value};
use isoscope_model::relations::{Resolution, Source};
use rustc_hash::FxHashMap;

/// What says which write a read saw.
pub(super) struct Witnessed<'a> {
    pub(super) history: &'a History,
    pub(super) resolution: &'a Resolution,
    pub(super) result: &'a LevelResult,
    pub(super) replay: Option<&'a Replay>,
}

/// By operation: what each read of these lines returned.
///
/// At levels that read the newest version the order says it. So it does at any other level if every read returns the
/// newest version by then, which is an explanation at each of them. Else the values say it, and for ambiguous reads the
/// witness. O(operations · log versions).
pub(super) fn all(
    witnessed: &Witnessed<'_>,
    lines: &[OrderLine],
    control: &Control,
) -> Result<Vec<Option<Seen>>, Interrupt> {
    let Witnessed {
        history,
        result,
        replay,
        ..
    } = *witnessed;
    let reads_newest = result.level.reads_newest();
    let may_be_serial = result.level.row().engine != Engine::Versions;
    if let Some(replay) = replay.filter(|_| may_be_serial) {
        let mut is_serial = true;
        let newest = each(history, lines, control, |line, read, own| {
            let (seen, fits) = newest(history, replay, line, read, own);
            is_serial &= fits;
            seen
        })?;
        if reads_newest || is_serial {
            return Ok(newest);
        }
    }
    let named: FxHashMap<OperationId, TransactionId> = result.sources.iter().copied().collect();
    let place: FxHashMap<TransactionId, usize> = lines
        .iter()
        .map(|line| (line.transaction, *line.steps.start()))
        .collect();
    each(history, lines, control, |line, read, own| {
        match witnessed.resolved(line.transaction, read, own, named.get(&read).copied()) {
            // Another transaction must have written that value, too.
            Seen::Write(write) if replay.is_some() && may_be_serial => {
                let writer = place.get(&history.transaction_of(write));
                if writer.is_some_and(|writer| writer < line.steps.start()) {
                    Seen::Write(write)
                } else {
                    Seen::Open
                }
            }
            seen => seen,
        }
    })
}

/// Calls `tell` for each read of the lines, in their order, with what its transaction wrote last to the key before it.
fn each(
    history: &History,
    lines: &[OrderLine],
    control: &Control,
    mut tell: impl FnMut(&OrderLine, OperationId, Option<Value>) -> Seen,
) -> Result<Vec<Option<Seen>>, Interrupt> {
    let mut seen = vec![None; history.n_operations()];
    let mut own: FxHashMap<KeyId, Value> = FxHashMap::default();
    let mut n = 0_usize;
    for line in lines.iter().filter(|line| line.moment != StepKind::Commit) {
        own.clear();
        for operation in history.operations_of(line.transaction) {
            n += 1;
            control.tick(n)?;
            let object = history.operation(operation);
            let is_recorded =
                object.value != Value::UNRECORDED && history.differs_from(operation).is_none();
            match object.kind {
                OperationKind::Write => drop(own.insert(object.key, object.value)),
                OperationKind::Read if !is_recorded => {
                    seen[operation.index()] = Some(Seen::Unrecorded)
                }
                OperationKind::Read => {
                    seen[operation.index()] =
                        Some(tell(line, operation, own.get(&object.key).copied()));
                }
            }
        }
    }
    Ok(seen)
}

/// The transaction's own last write, else the newest version by then, and whether that has the value that was read.
fn newest(
    history: &History,
    replay: &Replay,
    line: &OrderLine,
    read: OperationId,
    own: Option<Value>,
) -> (Seen, bool) {
    let object = history.operation(read);
    if let Some(own) = own {
        return (Seen::Own, history.may_return(read, own));
    }
    match replay.before(object.key, *line.steps.start()) {
        Version::Written { write, .. }
            if history.may_return(read, history.operation(write).value) =>
        {
            (Seen::Write(write), true)
        }
        // What set up the initial state may be in the order, too.
        Version::Written { .. } => (Seen::Initial, false),
        Version::Initial => (Seen::Initial, history.may_return_initial(read)),
    }
}

impl Witnessed<'_> {
    /// What the witness names, else what the values say.
    fn resolved(
        &self,
        reader: TransactionId,
        read: OperationId,
        own: Option<Value>,
        named: Option<TransactionId>,
    ) -> Seen {
        let object = self.history.operation(read);
        // Of a list that ends with an own element the resolution names the writer of the elements before it.
        if self.history.lists().is_list(object.key) && own == Some(object.value) {
            return Seen::Own;
        }
        if let Some(writer) = named {
            return self.write_of(writer, read);
        }
        match self.resolution.source_in(reader, read) {
            Source::Own => Seen::Own,
            Source::Initial { .. } => Seen::Initial,
            Source::Transaction { write, .. } => Seen::Write(write),
            Source::Aborted { write, .. } => Seen::Aborted(write),
            Source::Unrecorded => Seen::Unrecorded,
            Source::Ambiguous => Seen::Open,
            Source::Outside
            | Source::Future { .. }
            | Source::OwnOverwritten { .. }
            | Source::ThinAir => Seen::Ignored,
        }
    }

    /// The last write of the value of a read by this transaction.
    fn write_of(&self, writer: TransactionId, read: OperationId) -> Seen {
        let object = self.history.operation(read);
        let writes = |o: &OperationId| {
            let other = self.history.operation(*o);
            other.kind == OperationKind::Write
                && other.key == object.key
                && self.history.may_return(read, other.value)
        };
        let of_writer = (!writer.is_initial()).then(|| self.history.operations_of(writer));
        of_writer
            .into_iter()
            .flatten()
            .filter(writes)
            .last()
            .map_or(Seen::Initial, Seen::Write)
    }
}
