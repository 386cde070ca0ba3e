//! A counterexample as its clients saw it: one operation after the other, with the state of the keys before and after.

use super::Isolation;
use super::interleave::{Action, Plan, PlanStep, are_turned, interleave};
use super::seen::{self, Expected, Explained, KeyState};
use super::versions::{Known, Versions, versions};
use crate::counterexample::Counterexample;
use crate::counterexample::claim::{Claim, claim};
use crate::counterexample::sentence::Sentence;
use crate::counterexample::sentences::{Words, runs};
use isoscope_model::control::Control;
use isoscope_model::history::{History, KeyId, OperationId, OperationKind, Outcome, TransactionId};
use isoscope_model::relations::Edge;
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
    let versions = versions(example, &known.order);
    let plan = interleave(&example.history, example.level, &versions, control);
    follow(example, known, &versions, plan)
}

/// The run in which a counterexample is told: where one read is what is wrong with it, its transactions come one after the
/// other as what was observed orders them, with that read at the end, so that it is the one that differs; else as
/// [`run_with`].
pub fn told_run(example: &Counterexample, known: &Known, control: &Control) -> ReplayRun {
    let read = match claim(&example.history, &example.violation) {
        Claim::StaleRead { read, .. } => Some(read),
        _ => None,
    };
    match read.and_then(|read| one_by_one(example, read)) {
        Some(plan) => follow(example, known, &versions(example, &known.order), plan),
        None => run_with(example, known, control),
    }
}

/// Each transaction as a whole, in an order that agrees with sessions and with what was observed, the one that reads
/// last; none if there is no such order. O(transactions² + transactions · edges).
fn one_by_one(example: &Counterexample, read: OperationId) -> Option<Plan> {
    let (history, reader) = (&example.history, example.history.transaction_of(read));
    let is_observed = |edge: &&Edge| edge.because.premises().is_empty() && !edge.from.is_initial();
    let observed: Vec<&Edge> = example.violation.edges.iter().filter(is_observed).collect();
    let acts = |t: &TransactionId| history.operations_of(*t).next().is_some();
    let mut left: Vec<TransactionId> = history.transactions().filter(acts).collect();
    let mut steps = Vec::new();
    while !left.is_empty() {
        let is_free = |t: &TransactionId| {
            let is_before = |other: &TransactionId| {
                let is_of_session = history.session_of(*other) == history.session_of(*t);
                let leads = |edge: &&Edge| edge.from == *other && edge.to == *t;
                other != t && (is_of_session && other < t || observed.iter().any(leads))
            };
            !left.iter().any(is_before)
        };
        let next = left
            .iter()
            .filter(|t| is_free(t))
            .min_by_key(|t| **t == reader);
        let t = *next?;
        left.retain(|other| *other != t);
        let end = match history.outcome(t) {
            Outcome::Aborted => Action::Abort,
            _ => Action::Commit,
        };
        let operations = history.operations_of(t).map(Action::Operation);
        let actions = std::iter::once(Action::Begin)
            .chain(operations)
            .chain([end]);
        steps.extend(actions.map(|action| PlanStep {
            session: history.session_of(t),
            transaction: t,
            action,
        }));
    }
    Some(Plan {
        steps,
        shown_at: Vec::new(),
        unexplained: Vec::new(),
        is_best: true,
    })
}

/// The states along the steps of a plan.
fn follow(example: &Counterexample, known: &Known, versions: &[Versions], plan: Plan) -> ReplayRun {
    let history = &example.history;
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
