//! Which violations belong together, and their numbers.

use super::pattern::{self, are_plain, place};
use super::reads::Reads;
use super::{Scene, names};
use isoscope_judge::report::{EdgeEntry, ProofEntry, ReasonEntry, Report, ViolationEntry};
use isoscope_model::history::TransactionId;
use isoscope_model::levels::Pattern;
use rustc_hash::{FxHashMap, FxHashSet};

/// A violation, its transactions, and what it shows.
pub(super) struct Member<'a> {
    pub(super) violation: &'a ViolationEntry,
    pub(super) transactions: Vec<TransactionId>,
    pub(super) scene: Scene,
    /// Whether it names plain levels only.
    pub(super) is_plain: bool,
}

/// What is wrong with the numbers under `patterns`, and with what is said of several violations.
pub(super) fn flaws(report: &Report, all: &[Member<'_>], reads: &Reads<'_>) -> Vec<String> {
    let mut flaws = Vec::new();
    let counts_plain = are_plain(report.levels.iter().map(|level| level.level.code()));
    // Next to levels that count sessions, an argument about plain levels only is listed beyond what is counted.
    let counted: Vec<&Member<'_>> = all
        .iter()
        .filter(|member| counts_plain || !member.is_plain)
        .collect();
    numbers(report, &counted, &mut flaws);
    listed_twice(report, &counted, &mut flaws);
    implied(&counted, reads, &mut flaws);
    groups(&counted, &mut flaws);
    simpler_ones(all, &mut flaws);
    components(report, all, &mut flaws);
    flaws
}

/// As many as are counted can be listed, not more.
fn numbers(report: &Report, counted: &[&Member<'_>], flaws: &mut Vec<String>) {
    let mut listed: FxHashMap<&str, u64> = FxHashMap::default();
    for member in counted {
        *listed.entry(member.violation.pattern.id()).or_default() += 1;
    }
    for again in told_of_reads_only(counted) {
        listed
            .entry(again.violation.pattern.id())
            .and_modify(|n| *n -= 1);
    }
    let mut known = FxHashSet::default();
    for (id, count) in &report.patterns.0 {
        let n = listed.remove(id.as_str()).unwrap_or(0);
        if !known.insert(id) {
            flaws.push(format!("count of {id}: it is given twice"));
        }
        if pattern::name_of(id).is_none() && !id.starts_with("C4 TAP-") {
            flaws.push(format!("count of {id}: there is no such pattern"));
        }
        if *count < n {
            flaws.push(format!("count of {id}: it is {count}, but {n} are listed"));
        }
    }
    let engine_asked = report.levels.iter().any(|level| level.checker == "fast");
    if engine_asked && !report.patterns.0.is_empty() {
        let mut uncounted: Vec<(&str, u64)> = listed.into_iter().collect();
        uncounted.sort_unstable();
        flaws.extend(
            uncounted
                .into_iter()
                .map(|(id, n)| format!("count of {id}: {n} are listed, but none is counted")),
        );
    }
}

/// Violations of CI alone that are listed again for the levels above it: an instance that is explained differently
/// above CI, because elements that were appended twice are distinguished there, is listed twice and counts once.
fn told_of_reads_only<'a>(counted: &[&'a Member<'a>]) -> Vec<&'a Member<'a>> {
    let is_of_reads = |member: &&Member<'_>| {
        let mut levels = member.violation.levels.iter();
        levels.all(|level| ["CI", "I-CI"].contains(&level.code()))
    };
    let above: FxHashSet<_> = counted
        .iter()
        .filter(|member| !is_of_reads(member))
        .filter_map(|member| member.instance())
        .collect();
    let is_above = |member: &&Member<'_>| {
        let instance = member.instance();
        instance.is_some_and(|instance| above.contains(&instance))
    };
    unconditional(counted)
        .filter(|member| is_of_reads(member) && is_above(member))
        .collect()
}

impl Member<'_> {
    /// Equal for the same instance; none where that is unknown.
    fn instance(&self) -> Option<(&str, &str)> {
        let identity = self.scene.identity.as_deref()?;
        Some((self.violation.pattern.id(), identity))
    }
}

/// Violations that hold whichever transaction wrote what a read returned: what others are depends on the case.
fn unconditional<'a>(counted: &[&'a Member<'a>]) -> impl Iterator<Item = &'a Member<'a>> {
    let is_last = |member: &&Member<'_>| names::is_last_part(&member.violation.proof);
    counted.iter().copied().filter(is_last)
}

