use super::*;

use isoscope_check::checkers::{Event, Proof, Witness};
use isoscope_model::history::TransactionId;
use isoscope_model::relations::Reason;
use isoscope_testing::history;

/// Two sessions; the second reads what the first wrote.
const PLAIN: &str = "a: [w x 1] [w x 2]\nb: [r x 1] [r x 2]";

/// A lost update: serializability and snapshot isolation are violated, what is weaker is satisfied.
const LOST_UPDATE: &str = "a: [w x 1]\nb: [r x 1, w x 2]\nc: [r x 1, w x 3]";

fn found(history: &History, options: &Options) -> (Arc<Resolution>, Findings) {
    let resolution =
        Arc::new(relations::resolve(history, &Control::new()).expect("not interrupted"));
    let findings = checkers::check_resolved(
        history,
        Arc::clone(&resolution),
        options,
        &Control::new(),
        &|_| {},
    );
    (resolution, findings)
}

fn causes(findings: &Findings) -> Vec<String> {
    let cause = |result: &LevelResult| match &result.verdict {
        Verdict::Undecided(cause) => Some(format!("{} {cause}", result.level)),
        _ => None,
    };
    findings.levels.iter().filter_map(cause).collect()
}

#[test]
fn what_the_checkers_say_is_accepted() {
    for text in [PLAIN, LOST_UPDATE] {
        let history = history(text);
        let (resolution, before) = found(&history, &Options::default());
        let mut after = before.clone();
        review(&history, &resolution, &mut after, &Control::new());
        assert_eq!(after.levels, before.levels);
        assert_eq!(after.violations, before.violations);
        assert_eq!(causes(&after), [""; 0]);
        let reported: Mutex<Vec<(Level, &str)>> = Mutex::default();
        let observe = |result: &LevelResult| {
            reported
                .lock()
                .expect("no holder panics")
                .push((result.level, result.verdict.word()))
        };
        let audited = check(&history, &Options::default(), &Control::new(), &observe);
        let mut reported = reported.into_inner().expect("no holder panics");
        reported.sort_unstable();
        let words: Vec<(Level, &str)> = audited
            .levels
            .iter()
            .map(|result| (result.level, result.verdict.word()))
            .collect();
        assert_eq!(reported, words, "each level is reported once");
        assert_eq!(audited.levels.len(), before.levels.len());
    }
}

#[test]
fn a_broken_witness_leaves_its_level_undecided() {
    let history = history(PLAIN);
    let (resolution, mut findings) = found(&history, &Options::default());
    for result in &mut findings.levels {
        match &mut result.verdict {
            Verdict::Satisfied(Witness::CommitOrder(order))
                if result.level == Level::Serializability =>
            {
                Arc::make_mut(order).reverse()
            }
            Verdict::Satisfied(Witness::CommitOrder(order))
                if result.level == Level::ReadAtomic =>
            {
                Arc::make_mut(order).pop();
            }
            Verdict::Satisfied(Witness::Events(events))
                if result.level == Level::SnapshotIsolation =>
            {
                Arc::make_mut(events).swap(0, 1);
            }
            _ => {}
        }
    }
    review(&history, &resolution, &mut findings, &Control::new());
    let causes = causes(&findings);
    let starts: Vec<&str> = causes
        .iter()
        .filter_map(|cause| cause.split(" the order").next())
        .collect();
    let said = |level: &str| format!("{level} internal disagreement, please report:");
    assert_eq!(starts, [said("RA"), said("SI"), said("SER")], "{causes:?}");
    let others = findings
        .levels
        .iter()
        .filter(|result| matches!(result.verdict, Verdict::Satisfied(_)));
    assert_eq!(others.count(), findings.levels.len() - 3);
}

#[test]
fn a_broken_violation_is_no_evidence() {
    let history = history(LOST_UPDATE);
    let (resolution, before) = found(&history, &Options::default());
    assert!(!before.violations.is_empty());
    let mut findings = before.clone();
    for violation in &mut findings.violations {
        let n = violation.edges.len();
        violation.proof = Proof::Cycle((0..n).rev().chain([0]).collect());
    }
    review(&history, &resolution, &mut findings, &Control::new());
    let causes = causes(&findings);
    let said = |(cause, level): (&String, &str)| {
        cause.starts_with(&format!(
            "{level} internal disagreement, please report: Divergence/1 does not hold"
        ))
    };
    assert_eq!(causes.len(), 2, "{causes:?}");
    assert!(causes.iter().zip(["SI", "SER"]).all(said), "{causes:?}");
    assert_eq!(findings.violations, [], "what is not accepted is not shown");
    assert!(
        findings
            .assumptions
            .iter()
            .any(|text| text.contains("the verifier does not accept"))
    );
    // Without any there is no disagreement, but no verdict either.
    let mut findings = before;
    findings.violations.clear();
    review(&history, &resolution, &mut findings, &Control::new());
    assert!(
        findings
            .levels
            .iter()
            .all(|result| !matches!(result.verdict, Verdict::Undecided(_))),
        "found once more"
    );
}

