//! Evidence of the last resort: where a tree of cases would be too large, a log of cycles and clauses shows that no order
//! of the writers is left. It passes the independent verifier, and what is changed about it does not, unless it is true.

use crate::common;

use common::examine::{is_accepted, report_of};
use common::formulas::Formula;
use common::oracle;
use common::random::{Shape, sketch};
use common::sketch::{Sketch, Transaction, read, write};
use fastrand::Rng;
use isoscope::checkers::derivation::{self, Limits};
use isoscope::checkers::{Level, Options, Proof, Verdict};
use isoscope::control::Control;
use isoscope::counterexample;
use isoscope::history::History;
use isoscope::relations::{Edge, Reason};
use isoscope::report::{
    Document, EdgeEntry, ProofEntry, ReasonEntry, Report, Settings, ViolationEntry,
};
use isoscope::verify::verify;

const STRONG: [Level; 3] = [
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializability,
];

/// Nothing is concluded from the reads, and no tree of cases is looked for: the log does it all.
const LOG_OF_ALL: Limits = Limits {
    steps: 0,
    case_steps: 0,
    conflicts: usize::MAX,
    nodes: usize::MAX,
};
/// No tree of cases is looked for.
const LOG_OF_CASES: Limits = Limits {
    steps: u64::MAX,
    ..LOG_OF_ALL
};

fn prove(history: &History, level: Level, limits: Limits) -> Option<(Vec<Edge>, Proof)> {
    derivation::prove(
        history,
        &common::index(history),
        level,
        limits,
        &Control::new(),
    )
    .expect("no limit was set")
}

fn is_violated(history: &History, level: Level) -> bool {
    let place = oracle::LEVELS
        .iter()
        .position(|other| *other == level)
        .expect("a level without times");
    !oracle::verdicts(history)[place]
}

#[test]
fn formulas_have_a_model_exactly_where_their_histories_satisfy_the_strong_levels() {
    let mut rng = Rng::with_seed(1);
    let mut with_model = 0;
    for _ in 0..60 {
        let n = rng.usize(2..6);
        let formula = Formula::random(&mut rng, n, n * 6);
        let history = formula.sketch().history();
        let options = Options {
            levels: STRONG.to_vec(),
            max_instances: 0,
            ..Options::default()
        };
        let findings = isoscope::audit::check(&history, &options, &Control::new(), &|_| {});
        for level in STRONG {
            let verdict = &findings.level(level).expect("asked for").verdict;
            assert_eq!(
                matches!(verdict, Verdict::Satisfied(_)),
                formula.has_model(),
                "{formula:?} at {level}"
            );
        }
        with_model += usize::from(formula.has_model());
    }
    assert!((10..50).contains(&with_model), "{with_model}");
}

#[test]
fn logs_of_formulas_pass_the_verifier_at_every_violated_level() {
    let mut rng = Rng::with_seed(2);
    let mut formulas = vec![
        Formula::all_signs(2),
        Formula::all_signs(4),
        Formula::pigeons(2),
        Formula::pigeons(4),
    ];
    formulas.extend((0..5).map(|_| Formula::random(&mut rng, 12, 70)));
    formulas.retain(|formula| formula.n_variables > 12 || !formula.has_model());
    assert!(formulas.len() > 6);
    for formula in formulas {
        let history = formula.sketch().history();
        let (edges, proof) =
            prove(&history, Level::PrefixConsistency, LOG_OF_CASES).expect("violated");
        assert!(proof.is_log_of_orders());
        let report = report_of(&history, edges, proof, Level::PrefixConsistency);
        assert_eq!(is_accepted(&history, &report), Ok(true), "{formula:?}");
        let mut line = Vec::new();
        let document = Document::Report(Box::new(report));
        isoscope::report::to_line(&document, &mut line).expect("writing to memory");
        assert_eq!(
            String::from_utf8(line).expect("UTF-8").parse::<Document>(),
            Ok(document)
        );
    }
}