/// No two listed violations have one id or are the same instance.
fn listed_twice(report: &Report, counted: &[&Member<'_>], flaws: &mut Vec<String>) {
    let mut ids = FxHashSet::default();
    for ViolationEntry { id, .. } in &report.violations {
        if !ids.insert(id) {
            flaws.push(format!("{id}: its id is given twice"));
        }
    }
    let again = told_of_reads_only(counted);
    let is_again = |member: &Member<'_>| again.iter().any(|other| std::ptr::eq(*other, member));
    // One cycle may have two arguments, each for a level that the other one does not show.
    let shows_more = |one: &ViolationEntry, other: &ViolationEntry| {
        one.levels.iter().any(|l| !other.levels.contains(l))
    };
    let mut known: FxHashMap<(&str, &str), &ViolationEntry> = FxHashMap::default();
    for member in unconditional(counted).filter(|member| !is_again(member)) {
        let Some(instance) = member.instance() else {
            continue;
        };
        let violation = member.violation;
        if let Some(other) = known.insert(instance, violation)
            && !(shows_more(violation, other) && shows_more(other, violation))
        {
            flaws.push(format!("{}: it is the same as {}", violation.id, other.id));
        }
    }
}

/// Where the newer version causally precedes the older one anyway, an instance adds nothing.
fn implied(counted: &[&Member<'_>], reads: &Reads<'_>, flaws: &mut Vec<String>) {
    for member in unconditional(counted) {
        let Some((t1, t2)) = member.scene.versions else {
            continue;
        };
        let is = if t1.is_initial() {
            Some(false)
        } else {
            reads.precedes(t2, t1)
        };
        let Member { violation, .. } = member;
        if is.is_some_and(|is| is != violation.implied) {
            let implied = violation.implied;
            flaws.push(format!("{}: it is implied: not {implied}", violation.id));
        }
    }
}

/// Instances of different patterns have different root causes; instances of h to n that order the same two writers
/// share one.
fn groups(counted: &[&Member<'_>], flaws: &mut Vec<String>) {
    type Writers = (TransactionId, TransactionId);
    let mut pattern_of: FxHashMap<u32, &str> = FxHashMap::default();
    let mut writers_of: FxHashMap<u32, Writers> = FxHashMap::default();
    let mut group_of: FxHashMap<(&str, Writers), u32> = FxHashMap::default();
    for member in counted {
        let ViolationEntry { id, group, .. } = member.violation;
        let pattern = member.violation.pattern.id();
        if *pattern_of.entry(*group).or_insert(pattern) != pattern {
            flaws.push(format!("{id}: its group has instances of another pattern"));
        }
        let is_plain = names::is_last_part(&member.violation.proof);
        let Some((t1, t2)) = member.scene.versions.filter(|_| is_plain) else {
            continue;
        };
        let writers = (t1.min(t2), t1.max(t2));
        let fits = *writers_of.entry(*group).or_insert(writers) == writers
            && *group_of.entry((pattern, writers)).or_insert(*group) == *group;
        if !fits {
            flaws.push(format!("{id}: its group is not that of its two writers"));
        }
    }
}

/// A contained violation violates a level that is no stronger, and has no other transactions, or needs only one of the
/// orders that reads force in the containing one, or shows that a list on which that rests is wrong.
fn simpler_ones(all: &[Member<'_>], flaws: &mut Vec<String>) {
    let by_id: FxHashMap<&str, &Member<'_>> = all
        .iter()
        .map(|member| (member.violation.id.as_str(), member))
        .collect();
    let weakest = |member: &Member<'_>| {
        let levels = member.violation.levels.iter();
        levels.filter_map(|level| place(level.code())).min()
    };
    for member in all {
        let Some(id) = &member.violation.contains else {
            continue;
        };
        let is_simpler = by_id.get(id.as_str()).is_some_and(|other| {
            let mut transactions = other.transactions.iter();
            let is_within = transactions.all(|t| t.is_initial() || member.transactions.contains(t));
            let (one, forced) = (forced(other), forced(member));
            let is_refuted = one.len() == 1 && forced.len() > 1 && forced.contains(&one[0]);
            other.violation.id != member.violation.id
                && other.violation.contains.is_none()
                && (is_within || is_refuted || rests_on_lists_of(member, other))
                && weakest(other) <= weakest(member)
        });
        if !is_simpler {
            flaws.push(format!("{}: it does not contain {id}", member.violation.id));
        }
    }
}

/// Whether lists that `wrong` shows to be none of one key's order say in which order transactions of a violation
/// appended, or one of the lists that contradict each other there is what `wrong` is about.
fn rests_on_lists_of(member: &Member<'_>, wrong: &Member<'_>) -> bool {
    let are_torn = |one: &Member<'_>| one.violation.pattern == Pattern::IncompatibleOrder;
    if are_torn(wrong) {
        let is_of_key = |edge: &EdgeEntry| {
            matches!(edge.reason, ReasonEntry::Listed { .. }) && edge.key == wrong.violation.key
        };
        return wrong.violation.key.is_some() && member.violation.edges.iter().any(is_of_key);
    }
    let shared = |read| member.scene.reads.contains(read);
    are_torn(member)
        && wrong.violation.pattern.is_wrong_read()
        && wrong.scene.reads.iter().any(shared)
}

/// The orders of two transactions that reads force in a violation.
fn forced(member: &Member<'_>) -> Vec<(TransactionId, TransactionId)> {
    let of_reads = |edge: &&EdgeEntry| matches!(edge.reason, ReasonEntry::Visible { .. });
    let t = |place: usize| member.transactions.get(place).copied();
    let ends = |edge: &EdgeEntry| Some((t(edge.from)?, t(edge.to)?));
    let edges = member.violation.edges.iter();
    edges.filter(of_reads).filter_map(ends).collect()
}

/// Violations that share transactions are in one component; where all are listed, others are not.
fn components(report: &Report, all: &[Member<'_>], flaws: &mut Vec<String>) {
    if all.iter().all(|member| member.violation.component == 0) {
        return;
    }
    // Where reads have several writers, merely possible ones are listed, too: they join nothing.
    let is_certain = |proof: &ProofEntry| {
        names::is_last_part(proof)
            && !matches!(proof, ProofEntry::Reads { .. } | ProofEntry::Appends { .. })
    };
    let (joined, certain) = (roots(all, |_| true), roots(all, is_certain));
    let is_whole = lists_all_it_did(report);
    let mut number: FxHashMap<usize, u32> = FxHashMap::default();
    let mut root_of: FxHashMap<u32, usize> = FxHashMap::default();
    for (place, Member { violation, .. }) in all.iter().enumerate() {
        let component = violation.component;
        let is_joined = !is_certain(&violation.proof)
            || *number.entry(certain[place]).or_insert(component) == component;
        let root = joined[place];
        if !is_joined || *root_of.entry(component).or_insert(root) != root && is_whole {
            flaws.push(format!("{}: it is in another component", violation.id));
        }
    }
}

/// Whether nothing seems to have been removed from a report: the first instances of each counted pattern are listed.
fn lists_all_it_did(report: &Report) -> bool {
    let are_first = |id: &str| {
        let listed = report.violations.iter().filter(|v| v.pattern == id);
        let numbers: Vec<_> = listed.map(|v| v.id.rsplit_once('/')).collect();
        let is = |(number, (_, said)): (u32, (&str, &str))| said.parse() == Ok(number);
        !numbers.is_empty() && (1..).zip(numbers.into_iter().flatten()).all(is)
    };
    let mut counts = report.patterns.0.iter();
    !report.patterns.0.is_empty() && counts.all(|(id, count)| *count == 0 || are_first(id))
}

/// By violation: the first one that it is joined with, by transactions that they share, as far as their proofs count.
fn roots(all: &[Member<'_>], counts: impl Fn(&ProofEntry) -> bool) -> Vec<usize> {
    let mut roots: Vec<usize> = (0..all.len()).collect();
    let mut first: FxHashMap<TransactionId, usize> = FxHashMap::default();
    for (place, member) in all.iter().enumerate() {
        let counts = counts(&member.violation.proof);
        let named = member.transactions.iter().filter(|t| !t.is_initial());
        for &t in named.filter(|_| counts) {
            let (a, b) = (roots[*first.entry(t).or_insert(place)], roots[place]);
            let (low, high) = (a.min(b), a.max(b));
            let of_both = roots.iter_mut().filter(|root| **root == high);
            of_both.for_each(|root| *root = low);
        }
    }
    roots
}
