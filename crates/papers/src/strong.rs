//! The algorithms for the strong levels: from an index to a verdict and to what is listed.

use super::{Input, be_search, polysi};
use isoscope_check::checkers::building_blocks::{self, Decisions, Sought};
use isoscope_check::checkers::{
    Cause, Checker, Decision, Instances, Level, LevelResult, LevelSet, Options, Order, Pattern,
    Verdict, strong_patterns,
};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, KeyId};
use isoscope_model::relations::{Index, Node};
use std::collections::BTreeMap;

/// An order that satisfies a level of `checker`, or `None` if the level is violated. No read is wrong on its own.
pub(super) fn decide(
    input: &Input<'_>,
    checker: Checker,
    level: Level,
    assumptions: &mut Vec<String>,
    control: &Control,
) -> Result<Option<Order>, Cause> {
    match checker {
        _ if checker.is_polysi() => {
            let how = polysi::Variant {
                prune: checker == Checker::PolySi,
                compact: checker != Checker::PolySiPlain,
            };
            let (found, sizes) = polysi::check(input.index, level, how, control)?;
            assumptions.push(format!("PolySI's check of {level}: {sizes}."));
            match found {
                polysi::PolySiAnswer::Satisfied(order) => Ok(Some(order)),
                // Without compaction what is finally left are two orders of one pair.
                polysi::PolySiAnswer::Violated(_) if !how.compact => Ok(None),
                polysi::PolySiAnswer::Violated(cycle) => {
                    assumptions.extend(polysi::told(input, level, &cycle, control)?);
                    Ok(None)
                }
            }
        }
        Checker::BiswasEneaSearch => be_search::check(input.index, level, control),
        _ => mini_transactions(input, level, control),
    }
}

/// MTC. SSER is decided after SER, so that a broken clock hides no violation of SER.
fn mini_transactions(
    input: &Input<'_>,
    level: Level,
    control: &Control,
) -> Result<Option<Order>, Cause> {
    let Input { history, index, .. } = *input;
    if level.counts_real_time()
        && let Some((earlier, later)) = index.clock_against_session_order()
    {
        let name = |node: Node| history.transaction_name(index.transaction[node as usize]);
        return match mini_transactions(input, Level::Serializability, control)? {
            None => Ok(None),
            Some(_) => Err(Cause::Unsupported(format!(
                "times contradict session order: {} ended before {} began",
                name(later),
                name(earlier)
            ))),
        };
    }
    match building_blocks::decide_mini_transactions(index, level, control)? {
        Some(decision) => Ok(decision.order()),
        None => Err(unfit(history, index, control)?
            .unwrap_or_else(|| Cause::Unsupported("not mini-transactions".to_owned()))),
    }
}

/// Why MTC is not for this history, if it is not. O(n + reads).
pub(super) fn unfit(
    history: &History,
    index: &Index,
    control: &Control,
) -> Result<Option<Cause>, Interrupt> {
    if !index.lists.is_empty() {
        return Ok(Some(Cause::Unsupported(
            "not mini-transactions: values are lists".to_owned(),
        )));
    }
    let misfit = building_blocks::misfit(index, control)?;
    Ok(misfit.map(|(node, key)| {
        let (name, key) = (
            history.transaction_name(index.transaction[node as usize]),
            history.key_name(KeyId(key)),
        );
        Cause::Unsupported(format!(
            "not mini-transactions: {name} writes key {key} without reading it first"
        ))
    }))
}

/// What violates the violated levels, listed by the program's own engine, and the checker's own counts.
pub(super) fn found(
    input: Input<'_>,
    checker: Checker,
    options: &Options,
    levels: &[LevelResult],
    control: &Control,
) -> Instances {
    let of =
        |wanted: fn(&Verdict) -> bool| levels.iter().filter(move |result| wanted(&result.verdict));
    let violated = of(|verdict| *verdict == Verdict::Violated);
    let decisions: Decisions = violated
        .map(|result| (result.level, (Ok(Decision::violated()), result.seconds)))
        .collect();
    let Input {
        history,
        index,
        reads,
        ..
    } = input;
    let max = options.max_instances;
    let mut counts = BTreeMap::new();
    if !decisions.is_empty()
        && checker.counts(Pattern::Divergence)
        && let Ok(n @ 1..) = strong_patterns::n_divergences(history, index, control)
    {
        counts.insert(Pattern::Divergence, n);
    }
    // The program's own engine takes longer to find what to list than the paper's took for the verdict.
    if decisions.is_empty() || max == 0 {
        return Instances {
            counts,
            ..Instances::default()
        };
    }
    let mut found = building_blocks::collect(
        history,
        index,
        reads,
        Sought::of(&decisions),
        None,
        max,
        control,
    );
    let satisfied =
        of(|verdict| matches!(verdict, Verdict::Satisfied(_))).map(|result| result.level);
    building_blocks::arrange(
        &mut found,
        LevelSet::downward(satisfied).union(LevelSet::not_asked(&[])),
        max,
    );
    Instances {
        counts,
        violations: found.violations,
        more: Vec::new(),
    }
}
