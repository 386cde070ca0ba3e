//! The index of a few transactions of a history, as if the others did not exist.

use crate::relations::{INITIAL_SLOT, Index, ListOrder, NONE, Node, Slot};
use rustc_hash::FxHashMap;

/// The index of the nodes `keep` (ascending), with reads that return a version of others left out; sound because all
/// levels are closed under removing transactions and reads. Nodes and keys are numbered anew; transactions and
/// operations keep their ids, so edges made from the part speak of the whole. The map from transactions to nodes is
/// left empty. O(reads and writes of the part, log).
pub(super) fn part(index: &Index, keep: &[Node]) -> Index {
    let mut part = Index {
        session_begin: vec![0],
        key_begin: vec![0],
        read_begin: vec![0],
        write_begin: vec![0],
        ..Index::default()
    };
    let kept = |t: Node| keep.binary_search(&t).is_ok();
    let mut keys: Vec<u32> = keep
        .iter()
        .flat_map(|&t| {
            let reads = index.reads_of(t).map(|read| index.read_key[read]);
            reads.chain(index.writes_of(t).map(|write| index.write_key[write]))
        })
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let key_of = |key: u32| keys.partition_point(|&other| other < key) as u32;

    let mut old_session = NONE;
    for (new, &t) in keep.iter().enumerate() {
        if index.session[t as usize] != old_session {
            if old_session != NONE {
                part.session_begin.push(new as u32);
            }
            old_session = index.session[t as usize];
        }
        part.transaction.push(index.transaction[t as usize]);
        part.session.push(part.session_begin.len() as u32 - 1);
    }
    if !keep.is_empty() {
        part.session_begin.push(keep.len() as u32);
    }

    // Versions by (key, node).
    let mut versions: Vec<(u32, u32, u32)> = Vec::new();
    for (new, &t) in keep.iter().enumerate() {
        versions.extend(index.writes_of(t).map(|w| (key_of(index.write_key[w]), new as u32, index.write_slot[w])));
    }
    versions.sort_unstable();
    let mut new_slot: FxHashMap<u32, u32> = FxHashMap::default();
    for (place, &(key, node, slot)) in versions.iter().enumerate() {
        new_slot.insert(slot, place as u32);
        part.slot_node.push(node);
        part.slot_key.push(key);
        part.slot_operation.push(index.slot_operation[slot as usize]);
    }
    for key in 0..keys.len() as u32 {
        part.key_begin.push(versions.partition_point(|&(other, ..)| other <= key) as u32);
    }

    for &t in keep {
        for read in index.reads_of(t) {
            let slot = match index.read_slot[read] {
                INITIAL_SLOT => INITIAL_SLOT,
                slot if kept(index.slot_node[slot as usize]) => new_slot[&slot],
                _ => continue,
            };
            part.read_key.push(key_of(index.read_key[read]));
            part.read_slot.push(slot);
            part.read_writer.push(if slot == INITIAL_SLOT { NONE } else { part.slot_node[slot as usize] });
            part.read_operation.push(index.read_operation[read]);
        }
        part.read_begin.push(part.read_key.len() as u32);
        for write in index.writes_of(t) {
            part.write_key.push(key_of(index.write_key[write]));
            part.write_slot.push(new_slot[&index.write_slot[write]]);
        }
        part.write_begin.push(part.write_key.len() as u32);
    }
    if !index.interval.is_empty() {
        part.interval = keep.iter().map(|&t| index.interval[t as usize]).collect();
    }
    for order in index.lists.iter().filter(|order| kept(order.reader)) {
        let versions = |slots: &[Slot]| slots.iter().filter_map(|slot| new_slot.get(slot).copied()).collect::<Vec<_>>();
        part.lists.push(ListOrder {
            reader: keep.partition_point(|&t| t < order.reader) as Node,
            key: key_of(order.key),
            closed: versions(&order.versions[..order.closed]).len(),
            versions: versions(&order.versions),
            ..*order
        });
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkers::strong::sample::{Sample, Shape};

    #[test]
    fn a_part_is_the_index_of_the_restricted_history() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..500 {
            let shape = Shape { transactions: 8, sessions: 3, operations: 5, keys: 3, write_percent: 50 };
            let sample = Sample::random(&mut random, shape);
            let index = sample.index();
            let keep: Vec<Node> = (0..index.n_nodes() as Node).filter(|_| random.bool()).collect();
            let part = part(&index, &keep);
            let restricted = sample.restrict(&keep).index();
            assert_eq!(part.slot_node, restricted.slot_node);
            assert_eq!(part.read_slot, restricted.read_slot);
            assert_eq!(part.read_begin, restricted.read_begin);
            assert_eq!(part.write_slot, restricted.write_slot);
            assert_eq!(part.read_writer, restricted.read_writer);
            for slot in 0..part.slot_node.len() as Slot {
                assert_eq!(part.readers_of(slot), restricted.readers_of(slot));
            }
            // The sample keeps keys that nobody uses any more; the order of the others is the same.
            let readers = |index: &Index| -> Vec<Vec<u32>> {
                let of_keys = (0..index.n_keys() as u32).map(|key| index.readers_of_initial(key).to_vec());
                of_keys.filter(|readers| !readers.is_empty()).collect()
            };
            assert_eq!(readers(&part), readers(&restricted));
            let expected = keep.iter().map(|&t| index.transaction[t as usize]).collect::<Vec<_>>();
            assert_eq!(part.transaction, expected);
        }
    }
}