#[test]
fn a_history_whose_tree_of_cases_is_too_large_is_listed_with_a_log_and_told_in_words() {
    let history = Formula::pigeons(4).sketch().history();
    let options = Options {
        levels: STRONG.to_vec(),
        ..Options::default()
    };
    let findings = isoscope::audit::check(&history, &options, &Control::new(), &|_| {});
    let report = isoscope::report::of_findings(&history, &findings, Settings::default());
    let verified = verify(&history, &report).expect("true");
    assert_eq!(
        (verified.violated.len(), verified.without_evidence),
        (3, Vec::new())
    );
    let violation = findings.violations.first().expect("listed");
    let lemmas = violation.proof.cycles_of_orders().expect("a log of orders");
    let example = counterexample::Counterexample {
        violation: violation.clone(),
        ..counterexample::minimize(&history, violation, &stopped())
    };
    let explanation = counterexample::explain(&example);
    assert!(
        explanation
            .summary
            .contains(&format!("one of {} cycles", lemmas.len())),
        "{}",
        explanation.summary
    );
    let text = counterexample::narrate::plain_text(&example, &explanation, &history);
    assert!(text.contains("isoscope verify"), "{text}");
    let drawn = counterexample::edges_to_draw(violation);
    assert!(drawn.len() < 30 && lemmas[0].iter().all(|edge| drawn.contains(edge)));
    let supposed = drawn
        .iter()
        .filter(|&&edge| violation.edges[edge].because == Reason::Assumed)
        .count();
    assert!(supposed > 0);
    let cards = counterexample::transactions_to_draw(violation).len();
    assert!(
        cards < 20 && violation.transactions.len() > 100,
        "{cards} of {}",
        violation.transactions.len()
    );
}

fn stopped() -> Control {
    let control = Control::new();
    control.stop();
    control
}

#[test]
fn logs_of_random_histories_exist_and_pass_exactly_at_violated_levels() {
    let mut logs = 0;
    for (shape, seed) in (0..1200).flat_map(|seed| [(Shape::SMALL, seed), (Shape::CLEAN, seed)]) {
        let sketch = sketch(shape, seed);
        let history = sketch.history();
        for level in STRONG {
            let Some((edges, proof)) = prove(&history, level, LOG_OF_ALL) else {
                continue;
            };
            assert!(
                is_violated(&history, level),
                "seed {seed} at {level}\n{sketch}"
            );
            logs += usize::from(proof.is_log_of_orders());
            let report = report_of(&history, edges, proof, level);
            assert_eq!(
                is_accepted(&history, &report),
                Ok(true),
                "seed {seed} at {level}\n{sketch}"
            );
        }
    }
    assert!(logs > 100, "{logs}");
}

/// Writers that read nothing, so that only few readers say anything about their order.
fn blind_writes(rng: &mut Rng) -> Sketch {
    let (n_writers, n_keys) = (12, 4);
    let mut sessions: Vec<Vec<Transaction>> = Vec::new();
    let mut writers: Vec<Vec<u64>> = vec![Vec::new(); n_keys];
    for writer in 1..=n_writers {
        let keys = (0..n_keys).filter(|_| rng.u8(0..5) < 2).collect::<Vec<_>>();
        keys.iter().for_each(|&key| writers[key].push(writer));
        sessions.push(vec![Transaction::committed(
            keys.into_iter().map(|key| write(key, writer)).collect(),
        )]);
    }
    for _ in 0..12 {
        let keys: Vec<usize> = (0..n_keys)
            .filter(|&key| rng.bool() && !writers[key].is_empty())
            .collect();
        let reads = keys
            .into_iter()
            .map(|key| read(key, writers[key][rng.usize(0..writers[key].len())]));
        sessions.push(vec![Transaction::committed(reads.collect())]);
    }
    Sketch { sessions }
}

