//! All consequences of the facts of one case, round by round, so that every fact has a short derivation.

use super::facts::{Because, Case, Fact, FactId, Facts, ReadOf};
use super::sight::{sees, sight};
use crate::checkers::Respected;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{NONE, Node};
use std::collections::BTreeSet;

/// How saturation ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// These facts close a cycle.
    Cycle(Vec<FactId>),
    /// Nothing more follows.
    Quiet,
    /// The effort was used up.
    TooLong,
}

/// Remaining steps; counted so that the result does not depend on the clock.
pub(super) struct Effort {
    pub(super) steps: u64,
}

impl Effort {
    /// Spends steps; false if there are none left.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_sub(steps as u64);
        self.steps > 0
    }
}

/// Adds all consequences, until a round closes a cycle (then the one whose whole argument is shortest is returned) or
/// nothing new follows. O(rounds · (reads · writers of a key + writers² of a key)).
pub(super) fn saturate(
    facts: &mut Facts<'_>,
    case: &mut Case,
    effort: &mut Effort,
    control: &Control,
) -> Result<End, Interrupt> {
    loop {
        control.check()?;
        if is_cyclic(facts, case) {
            return shortest_cycle(facts, case, control).map(End::Cycle);
        }
        let new = consequences(facts, case, effort, control)?;
        if effort.steps == 0 {
            return Ok(End::TooLong);
        }
        if new.is_empty() {
            return Ok(End::Quiet);
        }
        // Each of them cost a path search and an update of the reachability relation.
        effort.spend(new.len() * (case.visible.len() + facts.events.n_events()));
        for fact in new {
            control.check()?;
            facts.add(case, fact);
        }
    }
}

fn is_cyclic(facts: &Facts<'_>, case: &Case) -> bool {
    let is_missed_yet_seen = |id: FactId| match &facts.all[id as usize] {
        &Fact {
            to,
            because: Because::Overwrites(read, _),
            ..
        } => sees(facts, case, to, &facts.read(read)),
        _ => false,
    };
    (0..facts.events.n_events() as u32).any(|v| case.closure.reaches(v, v))
        || case.missed().any(is_missed_yet_seen)
}

/// What follows in one step from the facts of the case and is not implied by them.
fn consequences(
    facts: &Facts<'_>,
    case: &Case,
    effort: &mut Effort,
    control: &Control,
) -> Result<Vec<Fact>, Interrupt> {
    let events = facts.events;
    let mut new = Vec::new();
    for &ReadOf { read, t3, t1, key } in &facts.reads {
        control.check()?;
        let writers = facts.writers(key);
        if !effort.spend(writers.len() + 1) {
            return Ok(new);
        }
        for &t2 in writers.iter().filter(|&&t2| t2 != t1 && t2 != t3) {
            // t3 reads the key from t1, and t2 writes it too.
            let read_of = ReadOf { read, t3, t1, key };
            if t1 != NONE
                && sees(facts, case, t2, &read_of)
                && !case.closure.reaches(events.commit(t2), events.after_writer(t1))
                // The anti-dependency then says the same in a simpler way.
                && !(facts.respected.is_some() && case.closure.reaches(events.commit(t1), events.commit(t2)))
                && let Some(path) = sight(facts, case, t2, &read_of)
            {
                new.push(Fact {
                    from: t2,
                    to: t1,
                    key,
                    because: Because::Visible(read, path),
                });
            }
            new.extend(overwrites(facts, case, read_of, t2));
        }
    }
    let by_dependencies = [Respected::OfUpdates, Respected::SoFar, Respected::Direct];
    if events.forbids_conflicts()
        || facts
            .respected
            .is_some_and(|respected| by_dependencies.contains(&respected))
    {
        conflicts(facts, case, effort, &mut new);
    }
    Ok(new)
}

/// All that follows in one step about readers of versions that are overwritten.
pub(super) fn overwritten(facts: &Facts<'_>, case: &Case) -> Vec<Fact> {
    let mut new = Vec::new();
    for &read in &facts.reads {
        let others = facts
            .writers(read.key)
            .iter()
            .filter(|&&t2| t2 != read.t1 && t2 != read.t3);
        new.extend(others.filter_map(|&t2| overwrites(facts, case, read, t2)));
    }
    new
}

