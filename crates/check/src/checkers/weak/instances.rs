//! All instances of the patterns above single reads: exact counts, and an explanation for the smallest of them.

use super::SMALL_LIMITS;
use super::causality::{Causality, Components, Forced, ForcedEdges};
use super::chains::Chains;
use super::cycles;
use super::justification::{Story, level_of};
use super::paths::{PathSearch, Step, quick_way};
use super::pool::{Candidate, is_initial};
use super::saturate::{causal_edges, transaction_edges};
use super::survey::{PATTERNS, Survey, Tally};
use super::vectors::{Direction, Rows, Vectors};
use crate::checkers::place::{Place, Window};
use crate::checkers::{Instances, Level, LevelSet, Pattern, Proof, Violation};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::History;
use isoscope_model::relations::{Axiom, Index, NONE, Node, Relation};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Memory for the vectors of a survey.
const VECTOR_BYTES: usize = if SMALL_LIMITS { 1 } else { 2 << 30 };

/// Candidates per listed instance while a history has at most [`SMALL`] nodes, so that true sizes, not estimates,
/// choose what is listed.
const SPARE: usize = 4;
const SMALL: usize = 50_000;

/// States visited per pattern to find paths; after that, only instances whose paths need no search are listed.
const VISITS_PER_PATTERN: u64 = 4_000_000;

/// The commit order of a weak level: SO ∪ WR with the edges that it forces.
struct Commit {
    level: Level,
    forced: ForcedEdges,
    components: Components,
    /// Both without the edges to ⊥, if there are any: the orders that rest on no version older than the initial one.
    proper: Option<(ForcedEdges, Components)>,
}

impl Commit {
    fn proper(&self) -> (&ForcedEdges, &Components) {
        self.proper
            .as_ref()
            .map_or((&self.forced, &self.components), |(forced, components)| {
                (forced, components)
            })
    }
}

/// What a survey of the instances of a history needs.
struct Setting<'a> {
    history: &'a History,
    causality: Causality<'a>,
    /// Of SO ∪ WR.
    components: Components,
    chains: Chains,
    rows: Rows,
    /// Weakest first.
    commit: Vec<Commit>,
    /// RC, RA or TCC.
    top: Level,
}

impl<'a> Setting<'a> {
    fn new(
        history: &'a History,
        causality: Causality<'a>,
        components: Components,
        top: Level,
        control: &Control,
    ) -> Result<Self, Interrupt> {
        let chains = Chains::new(causality.index, &components, control)?;
        let rows = Rows::new(&components);
        let commit = commit_orders(&causality, &components, &chains, &rows, top, control)?;
        Ok(Setting {
            history,
            causality,
            components,
            chains,
            rows,
            commit,
            top,
        })
    }

    /// Calls `visit` with the survey of each window of chains.
    fn survey(
        &self,
        capacity: usize,
        control: &Control,
        mut visit: impl FnMut(&Survey<'_>) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        let Setting {
            causality,
            components,
            chains,
            rows,
            ..
        } = self;
        let commit = self.commit.last().expect("a level was asked for");
        for window in rows.windows(chains, 2, VECTOR_BYTES) {
            let vectors = |direction| {
                Vectors::new(
                    causality,
                    components,
                    chains,
                    rows,
                    window.clone(),
                    direction,
                    control,
                )
            };
            let (past, future) = (&vectors(Direction::Past)?, &vectors(Direction::Future)?);
            let top = self.top.axiom();
            visit(&Survey {
                causality,
                components,
                chains,
                past,
                future,
                window,
                top,
                forced: &commit.forced,
                commit_components: &commit.components,
                proper_components: commit.proper().1,
                capacity,
            })?;
        }
        Ok(())
    }

    fn teller(&self) -> Teller<'_> {
        let Setting {
            history,
            causality,
            components,
            commit,
            ..
        } = self;
        Teller {
            history,
            causality,
            components,
            commit,
        }
    }
}