#[test]
fn dense_blind_writes_have_logs_exactly_at_violated_levels() {
    let mut rng = Rng::with_seed(4);
    let (mut logs, mut satisfied) = (0, 0);
    for _ in 0..400 {
        let sketch = blind_writes(&mut rng);
        let history = sketch.history();
        let options = Options {
            levels: STRONG.to_vec(),
            max_instances: 0,
            ..Options::default()
        };
        let findings = isoscope::audit::check(&history, &options, &Control::new(), &|_| {});
        for level in STRONG {
            let is_satisfied = matches!(
                findings.level(level).expect("asked for").verdict,
                Verdict::Satisfied(_)
            );
            let proved = prove(&history, level, LOG_OF_ALL);
            assert_eq!(proved.is_none(), is_satisfied, "{sketch} at {level}");
            satisfied += usize::from(is_satisfied);
            if let Some((edges, proof)) = proved {
                logs += usize::from(proof.is_log_of_orders());
                let report = report_of(&history, edges, proof, level);
                assert_eq!(
                    is_accepted(&history, &report),
                    Ok(true),
                    "{sketch} at {level}"
                );
            }
        }
    }
    assert!(
        logs > 500 && satisfied > 50,
        "{logs} logs, {satisfied} satisfied"
    );
}

/// Logs of small violated histories.
fn small_logs() -> Vec<(History, Report)> {
    let of_seed = |seed: u64| {
        let history = sketch(Shape::CLEAN, seed).history();
        let logs =
            STRONG
                .into_iter()
                .filter_map(|level| match prove(&history, level, LOG_OF_ALL)? {
                    (edges, proof) if proof.is_log_of_orders() => {
                        Some(report_of(&history, edges, proof, level))
                    }
                    _ => None,
                });
        logs.map(|report| (history.clone(), report))
            .collect::<Vec<_>>()
    };
    (0..1500).flat_map(of_seed).collect()
}

