//! Tests the assumption that some transactions set up the initial state.
//!
//! What looks like a set-up may be a late reset: then treating it as part of ⊥ reports violations where another order
//! explains the history. It hardly ever is one, and without the assumption two updates of an explicitly written initial
//! value would go unnoticed, so the verdict stays; but each verdict that rests on the assumption says so.

use super::{CheckMode, Request};
use crate::checkers::ambiguity::Budget;
use crate::checkers::strong::Effort;
use crate::checkers::{Findings, Level, LevelResult, Options, Verdict};
use isoscope_model::control::Control;
use isoscope_model::history::{History, TransactionId, TransactionSet};
use isoscope_model::relations::assumed_set_up;

/// Up to this many operations, ambiguous reads are worth any effort.
const SMALL: usize = 5_000;

/// Marks each violated level of findings that rests on the assumption: it does if the level is not found violated when
/// no transaction counts as part of the initial state. The assumptions say so, too.
///
/// A satisfied level never rests on it, and CI does not, where all writers of initial values count as one in either
/// reading. What violates a level without the assumption violates all stronger ones, so mostly one level is checked once
/// more, in large histories with little effort for ambiguous reads.
pub fn verify_assumed_setup(
    history: &History,
    options: &Options,
    control: &Control,
    findings: &mut Findings,
) {
    let violated =
        |result: &&LevelResult| result.verdict == Verdict::Violated && !result.level.is_of_reads();
    let mut levels: Vec<Level> = findings
        .levels
        .iter()
        .filter(violated)
        .map(|result| result.level)
        .collect();
    levels.sort_unstable();
    let Some(&weakest) = levels.first() else {
        return;
    };
    let options = Options {
        max_instances: 0,
        ..options.clone()
    };
    let test = Test {
        options: &options,
        control,
    };
    let apart = history.without_assumed_set_up();
    if test.verdict(&apart, weakest) == Some(Verdict::Violated) {
        return;
    }
    let verdicts = test.verdicts(&apart, levels);
    let is = |wanted: fn(&Verdict) -> bool| -> Vec<Level> {
        verdicts
            .iter()
            .filter(|(_, verdict)| wanted(verdict))
            .map(|(level, _)| *level)
            .collect()
    };
    let (alone, open) = (
        is(|verdict| matches!(verdict, Verdict::Satisfied(_))),
        is(|verdict| matches!(verdict, Verdict::Undecided(_))),
    );
    let doubtful = [alone.as_slice(), &open].concat();
    let groups = test.violations_of_groups(history, &doubtful);
    for result in findings
        .levels
        .iter_mut()
        .filter(|result| doubtful.contains(&result.level))
    {
        let enough = groups
            .iter()
            .find(|(_, violated)| violated.contains(&result.level));
        result.assuming = match enough {
            Some((set_up, _)) => set_up.clone(),
            None => groups
                .iter()
                .flat_map(|(set_up, _)| set_up.iter().copied())
                .collect(),
        };
        result.assuming.sort_unstable();
    }
    let codes = |levels: &[Level]| {
        levels
            .iter()
            .map(|level| level.code())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let are = |levels: &[Level]| if levels.len() == 1 { "is" } else { "are" };
    if !alone.is_empty() {
        findings.assumptions.push(format!(
            "{} {} violated by that assumption alone: with what looks like the set-up taken for transactions like others, \
             which `--init none` does, another order explains every read.",
            codes(&alone),
            are(&alone),
        ));
    }
    if !open.is_empty() {
        findings.assumptions.push(format!(
            "{} {} violated by that assumption; whether without it, which `--init none` does, was not found out.",
            codes(&open),
            are(&open),
        ));
    }
}

/// How levels are checked again.
struct Test<'a> {
    options: &'a Options,
    control: &'a Control,
}

impl Test<'_> {
    fn verdicts(&self, history: &History, levels: Vec<Level>) -> Vec<(Level, Verdict)> {
        let effort = if history.n_operations() <= SMALL {
            Effort::Any
        } else {
            Effort::LITTLE
        };
        // Only a remark hangs on it: that is worth so much and no more.
        let mode = CheckMode {
            effort,
            patience: Budget::Bounded,
            tests_set_up: false,
            ..CheckMode::WHOLE
        };
        let options = Options {
            levels,
            ..self.options.clone()
        };
        let findings = Request {
            history,
            options: &options,
            control: self.control,
            mode,
            observe: &|_| {},
        }
        .check(None);
        findings
            .levels
            .into_iter()
            .map(|result| (result.level, result.verdict))
            .collect()
    }

    fn verdict(&self, history: &History, level: Level) -> Option<Verdict> {
        self.verdicts(history, vec![level])
            .pop()
            .map(|(_, verdict)| verdict)
    }

    /// By group of transactions unrelated to the others: those assumed to be a set-up, and which of the levels the
    /// group violates by itself.
    fn violations_of_groups(
        &self,
        history: &History,
        levels: &[Level],
    ) -> Vec<(Vec<TransactionId>, Vec<Level>)> {
        let groups = assumed_set_up(history);
        if groups.len() == 1 {
            return groups
                .into_iter()
                .map(|group| (group.set_up, levels.to_vec()))
                .collect();
        }
        let violates = |transactions: &[TransactionId]| {
            let (group, _) = history.restrict(
                &TransactionSet::of(history, transactions.iter().copied()),
                |_| true,
            );
            let verdicts = self.verdicts(&group, levels.to_vec());
            verdicts
                .into_iter()
                .filter(|(_, verdict)| *verdict == Verdict::Violated)
                .map(|(level, _)| level)
                .collect()
        };
        groups
            .into_iter()
            .map(|group| (group.set_up, violates(&group.all)))
            .collect()
    }
}
