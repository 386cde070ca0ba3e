//! The papers' own algorithms for the strong levels against the fast engine and two kinds of brute force.

use crate::common;

use common::papers::ask_with;
use common::random::{Shape, for_histories, share};
use common::store::{MODELS, Run, Size};
use common::strong::{self, STRONG, STRONG_PAPERS, Tally, compare, compare_with_oracles};
use fastrand::Rng;
use isoscope::checkers::{Checker, Findings, Level, Options, Verdict, Witness};
use isoscope::control::Control;
use isoscope::formats;
use isoscope::generate::Model;
use isoscope::history::{Builder, History, OperationKind, Origin, Outcome, TransactionId, Value};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Histories per shape in the ordinary run; `ISOSCOPE_HISTORIES` asks for another number.
const SMALL: u64 = 3_000;
const CLEAN: u64 = 2_000;
const STORES: u64 = 1_500;
const LARGER: u64 = 60;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Looks at histories of a shape, and at how many there were of each kind.
fn look(
    shape: Shape,
    n: u64,
    test: impl Fn(&History, &Tally) -> Result<Findings, String> + Sync,
) -> Tally {
    let tally = Tally::default();
    for_histories(shape, n, |sketch| {
        test(&sketch.history(), &tally).map(|_| ())
    });
    println!(
        "{} histories, {} of mini-transactions, {:?}",
        tally.n(),
        tally.n_mini(),
        tally.numbers()
    );
    tally
}

#[test]
fn all_agree_on_small_histories() {
    let tally = look(Shape::SMALL, SMALL, compare_with_oracles);
    assert!(
        tally.numbers()[..3]
            .iter()
            .flatten()
            .all(|n| *n > share(SMALL / 20, SMALL)),
        "{:?}",
        tally.numbers()
    );
}

/// Few keys and operations, so that most histories violate something.
#[test]
fn all_agree_on_crowded_histories() {
    let shape = Shape {
        transactions: 5,
        operations: 3,
        keys: 2,
        sessions: 3,
        ..Shape::SMALL
    };
    look(shape, SMALL, compare_with_oracles);
}

/// What is wrong is wrong between transactions: weak levels hold more often than strong ones.
#[test]
fn all_agree_on_histories_of_almost_valid_stores() {
    let tally = look(
        Shape {
            transactions: 6,
            ..Shape::CLEAN
        },
        CLEAN,
        compare_with_oracles,
    );
    let [[pc, _], [si, _], [ser, _], _] = tally.numbers();
    assert!(
        pc >= si && si >= ser && ser > share(CLEAN / 20, CLEAN),
        "{:?}",
        tally.numbers()
    );
}

#[test]
fn where_values_repeat_the_papers_do_not_answer() {
    look(Shape::AMBIGUOUS, 300, compare);
}

/// Too large for brute force.
#[test]
fn the_papers_agree_with_the_fast_engine_on_larger_histories() {
    let many = Shape {
        transactions: 40,
        operations: 5,
        keys: 12,
        sessions: 3,
        ..Shape::SMALL
    };
    let clean = Shape {
        transactions: 30,
        operations: 4,
        keys: 8,
        sessions: 3,
        ..Shape::CLEAN
    };
    for shape in [many, clean] {
        look(shape, LARGER, compare);
    }
}

/// Runs stores of every kind, undisturbed and disturbed, with times.
fn for_runs(size: Size, n: u64, test: impl Fn(Model, bool, &History) -> Result<(), String> + Sync) {
    let first = number("ISOSCOPE_SEED").unwrap_or(0);
    let n = number("ISOSCOPE_HISTORIES").unwrap_or(n);
    let failures: Vec<String> = (first..first + n)
        .into_par_iter()
        .flat_map_iter(|seed| {
            let mut rng = Rng::with_seed(seed);
            let promise = MODELS[seed as usize % 4];
            let mut run = Run::new(promise, size, &mut rng);
            let kept = test(promise, true, &run.history(true)).err();
            let kept =
                kept.map(|problem| format!("seed {seed}, {promise:?}\n{}{problem}\n", run.text()));
            (0..rng.usize(0..3)).for_each(|_| run.disturb(&mut rng));
            (0..rng.usize(0..3)).for_each(|_| run.shift(&mut rng));
            let broken = test(promise, false, &run.history(rng.u8(0..4) > 0)).err();
            let broken =
                broken.map(|problem| format!("seed {seed}, disturbed\n{}{problem}\n", run.text()));
            kept.into_iter().chain(broken)
        })
        .collect();
    assert!(
        failures.is_empty(),
        "{} fail, for example\n{}",
        failures.len(),
        failures[0]
    );
}