/// Whether every choice of the orders that cycles rest on is excluded by one; `None` if there are too many.
fn leave_nothing(edges: &[EdgeEntry], lemmas: &[Vec<usize>]) -> Option<bool> {
    let literals = |cycle: &Vec<usize>| {
        let (mut literals, mut open) = (Vec::new(), cycle.clone());
        while let Some(e) = open.pop() {
            let edge = &edges[e];
            open.extend(edge.reason.premises());
            if edge.reason == ReasonEntry::Assumed {
                literals.push((
                    edge.from.min(edge.to),
                    edge.from.max(edge.to),
                    edge.from < edge.to,
                ));
            }
        }
        literals
    };
    let lemmas: Vec<Vec<(usize, usize, bool)>> = lemmas.iter().map(literals).collect();
    let mut pairs: Vec<(usize, usize)> = lemmas.iter().flatten().map(|&(a, b, _)| (a, b)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let excludes = |bits: u32, lemma: &[(usize, usize, bool)]| {
        let holds = |&(a, b, order): &(usize, usize, bool)| {
            let place = pairs.binary_search(&(a, b)).expect("listed");
            (bits >> place & 1 == 1) == order
        };
        lemma.iter().all(holds)
    };
    let all =
        || (0..1u32 << pairs.len()).all(|bits| lemmas.iter().any(|lemma| excludes(bits, lemma)));
    (pairs.len() <= 12).then(all)
}

#[test]
fn a_log_without_one_of_its_cycles_is_refused_unless_the_others_suffice() {
    let mut refused = 0;
    for (history, report) in small_logs() {
        let ProofEntry::Clauses { lemmas, .. } = &report.violations[0].proof else {
            panic!("a log")
        };
        assert_ne!(
            leave_nothing(&report.violations[0].edges, lemmas),
            Some(false)
        );
        for missing in 0..lemmas.len() {
            let mut forged = report.clone();
            let ViolationEntry {
                proof: ProofEntry::Clauses { lemmas, .. },
                edges,
                ..
            } = &mut forged.violations[0]
            else {
                panic!("a log")
            };
            lemmas.remove(missing);
            if leave_nothing(edges, lemmas) == Some(false) {
                refused += 1;
                assert!(is_accepted(&history, &forged).is_err(), "{forged:#?}");
            }
        }
    }
    assert!(refused > 200, "{refused}");
}

#[test]
fn a_log_without_the_clauses_it_needs_is_refused() {
    let history = Formula::pigeons(4).sketch().history();
    let (edges, proof) = prove(&history, Level::PrefixConsistency, LOG_OF_CASES).expect("violated");
    let mut report = report_of(&history, edges, proof, Level::PrefixConsistency);
    let ProofEntry::Clauses { lemmas, clauses } = &mut report.violations[0].proof else {
        panic!("a log")
    };
    assert!(lemmas.len() > 50 && clauses.len() > 10);
    let needed = std::mem::take(clauses);
    let message = is_accepted(&history, &report).expect_err("too little");
    assert!(message.contains("a choice is left"), "{message}");
    let ProofEntry::Clauses { clauses, .. } = &mut report.violations[0].proof else {
        panic!("a log")
    };
    *clauses = needed[needed.len() - 1..].to_vec();
    let message = is_accepted(&history, &report).expect_err("too little");
    assert!(
        message.contains("clause 0: it does not follow"),
        "{message}"
    );
}

#[test]
fn a_log_says_nothing_about_weaker_levels() {
    let history = Formula::pigeons(3).sketch().history();
    let (edges, proof) = prove(&history, Level::PrefixConsistency, LOG_OF_CASES).expect("violated");
    let report = report_of(&history, edges, proof, Level::PrefixConsistency);
    for level in ["CI", "RC", "RA", "TCC"] {
        let mut forged = report.clone();
        forged.violations[0].levels = vec![Level::with_code(level).expect("a level")];
        assert!(is_accepted(&history, &forged).is_err(), "{level}");
    }
}

/// Changes one thing about a log.
fn mutate(violation: &mut ViolationEntry, rng: &mut Rng) {
    let (n_edges, n_transactions) = (violation.edges.len(), violation.transactions.len());
    let ProofEntry::Clauses { lemmas, clauses } = &mut violation.proof else {
        return;
    };
    match rng.u8(0..12) {
        0 if !lemmas.is_empty() => drop(lemmas.remove(rng.usize(0..lemmas.len()))),
        1 => lemmas.push(
            (0..rng.usize(0..4))
                .map(|_| rng.usize(0..n_edges + 1))
                .collect(),
        ),
        2 | 3 if !lemmas.is_empty() => {
            let lemma = rng.usize(0..lemmas.len());
            match rng.usize(0..lemmas[lemma].len() + 1) {
                0 => lemmas[lemma].clear(),
                place => lemmas[lemma][place - 1] = rng.usize(0..n_edges + 1),
            }
        }
        4 if !clauses.is_empty() => drop(clauses.remove(rng.usize(0..clauses.len()))),
        5 => clauses.insert(
            0,
            (0..rng.usize(0..3))
                .map(|_| rng.usize(0..n_edges + 1))
                .collect(),
        ),
        6 if !clauses.is_empty() => {
            let clause = rng.usize(0..clauses.len());
            clauses[clause].truncate(1);
        }
        7 => clauses.reverse(),
        8 => violation.edges[rng.usize(0..n_edges)].reason = ReasonEntry::Assumed,
        9 => {
            let edge = &mut violation.edges[rng.usize(0..n_edges)];
            std::mem::swap(&mut edge.from, &mut edge.to);
            std::mem::swap(&mut edge.from_operation, &mut edge.to_operation);
        }
        10 => violation.edges[rng.usize(0..n_edges)].to = rng.usize(0..n_transactions),
        _ => {
            let premise = rng.usize(0..n_edges);
            if let ReasonEntry::Overwrites { order, .. } =
                &mut violation.edges[rng.usize(0..n_edges)].reason
            {
                *order = vec![premise];
            }
        }
    }
}

#[test]
fn whatever_log_is_accepted_after_random_changes_is_true() {
    let mut rng = Rng::with_seed(3);
    let (mut tried, mut accepted) = (0, 0);
    for (history, report) in small_logs() {
        let violated: Vec<Level> = oracle::LEVELS
            .iter()
            .filter(|level| is_violated(&history, **level))
            .copied()
            .collect();
        for _ in 0..30 {
            let mut forged = report.clone();
            let violation = &mut forged.violations[0];
            violation.levels = vec![oracle::LEVELS[rng.usize(0..7)]];
            (0..rng.usize(0..4)).for_each(|_| mutate(violation, &mut rng));
            tried += 1;
            if is_accepted(&history, &forged).is_ok() {
                accepted += 1;
                assert!(
                    violated.contains(&forged.violations[0].levels[0]),
                    "{forged:#?}"
                );
            }
        }
    }
    assert!(
        tried > 3000 && accepted > 300 && accepted < tried / 2,
        "{accepted} of {tried}"
    );
}
