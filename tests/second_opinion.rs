//! The independent verifier against reports: it accepts what the checkers say, and nothing that is false.

mod common;

use common::oracle;
use common::random::{Shape, sketch};
use fastrand::Rng;
use isoscope::checkers::{self, Level, Options, Verdict};
use isoscope::control::Control;
use isoscope::counterexample;
use isoscope::history::History;
use isoscope::report::{AxiomWord, Document, EdgeEntry, ProofEntry, ReasonEntry, Report, Settings, VerdictWord};
use isoscope::report::{TransactionEntry, ViolationEntry};
use isoscope::verify::verify;

fn report_on(history: &History) -> Report {
    let options = Options { levels: Level::WITHOUT_TIMES.to_vec(), max_instances: 20 };
    let findings = checkers::check(history, &options, &Control::new(), &|_| {});
    Report::new(history, &findings, Settings { read_seconds: 0.0, witness: true })
}

fn violated(history: &History) -> Vec<String> {
    let satisfied = oracle::verdicts(history);
    let codes = oracle::LEVELS.iter().zip(satisfied).filter(|(_, satisfied)| !satisfied);
    codes.map(|(level, _)| level.code().to_owned()).collect()
}

#[test]
fn every_report_passes_and_every_violated_level_is_shown() {
    for (shape, seed) in (0..1500).map(|seed| (Shape::SMALL, seed)).chain((0..700).map(|seed| (Shape::AMBIGUOUS, seed)))
    {
        let sketch = sketch(shape, seed);
        let history = sketch.history();
        let report = report_on(&history);
        match verify(&history, &report) {
            Ok(verified) => assert_eq!(verified.without_evidence, Vec::<String>::new(), "seed {seed}\n{sketch}"),
            Err(problems) => panic!("seed {seed}\n{sketch}\n{problems:#?}"),
        }
    }
}

#[test]
fn reports_survive_json() {
    for seed in 0..100 {
        let report = report_on(&sketch(Shape::SMALL, seed).history());
        let document = Document::Report(Box::new(report));
        let mut line = Vec::new();
        isoscope::report::to_line(&document, &mut line).expect("writing to memory");
        let text = String::from_utf8(line).expect("UTF-8");
        assert_eq!(text.matches('\n').count(), 1);
        assert_eq!(text.parse::<Document>().as_ref(), Ok(&document));
    }
}

#[test]
fn a_violation_is_not_accepted_at_a_level_that_is_satisfied() {
    for seed in 0..1500 {
        let sketch = sketch(Shape::SMALL, seed);
        let history = sketch.history();
        let mut report = report_on(&history);
        report.levels.clear();
        let false_levels: Vec<String> = oracle::LEVELS
            .iter()
            .zip(oracle::verdicts(&history))
            .filter(|(_, s)| *s)
            .map(|(l, _)| l.code().to_owned())
            .collect();
        let violations = std::mem::take(&mut report.violations);
        for violation in violations {
            for level in &false_levels {
                let mut forged = violation.clone();
                forged.levels = vec![level.clone()];
                report.violations = vec![forged];
                assert!(verify(&history, &report).is_err(), "seed {seed}, {} at {level}\n{sketch}", violation.id);
            }
        }
    }
}

