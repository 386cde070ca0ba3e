//! Mini-transactions against the engine for all histories.

use super::*;
use crate::checkers::strong::sample::{Sample, Txn};
use crate::checkers::strong::{self, StrongDecision};
use crate::history::Interval;
use crate::relations::NONE;
use rustc_hash::FxHashMap;

const LEVELS: [Level; 3] = [Level::SnapshotIsolation, Level::Serializability, Level::StrictSerializability];

/// Transactions that write some of the keys they read. Reads go back to any version, mostly to the newest.
fn random(random: &mut fastrand::Rng) -> Sample {
    let (n, n_keys, n_sessions) = (random.usize(2..8), random.u32(1..4), random.u32(1..5));
    // Made in a hidden order, and sorted by session; writers are named by place in the hidden order first.
    let mut versions: Vec<Vec<Node>> = vec![vec![NONE]; n_keys as usize];
    let mut made: Vec<(usize, Txn)> = Vec::new();
    for place in 0..n {
        let mut txn = Txn { session: random.u32(..n_sessions), ..Txn::default() };
        for key in (0..n_keys).filter(|_| random.u32(..3) > 0).collect::<Vec<_>>() {
            let of_key = &mut versions[key as usize];
            let back = if random.u32(..4) > 0 { 1 } else { random.usize(1..=of_key.len()) };
            txn.reads.push((key, of_key[of_key.len() - back]));
            if random.bool() {
                txn.writes.push(key);
                of_key.push(place as Node);
            }
        }
        made.push((place, txn));
    }
    made.sort_by_key(|(_, txn)| txn.session);
    let new: FxHashMap<Node, Node> = (0..).zip(&made).map(|(new, (old, _))| (*old as Node, new)).collect();
    let mut txns: Vec<Txn> = made.into_iter().map(|(_, txn)| txn).collect();
    for read in txns.iter_mut().flat_map(|txn| &mut txn.reads).filter(|read| read.1 != NONE) {
        read.1 = new[&read.1];
    }
    Sample { txns }
}

/// Times that increase in each session.
fn times(index: &Index, random: &mut fastrand::Rng) -> Vec<Option<Interval>> {
    let mut now = 0;
    let of = |t: Node| {
        if index.position(t) == 0 {
            now = random.i64(0..10);
        }
        let (start, end) = (now, now + random.i64(0..8));
        now = end + random.i64(0..4);
        (random.u32(..8) > 0).then_some(Interval { start, end })
    };
    (0..index.n_nodes() as Node).map(of).collect()
}

/// The nodes of an index, with their times.
fn with_times(sample: &Sample, times: &[Option<Interval>]) -> Index {
    Index { interval: times.to_vec(), ..sample.index() }
}

/// Replays starts and commits: every read returns the newest version.
fn explains(index: &Index, events: &[(Node, bool)], first_committer_wins: bool) -> bool {
    let newest = |key: u32, done: &[(Node, bool)]| {
        let mut commits = done.iter().rev().filter(|event| event.1).map(|event| event.0);
        commits.find(|&t| index.slot_of(t, key).is_some()).unwrap_or(NONE)
    };
    (0..events.len()).all(|place| {
        let (t, is_commit) = events[place];
        let start = events.iter().position(|&event| event == (t, false)).unwrap_or(place);
        match is_commit {
            false => index.reads_of(t).all(|r| newest(index.read_key[r], &events[..place]) == index.read_writer[r]),
            true => index.writes_of(t).filter(|_| first_committer_wins).all(|write| {
                let key = index.write_key[write];
                newest(key, &events[..place]) == newest(key, &events[..start])
            }),
        }
    })
}

#[test]
fn running_mini_transactions_says_what_the_general_engine_says() {
    let control = Control::new();
    let mut rng = fastrand::Rng::with_seed(3);
    let mut seen = [[0; 2]; 3];
    for _ in 0..6000 {
        let sample = random(&mut rng);
        let times = times(&sample.index(), &mut rng);
        let index = with_times(&sample, &times);
        assert_eq!(misfit(&index, &control), Ok(None));
        for (seen, level) in seen.iter_mut().zip(LEVELS) {
            let answer = decide(&index, level, &control).unwrap().expect("the shape fits");
            let expected = strong::decide(&index, level, &control).unwrap();
            let violated = matches!(expected, StrongDecision::Violated { .. });
            match &answer {
                Answer::Violated { core } => {
                    assert!(violated, "{level}: {sample}");
                    seen[0] += 1;
                    let part = sample.restrict(core);
                    let times: Vec<_> = core.iter().map(|&t| times[t as usize]).collect();
                    let alone = strong::decide(&with_times(&part, &times), level, &control).unwrap();
                    assert!(matches!(alone, StrongDecision::Violated { .. }), "{level}: {core:?} of {sample}");
                }
                Answer::InOrder(order) => {
                    let events: Vec<_> = order.iter().flat_map(|&t| [(t, false), (t, true)]).collect();
                    assert!(!violated && explains(&index, &events, true), "{level}: {order:?} of {sample}");
                    seen[1] += 1;
                }
                Answer::ByEvents(events) => {
                    assert!(!violated && explains(&index, events, true), "{level}: {events:?} of {sample}");
                    seen[1] += 1;
                }
            }
        }
    }
    assert!(seen.iter().flatten().all(|n| *n > 300), "{seen:?}");
}

#[test]
fn what_does_not_fit_is_named() {
    let control = Control::new();
    let txn = |session, reads: &[(u32, Node)], writes: &[u32]| Txn {
        session,
        reads: reads.to_vec(),
        writes: writes.to_vec(),
    };
    let blind = Sample { txns: vec![txn(0, &[(0, NONE)], &[0]), txn(1, &[(0, 0), (1, NONE)], &[1, 2])] };
    assert_eq!(misfit(&blind.index(), &control), Ok(Some((1, 2))));
    for level in LEVELS {
        assert_eq!(decide(&blind.index(), level, &control), Ok(None));
    }
    let fits = Sample { txns: vec![txn(0, &[(0, NONE)], &[0])] };
    assert_eq!(decide(&fits.index(), Level::PrefixConsistency, &control), Ok(None));
    assert_eq!(decide(&fits.index(), Level::Serializability, &control), Ok(Some(Answer::InOrder(vec![0]))));
}

#[test]
fn many_updates_of_one_version_are_a_divergence_and_no_quadratic_graph() {
    let txns = (0..200_000).map(|session| Txn { session, reads: vec![(0, NONE)], writes: vec![0] });
    let index = Sample { txns: txns.collect() }.index();
    for level in [Level::SnapshotIsolation, Level::Serializability] {
        let answer = decide(&index, level, &Control::new());
        assert_eq!(answer, Ok(Some(Answer::Violated { core: vec![0, 1] })));
    }
}

#[test]
fn a_stopped_run_is_interrupted() {
    let control = Control::new();
    control.stop();
    let index = random(&mut fastrand::Rng::with_seed(1)).index();
    assert_eq!(decide(&index, Level::Serializability, &control), Err(Interrupt::Cancelled));
}
