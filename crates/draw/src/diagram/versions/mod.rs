//! The versions of one key in an order that session order, updates and lists suggest, with their readers.
//!
//! The order is for viewing and decides nothing: where nothing is known, versions are in the order of times or of the
//! file, and [not joined](VersionRow::is_joined). What the selected anomaly forces against that order is reported separately,
//! to be drawn over it.

mod scene;

pub use scene::{Detail, STEP, WHOLE, height, places, scene};

use isoscope_model::control::sorting::{going, sort_by};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, KeyId, OperationId, OperationKind, TransactionId, Value};
use isoscope_model::relations::{Edge, Glance, Relation, Resolution, Standing, observed_after};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Pairs of versions of which the edges of an anomaly show which is newer: its writer ran after the other one in a session,
/// or read what that one or a later one wrote. As indices of rows. O(writers · edges²).
fn observed_order(
    forcing: &[Edge],
    written: &BTreeMap<TransactionId, Vec<usize>>,
) -> Vec<(usize, usize)> {
    let involved: BTreeSet<TransactionId> = forcing
        .iter()
        .flat_map(|edge| [edge.from, edge.to])
        .collect();
    let writers = || {
        involved
            .iter()
            .filter_map(|t| written.get(t).map(|rows| (*t, rows)))
    };
    let mut order = Vec::new();
    for (from, older) in writers() {
        let after = observed_after(forcing, from);
        let newer = writers().filter(|(to, _)| *to != from && after.contains(to));
        order.extend(newer.filter_map(|(_, newer)| Some((*older.last()?, *newer.first()?))));
    }
    order
}

/// Maximum number of lists, none the beginning of another, that versions are ordered by.
const MAX_LISTS: usize = 64;

/// A version that its writer overwrote itself.
const INTERMEDIATE: &str = "intermediate write";

/// One version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRow {
    /// Its writer; ⊥ for the initial version, unless a transaction set the key up.
    pub writer: TransactionId,
    /// The write; none of ⊥.
    pub write: Option<OperationId>,
    /// What was written.
    pub value: Value,
    /// The other transactions that read it, each once, with their first such read.
    pub readers: Vec<(TransactionId, OperationId)>,
    /// Why it is not a version that others should read: its writer aborted, or overwrote it itself.
    pub blemish: Option<&'static str>,
    /// Whether a session, an update or a list that was read puts it right after the row before it.
    pub is_joined: bool,
    /// Whether its writer set the key up: it is the initial version.
    pub sets_up: bool,
}

impl VersionRow {
    /// Whether others should not read it and it was rolled back, or they did. An intermediate write that only its own
    /// transaction knows is as good as any.
    pub(super) fn is_harmful(&self) -> bool {
        self.blemish
            .is_some_and(|blemish| blemish != INTERMEDIATE || !self.readers.is_empty())
    }
}

/// An order of two versions that the selected anomaly forces: indices of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Forced {
    /// The older one.
    pub older: usize,
    /// The newer one.
    pub newer: usize,
    /// The relation.
    pub relation: Relation,
}

/// The versions of a key.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The key.
    pub key: KeyId,
    /// Its versions, oldest first.
    pub rows: Vec<VersionRow>,
    /// What the selected anomaly forces, in either direction.
    pub forced: Vec<Forced>,
    /// How many reads have no version among the rows, by why.
    pub unknown_reads: BTreeMap<&'static str, usize>,
    /// By write, ascending: the index of its row.
    place_of: Vec<(OperationId, usize)>,
}

