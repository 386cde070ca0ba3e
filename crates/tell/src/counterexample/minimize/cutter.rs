//! Cuts parts out of the whole history and checks whether they violate the level.

use super::late;
use crate::counterexample::groups::named_transactions;
use crate::counterexample::involved_operations;
use crate::counterexample::translate::{translate, translate_back};
use isoscope_check::checkers::{
    self, Cause, Findings, Level, Options, Pattern, Verdict, Violation,
};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{
    History, KeyId, OperationId, Renaming, Repeated, TransactionId, TransactionSet,
};
use isoscope_model::relations::{
    self, Edge, EdgeIndex, Reason, Relation, Resolution, Source, Standing,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Most instances listed per pattern in a small history: enough to find the chosen one again.
const LISTED: usize = 64;

/// A sub-history that violates the level.
#[derive(Clone)]
pub(super) struct ViolatingPart {
    pub(super) keep: Vec<TransactionId>,
    pub(super) history: History,
    pub(super) renaming: Renaming,
    pub(super) violation: Violation,
}

/// Which violations of the level will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Those of this pattern.
    Pattern(Pattern),
    /// Those that break no level weaker than this: others are separate anomalies that happen to be among the same
    /// transactions.
    NoWeaker(Level),
    /// All.
    Anything,
}

impl Wanted {
    /// A general cycle may shrink to a named pattern; named patterns are kept.
    fn of(original: &Violation) -> Wanted {
        let pattern = original.id.pattern;
        let is_general = pattern.row().level.is_of_dependencies()
            || matches!(
                pattern,
                Pattern::MSRCycle | Pattern::SICycle | Pattern::SERCycle | Pattern::RealTimeCycle
            );
        match original.levels.weakest() {
            Some(weakest) if is_general => Wanted::NoWeaker(weakest),
            _ => Wanted::Pattern(original.id.pattern),
        }
    }

    fn is_general(self) -> bool {
        !matches!(self, Wanted::Pattern(_))
    }
}

/// What the oracle says about a sub-history.
pub(super) enum Answer {
    /// It violates the level, by a wanted violation.
    Violated(Box<ViolatingPart>),
    /// It violates the level, but by no wanted violation.
    ByAnotherPattern,
    /// It satisfies the level.
    No,
    /// It cannot be distinguished from one whose first transactions set up the initial state.
    Unusable,
}

pub(super) struct Cutter<'a> {
    pub(super) history: &'a History,
    pub(super) original: &'a Violation,
    pub(super) level: Level,
    pub(super) control: &'a Control,
    pub(super) resolution: &'a Resolution,
    /// The operations the violation is about, ascending.
    pub(super) involved: Vec<OperationId>,
    /// What must survive.
    pub(super) wanted: Wanted,
    /// Only the chosen violation itself will do.
    pub(super) is_itself: bool,
    /// The checker does not list it among its own transactions, so that nothing can be removed and checked.
    pub(super) is_unlisted: bool,
    /// Reads that are separate anomalies are not left out: the pattern of the violation rests on them.
    pub(super) wrong_reads_stay: bool,
    /// By unknown transaction that must have committed: a reader that shows it, and its read.
    pub(super) promoted_by: &'a FxHashMap<TransactionId, (TransactionId, OperationId)>,
    /// By key and element of a list: its appends, where there are several.
    repeated: &'a Repeated,
}

/// What all counterexamples of a history need to know of it: minimizes any number of its violations.
pub struct Minimizer<'a> {
    pub(super) history: &'a History,
    resolution: Resolution,
    promoted_by: FxHashMap<TransactionId, (TransactionId, OperationId)>,
    repeated: &'a Repeated,
}

