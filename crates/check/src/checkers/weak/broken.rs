//! Evidence against guarantees of sessions: a short cycle for each component of SO ∪ WR and what a guarantee forces.

use super::base_order::BaseOrder;
use super::causality::{Causality, Components, Forced, ForcedEdges};
use super::guarantees;
use super::justification::Story;
use super::paths::{PathSearch, Step};
use super::replay::{self, Kept};
use crate::checkers::{Instances, Level, LevelSet, Pattern, Proof, Violation, ViolationId};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, KeyId};
use isoscope_model::relations::{Axiom, Edge, EdgeIndex, Guarantee, Index, NONE, Node, Reason};
use std::borrow::Cow;

/// The guarantees, those that others consist of first.
const GUARANTEES: [Guarantee; 5] = [
    Guarantee::ReadYourWrites,
    Guarantee::MonotonicReads,
    Guarantee::MonotonicWrites,
    Guarantee::WritesFollowReads,
    Guarantee::Pram,
];

/// Evidence that the guarantees among these violated levels are broken: for each that nothing else shows, a short cycle of
/// each component of what is forced until the first cycle appears, smallest first. At most `max_instances` of a pattern are listed.
///
/// Lists nothing where SO ∪ WR and the orders that lists show have a cycle themselves. Time as for deciding, and the
/// search for paths.
pub(in crate::checkers) fn broken_guarantees(
    history: &History,
    index: &Index,
    levels: LevelSet,
    max_instances: usize,
    control: &Control,
) -> Result<Instances, Interrupt> {
    let mut found = Instances::default();
    let sought = GUARANTEES
        .into_iter()
        .filter(|&guarantee| levels.contains(Level::of_guarantee(guarantee)));
    let sought: Vec<Guarantee> = sought.collect();
    let ground = if sought.is_empty() {
        None
    } else {
        BaseOrder::new(index, control)?
    };
    let Some(BaseOrder {
        listed,
        order,
        replay,
    }) = ground
    else {
        return Ok(found);
    };
    let causality = Causality::new(index, control)?;
    let acyclic = Components::trivial(&order.nodes, &order.place);
    for guarantee in sought {
        let level = Level::of_guarantee(guarantee);
        if found
            .violations
            .iter()
            .any(|violation| violation.levels.contains(level))
        {
            continue;
        }
        let kept = replay::decide(
            index,
            listed.clone(),
            &order,
            Cow::Borrowed(&replay),
            Axiom::Session(guarantee),
            control,
        )?;
        let Kept::Broken(edges) = kept else { continue };
        let forced = ForcedEdges::new(causality.n(), edges);
        let teller = Teller {
            history,
            causality: &causality,
            acyclic: &acyclic,
            forced,
            guarantee,
        };
        for violation in teller.violations(control)? {
            let count = found.counts.entry(violation.id.pattern).or_default();
            *count += 1;
            let ordinal = *count as u32;
            let id = ViolationId {
                ordinal,
                ..violation.id
            };
            let list = if ordinal as usize <= max_instances {
                &mut found.violations
            } else {
                &mut found.more
            };
            list.push(Violation {
                id,
                group: ordinal,
                ..violation
            });
        }
    }
    Ok(found)
}

/// Makes violations of cycles.
struct Teller<'a> {
    history: &'a History,
    causality: &'a Causality<'a>,
    /// Of SO ∪ WR.
    acyclic: &'a Components,
    /// What lists show and what the guarantee forces.
    forced: ForcedEdges,
    guarantee: Guarantee,
}

