//! Resolution and index against definitions evaluated literally.

use super::*;
use crate::common::{history, random::anything};
use crate::control::{Control, Interrupt};
use crate::history::{History, Operation, OperationKind, Outcome, Value};

fn resolved(text: &str) -> (History, Resolution) {
    let history = history(text);
    let resolution = resolve(&history, &Control::new()).unwrap();
    (history, resolution)
}

fn operations(history: &History) -> impl Iterator<Item = OperationId> + use<> {
    (0..history.n_operations() as u32).map(OperationId)
}

/// Everything a read may have returned by the rules for one read, except the latest own write.
fn brute_sources(history: &History, merged: &[TransactionId], read: OperationId) -> Vec<Source> {
    let t = history.transaction_of(read);
    let Operation { key, value, .. } = history.operation(read);
    let writes = |o: &OperationId| {
        let operation = history.operation(*o);
        operation.kind == OperationKind::Write && operation.key == key
    };
    let after_own_write = history.operations_of(t).filter(writes).any(|o| o < read);
    let mut sources = Vec::new();
    for writer in history.transactions().filter(|w| !merged.contains(w)) {
        let all: Vec<OperationId> = history.operations_of(writer).filter(writes).collect();
        let matching = |o: &&OperationId| history.operation(**o).value == value;
        if writer == t {
            if let Some(&write) = all.iter().filter(|o| **o < read).rfind(matching) {
                sources.push(Source::OwnOverwritten { write });
            }
            if let Some(&write) = all.iter().filter(|o| **o > read).find(matching) {
                sources.push(Source::Future { write });
            }
        } else if let Some(&write) = all.iter().rfind(matching) {
            sources.push(match history.outcome(writer) {
                Outcome::Aborted => Source::Aborted {
                    writer,
                    write: *all.iter().find(matching).expect("one was found"),
                },
                _ => Source::Transaction {
                    writer,
                    write,
                    intermediate: all.last() != Some(&write),
                    after_own_write,
                },
            });
        }
    }
    if history.may_be_initial(key, value) {
        sources.push(Source::Initial { after_own_write });
    }
    sources
}

#[test]
fn sources_agree_with_the_rules_read_by_read() {
    let mut random = fastrand::Rng::with_seed(21);
    let mut kinds_seen = std::collections::BTreeSet::new();
    for _ in 0..4000 {
        let history = anything(&mut random);
        let resolution = resolve(&history, &Control::new()).unwrap();
        let merged: Vec<TransactionId> = resolution.merged_into_initial().collect();
        for o in operations(&history) {
            let Operation { kind, key, value } = history.operation(o);
            let t = history.transaction_of(o);
            let source = resolution.source(o);
            kinds_seen.insert(
                format!("{source:?}")
                    .split([' ', '{'])
                    .next()
                    .unwrap()
                    .to_owned(),
            );
            if kind == OperationKind::Write || history.outcome(t) == Outcome::Aborted {
                assert_eq!(source, Source::Outside);
                continue;
            }
            if value == Value::UNRECORDED {
                assert_eq!(source, Source::Unrecorded);
                continue;
            }
            let is_own_write = |&w: &OperationId| {
                let operation = history.operation(w);
                w < o && operation.kind == OperationKind::Write && operation.key == key
            };
            let own = history.operations_of(t).filter(is_own_write).last();
            if own.is_some_and(|w| history.operation(w).value == value) {
                assert_eq!(source, Source::Own);
                continue;
            }
            let all = brute_sources(&history, &merged, o);
            let of =
                |test: fn(&Source) -> bool| all.iter().copied().filter(test).collect::<Vec<_>>();
            let overwritten = of(|s| matches!(s, Source::OwnOverwritten { .. }));
            let others = of(|s| s.writer().is_some());
            let future = of(|s| matches!(s, Source::Future { .. }));
            let aborted = of(|s| matches!(s, Source::Aborted { .. }));
            let expected = [overwritten, others.clone(), future, aborted]
                .into_iter()
                .find(|found| !found.is_empty());
            match expected {
                None => assert_eq!(source, Source::ThinAir),
                Some(first) if first != others || first.len() == 1 => assert_eq!(source, first[0]),
                Some(_) => {
                    let sensible: Vec<Source> = others
                        .iter()
                        .copied()
                        .filter(|s| match *s {
                            Source::Transaction {
                                writer,
                                intermediate,
                                ..
                            } => {
                                let same = history.session_of(writer) == history.session_of(t);
                                !(intermediate || same && writer > t)
                            }
                            _ => true,
                        })
                        .collect();
                    match (sensible.len(), own) {
                        (2.., None) if resolution.standing(t) != Standing::Dropped => {
                            assert_eq!(source, Source::Ambiguous);
                            let mut candidates = resolution.candidates(o).to_vec();
                            candidates.sort_by_key(|c| c.writer());
                            assert_eq!(candidates, sensible);
                        }
                        (2.., None) => assert_eq!(source, Source::Ambiguous),
                        (1, None) => assert_eq!(source, sensible[0]),
                        _ => assert!(others.contains(&source)),
                    }
                }
            }
            let possible = if matches!(source, Source::OwnOverwritten { .. }) {
                1
            } else {
                others.len()
            };
            let listed = resolution
                .multiple_sources(o)
                .map_or(1, |multiple| multiple.sources().len());
            assert_eq!(listed, possible.max(1));
        }
    }
    assert_eq!(kinds_seen.len(), 10, "{kinds_seen:?}");
}

