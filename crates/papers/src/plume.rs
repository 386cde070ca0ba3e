//! Plume: weak isolation levels by fourteen transactional anomalous patterns.
//!
//! Source: Plume, Algorithm 1 (`BuildCO`, `CheckCOTAP`, `BuildCM`, `CheckCMTAP`) and its variants with vector clocks,
//! tree clocks and searches (section 5.5.4). Decides RC, RA or TCC and counts the patterns of the level: TAP-g by
//! components, TAP-h to n by quadruples (key, t1, t2, t3). TAP-a to f and j are visible in single transactions and are
//! found before.
//!
//! Complexity, for n operations, S sessions and at most w writers of a key: O(n · w + e · S) time with e ≤ n · w edges
//! of the commit order; 8 bytes or more per edge, 4 · n · S bytes of vectors twice (24 · n · S for tree clocks, none
//! for searches, which take O(n + e) time for each read instead).
//!
//! Corrected, each after design "Differences, traps, corner cases":
//! * The published algorithm builds one commit order, with the causal axiom, for all levels, which reports violations of
//!   RC and RA that do not exist. Here each level has its own, unless [`Choice::one_commit_order`] asks for the published
//!   one.
//! * Lines 11 and 32 lack t1 ≠ t2 ≠ t3, and inside a cycle of SO ∪ WR everything matches: both are left out.
//! * k and l also hold where t2 precedes t3 in its session, as lines 12 and 33 have it and Table 1 lacks it.
//! * Definition 4 (RC) leaves out pairs of reads of one key; [`Choice::rc`] may ask for that. Otherwise a TAP-j whose
//!   second read goes back behind the first violates RC, too.
//! * ⊥ precedes everything, also in the commit order: where a transaction is forced before ⊥, it and all before it
//!   precede every other.

use super::choice::Choice;
use super::commit::{Axiom, build_cm};
use super::order::{Order, Reachability};
use super::search::Fixed;
use super::view::{Reader, Sight, Triple, View};
use isoscope_check::checkers::{Cause, Level, Pattern};
use isoscope_model::control::Control;
use isoscope_model::graph::{Digraph, strong_components, topological_order};
use isoscope_model::relations::{self, Index, NONE, Node};
use std::collections::BTreeMap;

/// What the algorithm finds at one level.
#[derive(Clone, Debug)]
pub(super) struct PlumeFindings {
    /// A commit order that satisfies the level; `None` if it is violated. TAP-a to f and j have not been checked.
    pub(super) order: Option<Vec<Node>>,
    /// All instances of TAP-g to n that the level prohibits, except TAP-j.
    pub(super) counts: BTreeMap<Pattern, u64>,
}

/// By trigger (non-monotonic, fractured, causal), then order (causal, commit).
const PATTERNS: [Pattern; 6] = [
    Pattern::NonMonoReadCO,
    Pattern::NonMonoReadCM,
    Pattern::FracturedReadCO,
    Pattern::FracturedReadCM,
    Pattern::COConflictCM,
    Pattern::ConflictCM,
];

/// Algorithm 1 for RC, RA or TCC.
pub(super) fn check(
    index: &Index,
    level: Level,
    means: Reachability,
    choice: Choice,
    control: &Control,
) -> Result<PlumeFindings, Cause> {
    let view = View::new(index, &|_| true, control)?;
    let mut counts = BTreeMap::new();
    add_cycles(&view, &mut counts);
    let mut co = Order::new(&view.causal, index, means, control)?;
    let own = Axiom::of(level, choice.rc);
    let published = if choice.one_commit_order {
        Axiom::Causal
    } else {
        own
    };
    let commit = build_cm(&view, published, &mut co, control)?;
    let mut cm = Order::new(&commit, index, means, control)?;
    let tally = check_cm_tap(&view, level, own, (&mut co, &mut cm), control)?;
    counts.extend(
        PATTERNS
            .into_iter()
            .zip(tally.counts)
            .filter(|(_, count)| *count > 0),
    );
    let violated = tally.any || !counts.is_empty();
    let order = match violated {
        true => None,
        // The published commit order may have a cycle due to a stronger level.
        false if published != own => topological_order(&build_cm(&view, own, &mut co, control)?),
        false => topological_order(&commit),
    };
    // ⊥ is not part of the order.
    let order = order.map(|order| {
        order
            .into_iter()
            .filter(|&node| node < view.n() as Node)
            .collect()
    });
    Ok(PlumeFindings { order, counts })
}

