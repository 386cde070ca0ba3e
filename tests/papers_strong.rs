//! The papers' own algorithms for the strong levels against the fast engine and two kinds of brute force.

mod common;

use common::papers::ask_with;
use common::random::{Shape, for_histories};
use common::store::{MODELS, Run, Size};
use common::strong::{self, STRONG, STRONG_PAPERS, Tally, compare, compare_with_oracles};
use fastrand::Rng;
use isoscope::checkers::{self, Checker, Findings, Options, Verdict};
use isoscope::control::Control;
use isoscope::generate::Model;
use isoscope::history::{Builder, History, OperationKind, Origin, Outcome, Value};
use rayon::prelude::*;

/// Histories per shape in the ordinary run; `ISOSCOPE_HISTORIES` asks for another number.
const SMALL: u64 = 3_000;
const CLEAN: u64 = 2_000;
const STORES: u64 = 1_500;
const LARGER: u64 = 60;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Looks at histories of a shape, and at how many there were of each kind.
fn look(shape: Shape, n: u64, test: impl Fn(&History, &Tally) -> Result<Findings, String> + Sync) -> Tally {
    let tally = Tally::default();
    for_histories(shape, n, |sketch| test(&sketch.history(), &tally).map(|_| ()));
    println!("{} histories, {} of mini-transactions, {:?}", tally.n(), tally.n_mini(), tally.numbers());
    tally
}

#[test]
fn all_agree_on_small_histories() {
    let tally = look(Shape::SMALL, SMALL, compare_with_oracles);
    assert!(tally.numbers()[..3].iter().flatten().all(|n| *n > SMALL / 20), "{:?}", tally.numbers());
}

/// Few keys and operations, so that most histories violate something.
#[test]
fn all_agree_on_crowded_histories() {
    let shape = Shape { transactions: 5, operations: 3, keys: 2, sessions: 3, ..Shape::SMALL };
    look(shape, SMALL, compare_with_oracles);
}

/// What is wrong is wrong between transactions: weak levels hold more often than strong ones.
#[test]
fn all_agree_on_histories_of_almost_valid_stores() {
    let tally = look(Shape { transactions: 6, ..Shape::CLEAN }, CLEAN, compare_with_oracles);
    let [[pc, _], [si, _], [ser, _], _] = tally.numbers();
    assert!(pc > si && si > ser && ser > CLEAN / 20, "{:?}", tally.numbers());
}

#[test]
fn where_values_repeat_the_papers_do_not_answer() {
    look(Shape::AMBIGUOUS, 300, compare);
}

/// Too large for brute force.
#[test]
fn the_papers_agree_with_the_fast_engine_on_larger_histories() {
    let many = Shape { transactions: 40, operations: 5, keys: 12, sessions: 3, ..Shape::SMALL };
    let clean = Shape { transactions: 30, operations: 4, keys: 8, sessions: 3, ..Shape::CLEAN };
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
            let kept = kept.map(|problem| format!("seed {seed}, {promise:?}\n{}{problem}\n", run.text()));
            (0..rng.usize(0..3)).for_each(|_| run.disturb(&mut rng));
            (0..rng.usize(0..3)).for_each(|_| run.shift(&mut rng));
            let broken = test(promise, false, &run.history(rng.u8(0..4) > 0)).err();
            let broken = broken.map(|problem| format!("seed {seed}, disturbed\n{}{problem}\n", run.text()));
            kept.into_iter().chain(broken)
        })
        .collect();
    assert!(failures.is_empty(), "{} fail, for example\n{}", failures.len(), failures[0]);
}

/// The promised level and all weaker ones hold.
fn keeps(promise: Model, fast: &Findings) -> Result<(), String> {
    let n_kept = match promise {
        Model::Strict => 4,
        Model::Snapshot => 2,
        Model::Prefix => 1,
        _ => 0,
    };
    let broken = STRONG[..n_kept]
        .iter()
        .find(|&&level| !matches!(fast.level(level).map(|result| &result.verdict), Some(Verdict::Satisfied(_))));
    broken.map_or(Ok(()), |level| Err(format!("the store promises {promise:?}, but {level} is not satisfied")))
}

