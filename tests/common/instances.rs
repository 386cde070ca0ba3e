//! Whether every instance that is counted can be listed.

use isoscope::checkers::{self, Findings, Level, Options, Page, Pattern, Violation};
use isoscope::control::Control;
use isoscope::history::History;
use isoscope::report::{Report, Settings};
use isoscope::verify::verify;
use isoscope_testing::described;
use std::collections::HashSet;

/// Lists all counted instances of a history, with at most `max_instances` in the list of the check: as many as are counted,
/// each distinct, each accepted by the verifier, the listed ones first with their ids, and the same on pages of any size.
pub(crate) fn all_listed(history: &History, max_instances: usize) -> Result<(), String> {
    all_listed_at(history, Level::of(history), max_instances)
}

/// [`all_listed`] where these levels are asked for.
pub(crate) fn all_listed_at(
    history: &History,
    levels: Vec<Level>,
    max_instances: usize,
) -> Result<(), String> {
    let options = Options {
        levels,
        max_instances,
        ..Options::default()
    };
    let findings = checkers::check(history, &options, &Control::new(), &|_| {});
    let mut whole: Vec<Violation> = Vec::new();
    for (&pattern, &count) in findings.patterns.iter().filter(|(_, count)| **count > 0) {
        let listed: Vec<&Violation> = findings
            .violations
            .iter()
            .filter(|v| v.id.pattern == pattern)
            .collect();
        // Where elements repeat, the same may be told at cut isolation and above it.
        let count = count.max(listed.len() as u64);
        let all = page(history, &findings, pattern, 0, u64::MAX);
        let ordinals: Vec<u64> = all
            .iter()
            .map(|violation| u64::from(violation.id.ordinal))
            .collect();
        if !ordinals.iter().copied().eq(1..=count) {
            return Err(format!(
                "{count} of {pattern} are counted, but listed are {ordinals:?}"
            ));
        }
        if !all.iter().take(listed.len()).eq(listed.iter().copied()) {
            return Err(format!("{pattern}: the listed instances do not come first"));
        }
        let content = |violation: &Violation| {
            let Violation {
                levels,
                key,
                operations,
                edges,
                proof,
                implied,
                place,
                ..
            } = violation;
            // Those that follow from one other violation show that.
            let place = place.filter(|_| *implied);
            format!("{levels:?} {key:?} {operations:?} {edges:?} {proof:?} {place:?}")
        };
        let different: HashSet<String> = all.iter().map(content).collect();
        if different.len() != all.len() {
            return Err(format!(
                "{pattern}: {} of {count} are different",
                different.len()
            ));
        }
        let size = 1 + count / 3;
        let pages = (0..count).step_by(size as usize);
        let by_page = pages.flat_map(|offset| page(history, &findings, pattern, offset, size));
        let without_group = |violation: Violation| Violation {
            group: 0,
            ..violation
        };
        if !by_page
            .map(without_group)
            .eq(all.iter().cloned().map(without_group))
        {
            return Err(format!("{pattern}: pages of {size} are not the whole"));
        }
        whole.extend(all);
    }
    accepted(history, &findings, whole)
}

fn page(
    history: &History,
    findings: &Findings,
    pattern: Pattern,
    offset: u64,
    limit: u64,
) -> Vec<Violation> {
    let page = Page {
        pattern,
        offset,
        limit,
    };
    checkers::instances(history, findings, page, &Control::new()).expect("no limit was set")
}

/// Whether the verifier accepts them, pattern by pattern, since groups are numbered for each page.
fn accepted(history: &History, findings: &Findings, whole: Vec<Violation>) -> Result<(), String> {
    for violations in whole.chunk_by(|a, b| a.id.pattern == b.id.pattern) {
        let settings = Settings {
            witness: true,
            ..Settings::default()
        };
        let report = isoscope::report::of_findings(
            history,
            &Findings {
                violations: violations.to_vec(),
                ..findings.clone()
            },
            settings,
        );
        let pattern = violations[0].id.pattern;
        verify(history, &report).map_err(|problems| format!("{pattern}: {problems:#?}"))?;
        match described::problems(history, &report) {
            problems if problems.is_empty() => {}
            problems => return Err(format!("{pattern}: {problems:#?}")),
        }
    }
    Ok(())
}