impl<'a> Minimizer<'a> {
    /// Prepares for the violations of `history`. O(operations), once.
    pub fn new(history: &'a History, control: &Control) -> Result<Minimizer<'a>, Interrupt> {
        let resolution = relations::resolve(history, control)?;
        let promoted_by = promotions(history, &resolution);
        Ok(Minimizer {
            history,
            resolution,
            promoted_by,
            repeated: history.appends().repeated(),
        })
    }
}

impl<'a> Cutter<'a> {
    pub(super) fn new(
        minimizer: &'a Minimizer<'a>,
        original: &'a Violation,
        level: Level,
        control: &'a Control,
    ) -> Cutter<'a> {
        Cutter {
            history: minimizer.history,
            original,
            level,
            control,
            resolution: &minimizer.resolution,
            involved: involved_operations(original),
            wanted: Wanted::of(original),
            is_itself: false,
            is_unlisted: false,
            wrong_reads_stay: false,
            promoted_by: &minimizer.promoted_by,
            repeated: minimizer.repeated,
        }
    }

    /// The same, looking for nothing but the chosen violation.
    pub(super) fn only_itself(mut self) -> Cutter<'a> {
        self.wanted = Wanted::Pattern(self.original.id.pattern);
        self.is_itself = true;
        self
    }

    /// Whether it is part of ⊥, not a transaction of its own.
    pub(super) fn is_initial(&self, t: TransactionId) -> bool {
        self.resolution.standing(t) == Standing::Initial
    }

    /// Whether a list may be kept: for each element that was appended several times all appends are kept or none, since
    /// with only some of them the list would say more than it does in the whole.
    pub(super) fn list_is_as_open(
        &self,
        read: OperationId,
        is_kept: impl Fn(OperationId) -> bool,
    ) -> bool {
        self.repeated_in(read).all(|appends| {
            let n = appends.iter().filter(|append| is_kept(**append)).count();
            n == 0 || n == appends.len()
        })
    }

    /// The appends of each element of a list that was appended several times.
    fn repeated_in(&self, read: OperationId) -> impl Iterator<Item = &Vec<OperationId>> {
        let list = if self.repeated.is_empty() {
            None
        } else {
            self.history.lists().read_by(read)
        };
        let key = self.history.keys()[read.index()];
        list.into_iter()
            .flatten()
            .filter_map(move |element| self.repeated.get(&(key, *element)))
    }

    /// The other transactions that may have written what an operation read.
    pub(super) fn writers(&self, operation: OperationId) -> Vec<TransactionId> {
        let mut writers = self.writers_of_value(operation);
        let repeated = self
            .repeated_in(operation)
            .flatten()
            .map(|append| self.history.transaction_of(*append));
        writers.extend(repeated.filter(|t| *t != self.history.transaction_of(operation)));
        writers
    }

    fn writers_of_value(&self, operation: OperationId) -> Vec<TransactionId> {
        if let Some(multiple) = self.resolution.multiple_sources(operation) {
            return explicit_writers(&multiple.sources()).collect();
        }
        match self.resolution.source(operation) {
            Source::Transaction { writer, .. } | Source::Aborted { writer, .. } => vec![writer],
            _ => Vec::new(),
        }
    }

    /// Whether these transactions alone violate the level.
    pub(super) fn ask(&self, keep: &[TransactionId]) -> Answer {
        if keep.is_empty() {
            return Answer::No;
        }
        let (small, renaming) = self.cut(keep);
        self.ask_about(keep.to_vec(), small, renaming)
    }

    /// Whether a sub-history of the transactions `keep` violates the level.
    pub(super) fn ask_about(
        &self,
        keep: Vec<TransactionId>,
        small: History,
        renaming: Renaming,
    ) -> Answer {
        // A transaction of the small history must not be taken for a setup transaction: in the whole it is none.
        let resolution = match relations::resolve(&small, self.control) {
            Ok(resolution) if resolution.merged_into_initial().next().is_none() => resolution,
            _ => return Answer::Unusable,
        };
        let findings = check_at(&small, vec![self.level], self.control);
        if findings
            .level(self.level)
            .is_none_or(|result| result.verdict != Verdict::Violated)
        {
            return Answer::No;
        }
        match self.choose(findings.violations, &renaming, &resolution) {
            Some(violation) => Answer::Violated(Box::new(ViolatingPart {
                keep,
                history: small,
                renaming,
                violation,
            })),
            None => Answer::ByAnotherPattern,
        }
    }

    /// The sub-history of these transactions. Drops reads from outside and anomalous reads that the violation is not
    /// about, unless its pattern rests on them.
    pub(super) fn cut(&self, keep: &[TransactionId]) -> (History, Renaming) {
        let members = TransactionSet::of(self.history, keep.iter().copied());
        let second_versions = self.second_versions(keep);
        let promoting: FxHashSet<OperationId> = keep
            .iter()
            .filter_map(|t| self.promoted_by.get(t))
            .map(|&(_, read)| read)
            .collect();
        let complete =
            |sources: &[Source]| explicit_writers(sources).all(|writer| members.contains(writer));
        self.history.restrict(&members, |o| {
            if !self.list_is_as_open(o, |append| {
                members.contains(self.history.transaction_of(append))
            }) {
                return false;
            }
            let is_involved = || {
                self.wrong_reads_stay
                    || self.involved.binary_search(&o).is_ok()
                    || promoting.contains(&o)
            };
            // Which write such operations observed is not what their argument is about.
            if self.original.id.pattern == Pattern::NoLinearOrder && is_involved() {
                return true;
            }
            // The writer of such a read must be as open as in the whole.
            let multiple = self
                .resolution
                .multiple_sources(o)
                .filter(|_| self.must_be_open(o, is_involved()));
            if multiple.is_some_and(|multiple| !complete(&multiple.sources())) {
                return false;
            }
            match self.resolution.source(o) {
                Source::Outside | Source::Own => true,
                Source::Unrecorded => !self.history.operation(o).value.is_of_scan(),
                Source::Initial { after_own_write } => {
                    (!after_own_write && !second_versions.contains(&o)) || is_involved()
                }
                Source::Transaction {
                    writer,
                    intermediate,
                    after_own_write,
                    ..
                } => {
                    let fair = !intermediate && !after_own_write && !second_versions.contains(&o);
                    members.contains(writer) && (fair || is_involved())
                }
                Source::Aborted { writer, .. } => members.contains(writer) && is_involved(),
                Source::Future { .. } | Source::OwnOverwritten { .. } | Source::ThinAir => {
                    is_involved()
                }
                Source::Ambiguous => complete(&self.resolution.candidates(o)),
            }
        })
    }

    /// Whether a read may be kept only with all its possible writers, including those that read committed rules out. At
    /// cut isolation they all count; else they are part of the argument, unless any one of them suffices (TAP-d).
    fn must_be_open(&self, read: OperationId, is_involved: bool) -> bool {
        self.level.is_of_reads() || (is_involved && !self.resolution.is_open_after_own_write(read))
    }

    /// Reads that return a key in another version than an earlier (or an involved) read of their transaction did.
    fn second_versions(&self, keep: &[TransactionId]) -> FxHashSet<OperationId> {
        let mut second = FxHashSet::default();
        let mut version = FxHashMap::default();
        for &t in keep {
            version.clear();
            for involved in [true, false] {
                for o in self.history.operations_of(t) {
                    let Some(writer) = self.resolution.source_in(t, o).writer() else {
                        continue;
                    };
                    if self.involved.binary_search(&o).is_ok() != involved {
                        continue;
                    }
                    let first = *version
                        .entry(self.history.keys()[o.index()])
                        .or_insert(writer);
                    if first != writer && !involved {
                        second.insert(o);
                    }
                }
            }
        }
        second
    }

    /// The violation to show: the chosen one if it is still there, else one of the wanted pattern, else (if none is
    /// wanted) the smallest of the level.
    fn choose(
        &self,
        violations: Vec<Violation>,
        renaming: &Renaming,
        small: &Resolution,
    ) -> Option<Violation> {
        // The same operations have no order, whatever else the part shows.
        if self.original.id.pattern == Pattern::NoLinearOrder {
            return translate(self.original, renaming);
        }
        // The checker says whether it still is an instance of its pattern, since the letter depends on all its reads.
        if matches!(self.wanted, Wanted::Pattern(_))
            && let Some(same) = self.same(renaming, small)
            && violations.iter().any(|v| self.fits(v) && is_like(v, &same))
        {
            return Some(named_by(&violations, same));
        }
        let is_wanted = |v: &Violation| {
            self.fits(v) && (!self.is_itself || self.is_about_the_same(v, renaming))
        };
        let fitting = violations.into_iter().filter(is_wanted);
        let original = self.translated_transactions(renaming);
        fitting.min_by_key(|v| {
            let other_transactions = original.as_deref() != Some(v.transactions.as_slice());
            let other_pattern = v.id.pattern != self.original.id.pattern;
            let other_level = v.level() != Some(self.level);
            let follows = v.implied && !self.original.implied;
            (
                follows,
                other_transactions,
                other_pattern,
                other_level,
                v.implied,
                v.size(),
                v.edges.len(),
                v.id,
            )
        })
    }

    /// Whether a violation of a sub-history argues only with what the chosen one argues with. Else it is another
    /// instance of the same pattern, among the same transactions. Cycles without a name may get one, and where it is
    /// open what was read, the cases are what is shown.
    pub(super) fn is_about_the_same(&self, violation: &Violation, renaming: &Renaming) -> bool {
        let is_named = self.is_itself || !Wanted::of(self.original).is_general();
        if is_named && violation.id.pattern != self.original.id.pattern {
            return false;
        }
        if !is_named || self.has_choices() {
            return true;
        }
        let Some(violation) = translate_back(violation, renaming) else {
            return false;
        };
        let known = arguments(&self.original.edges);
        let cycle = violation.proof.cycle_edges();
        let argued = cycle.iter().filter_map(|&e| violation.edges.get(e));
        arguments(argued)
            .iter()
            .all(|argument| known.contains(argument))
            && (!cycle.is_empty()
                || involved_operations(&violation)
                    .iter()
                    .all(|o| self.involved.binary_search(o).is_ok()))
    }

    /// The chosen violation in terms of a sub-history, if it is there. The checker lists one instance for each pair of
    /// writers: not necessarily the chosen one. Its evidence holds wherever everything it names is left and still
    /// counts, unless it rests on a choice among writers, or on which appends fit into a list.
    fn same(&self, renaming: &Renaming, small: &Resolution) -> Option<Violation> {
        let same = translate(self.original, renaming).filter(|_| !self.has_choices())?;
        let takes_part =
            |t: &TransactionId| t.is_initial() || small.standing(*t) != Standing::Dropped;
        named_transactions(&same)
            .iter()
            .all(takes_part)
            .then_some(same)
    }

    pub(super) fn has_choices(&self) -> bool {
        self.resolution.n_ambiguous() > 0 || !self.repeated.is_empty()
    }

    /// Whether a violation is one of the level, and a wanted one.
    fn fits(&self, violation: &Violation) -> bool {
        violation.levels.contains(self.level)
            && match self.wanted {
                // A violation that follows from a simpler one is shown by that one.
                Wanted::Pattern(wanted) => {
                    violation.id.pattern == wanted && (!violation.implied || self.original.implied)
                }
                Wanted::NoWeaker(level) => violation.levels.weakest() >= Some(level),
                Wanted::Anything => true,
            }
    }

    fn translated_transactions(&self, renaming: &Renaming) -> Option<Vec<TransactionId>> {
        self.original
            .transactions
            .iter()
            .map(|&t| renaming.new_transaction(t))
            .collect()
    }

    /// The same part with the argument that is easiest to follow: the shortest cycle, the fewest inferred edges, the
    /// fewest edges; the current one on ties.
    pub(super) fn with_best_argument(&self, found: ViolatingPart) -> ViolatingPart {
        let findings = check_at(&found.history, vec![self.level], self.control);
        let weight = |v: &Violation| {
            let inferred = v
                .edges
                .iter()
                .filter(|edge| !edge.because.premises().is_empty())
                .count();
            let other_pattern = v.id.pattern != found.violation.id.pattern;
            let other_level = v.level() != Some(self.level);
            let follows = v.implied && !self.original.implied;
            (
                follows,
                other_pattern,
                other_level,
                v.proof.parts().len(),
                v.proof.cycle_edges().len(),
                inferred,
                v.edges.len(),
            )
        };
        let best = findings
            .violations
            .into_iter()
            .filter(|v| {
                self.fits(v) && (!self.is_itself || self.is_about_the_same(v, &found.renaming))
            })
            .min_by_key(weight);
        match best.filter(|best| weight(best) < weight(&found.violation)) {
            Some(violation) => ViolatingPart { violation, ..found },
            None => found,
        }
    }

    /// Verdicts of the small history at all levels, with a little extra time if the time is up.
    pub(super) fn verdicts(&self, found: &ViolatingPart) -> Vec<(Level, Verdict)> {
        verdicts(
            &found.history,
            self.level,
            &found.violation,
            &late(self.control),
        )
    }
}