#[test]
fn the_index_holds_exactly_the_external_reads_and_last_writes() {
    let mut random = fastrand::Rng::with_seed(22);
    for _ in 0..3000 {
        let history = anything(&mut random);
        let control = Control::new();
        let resolution = resolve(&history, &control).unwrap();
        let choice: Choice = resolution
            .ambiguous()
            .map(|(_, candidates)| {
                random
                    .bool()
                    .then(|| random.u32(0..candidates.len() as u32))
            })
            .collect();
        let index = Index::build_with(&history, &resolution, &choice, &control).unwrap();
        check_index(&history, &resolution, &choice, &index);
    }
}

fn check_index(history: &History, resolution: &Resolution, choice: &Choice, index: &Index) {
    let source = |o: OperationId| match resolution.source(o) {
        Source::Ambiguous => resolution.chosen(o, choice).unwrap_or(Source::Unrecorded),
        source => source,
    };
    // Committed transactions: the least set that contains all known to have committed and the writers of all reads in
    // it.
    let mut nodes: Vec<TransactionId> = history
        .transactions()
        .filter(|&t| resolution.standing(t) == Standing::Committed)
        .collect();
    let mut at = 0;
    while at < nodes.len() {
        let reads = history
            .operations_of(nodes[at])
            .filter(|&o| !resolution.is_open_after_own_write(o));
        let writers = reads.filter_map(|o| source(o).writer());
        for writer in writers.filter(|w| !w.is_initial()) {
            if !nodes.contains(&writer) {
                nodes.push(writer);
            }
        }
        at += 1;
    }
    nodes.sort_unstable();
    assert_eq!(index.transaction, nodes);
    assert_eq!(
        (index.n_sessions(), index.n_keys()),
        (history.n_sessions(), history.n_keys())
    );
    for (node, &t) in nodes.iter().enumerate() {
        let node = node as Node;
        assert_eq!(index.node[t.index()], node);
        assert_eq!(index.session[node as usize], history.session_of(t).0);
        let next = nodes
            .get(node as usize + 1)
            .filter(|n| history.session_of(**n) == history.session_of(t));
        assert_eq!(index.successor(node), next.map(|_| node + 1));
        let reads: Vec<(OperationId, u32)> = index
            .reads_of(node)
            .map(|read| {
                assert_eq!(
                    index.read_key[read],
                    history.operation(index.read_operation[read]).key.0
                );
                let slot = index.read_slot[read];
                let readers = match slot {
                    INITIAL_SLOT => index.readers_of_initial(index.read_key[read]),
                    slot => index.readers_of(slot),
                };
                assert_eq!(
                    readers
                        .iter()
                        .filter(|&&reader| reader as usize == read)
                        .count(),
                    1
                );
                (index.read_operation[read], index.writer_of_read(read))
            })
            .collect();
        let expected: Vec<(OperationId, u32)> = history
            .operations_of(t)
            .filter(|&o| !resolution.is_open_after_own_write(o))
            .filter_map(|o| match source(o).writer() {
                Some(TransactionId::INITIAL) => Some((o, NONE)),
                Some(writer) => Some((o, index.node[writer.index()])),
                None => None,
            })
            .collect();
        assert_eq!(reads, expected);
        let mut last: std::collections::BTreeMap<u32, OperationId> =
            std::collections::BTreeMap::new();
        for o in history
            .operations_of(t)
            .filter(|&o| history.operation(o).kind == OperationKind::Write)
        {
            last.insert(history.operation(o).key.0, o);
        }
        let writes: Vec<(u32, OperationId)> = index
            .writes_of(node)
            .map(|write| {
                let slot = index.write_slot[write];
                assert_eq!(index.slot_of(node, index.write_key[write]), Some(slot));
                assert_eq!(
                    (
                        index.slot_node[slot as usize],
                        index.slot_key[slot as usize]
                    ),
                    (node, index.write_key[write])
                );
                assert!(
                    index
                        .slots_of(index.write_key[write])
                        .contains(&(slot as usize))
                );
                (index.write_key[write], index.slot_operation[slot as usize])
            })
            .collect();
        assert_eq!(writes, last.into_iter().collect::<Vec<_>>());
    }
    let of_slots: usize = (0..index.slot_node.len() as u32)
        .map(|slot| index.readers_of(slot).len())
        .sum();
    let of_initial: usize = (0..index.n_keys() as u32)
        .map(|key| index.readers_of_initial(key).len())
        .sum();
    assert_eq!(of_slots + of_initial, index.read_key.len());
    for key in 0..index.n_keys() as u32 {
        assert!(index.slot_node[index.slots_of(key)].is_sorted());
    }
}

