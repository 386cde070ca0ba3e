//! Which listed violations contain a simpler one: that one is shown, and they are listed as its consequences.

use super::groups::{self, Cause};
use super::translate::translate_back;
use super::{Counterexample, involved_operations};
use isoscope_check::checkers::{Findings, Level, LevelSet, Pattern, Violation};
use isoscope_model::history::{History, KeyId, OperationId, OperationKind, TransactionId, counted};
use isoscope_model::relations::{Edge, Reason};
use rustc_hash::FxHashMap;

/// What is compared of a violation.
struct Extent {
    weakest: Option<Level>,
    levels: LevelSet,
    /// What its argument is about.
    level: Option<Level>,
    /// Ascending, without ⊥.
    transactions: Vec<TransactionId>,
    /// Ascending.
    reads: Vec<OperationId>,
    causes: Vec<Cause>,
    /// The orders of two transactions that reads force.
    forced: Vec<(TransactionId, TransactionId)>,
    is_wrong_read: bool,
    /// The key whose lists are no versions of one list.
    torn: Option<KeyId>,
    /// Keys whose lists say in which order transactions appended.
    ordered: Vec<KeyId>,
}

impl Extent {
    fn of(history: &History, violation: &Violation) -> Extent {
        let transactions = groups::touched(history, violation);
        let mut reads = involved_operations(violation);
        reads.retain(|o| history.operation(*o).kind == OperationKind::Read);
        let causes = groups::causes(history, violation)
            .into_iter()
            .filter(|cause| !matches!(cause, Cause::Listed(..)));
        let (levels, level) = (violation.levels, violation.level());
        let (weakest, is_wrong_read) = (levels.weakest(), violation.id.pattern.is_wrong_read());
        let is_forced = |edge: &&Edge| matches!(edge.because, Reason::Visible { .. });
        let forced = violation
            .edges
            .iter()
            .filter(is_forced)
            .map(|edge| (edge.from, edge.to))
            .collect();
        let key = |o: &OperationId| history.operation(*o).key;
        let is_torn = violation.id.pattern == Pattern::IncompatibleOrder;
        let torn = reads.first().map(key).filter(|_| is_torn);
        let edges = violation.edges.iter();
        let is_listed = |edge: &&Edge| matches!(edge.because, Reason::Listed { .. });
        let ordered = edges.filter(is_listed).filter_map(|edge| edge.key);
        let ordered = ordered.collect();
        Extent {
            weakest,
            levels,
            level,
            transactions,
            reads,
            causes: causes.collect(),
            forced,
            is_wrong_read,
            torn,
            ordered,
        }
    }

    /// What a contained violation shares with this one: at least one of these.
    fn links(&self) -> impl Iterator<Item = Link<'_>> {
        let causes = self.causes.iter().map(|cause| Link::Cause(*cause));
        let reads = self.reads.iter().map(|read| Link::Read(*read));
        // Two wrong reads of one transaction are two anomalies.
        let transactions =
            Some(Link::Transactions(&self.transactions)).filter(|_| !self.is_wrong_read);
        let keys = self.torn.iter().chain(&self.ordered);
        let keys = keys.map(|key| Link::Lists(*key));
        causes.chain(reads).chain(transactions).chain(keys)
    }

    /// Whether this contains a violation of a level that is no stronger: it has the same transactions, or more and
    /// rests on the same reads or on the same inferred order of two transactions; or it rests on several orders, one of
    /// which what was observed rules out, as the simpler one shows; or on lists of a key that are no versions of one list,
    /// as the simpler one shows; or it is about lists one of which is wrong by itself, as the simpler one shows.
    fn contains(&self, simpler: &Extent) -> bool {
        let has_same = simpler.transactions == self.transactions && !self.is_wrong_read;
        let has_reads = || !simpler.reads.is_empty() && is_within(&simpler.reads, &self.reads);
        let has_cause = || {
            simpler
                .causes
                .iter()
                .any(|cause| self.causes.contains(cause))
        };
        let is_part = || {
            is_within(&simpler.transactions, &self.transactions)
                && (has_same || has_cause() || has_reads())
        };
        let is_refuted = || match simpler.forced.as_slice() {
            [alone] => self.forced.len() > 1 && self.forced.contains(alone),
            _ => false,
        };
        let is_no_stronger = || {
            self.level
                .is_none_or(|level| simpler.levels.contains(level))
        };
        let is_torn = || simpler.torn.is_some_and(|key| self.ordered.contains(&key));
        let is_of_wrong_list = || {
            let mut reads = simpler.reads.iter();
            let is_wrong = simpler.is_wrong_read && simpler.torn.is_none();
            self.torn.is_some() && is_wrong && reads.any(|read| self.reads.contains(read))
        };
        simpler.weakest <= self.weakest
            && is_no_stronger()
            && (is_part() || is_refuted() || is_torn() || is_of_wrong_list())
    }
}

