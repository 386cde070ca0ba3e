//! From verdicts to listed violations.

use super::rest::{Sought, Uncounted, with_causal};
use super::{
    Instances, Level, LevelSet, Pattern, Violation, beginning, read_consistency, strong_patterns,
    weak,
};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::History;
use isoscope_model::relations::{Edge, Index, NONE, Node, Resolution};
use std::collections::BTreeMap;

/// A violated level and transactions that suffice for it.
type CoreOf<'a> = (Level, &'a [Node]);

/// Most transactions of a core that is worth reducing.
const LARGEST_CORE: usize = 1 << 14;

/// [`collect`] in canonical order ([`Index::canonical`]), also for the patterns of single reads: which instances are
/// counted and listed depends neither on the order of sessions in the file nor on names. What was found is kept when
/// `control` ends the work.
pub(super) fn collect_in_canonical_order(
    history: &History,
    resolution: &Resolution,
    index: Index,
    reads: Instances,
    Uncounted { sought, weak }: Uncounted,
    max_instances: usize,
    control: &Control,
) -> Instances {
    if sought.violated.weakest().is_none() {
        return reads;
    }
    let Ok(canonical) = index.canonical(history, control) else {
        return reads;
    };
    drop(index);
    let index = canonical;
    let again = if reads.counts.is_empty() {
        None
    } else {
        read_consistency::instances(history, resolution, &index, max_instances, control).ok()
    };
    collect(
        history,
        &index,
        again.unwrap_or(reads),
        sought,
        weak,
        max_instances,
        control,
    )
}

/// At least one violation of each violated level if it can be found without counting: of single reads, else of the weak
/// levels, else of the strong ones. `None` if some level would have none. If the weak levels had to be listed,
/// everything they list is included.
///
/// In a long history what the engine of the weakest violated level found, its `core`, is evidence enough. It may depend
/// on the order of sessions in the file; in shorter ones nothing does.
pub(super) fn first(
    history: &History,
    index: &Index,
    reads: &Instances,
    violated: LevelSet,
    (core, cores): (Option<CoreOf<'_>>, &[CoreOf<'_>]),
    max_instances: usize,
    control: &Control,
) -> Option<(Instances, Option<Instances>)> {
    let shows = |found: &Instances, level| {
        found
            .violations
            .iter()
            .any(|violation| violation.levels.contains(level))
    };
    let shows_all = |found: &Instances| violated.iter().all(|level| shows(found, level));
    let mut found = Instances {
        violations: reads.violations.clone(),
        ..Instances::default()
    };
    if shows_all(&found) {
        return Some((found, None));
    }
    if let Some((level, nodes)) = core.filter(|(level, core)| {
        violated.weakest() == Some(*level)
            && beginning::is_long(index)
            && core.len() <= LARGEST_CORE
    }) {
        found
            .violations
            .extend(strong_patterns::of_core(history, index, nodes.to_vec(), level, control).ok()?);
        if shows_all(&found) {
            return Some((found, None));
        }
    }
    let is_weak = |level: &Level| level.is_weak() || level.is_of_sessions();
    if index.is_guessed() {
        let stretches = Stretches {
            history,
            index,
            max_instances,
            control,
        };
        found
            .violations
            .extend(stretches.violations(violated).ok()?);
        for &(level, nodes) in cores.iter().filter(|(level, _)| violated.contains(*level)) {
            if !shows(&found, level) {
                let shown =
                    strong_patterns::of_engine(history, index, nodes.to_vec(), level, control);
                found.violations.extend(shown.ok()?);
            }
        }
        if shows_all(&found) {
            return Some((found, None));
        }
    }
    let index = index.canonical(history, control).ok()?;
    let mut weak = None;
    if violated
        .iter()
        .any(|level| is_weak(&level) && !(index.is_guessed() && shows(&found, level)))
    {
        let listed = weak::instances(
            history,
            &index,
            with_causal(violated),
            max_instances,
            control,
        )
        .ok()?;
        found.violations.extend_from_slice(&listed.violations);
        weak = Some(listed);
        let broken =
            weak::broken_guarantees(history, &index, violated, max_instances, control).ok()?;
        found.violations.extend(broken.violations);
    }
    if !shows_all(&found) {
        found.violations.extend(
            strong_patterns::first(history, &index, violated, control)
                .ok()?
                .violations,
        );
    }
    shows_all(&found).then_some((found, weak))
}

/// Stretches of a long index along an order that explains most reads.
struct Stretches<'a> {
    history: &'a History,
    index: &'a Index,
    max_instances: usize,
    control: &'a Control,
}

impl Stretches<'_> {
    /// Violations of weak levels that some stretch shows by itself, at most one for each level that no other one names: in
    /// the whole, where no session joins transactions, they would take memory quadratic in its length.
    fn violations(&self, violated: LevelSet) -> Result<Vec<Violation>, Interrupt> {
        /// Transactions of a stretch.
        const LENGTHS: [usize; 2] = [1 << 10, 1 << 13];
        let mut order: Vec<Node> = (0..self.index.n_nodes() as Node).collect();
        order.sort_unstable_by_key(|&t| self.index.guess[t as usize]);
        let mut wanted: Vec<Level> = violated.iter().filter(|level| level.is_weak()).collect();
        let mut found: Vec<Violation> = Vec::new();
        for length in LENGTHS {
            for begin in (0..order.len()).step_by(length / 2) {
                if wanted.is_empty() {
                    return Ok(found);
                }
                let end = order.len().min(begin + length);
                found.extend(self.shown_by(&order[begin..end], &wanted)?);
                wanted.retain(|level| {
                    !found
                        .iter()
                        .any(|violation| violation.levels.contains(*level))
                });
            }
        }
        Ok(found)
    }

    /// For each of some violated levels that these transactions violate by themselves, one violation.
    fn shown_by(&self, nodes: &[Node], wanted: &[Level]) -> Result<Vec<Violation>, Interrupt> {
        let mut nodes = nodes.to_vec();
        nodes.sort_unstable();
        let mut part = self.index.part(&nodes);
        let mut found: Vec<Violation> = Vec::new();
        for &level in wanted {
            if found
                .iter()
                .any(|violation| violation.levels.contains(level))
                || !weak::decide(&part, level, self.control)?.is_violated()
            {
                continue;
            }
            part.node = vec![NONE; self.index.node.len()];
            (0..)
                .zip(&part.transaction)
                .for_each(|(node, t)| part.node[t.index()] = node);
            let listed = weak::instances(
                self.history,
                &part,
                with_causal([level].into_iter().collect()),
                self.max_instances,
                self.control,
            )?;
            found.extend(
                listed
                    .violations
                    .into_iter()
                    .find(|violation| violation.levels.contains(level)),
            );
        }
        Ok(found)
    }
}

