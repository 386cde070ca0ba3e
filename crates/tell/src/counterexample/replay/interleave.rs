//! An order of all operations of a small history, to be run statement by statement.
//!
//! The order respects session order. Among those orders the search looks for one in which a database with one
//! up-to-date copy and row locks, at a setting weaker than the claimed one, answers every read as observed: then the
//! script shows the anomaly there, and a database that keeps its claim refuses it. Three settings are modelled, as in
//! PostgreSQL (its manual, chapter 13.2) and, for the last, MySQL:
//!
//! - REPEATABLE READ: reads see the snapshot of the transaction's first statement and own writes; a write of a row that
//!   was changed since the snapshot fails.
//! - READ COMMITTED: reads see what is committed, and own writes.
//! - READ UNCOMMITTED: reads see the last write.
//!
//! In all of them a write waits for another transaction that has written the row and not ended; such a step is not
//! taken, so nothing in the order ever waits. The search is depth first with a table of visited states and a bound.
//! Where no order explains every read (several copies were in use), the one found explains as many as the bounded
//! search could, and lists those it does not.

use super::Isolation;
use super::versions::Versions;
use isoscope_check::checkers::Level;
use isoscope_model::control::Control;
use isoscope_model::history::{
    History, KeyId, OperationId, OperationKind, Outcome, SessionId, TransactionId, Value,
};
use std::collections::HashSet;
use std::rc::Rc;

/// Maximum number of states visited for one combination of settings; then the next one is tried. Fewer where a state is
/// larger than [`SMALL`] rows, so that the whole search takes a second or two at most.
const MAX_STATES: usize = 60_000;
/// Rows visible to all sessions together.
const SMALL: usize = 60;

/// What one step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Opens the transaction.
    Begin,
    /// Runs an operation.
    Operation(OperationId),
    /// Commits it.
    Commit,
    /// Aborts it.
    Abort,
}

/// One statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanStep {
    /// Its session.
    pub session: SessionId,
    /// Its transaction.
    pub transaction: TransactionId,
    /// What it does.
    pub action: Action,
}

/// An order of all statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The statements in order.
    pub steps: Vec<PlanStep>,
    /// Settings at which one up-to-date copy answers all reads as observed, strongest first; empty if there is none.
    pub shown_at: Vec<Isolation>,
    /// Reads that the order does not explain: the answer differs from what was observed.
    pub unexplained: Vec<OperationId>,
    /// Whether it is certain that no order explains more reads at any of the settings: all were tried.
    pub is_best: bool,
}

/// An order for `history`, which violates `level`; transactions that set up the initial state are left out, their
/// writes are the initial state.
///
/// The order respects real time where the level does, else only where that explains the reads equally well. Of the orders
/// that explain them equally well it prefers one that commits `versions` oldest first. At most a
/// few hundred thousand states are visited, each O(sessions · operations of a transaction); the same history always
/// gives the same order, unless `control` says to stop: then transactions come one after the other.
pub fn interleave(
    history: &History,
    level: Level,
    versions: &[Versions],
    control: &Control,
) -> Plan {
    let commits: Vec<[TransactionId; 2]> =
        versions.iter().map(|pair| pair.writers(history)).collect();
    let mut all_were_tried = true;
    let mut search = |timed: bool, settings: &[Isolation], mismatches: usize| {
        let mut search = InterleavingSearch::new(history, timed, settings, mismatches);
        let found = search.run(control);
        all_were_tried &= found.is_some();
        (found == Some(true)).then(|| search.plan())
    };
    // The same, oldest versions first, where an order commits them otherwise.
    let in_order = |plan: Plan, timed: bool, settings: &[Isolation], mismatches: usize| {
        if !versions
            .iter()
            .any(|&pair| are_turned(history, pair, &plan.steps))
        {
            return plan;
        }
        let mut search = InterleavingSearch {
            commits: &commits,
            ..InterleavingSearch::new(history, timed, settings, mismatches)
        };
        if search.run(control) == Some(true) {
            search.plan()
        } else {
            plan
        }
    };
    use Isolation::{ReadCommitted, ReadUncommitted, RepeatableRead};
    let wishes: [&[Isolation]; 4] = [
        &[RepeatableRead, ReadCommitted],
        &[RepeatableRead],
        &[ReadCommitted],
        &[ReadUncommitted],
    ];
    let is_strict = level.counts_real_time();
    let timed = match (history.has_times(), is_strict) {
        (false, _) => &[false][..],
        (true, false) => &[true, false],
        (true, true) => &[true],
    };
    for &timed in timed {
        for settings in wishes {
            if let Some(plan) = search(timed, settings, 0) {
                let plan = in_order(plan, timed && is_strict, settings, 0);
                return Plan {
                    shown_at: settings.to_vec(),
                    is_best: true,
                    ..plan
                };
            }
        }
    }
    let is_timed = is_strict && history.has_times();
    let fewest = (1..=3).find_map(|mismatches| {
        let plan = search(is_timed, &[ReadCommitted], mismatches)?;
        Some(in_order(plan, is_timed, &[ReadCommitted], mismatches))
    });
    match fewest {
        Some(plan) => Plan {
            is_best: all_were_tried,
            ..plan
        },
        None => serial(history),
    }
}

