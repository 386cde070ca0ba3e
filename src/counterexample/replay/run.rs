//! A counterexample as its clients saw it: one operation after the other, with the state of the keys before and after.

use super::schedule::{self, Seen};
use crate::control::Control;
use crate::counterexample::Counterexample;
use crate::counterexample::words::Words;
use crate::history::{History, KeyId, OperationId, OperationKind, Outcome, TransactionId, Value};

/// What happens at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A read or a write.
    Operation(OperationId),
    /// The transaction ends: its writes become visible, or are undone if it aborted. One of unknown outcome counts as
    /// committed.
    End(Outcome),
}

/// How a read fits the state in which it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explained {
    /// No read, or one whose value is not recorded.
    Nothing,
    /// It returned the transaction's own write.
    Own,
    /// It returned what was committed last.
    Current,
    /// It returned what had been committed before and was overwritten since.
    Older,
    /// It returned what a transaction had written that had not ended.
    Uncommitted,
    /// No state up to here explains it.
    Nowhere,
}

/// The state of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyState {
    /// The key.
    pub key: KeyId,
    /// Committed writes in the order in which they became visible: of a register the last counts, of a list all do. None:
    /// the initial state.
    pub committed: Vec<OperationId>,
    /// Writes of transactions that have not ended.
    pub pending: Vec<OperationId>,
    /// What is committed, in words: `3`, `[1 2]`, or `initial`.
    pub text: String,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStep {
    /// Who acts.
    pub transaction: TransactionId,
    /// What is done.
    pub action: Action,
    /// The state of [`Run::keys`] before.
    pub before: Vec<KeyState>,
    /// The state of [`Run::keys`] after.
    pub after: Vec<KeyState>,
    /// Of a read: how it fits the state before.
    pub explained: Explained,
    /// What happens, in one sentence with a full stop.
    pub text: String,
}

/// All operations of a counterexample in one order, in which clients may have seen them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The keys that occur, ascending.
    pub keys: Vec<KeyId>,
    /// The steps.
    pub steps: Vec<RunStep>,
    /// Whether no order explains more of the reads: all that keep to sessions (and times) were considered.
    pub is_best: bool,
    /// What the order shows, in whole sentences.
    pub summary: String,
}

/// Steps through a counterexample: of all orders of its operations that keep to the order inside transactions and
/// sessions, and to times where there are any, one in which most reads return what was committed last, and in which
/// transactions take turns as seldom as possible. For more than some thousand states of affairs, or when `control` says to
/// stop, the transactions come one after the other as they are told.
pub fn run(example: &Counterexample, control: &Control) -> Run {
    let history = &example.history;
    let plan = schedule::plan(example, control);
    let words = Words::new(history, &[]);
    let mut keys: Vec<KeyId> = history.keys().to_vec();
    keys.sort_unstable();
    keys.dedup();
    let mut states: Vec<KeyState> = keys.iter().map(|&key| KeyState::initial(key)).collect();
    let mut steps = Vec::with_capacity(plan.actions.len());
    for (transaction, action, seen) in plan.actions {
        let before = states.clone();
        apply(history, &mut states, transaction, action);
        let explained = Explained::of(seen);
        let text = sentence(&words, transaction, action, explained);
        steps.push(RunStep { transaction, action, before, after: states.clone(), explained, text });
    }
    let summary = summary(&steps);
    Run { keys, steps, is_best: plan.is_best, summary }
}

impl KeyState {
    fn initial(key: KeyId) -> KeyState {
        KeyState { key, committed: Vec::new(), pending: Vec::new(), text: "initial".to_owned() }
    }

    fn tell(&mut self, history: &History) {
        let value = |o: &OperationId| history.value_name(history.operation(*o).value);
        self.text = match self.committed.last() {
            None => "initial".to_owned(),
            Some(_) if history.lists().is_list(self.key) => {
                format!("[{}]", self.committed.iter().map(value).collect::<Vec<_>>().join(" "))
            }
            Some(last) => value(last),
        };
    }
}

impl Explained {
    fn of(seen: Seen) -> Explained {
        match seen {
            Seen::Nothing => Explained::Nothing,
            Seen::Own => Explained::Own,
            Seen::Current => Explained::Current,
            Seen::Older => Explained::Older,
            Seen::Uncommitted => Explained::Uncommitted,
            Seen::Nowhere => Explained::Nowhere,
        }
    }
}

fn apply(history: &History, states: &mut [KeyState], transaction: TransactionId, action: Action) {
    match action {
        Action::Operation(o) => {
            let operation = history.operation(o);
            if operation.kind == OperationKind::Write {
                let of_key = states.iter_mut().filter(|state| state.key == operation.key);
                of_key.for_each(|state| state.pending.push(o));
            }
        }
        Action::End(outcome) => {
            for state in states {
                let own = |o: &OperationId| history.transaction_of(*o) == transaction;
                let (ended, pending): (Vec<_>, Vec<_>) = state.pending.iter().partition(|o| own(o));
                state.pending = pending;
                if outcome != Outcome::Aborted {
                    state.committed.extend(ended);
                    state.tell(history);
                }
            }
        }
    }
}

fn sentence(words: &Words<'_>, transaction: TransactionId, action: Action, explained: Explained) -> String {
    let name = words.transaction(transaction);
    let o = match action {
        Action::Operation(o) => o,
        Action::End(Outcome::Committed) => return format!("{name} commits."),
        Action::End(Outcome::Aborted) => return format!("{name} aborts."),
        Action::End(Outcome::Unknown) => return format!("{name} ends; nobody told its client how."),
    };
    let operation = words.history.operation(o);
    let content = words.content(o);
    if operation.kind == OperationKind::Write {
        let verb = if words.history.lists().is_list(operation.key) { "appends" } else { "writes" };
        return format!("{name} {verb} {content}.");
    }
    let how = match explained {
        Explained::Nothing if operation.value == Value::UNRECORDED => "the file does not say what it returned",
        Explained::Nothing | Explained::Current => "what was committed last",
        Explained::Own => "its own write",
        Explained::Older => "an older version, which was overwritten before",
        Explained::Uncommitted => "a write of a transaction that had not ended",
        Explained::Nowhere => "no state up to here explains it",
    };
    format!("{name} reads {content}: {how}.")
}

fn summary(steps: &[RunStep]) -> String {
    let count = |wanted: Explained| steps.iter().filter(|step| step.explained == wanted).count();
    let told = [
        (Explained::Older, "an older version than the one that was there"),
        (Explained::Uncommitted, "a write of a transaction that had not ended"),
        (Explained::Nowhere, "what no state explains"),
    ];
    let odd: Vec<String> = told
        .into_iter()
        .filter_map(|(explained, what)| match count(explained) {
            0 => None,
            1 => Some(format!("one read returned {what}")),
            n => Some(format!("{n} reads returned {what}")),
        })
        .collect();
    match odd.is_empty() {
        true => {
            "Each read returned what was committed last, so this may have happened; but transactions overlapped in a \
                 way that the level does not allow."
                .to_owned()
        }
        false => {
            let text = odd.join(", ");
            let (first, rest) = text.split_at(text.len().min(1));
            format!("{}{rest}.", first.to_uppercase())
        }
    }
}