/// A concluded order: its transactions, key and read.
type Argument = (
    TransactionId,
    TransactionId,
    Option<KeyId>,
    Option<OperationId>,
);

/// The orders among these that were concluded.
fn arguments<'e>(edges: impl IntoIterator<Item = &'e Edge>) -> Vec<Argument> {
    let argument = |edge: &Edge| match edge.because {
        Reason::Visible { read, .. } => Some((edge.from, edge.to, edge.key, Some(read))),
        Reason::Overwrites { .. } => Some((edge.from, edge.to, edge.key, edge.from_operation)),
        _ => None,
    };
    edges.into_iter().filter_map(argument).collect()
}

/// The order of two versions that a violation is named after, where it is.
fn versions(v: &Violation) -> Option<(TransactionId, TransactionId, Relation)> {
    let first = v.edges.get(*v.proof.cycle_edges().first()?)?;
    Some((first.from, first.to, first.relation))
}

/// Whether an instance of a pattern that the checker lists shows that the pattern is also that of another one. The letter
/// of a TAP depends on what its versions are; the name of a stronger pattern on the shape of its cycle only, which the
/// checker may list with other keys or from the other end.
fn is_like(listed: &Violation, other: &Violation) -> bool {
    let pairs = |v: &Violation| -> BTreeSet<(TransactionId, TransactionId)> {
        let cycle = v
            .proof
            .cycle_edges()
            .into_iter()
            .filter_map(|e| v.edges.get(e));
        cycle
            .map(|edge| (edge.from.min(edge.to), edge.from.max(edge.to)))
            .collect()
    };
    let is_strong = other.id.pattern.letter().is_none();
    versions(listed) == versions(other) || is_strong && pairs(listed) == pairs(other)
}

