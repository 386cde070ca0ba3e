//! A counterexample as its clients saw it: one operation after the other, with the state of the keys before and after.

use super::Isolation;
use super::interleave::{Action, are_turned, interleave};
use super::seen::{self, Expected, Explained, KeyState};
use super::versions::{Known, versions};
use crate::counterexample::Counterexample;
use crate::counterexample::sentence::Sentence;
use crate::counterexample::sentences::{Words, runs};
use isoscope_model::control::Control;
use isoscope_model::history::{History, KeyId, OperationId, OperationKind, TransactionId};
use std::collections::BTreeMap;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStep {
    /// The transaction that acts.
    pub transaction: TransactionId,
    /// What it does; never [`Action::Begin`], which is implied before the first.
    pub action: Action,
    /// The state of [`ReplayRun::keys`] before.
    pub before: Vec<KeyState>,
    /// The state of [`ReplayRun::keys`] after.
    pub after: Vec<KeyState>,
    /// For a read: how it fits the state before.
    pub explained: Explained,
    /// What one up-to-date copy of the data does here at [`ReplayRun::setting`], where that is informative.
    pub expected: Option<Expected>,
    /// What happens, in one sentence without a full stop.
    pub text: Sentence,
}

/// All operations of a counterexample in an order in which clients may have seen them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayRun {
    /// The keys that occur, ascending.
    pub keys: Vec<KeyId>,
    /// The steps.
    pub steps: Vec<RunStep>,
    /// The weakest setting that claims the level.
    pub setting: Isolation,
    /// Settings at which one up-to-date copy answers all reads as observed in this order, strongest first.
    pub shown_at: Vec<Isolation>,
    /// Whether it is certain that no order explains more of the reads.
    pub is_best: bool,
    /// What the order shows, in whole sentences.
    pub summary: Sentence,
}

/// [`run_with`] what the argument itself shows of the order of versions.
pub fn run(example: &Counterexample, control: &Control) -> ReplayRun {
    run_with(example, &Known::default(), control)
}

/// Steps through a counterexample in the order of [`interleave()`], given what is `known` of its writes in the whole
/// history. Transactions without operations do not act. As expensive as that, and O(steps · keys).
pub fn run_with(example: &Counterexample, known: &Known, control: &Control) -> ReplayRun {
    let history = &example.history;
    let versions = versions(example, &known.order);
    let plan = interleave(history, example.level, &versions, control);
    let setting = Isolation::claiming(example.level);
    let words = Words::new(history, &[]);
    let mut keys: Vec<KeyId> = history.keys().to_vec();
    keys.sort_unstable();
    keys.dedup();
    let mut states: Vec<KeyState> = keys.iter().map(|&key| KeyState::initial(key)).collect();
    // By transaction that began: how many writes of each key were committed then.
    let mut starts: BTreeMap<TransactionId, Vec<usize>> = BTreeMap::new();
    let mut steps = Vec::with_capacity(plan.steps.len());
    let mut intermediate = None;
    for step in &plan.steps {
        let (transaction, action) = (step.transaction, step.action);
        if action == Action::Begin {
            starts.insert(
                transaction,
                states.iter().map(|state| state.committed.len()).collect(),
            );
            continue;
        }
        let before = states.clone();
        apply(history, &mut states, transaction, action);
        let (mut explained, mut expected) = (Explained::Nothing, None);
        if let Action::Operation(o) = action
            && let Ok(place) = keys.binary_search(&history.operation(o).key)
        {
            let n_at_start = starts.get(&transaction).map_or(0, |start| start[place]);
            explained = Explained::of(history, &before[place], transaction, o);
            expected = Expected::of(history, &before[place], o, n_at_start, setting);
        }
        let replaced = match action {
            Action::Operation(o) => known.replaced(history, o),
            Action::Begin | Action::Commit | Action::Abort => None,
        };
        intermediate = intermediate.or(replaced);
        let text = runs::sentence(&words, (transaction, action), explained, replaced);
        steps.push(RunStep {
            transaction,
            action,
            before,
            after: states.clone(),
            explained,
            expected,
            text,
        });
    }
    let count = |wanted: Explained| steps.iter().filter(|step| step.explained == wanted).count();
    let turned = versions
        .iter()
        .find(|pair| are_turned(history, **pair, &plan.steps));
    let summary = [
        Some(runs::summary(example.level, count)),
        intermediate.map(|writer| runs::intermediate(&words, writer)),
        turned.map(|pair| runs::turned(&words, pair.older, pair.newer)),
        Some(runs::shown(&plan.shown_at, setting, history.has_times())),
    ];
    ReplayRun {
        keys,
        steps,
        setting,
        shown_at: plan.shown_at,
        is_best: plan.is_best,
        summary: Sentence::join(summary.into_iter().flatten(), " "),
    }
}

fn apply(history: &History, states: &mut [KeyState], transaction: TransactionId, action: Action) {
    if let Action::Operation(o) = action {
        let operation = history.operation(o);
        if operation.kind == OperationKind::Write {
            states
                .iter_mut()
                .filter(|state| state.key == operation.key)
                .for_each(|state| state.pending.push(o));
        }
        return;
    }
    for state in states {
        let own = |o: &OperationId| history.transaction_of(*o) == transaction;
        let (ended, pending): (Vec<_>, Vec<_>) = state.pending.iter().partition(|o| own(o));
        state.pending = pending;
        if action == Action::Commit {
            state.committed.extend(ended);
            state.text = seen::content_of(history, state, &state.committed);
        }
    }
}
