//! Generated histories: store models keep their promises and no more, faults are found under their own names, seeds decide
//! everything.

use crate::common;

use common::examine::{check, evidence};
use isoscope::checkers::{Findings, Level, Verdict};
use isoscope::control::Control;
use isoscope::formats;
use isoscope::generate::{
    Distribution, FAULTS, Fault, GenerateError, Generation, Injection, Kind, Length, Model,
    Observed, Step, Workload,
};
use isoscope::history::{History, OperationKind, Outcome, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Sessions that meet each other often.
fn busy(kind: Kind, seed: u64) -> Workload {
    let operations = Length { least: 2, most: 6 };
    Workload {
        kind,
        seed,
        sessions: 5,
        transactions: 16,
        operations,
        keys: 12,
        ..Workload::default()
    }
}

fn history(generation: &Generation) -> History {
    generation
        .history(&Control::new())
        .expect("the history can be generated")
}

fn is(findings: &Findings, level: Level, wanted: fn(&Verdict) -> bool) -> bool {
    wanted(
        &findings
            .level(level)
            .expect("the level was checked")
            .verdict,
    )
}

fn satisfied(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Satisfied(_))
}

fn violated(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Violated)
}

fn text(history: &History) -> String {
    let mut bytes = Vec::new();
    formats::write(history, "text", &mut bytes).expect("the notation can say everything");
    String::from_utf8(bytes).expect("the writer writes UTF-8")
}

/// The level of a model, and the next stronger one.
fn levels(model: Model) -> (Level, Option<Level>) {
    match model {
        Model::Strict => (Level::StrictSerializability, None),
        Model::Serial => (Level::Serializability, Some(Level::StrictSerializability)),
        Model::Snapshot => (Level::SnapshotIsolation, Some(Level::Serializability)),
        Model::Prefix => (Level::PrefixConsistency, Some(Level::SnapshotIsolation)),
        Model::Causal => (
            Level::TransactionalCausalConsistency,
            Some(Level::PrefixConsistency),
        ),
        Model::Atomic => (
            Level::ReadAtomic,
            Some(Level::TransactionalCausalConsistency),
        ),
        Model::Committed => (Level::ReadCommitted, Some(Level::ReadAtomic)),
    }
}

#[test]
fn every_store_keeps_its_promise_and_breaks_the_next_one() {
    for model in Model::ALL {
        let (promise, next) = levels(model);
        assert_eq!(model.promises(), promise.code());
        let mut broken = 0;
        for seed in 1..=8 {
            let kind = if seed % 2 == 0 {
                Kind::General
            } else {
                Kind::Mini
            };
            let workload = Workload {
                keys: 6,
                ..busy(kind, seed)
            };
            let generation = Generation {
                times: true,
                lag: 8,
                aborted: 0.1,
                ..Generation::new(workload, model)
            };
            let history = history(&generation);
            let findings = check(&history);
            assert!(
                is(&findings, promise, satisfied),
                "{model} seed {seed} breaks {promise}\n{}",
                text(&history)
            );
            broken += usize::from(next.is_some_and(|next| is(&findings, next, violated)));
            evidence(&history, &findings)
                .unwrap_or_else(|error| panic!("{model} seed {seed}: {error}"));
        }
        assert!(
            next.is_none() || broken > 0,
            "{model} never breaks {next:?}"
        );
    }
}

#[test]
fn unknown_outcomes_and_lists_keep_the_promises() {
    for model in Model::ALL {
        let unknown = Generation {
            unknown: 0.2,
            ..Generation::new(busy(Kind::General, 3), model)
        };
        let history_of_unknown = history(&unknown);
        assert!(
            history_of_unknown
                .transactions()
                .any(|t| history_of_unknown.outcome(t) == Outcome::Unknown)
        );
        assert!(
            is(&check(&history_of_unknown), levels(model).0, satisfied),
            "{model}\n{}",
            text(&history_of_unknown)
        );
        let lists = Generation::new(busy(Kind::ListAppend, 4), model);
        match lists.history(&Control::new()) {
            Ok(history) => assert!(
                is(&check(&history), levels(model).0, satisfied),
                "{model}\n{}",
                text(&history)
            ),
            Err(error) => assert_eq!(
                (model, error),
                (Model::Causal, GenerateError::NoLists(Model::Causal))
            ),
        }
    }
}

#[test]
fn lightweight_transactions_on_a_strict_store_are_linearizable() {
    let workload = Workload {
        sessions: 4,
        transactions: 50,
        keys: 3,
        ..busy(Kind::Lightweight, 5)
    };
    let history = history(&Generation::new(workload, Model::Strict));
    let findings = check(&history);
    assert!(
        is(&findings, Level::Linearizability, satisfied),
        "{}",
        text(&history)
    );
    let swaps = history
        .transactions()
        .filter(|&t| history.operations_of(t).len() == 2)
        .count();
    assert!(swaps > 10, "some compare-and-sets succeed: {swaps}");
}

