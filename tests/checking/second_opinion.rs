//! The independent verifier against reports: it accepts what the checkers say, and nothing that is false.

use crate::common;

use common::random::{Shape, seeds, share, sketch};
use common::{described, examine, oracle};
use fastrand::Rng;
use isoscope::checkers::{Level, Options, Pattern, Verdict};
use isoscope::control::Control;
use isoscope::counterexample;
use isoscope::history::{History, OperationKind, TransactionId};
use isoscope::relations::Relation;
use isoscope::report::{
    AxiomWord, ClaimEntry, ClaimKind, Document, EdgeEntry, ProofEntry, ReasonEntry, Report,
    Settings, VerdictWord,
};
use isoscope::report::{SourceEntry, TransactionEntry, ViolationEntry};
use isoscope::verify::verify;
use rayon::prelude::*;
use std::sync::LazyLock;

fn report_on(history: &History) -> Report {
    let options = Options {
        levels: Level::WITHOUT_TIMES.to_vec(),
        max_instances: 20,
        ..Options::default()
    };
    let findings = isoscope::audit::check(history, &options, &Control::new(), &|_| {});
    isoscope::report::of_findings(
        history,
        &findings,
        Settings {
            read_seconds: 0.0,
            witness: true,
        },
    )
}

/// Whether the proof of the only violation of a report is accepted.
fn is_proved(history: &History, report: &Report) -> bool {
    verify(history, report).is_ok_and(|verified| verified.violations == 1)
}

fn violated(history: &History) -> Vec<Level> {
    let satisfied = oracle::verdicts(history);
    let codes = oracle::LEVELS
        .iter()
        .zip(satisfied)
        .filter(|(_, satisfied)| !satisfied);
    codes.map(|(level, _)| *level).collect()
}

#[test]
fn every_report_passes_and_every_violated_level_is_shown() {
    for (shape, seed) in seeds(1500)
        .map(|seed| (Shape::SMALL, seed))
        .chain(seeds(700).map(|seed| (Shape::AMBIGUOUS, seed)))
    {
        let sketch = sketch(shape, seed);
        let history = sketch.history();
        let report = report_on(&history);
        examine::believed(&history, &report)
            .unwrap_or_else(|problem| panic!("seed {seed}\n{sketch}\n{problem}"));
    }
}

#[test]
fn a_lost_write_names_each_transaction_that_took_the_version_once() {
    let history = common::history("bank: [w x 1]\na: [r x 1, w x 2]\nb: [r x 1, w x 3]");
    const FORGERIES: [fn(&mut Vec<usize>); 2] = [
        |readers| readers.truncate(1),
        |readers| readers[1] = readers[0],
    ];
    let mut forged = 0;
    for violation in report_on(&history).violations {
        for forge in FORGERIES {
            let mut report = report_on(&history);
            let Some(entry) = report
                .violations
                .iter_mut()
                .find(|entry| entry.id == violation.id)
            else {
                continue;
            };
            let Some(ClaimEntry {
                says: ClaimKind::LostWrite { readers, .. },
                ..
            }) = &mut entry.claim
            else {
                continue;
            };
            assert_eq!(readers.len(), 2);
            forge(readers);
            forged += 1;
            let problems = described::problems(&history, &report);
            assert!(!problems.is_empty(), "{}", violation.id);
        }
    }
    assert!(forged > 0);
}