fn look_at_runs(size: Size, n: u64, with_oracles: bool) -> Tally {
    let tally = Tally::default();
    for_runs(size, n, |promise, kept, history| {
        let fast = if with_oracles { compare_with_oracles(history, &tally) } else { compare(history, &tally) }?;
        if kept { keeps(promise, &fast) } else { Ok(()) }
    });
    println!("{} histories, {} of mini-transactions, {:?}", tally.n(), tally.n_mini(), tally.numbers());
    tally
}

#[test]
fn all_agree_on_small_runs_of_stores_which_keep_what_they_promise() {
    let size = Size { transactions: 6, sessions: 3, keys: 3, operations: 3, mini: false };
    let tally = look_at_runs(size, STORES, true);
    // Each level is violated by the stores that promise less.
    assert!(tally.numbers().iter().flatten().all(|n| *n > STORES / 10), "{:?}", tally.numbers());
}

#[test]
fn all_agree_on_mini_transactions() {
    for (keys, operations) in [(2, 2), (4, 2)] {
        let size = Size { transactions: 6, sessions: 3, keys, operations, mini: true };
        let tally = look_at_runs(size, STORES, true);
        assert_eq!(tally.n(), tally.n_mini());
        let [_, [si, no_si], [ser, no_ser], [sser, no_sser]] = tally.numbers();
        assert!([si, no_si, ser, no_ser, sser, no_sser].iter().all(|n| *n > STORES / 20), "{:?}", tally.numbers());
        assert!(si > ser && ser > sser, "{:?}", tally.numbers());
    }
}

#[test]
fn all_agree_on_larger_runs_of_stores() {
    for mini in [false, true] {
        let size = Size { transactions: 60, sessions: 3, keys: 10, operations: 3, mini };
        look_at_runs(size, LARGER, false);
    }
}

fn reasons(findings: &Findings) -> Vec<String> {
    let undecided = findings.levels.iter().filter_map(|result| match &result.verdict {
        Verdict::Undecided(cause) => Some(format!("{}: {cause}", result.level)),
        _ => None,
    });
    undecided.collect()
}

#[test]
fn mtc_says_which_transaction_is_no_mini_transaction() {
    let history = common::plume("r(1,0,0,1) w(1,1,0,1) w(2,1,0,2) w(1,2,0,2)");
    let found = ask_with(&history, Options { checker: Checker::MiniTransactions, ..Options::default() });
    let reason = "SER: not mini-transactions: 0.2 writes 1 without reading it first";
    assert!(reasons(&found).iter().any(|line| line == reason), "{:?}", reasons(&found));
}

#[test]
fn mtc_counts_divergence_and_no_other_pattern() {
    let history = common::plume("r(1,0,0,1) w(1,1,0,1) r(1,0,1,2) w(1,2,1,2)");
    let options = strong::options(&history, Checker::MiniTransactions);
    for max_instances in [0, 10] {
        let found = ask_with(&history, Options { max_instances, ..options.clone() });
        let counts: Vec<String> = found.patterns.iter().map(|(pattern, n)| format!("{pattern} {n}")).collect();
        assert_eq!(counts, ["Divergence 1"]);
        assert_eq!(found.violations.is_empty(), max_instances == 0);
    }
}

#[test]
fn polysi_tells_the_cycle_that_it_ends_with() {
    let history = common::plume("w(1,1,0,1) r(1,1,1,2) r(1,0,1,3)");
    let found = ask_with(&history, strong::options(&history, Checker::PolySi));
    let told = "PolySI's check of SI ended with the cycle";
    assert!(found.assumptions.iter().any(|line| line.starts_with(told)), "{:?}", found.assumptions);
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
    let found = ask_with(&history, strong::options(&history, Checker::PolySi));
    let too_large = "the constraints of the polygraph would take";
    assert!(reasons(&found).iter().all(|reason| reason.contains(too_large)), "{:?}", reasons(&found));
    assert_eq!(reasons(&found).len(), 2);
}

#[test]
fn a_stopped_check_is_undecided() {
    let history = common::plume("w(1,1,0,0) r(1,1,1,1)");
    let control = Control::new();
    control.stop();
    for checker in STRONG_PAPERS {
        let found = checkers::check(&history, &strong::options(&history, checker), &control, &|_| {});
        assert!(reasons(&found).iter().all(|reason| reason.ends_with("cancelled")), "{checker}");
        assert!(!reasons(&found).is_empty(), "{checker}");
    }
}
