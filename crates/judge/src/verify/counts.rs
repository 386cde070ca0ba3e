//! The numbers under `patterns`, and which violations belong together.

use super::Problem;
use super::levels::{self, Searched};
use super::pattern;
use super::recount::Recount;
use super::violations::Confirmed;
use crate::report::{EdgeEntry, ProofEntry, ReasonEntry, Report, VerdictWord, ViolationEntry};
use isoscope_model::control::Interrupt;
use isoscope_model::history::TransactionId;
use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};

/// What is known of the numbers.
#[derive(Default)]
pub(super) struct Counted {
    /// What is impossible.
    pub(super) problems: Vec<Problem>,
    /// Numbers without evidence: "3 of WriteSkew".
    pub(super) without_evidence: Vec<String>,
    /// Patterns whose number is only known to be at least that of the confirmed instances.
    pub(super) unchecked: Vec<String>,
    /// Whether it is unknown for some instances if they are implied.
    pub(super) implied_unchecked: bool,
}

/// A violation whose proof holds.
type One<'a> = (&'a ViolationEntry, Confirmed);

impl Counted {
    fn problem(&mut self, place: String, message: String) {
        self.problems.push(Problem { place, message });
    }
}

/// Compares the numbers of a report with what it lists and with what can be counted again. `confirmed` are the
/// violations whose proof holds.
pub(super) fn check(report: &Report, confirmed: &[One<'_>], recount: &Recount) -> Counted {
    let mut counted = Counted::default();
    let mut listed: FxHashMap<&str, u64> = FxHashMap::default();
    let is_plain =
        |violation: &ViolationEntry| levels::are_plain(violation.levels.iter().map(String::as_str));
    let counts_plain = levels::are_plain(report.levels.iter().map(|level| level.level.as_str()));
    // Next to levels that count sessions, an argument about plain levels only is listed beyond what is counted.
    for violation in report
        .violations
        .iter()
        .filter(|violation| counts_plain || !is_plain(violation))
    {
        *listed.entry(&violation.pattern).or_default() += 1;
    }
    let instances: Vec<&One<'_>> = confirmed
        .iter()
        .filter(|(_, found)| counts_plain || !found.is_plain)
        .collect();
    for (violation, _) in told_of_reads_only(&instances) {
        listed.entry(&violation.pattern).and_modify(|n| *n -= 1);
    }
    let engine_asked = report.levels.iter().any(|level| level.checker == "fast");
    // Only then the program looks for cycles at all.
    let violated = report
        .levels
        .iter()
        .filter(|level| level.verdict == VerdictWord::Violated);
    let searched: Vec<Searched> = violated
        .filter_map(|level| levels::row(&level.level))
        .map(|row| row.searched)
        .collect();
    let is_violated = searched
        .iter()
        .any(|searched| *searched != Searched::Nothing);
    let is_strong = searched.contains(&Searched::CyclesAndDivergence);
    let is_cut = is_cut(report);
    let mut known: Vec<&str> = Vec::new();
    for (id, count) in &report.patterns.0 {
        let place = || format!("count of {id}");
        let n = listed.remove(id.as_str()).unwrap_or(0);
        if known.contains(&id.as_str()) {
            counted.problem(place(), "it is given twice".to_owned());
        }
        known.push(id);
        if pattern::name_of(id).is_none() {
            if id.starts_with("C4 TAP-") {
                counted.unchecked.push(id.clone())
            } else {
                counted.problem(place(), "there is no such pattern".to_owned())
            }
            continue;
        }
        if *count < n {
            counted.problem(place(), format!("it is {count}, but {n} are listed"));
            continue;
        }
        let expected = recount.of(id).filter(|_| engine_asked);
        match expected {
            Some(is) if is == *count => {}
            Some(is) if *count < is && is_cut => counted.unchecked.push(id.clone()),
            Some(_) if *count == 0 && Recount::needs_violation(id) && !is_violated => {}
            // The program does not look for it below snapshot isolation.
            Some(_) if *count == 0 && id == "Divergence" && !is_strong => {}
            Some(is) => counted.problem(place(), format!("it is {count}, but there are {is}")),
            // An argument about plain levels may show what is counted with sessions.
            None if *count > 0
                && n == 0
                && !confirmed.iter().any(|(shown, _)| shown.pattern == *id) =>
            {
                counted.without_evidence.push(format!("{count} of {id}"))
            }
            None if *count > 0 => counted.unchecked.push(id.clone()),
            None => {}
        }
    }
    // The rule differs from the axioms: what it counts need not violate anything.
    for (id, _) in report
        .published_patterns
        .iter()
        .flat_map(|counts| &counts.0)
    {
        match pattern::name_of(id) {
            Some(_) => counted.unchecked.push(format!("published {id}")),
            None => counted.problem(
                format!("published count of {id}"),
                "there is no such pattern".to_owned(),
            ),
        }
    }
    if engine_asked && !report.patterns.0.is_empty() {
        let mut uncounted: Vec<(&str, u64)> = listed.into_iter().collect();
        uncounted.sort_unstable();
        for (id, n) in uncounted {
            counted.problem(
                format!("count of {id}"),
                format!("{n} are listed, but none is counted"),
            );
        }
    }
    listed_twice(report, &instances, &mut counted);
    implied(&instances, recount, &mut counted);
    groups(&instances, &mut counted);
    simpler_ones(confirmed, &mut counted);
    components(report, confirmed, &mut counted);
    counted
}

/// Whether a report says that the work ended before everything was found.
fn is_cut(report: &Report) -> bool {
    let limits = [
        Interrupt::Cancelled,
        Interrupt::TimeLimit,
        Interrupt::MemoryLimit,
    ]
    .map(|limit| limit.to_string());
    let is_of_limit = |reason: &String| limits.contains(reason);
    report.cut.is_some()
        || report
            .levels
            .iter()
            .any(|level| level.reason.as_ref().is_some_and(is_of_limit))
}

/// Violations of CI alone that are listed again for the levels above it: an instance that is explained differently
/// above CI, because elements that were appended twice are distinguished there, is listed twice and counts once.
fn told_of_reads_only<'a>(instances: &[&'a One<'a>]) -> Vec<&'a One<'a>> {
    let is_of_reads = |violation: &ViolationEntry| {
        violation
            .levels
            .iter()
            .all(|level| levels::is_of_reads(level))
    };
    let identity = |found: &'a Confirmed| {
        found
            .scene
            .as_ref()
            .and_then(|scene| scene.identity.as_deref())
    };
    let above: FxHashSet<(&str, &str)> = instances
        .iter()
        .filter(|(violation, _)| !is_of_reads(violation))
        .filter_map(|(violation, found)| Some((violation.pattern.as_str(), identity(found)?)))
        .collect();
    let is_above = |violation: &ViolationEntry, found: &'a Confirmed| {
        identity(found)
            .is_some_and(|identity| above.contains(&(violation.pattern.as_str(), identity)))
    };
    unconditional(instances)
        .filter(|(violation, found)| is_of_reads(violation) && is_above(violation, found))
        .collect()
}