/// A violation of a larger history with the names that the violations listed for this one give it: its other names, and
/// whether it is implied, rest on reads and writes that may have been left out.
pub(super) fn named_by(listed: &[Violation], mut same: Violation) -> Violation {
    let of_pattern = || {
        listed
            .iter()
            .filter(|other| (other.id.pattern, other.key) == (same.id.pattern, same.key))
    };
    let ends = |v: &Violation, e: &EdgeIndex| {
        v.edges
            .get(*e)
            .map(|edge| (edge.from, edge.to, edge.relation))
    };
    let cycle = |v: &Violation| {
        v.proof
            .cycle_edges()
            .iter()
            .map(|e| ends(v, e))
            .collect::<Vec<_>>()
    };
    let is_same = |other: &&Violation| {
        if same.proof.cycle_edges().is_empty() {
            involved_operations(other) == involved_operations(&same)
        } else {
            cycle(other) == cycle(&same)
        }
    };
    let also = of_pattern()
        .find(is_same)
        .map(|other| other.also.clone())
        .unwrap_or_default();
    let implied = of_pattern()
        .find(|other| versions(other) == versions(&same))
        .map(|other| other.implied);
    (same.also, same.implied) = (also, implied.unwrap_or(same.implied));
    same
}

/// The transactions among some sources, except ⊥.
pub(super) fn explicit_writers(sources: &[Source]) -> impl Iterator<Item = TransactionId> + '_ {
    sources
        .iter()
        .filter_map(|source| source.writer())
        .filter(|writer| !writer.is_initial())
}