/// Counts and lists TAP-g, h, i, k, l, m, n if they violate one of `levels`; at most `max_instances` per pattern are
/// listed, one per pair (t1, t2), smallest explanations first, implied ones last.
///
/// The letter of an instance says how t3 sees t2 and what puts t1 before t2; it violates the weakest level whose axiom
/// has the former and whose commit order has the latter. Inside a component of SO ∪ WR only the component itself is
/// reported (TAP-g). A t2 that t3 sees only by reading the same key from it belongs to TAP-j and is not counted.
///
/// ⊥ is part of every commit order: if an axiom forces a transaction before ⊥ (a violation by itself), that transaction
/// and all before it precede everything. Where t1 precedes t2 for no other reason, the explanation is that violation alone.
///
/// Time: that of saturation plus reads × chains; memory: 2 GB of vectors and the minimal forced edges of each level.
/// With many listed instances that are far apart, fewer than `max_instances` are listed. The result does not depend on
/// the number of threads.
pub fn instances(
    history: &History,
    index: &Index,
    levels: LevelSet,
    max_instances: usize,
    control: &Control,
) -> Result<Instances, Interrupt> {
    debug_assert_eq!(index.node.len(), history.n_transactions());
    let mut found = Instances::default();
    let Some(top) = strongest(levels) else {
        return Ok(found);
    };
    let causality = Causality::new(index, control)?;
    let components = Components::new(&causality, &ForcedEdges::default(), control)?;
    let mut first = |Place([number, ..])| ((number as usize) < max_instances).then_some(number + 1);
    if !components.all_trivial() {
        cycles::add(
            history,
            &causality,
            &components,
            &mut first,
            &mut found,
            control,
        )?;
    }
    cycles::add_of_versions(
        history,
        &causality,
        &components,
        &mut first,
        &mut found,
        control,
    )?;
    let setting = Setting::new(history, causality, components, top, control)?;

    let capacity = if index.n_nodes() <= SMALL {
        SPARE * max_instances
    } else {
        max_instances
    };
    let mut tally = Tally::new(capacity);
    setting.survey(capacity, control, |survey| {
        tally = std::mem::take(&mut tally).merge(survey.run(control)?);
        Ok(())
    })?;
    for (pattern, count) in PATTERNS.into_iter().zip(tally.counts) {
        if count > 0 {
            found.counts.insert(pattern, count as u64);
        }
    }
    let teller = setting.teller();
    let lists = PATTERNS
        .into_par_iter()
        .zip(tally.pools)
        .map(|(pattern, pool)| teller.list(pattern, pool.into_sorted(), max_instances, control));
    for list in lists.collect::<Result<Vec<_>, Interrupt>>()? {
        found.violations.extend(list);
    }
    Ok(found)
}

/// The counted instances of one pattern that `window` wants, with their ordinals, in the order of their places: by
/// reader, key, version read and newer version. `levels` must be those for which the instances were counted.
///
/// Counts by reader first and makes only the instances of the readers in question. Time and memory as for counting.
pub(in crate::checkers) fn unlisted(
    history: &History,
    index: &Index,
    levels: LevelSet,
    pattern: Pattern,
    window: &mut Window,
    control: &Control,
) -> Result<Vec<Violation>, Interrupt> {
    let Some(top) = strongest(levels) else {
        return Ok(Vec::new());
    };
    let causality = Causality::new(index, control)?;
    let components = Components::new(&causality, &ForcedEdges::default(), control)?;
    let Some(class) = PATTERNS.iter().position(|of_class| *of_class == pattern) else {
        let mut found = Instances::default();
        let mut admit = |place| window.admits(place).map(|ordinal| ordinal as u32);
        match pattern {
            Pattern::CyclicCO => cycles::add(
                history,
                &causality,
                &components,
                &mut admit,
                &mut found,
                control,
            )?,
            Pattern::VersionOrderCycle => {
                cycles::add_of_versions(
                    history,
                    &causality,
                    &components,
                    &mut admit,
                    &mut found,
                    control,
                )?;
            }
            _ => {}
        }
        return Ok(found.violations);
    };
    let setting = Setting::new(history, causality, components, top, control)?;
    let mut counts = vec![0; index.n_nodes()];
    setting.survey(0, control, |survey| {
        survey.count_by_reader(class, &mut counts, control)
    })?;
    let of_reader = |t3| Place([t3, 0, 0, 0])..=Place([t3, NONE, NONE, NONE]);
    let counted = (0..).zip(&counts).filter(|(_, n)| **n > 0);
    let readers: Vec<Node> = window.blocks(counted.map(|(t3, &n)| (t3, n, of_reader(t3))));
    let mut candidates = Vec::new();
    setting.survey(0, control, |survey| {
        candidates.extend(readers.iter().flat_map(|&t3| survey.of_reader(class, t3)));
        control.check()
    })?;
    candidates.sort_unstable_by_key(Candidate::place);
    let teller = setting.teller();
    let mut search = PathSearch::new(&setting.causality);
    let mut told = Vec::new();
    for candidate in candidates {
        let Some(ordinal) = window.admits(candidate.place()) else {
            continue;
        };
        let argued = teller.argued(pattern, &candidate, &mut search, control)?;
        let mut violation = teller.tell(pattern, (&candidate, &argued), &mut search, control)?;
        violation.id.ordinal = ordinal as u32;
        told.push(violation);
    }
    Ok(told)
}