/// The promised level and all weaker ones hold.
fn keeps(promise: Model, fast: &Findings) -> Result<(), String> {
    let n_kept = match promise {
        Model::Strict => 4,
        Model::Snapshot => 2,
        Model::Prefix => 1,
        _ => 0,
    };
    let broken = STRONG[..n_kept].iter().find(|&&level| {
        !matches!(
            fast.level(level).map(|result| &result.verdict),
            Some(Verdict::Satisfied(_))
        )
    });
    broken.map_or(Ok(()), |level| {
        Err(format!(
            "the store promises {promise:?}, but {level} is not satisfied"
        ))
    })
}

fn look_at_runs(size: Size, n: u64, with_oracles: bool) -> Tally {
    let tally = Tally::default();
    for_runs(size, n, |promise, kept, history| {
        let fast = if with_oracles {
            compare_with_oracles(history, &tally)
        } else {
            compare(history, &tally)
        }?;
        if kept { keeps(promise, &fast) } else { Ok(()) }
    });
    println!(
        "{} histories, {} of mini-transactions, {:?}",
        tally.n(),
        tally.n_mini(),
        tally.numbers()
    );
    tally
}

#[test]
fn all_agree_on_small_runs_of_stores_which_keep_what_they_promise() {
    let size = Size {
        transactions: 6,
        sessions: 3,
        keys: 3,
        operations: 3,
        mini: false,
    };
    let tally = look_at_runs(size, STORES, true);
    // Each level is violated by the stores that promise less.
    assert!(
        tally.numbers().iter().flatten().all(|n| *n > STORES / 10),
        "{:?}",
        tally.numbers()
    );
}

#[test]
fn all_agree_on_mini_transactions() {
    for (keys, operations) in [(2, 2), (4, 2)] {
        let size = Size {
            transactions: 6,
            sessions: 3,
            keys,
            operations,
            mini: true,
        };
        let tally = look_at_runs(size, STORES, true);
        assert_eq!(tally.n(), tally.n_mini());
        let [_, [si, no_si], [ser, no_ser], [sser, no_sser]] = tally.numbers();
        assert!(
            [si, no_si, ser, no_ser, sser, no_sser]
                .iter()
                .all(|n| *n > STORES / 20),
            "{:?}",
            tally.numbers()
        );
        assert!(si > ser && ser > sser, "{:?}", tally.numbers());
    }
}

#[test]
fn all_agree_on_larger_runs_of_stores() {
    for mini in [false, true] {
        let size = Size {
            transactions: 60,
            sessions: 3,
            keys: 10,
            operations: 3,
            mini,
        };
        look_at_runs(size, LARGER, false);
    }
}

fn reasons(findings: &Findings) -> Vec<String> {
    let undecided = findings
        .levels
        .iter()
        .filter_map(|result| match &result.verdict {
            Verdict::Undecided(cause) => Some(format!("{}: {cause}", result.level)),
            _ => None,
        });
    undecided.collect()
}

#[test]
fn mtc_says_which_transaction_is_no_mini_transaction() {
    let history = common::history("a: [r x 0, w x 1] [w y 1, w x 2]");
    let found = ask_with(&history, Checker::MiniTransactions, Options::default());
    let reason = "SER: not mini-transactions: a2 writes key x without reading it first";
    assert!(
        reasons(&found).iter().any(|line| line == reason),
        "{:?}",
        reasons(&found)
    );
}

#[test]
fn mtc_counts_divergence_and_no_other_pattern() {
    let history = common::history("a: [r x 0, w x 1]\nb: [r x 0, w x 2]");
    let options = strong::options(&history, Checker::MiniTransactions);
    for max_instances in [0, 10] {
        let found = ask_with(
            &history,
            Checker::MiniTransactions,
            Options {
                max_instances,
                ..options.clone()
            },
        );
        let counts: Vec<String> = found
            .patterns
            .iter()
            .map(|(pattern, n)| format!("{pattern} {n}"))
            .collect();
        assert_eq!(counts, ["Divergence 1"]);
        assert_eq!(found.violations.is_empty(), max_instances == 0);
    }
}

#[test]
fn polysi_tells_the_cycle_that_it_ends_with() {
    let history = common::history("a: [w x 1]\nb: [r x 1] [r x 0]");
    let found = ask_with(
        &history,
        Checker::PolySi,
        strong::options(&history, Checker::PolySi),
    );
    let told = "PolySI's check of SI ended with the cycle";
    assert!(
        found.assumptions.iter().any(|line| line.starts_with(told)),
        "{:?}",
        found.assumptions
    );
}