/// Adds those of the `first` violations that no other violation of their levels covers because a limit stopped the
/// search.
pub(super) fn add_missing(found: &mut Instances, first: Instances) {
    for violation in first.violations {
        let is_same = |other: &&mut Violation| {
            (other.id.pattern, &other.edges, &other.proof)
                == (violation.id.pattern, &violation.edges, &violation.proof)
        };
        if let Some(same) = found.violations.iter_mut().find(is_same) {
            same.levels = same.levels.union(violation.levels);
            continue;
        }
        let shows = |level: Level| {
            found
                .violations
                .iter()
                .any(|other| other.levels.contains(level))
        };
        if !violation.levels.iter().all(shows) {
            let count = found.counts.entry(violation.id.pattern).or_default();
            *count = (*count).max(1);
            found.violations.push(violation);
        }
    }
}

/// Adds to the patterns of single reads all other instances that violate one of the violated levels. What was found is
/// kept when `control` ends the work.
pub fn collect(
    history: &History,
    index: &Index,
    reads: Instances,
    sought: Sought,
    weak: Option<Instances>,
    max_instances: usize,
    control: &Control,
) -> Instances {
    let mut found = reads;
    let violated = sought.violated;
    if violated.weakest().is_some() && sought.causal != Some(true) {
        // A violation of a strong level may also be one of causal consistency, which explains it better.
        let again = || {
            weak::instances(
                history,
                index,
                with_causal(violated),
                max_instances,
                control,
            )
        };
        weak.map_or_else(again, Ok)
            .into_iter()
            .for_each(|more| add(&mut found, more));
        let broken = weak::broken_guarantees(history, index, violated, max_instances, control);
        broken.into_iter().for_each(|more| add(&mut found, more));
    }
    add(
        &mut found,
        strong_patterns::instances(history, index, violated, max_instances, control),
    );
    found
}

fn add(found: &mut Instances, more: Instances) {
    for (pattern, count) in more.counts {
        *found.counts.entry(pattern).or_default() += count;
    }
    // Non-repeatable reads are counted and listed by the pass over single reads, with all levels they violate.
    found.violations.extend(
        more.violations
            .into_iter()
            .filter(|v| v.id.pattern != Pattern::NonRepeatableRead),
    );
    found.more.extend(more.more);
}

/// Lists one of the instances of a pattern that only the same version older than the initial one explains.
fn list_once_what_is_before_all(violations: &mut Vec<Violation>) {
    let mut argued: Vec<(Pattern, Vec<Edge>)> = Vec::new();
    violations.retain(|violation| {
        let is_before_all = violation.implied
            && violation
                .transactions
                .first()
                .is_some_and(|t| t.is_initial());
        let is_new = !argued
            .iter()
            .any(|(pattern, edges)| (*pattern, edges) == (violation.id.pattern, &violation.edges));
        if is_before_all && is_new {
            argued.push((violation.id.pattern, violation.edges.clone()));
        }
        !is_before_all || is_new
    });
}

/// Removes the satisfied levels from every violation, drops and does not count those that then violate nothing, and
/// sorts the rest in listing order with ordinals and groups from 1.
pub fn arrange(found: &mut Instances, satisfied: LevelSet, max_instances: usize) {
    for violations in [&mut found.violations, &mut found.more] {
        for violation in violations.iter_mut() {
            violation.levels = violation
                .levels
                .iter()
                .filter(|level| !satisfied.contains(*level))
                .collect();
        }
        violations.retain(|violation| {
            let violates = violation.levels.weakest().is_some();
            if let Some(count) = found
                .counts
                .get_mut(&violation.id.pattern)
                .filter(|_| !violates)
            {
                *count = count.saturating_sub(1);
            }
            violates
        });
    }
    found
        .violations
        .sort_by_key(|violation| (violation.id.pattern, violation.implied, violation.size()));
    list_once_what_is_before_all(&mut found.violations);
    let mut listed: BTreeMap<Pattern, u32> = BTreeMap::new();
    found.violations.retain_mut(|violation| {
        let ordinal = listed.entry(violation.id.pattern).or_default();
        *ordinal += 1;
        violation.id.ordinal = *ordinal;
        let fits = *ordinal as usize <= max_instances;
        if !fits && violation.place.is_none() {
            found.more.push(violation.clone());
        }
        fits
    });
    let mut groups: BTreeMap<(Pattern, u32), u32> = BTreeMap::new();
    for violation in &mut found.violations {
        let next = groups.len() as u32 + 1;
        violation.group = *groups
            .entry((violation.id.pattern, violation.group))
            .or_insert(next);
    }
}
