//! C4: transactional causal consistency by twelve patterns.
//!
//! Source: C4, Algorithm 2 and Table 1 (`BuildCO`, `CheckCOTAP`, `BuildCM`, `CheckCMTAP`), with vector clocks or tree clocks
//! (section 4.2). Decides TCC and counts its letters: a to e by reads, f by pairs of consecutive reads, g by components,
//! h, i, k, l by quadruples (key, t1, t2, t3) with t1 = ⊥ as one of them, j by (key, t2, t3).
//!
//! Complexity as for Plume's, its predecessor: O(n · w + e · S) time for n operations, S sessions, w writers of a key
//! and e edges of the commit order; 4 · n · S bytes of vectors twice, six times that for tree clocks.
//!
//! Kept as published, since they are C4's own: reads after an own write of the key give no write-read edge (they are d
//! and nothing else); f compares values where Plume's j compares writers; there is no pattern for the read of an own
//! overwritten write (Plume's TAP-e), so a history in which only that is wrong is called satisfied, contrary to the
//! proof of Theorem 1. Corrected: inside a cycle of SO ∪ WR only g is reported; clocks are computed in topological
//! order; ⊥ precedes everything. Errors in lists alone, which C4 does not know, violate TCC without a letter.

use super::Input;
use super::choice::RcRule;
use super::commit::{Axiom, build_cm};
use super::order::{Order, Reachability};
use super::plume::{add_cycles, wrong_triples};
use super::view::View;
use isoscope_check::checkers::{C4Pattern, Cause, Level, Pattern};
use isoscope_model::control::Control;
use isoscope_model::graph::topological_order;
use isoscope_model::history::{OperationId, OperationKind};
use isoscope_model::relations::{NONE, Node, Source};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What the algorithm finds.
#[derive(Clone, Debug)]
pub(super) struct C4Findings {
    /// A commit order that satisfies TCC except for TAP-e; `None` if C4 calls it violated.
    pub(super) order: Option<Vec<Node>>,
    /// All instances of the twelve patterns.
    pub(super) counts: BTreeMap<C4Pattern, u64>,
}

/// Algorithm 2.
pub(super) fn check(
    input: &Input<'_>,
    means: Reachability,
    control: &Control,
) -> Result<C4Findings, Cause> {
    let Input {
        resolution,
        index,
        ref reads,
        ..
    } = *input;
    let mut counts = wrong_reads(input, control)?;
    let is_first = |read: usize| {
        let operation = index.read_operation[read];
        !resolution.is_irregular(operation) || !after_own_write(resolution.source(operation))
    };
    let view = View::new(index, &is_first, control)?;
    let mut cycles = BTreeMap::new();
    add_cycles(&view, &mut cycles);
    add(
        &mut counts,
        C4Pattern::CyclicCO,
        cycles.get(&Pattern::CyclicCO).copied().unwrap_or(0),
    );
    let mut co = Order::new(&view.causal, index, means, control)?;
    let axiom = Axiom::of(Level::TransactionalCausalConsistency, RcRule::BiswasEnea);
    let commit = build_cm(&view, axiom, &mut co, control)?;
    let mut cm = Order::new(&commit, index, means, control)?;
    // `CheckCOTAP`, j, and `CheckCMTAP`, h, i, k, l.
    wrong_triples(
        &view,
        axiom,
        (&mut co, &mut cm),
        control,
        |triple, is_causal| {
            let pattern = match (is_causal, triple.sight.other_key) {
                (true, true) => C4Pattern::FracturedReadCO,
                (true, false) => C4Pattern::COConflictCM,
                (false, true) => C4Pattern::FracturedReadCM,
                (false, false) => C4Pattern::ConflictCM,
            };
            add(&mut counts, pattern, 1);
            add(
                &mut counts,
                C4Pattern::WriteCOInitRead,
                u64::from(triple.t1 == NONE),
            );
        },
    )?;
    let wrong_lists = reads.counts.keys().any(|pattern| pattern.is_of_lists());
    let order = if counts.is_empty() && !wrong_lists {
        topological_order(&commit)
    } else {
        None
    };
    let order = order.map(|order| {
        order
            .into_iter()
            .filter(|&node| node < view.n() as Node)
            .collect()
    });
    Ok(C4Findings { order, counts })
}

fn add(counts: &mut BTreeMap<C4Pattern, u64>, pattern: C4Pattern, more: u64) {
    if more > 0 {
        *counts.entry(pattern).or_default() += more;
    }
}

fn after_own_write(source: Source) -> bool {
    match source {
        Source::Initial { after_own_write }
        | Source::Transaction {
            after_own_write, ..
        } => after_own_write,
        _ => false,
    }
}

/// `CheckCOTAP`, a to f. The first four are Plume's.
fn wrong_reads(input: &Input<'_>, control: &Control) -> Result<BTreeMap<C4Pattern, u64>, Cause> {
    let mut counts = BTreeMap::new();
    let plume = |pattern: Pattern| input.reads.counts.get(&pattern).copied().unwrap_or(0);
    add(
        &mut counts,
        C4Pattern::ThinAirRead,
        plume(Pattern::ThinAirRead),
    );
    add(
        &mut counts,
        C4Pattern::AbortedRead,
        plume(Pattern::AbortedRead),
    );
    add(
        &mut counts,
        C4Pattern::FutureRead,
        plume(Pattern::FutureRead),
    );
    add(
        &mut counts,
        C4Pattern::NotMyOwnWrite,
        plume(Pattern::NotMyOwnWrite),
    );
    let (mut both, mut pairs) = (0, 0);
    for (step, &t) in input.index.transaction.iter().enumerate() {
        control.tick(step)?;
        let mut keys: FxHashMap<u32, Last> = FxHashMap::default();
        for o in input.history.operations_of(t) {
            let key = input.history.keys()[o.index()].0;
            if input.history.kinds()[o.index()] == OperationKind::Write {
                keys.insert(key, Last::OwnWrite);
                continue;
            }
            let source = input.resolution.source_in(t, o);
            let is_both = matches!(
                source,
                Source::Transaction {
                    intermediate: true,
                    after_own_write: true,
                    ..
                }
            );
            both += u64::from(is_both);
            match keys.get(&key) {
                Some(Last::OwnWrite) => {}
                _ if matches!(source, Source::Unrecorded | Source::Outside) => {}
                Some(&Last::Read(before)) => {
                    pairs += u64::from(differ(input, before, o));
                    keys.insert(key, Last::Read(o));
                }
                None => drop(keys.insert(key, Last::Read(o))),
            }
        }
    }
    add(
        &mut counts,
        C4Pattern::IntermediateRead,
        plume(Pattern::IntermediateRead).saturating_sub(both),
    );
    add(&mut counts, C4Pattern::NonRepeatableRead, pairs);
    Ok(counts)
}

/// A transaction's last operation on a key, ignoring reads after own writes.
#[derive(Clone, Copy)]
enum Last {
    OwnWrite,
    Read(OperationId),
}

/// Whether two reads of a key return different values; the initial version is one value, however it is written.
fn differ(input: &Input<'_>, first: OperationId, second: OperationId) -> bool {
    let initial = |o: OperationId| matches!(input.resolution.source(o), Source::Initial { .. });
    let value = |o: OperationId| input.history.values()[o.index()];
    value(first) != value(second) && !(initial(first) && initial(second))
}