/// RC, RA or TCC: the strongest that a violation of one of `levels` can be reported at.
fn strongest(levels: LevelSet) -> Option<Level> {
    let implied = LevelSet::downward(levels.iter());
    Level::ALL
        .into_iter()
        .rev()
        .find(|level| level.is_weak() && implied.contains(*level))
}

fn commit_orders(
    causality: &Causality<'_>,
    components: &Components,
    chains: &Chains,
    rows: &Rows,
    top: Level,
    control: &Control,
) -> Result<Vec<Commit>, Interrupt> {
    let mut orders = Vec::new();
    for level in Level::ALL
        .into_iter()
        .filter(|level| level.is_weak() && top.implies(*level))
    {
        let mut edges: Vec<Forced> = causality.listed_edges().collect();
        if level.axiom() == Axiom::Causal {
            for window in rows.windows(chains, 1, VECTOR_BYTES) {
                let past = Vectors::new(
                    causality,
                    components,
                    chains,
                    rows,
                    window.clone(),
                    Direction::Past,
                    control,
                )?;
                edges.extend(causal_edges(
                    causality, components, chains, &past, window, control,
                )?);
            }
        } else {
            edges.extend(transaction_edges(
                causality,
                components,
                level.axiom(),
                control,
            )?);
        }
        let forced = ForcedEdges::new(causality.n(), edges);
        let components = Components::new(causality, &forced, control)?;
        let mut proper = None;
        if forced.reach_initial() {
            let forced = forced.without_initial(causality.n());
            let components = Components::new(causality, &forced, control)?;
            proper = Some((forced, components));
        }
        orders.push(Commit {
            level,
            forced,
            components,
            proper,
        });
    }
    Ok(orders)
}

fn in_causal_order(pattern: Pattern) -> bool {
    matches!(
        pattern,
        Pattern::NonMonoReadCO | Pattern::FracturedReadCO | Pattern::COConflictCM
    )
}

/// Makes violations of candidates.
struct Teller<'a> {
    history: &'a History,
    causality: &'a Causality<'a>,
    components: &'a Components,
    commit: &'a [Commit],
}