/// `CheckCOTAP`, TAP-g: the components of SO ∪ WR. If lists show an order of versions, also the components that it
/// merges from several (not a pattern of the paper, whose list mode checks the same by its commit order).
pub(super) fn add_cycles(view: &View<'_>, counts: &mut BTreeMap<Pattern, u64>) {
    let cycles = view.components.cyclic().len() as u64;
    if cycles > 0 {
        counts.insert(Pattern::CyclicCO, cycles);
    }
    if view.listed.is_empty() {
        return;
    }
    let with_lists: Digraph = view.with(&view.listed);
    let components = strong_components(&with_lists);
    let is_new =
        |&&(a, b): &&(Node, Node)| components.share_cycle(a, b) && !view.on_one_cycle(a, b);
    let mut cyclic: Vec<u32> = view
        .listed
        .iter()
        .filter(is_new)
        .map(|edge| components.component[edge.0 as usize])
        .collect();
    cyclic.sort_unstable();
    cyclic.dedup();
    if !cyclic.is_empty() {
        counts.insert(Pattern::VersionOrderCycle, cyclic.len() as u64);
    }
}

struct Tally {
    /// By place in [`PATTERNS`].
    counts: [u64; 6],
    /// Whether any triple violates the level, also one without a letter of its own: t3 reads the same key from t2.
    any: bool,
}

/// `CheckCMTAP`: every triple whose trigger the level prohibits and that is ordered the wrong way.
fn check_cm_tap(
    view: &View<'_>,
    level: Level,
    axiom: Axiom,
    (co, cm): (&mut Order<'_>, &mut Order<'_>),
    control: &Control,
) -> Result<Tally, Cause> {
    let mut tally = Tally {
        counts: [0; 6],
        any: false,
    };
    wrong_triples(view, axiom, (co, cm), control, |triple, is_causal| {
        tally.any = true;
        if let Some(trigger) = trigger(level, &triple.sight) {
            tally.counts[2 * trigger + usize::from(!is_causal)] += 1;
        }
    })?;
    Ok(tally)
}

/// Tells `found` every triple in which t3 sees t2 although t1, which it reads from, is older: in causal order, or else in
/// commit order.
pub(super) fn wrong_triples(
    view: &View<'_>,
    axiom: Axiom,
    (co, cm): (&mut Order<'_>, &mut Order<'_>),
    control: &Control,
    mut found: impl FnMut(&Triple, bool),
) -> Result<(), Cause> {
    let mut reader = Reader::new(view.n());
    for t3 in 0..view.n() as Node {
        // A transaction may take many searches.
        control.check()?;
        reader.load(view, t3);
        reader.triples(view, control, |triple| {
            let Triple { t1, t2, t3, .. } = triple;
            if axiom.sees(&triple.sight, || co.precedes(t2, t3, Fixed::End)) {
                let is_causal = t1 == NONE || co.precedes(t1, t2, Fixed::Start);
                if is_causal || cm.precedes(t1, t2, Fixed::Start) {
                    found(&triple, is_causal);
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// The most specific way in which t3 sees t2, among those that the level knows; `None` if reading the same key from t2
/// is the only one: that belongs to TAP-j.
fn trigger(level: Level, sight: &Sight) -> Option<usize> {
    let rank = if sight.other_key_before {
        0
    } else if sight.session || sight.other_key {
        1
    } else if !sight.reads {
        2
    } else {
        return None;
    };
    let most = match level.axiom() {
        relations::Axiom::ReadCommitted => 0,
        relations::Axiom::ReadAtomic => 1,
        _ => 2,
    };
    (rank <= most).then_some(rank)
}