/// No two listed violations have one id or are the same instance.
fn listed_twice(report: &Report, instances: &[&One<'_>], counted: &mut Counted) {
    let mut ids: FxHashMap<&str, ()> = FxHashMap::default();
    for violation in &report.violations {
        if ids.insert(&violation.id, ()).is_some() {
            counted.problem(
                format!("description of {}", violation.id),
                "its id is given twice".to_owned(),
            );
        }
    }
    let again: Vec<*const ViolationEntry> = told_of_reads_only(instances)
        .into_iter()
        .map(|(violation, _)| std::ptr::from_ref(*violation))
        .collect();
    let mut known: FxHashMap<(&str, &str), &ViolationEntry> = FxHashMap::default();
    // One cycle may have two arguments, each for a level that the other one does not show.
    let shows_more = |one: &ViolationEntry, other: &ViolationEntry| {
        one.levels.iter().any(|l| !other.levels.contains(l))
    };
    for (violation, Confirmed { scene, .. }) in unconditional(instances) {
        let identity = scene.as_ref().and_then(|scene| scene.identity.as_deref());
        let Some(identity) = identity.filter(|_| !again.contains(&std::ptr::from_ref(*violation)))
        else {
            continue;
        };
        if let Some(other) = known.insert((&violation.pattern, identity), violation)
            && !(shows_more(violation, other) && shows_more(other, violation))
        {
            counted.problem(
                format!("description of {}", violation.id),
                format!("it is the same as {}", other.id),
            );
        }
    }
}

/// Violations that hold whichever transaction wrote what a read returned: what others are depends on the case.
fn unconditional<'a>(instances: &[&'a One<'a>]) -> impl Iterator<Item = &'a One<'a>> {
    instances
        .iter()
        .copied()
        .filter(|(violation, _)| super::scene::is_last_part(&violation.proof))
}