impl Teller<'_> {
    fn list(
        &self,
        pattern: Pattern,
        candidates: Vec<Candidate>,
        max_instances: usize,
        control: &Control,
    ) -> Result<Vec<Violation>, Interrupt> {
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let mut search = PathSearch::new(self.causality);
        let mut told = Vec::new();
        for candidate in candidates {
            control.check()?;
            if search.visited > VISITS_PER_PATTERN && self.needs_search(pattern, &candidate) {
                continue;
            }
            let argued = self.argued(pattern, &candidate, &mut search, control)?;
            told.push((
                candidate,
                argued.pair(),
                self.tell(pattern, (&candidate, &argued), &mut search, control)?,
            ));
        }
        let length = |violation: &Violation| match &violation.proof {
            Proof::Cycle(edges) => edges.len(),
            _ => 0,
        };
        told.sort_by_cached_key(|(candidate, _, violation)| {
            (
                candidate.implied,
                violation.size(),
                length(violation),
                Candidate {
                    size: 0,
                    ..*candidate
                },
            )
        });
        told.truncate(max_instances);
        let mut groups = FxHashMap::default();
        Ok(told
            .into_iter()
            .zip(1..)
            .map(|((_, (t1, t2), mut violation), ordinal)| {
                let pair = (t1.min(t2), t1.max(t2));
                let next = groups.len() as u32 + 1;
                violation.group = *groups.entry(pair).or_insert(next);
                violation.id.ordinal = ordinal;
                violation
            })
            .collect())
    }

    /// What a candidate is argued with: itself, or, where t1 precedes t2 only because everything comes after ⊥, what
    /// forces a transaction before ⊥. That alone is impossible.
    fn argued(
        &self,
        pattern: Pattern,
        candidate: &Candidate,
        search: &mut PathSearch<'_>,
        control: &Control,
    ) -> Result<Candidate, Interrupt> {
        let &Candidate { t1, t2, .. } = candidate;
        let Some(Commit {
            forced, components, ..
        }) = self.order_by_initial(pattern, candidate)
        else {
            return Ok(*candidate);
        };
        let mut first = forced.find(t1, NONE);
        if first.is_none() {
            let way = search.shortest(t1, t2, Some(forced), |v| components.same(v, t1), control)?;
            first = way.into_iter().flatten().find_map(|step| match step {
                Step::Forced(edge) if edge.to == NONE => Some(edge),
                _ => None,
            });
        }
        let Forced { from, to, read } = first.expect("t1 precedes ⊥");
        let index = self.causality.index;
        let (t3, key) = (
            self.causality.read_node[read as usize],
            index.read_key[read as usize],
        );
        Ok(Candidate {
            t1: to,
            t2: from,
            t3,
            key,
            ..*candidate
        })
    }

    /// The violation of a candidate, argued with another one of the same kind, or of the kind in causal order if its t1 is ⊥.
    fn tell(
        &self,
        pattern: Pattern,
        (candidate, argued): (&Candidate, &Candidate),
        search: &mut PathSearch<'_>,
        control: &Control,
    ) -> Result<Violation, Interrupt> {
        let &Candidate {
            implied,
            t1,
            t2,
            t3,
            key,
            ..
        } = argued;
        let read = self.telling_read(argued);
        let mut story = Story::new(self.history, self.causality, self.components);
        [t1, t2, t3]
            .into_iter()
            .for_each(|node| story.mention(node));
        let seen_at = level_of(self.causality, t2, read);
        let commit = story.commit(t2, read, search, control)?;
        let mut cycle = vec![commit];
        let mut level = seen_at;
        if is_initial(t1) {
            cycle.push(story.initial_first(t2));
        } else {
            let way = if in_causal_order(pattern) {
                let bound = self.components.of[t2 as usize];
                search.shortest(
                    t1,
                    t2,
                    None,
                    |v| self.components.of[v as usize] <= bound,
                    control,
                )?
            } else {
                let order = self.commit_order(t1, t2, seen_at);
                let (forced, components) = order.proper();
                level = order.level;
                match forced.find(t1, t2) {
                    Some(edge) => Some(vec![Step::Forced(edge)]),
                    None => search.shortest(
                        t1,
                        t2,
                        Some(forced),
                        |v| components.same(v, t1),
                        control,
                    )?,
                }
            };
            let way = way.expect("t1 precedes t2 by the order of the pattern");
            cycle.extend(story.way(&way, search, control)?);
        }
        Ok(Violation {
            also: self.also(pattern, argued, &story),
            key: Some(self.causality.index.key_id(key)),
            transactions: story.transactions,
            edges: story.edges,
            implied,
            place: Some(candidate.place()),
            ..Violation::new(pattern, 0, LevelSet::upward(level), Proof::Cycle(cycle))
        })
    }

    /// The weakest commit order, of `least` or above, that puts t1 before t2 even without ⊥.
    fn commit_order(&self, t1: Node, t2: Node, least: Level) -> &Commit {
        let mut orders = self
            .commit
            .iter()
            .filter(|order| order.level.implies(least));
        orders
            .find(|order| order.proper().1.same(t1, t2))
            .expect("the pair is in one component at the strongest level")
    }

    /// The weakest commit order that puts t1 before t2, if none does without ⊥.
    fn order_by_initial(
        &self,
        pattern: Pattern,
        &Candidate { t1, t2, .. }: &Candidate,
    ) -> Option<&Commit> {
        let is_proper = |order: &Commit| order.proper().1.same(t1, t2);
        if in_causal_order(pattern) || self.commit.last().is_none_or(is_proper) {
            return None;
        }
        self.commit
            .iter()
            .find(|order| order.components.same(t1, t2))
    }

    /// Whether the explanation of a candidate has a path of more than two steps, or of inferred edges not directly
    /// present.
    fn needs_search(&self, pattern: Pattern, candidate: &Candidate) -> bool {
        let &Candidate { t1, t2, t3, .. } = candidate;
        let far = |a, b| quick_way(self.causality, a, b).is_none();
        let read = self.telling_read(candidate);
        let seen_at = level_of(self.causality, t2, read);
        if let Some(order) = self.order_by_initial(pattern, candidate) {
            let first = order.forced.find(t1, NONE);
            return first.is_none_or(|edge| far(t1, self.causality.read_node[edge.read as usize]));
        }
        let search_order = || match in_causal_order(pattern) {
            _ if is_initial(t1) => false,
            true => far(t1, t2),
            false => match self.commit_order(t1, t2, seen_at).proper().0.find(t1, t2) {
                Some(edge) if self.causality.list_behind(edge).is_some() => false,
                // The inferred edge has a reader of its own, which must observe t1.
                Some(edge) => far(t1, self.causality.read_node[edge.read as usize]),
                None => true,
            },
        };
        far(t2, t3) || search_order()
    }

    /// The read of the key from t1 to report: the last if it comes after a read from t2, else the first.
    fn telling_read(&self, candidate: &Candidate) -> u32 {
        let index = self.causality.index;
        let reads = index.reads_of(candidate.t3);
        let of_pair = |&read: &usize| {
            index.read_key[read] == candidate.key && index.writer_of_read(read) == candidate.t1
        };
        let first = reads
            .clone()
            .find(of_pair)
            .expect("t3 reads the key from t1") as u32;
        let last = reads.rev().find(of_pair).map_or(first, |read| read as u32);
        match level_of(self.causality, candidate.t2, last) {
            Level::ReadCommitted => last,
            _ => first,
        }
    }

    /// Other names of the same scenario: weaker patterns it is an instance of, C4's letter, Adya's name.
    fn also(&self, pattern: Pattern, candidate: &Candidate, story: &Story<'_>) -> Vec<String> {
        let &Candidate {
            t1, t2, t3, key, ..
        } = candidate;
        let index = self.causality.index;
        let by_read = index
            .reads_of(t3)
            .any(|read| index.writer_of_read(read) == t2 && index.read_key[read] != key);
        let (weaker, c4): (&[Pattern], char) = match (pattern, by_read) {
            (Pattern::NonMonoReadCO, _) => (&PATTERNS[1..], 'h'),
            (Pattern::NonMonoReadCM, _) => (&[Pattern::FracturedReadCM, Pattern::ConflictCM], 'i'),
            (Pattern::FracturedReadCO, true) => (&PATTERNS[3..], 'h'),
            (Pattern::FracturedReadCO, false) => (&PATTERNS[3..], 'k'),
            (Pattern::FracturedReadCM, true) => (&PATTERNS[5..], 'i'),
            (Pattern::FracturedReadCM, false) => (&PATTERNS[5..], 'l'),
            (Pattern::COConflictCM, _) => (&PATTERNS[5..], 'k'),
            _ => (&[], 'l'),
        };
        let mut also: Vec<String> = weaker
            .iter()
            .map(|pattern| pattern.id().to_owned())
            .collect();
        if is_initial(t1) && !in_causal_order(pattern) {
            return also;
        }
        also.push(format!("C4 TAP-{c4}"));
        if is_initial(t1) {
            also.push("C4 TAP-j".to_owned());
        }
        // In causal order the newer version is known, so the scenario closes one cycle with one anti-dependency.
        if in_causal_order(pattern) {
            let session = story
                .edges
                .iter()
                .any(|edge| edge.relation == Relation::SessionOrder);
            also.push(
                if session {
                    "G-single-session"
                } else {
                    "G-single"
                }
                .to_owned(),
            );
            if pattern == Pattern::NonMonoReadCO {
                also.push("G-monotonic".to_owned());
            }
            if self.causality.in_session_order(t2, t3) {
                also.push("read-your-writes".to_owned());
            }
        }
        also
    }
}