/// What two violations may share.
#[derive(PartialEq, Eq, Hash)]
enum Link<'a> {
    Cause(Cause),
    Read(OperationId),
    Transactions(&'a [TransactionId]),
    Lists(KeyId),
}

/// Whether one ascending list has all of another.
fn is_within<T: Ord>(part: &[T], whole: &[T]) -> bool {
    part.len() <= whole.len() && part.iter().all(|item| whole.binary_search(item).is_ok())
}

/// By place in a list of violations: the place of the simplest one that it contains. A violation contains another that
/// breaks a weaker level, or the same one, if its transactions are the same, or if they are more and the reads or the
/// order that it rests on are the same; or if it needs several inferred orders, and the other needs one of them alone;
/// or if it rests on lists that the other shows to be wrong. The simplest ones contain none. O(violations · those that share a read or an inferred order).
pub fn simpler_ones(history: &History, violations: &[Violation]) -> Vec<Option<usize>> {
    let extents: Vec<Extent> = violations
        .iter()
        .map(|violation| Extent::of(history, violation))
        .collect();
    let mut order: Vec<usize> = (0..violations.len()).collect();
    order.sort_by_key(|&place| {
        let violation = &violations[place];
        let weakest = violation.levels.weakest();
        // A lost update is better known by that name.
        let is_lesser_known = violation.id.pattern == Pattern::Divergence;
        let is_implied = violation.implied;
        (
            extents[place].transactions.len(),
            weakest,
            is_implied,
            is_lesser_known,
            violation.edges.len(),
            violation.id,
        )
    });
    let mut rank = vec![0; violations.len()];
    order
        .iter()
        .zip(0..)
        .for_each(|(&place, n)| rank[place] = n);
    let mut sharing: FxHashMap<Link<'_>, Vec<usize>> = FxHashMap::default();
    let mut simpler: Vec<Option<usize>> = vec![None; violations.len()];
    for place in order {
        let extent = &extents[place];
        let candidates = extent
            .links()
            .filter_map(|link| sharing.get(&link))
            .flatten()
            .copied();
        let contained = candidates.filter(|&other| extent.contains(&extents[other]));
        // A refutation of a part may be unrelated to the whole.
        let simplest = contained.map(|other| simpler[other].unwrap_or(other));
        let simplest = simplest.filter(|&other| extent.contains(&extents[other]));
        simpler[place] = simplest.min_by_key(|&other| rank[other]);
        // The first of those with the same transactions will do.
        for link in extent
            .links()
            .filter(|link| simpler[place].is_none() || !matches!(link, Link::Transactions(_)))
        {
            sharing.entry(link).or_default().push(place);
        }
    }
    simpler
}

/// How many listed violations no simpler one explains. As [`simpler_ones`].
pub fn n_causes(history: &History, violations: &[Violation]) -> usize {
    let simpler = simpler_ones(history, violations).into_iter();
    simpler.filter(Option::is_none).count()
}

/// "7 causes, 40 patterns": how many listed violations no simpler one explains, and how many there are of all patterns.
pub fn causes_and_patterns(findings: &Findings, n_causes: usize) -> String {
    // A checker with other patterns, or none, counts things other than those listed.
    let of_patterns: u64 = findings.patterns.values().sum();
    let all = (of_patterns as usize).max(findings.violations.len());
    let least = match findings.is_counted() {
        true => "",
        false => "at least ",
    };
    format!(
        "{least}{}, {}",
        counted(n_causes, "cause"),
        counted(all, "pattern")
    )
}

