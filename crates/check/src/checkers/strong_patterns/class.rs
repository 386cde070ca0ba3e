//! Names of cycles.

use crate::checkers::{Level, Pattern, Proof, Respected};
use isoscope_model::history::KeyId;
use isoscope_model::relations::{Edge, EdgeIndex, Reason, Relation};

/// The pattern of a proof and its other names, given the weakest level it violates. What does not rest on real time is named as
/// without it: it violates the level without times, too, which need not have been asked for.
pub(super) fn classify(edges: &[Edge], proof: &Proof, weakest: Level) -> (Pattern, Vec<String>) {
    let weakest = weakest
        .without_real_time()
        .filter(|_| !is_in_time(edges, proof))
        .unwrap_or(weakest);
    let general = general(weakest);
    let Proof::Cycle(cycle) = proof else {
        return (general, Vec::new());
    };
    let is_named = |pattern: Pattern| match pattern {
        Pattern::LongFork => is_long_fork(edges, cycle),
        Pattern::LostUpdate => is_lost_update(edges, cycle),
        _ => is_write_skew(edges, cycle),
    };
    let mut named = [Pattern::LongFork, Pattern::LostUpdate, Pattern::WriteSkew].into_iter();
    let is_of_updates = (weakest.is_of_dependencies() || weakest.is_serial_for_items())
        && weakest.implies_without_sessions(Level::CursorStability);
    let loses_updates = is_of_updates && !weakest.counts_real_time();
    let is_of = |named: Pattern| {
        named.row().level == weakest
            || loses_updates && named == Pattern::LostUpdate
            || (weakest.is_serial_for_updates() || weakest.is_serial_for_items())
                && named == Pattern::WriteSkew
    };
    let pattern = named
        .find(|&named| is_of(named) && is_named(named))
        .unwrap_or(general);
    let name = phenomenon(edges, cycle);
    let mut also = vec![name.to_owned()];
    if cycle
        .iter()
        .any(|&e| edges[e].relation == Relation::SessionOrder)
    {
        also.push(format!("{name}-session"));
    }
    if cycle
        .iter()
        .any(|&e| edges[e].relation == Relation::RealTime)
    {
        also.push(format!("{name}-realtime"));
    }
    (pattern, also)
}

/// Whether a cycle rests on real time, or any edge of another proof does.
fn is_in_time(edges: &[Edge], proof: &Proof) -> bool {
    let Proof::Cycle(cycle) = proof else {
        return edges.iter().any(|edge| edge.relation == Relation::RealTime);
    };
    let mut is_needed = vec![false; edges.len()];
    cycle.iter().for_each(|&edge| is_needed[edge] = true);
    // Premises come first.
    for (place, edge) in edges.iter().enumerate().rev() {
        if is_needed[place] {
            edge.because
                .premises()
                .iter()
                .for_each(|&premise| is_needed[premise] = true);
        }
    }
    edges
        .iter()
        .zip(is_needed)
        .any(|(edge, is_needed)| is_needed && edge.relation == Relation::RealTime)
}

/// The pattern of a violation with this proof, by its first case, if this is the weakest level that it violates.
pub(in crate::checkers) fn named_by(edges: &[Edge], proof: &Proof, weakest: Level) -> Pattern {
    classify(edges, proof.first_part(), weakest).0
}

/// The key that a cycle of a pattern is about, if it is about one.
pub(in crate::checkers) fn key_of(
    pattern: Pattern,
    edges: &[Edge],
    proof: &Proof,
) -> Option<KeyId> {
    match proof.first_part() {
        Proof::Cycle(cycle) if pattern == Pattern::LostUpdate => {
            cycle.iter().find_map(|&edge| edges[edge].key)
        }
        _ => None,
    }
}

/// The name of a cycle that has no other name, by the weakest level that it violates.
fn general(weakest: Level) -> Pattern {
    match weakest.respected() {
        _ if weakest.counts_real_time() => Pattern::RealTimeCycle,
        _ if weakest.is_serial() => Pattern::SERCycle,
        _ if weakest.is_of_each_read() => Pattern::MSRCycle,
        Some(Respected::OfUpdates) => Pattern::CSCycle,
        Some(Respected::SoFar) => Pattern::MVCycle,
        Some(Respected::Direct) => Pattern::UACycle,
        Some(Respected::All) => Pattern::PSICycle,
        Some(Respected::Serial) => Pattern::UpdateCycle,
        Some(Respected::Seen(_) | Respected::Nothing) | None => Pattern::SICycle,
    }
}