/// Where the newer version causally precedes the older one anyway, an instance adds nothing.
fn implied(instances: &[&One<'_>], recount: &Recount, counted: &mut Counted) {
    // It is unknown for violations explained by cases.
    let is_of_cases = |violation: &ViolationEntry| {
        !super::scene::is_last_part(&violation.proof) && pattern::cell(&violation.pattern).is_some()
    };
    counted.implied_unchecked = instances
        .iter()
        .any(|(violation, _)| is_of_cases(violation));
    for (violation, Confirmed { scene, .. }) in unconditional(instances) {
        let Some((t1, t2)) = scene.as_ref().and_then(|scene| scene.versions) else {
            continue;
        };
        let is = if t1.is_initial() {
            Some(false)
        } else {
            recount.precedes(t2, t1)
        };
        match is {
            Some(is) if is != violation.implied => {
                let message = if is {
                    "it is implied by causal order"
                } else {
                    "it is not implied by causal order"
                };
                counted.problem(
                    format!("description of {}", violation.id),
                    message.to_owned(),
                );
            }
            Some(_) => {}
            None => counted.implied_unchecked = true,
        }
    }
}

/// Instances of different patterns have different root causes; instances of h to n that order the same two writers
/// share one.
fn groups(instances: &[&One<'_>], counted: &mut Counted) {
    type Writers = (TransactionId, TransactionId);
    let mut pattern_of: FxHashMap<u32, &str> = FxHashMap::default();
    let mut writers_of: FxHashMap<u32, Writers> = FxHashMap::default();
    let mut group_of: FxHashMap<(&str, Writers), u32> = FxHashMap::default();
    for (violation, Confirmed { scene, .. }) in instances {
        let place = || format!("description of {}", violation.id);
        if *pattern_of
            .entry(violation.group)
            .or_insert(&violation.pattern)
            != violation.pattern
        {
            counted.problem(
                place(),
                format!("group {} has instances of another pattern", violation.group),
            );
        }
        let is_plain = super::scene::is_last_part(&violation.proof);
        let versions = scene
            .as_ref()
            .and_then(|scene| scene.versions)
            .filter(|_| is_plain);
        let Some((t1, t2)) = versions else { continue };
        let writers = (t1.min(t2), t1.max(t2));
        let fits = *writers_of.entry(violation.group).or_insert(writers) == writers
            && *group_of
                .entry((&violation.pattern, writers))
                .or_insert(violation.group)
                == violation.group;
        if !fits {
            counted.problem(
                place(),
                format!("group {} is not that of its two writers", violation.group),
            );
        }
    }
}

/// A contained violation is confirmed, too, violates a level that is no stronger, and either has no other transactions
/// or needs only one of the orders that reads force in the containing one.
fn simpler_ones(confirmed: &[One<'_>], counted: &mut Counted) {
    let by_id: FxHashMap<&str, &(&ViolationEntry, Confirmed)> = confirmed
        .iter()
        .map(|entry| (entry.0.id.as_str(), entry))
        .collect();
    let weakest = |violation: &ViolationEntry| {
        violation
            .levels
            .iter()
            .filter_map(|level| levels::place(level))
            .min()
    };
    for (violation, Confirmed { transactions, .. }) in confirmed {
        let Some(id) = &violation.contains else {
            continue;
        };
        let is_simpler = by_id.get(id.as_str()).is_some_and(|(other, found)| {
            let is_within = found
                .transactions
                .iter()
                .all(|t| t.is_initial() || transactions.contains(t));
            let (one, all) = (
                forced(other, &found.transactions),
                forced(violation, transactions),
            );
            let is_refuted = one.len() == 1 && all.len() > 1 && all.contains(&one[0]);
            let is_no_stronger = weakest(other) <= weakest(violation);
            other.id != violation.id
                && other.contains.is_none()
                && (is_within || is_refuted)
                && is_no_stronger
        });
        if !is_simpler {
            counted.problem(
                format!("description of {}", violation.id),
                format!("it does not contain {id}"),
            );
        }
    }
}

/// The orders of two transactions that reads force in a violation.
fn forced(
    violation: &ViolationEntry,
    transactions: &[TransactionId],
) -> Vec<(TransactionId, TransactionId)> {
    let of_reads = |edge: &&EdgeEntry| matches!(edge.reason, ReasonEntry::Visible { .. });
    let ends =
        |edge: &EdgeEntry| Some((*transactions.get(edge.from)?, *transactions.get(edge.to)?));
    violation
        .edges
        .iter()
        .filter(of_reads)
        .filter_map(ends)
        .collect()
}

/// Violations that share transactions are in one component; where all are listed, others are not.
fn components(report: &Report, confirmed: &[One<'_>], counted: &mut Counted) {
    if confirmed
        .iter()
        .all(|(violation, _)| violation.component == 0)
    {
        return;
    }
    // Where reads have several writers, merely possible ones are listed, too: they join nothing.
    let is_certain = |proof: &ProofEntry| {
        super::scene::is_last_part(proof)
            && !matches!(proof, ProofEntry::Reads { .. } | ProofEntry::Appends { .. })
    };
    let all = joined(confirmed, |_| true);
    let certain = joined(confirmed, is_certain);
    let is_whole = confirmed.len() == report.violations.len() && lists_all_it_did(report);
    let mut number: FxHashMap<usize, u32> = FxHashMap::default();
    let mut root_of: FxHashMap<u32, usize> = FxHashMap::default();
    for (place, (violation, _)) in confirmed.iter().enumerate() {
        let joins = certain.find(place);
        let is_joined = !is_certain(&violation.proof)
            || *number.entry(joins).or_insert(violation.component) == violation.component;
        let root = all.find(place);
        let is_alone = *root_of.entry(violation.component).or_insert(root) == root || !is_whole;
        if !is_joined || !is_alone {
            let message = if is_joined {
                format!(
                    "it shares no transaction with the others of component {}",
                    violation.component
                )
            } else {
                format!("it shares transactions with component {}", number[&joins])
            };
            counted.problem(format!("description of {}", violation.id), message);
        }
    }
}

/// Whether nothing seems to have been removed from a report: the first instances of each counted pattern are listed.
fn lists_all_it_did(report: &Report) -> bool {
    let numbers = |id: &str| -> Vec<Option<usize>> {
        let of_pattern = report
            .violations
            .iter()
            .filter(|violation| violation.pattern == id);
        of_pattern
            .map(|violation| violation.id.rsplit_once('/')?.1.parse().ok())
            .collect()
    };
    let are_first = |id: &str| {
        let numbers = numbers(id);
        !numbers.is_empty()
            && numbers
                .iter()
                .zip(1..)
                .all(|(number, expected)| *number == Some(expected))
    };
    !report.patterns.0.is_empty()
        && report
            .patterns
            .0
            .iter()
            .all(|(id, count)| *count == 0 || are_first(id))
}

/// The violations, joined where they share transactions, as far as their proofs count.
fn joined(confirmed: &[One<'_>], counts: impl Fn(&ProofEntry) -> bool) -> UnionFind<usize> {
    let mut joined = UnionFind::new(confirmed.len());
    let mut first: FxHashMap<TransactionId, usize> = FxHashMap::default();
    for (place, (violation, Confirmed { transactions, .. })) in confirmed.iter().enumerate() {
        for &t in transactions
            .iter()
            .filter(|t| !t.is_initial() && counts(&violation.proof))
        {
            joined.union(place, *first.entry(t).or_insert(place));
        }
    }
    joined
}
