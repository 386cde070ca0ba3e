//! Checking a share of a history.

use super::super::share::{ShardAssignment, Share, Shared, assign_shards, decide_mine};
use super::*;
use crate::checkers::decision::is_violated;
use isoscope_model::relations::Component;

/// Whether some of these levels are decided component by component, as far as that is known without an index. The same for
/// every shard.
pub(super) fn may_be_spread(levels: &[Level]) -> bool {
    levels.iter().any(|level| level.row().spreads)
}

/// Whether each of these levels can be decided in shares: component by component, or by the first shard in addition to its
/// own components because it costs little. Where others are asked for, too, the first shard does all the work.
pub(super) fn fit(levels: &[Level]) -> bool {
    let is_divided = |level: &Level| level.row().spreads;
    let is_cheap = |level: &Level| {
        (level.is_weak() || level.is_of_reads())
            && level.plain_of().is_none()
            && !level.counts_real_time()
    };
    levels
        .iter()
        .all(|level| is_divided(level) || is_cheap(level))
}

impl CheckRun<'_> {
    /// Checks what belongs to a share. Work that cannot be divided is left to the first shard.
    pub(super) fn check_share(&mut self, share: Share, prepared: Prepared) -> Instances {
        let Some(components) = self.components(&prepared) else {
            self.shared = Some(ShardAssignment::whole(share, self.levels().to_vec()));
            return if share.is_first() {
                self.check(prepared)
            } else {
                Instances::default()
            };
        };
        let mine = assign_shards(&components, share);
        self.shared = Some(ShardAssignment {
            share,
            levels: self.levels().to_vec(),
            components: components.len(),
            mine: mine.clone(),
        });
        self.check_components(share, prepared, &components, &mine)
    }

    /// The components, if deciding them is all there is to do at the strong levels.
    fn components(&self, prepared: &Prepared) -> Option<Vec<Component>> {
        let is_plain = prepared.resolution.n_ambiguous() == 0
            && prepared.reads.counts.is_empty()
            && n_ambiguous_elements(self.asked.history, &prepared.resolution) == 0;
        let is_open = prepared
            .ground
            .as_ref()
            .is_some_and(|ground| ground.serial().is_none());
        let may_be_spread = may_be_spread(self.levels());
        (may_be_spread && is_plain && is_open)
            .then(|| Component::all(&prepared.index))
            .flatten()
    }

    fn check_components(
        &mut self,
        share: Share,
        prepared: Prepared,
        components: &[Component],
        mine: &[usize],
    ) -> Instances {
        self.asked
            .control
            .phase("checking", self.levels().len() as u64);
        let (strong, weak): (Vec<Level>, Vec<Level>) = self
            .levels()
            .iter()
            .copied()
            .partition(|level| level.row().spreads);
        let mut decisions = Decisions::new();
        self.assumptions
            .extend_from_slice(prepared.resolution.assumptions());
        if share.is_first() {
            self.decide_weak(&prepared, &weak, &mut decisions);
        }
        let violates = |weaker: Level| {
            decisions
                .get(&weaker)
                .is_some_and(|(decision, _)| is_violated(decision))
        };
        let (settled, open): (Vec<Level>, Vec<Level>) = strong.into_iter().partition(|level| {
            weak.iter()
                .any(|&weaker| level.implies(weaker) && violates(weaker))
        });
        for level in settled {
            decisions.insert(level, (Ok(Decision::violated()), 0.0));
            self.decided(level, Verdict::Violated, 0.0);
        }
        if !mine.is_empty() {
            for (level, (shared, seconds)) in
                decide_mine(&prepared.index, components, mine, &open, self.asked.control)
            {
                let verdict = match shared {
                    Shared::Satisfied(orders) => Verdict::Satisfied(Witness::Components(orders)),
                    Shared::Violated => {
                        decisions.insert(level, (Ok(Decision::violated()), seconds));
                        Verdict::Violated
                    }
                    Shared::Undecided(interrupt) => {
                        Verdict::Undecided(Cause::Interrupted(interrupt))
                    }
                };
                self.decided(level, verdict, seconds);
            }
        }
        if decisions
            .values()
            .any(|(decision, _)| is_violated(decision))
        {
            return self.list(
                prepared,
                &decisions,
                LevelSet::default(),
                linear::Evidence::default(),
            );
        }
        Instances::default()
    }

    /// The weak levels of the whole history.
    fn decide_weak(&mut self, prepared: &Prepared, weak: &[Level], decisions: &mut Decisions) {
        let engines: Vec<Level> = self
            .engine_levels()
            .into_iter()
            .filter(|level| weak.contains(level))
            .collect();
        let facts = Facts::of(prepared.reads.counts.keys().copied());
        let told = |level: Level, decision: &Answer, seconds: f64| {
            self.tell(level, verdict_of(decision, level, &prepared.index), seconds);
        };
        *decisions = decide_all(
            &prepared.index,
            prepared.ground.as_ref(),
            facts,
            &engines,
            self.asked.control,
            &told,
        );
        for (&level, (decision, seconds)) in decisions.iter() {
            self.decided(
                level,
                verdict_of(decision, level, &prepared.index),
                *seconds,
            );
        }
        if weak.contains(&Level::CutIsolation) {
            // There is no TAP-j, or the history would not have been divided.
            self.decided(Level::CutIsolation, Verdict::Satisfied(Witness::Reads), 0.0);
        }
    }
}