/// The levels at which a history is judged that shows a violation of one: the usual ones, and of the others those that are
/// violated, so that none is left out which was asked for and broken. What violates a plain level is judged at
/// plain ones.
pub(super) fn levels_of(history: &History, violated: Level, violation: &Violation) -> Vec<Level> {
    let is_broken = |level: Level| level == violated || violation.levels.contains(level);
    if violated.plain_of().is_some() {
        let is_judged = |level: &Level| {
            level.is_of_reads() && level.is_told_apart(history)
                || is_usual_plain(*level)
                || level.plain_of().is_some() && is_broken(*level)
        };
        return Level::EVERY.into_iter().filter(is_judged).collect();
    }
    let usual = Level::of(history);
    let is_judged =
        |level: &Level| usual.contains(level) || !level.row().usual && is_broken(*level);
    Level::EVERY.into_iter().filter(is_judged).collect()
}

/// Whether a level is the plain form of a usual one, or of PSI.
fn is_usual_plain(level: Level) -> bool {
    let form = level.plain_of().filter(|form| *form != level);
    form.is_some_and(|form| form.row().usual || form == Level::ParallelSnapshotIsolation)
}

/// What a small history violates at these levels, with its instances.
pub(super) fn check_at(history: &History, levels: Vec<Level>, control: &Control) -> Findings {
    let options = Options {
        levels,
        max_instances: LISTED,
        ..Options::default()
    };
    checkers::check(history, &options, control, &|_| {})
}