/// t3 does not observe t2 if t1's version is older, unless that is implied.
fn overwrites(
    facts: &Facts<'_>,
    case: &Case,
    ReadOf { read, t3, t1, key }: ReadOf,
    t2: Node,
) -> Option<Fact> {
    let events = facts.events;
    let older = t1 == NONE || case.closure.reaches(events.commit(t1), events.commit(t2));
    if !older || case.closure.reaches(events.start(t3), events.commit(t2)) || case.misses(read, t2)
    {
        return None;
    }
    let path = if t1 == NONE {
        Vec::new()
    } else {
        version_order(facts, case, t1, t2, key)?
    };
    Some(Fact {
        from: t3,
        to: t2,
        key,
        because: Because::Overwrites(read, path),
    })
}

/// Why t1's version is older than t2's: a direct update of it if there is one, else the shortest path.
fn version_order(
    facts: &Facts<'_>,
    case: &Case,
    t1: Node,
    t2: Node,
    key: u32,
) -> Option<Vec<FactId>> {
    let update = case.visible.iter().copied().find(|&id| {
        let fact = &facts.all[id as usize];
        (fact.from, fact.to, fact.key) == (t1, t2, key)
            && matches!(fact.because, Because::ReadModifyWrite(_))
    });
    match update {
        Some(id) => Some(vec![id]),
        None => facts.path(case, facts.events.commit(t1), facts.events.commit(t2)),
    }
}

/// First committer wins: of two writers of a key, the one that starts before the other commits also commits before the
/// other starts. Where it matters whether a dependency is direct, the later of two writers depends on the earlier one.
fn conflicts(facts: &Facts<'_>, case: &Case, effort: &mut Effort, new: &mut Vec<Fact>) {
    let events = facts.events;
    let mut seen = BTreeSet::new();
    for key in 0..facts.index.n_keys() as u32 {
        let writers = facts.writers(key);
        if !effort.spend(writers.len() * writers.len()) {
            return;
        }
        // Over another key a dependency may be too late for a read, or none of an update.
        let by_key = match facts.respected {
            None | Some(Respected::Direct) => NONE,
            _ => key,
        };
        let is_new =
            |a, b| facts.respected.is_some() && facts.orders(case, (a, b), by_key).is_none();
        for (&a, &b) in writers
            .iter()
            .flat_map(|a| writers.iter().map(move |b| (a, b)))
        {
            if a != b
                && case.closure.reaches(events.start(a), events.commit(b))
                && (is_new(a, b) || !case.closure.reaches(events.commit(a), events.start(b)))
                && seen.insert((a, b, by_key))
                && let Some(path) = facts.path(case, events.start(a), events.commit(b))
            {
                new.push(Fact {
                    from: a,
                    to: b,
                    key,
                    because: Because::Conflict(path),
                });
            }
        }
    }
}

/// Among the cycles through the newest facts, the one whose argument needs the fewest facts, then the shortest one.
fn shortest_cycle(
    facts: &Facts<'_>,
    case: &Case,
    control: &Control,
) -> Result<Vec<FactId>, Interrupt> {
    /// Facts through which a cycle is searched.
    const TRIES: usize = 400;
    let mut best: Option<((usize, usize), Vec<FactId>)> = None;
    let mut tries = 0;
    for &id in case.visible.iter().rev() {
        let fact = &facts.all[id as usize];
        let (from, to) = facts.span(fact);
        let missed = match fact.because {
            Because::Overwrites(read, _) if facts.leads_nowhere(fact.from) => {
                Some(facts.read(read))
            }
            _ => None,
        };
        let closes = match &missed {
            Some(read) => sees(facts, case, fact.to, read),
            None => case.closure.reaches_or_is(to, from),
        };
        if !closes {
            continue;
        }
        tries += 1;
        if tries > TRIES {
            break;
        }
        control.check()?;
        let mut cycle = vec![id];
        let back = match &missed {
            Some(read) => sight(facts, case, fact.to, read),
            None if from == to => Some(Vec::new()),
            None => facts.path(case, to, from),
        };
        let Some(back) = back else { continue };
        cycle.extend(back);
        let size = (needed(facts, cycle.iter().copied()).len(), cycle.len());
        if best.as_ref().is_none_or(|(smallest, _)| size < *smallest) {
            best = Some((size, cycle));
        }
    }
    Ok(best.map(|(_, cycle)| cycle).unwrap_or_default())
}

/// These facts and all their premises.
pub(super) fn needed(
    facts: &Facts<'_>,
    roots: impl IntoIterator<Item = FactId>,
) -> BTreeSet<FactId> {
    let mut all: BTreeSet<FactId> = BTreeSet::new();
    let mut todo: Vec<FactId> = roots.into_iter().collect();
    while let Some(id) = todo.pop() {
        if all.insert(id) {
            todo.extend(facts.all[id as usize].because.premises());
        }
    }
    all
}
