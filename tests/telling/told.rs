//! What is said of a counterexample besides its argument: verdicts, conditions, of what it is minimal, and its claim.

use crate::common;

use common::examine;
use isoscope::checkers::{Findings, Level, Pattern, Violation};
use isoscope::control::Control;
use isoscope::counterexample::{
    self, Claim, Counterexample, Explanation, Minimality, StepRole, narrate,
};
use isoscope::export::{ComposeOptions, ExportKind, compose, export};
use isoscope::history::History;

fn first_of(findings: &Findings, pattern: Pattern) -> &Violation {
    findings
        .violations
        .iter()
        .find(|violation| violation.id.pattern == pattern)
        .expect("it is there")
}

fn explained(
    history: &History,
    findings: &Findings,
    violation: &Violation,
) -> (Counterexample, Explanation) {
    let example = counterexample::minimize(history, violation, &Control::new());
    let explanation = counterexample::explain(&example).within(
        history,
        findings,
        violation,
        &counterexample::simpler_ones(history, &findings.violations),
    );
    (example, explanation)
}

#[test]
fn a_condition_is_named_in_every_export() {
    let history = common::history("s: [w x 0]\na: [r x 0, w x 1]\nb: [r x 0, w x 2]\n");
    let findings = examine::check(&history);
    let violation = first_of(&findings, Pattern::LostUpdate);
    let (example, explanation) = explained(&history, &findings, violation);
    let condition = "Assumed: s1 set up the initial state";
    let facts = explanation.details();
    assert!(
        facts.iter().any(|fact| fact.starts_with(condition)),
        "{facts:?}"
    );
    let picture = compose(&example, &explanation, &history, &ComposeOptions::default());
    let kinds = [
        ExportKind::Svg,
        ExportKind::Dot,
        ExportKind::Tikz,
        ExportKind::Mermaid,
        ExportKind::Json,
        ExportKind::Markdown,
        ExportKind::Text,
    ];
    for kind in kinds {
        let bytes = export(kind, &picture).expect("it can be made");
        assert!(
            String::from_utf8_lossy(&bytes).contains("s1 set up the initial state"),
            "{kind:?}"
        );
    }
}

#[test]
fn the_size_says_what_may_still_be_superfluous() {
    let history = common::history("a: [w x 1, w y 1] [w x 2, w y 2]\nb: [r x 1, r y 2]\n");
    let findings = examine::check(&history);
    let (example, _) = explained(
        &history,
        &findings,
        first_of(&findings, Pattern::FracturedReadCO),
    );
    let size = |minimality, operation_minimality| {
        counterexample::size(&Counterexample {
            minimality,
            operation_minimality,
            ..example.clone()
        })
    };
    let both = size(Minimality::Irreducible, Minimality::Irreducible);
    assert_eq!(
        both,
        "Minimal: without any one of these 3 transactions or 5 operations, read atomic holds (a removed write takes its \
         reads with it)."
    );
    let first = size(Minimality::Irreducible, Minimality::Reduced);
    assert!(first.starts_with("Minimal by transaction: "), "{first}");
    assert!(
        first.ends_with("; some operations may still be superfluous."),
        "{first}"
    );
    let none = size(Minimality::Reduced, Minimality::Reduced);
    let words = "Reduced to 3 of 3 transactions, some of which may still be superfluous.";
    assert_eq!(none, words);
}

#[test]
fn the_rule_of_the_level_comes_before_all_that_follows_from_it() {
    for (text, level) in [
        (
            "a: [r x 0, w y 1]\nb: [r y 0, w x 1]\n",
            Level::Serializability,
        ),
        (
            "a: [w x 1]\nb: [w y 1]\nc: [r x 1, r y 0]\nd: [r y 1, r x 0]\n",
            Level::PrefixConsistency,
        ),
        (
            "a: [r x 0, w x 1]\nb: [r x 0, w x 2]\n",
            Level::SnapshotIsolation,
        ),
    ] {
        let history = common::history(text);
        let findings = examine::check(&history);
        let violation = findings
            .violations
            .iter()
            .find(|v| v.levels.weakest() == Some(level))
            .expect(text);
        let (_, explanation) = explained(&history, &findings, violation);
        let roles: Vec<StepRole> = explanation.steps.iter().map(|step| step.role).collect();
        let first = roles
            .iter()
            .position(|role| *role != StepRole::Observed)
            .expect("something follows");
        assert_eq!(
            (roles[first], roles.last()),
            (StepRole::Rule, Some(&StepRole::Contradiction)),
            "{text}"
        );
        let rule = &explanation.steps[first].text;
        let clauses = match level {
            Level::Serializability => "the transactions ran as if one after the other",
            Level::PrefixConsistency => {
                "each transaction reads the newest versions committed before it started"
            }
            _ => {
                "committed before it started; of two transactions that overlap and write one key, one must abort"
            }
        };
        assert!(rule.ends_with(clauses), "{rule}");
        let end = narrate::sentence(explanation.steps.last().expect("it ends"));
        assert!(
            end.contains(match level {
                Level::Serializability => " before ",
                Level::PrefixConsistency => " < ",
                _ => "overlapped (4, 5), and both wrote key x: snapshot isolation must abort one",
            }),
            "{end}"
        );
    }
}

#[test]
fn two_updates_of_one_version_are_a_lost_update_before_they_are_minimised() {
    let history = common::history("a: [r x 0, w x 1]\nb: [r x 0, w x 2]\nc: [r x 1]\n");
    let findings = examine::check(&history);
    for pattern in [Pattern::Divergence, Pattern::LostUpdate] {
        let claim = counterexample::claim(&history, first_of(&findings, pattern));
        assert!(
            matches!(claim, Claim::LostWrite { .. }),
            "{pattern}: {claim:?}"
        );
    }
}

#[test]
fn a_single_missed_write_is_no_ring() {
    let history =
        common::history("initial: none\n0: [a 1 1, a 2 1]\n1: [a 1 2, r 2 []]\n2: [r 1 [1 2]]\n");
    let findings = examine::check(&history);
    let headline = counterexample::headline(&history, first_of(&findings, Pattern::SICycle));
    assert!(
        matches!(headline.claim, Claim::Overlap { is_open: false, .. }),
        "{:?}",
        headline.claim
    );
}