/// Whether a plan makes two versions visible the other way round.
pub(super) fn are_turned(history: &History, pair: Versions, steps: &[PlanStep]) -> bool {
    let commits = |t: TransactionId| {
        steps
            .iter()
            .position(|step| step.transaction == t && step.action == Action::Commit)
    };
    let [older, newer] = pair.writers(history).map(commits);
    older.zip(newer).is_some_and(|(older, newer)| newer < older)
}

/// The content of a row: the elements of a list, else one value; none is the initial version.
pub(super) type Content = Option<Vec<Value>>;

/// A committed version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Version {
    writer: TransactionId,
    content: Content,
}

/// The state of the search.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct SearchState {
    /// By session: the next event.
    next: Vec<usize>,
    /// By key.
    rows: Rc<Vec<Version>>,
    /// By session: the rows at the first statement of its current transaction.
    snapshots: Vec<Option<Rc<Vec<Version>>>>,
    /// Reads answered otherwise than observed.
    mismatches: Vec<OperationId>,
}

struct InterleavingSearch<'a> {
    history: &'a History,
    /// By session: all its statements but `Begin`, which precedes the first.
    events: Vec<Vec<PlanStep>>,
    /// Whether a transaction waits for those that ended before it began.
    timed: bool,
    settings: &'a [Isolation],
    max_mismatches: usize,
    /// Pairs of transactions the second of which commits after the first.
    commits: &'a [[TransactionId; 2]],
    state: SearchState,
    taken: Vec<PlanStep>,
    seen: HashSet<SearchState>,
}

