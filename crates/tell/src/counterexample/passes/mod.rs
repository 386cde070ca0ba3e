//! Why a level holds: the order that was found, which write each read saw in it, and all of it in words.
//!
//! Nothing is decided here. The order is the witness of the verdict; at levels where it does not determine what a read
//! saw, the resolution of reads does, with the writers that the verdict names for ambiguous reads.

mod seen;
mod sentences;
mod text;

pub use sentences::{Surroundings, why};
pub use text::{line, markdown, plain_text, title};

use super::replay::{Replay, StepKind, Version};
use isoscope_check::checkers::{Engine, Level, LevelResult, Verdict, Witness, WitnessKind};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, OperationId, OperationKind, TransactionId};
use isoscope_model::relations::{Resolution, Standing};
use std::ops::RangeInclusive;

/// What a read returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// What its own transaction wrote.
    Own,
    /// The initial version of its key.
    Initial,
    /// What another transaction wrote.
    Write(OperationId),
    /// The file does not say.
    Unrecorded,
    /// What one of several transactions wrote; the level does not depend on which.
    Open,
    /// A value that an aborted transaction wrote; only where such reads are ignored.
    Aborted(OperationId),
    /// A value that no transaction wrote, or that its own transaction had overwritten or wrote later; only where such
    /// reads are ignored.
    Ignored,
}

/// A transaction in the order, or its start or commit where something comes between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderLine {
    /// The transaction.
    pub transaction: TransactionId,
    /// What it does.
    pub moment: StepKind,
    /// The steps of the witness: two if start and commit follow each other.
    pub steps: RangeInclusive<usize>,
}

/// A level that holds, with the order that shows it.
#[derive(Clone, Debug)]
pub struct Passes<'a> {
    history: &'a History,
    resolution: &'a Resolution,
    result: &'a LevelResult,
    /// Whether code independent of the search has verified it.
    verified: bool,
    /// None if the level orders nothing.
    replay: Option<Replay>,
    /// By operation: what a read of a line returned.
    seen: Vec<Option<Seen>>,
    /// The order; where nothing is ordered, the transactions that count as in the file.
    pub lines: Vec<OrderLine>,
}

impl<'a> Passes<'a> {
    /// What a satisfied level rests on; `None` for any other, and for a share of a history. `verified` says whether the
    /// evidence was replayed. O(operations + keys).
    ///
    /// # Errors
    /// [`Interrupt`] when `control` ends the work first.
    pub fn new(
        history: &'a History,
        resolution: &'a Resolution,
        result: &'a LevelResult,
        verified: bool,
        control: &Control,
    ) -> Result<Option<Passes<'a>>, Interrupt> {
        let Verdict::Satisfied(witness) = &result.verdict else {
            return Ok(None);
        };
        let replay = Replay::new(history, witness, control)?;
        let lines = match (&replay, witness) {
            (Some(replay), _) => lines(replay),
            (None, Witness::Reads) => unordered(history, resolution),
            (None, _) => return Ok(None),
        };
        let seen = seen::all(
            &seen::Witnessed {
                history,
                resolution,
                result,
                replay: replay.as_ref(),
            },
            &lines,
            control,
        )?;
        Ok(Some(Passes {
            history,
            resolution,
            result,
            verified,
            replay,
            seen,
            lines,
        }))
    }

    /// The level.
    pub fn level(&self) -> Level {
        self.result.level
    }

    /// The history.
    pub fn history(&self) -> &'a History {
        self.history
    }

    /// The transactions that set up the initial state.
    pub fn set_up(&self) -> impl Iterator<Item = TransactionId> + '_ {
        self.resolution.merged_into_initial()
    }

    /// Whether code independent of the search has verified it.
    pub fn is_verified(&self) -> bool {
        self.verified
    }

    /// Whether there is an order.
    pub fn is_ordered(&self) -> bool {
        self.replay.is_some()
    }

    /// The operations of a line in program order: of a start the reads, of a commit the writes.
    pub fn operations(&self, line: &OrderLine) -> impl Iterator<Item = OperationId> + '_ {
        let left_out = match line.moment {
            StepKind::Run => None,
            StepKind::Start => Some(OperationKind::Write),
            StepKind::Commit => Some(OperationKind::Read),
        };
        let of_line = self.history.operations_of(line.transaction);
        of_line.filter(move |&operation| Some(self.history.operation(operation).kind) != left_out)
    }

    /// What a read returned; none for a write, and for a transaction that is not in the order. O(1).
    pub fn seen(&self, operation: OperationId) -> Option<Seen> {
        self.seen[operation.index()]
    }

    /// The newer version that a read did not return although its writer comes before the reader in the order, as weak
    /// levels allow: its last writer.
    pub fn missed(&self, line: &OrderLine, read: OperationId) -> Option<TransactionId> {
        let key = self.history.operation(read).key;
        let Version::Written { write, .. } = self.replay.as_ref()?.before(key, *line.steps.start())
        else {
            return None;
        };
        let newest = self.history.transaction_of(write);
        match self.seen(read)? {
            Seen::Initial => Some(newest),
            Seen::Write(seen) => {
                Some(newest).filter(|&newest| newest != self.history.transaction_of(seen))
            }
            _ => None,
        }
    }

    /// The kind of its witness; none where what is read does not matter.
    fn kind(&self) -> Option<WitnessKind> {
        (self.level().row().engine != Engine::Versions).then_some(self.level().witness())
    }
}

/// The steps of a witness, a start together with its commit where they follow each other.
fn lines(replay: &Replay) -> Vec<OrderLine> {
    let mut lines: Vec<OrderLine> = Vec::new();
    for (place, step) in
        (0..replay.n_steps()).filter_map(|place| Some((place, replay.step(place)?)))
    {
        match lines.last_mut() {
            Some(last)
                if (last.transaction, last.moment, step.kind)
                    == (step.transaction, StepKind::Start, StepKind::Commit) =>
            {
                last.moment = StepKind::Run;
                last.steps = *last.steps.start()..=place;
            }
            _ => lines.push(OrderLine {
                transaction: step.transaction,
                moment: step.kind,
                steps: place..=place,
            }),
        }
    }
    lines
}

/// The transactions that count, as in the file.
fn unordered(history: &History, resolution: &Resolution) -> Vec<OrderLine> {
    let counts = |t: &TransactionId| {
        matches!(
            resolution.standing(*t),
            Standing::Committed | Standing::Promoted
        )
    };
    let line = |transaction| OrderLine {
        transaction,
        moment: StepKind::Run,
        steps: 0..=0,
    };
    history.transactions().filter(counts).map(line).collect()
}
