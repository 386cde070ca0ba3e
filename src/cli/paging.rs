//! Which of the counted instances the commands list: some of each pattern, some of one, or one by its name.

use super::output::{Output, Paint};
use super::self_check::SelfCheck;
use crate::audit;
use crate::checkers::{
    self, Findings, Level, Page, Pattern, Violation, ViolationId, ViolationName,
};
use crate::control::{Control, Interrupt};
use crate::counterexample::{summary, title};
use crate::history::History;
use crate::report::grouped;

/// Maximum number of root causes of a pattern that are listed with their smallest instance; the ids of listed
/// violations are the same whatever number of them is requested.
const CAUSES: usize = 1000;

/// How many instances of a pattern the checkers have to list.
pub(super) fn causes(max_instances: usize) -> usize {
    if max_instances == 0 { 0 } else { CAUSES }
}

/// Cuts the list down to `max_instances` of each pattern, or extends it with further instances if that is more than the
/// checkers list. Work ended by `control` is reported.
pub(super) fn list(
    history: &History,
    findings: &mut Findings,
    max_instances: usize,
    self_check: SelfCheck,
    control: &Control,
) {
    if max_instances > CAUSES {
        let counts: Vec<(Pattern, u64)> = findings
            .patterns
            .iter()
            .map(|(&pattern, &count)| (pattern, count))
            .collect();
        let mut all = Vec::new();
        for (pattern, _) in counts {
            let listed = findings
                .violations
                .iter()
                .filter(|v| v.id.pattern == pattern)
                .count() as u64;
            let page = Page {
                pattern,
                offset: listed,
                limit: (max_instances as u64).saturating_sub(listed),
            };
            match instances(history, findings, page, self_check, control) {
                Ok(more) => all.extend(more),
                Err(interrupt) => {
                    findings.end_early(interrupt);
                    break;
                }
            }
        }
        checkers::add_instances(findings, all);
    }
    findings
        .violations
        .retain(|violation| violation.id.ordinal as usize <= max_instances);
}

/// The instances of a page; those that the verifier does not accept are left out, and that is reported.
pub(super) fn instances(
    history: &History,
    findings: &mut Findings,
    page: Page,
    self_check: SelfCheck,
    control: &Control,
) -> Result<Vec<Violation>, Interrupt> {
    match self_check {
        SelfCheck::Off => checkers::instances(history, findings, page, control),
        SelfCheck::OfVerdicts | SelfCheck::OfWitnesses => {
            audit::instances(history, findings, page, control)
        }
    }
}

/// The violation of this name: a listed one, or any other counted instance.
pub(super) fn named(
    name: &ViolationName,
    history: &History,
    findings: &mut Findings,
    control: &Control,
) -> Option<Violation> {
    if let Some(listed) = name.find(&findings.violations) {
        return Some(listed.clone());
    }
    let ViolationId { pattern, ordinal } = name.id()?;
    let page = Page {
        pattern,
        offset: u64::from(ordinal - 1),
        limit: 1,
    };
    instances(history, findings, page, SelfCheck::OfVerdicts, control)
        .ok()?
        .pop()
}

/// A window of the instances of a pattern, as text.
pub(super) fn text(history: &History, findings: &Findings, window: Page, out: &Output) -> String {
    let counted = findings.patterns.get(&window.pattern).copied().unwrap_or(0);
    let heading = match (findings.violations.first(), findings.violations.last()) {
        (Some(first), Some(last)) => {
            let [first, last] =
                [first, last].map(|violation| grouped(u64::from(violation.id.ordinal)));
            format!(
                "{} {first} to {last} of {}",
                window.pattern,
                grouped(counted)
            )
        }
        _ => format!(
            "{}: {} counted, none from {} on",
            window.pattern,
            grouped(counted),
            grouped(window.offset.saturating_add(1))
        ),
    };
    let mut text = format!("\n{}\n", out.paint(Paint::Strong, &heading));
    let width = findings
        .violations
        .iter()
        .map(|violation| violation.id.to_string().len())
        .max()
        .unwrap_or(0);
    for violation in &findings.violations {
        let level = violation.level().map_or("", Level::code);
        text += &format!(
            "  {:width$}  {level:3}  {}\n",
            violation.id.to_string(),
            title(history, violation)
        );
        text += &format!(
            "  {:width$}       {}\n",
            "",
            out.paint(Paint::Faint, &summary(history, violation))
        );
    }
    text
}