#[test]
fn one_good_violation_carries_a_level() {
    let twice = format!("{LOST_UPDATE}\nd: [w y 1]\ne: [r y 1, w y 2]\nf: [r y 1, w y 3]");
    let history = history(&twice);
    let (resolution, mut findings) = found(&history, &Options::default());
    let n = findings.violations.len();
    assert!(n > 1);
    findings.violations[0].proof = Proof::Cycle(vec![0]);
    review(&history, &resolution, &mut findings, &Control::new());
    assert_eq!(findings.violations.len(), n - 1);
    assert_eq!(
        findings
            .level(Level::Serializability)
            .map(|result| result.verdict.word()),
        Some("violated")
    );
}

#[test]
fn levels_that_exclude_each_other_are_both_undecided() {
    let history = history(LOST_UPDATE);
    let (resolution, mut findings) = found(&history, &Options::default());
    let serial: Vec<TransactionId> = history.transactions().collect();
    for result in findings
        .levels
        .iter_mut()
        .filter(|result| result.level == Level::SnapshotIsolation)
    {
        let one = |&t: &TransactionId| [Event::Start(t), Event::Commit(t)];
        result.verdict = Verdict::Satisfied(Witness::Events(Arc::new(
            serial.iter().flat_map(one).collect(),
        )));
    }
    review(&history, &resolution, &mut findings, &Control::new());
    assert!(
        causes(&findings)
            .iter()
            .any(|cause| cause.starts_with("SI internal disagreement")),
        "{findings:?}"
    );
}

#[test]
fn without_listing_the_verdicts_are_verified_all_the_same() {
    let history = history(LOST_UPDATE);
    let options = Options {
        max_instances: 0,
        ..Options::default()
    };
    let findings = check(&history, &options, &Control::new(), &|_| {});
    assert_eq!(
        findings
            .level(Level::Serializability)
            .map(|result| result.verdict.word()),
        Some("violated")
    );
    assert_eq!(findings.violations, []);
}

#[test]
fn what_was_accepted_before_the_end_stays() {
    let history = history(PLAIN);
    let (resolution, mut findings) = found(&history, &Options::default());
    let control = Control::new();
    let audit = Audit::new(&history, &resolution, &control);
    let early = findings
        .level(Level::ReadAtomic)
        .cloned()
        .expect("asked for");
    assert_eq!(audit.accepts(&early), Ok(()));
    control.stop();
    for result in &mut findings.levels {
        if let Verdict::Satisfied(Witness::CommitOrder(order)) = &mut result.verdict {
            Arc::make_mut(order).reverse();
        }
    }
    audit.review(&mut findings, Witnesses::All);
    let decided: Vec<&LevelResult> = findings
        .levels
        .iter()
        .filter(|result| !matches!(result.verdict, Verdict::Undecided(_)))
        .collect();
    assert_eq!(decided, [&early]);
    assert!(
        causes(&findings)
            .iter()
            .all(|cause| cause.ends_with("cancelled"))
    );
}

#[test]
fn a_counterexample_with_a_wrong_edge_is_not_accepted() {
    let history = history(LOST_UPDATE);
    let (_, findings) = found(&history, &Options::default());
    let example = minimize(&history, &findings.violations[0], &Control::new());
    assert!(holds(&example) && example.history.n_operations() > 0);
    let mut other_way = example.clone();
    let edge = other_way
        .violation
        .edges
        .iter_mut()
        .find(|edge| edge.because == Reason::Reads)
        .expect("a read");
    std::mem::swap(&mut edge.from, &mut edge.to);
    assert!(!holds(&other_way));
    let whole = crate::counterexample::whole(
        &history,
        &findings.violations[0],
        example.level,
        &Control::new(),
    );
    assert!(holds(&whole) && whole.history.n_operations() == history.n_operations());
}
