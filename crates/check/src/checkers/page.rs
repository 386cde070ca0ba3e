//! Any counted instance, listed or not, by its ordinal.
//!
//! The list of a check ([`Findings::violations`]) has one entry per root cause if one cause shows in many ways, and is
//! bounded. Counting continues after it: with instances found on their own that did not fit, then with all others in
//! the order of their [`Place`](super::Place)s, made on demand.

use super::place::Window;
use super::rest::{Rest, with_causal};
use super::{
    Findings, Instances, LevelSet, Pattern, Violation, ViolationId, read_consistency,
    strong_patterns, weak,
};
use crate::checkers::check::{hold_under_every_choice, named};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::History;
use isoscope_model::relations::{Index, Resolution, resolve};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Some instances of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The pattern.
    pub pattern: Pattern,
    /// How many instances come before, including listed ones.
    pub offset: u64,
    /// Most instances.
    pub limit: u64,
}

/// The counted instances of a page, by ordinal. Those listed in `findings` keep their ids; the others follow in an
/// order that depends only on the history and on what is listed, not on threads or on the page. Unlisted instances
/// belong to the groups of the listed ones with the same cause, or to new groups.
///
/// Ordinals end at 2³² - 1. Takes as long as counting the instances of the pattern, and memory for the page and one
/// block of instances.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub fn instances(
    history: &History,
    findings: &Findings,
    page: Page,
    control: &Control,
) -> Result<Vec<Violation>, Interrupt> {
    let of_pattern = |violation: &&Violation| violation.id.pattern == page.pattern;
    let listed: Vec<&Violation> = findings.violations.iter().filter(of_pattern).collect();
    let others = findings.rest.found.iter().filter(of_pattern);
    let mut found: Vec<Violation> = listed.iter().copied().chain(others).cloned().collect();
    for (violation, ordinal) in found.iter_mut().zip(1..).skip(listed.len()) {
        violation.id.ordinal = ordinal;
    }
    let counted = findings.patterns.get(&page.pattern).copied().unwrap_or(0);
    // What is reported at cut isolation and separately above it is listed twice and counted once.
    let counted = counted.max(listed.len() as u64).min(u32::MAX.into());
    let (n_known, end) = (
        found.len() as u64,
        page.offset.saturating_add(page.limit).min(counted),
    );
    if n_known.max(page.offset) < end {
        let wanted = n_known.max(page.offset) + 1..end + 1;
        let window = Window::new(
            found.iter().filter_map(|violation| violation.place),
            n_known,
            wanted,
        );
        found.extend(unlisted(history, findings, page.pattern, window, control)?);
    }
    let fresh = &mut found[listed.len()..];
    number_groups(fresh, &findings.violations);
    found.retain(|violation| (page.offset..end).contains(&(u64::from(violation.id.ordinal) - 1)));
    Ok(found)
}

/// Adds [`instances`] to those that are listed. A cause has one group, on whichever page its instances are. O(n log n)
/// for n instances in all.
pub fn add_instances(findings: &mut Findings, more: Vec<Violation>) {
    let listed: BTreeSet<ViolationId> = findings
        .violations
        .iter()
        .map(|violation| violation.id)
        .collect();
    let mut fresh: Vec<Violation> = more
        .into_iter()
        .filter(|violation| !listed.contains(&violation.id))
        .collect();
    number_groups(&mut fresh, &findings.violations);
    findings.violations.append(&mut fresh);
    findings.violations.sort_by_key(|violation| violation.id);
}

/// The instances in a window, made to hold under every choice of writers of ambiguous reads.
fn unlisted(
    history: &History,
    findings: &Findings,
    pattern: Pattern,
    mut window: Window,
    control: &Control,
) -> Result<Vec<Violation>, Interrupt> {
    let Rest {
        sought,
        satisfied,
        distinguished,
        is_plain,
        ..
    } = &findings.rest;
    let history = distinguished.as_deref().unwrap_or(history);
    let resolution = resolve(history, control)?;
    let index = index(history, &resolution, *sought, control)?;
    let mut found = Instances::default();
    if pattern.is_of_reads() {
        found.violations = read_consistency::unlisted(
            history,
            &resolution,
            &index,
            pattern,
            &mut window,
            control,
        )?;
    } else if pattern.is_weak() {
        found.violations = weak::unlisted(
            history,
            &index,
            with_causal(*sought),
            pattern,
            &mut window,
            control,
        )?;
    } else {
        found.violations =
            strong_patterns::unlisted(history, &index, pattern, &mut window, control)?;
    }
    hold_under_every_choice(history, &resolution, &mut found);
    for violation in &mut found.violations {
        violation.levels = violation
            .levels
            .iter()
            .filter(|level| !satisfied.contains(*level))
            .collect();
        if *is_plain {
            violation.levels = named(violation.levels);
        }
    }
    found
        .violations
        .retain(|violation| violation.levels.weakest().is_some());
    Ok(found.violations)
}

/// The index whose nodes the places of instances name where what violates these levels was listed.
pub(super) fn index(
    history: &History,
    resolution: &Resolution,
    sought: LevelSet,
    control: &Control,
) -> Result<Index, Interrupt> {
    let index = Index::build_with(history, resolution, &resolution.choice_of_none(), control)?;
    match sought.weakest() {
        Some(_) => index.canonical(history, control),
        None => Ok(index),
    }
}

/// Gives every instance the group of the listed one with the same cause, or a new one.
fn number_groups(fresh: &mut [Violation], listed: &[Violation]) {
    let cause = |violation: &Violation| {
        let pattern = violation.id.pattern;
        Some((pattern, violation.place?.cause(pattern)))
    };
    let mut group_of: FxHashMap<(Pattern, [u32; 2]), u32> = listed
        .iter()
        .filter_map(|violation| Some((cause(violation)?, violation.group)))
        .collect();
    let mut last = listed
        .iter()
        .map(|violation| violation.group)
        .max()
        .unwrap_or(0);
    for violation in fresh {
        let known = cause(violation).and_then(|cause| group_of.get(&cause).copied());
        violation.group = known.unwrap_or(last + 1);
        last = last.max(violation.group);
        if let Some(cause) = cause(violation) {
            group_of.insert(cause, violation.group);
        }
    }
}