impl<'a> InterleavingSearch<'a> {
    fn new(
        history: &'a History,
        timed: bool,
        settings: &'a [Isolation],
        max_mismatches: usize,
    ) -> InterleavingSearch<'a> {
        let initial = |_| Version {
            writer: TransactionId::INITIAL,
            content: None,
        };
        let state = SearchState {
            next: vec![0; history.n_sessions()],
            rows: Rc::new((0..history.n_keys()).map(initial).collect()),
            snapshots: vec![None; history.n_sessions()],
            mismatches: Vec::new(),
        };
        let events = history
            .sessions()
            .map(|session| events(history, session))
            .collect();
        let (taken, seen) = (Vec::new(), HashSet::new());
        InterleavingSearch {
            history,
            events,
            timed,
            settings,
            max_mismatches,
            commits: &[],
            state,
            taken,
            seen,
        }
    }

    /// Whether there is an order; it is then in `taken`. `None` where not all could be tried.
    fn run(&mut self, control: &Control) -> Option<bool> {
        let rows = self.history.n_keys() * (self.events.len() + 1);
        let most = MAX_STATES * SMALL / rows.max(SMALL);
        // One entry per step taken, and one for the beginning: the state after it, and the sessions left to try there.
        let mut stack = vec![(self.state.clone(), self.candidates())];
        while let Some((state, candidates)) = stack.last_mut() {
            self.state = state.clone();
            if self.is_finished() {
                return Some(true);
            }
            let next = candidates.pop();
            self.taken.truncate(stack.len() - 1);
            let Some(session) = next else {
                stack.pop();
                continue;
            };
            if self.take(session) && self.seen.insert(self.state.clone()) {
                if self.seen.len() > most || control.check().is_err() {
                    return None;
                }
                let candidates = self.candidates();
                stack.push((self.state.clone(), candidates));
            }
        }
        Some(false)
    }

    fn is_finished(&self) -> bool {
        self.state
            .next
            .iter()
            .zip(&self.events)
            .all(|(&next, events)| next == events.len())
    }

    /// Sessions with something left to do, the one to try first last: the one that acted last continues.
    fn candidates(&self) -> Vec<usize> {
        let last = self.taken.last().map_or(0, |step| step.session.index());
        let n = self.events.len();
        let order = (0..n).rev().map(|i| (last + i) % n.max(1));
        order
            .filter(|&session| self.state.next[session] < self.events[session].len())
            .collect()
    }

    /// Takes the next step of a session, if allowed.
    fn take(&mut self, session: usize) -> bool {
        let step = self.events[session][self.state.next[session]];
        let is_first = self.state.snapshots[session].is_none();
        if is_first && self.timed && !self.all_before_have_ended(step.transaction) {
            return false;
        }
        if is_first {
            self.state.snapshots[session] = Some(Rc::clone(&self.state.rows));
        }
        let may = match step.action {
            Action::Begin => true,
            Action::Operation(o) => match self.history.operation(o).kind {
                OperationKind::Read => self.read(session, o),
                OperationKind::Write => self.write(session, o),
            },
            Action::Commit => self.commit(session, step.transaction),
            Action::Abort => true,
        };
        self.state.next[session] += 1;
        if matches!(step.action, Action::Commit | Action::Abort) {
            self.state.snapshots[session] = None;
        }
        self.taken.push(step);
        may
    }

    /// Whether all that ended before `t` began have ended.
    fn all_before_have_ended(&self, t: TransactionId) -> bool {
        let Some(own) = self.history.interval(t) else {
            return true;
        };
        let ended_before = |other: TransactionId| {
            self.history
                .interval(other)
                .is_some_and(|i| i.end < own.start)
        };
        self.events
            .iter()
            .zip(&self.state.next)
            .all(|(events, &next)| {
                events[next..]
                    .iter()
                    .all(|step| step.transaction == t || !ended_before(step.transaction))
            })
    }

    /// The writes of `key` that the open transaction of a session has done, in order.
    fn own_writes(&self, session: usize, key: KeyId) -> impl Iterator<Item = Value> + '_ {
        let done = &self.events[session][..self.state.next[session]];
        let is_open = self.state.snapshots[session].is_some();
        let t = self.events[session]
            .get(self.state.next[session])
            .map(|step| step.transaction);
        let own = done
            .iter()
            .filter(move |step| is_open && Some(step.transaction) == t);
        own.filter_map(move |step| match step.action {
            Action::Operation(o) => Some(self.history.operation(o)),
            _ => None,
        })
        .filter(move |operation| operation.kind == OperationKind::Write && operation.key == key)
        .map(|operation| operation.value)
    }

    /// A row after the open transaction's own writes.
    fn with_own(&self, session: usize, key: KeyId, row: &Content) -> Content {
        let own: Vec<Value> = self.own_writes(session, key).collect();
        if self.history.lists().is_list(key) {
            let content: Vec<Value> = row.iter().flatten().copied().chain(own).collect();
            return (!content.is_empty()).then_some(content);
        }
        own.last().map(|&value| vec![value]).or_else(|| row.clone())
    }

    fn read(&mut self, session: usize, read: OperationId) -> bool {
        let key = self.history.operation(read).key;
        let row = &self.state.rows[key.index()].content;
        let answers = self.settings.iter().map(|setting| match setting {
            Isolation::RepeatableRead | Isolation::Serializable => {
                let snapshot = self.state.snapshots[session].as_ref();
                let row = snapshot.map_or(row, |rows| &rows[key.index()].content);
                self.with_own(session, key, row)
            }
            Isolation::ReadCommitted => self.with_own(session, key, row),
            Isolation::ReadUncommitted => {
                let writer = (0..self.events.len())
                    .find(|&other| self.own_writes(other, key).next().is_some());
                self.with_own(writer.unwrap_or(session), key, row)
            }
        });
        let as_observed = answers
            .into_iter()
            .all(|content| is_observed(self.history, read, &content));
        if !as_observed {
            self.state.mismatches.push(read);
        }
        self.state.mismatches.len() <= self.max_mismatches
    }

    fn write(&self, session: usize, write: OperationId) -> bool {
        let key = self.history.operation(write).key;
        let is_locked = (0..self.events.len())
            .any(|other| other != session && self.own_writes(other, key).next().is_some());
        let snapshot = self.state.snapshots[session].as_ref();
        let is_old = snapshot
            .is_some_and(|rows| rows[key.index()].writer != self.state.rows[key.index()].writer);
        let is_refused = is_old && self.settings.contains(&Isolation::RepeatableRead);
        !is_locked && !is_refused
    }

    fn commit(&mut self, session: usize, t: TransactionId) -> bool {
        if self
            .commits
            .iter()
            .any(|&[first, then]| then == t && !self.has_ended(first))
        {
            return false;
        }
        for key in (0..self.history.n_keys()).map(KeyId::new) {
            if self.own_writes(session, key).next().is_some() {
                let content = self.with_own(session, key, &self.state.rows[key.index()].content);
                Rc::make_mut(&mut self.state.rows)[key.index()] = Version { writer: t, content };
            }
        }
        true
    }

    fn has_ended(&self, t: TransactionId) -> bool {
        let session = self.history.session_of(t).index();
        self.events[session][self.state.next[session]..]
            .iter()
            .all(|step| step.transaction != t)
    }

    fn plan(&self) -> Plan {
        let mut steps = Vec::with_capacity(self.taken.len() * 2);
        let mut open = HashSet::new();
        for &step in &self.taken {
            if open.insert(step.transaction) {
                steps.push(PlanStep {
                    action: Action::Begin,
                    ..step
                });
            }
            steps.push(step);
        }
        Plan {
            steps,
            shown_at: Vec::new(),
            unexplained: self.state.mismatches.clone(),
            is_best: false,
        }
    }
}