#[test]
fn each_fault_is_found_under_its_own_name_and_nothing_else_is() {
    for fault in FAULTS {
        for times in [1, 3] {
            let workload = Workload {
                sessions: 7,
                ..busy(Kind::General, 11)
            };
            let faults = vec![Injection { fault, times }];
            let history = history(&Generation {
                faults,
                ..Generation::new(workload, Model::Strict)
            });
            let findings = check(&history);
            let found: BTreeMap<&str, u64> = findings
                .patterns
                .iter()
                .filter(|(_, n)| **n > 0)
                .map(|(pattern, n)| (pattern.id(), *n))
                .collect();
            let expected: BTreeMap<&str, u64> = fault
                .patterns
                .iter()
                .map(|(pattern, n)| (*pattern, n * u64::from(times)))
                .collect();
            assert_eq!(
                found,
                expected,
                "{} {times} times\n{}",
                fault.name,
                text(&history)
            );
            // All of them are about transactions of the faults.
            for &t in findings
                .violations
                .iter()
                .flat_map(|v| &v.transactions)
                .filter(|t| !t.is_initial())
            {
                let first = history.operation_range(t).start;
                let key: u64 = history
                    .key_name(history.keys()[first])
                    .parse()
                    .expect("keys are numbers");
                assert!(key >= workload.keys, "{} touches {key}", fault.name);
            }
            evidence(&history, &findings).unwrap_or_else(|error| panic!("{}: {error}", fault.name));
        }
    }
}

#[test]
fn a_fault_breaks_no_level_that_its_pattern_does_not() {
    for model in [Model::Snapshot, Model::Causal, Model::Atomic] {
        for fault in FAULTS.iter().filter(|fault| !fault.in_real_time) {
            let faults = vec![Injection { fault, times: 2 }];
            let strict = check(&history(&Generation {
                faults: faults.clone(),
                ..Generation::new(busy(Kind::General, 1), Model::Strict)
            }));
            let there = check(&history(&Generation {
                faults,
                ..Generation::new(busy(Kind::General, 1), model)
            }));
            for level in Level::WITHOUT_TIMES
                .into_iter()
                .filter(|level| levels(model).0.implies(*level))
            {
                let broken = (is(&strict, level, violated), is(&there, level, violated));
                assert_eq!(broken.0, broken.1, "{} at {level} on {model}", fault.name);
            }
        }
    }
}

#[test]
fn faults_go_by_their_names_and_those_of_their_patterns() {
    for fault in FAULTS {
        assert!(
            fault
                .aliases
                .iter()
                .all(|alias| Fault::parse(alias).map(|f| f.name) == Some(fault.name))
        );
        assert_eq!(
            Fault::parse(&fault.name.to_uppercase()).map(|f| f.name),
            Some(fault.name)
        );
    }
    let letters: BTreeSet<&str> = FAULTS
        .iter()
        .flat_map(|f| f.aliases)
        .copied()
        .filter(|a| a.starts_with("TAP-"))
        .collect();
    assert_eq!(letters.len(), 14);
    assert_eq!(
        "lost-update=3"
            .parse::<Injection>()
            .map(|i| (i.fault.name, i.times)),
        Ok(("lost-update", 3))
    );
    assert!(
        "lost-update=x"
            .parse::<Injection>()
            .is_err_and(|error| error.contains("how often"))
    );
    assert!(
        "lost-dog"
            .parse::<Injection>()
            .is_err_and(|error| error.contains("write-skew"))
    );
    let alone = Workload {
        sessions: 1,
        ..busy(Kind::General, 1)
    };
    let faults = vec!["long-fork".parse().expect("a fault")];
    let error = Generation {
        faults,
        ..Generation::new(alone, Model::Serial)
    }
    .history(&Control::new());
    let message = error.map(|_| ()).map_err(|error| error.to_string());
    assert_eq!(
        message,
        Err("the fault long-fork needs 4 sessions, the workload has 1".to_owned())
    );
}

#[test]
fn values_are_unique_and_no_read_is_of_nothing() {
    for kind in Kind::ALL {
        let history = history(&Generation::new(busy(kind, 9), Model::Serial));
        let mut written = BTreeSet::new();
        for (kind, value) in history.kinds().iter().zip(history.values()) {
            assert!(
                *kind == OperationKind::Read || *value != Value(0) && written.insert(*value),
                "{value:?} twice"
            );
        }
        let mut reads = history
            .kinds()
            .iter()
            .zip(history.values())
            .filter(|(kind, _)| **kind == OperationKind::Read);
        let known =
            |value: Value| value == Value(0) || value == Value::INITIAL || written.contains(&value);
        assert!(reads.all(|(_, value)| known(*value)), "{kind}");
        assert!(
            is(&check(&history), Level::Serializability, satisfied),
            "{kind}\n{}",
            text(&history)
        );
    }
}