#[test]
fn reports_survive_json() {
    let plain = (0..100).map(|seed| report_on(&sketch(Shape::SMALL, seed).history()));
    let told_apart = REFUTATIONS
        .iter()
        .map(|refutation| refutation.report.clone());
    for report in plain.chain(told_apart) {
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
    for seed in seeds(1500) {
        let sketch = sketch(Shape::SMALL, seed);
        let history = sketch.history();
        let mut report = report_on(&history);
        report.levels.clear();
        let false_levels: Vec<Level> = oracle::LEVELS
            .iter()
            .zip(oracle::verdicts(&history))
            .filter(|(_, s)| *s)
            .map(|(&l, _)| l)
            .collect();
        let violations = std::mem::take(&mut report.violations);
        for violation in violations {
            for &level in &false_levels {
                let mut forged = violation.clone();
                forged.levels = vec![level];
                report.violations = vec![forged];
                assert!(
                    !is_proved(&history, &report),
                    "seed {seed}, {} at {level}\n{sketch}",
                    violation.id
                );
            }
        }
    }
}

/// Changes one thing about a violation.
fn mutate(violation: &mut ViolationEntry, rng: &mut Rng) {
    let n_transactions = violation.transactions.len();
    let n_edges = violation.edges.len();
    if matches!(violation.proof, ProofEntry::Writers { .. }) && rng.u8(0..3) > 0 {
        return mutate_proof(&mut violation.proof, n_transactions, n_edges, rng);
    }
    if n_edges == 0 || rng.u8(0..6) == 0 {
        let place = rng.usize(0..n_transactions);
        violation.transactions[place].index = violation.transactions[place]
            .index
            .map(|i| (i + rng.usize(0..2)) ^ 1);
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
            let axioms = [
                AxiomWord::ReadCommitted,
                AxiomWord::ReadAtomic,
                AxiomWord::Causal,
                AxiomWord::CommitOrder,
            ];
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
                _ => path
                    .iter_mut()
                    .for_each(|premise| *premise = rng.usize(0..n_edges)),
            },
            _ => edge.kind = Relation::ALL[rng.usize(0..6)],
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

/// Changes one thing somewhere in a tree of cases.
fn mutate_proof(proof: &mut ProofEntry, n_transactions: usize, n_edges: usize, rng: &mut Rng) {
    match proof {
        ProofEntry::Writers { cases, .. } if !cases.is_empty() && rng.u8(0..3) > 0 => {
            let case = rng.usize(0..cases.len());
            mutate_proof(&mut cases[case].proof, n_transactions, n_edges, rng);
        }
        ProofEntry::Writers { read, cases } => match rng.u8(0..7) {
            0 => drop(cases.pop()),
            1 => cases.extend(cases.first().cloned()),
            2 if !cases.is_empty() => {
                let case = rng.usize(0..cases.len());
                cases[case].writer = rng.usize(0..n_transactions);
            }
            3 if cases.len() > 1 => {
                let first = cases[0].proof.clone();
                cases[0].proof = std::mem::replace(&mut cases[1].proof, first);
            }
            4 => read.index = rng.usize(0..3),
            5 => read.transaction = rng.usize(0..n_transactions),
            _ => {
                *proof = cases
                    .first()
                    .map_or(ProofEntry::Read, |case| case.proof.clone())
            }
        },
        ProofEntry::Reads { pattern, reads } => match rng.u8(0..4) {
            0 => {
                *pattern = [
                    Pattern::ThinAirRead,
                    Pattern::NotMyOwnWrite,
                    Pattern::IntermediateRead,
                    Pattern::NonRepeatableRead,
                ][rng.usize(0..4)];
            }
            1 => drop(reads.pop()),
            2 => reads.extend(reads.first().cloned()),
            _ => reads
                .iter_mut()
                .for_each(|read| read.index = rng.usize(0..3)),
        },
        ProofEntry::Cycle { edges } if rng.bool() => drop(edges.pop()),
        ProofEntry::Cycle { edges } => edges
            .iter_mut()
            .for_each(|edge| *edge = rng.usize(0..n_edges.max(1))),
        ProofEntry::Split { first, second, .. } => std::mem::swap(first, second),
        ProofEntry::Clauses { lemmas, clauses } => drop(if rng.bool() {
            lemmas.pop()
        } else {
            clauses.pop()
        }),
        ProofEntry::Combinations {
            options,
            excluded,
            clauses,
        } => match rng.u8(0..4) {
            0 => drop(options.pop()),
            1 => drop(excluded.pop()),
            2 => clauses.extend([vec![rng.i64(-4..5)]]),
            _ => excluded
                .iter_mut()
                .for_each(|combination| combination.options.rotate_left(1)),
        },
        ProofEntry::Appends { cases, place, .. } => *place += usize::from(cases.pop().is_none()),
        ProofEntry::Outcomes { transaction, .. } if rng.bool() => {
            *transaction = rng.usize(0..n_transactions)
        }
        ProofEntry::Outcomes { cases, .. } => drop(cases.pop()),
        ProofEntry::Read => {}
    }
}

/// A violation that a report on an ambiguous history shows writer by writer.
struct Refutation {
    history: History,
    report: Report,
    violation: ViolationEntry,
}

/// Violations of histories in which most values are written several times.
static REFUTATIONS: LazyLock<Vec<Refutation>> = LazyLock::new(|| {
    let of_seed = |seed: u64| {
        let history = sketch(Shape::AMBIGUOUS, seed).with_few_values().history();
        let report = report_on(&history);
        let of_writers = |v: &&ViolationEntry| matches!(v.proof, ProofEntry::Writers { .. });
        let violations: Vec<ViolationEntry> = report
            .violations
            .iter()
            .filter(of_writers)
            .cloned()
            .collect();
        let refutation = |violation| Refutation {
            history: history.clone(),
            report: report.clone(),
            violation,
        };
        violations.into_iter().map(refutation).collect::<Vec<_>>()
    };
    (0..8000).into_par_iter().flat_map_iter(of_seed).collect()
});

/// Every place in a tree of cases where the writers of a read are distinguished, handed to `change`, one at a time.
fn at_each_read(proof: &ProofEntry, change: &mut dyn FnMut(&mut ProofEntry)) -> Vec<ProofEntry> {
    let ProofEntry::Writers { read, cases } = proof else {
        return Vec::new();
    };
    let mut own = proof.clone();
    change(&mut own);
    let mut changed = vec![own];
    for (place, case) in cases.iter().enumerate() {
        for inner in at_each_read(&case.proof, change) {
            let mut cases = cases.clone();
            cases[place].proof = inner;
            changed.push(ProofEntry::Writers {
                read: read.clone(),
                cases,
            });
        }
    }
    changed
}

/// Nothing of what `change` makes of the cases of a read may be accepted, wherever it is tried.
fn assert_refused(what: &str, change: &mut dyn FnMut(&mut ProofEntry)) {
    let mut tried = 0;
    for Refutation {
        history,
        report,
        violation,
    } in REFUTATIONS.iter()
    {
        let mut report = report.clone();
        report.levels.clear();
        for proof in at_each_read(&violation.proof, change)
            .into_iter()
            .filter(|proof| *proof != violation.proof)
        {
            tried += 1;
            report.violations = vec![ViolationEntry {
                proof,
                ..violation.clone()
            }];
            let problems = verify(history, &report).expect_err(what);
            assert!(
                problems.iter().all(|p| p.place.starts_with("violation")),
                "{what}: {problems:?}"
            );
        }
    }
    assert!(tried > 50, "{what}: {tried} tried");
}

#[test]
fn a_tree_of_cases_without_one_of_the_writers_is_refused() {
    for from_end in [false, true] {
        assert_refused("a case is missing", &mut |proof| {
            if let ProofEntry::Writers { cases, .. } = proof {
                drop(if from_end {
                    cases.pop()
                } else {
                    Some(cases.remove(0))
                });
            }
        });
    }
}

#[test]
fn a_tree_of_cases_with_a_wrong_writer_is_refused() {
    assert_refused("two writers are swapped", &mut |proof| {
        if let ProofEntry::Writers { cases, .. } = proof
            && let [first, second, ..] = cases.as_mut_slice()
            // Reads that are wrong whichever of the two is meant are no argument here.
            && matches!((&first.proof, &second.proof), (ProofEntry::Cycle { .. }, ProofEntry::Cycle { .. }))
        {
            std::mem::swap(&mut first.writer, &mut second.writer);
        }
    });
    assert_refused("one writer stands twice", &mut |proof| {
        if let ProofEntry::Writers { cases, .. } = proof
            && let [first, second, ..] = cases.as_mut_slice()
        {
            second.writer = first.writer;
        }
    });
}

#[test]
fn a_contradiction_that_takes_a_writer_for_granted_is_refused() {
    for case in 0..2 {
        assert_refused("a read is not told apart", &mut |proof| {
            if let ProofEntry::Writers { cases, .. } = proof {
                *proof = cases[case].proof.clone();
            }
        });
    }
}

#[test]
fn whatever_is_accepted_after_random_changes_is_true() {
    let mut rng = Rng::with_seed(7);
    let (mut tried, mut accepted) = (0, 0);
    for (shape, seed) in
        seeds(1500).flat_map(|seed| [(Shape::SMALL, seed), (Shape::AMBIGUOUS, seed)])
    {
        let sketch = sketch(shape, seed);
        let history = sketch.history();
        let true_levels = violated(&history);
        let mut report = report_on(&history);
        report.levels.clear();
        for violation in std::mem::take(&mut report.violations) {
            for _ in 0..6 {
                let mut forged = violation.clone();
                forged.levels = vec![oracle::LEVELS[rng.usize(0..7)]];
                (0..rng.usize(1..4)).for_each(|_| mutate(&mut forged, &mut rng));
                // ⊥ may have come to another place: only its own name is known there.
                forged
                    .transactions
                    .iter_mut()
                    .for_each(|t| rename(&history, t));
                report.violations = vec![forged.clone()];
                tried += 1;
                if is_proved(&history, &report) {
                    accepted += 1;
                    assert!(
                        true_levels.contains(&forged.levels[0]),
                        "seed {seed}\n{sketch}\n{forged:#?}"
                    );
                }
            }
        }
    }
    assert!(
        tried > share(5000, 1500) && accepted < tried / 2,
        "{accepted} of {tried}"
    );
}

/// Gives an entry the id that belongs to its place, so that only its place is wrong.
fn rename(history: &History, entry: &mut TransactionEntry) {
    let (Some(session), Some(index)) = (&entry.session, entry.index) else {
        return;
    };
    let name = match session {
        isoscope::report::SessionName::Number(number) => number.to_string(),
        isoscope::report::SessionName::Name(name) => name.clone(),
    };
    let of_name = history
        .sessions()
        .find(|&s| history.session_name(s) == name);
    if let Some(t) = of_name.and_then(|s| history.transactions_of(s).nth(index)) {
        entry.id = history.exact_transaction_name(t);
        entry.name = None;
    }
}

/// Any writer for each read, among those of a witness that wrote its value.
fn sources(history: &History, witness: &[TransactionEntry], rng: &mut Rng) -> Vec<SourceEntry> {
    let find = |entry: &TransactionEntry| {
        history
            .transactions()
            .find(|&t| history.exact_transaction_name(t) == entry.id)
    };
    let members: Vec<(TransactionId, &TransactionEntry)> = witness
        .iter()
        .filter_map(|entry| Some((find(entry)?, entry)))
        .collect();
    let mut sources = Vec::new();
    for &(reader, entry) in &members {
        for (at, read) in history.operations_of(reader).enumerate() {
            let read = history.operation(read);
            let wrote = |t: TransactionId| {
                let mut written = history.operations_of(t).map(|o| history.operation(o));
                written.any(|o| {
                    o.kind == OperationKind::Write && (o.key, o.value) == (read.key, read.value)
                })
            };
            let writers: Vec<&TransactionEntry> = members
                .iter()
                .filter(|(t, _)| *t != reader && wrote(*t))
                .map(|(_, entry)| *entry)
                .collect();
            if read.kind == OperationKind::Read && !writers.is_empty() {
                let writer = writers[rng.usize(0..writers.len())].clone();
                sources.push(SourceEntry {
                    reader: entry.clone(),
                    operation: at,
                    writer,
                });
            }
        }
    }
    sources
}

#[test]
fn no_order_is_accepted_for_a_violated_level() {
    let mut rng = Rng::with_seed(11);
    for (shape, seed) in
        seeds(1500).flat_map(|seed| [(Shape::SMALL, seed), (Shape::AMBIGUOUS, seed)])
    {
        let sketch = sketch(shape, seed);
        let history = sketch.history();
        let false_levels = violated(&history);
        let mut report = report_on(&history);
        report.violations.clear();
        // Any order and any snapshots whatever, beginning with those of the levels that are satisfied.
        let mut witnesses: Vec<Vec<TransactionEntry>> = report
            .levels
            .iter()
            .filter_map(|l| l.witness.clone())
            .collect();
        let longest = witnesses.iter().max_by_key(|w| w.len()).cloned();
        for _ in 0..4 {
            let mut shuffled = longest.clone().unwrap_or_default();
            rng.shuffle(&mut shuffled);
            witnesses.push(shuffled);
        }
        for level in report
            .levels
            .iter_mut()
            .filter(|level| !false_levels.contains(&level.level))
        {
            level.verdict = VerdictWord::Undecided;
        }
        for witness in witnesses {
            for level in report
                .levels
                .iter_mut()
                .filter(|level| false_levels.contains(&level.level))
            {
                level.verdict = VerdictWord::Satisfied;
                level.snapshots = Some(
                    (0..witness.len() as u32)
                        .map(|place| rng.u32(0..=place))
                        .collect(),
                );
                level.witness = Some(witness.clone());
                level.sources = Some(sources(&history, &witness, &mut rng));
            }
            let verified = verify(&history, &report);
            let accepted: Vec<Level> = match &verified {
                Ok(verified) => verified.satisfied.clone(),
                // Each level has its own problem; those without one would have been accepted.
                Err(problems) => {
                    let refused = |level: &Level| {
                        problems.iter().any(|p| p.place == format!("level {level}"))
                    };
                    false_levels
                        .iter()
                        .filter(|level| !refused(level))
                        .copied()
                        .collect()
                }
            };
            assert_eq!(
                accepted,
                Vec::<Level>::new(),
                "seed {seed}\n{sketch}\n{verified:?}"
            );
        }
    }
}

/// Whether brute force finds a history without times to satisfy a level, by level; none where no oracle can tell.
fn expected_at_each_level(history: &History) -> impl Fn(Level) -> Option<bool> {
    let set_up = isoscope::relations::set_up_transactions(history);
    let plain = oracle::verdicts(&history.with_a_session_each(&set_up));
    let sessions = oracle::verdicts(history);
    let codes: Vec<String> = crate::lattice::asked()
        .iter()
        .map(|l| l.code().to_owned())
        .collect();
    let fits = set_up.is_empty() && history.transactions().len() <= 6;
    let others = fits.then(|| common::lattice::verdicts(history, &codes));
    move |level| {
        let place = |level| oracle::LEVELS.iter().position(|l| *l == level);
        if let Some(place) = place(level) {
            Some(sessions[place])
        } else if let Some(place) = level.plain_of().and_then(place) {
            Some(plain[place])
        } else if level.counts_real_time() {
            Some(false)
        } else {
            others.as_ref()?.get(level.code()).copied().flatten()
        }
    }
}

#[test]
fn counterexamples_are_small_true_and_irreducible() {
    for (shape, seed) in
        seeds(400).flat_map(|seed| [(Shape::SMALL, seed), (Shape::AMBIGUOUS, seed)])
    {
        let sketch = sketch(shape, seed);
        let history = sketch.history();
        let options = Options {
            levels: Level::WITHOUT_TIMES.to_vec(),
            max_instances: 4,
            ..Options::default()
        };
        let findings = isoscope::audit::check(&history, &options, &Control::new(), &|_| {});
        for violation in &findings.violations {
            let example = isoscope::audit::minimize(&history, violation, &Control::new());
            let shown = || format!("seed {seed}, {}\n{sketch}\n{example:#?}", violation.id);
            let expected = expected_at_each_level(&example.history);
            assert_ne!(expected(example.level), Some(true), "{}", shown());
            for (level, verdict) in &example.verdicts {
                if let Some(expected) = expected(*level) {
                    let found = matches!(verdict, Verdict::Satisfied(_));
                    assert_eq!(found, expected, "{level} {}", shown());
                }
            }
            assert!(
                example.violation.levels.contains(example.level),
                "{}",
                shown()
            );
            let accepted = examine::alone(&example.history, Vec::new(), &example.violation);
            assert_eq!(accepted, Ok(()), "{}", shown());
            for (new, &old) in example.renaming.operations.iter().enumerate() {
                let new = isoscope::history::OperationId::new(new);
                assert_eq!(
                    example.history.operation_text(new),
                    history.operation_text(old)
                );
            }
            if example.minimality.passes_without_any() {
                assert_irreducible(&history, &example, &shown);
            }
            let explanation = counterexample::explain(&example);
            assert_eq!(
                explanation.reasons.len(),
                example.violation.edges.len(),
                "{}",
                shown()
            );
            let last = explanation.steps.last().map(|step| step.role);
            assert_eq!(
                last,
                Some(counterexample::StepRole::Contradiction),
                "{}",
                shown()
            );
        }
    }
}

/// Without any one transaction (and what was read from it) the rest satisfies the level.
fn assert_irreducible(
    whole: &History,
    example: &counterexample::Counterexample,
    shown: &dyn Fn() -> String,
) {
    use isoscope::history::TransactionSet;
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
            operation.kind == OperationKind::Write
                || !written.contains(&(operation.key, operation.value))
        });
        let place = oracle::LEVELS
            .iter()
            .position(|l| *l == example.level)
            .expect("a level without times");
        let name = small.transaction_name(without);
        assert!(
            rest.n_transactions() == 0 || oracle::verdicts(&rest)[place],
            "without {name}: {}",
            shown()
        );
    }
    assert!(small.n_transactions() <= whole.n_transactions());
}