impl Chain {
    /// Scans all operations; `forcing` are the edges of the selected anomaly. O(operations + versions · log versions).
    pub fn new(
        history: &History,
        resolution: &Resolution,
        key: KeyId,
        forcing: &[Edge],
        control: &Control,
    ) -> Result<Chain, Interrupt> {
        let mut rows = vec![VersionRow {
            writer: TransactionId::INITIAL,
            write: None,
            value: Value::INITIAL,
            readers: Vec::new(),
            blemish: None,
            is_joined: false,
            sets_up: false,
        }];
        let is_list = history.lists().is_list(key);
        let set_up: BTreeSet<TransactionId> = resolution.merged_into_initial().collect();
        let mut reads = Vec::new();
        let all = going(control, history.keys().iter().enumerate());
        for (place, _) in all.filter(|(_, other)| **other == key) {
            let operation = OperationId::new(place);
            let t = history.transaction_of(operation);
            match history.kinds()[place] {
                OperationKind::Read => reads.push((t, operation)),
                OperationKind::Write => {
                    let (value, write) = (history.values()[place], Some(operation));
                    if set_up.contains(&t) && rows[0].write.is_none() && !is_list {
                        // What sets the key up is the initial version.
                        rows[0] = VersionRow {
                            writer: t,
                            write,
                            value,
                            sets_up: true,
                            ..rows[0].clone()
                        };
                        continue;
                    }
                    let replaced = rows
                        .last()
                        .is_some_and(|row: &VersionRow| row.writer == t && !is_list);
                    if replaced && let Some(row) = rows.last_mut() {
                        row.blemish = Some(INTERMEDIATE);
                    }
                    let blemish = match resolution.standing(t) {
                        Standing::Aborted => Some("aborted"),
                        Standing::Dropped | Standing::Possible => Some("outcome unknown"),
                        _ => None,
                    };
                    rows.push(VersionRow {
                        writer: t,
                        write,
                        value,
                        readers: Vec::new(),
                        blemish,
                        is_joined: false,
                        sets_up: false,
                    });
                }
            }
        }
        control.check()?;
        let place_of: BTreeMap<OperationId, usize> = going(control, rows.iter().enumerate())
            .filter_map(|(place, row)| row.write.map(|write| (write, place)))
            .collect();
        let mut unknown_reads: BTreeMap<&'static str, usize> = BTreeMap::new();
        let mut updates = Vec::new();
        for (reader, read) in going(control, reads) {
            let source = match resolution.glance(read) {
                Glance::Initial => Ok(0),
                Glance::Write(write) => place_of
                    .get(&write)
                    .copied()
                    .ok_or("of another key's version"),
                Glance::Own | Glance::Outside => continue,
                Glance::ThinAir => Err("of a value that no transaction wrote"),
                Glance::Unrecorded => Err("whose value the file does not have"),
                Glance::Ambiguous => Err("of a value that several transactions wrote"),
            };
            let source = match source {
                Ok(source) => source,
                Err(why) => {
                    *unknown_reads.entry(why).or_default() += 1;
                    continue;
                }
            };
            if rows[source]
                .readers
                .last()
                .is_none_or(|(last, _)| *last != reader)
            {
                rows[source].readers.push((reader, read));
                updates.push((source, reader));
            }
        }
        let mut chain = Chain {
            key,
            rows,
            forced: Vec::new(),
            unknown_reads,
            place_of: Vec::new(),
        };
        control.check()?;
        chain.sort(history, &updates, forcing, control)?;
        let writes = chain.rows.iter().enumerate();
        chain.place_of = writes
            .filter_map(|(place, row)| row.write.map(|write| (write, place)))
            .collect();
        sort_by(&mut chain.place_of, control, Ord::cmp)?;
        Ok(chain)
    }