/// Verdicts at these levels of a history that violates one.
pub(super) fn verdicts(
    history: &History,
    violated: Level,
    violation: &Violation,
    control: &Control,
) -> Vec<(Level, Verdict)> {
    let levels = levels_of(history, violated, violation);
    let options = Options {
        levels: levels.clone(),
        max_instances: 0,
        counts: false,
    };
    let findings = checkers::check(history, &options, control, &|_| {});
    let verdict = |level: Level| match findings.level(level) {
        Some(result)
            if matches!(result.verdict, Verdict::Undecided(_)) && level.implies(violated) =>
        {
            Verdict::Violated
        }
        Some(result) => result.verdict.clone(),
        None => Verdict::Undecided(Cause::Unsupported("not checked".to_owned())),
    };
    levels
        .into_iter()
        .map(|level| (level, verdict(level)))
        .collect()
}

/// For every unknown transaction that must have committed, a reader that shows it. Readers lead back to transactions
/// that are known to have committed, never in a cycle. O(operations) if there are any such, else O(transactions).
fn promotions(
    history: &History,
    resolution: &Resolution,
) -> FxHashMap<TransactionId, (TransactionId, OperationId)> {
    let mut promoted_by = FxHashMap::default();
    if resolution.promoted().next().is_none() {
        return promoted_by;
    }
    let mut waiting: Vec<TransactionId> = history
        .transactions()
        .filter(|&t| resolution.standing(t) == Standing::Committed)
        .collect();
    while let Some(reader) = waiting.pop() {
        for read in history.operations_of(reader) {
            let read_from = match resolution.source_in(reader, read) {
                Source::Transaction { writer, .. } => Some(writer),
                _ => None,
            };
            for writer in read_from
                .into_iter()
                .chain(relations::appenders(history, read))
            {
                if resolution.standing(writer) == Standing::Promoted
                    && !promoted_by.contains_key(&writer)
                {
                    promoted_by.insert(writer, (reader, read));
                    waiting.push(writer);
                }
            }
        }
    }
    promoted_by
}