/// Changes one thing about a violation.
fn mutate(violation: &mut ViolationEntry, rng: &mut Rng) {
    let n_transactions = violation.transactions.len();
    let n_edges = violation.edges.len();
    if n_edges == 0 || rng.u8(0..6) == 0 {
        let place = rng.usize(0..n_transactions);
        violation.transactions[place].index = violation.transactions[place].index.map(|i| (i + rng.usize(0..2)) ^ 1);
        return;
    }
    let e = rng.usize(0..n_edges);
    let edge: &mut EdgeEntry = &mut violation.edges[e];
    match rng.u8(0..12) {
        0 => edge.from = rng.usize(0..n_transactions),
        1 => edge.to = rng.usize(0..n_transactions),
        2 => std::mem::swap(&mut edge.from, &mut edge.to),
        3 => edge.from_operation = Some(rng.usize(0..4)),
        4 => edge.to_operation = Some(rng.usize(0..4)),
        5 => edge.reason = ReasonEntry::SessionOrder,
        6 => edge.reason = ReasonEntry::Reads,
        7 => edge.reason = ReasonEntry::Assumed,
        8 => {
            let axioms = [AxiomWord::ReadCommitted, AxiomWord::ReadAtomic, AxiomWord::Causal, AxiomWord::CommitOrder];
            let other = axioms[rng.usize(0..4)];
            if let ReasonEntry::Visible { axiom, read, .. } = &mut edge.reason {
                *axiom = other;
                *read = if rng.bool() { rng.usize(0..4) } else { *read };
            }
        }
        9 => match &mut edge.reason {
            ReasonEntry::Path { through: path }
            | ReasonEntry::Visible { seen: path, .. }
            | ReasonEntry::Overwrites { order: path, .. }
            | ReasonEntry::Conflict { order: path } => match rng.u8(0..3) {
                0 => drop(path.pop()),
                1 => path.push(rng.usize(0..n_edges)),
                _ => path.iter_mut().for_each(|premise| *premise = rng.usize(0..n_edges)),
            },
            _ => edge.kind = ["SO", "WR", "WW", "RW", "CM", "CO"][rng.usize(0..6)].to_owned(),
        },
        10 => {
            violation.edges.remove(e);
        }
        _ => {
            if let ProofEntry::Cycle { edges } = &mut violation.proof {
                edges.truncate(rng.usize(0..=edges.len()));
            } else {
                violation.proof = ProofEntry::Cycle { edges: vec![e] };
            }
        }
    }
}

#[test]
fn whatever_is_accepted_after_random_changes_is_true() {
    let mut rng = Rng::with_seed(7);
    let (mut tried, mut accepted) = (0, 0);
    for seed in 0..1500 {
        let sketch = sketch(Shape::SMALL, seed);
        let history = sketch.history();
        let true_levels = violated(&history);
        let mut report = report_on(&history);
        report.levels.clear();
        for violation in std::mem::take(&mut report.violations) {
            for _ in 0..6 {
                let mut forged = violation.clone();
                forged.levels = vec![oracle::LEVELS[rng.usize(1..7)].code().to_owned()];
                (0..rng.usize(1..4)).for_each(|_| mutate(&mut forged, &mut rng));
                // ⊥ may have come to another place: only its own name is known there.
                forged.transactions.iter_mut().for_each(|t| rename(&history, t));
                report.violations = vec![forged.clone()];
                tried += 1;
                if verify(&history, &report).is_ok_and(|verified| verified.violations == 1) {
                    accepted += 1;
                    assert!(true_levels.contains(&forged.levels[0]), "seed {seed}\n{sketch}\n{forged:#?}");
                }
            }
        }
    }
    assert!(tried > 5000 && accepted < tried / 2, "{accepted} of {tried}");
}

/// Gives an entry the id that belongs to its place, so that only its place is wrong.
fn rename(history: &History, entry: &mut TransactionEntry) {
    let (Some(session), Some(index)) = (&entry.session, entry.index) else { return };
    let name = match session {
        isoscope::report::SessionName::Number(number) => number.to_string(),
        isoscope::report::SessionName::Name(name) => name.clone(),
    };
    let of_name = history.sessions().find(|&s| history.session_name(s) == name);
    if let Some(t) = of_name.and_then(|s| history.transactions_of(s).nth(index)) {
        entry.id = history.transaction_name(t);
    }
}