    /// What the order of the versions rests on, as a heading says it.
    pub fn basis(&self) -> &'static str {
        if self.rows[1..].iter().all(|row| row.is_joined) {
            "in inferred order"
        } else {
            "in inferred order (dotted: not recorded which is older)"
        }
    }

    /// The pairs of neighbours among some of its writes, the older one first, where the order is known. O(n · log versions +
    /// versions).
    pub fn known_pairs(&self, writes: &[OperationId]) -> Vec<(OperationId, OperationId)> {
        let mut places: Vec<(usize, OperationId)> = writes
            .iter()
            .filter_map(|&write| Some((self.place_of(write)?, write)))
            .collect();
        places.sort_unstable();
        let is_known = |pair: &&[(usize, OperationId)]| {
            self.rows[pair[0].0 + 1..=pair[1].0]
                .iter()
                .all(|row| row.is_joined)
        };
        places
            .windows(2)
            .filter(is_known)
            .map(|pair| (pair[0].1, pair[1].1))
            .collect()
    }

    /// The index of the row of a write. O(log versions).
    pub fn place_of(&self, write: OperationId) -> Option<usize> {
        let at = self
            .place_of
            .binary_search_by_key(&write, |(write, _)| *write)
            .ok()?;
        Some(self.place_of[at].1)
    }

    fn sort(
        &mut self,
        history: &History,
        updates: &[(usize, TransactionId)],
        forcing: &[Edge],
        control: &Control,
    ) -> Result<(), Interrupt> {
        let n = self.rows.len();
        let mut written: BTreeMap<TransactionId, Vec<usize>> = BTreeMap::new();
        going(control, self.rows.iter().enumerate())
            .for_each(|(place, row)| written.entry(row.writer).or_default().push(place));
        let mut edges: Vec<(usize, usize)> = Vec::new();
        // ⊥ is older than all, and in a session and in a transaction each version is older than the next.
        edges.extend((1..n).map(|place| (0, place)));
        let same_session = |pair: &&[VersionRow]| {
            !pair[0].writer.is_initial()
                && history.session_of(pair[0].writer) == history.session_of(pair[1].writer)
        };
        let windows = self
            .rows
            .windows(2)
            .enumerate()
            .filter(|(_, pair)| same_session(pair));
        edges.extend(windows.map(|(place, _)| (place, place + 1)));
        // A transaction that reads a version and writes the key replaces it.
        for (source, reader) in going(control, updates) {
            let own = written.get(reader).and_then(|own| own.first());
            edges.extend(own.filter(|own| *own != source).map(|&own| (*source, own)));
        }
        // So does one that ran after another's version was read, as the anomaly's observed edges say: what it forces
        // against that is seen as an arrow back.
        edges.extend(observed_order(forcing, &written));
        let listed = self.list_order(history, control)?;
        edges.extend(&listed);
        sort_by(&mut edges, control, Ord::cmp)?;
        edges.dedup();
        let next: BTreeMap<usize, usize> = listed.into_iter().rev().collect();
        let order = topological(n, &edges, &next, |place| self.when(history, place), control)?;
        let mut new_place = vec![0; n];
        order
            .iter()
            .enumerate()
            .for_each(|(new, &old)| new_place[old] = new);
        let key = self.key;
        let about = |edge: &&Edge| {
            edge.key == Some(key)
                && matches!(edge.relation, Relation::WriteWrite | Relation::CommitOrder)
        };
        for edge in forcing.iter().filter(about) {
            let place = |t: TransactionId| {
                written
                    .get(&t)
                    .and_then(|own| own.last())
                    .map(|&old| new_place[old])
            };
            if let (Some(older), Some(newer)) = (place(edge.from), place(edge.to)) {
                self.forced.push(Forced {
                    older,
                    newer,
                    relation: edge.relation,
                });
            }
        }
        self.forced.sort_unstable();
        self.forced.dedup();
        let mut rows: Vec<Option<VersionRow>> = std::mem::take(&mut self.rows)
            .into_iter()
            .map(Some)
            .collect();
        self.rows = order.iter().filter_map(|&old| rows[old].take()).collect();
        for (place, pair) in order.windows(2).enumerate() {
            self.rows[place + 1].is_joined = edges.binary_search(&(pair[0], pair[1])).is_ok();
        }
        control.check()
    }

    /// Elements next to each other in the lists that were read: the pairs of the longest list first, then those of
    /// lists that continue none before them. O(elements of these lists · log).
    fn list_order(
        &self,
        history: &History,
        control: &Control,
    ) -> Result<Vec<(usize, usize)>, Interrupt> {
        if !history.lists().is_list(self.key) {
            return Ok(Vec::new());
        }
        let place_of: BTreeMap<u64, usize> = self
            .rows
            .iter()
            .enumerate()
            .skip(1)
            .map(|(place, row)| (row.value.0, place))
            .collect();
        let readers = self.rows.iter().flat_map(|row| &row.readers);
        let mut lists: Vec<&[Value]> = readers
            .filter_map(|(_, read)| history.lists().read_by(*read))
            .collect();
        lists.sort_by_key(|list| Reverse(list.len()));
        let mut longest: Vec<&[Value]> = Vec::new();
        let (mut pairs, mut known) = (Vec::new(), BTreeSet::new());
        for list in going(control, lists) {
            if longest.len() < MAX_LISTS && !longest.iter().any(|longer| longer.starts_with(list)) {
                let places = list.iter().map(|value| place_of.get(&value.0).copied());
                let places: Vec<Option<usize>> = places.collect();
                let both = places.windows(2).filter_map(|pair| pair[0].zip(pair[1]));
                pairs.extend(both.filter(|pair| known.insert(*pair)));
                longest.push(list);
            }
        }
        control.check()?;
        Ok(pairs)
    }

    fn when(&self, history: &History, place: usize) -> (i64, u32, usize) {
        let row = &self.rows[place];
        let start = (!row.writer.is_initial())
            .then(|| history.interval(row.writer))
            .flatten()
            .map_or(0, |i| i.start);
        let line = row.write.map_or(0, |write| history.line_of(write));
        (start, line, place)
    }
}