/// The place in a list of the violation that a counterexample of `chosen` shows instead of that: one of the same pattern
/// and level that rests on the same reads or has the same root cause, else one that rests on reads of `chosen`. O(size
/// of the violations).
pub fn listed_as(
    history: &History,
    violations: &[Violation],
    chosen: &Violation,
    example: &Counterexample,
) -> Option<usize> {
    let shown = translate_back(&example.violation, &example.renaming)?;
    let (extent, whole) = (Extent::of(history, &shown), Extent::of(history, chosen));
    let is_same = |other: &Extent| {
        !extent.reads.is_empty() && extent.reads == other.reads
            || extent
                .causes
                .iter()
                .any(|cause| other.causes.contains(cause))
    };
    let is_alike =
        |v: &Violation| v.id.pattern == shown.id.pattern && v.levels.weakest() == extent.weakest;
    if is_alike(chosen) && is_same(&whole) {
        return None;
    }
    let is_part = |other: &Extent| !other.reads.is_empty() && is_within(&other.reads, &whole.reads);
    let alike = || {
        let listed = violations
            .iter()
            .enumerate()
            .filter(move |(_, v)| v.id != chosen.id && is_alike(v));
        listed.map(|(place, v)| (place, Extent::of(history, v)))
    };
    let same = alike().find(|(_, other)| is_same(other));
    same.or_else(|| alike().find(|(_, other)| is_part(other)))
        .map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use isoscope_check::checkers::{self, Options, ViolationName};
    use isoscope_formats as formats;
    use isoscope_model::control::Control;

    fn listed(text: &str) -> (History, Vec<Violation>) {
        let history = formats::text::parse(text).expect("a history in our notation");
        let findings = checkers::check(&history, &Options::default(), &Control::new(), &|_| {});
        (history, findings.violations)
    }

    /// By id: the id of the simpler one.
    fn contained(text: &str) -> Vec<(String, Option<String>)> {
        let (history, violations) = listed(text);
        let simpler = simpler_ones(&history, &violations);
        let id = |place: usize| violations[place].id.to_string();
        (0..violations.len())
            .map(|place| (id(place), simpler[place].map(id)))
            .collect()
    }

    #[test]
    fn a_lost_update_is_one_anomaly_with_two_names() {
        let both = contained("a: [r x init, w x 1]\nb: [r x init, w x 2]\n");
        let lost_update = Some("LostUpdate/1".to_owned());
        assert_eq!(
            both,
            [
                ("Divergence/1".to_owned(), lost_update),
                ("LostUpdate/1".to_owned(), None)
            ]
        );
    }

    #[test]
    fn two_wrong_reads_of_one_transaction_are_two_anomalies() {
        let reads = contained("a: [r x 7, r y 8]\n");
        assert!(
            reads.len() == 2 && reads.iter().all(|(_, simpler)| simpler.is_none()),
            "{reads:?}"
        );
    }

    #[test]
    fn what_a_sample_shows_has_its_root_among_the_simplest() {
        let (history, violations) =
            listed(include_str!("../../../../sample_histories/web-shop.txt"));
        let simpler = simpler_ones(&history, &violations);
        let place = |name: &str| {
            let name: ViolationName = name.parse().expect("a name");
            let found = name.find(&violations).expect("it is listed");
            violations
                .iter()
                .position(|violation| violation.id == found.id)
                .expect("it is listed")
        };
        assert_eq!(simpler[place("TAP-i/1")], Some(place("TAP-k/1")));
        assert_eq!(place("C4 TAP-h"), place("TAP-k/1"));
        assert_eq!(place("lostupdate/2"), place("LostUpdate/2"));
        for (place, &other) in simpler.iter().enumerate() {
            let Some(other) = other else { continue };
            assert_eq!(simpler[other], None, "{}", violations[place].id);
            assert!(violations[other].levels.weakest() <= violations[place].levels.weakest());
        }
    }

    #[test]
    fn a_name_without_a_pattern_is_looked_for_among_the_others() {
        let (_, violations) = listed("a: [w x 1, w y 1]\nb: [r x 1, r y init]\n");
        let find = |name: &str| {
            name.parse::<ViolationName>()
                .map(|name| name.find(&violations).map(|v| v.id.to_string()))
        };
        let first = violations[0].id.to_string();
        assert_eq!(
            find("TAP-n"),
            Ok(Some(first)),
            "it is an instance of that, too"
        );
        assert_eq!(find("LongFork"), Ok(None));
        assert_eq!(find("TAP-n/2"), Ok(None));
        assert!(find("TAP-n/0").is_err() && find("").is_err());
    }
}
