//! The cause of a violation whose own reads already break a weaker level, or which concludes what its sessions and
//! reads show anyway.

use super::cutter::{Cutter, ViolatingPart, Wanted, check_at};
use crate::counterexample::groups::touched;
use crate::counterexample::translate::translate_back;
use crate::counterexample::{Counterexample, MAX_SHOWN_WHOLE, involved_operations};
use isoscope_check::checkers::{Level, LevelSet, Pattern, Proof, Violation};
use isoscope_model::history::{
    History, OperationId, OperationKind, Renaming, TransactionId, TransactionSet,
};
use isoscope_model::relations::{self, Edge, Reason};
use rustc_hash::{FxHashMap, FxHashSet};

impl Cutter<'_> {
    /// The simplest violation that the chosen one contains, in terms of the whole history: of a weaker level, by reads
    /// on which the chosen one rests; or, where the chosen one concludes an order that sessions and reads show, or one
    /// that they contradict, of a level that is no stronger, by its other conclusions; or, where no order
    /// explains many operations, of strict serializability. None where the transactions of the chosen one show nothing
    /// simpler. O(one check of its transactions).
    pub(super) fn cause(&self) -> Option<Violation> {
        // Two reads of a key break cut isolation, too, which nothing simpler does.
        if self
            .original
            .levels
            .weakest()
            .is_some_and(Level::is_of_reads)
        {
            return None;
        }
        // A part would lack the setup that lists begin with.
        if !self.history.initial_appends().is_empty() {
            return None;
        }
        let mut members = TransactionSet::of(self.history, touched(self.history, self.original));
        if self.original.id.pattern == Pattern::NoLinearOrder {
            self.add_writers_around(&mut members);
        }
        self.add_promoters(&mut members);
        let members: Vec<TransactionId> = members.iter().filter(|&t| !self.is_initial(t)).collect();
        let (small, renaming) = self.cut(&members);
        if self.original.id.pattern == Pattern::NoLinearOrder {
            return self.in_real_time(&small, &renaming);
        }
        let has_detour = self.has_detour(self.original);
        let resolution = relations::resolve(&small, self.control).ok()?;
        if resolution.merged_into_initial().next().is_some() || self.has_choices() {
            return None;
        }
        let weaker = Level::of(&small)
            .into_iter()
            .filter(|level| self.level.implies(*level))
            .collect();
        let listed = check_at(&small, weaker, self.control).violations;
        // Wrong reads are separate anomalies; one of them is the cause only where nothing else is left.
        let is_other = |v: &Violation| {
            let pattern = v.id.pattern;
            pattern.is_wrong_read() && !pattern.is_of_lists()
                || v.levels.contains(Level::CutIsolation)
        };
        let simpler = listed
            .into_iter()
            .filter_map(|v| translate_back(&v, &renaming))
            .filter(|v| {
                let is_weaker = v.levels.weakest() < self.original.levels.weakest();
                v.levels.contains(self.level)
                    && (is_weaker && !is_other(v) && self.rests_on_known(v)
                        || has_detour && self.is_simpler(v))
                    && !self.has_detour(v)
            });
        simpler.min_by_key(|v| {
            (
                is_other(v),
                !self.shares_orders(v),
                v.levels.weakest(),
                v.size(),
                v.edges.len(),
                v.id,
            )
        })
    }

    /// A violation of the level, by any pattern, in a part of a counterexample that no removal makes smaller; in terms of
    /// the whole history. None where its own pattern is all there is.
    pub(super) fn simplest_within(mut self, example: &Counterexample) -> Option<Violation> {
        self.wanted = Wanted::Anything;
        self.wrong_reads_stay = true;
        let part = ViolatingPart {
            keep: example.renaming.transactions.clone(),
            history: example.history.clone(),
            renaming: example.renaming.clone(),
            violation: example.violation.clone(),
        };
        let before = part.history.n_operations();
        let (found, ..) = self.reduce_operations(part);
        let found = self.with_best_argument(found);
        if found.history.n_operations() == before {
            return None;
        }
        translate_back(&found.violation, &found.renaming)
    }

    /// The violation of strict serializability among operations that no order explains and that are too many to be
    /// shown: it has a proof that can be followed.
    fn in_real_time(&self, small: &History, renaming: &Renaming) -> Option<Violation> {
        if small.n_operations() <= MAX_SHOWN_WHOLE {
            return None;
        }
        let listed = check_at(small, vec![Level::StrictSerializability], self.control).violations;
        let strict = listed
            .into_iter()
            .filter_map(|v| translate_back(&v, renaming));
        let strict = strict
            .filter(|v| v.levels.contains(self.level) && v.id.pattern != Pattern::NoLinearOrder);
        strict.min_by_key(|v| (v.size(), v.edges.len(), v.id))
    }

    /// Two reads of a key that return different versions break cut isolation by themselves. Where the cycle that they
    /// also close makes a detour, it shows what their session shows without them, and is dropped.
    pub(super) fn without_detour(&self, found: ViolatingPart) -> ViolatingPart {
        let is_torn =
            found.violation.id.pattern == Pattern::NonRepeatableRead && self.level.is_of_reads();
        let in_whole = translate_back(&found.violation, &found.renaming);
        if !is_torn || !in_whole.is_some_and(|violation| self.has_detour(&violation)) {
            return found;
        }
        let mut violation = found.violation;
        violation.edges.truncate(2);
        let reader = violation.edges.first().map(|edge| edge.to);
        violation.transactions = violation
            .edges
            .iter()
            .map(|edge| edge.from)
            .chain(reader)
            .collect();
        violation.transactions.retain(|t| !t.is_initial());
        violation.levels = LevelSet::upward(Level::CutIsolation);
        violation.also.retain(|name| name != "G-monotonic");
        violation.proof = Proof::Reads(None);
        ViolatingPart { violation, ..found }
    }

    /// Whether a cycle has an order that was concluded although it was observed, or one among others that contradicts
    /// what was observed: of the two transactions or, where it is a single cycle, through others that it names.
    fn has_detour(&self, violation: &Violation) -> bool {
        let concluded: Vec<&Edge> = in_cycle(violation)
            .filter(|edge| is_conclusion(edge))
            .collect();
        let is_one_of_many = concluded.len() > 1;
        let is_idle = |edge: &&Edge| {
            self.is_observed(edge.from, edge.to)
                || is_one_of_many && self.is_observed(edge.to, edge.from)
        };
        let is_cycle = matches!(violation.proof, Proof::Cycle(_));
        violation.implied
            || concluded.iter().any(is_idle)
            || is_one_of_many && is_cycle && self.contradicts_observed(violation, &concluded)
    }

    /// Whether sessions and reads lead against one of these orders through transactions of a violation. O(orders · operations
    /// of the transactions).
    fn contradicts_observed(&self, violation: &Violation, orders: &[&Edge]) -> bool {
        let mut next: FxHashMap<TransactionId, Vec<TransactionId>> = FxHashMap::default();
        let all = touched(self.history, violation);
        for two in all
            .windows(2)
            .filter(|two| self.history.session_of(two[0]) == self.history.session_of(two[1]))
        {
            next.entry(two[0]).or_default().push(two[1]);
        }
        for &t in &all {
            for writer in self
                .history
                .operations_of(t)
                .filter_map(|o| self.resolution.source_in(t, o).writer())
            {
                next.entry(writer).or_default().push(t);
            }
        }
        let leads = |from: TransactionId, to: TransactionId| {
            let (mut open, mut seen) = (vec![from], FxHashSet::default());
            while let Some(t) = open.pop().filter(|t| *t != to) {
                open.extend(
                    next.get(&t)
                        .into_iter()
                        .flatten()
                        .filter(|next| seen.insert(**next)),
                );
            }
            seen.contains(&to)
        };
        orders
            .iter()
            .any(|edge| !edge.to.is_initial() && leads(edge.to, edge.from))
    }

    /// Whether one transaction ran after the other in its session, or read from it.
    fn is_observed(&self, from: TransactionId, to: TransactionId) -> bool {
        if from.is_initial() || to.is_initial() {
            return false;
        }
        let reads_from = |o: OperationId| self.resolution.source_in(to, o).writer() == Some(from);
        (from < to && self.history.session_of(from) == self.history.session_of(to))
            || self.history.operations_of(to).any(reads_from)
    }

    /// Whether a violation rests on no other reads.
    fn rests_on_known(&self, violation: &Violation) -> bool {
        let is_read = |o: &OperationId| self.history.kinds()[o.index()] == OperationKind::Read;
        let mut reads = involved_operations(violation)
            .into_iter()
            .filter(is_read)
            .peekable();
        reads.peek().is_some() && reads.all(|read| self.is_known(read))
    }

    /// Whether the chosen violation rests on a read, or on another one of its transaction that returned the same.
    fn is_known(&self, read: OperationId) -> bool {
        let returned =
            |o: OperationId| (self.history.operation(o), self.history.lists().read_by(o));
        let is_same = |o: OperationId| {
            self.involved.binary_search(&o).is_ok() && returned(o) == returned(read)
        };
        is_same(read)
            || self
                .history
                .operations_of(self.history.transaction_of(read))
                .any(is_same)
    }

    /// Whether a violation concludes only what the chosen one concludes, or from the same reads.
    fn is_simpler(&self, violation: &Violation) -> bool {
        let mut conclusions = in_cycle(violation)
            .filter(|edge| is_conclusion(edge))
            .peekable();
        match conclusions.peek() {
            Some(_) => {
                self.shares_orders(violation)
                    || conclusions
                        .all(|edge| concluded_from(edge).is_none_or(|read| self.is_known(read)))
            }
            None => self.rests_on_known(violation),
        }
    }

    /// Whether a violation concludes no order of two transactions that the chosen one does not conclude.
    fn shares_orders(&self, violation: &Violation) -> bool {
        let known = |edge: &Edge| {
            in_cycle(self.original).any(|own| is_conclusion(own) && ends(own) == ends(edge))
        };
        in_cycle(violation)
            .filter(|edge| is_conclusion(edge))
            .all(known)
    }
}

fn in_cycle(violation: &Violation) -> impl Iterator<Item = &Edge> {
    violation
        .proof
        .cycle_edges()
        .into_iter()
        .filter_map(|edge| violation.edges.get(edge))
}

fn ends(edge: &Edge) -> (TransactionId, TransactionId) {
    (edge.from, edge.to)
}

fn is_conclusion(edge: &Edge) -> bool {
    !edge.because.premises().is_empty()
}

fn concluded_from(edge: &Edge) -> Option<OperationId> {
    match edge.because {
        Reason::Visible { read, .. } => Some(read),
        Reason::Overwrites { .. } => edge.from_operation,
        _ => None,
    }
}