/// All statements of a session but `Begin`, in order. Transactions without operations have none.
fn events(history: &History, session: SessionId) -> Vec<PlanStep> {
    let mut events = Vec::new();
    for t in history
        .transactions_of(session)
        .filter(|t| !history.set_up().contains(t))
    {
        if history.operations_of(t).len() == 0 {
            continue;
        }
        let step = |action| PlanStep {
            session,
            transaction: t,
            action,
        };
        events.extend(history.operations_of(t).map(|o| step(Action::Operation(o))));
        events.push(step(if history.outcome(t) == Outcome::Aborted {
            Action::Abort
        } else {
            Action::Commit
        }));
    }
    events
}

/// Whether a read may have returned `content`.
pub(super) fn is_observed(history: &History, read: OperationId, content: &Content) -> bool {
    let operation = history.operation(read);
    if let Some(elements) = history.lists().read_by(read) {
        return content.as_deref().unwrap_or_default() == elements;
    }
    if operation.value == Value::UNRECORDED {
        let here = content.as_ref().and_then(|content| content.last().copied());
        return history.differs_from(read).is_none_or(|other| match here {
            Some(value) => value != other,
            None => !history.may_be_initial(operation.key, other),
        });
    }
    match content {
        Some(content) => content
            .last()
            .is_some_and(|&value| history.may_return(read, value)),
        None => history.may_return_initial(read),
    }
}