/// What the published interpretation leaves of a cycle: a violation where no choice is left, and none where both choices of a
/// pair have to be looked at.
#[test]
fn polysis_interpretation_says_whether_it_is_a_violation() {
    let told = |file: &str| -> String {
        let path = common::repository(&format!("sample_histories/{file}"));
        let history = formats::open(&path, None, &Control::new()).expect("a sample");
        let found = ask_with(
            &history,
            Checker::PolySi,
            strong::options(&history, Checker::PolySi),
        );
        let of_si = found
            .assumptions
            .iter()
            .position(|line| line.contains("SI ended with the cycle"))
            .expect("told");
        found.assumptions[of_si + 1].clone()
    };
    let [resolved, open] = ["snapshot-cycle.txt", "case-split.txt"].map(told);
    assert!(
        resolved.contains("choices on them: 2, resolved: 2")
            && resolved.ends_with("which is a violation."),
        "{resolved}"
    );
    assert!(
        open.contains("resolved: 0") && open.contains("which is no violation"),
        "{open}"
    );
}

/// Transactions of one write each, with a session each, all of one key.
fn lonely(n: u64) -> History {
    let mut builder = Builder::new(Origin::default());
    for number in 0..n {
        let session = builder.session_number(number);
        let draft = builder.transaction(session, Outcome::Committed);
        let key = builder.key_number(0);
        builder.operation(draft, OperationKind::Write, key, Value(number + 1), 0);
    }
    builder.finish().expect("it fits")
}

#[test]
fn what_would_take_too_much_memory_is_undecided_with_the_reason() {
    let history = lonely(20_000);
    let found = ask_with(
        &history,
        Checker::PolySi,
        strong::options(&history, Checker::PolySi),
    );
    let too_large = "the constraints of the polygraph would take";
    assert!(
        reasons(&found)
            .iter()
            .all(|reason| reason.contains(too_large)),
        "{:?}",
        reasons(&found)
    );
    assert_eq!(reasons(&found).len(), 2);
}

#[test]
fn a_stopped_check_is_undecided() {
    let history = common::history("a: [w x 1]\nb: [r x 1]");
    let control = Control::new();
    control.stop();
    for checker in STRONG_PAPERS {
        let found = isoscope::papers::check(
            &history,
            checker,
            &strong::options(&history, checker),
            &control,
            &|_| {},
        );
        assert!(
            reasons(&found)
                .iter()
                .all(|reason| reason.ends_with("cancelled")),
            "{checker}"
        );
        assert!(!reasons(&found).is_empty(), "{checker}");
    }
}

/// Choices of a polygraph: by number of a pair of writers, whether the second one of the file wrote first.
type Choices = BTreeMap<usize, bool>;

/// An edge of a polygraph, which is there whatever is chosen or under one choice only.
struct Edge {
    ends: (usize, usize),
    is_anti_dependency: bool,
    under: Option<(usize, bool)>,
}

/// The polygraph of a history of registers, each of whose reads has a writer in it; and how many pairs of writers it has.
fn polygraph(history: &History) -> (Vec<Edge>, usize) {
    let of_kind = |kind: OperationKind| {
        let operations = history
            .transactions()
            .flat_map(|t| history.operations_of(t).map(move |o| (t.index(), o)));
        let of_kind = operations
            .map(|(t, o)| (t, history.operation(o)))
            .filter(move |(_, o)| o.kind == kind);
        of_kind.collect::<Vec<_>>()
    };
    let (reads, writes) = (of_kind(OperationKind::Read), of_kind(OperationKind::Write));
    let known = |ends: (usize, usize)| Edge {
        ends,
        is_anti_dependency: false,
        under: None,
    };
    let mut edges = Vec::new();
    for session in history.sessions() {
        let of_session: Vec<TransactionId> = history.transactions_of(session).collect();
        edges.extend(
            of_session
                .windows(2)
                .map(|pair| known((pair[0].index(), pair[1].index()))),
        );
    }
    for (reader, read) in &reads {
        let writer = writes
            .iter()
            .find(|(_, write)| (write.key, write.value) == (read.key, read.value));
        edges.push(known((writer.expect("it is in the history").0, *reader)));
    }
    let mut n_pairs = 0;
    for (at, (a, of_a)) in writes.iter().enumerate() {
        for (b, of_b) in writes[at + 1..]
            .iter()
            .filter(|(b, of_b)| of_b.key == of_a.key && b != a)
        {
            for (is_swapped, older, newer, read) in [(false, *a, *b, of_a), (true, *b, *a, of_b)] {
                let under = Some((n_pairs, is_swapped));
                edges.push(Edge {
                    ends: (older, newer),
                    is_anti_dependency: false,
                    under,
                });
                let readers = reads
                    .iter()
                    .filter(|(_, o)| (o.key, o.value) == (read.key, read.value));
                let others = readers.filter(|(reader, _)| *reader != newer);
                edges.extend(others.map(|&(reader, _)| Edge {
                    ends: (reader, newer),
                    is_anti_dependency: true,
                    under,
                }));
            }
            n_pairs += 1;
        }
    }
    (edges, n_pairs)
}