impl Teller<'_> {
    /// One for each component with a cycle, smallest first.
    fn violations(&self, control: &Control) -> Result<Vec<Violation>, Interrupt> {
        let components = Components::new(self.causality, &self.forced, control)?;
        let mut search = PathSearch::new(self.causality);
        let mut violations = Vec::new();
        // A version that would be older than the initial one needs no other edge.
        const LOOKED_AT: usize = 64;
        let of_initial = self
            .forced
            .all()
            .iter()
            .filter(|edge| edge.to == NONE)
            .take(LOOKED_AT);
        if let Some(&first) = of_initial.min_by_key(|edge| self.path(edge).1.len()) {
            violations.push(self.tell(
                &[Step::Forced(first), Step::Initial(first.from)],
                &mut search,
                control,
            )?);
        } else {
            for component in
                (0..components.len() as u32).filter(|&c| components.members(c).len() > 1)
            {
                let inside = |v: Node| components.of[v as usize] == component;
                let way = self.shortest(inside, &mut search, control)?;
                violations.extend(
                    way.map(|way| self.tell(&way, &mut search, control))
                        .transpose()?,
                );
            }
        }
        violations.sort_by_key(|violation| {
            (
                violation.id.pattern,
                violation.size(),
                violation.edges.len(),
            )
        });
        Ok(violations)
    }

    /// The cycle inside with the fewest forced edges, among those with the fewest steps, that begins with a forced edge.
    fn shortest<'s>(
        &'s self,
        inside: impl Fn(Node) -> bool,
        search: &mut PathSearch<'s>,
        control: &Control,
    ) -> Result<Option<Vec<Step>>, Interrupt> {
        /// States visited in search of shorter cycles.
        const VISITS: u64 = 2_000_000;
        let is_forced = |edge: &Forced| self.causality.list_behind(*edge).is_none();
        let n_forced = |way: &[Step]| {
            way.iter()
                .filter(|step| matches!(step, Step::Forced(_)))
                .count()
        };
        let mut best: Option<Vec<Step>> = None;
        let begin = search.visited;
        let edges = self
            .forced
            .all()
            .iter()
            .filter(|edge| inside(edge.from) && inside(edge.to) && is_forced(edge));
        for &edge in edges {
            if best.is_some() && search.visited > begin + VISITS {
                break;
            }
            let back = search.shortest(edge.to, edge.from, Some(&self.forced), &inside, control)?;
            let Some(back) = back else { continue };
            let way: Vec<Step> = std::iter::once(Step::Forced(edge)).chain(back).collect();
            let weight = |way: &[Step]| (n_forced(way), way.len());
            if best.as_ref().is_none_or(|best| weight(&way) < weight(best)) {
                best = Some(way);
            }
        }
        Ok(best)
    }

    fn tell(
        &self,
        way: &[Step],
        search: &mut PathSearch<'_>,
        control: &Control,
    ) -> Result<Violation, Interrupt> {
        let mut story = Story::new(self.history, self.causality, self.acyclic);
        way.iter().for_each(|step| story.mention(step.from()));
        let mut cycle: Vec<EdgeIndex> = Vec::with_capacity(way.len());
        for step in way {
            cycle.push(match *step {
                Step::Forced(edge) if self.causality.list_behind(edge).is_none() => {
                    self.forces(edge, &mut story)
                }
                ref step => story.way(std::slice::from_ref(step), search, control)?[0],
            });
        }
        let (pattern, level) = named(&story.edges, &cycle);
        Ok(Violation {
            key: key_of(&story.edges, &cycle),
            transactions: story.transactions,
            edges: story.edges,
            ..Violation::new(pattern, 0, LevelSet::upward(level), Proof::Cycle(cycle))
        })
    }

    /// The path by which the reader of a forced edge sees the newer version, and its kind.
    fn path(&self, edge: &Forced) -> (Guarantee, Vec<guarantees::PathStep>) {
        let t3 = self.causality.read_node[edge.read as usize];
        let path = guarantees::path(self.causality.index, self.guarantee, edge.from, t3);
        path.expect("what is forced is seen on a path that the guarantee counts")
    }

    /// The edge that the guarantee forces, with the path by which the reader sees the newer version.
    fn forces(&self, edge: Forced, story: &mut Story<'_>) -> EdgeIndex {
        let (kind, path) = self.path(&edge);
        let step = |&(from, to, reads): &guarantees::PathStep| {
            if reads {
                Step::Read(from, to)
            } else {
                Step::Session(from, to)
            }
        };
        let steps: Vec<Step> = path.iter().map(step).collect();
        story.guaranteed(edge, Axiom::Session(kind), &steps)
    }
}

/// The kinds of paths by which the forced edges of a cycle are there.
fn kinds<'e>(edges: &'e [Edge], cycle: &'e [EdgeIndex]) -> impl Iterator<Item = Guarantee> + 'e {
    cycle.iter().filter_map(|&e| match edges[e].because {
        Reason::Visible {
            axiom: Axiom::Session(kind),
            ..
        } => Some(kind),
        _ => None,
    })
}

/// What a cycle is called and the weakest level that it violates: the guarantee that counts all its paths.
fn named(edges: &[Edge], cycle: &[EdgeIndex]) -> (Pattern, Level) {
    let mut counting = GUARANTEES
        .into_iter()
        .filter(|guarantee| kinds(edges, cycle).all(|kind| guarantee.counts(kind)));
    let guarantee = counting.next().unwrap_or(Guarantee::Pram);
    let pattern = match guarantee {
        Guarantee::ReadYourWrites => Pattern::RYWCycle,
        Guarantee::MonotonicReads => Pattern::MRCycle,
        Guarantee::MonotonicWrites => Pattern::MWCycle,
        Guarantee::WritesFollowReads => Pattern::WFRCycle,
        Guarantee::Pram => Pattern::PRAMCycle,
    };
    (pattern, Level::of_guarantee(guarantee))
}

/// The key of a cycle with one forced edge.
fn key_of(edges: &[Edge], cycle: &[EdgeIndex]) -> Option<KeyId> {
    let mut forced = cycle
        .iter()
        .filter(|&&e| matches!(edges[e].because, Reason::Visible { .. }));
    match (forced.next(), forced.next()) {
        (Some(&only), None) => edges[only].key,
        _ => None,
    }
}