#[test]
fn workloads_are_what_was_asked_for() {
    let workload = Workload {
        sessions: 4,
        transactions: 100,
        operations: Length { least: 3, most: 9 },
        read_share: 0.8,
        keys: 1000,
        distribution: Distribution::Hotspot,
        ..Workload::default()
    };
    let clients = workload.clients();
    let transactions: Vec<_> = clients.into_iter().flatten().collect();
    assert_eq!(transactions.len(), 400);
    assert!(
        transactions
            .iter()
            .all(|steps| (3..=9).contains(&steps.len()))
    );
    assert!(
        [3, 9]
            .iter()
            .all(|n| transactions.iter().any(|steps| steps.len() == *n))
    );
    let steps: Vec<_> = transactions.concat();
    let share = |part: usize| part as f64 / steps.len() as f64;
    let reads = share(steps.iter().filter(|step| !step.writes()).count());
    assert!((0.75..0.85).contains(&reads), "{reads}");
    let hot = share(steps.iter().filter(|step| step.key().0 < 200).count());
    assert!((0.75..0.85).contains(&hot), "{hot}");
    for steps in (Workload {
        kind: Kind::Mini,
        ..workload
    })
    .clients()
    .into_iter()
    .flatten()
    {
        assert!(steps.len() <= 4);
        for (place, step) in steps.iter().enumerate().filter(|(_, step)| step.writes()) {
            let is_read_before = steps[..place]
                .iter()
                .any(|before| !before.writes() && before.key() == step.key());
            assert!(is_read_before, "{steps:?}");
        }
    }
}

#[test]
fn disjoint_writes_are_of_keys_of_one_session() {
    let workload = Workload {
        keys: 50,
        ..busy(Kind::DisjointWrites, 3)
    };
    let mut writers = std::collections::BTreeMap::new();
    let mut n_read_elsewhere = 0;
    for (session, client) in workload.clients().into_iter().enumerate() {
        for step in client.flatten() {
            match step {
                Step::Write(key) => {
                    assert_eq!(*writers.entry(key).or_insert(session), session, "{key:?}")
                }
                Step::Read(key) => {
                    n_read_elsewhere +=
                        usize::from(writers.get(&key).is_some_and(|by| *by != session))
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(
        writers.len() > 40 && n_read_elsewhere > 0,
        "{} {n_read_elsewhere}",
        writers.len()
    );
}

#[test]
fn the_same_seed_is_the_same_history_in_pieces_as_well() {
    let generation = Generation {
        aborted: 0.1,
        unknown: 0.1,
        faults: vec!["TAP-k=2".parse().expect("a fault")],
        ..Generation::new(busy(Kind::Tpcc, 21), Model::Snapshot)
    };
    let first = text(&history(&generation));
    assert_eq!(first, text(&history(&generation)));
    assert!(first.contains("district/"), "{first}");
    let other = Generation {
        workload: Workload {
            seed: 22,
            ..generation.workload
        },
        ..generation.clone()
    };
    assert_ne!(first, text(&history(&other)));
    // The stream of a session does not depend on who asks for it when.
    let clients = generation.workload.clients();
    let alone: Vec<_> = generation
        .workload
        .clients()
        .into_iter()
        .nth(3)
        .expect("a session")
        .collect();
    assert_eq!(
        clients
            .into_iter()
            .nth(3)
            .expect("a session")
            .collect::<Vec<_>>(),
        alone
    );
    let mut n = 0;
    generation
        .each(&Control::new(), &mut |executed| {
            n += usize::from(executed.fault.is_some())
        })
        .expect("possible");
    assert_eq!(n, 6);
    let writes = |executed: &Observed| matches!(executed, Observed::Write(..));
    let mut written = 0;
    generation
        .each(&Control::new(), &mut |executed| {
            written += executed.operations.iter().filter(|o| writes(o)).count()
        })
        .expect("possible");
    assert_eq!(written, first.matches("w ").count());
}

#[test]
fn the_program_writes_the_same_bytes_with_one_thread_and_with_four() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = |name: &str, more: &[&str]| {
        let path = folder.path().join(name);
        let mut command = Command::new(env!("CARGO_BIN_EXE_isoscope"));
        command.args([
            "generate",
            "--sessions",
            "4",
            "--transactions",
            "20",
            "--fault",
            "write-skew=2",
            "-o",
        ]);
        let output = command
            .arg(&path)
            .args(more)
            .output()
            .expect("the program starts");
        (path, output)
    };
    let (one, output) = run("one", &["--histories", "6", "--threads", "1"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let (four, output) = run("four", &["--histories", "6", "--threads", "4"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let names: Vec<String> = (1..=6).map(|seed| format!("seed-{seed}.txt")).collect();
    for name in &names {
        let bytes = |folder: &std::path::Path| {
            std::fs::read(folder.join(name)).expect("a history of each seed")
        };
        assert_eq!(bytes(&one), bytes(&four), "{name}");
    }
    // Alone as well.
    let (alone, output) = run("alone.txt", &["--seed", "3"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(
        std::fs::read(alone).expect("a history"),
        std::fs::read(one.join("seed-3.txt")).expect("a history")
    );
    let (_, output) = run("bad.txt", &["--fault", "lost-dog"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        (output.status.code(), error.lines().count()),
        (Some(2), 1),
        "{error}"
    );
}