/// Whole transactions one after the other, always the one whose reads are explained best.
fn serial(history: &History) -> Plan {
    let mut search =
        InterleavingSearch::new(history, false, &[Isolation::ReadCommitted], usize::MAX);
    while !search.is_finished() {
        let tried = search.candidates().into_iter().rev().map(|session| {
            let mut after = InterleavingSearch {
                events: search.events.clone(),
                state: search.state.clone(),
                taken: search.taken.clone(),
                seen: HashSet::new(),
                ..search
            };
            let t = after.events[session][after.state.next[session]].transaction;
            while after.events[session]
                .get(after.state.next[session])
                .is_some_and(|step| step.transaction == t)
            {
                after.take(session);
            }
            after
        });
        let best = tried
            .min_by_key(|after| after.state.mismatches.len())
            .expect("a session has something left to do");
        search = best;
    }
    search.plan()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Isolation::{ReadCommitted, ReadUncommitted, RepeatableRead};
    use isoscope_formats::text;

    /// The order in the usual notation, and the settings where it shows the anomaly.
    fn plan(notation: &str) -> (String, Plan) {
        let history = text::parse(notation).expect("the notation is right");
        let plan = interleave(&history, Level::Serializability, &[], &Control::new());
        let said = |step: &PlanStep| match step.action {
            Action::Begin => format!("{} begin", history.transaction_name(step.transaction)),
            Action::Operation(o) => {
                format!(
                    "{} {}",
                    history.transaction_name(step.transaction),
                    history.operation_text(o)
                )
            }
            Action::Commit => format!("{} commit", history.transaction_name(step.transaction)),
            Action::Abort => format!("{} abort", history.transaction_name(step.transaction)),
        };
        (
            plan.steps.iter().map(said).collect::<Vec<_>>().join("; "),
            plan,
        )
    }

    #[test]
    fn a_write_skew_shows_at_both_weaker_settings() {
        let (order, plan) = plan("a: [r x 0, r y 0, w x 1]\nb: [r x 0, r y 0, w y 2]");
        assert_eq!(plan.shown_at, [RepeatableRead, ReadCommitted]);
        assert!(
            order.ends_with("commit") && order.starts_with("a1 begin; a1 r(x) = 0"),
            "{order}"
        );
        // Both have read before either ends.
        assert!(
            order.find("b1 r(y) = 0").unwrap() < order.find("commit").unwrap(),
            "{order}"
        );
        assert!(plan.unexplained.is_empty());
    }

    #[test]
    fn a_lost_update_shows_at_read_committed_only() {
        let (order, plan) = plan("a: [r x 0, w x 1]\nb: [r x 0, w x 2]");
        assert_eq!(plan.shown_at, [ReadCommitted]);
        let (commit, write) = (
            order.find("a1 commit").unwrap(),
            order.find("b1 w(x) = 2").unwrap(),
        );
        assert!(commit < write, "nothing waits for a lock: {order}");
    }

    #[test]
    fn an_aborted_read_needs_uncommitted_reads() {
        let (order, plan) = plan("a: [w x 1]!\nb: [r x 1]");
        assert_eq!(plan.shown_at, [ReadUncommitted]);
        assert!(
            order.contains("a1 w(x) = 1; b1 begin; b1 r(x) = 1"),
            "{order}"
        );
    }

    #[test]
    fn what_needs_several_copies_says_so() {
        // Each of two readers sees one write and not the other.
        let (order, plan) = plan("a: [w x 1]\nb: [w y 1]\nc: [r x 1, r y 0]\nd: [r y 1, r x 0]");
        assert_eq!(plan.shown_at, []);
        assert_eq!(plan.unexplained.len(), 1, "{order}");
    }

    #[test]
    fn lists_grow_by_what_is_committed() {
        let (_, shown) = plan("a: [a l 1] [r l [1 2]]\nb: [a l 2]");
        assert_eq!(shown.shown_at, [RepeatableRead, ReadCommitted]);
        assert!(shown.unexplained.is_empty());
    }

    #[test]
    fn of_equally_good_orders_the_one_that_commits_the_older_version_first_is_taken() {
        // b read y of a before it wrote x, and x of a after that: in one copy one of the two reads is odd, and which is open.
        let history = text::parse("b: [r y 1, w x 2] [r x 1]\na: [w x 1, w y 1]")
            .expect("the notation is right");
        let last = |versions: &[Versions]| {
            let plan = interleave(&history, Level::ReadAtomic, versions, &Control::new());
            assert_eq!(plan.unexplained.len(), 1);
            let mut writers = plan
                .steps
                .iter()
                .filter(|step| step.action == Action::Commit && step.transaction.index() != 1);
            writers.next_back().map(|step| step.transaction.index())
        };
        let [older, newer] = [3, 1].map(OperationId::new);
        assert_eq!(last(&[]), Some(2));
        assert_eq!(last(&[Versions { older, newer }]), Some(0));
    }

    #[test]
    fn a_history_too_big_to_search_still_gets_an_order() {
        let sessions: Vec<String> = (0..12)
            .map(|s| {
                format!(
                    "s{s}: [w k{s} 1, r k{} 5, r k{} 0]",
                    (s + 1) % 12,
                    (s + 2) % 12
                )
            })
            .collect();
        let history = text::parse(&sessions.join("\n")).expect("the notation is right");
        let plan = interleave(&history, Level::Serializability, &[], &Control::new());
        assert_eq!(plan.steps.len(), 12 * 5);
        assert!(plan.unexplained.len() >= 12, "no transaction wrote 5");
    }
}