/// What the cycles that SI forbids, those without two anti-dependencies in a row, rest on: goes on from a path.
fn forbidden_cycles<'a>(
    edges: &'a [Edge],
    path: &mut Vec<&'a Edge>,
    found: &mut BTreeSet<Choices>,
) {
    let (begin, end) = (path[0].ends.0, path[path.len() - 1].ends.1);
    let mut choices = Choices::new();
    let is_possible = path
        .iter()
        .filter_map(|edge| edge.under)
        .all(|(pair, side)| *choices.entry(pair).or_insert(side) == side);
    let adjacent = path
        .windows(2)
        .any(|pair| pair[0].is_anti_dependency && pair[1].is_anti_dependency);
    if !is_possible || adjacent {
        return;
    }
    if begin == end {
        if !(path[0].is_anti_dependency && path[path.len() - 1].is_anti_dependency) {
            found.insert(choices);
        }
        return;
    }
    let is_new = |to: usize| to == begin || path.iter().all(|edge| edge.ends.0 != to);
    let next: Vec<&Edge> = edges
        .iter()
        .filter(|edge| edge.ends.0 == end && is_new(edge.ends.1))
        .collect();
    for edge in next {
        path.push(edge);
        forbidden_cycles(edges, path, found);
        path.pop();
    }
}

/// Runs transactions one after the other on a single copy: whether each read returns what is there.
fn replays(history: &History, order: &[TransactionId]) -> bool {
    let mut store = BTreeMap::new();
    let mut operations = order
        .iter()
        .flat_map(|&t| history.operations_of(t))
        .map(|o| history.operation(o));
    order.len() == history.n_transactions()
        && operations.all(|o| match o.kind {
            OperationKind::Write => {
                store.insert(o.key, o.value);
                true
            }
            OperationKind::Read => store.get(&o.key) == Some(&o.value),
        })
}

/// Lemma 25 of PolySI's report calls cycles a violation that cover both choices of every pair they touch. Here they do, and
/// a serial order explains the history: they cover each choice, but not each combination of choices.
#[test]
fn cycles_that_cover_both_choices_of_every_pair_are_no_violation() {
    let path = common::repository("sample_histories/ok-both-orders-in-cycles.txt");
    let history = formats::open(&path, None, &Control::new()).expect("a sample");
    let (edges, n_pairs) = polygraph(&history);
    assert_eq!(n_pairs, 2);
    let mut cycles = BTreeSet::new();
    edges
        .iter()
        .for_each(|edge| forbidden_cycles(&edges, &mut vec![edge], &mut cycles));
    let covered: BTreeSet<(usize, bool)> = cycles
        .iter()
        .flatten()
        .map(|(&pair, &side)| (pair, side))
        .collect();
    assert_eq!(
        covered,
        BTreeSet::from([(0, false), (0, true), (1, false), (1, true)]),
        "the set is complete"
    );

    let closes = |chosen: &[bool; 2]| {
        cycles
            .iter()
            .any(|cycle| cycle.iter().all(|(&pair, &side)| chosen[pair] == side))
    };
    let combinations = [[false, false], [false, true], [true, false], [true, true]];
    assert_eq!(
        combinations.map(|chosen| closes(&chosen)),
        [true, false, false, true]
    );

    strong::compare_with_oracles(&history, &Tally::default())
        .unwrap_or_else(|problem| panic!("{problem}"));
    for checker in [Checker::Fast, Checker::PolySi] {
        let found = ask_with(&history, checker, strong::options(&history, checker));
        let verdict = |level: Level| found.level(level).map(|result| &result.verdict);
        assert!(
            matches!(
                verdict(Level::SnapshotIsolation),
                Some(Verdict::Satisfied(_))
            ),
            "{checker}"
        );
        let Some(Verdict::Satisfied(Witness::CommitOrder(order))) = verdict(Level::Serializability)
        else {
            panic!("{checker}: {:?}", verdict(Level::Serializability))
        };
        assert!(replays(&history, order), "{checker}: {order:?}");
    }
}