/// Adya's and Jepsen's name.
fn phenomenon(edges: &[Edge], cycle: &[EdgeIndex]) -> &'static str {
    let is_rw = |&e: &EdgeIndex| edges[e].relation == Relation::AntiDependency;
    let n_rw = cycle.iter().filter(|e| is_rw(e)).count();
    let adjacent = cycle.len() > 1
        && cycle
            .iter()
            .zip(cycle.iter().cycle().skip(1))
            .any(|(a, b)| is_rw(a) && is_rw(b));
    let only_versions = cycle
        .iter()
        .all(|&e| edges[e].relation == Relation::WriteWrite);
    match (n_rw, adjacent) {
        (0, _) if only_versions => "G0",
        (0, _) => "G1c",
        (1, _) => "G-single",
        (_, false) => "G-nonadjacent",
        (_, true) => "G2-item",
    }
}

/// Two anti-dependencies on different keys, connected both ways only by what was observed.
fn is_long_fork(edges: &[Edge], cycle: &[EdgeIndex]) -> bool {
    let missed: Vec<&Edge> = cycle
        .iter()
        .map(|&e| &edges[e])
        .filter(|e| e.relation == Relation::AntiDependency)
        .collect();
    let seen = |e: &EdgeIndex| {
        matches!(
            edges[*e].relation,
            Relation::AntiDependency | Relation::SessionOrder | Relation::WriteRead
        )
    };
    missed.len() == 2 && missed[0].key != missed[1].key && cycle.iter().all(seen)
}

/// Two writers of a key that missed each other's versions may not overlap, so each would have to come first, and either
/// direction is a proof. Takes the one that is a lost update: the writer that missed the version of that key comes
/// second.
pub(super) fn turn_to_lost_update(edges: &mut [Edge], proof: &mut Proof) {
    let Proof::Cycle(cycle) = proof else { return };
    let [a, b] = cycle[..] else { return };
    let (missed, conflict) = if matches!(edges[b].because, Reason::Conflict { .. }) {
        (a, b)
    } else {
        (b, a)
    };
    let Reason::Conflict { order } = &edges[conflict].because else {
        return;
    };
    let &[other] = order.as_slice() else { return };
    let is_missed = |e: EdgeIndex| edges[e].relation == Relation::AntiDependency;
    let is_other_way = is_missed(missed) && is_missed(other) && missed < conflict;
    if !is_other_way
        || edges[missed].key == edges[conflict].key
        || edges[other].key != edges[conflict].key
    {
        return;
    }
    let edge = &mut edges[conflict];
    std::mem::swap(&mut edge.from, &mut edge.to);
    std::mem::swap(&mut edge.from_operation, &mut edge.to_operation);
    edge.because = Reason::Conflict {
        order: vec![missed],
    };
    *proof = Proof::Cycle(vec![conflict, other]);
}

/// A transaction misses a version of a key that it overwrites.
fn is_lost_update(edges: &[Edge], cycle: &[EdgeIndex]) -> bool {
    let [a, b] = *cycle else { return false };
    let (missed, order) = match edges[a].relation {
        Relation::AntiDependency => (&edges[a], &edges[b]),
        _ => (&edges[b], &edges[a]),
    };
    missed.relation == Relation::AntiDependency
        && order.relation == Relation::WriteWrite
        && missed.key == order.key
}

/// Two transactions that miss each other's versions of different keys, neither because the other updated the same key.
fn is_write_skew(edges: &[Edge], cycle: &[EdgeIndex]) -> bool {
    let [a, b] = *cycle else { return false };
    let overwrites = |e: &Edge| matches!(e.because, Reason::Overwrites { .. });
    overwrites(&edges[a]) && overwrites(&edges[b]) && edges[a].key != edges[b].key
}
