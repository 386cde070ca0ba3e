//! TAP-g: cycles of SO ∪ WR, one per component, each as short as can be found.

use super::causality::{Causality, Components, Forced, ForcedEdges};
use super::justification::Story;
use super::paths::{PathSearch, Step};
use crate::checkers::{Instances, Level, LevelSet, Pattern, Place, Proof, Violation};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, KeyId};
use isoscope_model::relations::{EdgeIndex, Node, Relation};

/// States visited in search of shorter cycles, over all components; one cycle of each is always found.
const VISITS: u64 = 5_000_000;

/// The ordinal of the instance at a place, if it is to be reported.
pub(super) type Admit<'w> = dyn FnMut(Place) -> Option<u32> + 'w;

/// Counts the components with cycles and reports those that `admit` accepts with their shortest cycles, shortest first.
pub(super) fn add(
    history: &History,
    causality: &Causality<'_>,
    components: &Components,
    admit: &mut Admit<'_>,
    found: &mut Instances,
    control: &Control,
) -> Result<(), Interrupt> {
    let cyclic: Vec<u32> = (0..components.len() as u32)
        .filter(|&component| components.members(component).len() > 1)
        .collect();
    found.counts.insert(Pattern::CyclicCO, cyclic.len() as u64);
    let mut search = PathSearch::new(causality);
    let mut cycles = Vec::new();
    for &component in &cyclic {
        cycles.push((
            component,
            shortest_cycle(causality, components, component, &mut search, control)?,
        ));
    }
    cycles.sort_by_key(|(component, way)| (way.len(), components.members(*component)[0]));
    for ((_, way), number) in cycles.into_iter().zip(0..) {
        let place = Place([number, 0, 0, 0]);
        let Some(ordinal) = admit(place) else {
            continue;
        };
        let mut story = Story::new(history, causality, components);
        let cycle = story.way(&way, &mut search, control)?;
        story.begin_with(&cycle);
        let session = story
            .edges
            .iter()
            .any(|edge| edge.relation == Relation::SessionOrder);
        let also = vec![
            "C4 TAP-g".to_owned(),
            if session { "G1c-session" } else { "G1c" }.to_owned(),
        ];
        found.violations.push(violation(
            (Pattern::CyclicCO, ordinal, place),
            also,
            None,
            story,
            cycle,
        ));
    }
    Ok(())
}

/// Counts the components of SO ∪ WR and the version order that lists show, if they are more than components of SO ∪ WR,
/// and reports those that `admit` accepts with a short cycle each, shortest first.
pub(super) fn add_of_versions(
    history: &History,
    causality: &Causality<'_>,
    components: &Components,
    admit: &mut Admit<'_>,
    found: &mut Instances,
    control: &Control,
) -> Result<(), Interrupt> {
    if causality.listed.is_empty() {
        return Ok(());
    }
    let listed = ForcedEdges::new(causality.n(), causality.listed_edges().collect());
    let with_lists = Components::new(causality, &listed, control)?;
    let is_new =
        |edge: &Forced| with_lists.same(edge.from, edge.to) && !components.same(edge.from, edge.to);
    let mut cyclic: Vec<u32> = listed
        .all()
        .iter()
        .filter(|edge| is_new(edge))
        .map(|edge| with_lists.of[edge.from as usize])
        .collect();
    cyclic.sort_unstable();
    cyclic.dedup();
    if cyclic.is_empty() {
        return Ok(());
    }
    found
        .counts
        .insert(Pattern::VersionOrderCycle, cyclic.len() as u64);
    let mut search = PathSearch::new(causality);
    let mut cycles: Vec<Vec<Step>> = Vec::new();
    for &component in &cyclic {
        let inside = |v: Node| with_lists.of[v as usize] == component;
        let mut best: Option<Vec<Step>> = None;
        for &edge in listed
            .all()
            .iter()
            .filter(|edge| inside(edge.from) && is_new(edge))
        {
            if best.is_some() && search.visited > VISITS {
                break;
            }
            let Some(back) = search.shortest(edge.to, edge.from, Some(&listed), inside, control)?
            else {
                continue;
            };
            let way: Vec<Step> = std::iter::once(Step::Forced(edge)).chain(back).collect();
            let shortest_possible = way.len() == 2;
            if best.as_ref().is_none_or(|best| way.len() < best.len()) {
                best = Some(way);
            }
            if shortest_possible {
                break;
            }
        }
        cycles.extend(best);
    }
    cycles.sort_by_key(Vec::len);
    for (way, number) in cycles.into_iter().zip(0..) {
        let place = Place([number, 0, 0, 0]);
        let Some(ordinal) = admit(place) else {
            continue;
        };
        let mut story = Story::new(history, causality, components);
        let cycle = story.way(&way, &mut search, control)?;
        story.begin_with(&cycle);
        let has = |relation| story.edges.iter().any(|edge| edge.relation == relation);
        let adya = if has(Relation::WriteRead) {
            "G1c"
        } else {
            "G0"
        };
        let suffix = if has(Relation::SessionOrder) {
            "-session"
        } else {
            ""
        };
        let key = story
            .edges
            .iter()
            .find(|edge| edge.relation == Relation::WriteWrite)
            .and_then(|edge| edge.key);
        let also = vec![format!("{adya}{suffix}")];
        found.violations.push(violation(
            (Pattern::VersionOrderCycle, ordinal, place),
            also,
            key,
            story,
            cycle,
        ));
    }
    Ok(())
}

/// A cycle that violates read committed by itself.
fn violation(
    (pattern, ordinal, place): (Pattern, u32, Place),
    also: Vec<String>,
    key: Option<KeyId>,
    story: Story<'_>,
    cycle: Vec<EdgeIndex>,
) -> Violation {
    Violation {
        also,
        key,
        transactions: story.transactions,
        edges: story.edges,
        place: Some(place),
        ..Violation::new(
            pattern,
            ordinal,
            LevelSet::upward(Level::AdyaReadCommitted),
            Proof::Cycle(cycle),
        )
    }
}

/// A cycle has a write-read edge, so the shortest consists of such an edge and the shortest path back.
fn shortest_cycle(
    causality: &Causality<'_>,
    components: &Components,
    component: u32,
    search: &mut PathSearch<'_>,
    control: &Control,
) -> Result<Vec<Step>, Interrupt> {
    let members = components.members(component);
    let inside = |v: Node| components.of[v as usize] == component;
    let edges = || {
        members
            .iter()
            .flat_map(|&a| causality.readers(a).iter().map(move |&b| (a, b)))
    };
    let edges = || edges().filter(|&(_, b)| inside(b));
    for (step, (a, b)) in edges().enumerate() {
        control.tick(step)?;
        if causality.in_session_order(b, a) {
            return Ok(vec![Step::Read(a, b), Step::Session(b, a)]);
        }
        if causality.readers(b).binary_search(&a).is_ok() {
            return Ok(vec![Step::Read(a, b), Step::Read(b, a)]);
        }
    }
    let mut best: Option<Vec<Step>> = None;
    for (a, b) in edges() {
        if best.is_some() && search.visited > VISITS {
            break;
        }
        let back = search.shortest(b, a, None, inside, control)?;
        let mut way = vec![Step::Read(a, b)];
        way.extend(back.expect("a component has a way back for each of its edges"));
        if best.as_ref().is_none_or(|best| way.len() < best.len()) {
            let shortest_possible = way.len() == 3;
            best = Some(way);
            if shortest_possible {
                break;
            }
        }
    }
    Ok(best.expect("a component with a cycle has a write-read edge inside"))
}