#[test]
fn no_order_is_accepted_for_a_violated_level() {
    let mut rng = Rng::with_seed(11);
    for seed in 0..1500 {
        let sketch = sketch(Shape::SMALL, seed);
        let history = sketch.history();
        let false_levels = violated(&history);
        let mut report = report_on(&history);
        report.violations.clear();
        // Any order and any snapshots whatever, beginning with those of the levels that are satisfied.
        let mut witnesses: Vec<Vec<TransactionEntry>> =
            report.levels.iter().filter_map(|l| l.witness.clone()).collect();
        let longest = witnesses.iter().max_by_key(|w| w.len()).cloned();
        for _ in 0..4 {
            let mut shuffled = longest.clone().unwrap_or_default();
            rng.shuffle(&mut shuffled);
            witnesses.push(shuffled);
        }
        for level in report.levels.iter_mut().filter(|level| !false_levels.contains(&level.level)) {
            level.verdict = VerdictWord::Undecided;
        }
        for witness in witnesses {
            for level in report.levels.iter_mut().filter(|level| false_levels.contains(&level.level)) {
                level.verdict = VerdictWord::Satisfied;
                level.snapshots = Some((0..witness.len() as u32).map(|place| rng.u32(0..=place)).collect());
                level.witness = Some(witness.clone());
            }
            let verified = verify(&history, &report);
            let accepted: Vec<String> = match &verified {
                Ok(verified) => verified.satisfied.clone(),
                // Each level has its own problem; those without one would have been accepted.
                Err(problems) => {
                    let refused = |level: &String| problems.iter().any(|p| p.place == format!("level {level}"));
                    false_levels.iter().filter(|level| !refused(level)).cloned().collect()
                }
            };
            assert_eq!(accepted, Vec::<String>::new(), "seed {seed}\n{sketch}\n{verified:?}");
        }
    }
}

#[test]
fn counterexamples_are_small_true_and_irreducible() {
    for seed in 0..400 {
        let sketch = sketch(Shape::SMALL, seed);
        let history = sketch.history();
        let options = Options { levels: Level::WITHOUT_TIMES.to_vec(), max_instances: 4 };
        let findings = checkers::check(&history, &options, &Control::new(), &|_| {});
        for violation in &findings.violations {
            let example = counterexample::minimize(&history, violation, &Control::new());
            let place = |level| oracle::LEVELS.iter().position(|l| *l == level).expect("a level without times");
            let verdicts = oracle::verdicts(&example.history);
            let shown = || format!("seed {seed}, {}\n{sketch}\n{example:#?}", violation.id);
            assert!(!verdicts[place(example.level)], "{}", shown());
            for (level, verdict) in &example.verdicts {
                assert_eq!(verdicts[place(*level)], matches!(verdict, Verdict::Satisfied(_)), "{level} {}", shown());
            }
            assert!(example.violation.levels.contains(example.level), "{}", shown());
            for (new, &old) in example.renaming.operations.iter().enumerate() {
                let new = isoscope::history::OperationId::new(new);
                assert_eq!(example.history.operation_text(new), history.operation_text(old));
            }
            if example.minimality == counterexample::Minimality::Irreducible {
                assert_irreducible(&history, &example, &shown);
            }
            let explanation = counterexample::explain(&example);
            assert_eq!(explanation.edge_reasons.len(), example.violation.edges.len(), "{}", shown());
            let last = explanation.steps.last().map(|step| step.role);
            assert_eq!(last, Some(counterexample::StepRole::Contradiction), "{}", shown());
        }
    }
}

/// Without any one transaction (and what was read from it) the rest satisfies the level.
fn assert_irreducible(whole: &History, example: &counterexample::Counterexample, shown: &dyn Fn() -> String) {
    use isoscope::history::{OperationKind, TransactionSet};
    let small = &example.history;
    for without in small.transactions() {
        let mut keep = TransactionSet::full(small);
        keep.remove(without);
        let written: Vec<_> = small
            .operations_of(without)
            .map(|o| small.operation(o))
            .filter(|o| o.kind == OperationKind::Write)
            .map(|o| (o.key, o.value))
            .collect();
        let (rest, _) = small.restrict(&keep, |o| {
            let operation = small.operation(o);
            operation.kind == OperationKind::Write || !written.contains(&(operation.key, operation.value))
        });
        let place = oracle::LEVELS.iter().position(|l| *l == example.level).expect("a level without times");
        let name = small.transaction_name(without);
        assert!(rest.n_transactions() == 0 || oracle::verdicts(&rest)[place], "without {name}: {}", shown());
    }
    assert!(small.n_transactions() <= whole.n_transactions());
}
