//! What products promise: the list, and whether a history keeps a promise.

use super::output::{Output, Paint};
use super::values::Claim;
use crate::checkers::lattice::{
    ClaimedLevel, PROMISES, Promise, claimed, holds, strongest_satisfied,
};
use crate::checkers::{Findings, Level, LevelResult};
use crate::history::History;
use crate::report::{PromiseEntry, VerdictWord};

/// The promise that is claimed, if one is.
pub(super) fn promised(claim: Option<Claim>) -> Option<&'static Promise> {
    match claim? {
        Claim::Of(promise) => Some(promise),
        Claim::Help => None,
    }
}

/// Lists the promises that are known if they are asked for. Whether they are.
pub(super) fn listed(claim: Option<Claim>, out: &mut Output) -> bool {
    let is_asked = matches!(claim, Some(Claim::Help));
    if is_asked {
        out.text(&list(out));
    }
    is_asked
}

/// The verdict on a promise, which may be kept, broken, or neither shown.
pub(super) fn verdict(is_kept: Option<bool>) -> VerdictWord {
    match is_kept {
        Some(true) => VerdictWord::Satisfied,
        Some(false) => VerdictWord::Violated,
        None => VerdictWord::Undecided,
    }
}

/// All that is known, a line each.
fn list(out: &Output) -> String {
    let width = PROMISES
        .iter()
        .map(|promise| promise.name().len())
        .max()
        .unwrap_or(0);
    let line = |promise: &Promise| {
        let level = promise.level().unwrap_or("-");
        let said = match promise.note {
            "" => format!("[{}]", promise.source),
            note => format!("{note} [{}]", promise.source),
        };
        let said = out.paint(Paint::Faint, &said);
        format!("  {:width$}  {level:5}  {said}\n", promise.name())
    };
    let lines: String = PROMISES.iter().map(line).collect();
    format!(
        "{lines}\n`isoscope levels R-SI` defines a level; - means that none is promised. These are readings of the vendors' documentation, weaker\nwhere published tests contradict it\n"
    )
}

/// "Claim: postgresql repeatable read promises R-SI (on one node): violated; the strongest level checked that holds is SI".
pub(super) fn line(promise: &Promise, findings: &Findings, out: &Output) -> String {
    let note = if promise.note.is_empty() {
        String::new()
    } else {
        format!(" ({})", promise.note)
    };
    let verdict = verdict(promise.is_kept(&findings.levels));
    let holds: Vec<&str> = strongest_satisfied(findings.verdicts())
        .into_iter()
        .map(Level::code)
        .collect();
    let holds = match holds[..] {
        [] => "no level that was checked holds".to_owned(),
        [one] => format!("the strongest level checked that holds is {one}"),
        _ => format!(
            "the strongest levels checked that hold are {}",
            holds.join(", ")
        ),
    };
    let level = promise.level().unwrap_or_default();
    format!(
        "\nClaim: {} promises {level}{note}: {}; {holds}\n",
        promise.name(),
        out.paint(Paint::of(verdict), verdict.word())
    )
}

/// "Claimed by the test: :snapshot-isolation, which is P-SI here: satisfied", a line for each level.
pub(super) fn in_files(history: &History, findings: &Findings, out: &Output) -> String {
    let verdicts: Vec<&LevelResult> = findings.verdicts().collect();
    let line = |ClaimedLevel { keyword, level }: ClaimedLevel| {
        let (paint, word) = match holds(&verdicts, level) {
            Some(true) => (Paint::Good, "satisfied"),
            Some(false) => (Paint::Bad, "violated"),
            None => (Paint::Open, "not decided"),
        };
        format!(
            "Claimed by the test: {keyword}, which is {} here: {}\n",
            level.code(),
            out.paint(paint, word)
        )
    };
    let lines: String = claimed(&history.origin().about)
        .into_iter()
        .map(line)
        .collect();
    if lines.is_empty() {
        lines
    } else {
        format!("\n{lines}")
    }
}

/// A promise, and whether it is kept, as data.
pub(super) fn entry(promise: &Promise, findings: &Findings) -> PromiseEntry {
    PromiseEntry {
        product: promise.product.to_owned(),
        setting: promise.setting.to_owned(),
        level: promise.level().unwrap_or_default().to_owned(),
        note: promise.note.to_owned(),
        kept: promise.is_kept(&findings.levels),
        holds: strongest_satisfied(&findings.levels),
    }
}
