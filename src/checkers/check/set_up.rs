//! The assumption that some transactions set up the initial state, put to the test.
//!
//! What looks like a set-up may be a late reset: then counting it as part of ⊥ makes violations of what another order
//! explains. So before a level is called violated by that assumption alone, the history is checked with no transaction
//! counted as part of ⊥, and whichever reading is taken holds for all levels.
//!
//! Whatever the assumption satisfies is satisfied without it, up to SER: put the transactions of the set-up in front of the
//! order and let all reads of initial values read from them. They write nothing else, each key by one of them, so nobody
//! who is newly seen by a reader has written what it read. At SSER and LIN that may fail where the set-up contradicts the
//! clock by itself, but where the assumption satisfies these it satisfies all levels, and nothing is asked. So the reading
//! without the assumption violates nothing that the assumption satisfies, and where it satisfies the weakest level that the
//! assumption violates it is the better one at all levels. Where it violates that one it violates all stronger ones, and the
//! assumption changes no verdict.

use super::{Manner, check_with};
use crate::checkers::strong::Effort;
use crate::checkers::{Cause, Checker, Findings, Level, LevelResult, Options, Verdict};
use crate::control::Control;
use crate::history::History;
use crate::relations;

/// Up to so many operations ambiguous reads are worth any effort.
const SMALL: usize = 5_000;

/// The findings made by the assumption, or those made without it where these satisfy a level that the assumption violates.
///
/// Nothing is done where nothing above CI is violated: at CI all writers of initial values count as one anyway, in both
/// readings. Else one level is checked once more, in large histories with little effort for ambiguous reads; if that is
/// not enough the assumption stays, and the findings say so.
pub(super) fn put_to_the_test(
    history: &History,
    options: &Options,
    control: &Control,
    mut findings: Findings,
) -> Findings {
    let violated = |result: &&LevelResult| result.verdict == Verdict::Violated && result.level != Level::CutIsolation;
    let Some(weakest) = findings.levels.iter().filter(violated).map(|result| result.level).min() else {
        return findings;
    };
    let apart = history.without_assumed_set_up();
    let one = Options { levels: vec![weakest], max_instances: 0, checker: Checker::Fast, share: None, ..*options };
    let effort = if history.n_operations() <= SMALL { Effort::Any } else { Effort::Little };
    let manner = Manner { effort, ..Manner::WHOLE };
    let verdict = check_with(&apart, None, &one, control, manner, &|_| {}).levels.pop().map(|result| result.verdict);
    match verdict {
        Some(Verdict::Violated) => findings,
        Some(Verdict::Satisfied(_)) if options.share.is_some() => without_verdict(findings),
        Some(Verdict::Satisfied(_)) => {
            let mut second = check_with(&apart, None, options, control, Manner::WHOLE, &|_| {});
            second.set_up_apart = true;
            second.assumptions.insert(0, sentence(history, weakest, control));
            second
        }
        _ => {
            findings.assumptions.push(format!(
                "Whether {weakest} is violated if no transaction counts as part of the initial state was too much to find \
                 out (--init none asks for it)."
            ));
            findings
        }
    }
}

/// Other shards know nothing of what this one found out, so it cannot change the reading.
fn without_verdict(mut findings: Findings) -> Findings {
    for result in findings.levels.iter_mut().filter(|result| result.verdict == Verdict::Violated) {
        result.verdict = Verdict::Undecided(Cause::Unsupported(
            "violated only if what looks like set-up transactions counts as part of the initial state (--init none)"
                .to_owned(),
        ));
    }
    findings
}

/// Says which transactions are not counted as part of ⊥, and why.
fn sentence(history: &History, weakest: Level, control: &Control) -> String {
    let names = relations::resolve(history, control).map(|resolution| {
        let set_up: Vec<_> = resolution.merged_into_initial().collect();
        relations::names(history, &set_up)
    });
    format!(
        "{} only initial values, before anything else in the session, like the set-up of the initial state, but counted as \
         part of it {weakest} would be violated, which is satisfied if initial values were also there before: so no \
         transaction counts as part of the initial state (as with --init none).",
        names.map_or_else(|_| "Some transactions write".to_owned(), |names| format!("{names} wrote")),
    )
}