/// A topological order; among candidates, the one that is `next` to the last comes first, otherwise the least by `when`.
/// A cycle is started at the least of all that are left.
fn topological<K: Ord + Copy>(
    n: usize,
    edges: &[(usize, usize)],
    next: &BTreeMap<usize, usize>,
    when: impl Fn(usize) -> K,
    control: &Control,
) -> Result<Vec<usize>, Interrupt> {
    let mut before = vec![0_usize; n];
    edges.iter().for_each(|(_, to)| before[*to] += 1);
    let mut ready: BinaryHeap<Reverse<(K, usize)>> = (0..n)
        .filter(|place| before[*place] == 0)
        .map(|place| Reverse((when(place), place)))
        .collect();
    let mut done = vec![false; n];
    let mut order = Vec::with_capacity(n);
    let mut rest: Vec<usize> = (0..n).collect();
    sort_by(&mut rest, control, |a, b| when(*a).cmp(&when(*b)))?;
    let mut rest = rest.into_iter();
    loop {
        let neighbour = order
            .last()
            .and_then(|last| next.get(last))
            .filter(|at| before[**at] == 0 && !done[**at]);
        let least = || {
            ready
                .pop()
                .map(|Reverse((_, place))| place)
                .or_else(|| rest.find(|place| !done[*place]))
        };
        let Some(at) = neighbour.copied().or_else(least) else {
            return Ok(order);
        };
        if std::mem::replace(&mut done[at], true) {
            continue;
        }
        order.push(at);
        if order.len() % 4096 == 0 {
            control.check()?;
        }
        let begin = edges.partition_point(|(from, _)| *from < at);
        for (_, to) in edges[begin..].iter().take_while(|(from, _)| *from == at) {
            before[*to] -= 1;
            if before[*to] == 0 && !done[*to] {
                ready.push(Reverse((when(*to), *to)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isoscope_model::relations;

    fn chain(text: &str, key: &str) -> (History, Chain) {
        chain_with(text, key, &[])
    }

    fn chain_with(text: &str, key: &str, forcing: &[Edge]) -> (History, Chain) {
        let history = isoscope_formats::text::parse(text).expect("a history in our notation");
        let resolution = relations::resolve(&history, &Control::new()).expect("nothing stops it");
        let key = (0..history.n_keys())
            .map(KeyId::new)
            .find(|k| history.key_name(*k) == key)
            .expect("the key is there");
        let chain = Chain::new(&history, &resolution, key, forcing, &Control::new())
            .expect("nothing stops it");
        (history, chain)
    }

    fn values(history: &History, chain: &Chain) -> Vec<String> {
        chain
            .rows
            .iter()
            .map(|row| history.value_name(row.value))
            .collect()
    }

    #[test]
    fn who_reads_and_writes_comes_after_what_it_read() {
        let (history, chain) = chain(
            "a: [r x 3, w x 4]\nb: [w x 1] [r x 1, w x 2]\nc: [r x 2, w x 3]\n",
            "x",
        );
        assert_eq!(values(&history, &chain), ["initial", "1", "2", "3", "4"]);
        let readers: Vec<usize> = chain.rows.iter().map(|row| row.readers.len()).collect();
        assert_eq!(readers, [0, 1, 1, 1, 0]);
    }

    #[test]
    fn what_was_observed_orders_versions_and_the_contradiction_goes_back() {
        let edge = |from, to, relation, key: Option<usize>| Edge {
            from: TransactionId::new(from),
            to: TransactionId::new(to),
            relation,
            key: key.map(KeyId::new),
            from_operation: None,
            to_operation: None,
            because: isoscope_model::relations::Reason::Reads,
        };
        // The second session read y of the first one, before it wrote x: its x is newer, though it reads the older one then.
        let text = "a: [w x 1, w y 1]\nb: [r y 1, w x 2] [r x 1]\n";
        let forcing = [
            edge(0, 1, Relation::WriteRead, Some(1)),
            edge(1, 0, Relation::CommitOrder, Some(0)),
        ];
        for text in [text, "b: [r y 1, w x 2] [r x 1]\na: [w x 1, w y 1]\n"] {
            let b_first = text.starts_with('b');
            let number = |n: usize| if b_first { [2, 0, 1][n] } else { n };
            let turned = |e: &Edge| Edge {
                from: TransactionId::new(number(e.from.index())),
                to: TransactionId::new(number(e.to.index())),
                key: e.key.map(|key| {
                    KeyId::new(if b_first {
                        1 - key.index()
                    } else {
                        key.index()
                    })
                }),
                ..e.clone()
            };
            let forcing: Vec<Edge> = forcing.iter().map(turned).collect();
            let (history, chain) = chain_with(text, "x", &forcing);
            assert_eq!(values(&history, &chain), ["initial", "1", "2"], "{text}");
            assert!(
                chain
                    .forced
                    .iter()
                    .any(|forced| (forced.older, forced.newer) == (2, 1)),
                "{:?}",
                chain.forced
            );
        }
    }

    #[test]
    fn what_no_transaction_should_read_says_why() {
        let (_, chain) = chain("a: [w x 1, w x 2] [w x 3]!\nb: [r x 2, r x 9]\n", "x");
        let blemished: Vec<bool> = chain.rows.iter().map(|row| row.blemish.is_some()).collect();
        assert_eq!(blemished, [false, true, false, true]);
        let unwritten = BTreeMap::from([("of a value that no transaction wrote", 1)]);
        assert_eq!(chain.unknown_reads, unwritten, "no transaction wrote 9");
    }

    #[test]
    fn elements_are_joined_where_a_list_has_them_next_to_each_other() {
        let (history, chain) = chain(
            "a: [a x 1] [a x 2]\nb: [a x 3]\nc: [a x 5]\nd: [a x 7]\ne: [r x [1 5]] [r x [3 7]] [r x [1 5]]\n",
            "x",
        );
        assert_eq!(
            values(&history, &chain),
            ["initial", "1", "5", "2", "3", "7"]
        );
        let joined: Vec<bool> = chain.rows.iter().map(|row| row.is_joined).collect();
        assert_eq!(
            joined,
            [false, true, true, false, false, true],
            "nothing was read after 2"
        );
    }

    #[test]
    fn registers_are_joined_by_sessions_and_updates_only() {
        let (_, chain) = chain("a: [w x 1] [w x 2]\nb: [w x 3]\nc: [r x 3, w x 4]\n", "x");
        let joined: Vec<bool> = chain.rows.iter().map(|row| row.is_joined).collect();
        assert_eq!(joined, [false, true, true, false, true]);
    }

    #[test]
    fn only_joined_versions_have_a_known_order() {
        let (_, chain) = chain("a: [w x 1] [w x 2]\nb: [w x 3]\nc: [r x 3, w x 4]\n", "x");
        let writes: Vec<OperationId> = [0, 1, 2, 4].map(OperationId::new).into();
        let pairs: Vec<[usize; 2]> = chain
            .known_pairs(&writes)
            .into_iter()
            .map(|(a, b)| [a.index(), b.index()])
            .collect();
        assert_eq!(
            pairs,
            [[0, 1], [2, 4]],
            "whether 2 or 3 is older is not recorded"
        );
    }

    #[test]
    fn what_sets_a_key_up_is_its_initial_version() {
        let (history, chain) = chain(
            "a: [w x 0, w y 0] [r x 0, w x 1]\nb: [r y 0, r x 0, r x 1]\n",
            "x",
        );
        assert_eq!(values(&history, &chain), ["0", "1"]);
        assert!(chain.rows[0].sets_up && !chain.rows[1].sets_up);
        assert_eq!(
            chain.rows[0].readers.len(),
            2,
            "reads of the initial value are of that version"
        );
    }

    #[test]
    fn an_intermediate_write_is_harmful_where_others_read_it() {
        let (_, chain) = chain("a: [w x 1, w x 2, w x 3]\nb: [r x 2]\nc: [w x 4]!\n", "x");
        let harmful: Vec<bool> = chain.rows.iter().map(VersionRow::is_harmful).collect();
        assert_eq!(harmful, [false, false, true, false, true]);
    }

    #[test]
    fn cycles_are_begun_somewhere() {
        let (history, chain) = chain("a: [r x 2, w x 1]\nb: [r x 1, w x 2]\n", "x");
        assert_eq!(values(&history, &chain).len(), 3);
    }
}