#[test]
fn set_up_transactions_become_part_of_the_initial_state() {
    let (history, resolution) = resolved("a: [w x 0, w y 0] [r x 0, w x 1]\nb: [r y 0, r x 1]");
    assert_eq!(
        resolution.merged_into_initial().collect::<Vec<_>>(),
        [TransactionId(0)]
    );
    assert_eq!(resolution.n_ambiguous(), 0);
    assert_eq!(
        resolution.source(OperationId(2)),
        Source::Initial {
            after_own_write: false
        }
    );
    assert_eq!(resolution.assumptions().len(), 1);
    let index = Index::build(&history, &resolution, &Control::new()).unwrap();
    assert_eq!(index.n_nodes(), 2);

    // A late reset, a key that is not covered, or a second writer of the initial value: nothing is merged.
    for text in [
        "b: [w x 1] [w x 0]\na: [r x 1] [r x 0]",
        "a: [w x 0]\nb: [r x 0, r y 0]",
        "a: [w x 0] [w x 1]\nb: [w x 0] [r x 0]",
    ] {
        let (_, resolution) = resolved(text);
        assert_eq!(resolution.merged_into_initial().count(), 0, "{text}");
    }
}

#[test]
fn unknown_transactions_take_part_when_one_that_does_reads_from_them() {
    // 0 is read by a committed one and itself reads from 1; 2 is read by the aborted only.
    let (history, resolution) = resolved(
        "a: [w x 1, r y 1]?\nb: [w y 1]?\nc: [w z 1]?\nd: [r x 1]\ne: [r z 1]!\nf: [r x 1, w k4 1]?",
    );
    assert_eq!(resolution.promoted().count(), 2);
    assert_eq!(resolution.dropped().count(), 2);
    assert_eq!(
        resolution.standing(history.transaction_of(OperationId(0))),
        Standing::Promoted
    );
    assert_eq!(resolution.assumptions().len(), 2);
}

#[test]
fn an_unknown_second_writer_takes_part_only_if_chosen() {
    let (history, resolution) = resolved("a: [w x 1]\nb: [w x 1]?\nc: [r x 1]");
    assert_eq!(resolution.standing(TransactionId(1)), Standing::Possible);
    for (candidate, nodes) in [(Some(0), 2), (Some(1), 3), (None, 2)] {
        let index =
            Index::build_with(&history, &resolution, &vec![candidate], &Control::new()).unwrap();
        assert_eq!(index.n_nodes(), nodes);
    }
}

#[test]
fn many_threads_find_the_same_as_one() {
    let mut random = fastrand::Rng::with_seed(23);
    let mut builder = crate::history::Builder::new(crate::history::Origin::default());
    builder.initial_value(Value(0));
    for t in 0..9000u64 {
        let session = builder.session_number(t % 7);
        let outcome = if random.u8(0..9) == 0 {
            Outcome::Unknown
        } else {
            Outcome::Committed
        };
        let draft = builder.transaction(session, outcome);
        for _ in 0..10 {
            let key = builder.key_number(random.u64(0..40) * random.u64(0..40));
            let kind = if random.bool() {
                OperationKind::Write
            } else {
                OperationKind::Read
            };
            builder.operation(draft, kind, key, Value(random.u64(0..3000)), 0);
        }
    }
    let history = builder.finish().unwrap();
    assert!(
        history.n_operations() >= 1 << 16,
        "large enough to be split"
    );
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| resolve(&history, &Control::new()).unwrap())
    };
    let (one, five) = (run(1), run(5));
    assert_eq!(
        (&one.code, &one.after_own_write, &one.intermediate),
        (&five.code, &five.after_own_write, &five.intermediate)
    );
    assert_eq!(
        (&one.multiple, &one.standing, &one.demands),
        (&five.multiple, &five.standing, &five.demands)
    );
}

#[test]
fn a_stopped_resolution_says_so() {
    let control = Control::new();
    control.stop();
    assert_eq!(
        resolve(&history("a: [r x 0]"), &control).err(),
        Some(Interrupt::Cancelled)
    );
}
