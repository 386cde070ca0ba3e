//! Anti-dependencies that every legal execution has, at most one per read: to the certain next version.
//!
//! "Certain" means by causality alone, so that the edges mean something even in a history that violates the level:
//! either exactly one transaction updated the version that was read, or one writer of the key follows the version
//! causally and precedes all other writers that do not come before the version.

use crate::checkers::stretches::in_stretches;
use crate::checkers::strong::CausalPast;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::Digraph;
use isoscope_model::relations::{INITIAL_SLOT, Index, NONE, Node};

/// Why the next version is known to be newer than the one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Newer {
    /// The version read is the initial one.
    ThanInitial,
    /// Its writer updated the version read, by this read (a place in the index).
    Update(u32),
    /// The writer of the version read causally precedes its writer.
    Causally,
}

/// A read of a version and the writer of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AntiDependency {
    pub(super) reader: Node,
    pub(super) read: u32,
    /// Writer of the next version.
    pub(super) next: Node,
}

impl AntiDependency {
    /// Why the next version is newer. O(reads of its writer).
    pub(super) fn newer(&self, index: &Index) -> Newer {
        let version = |read: usize| (index.read_key[read], index.read_slot[read]);
        let seen = version(self.read as usize);
        if seen.1 == INITIAL_SLOT {
            return Newer::ThanInitial;
        }
        let update = index
            .reads_of(self.next)
            .find(|&read| version(read) == seen);
        update.map_or(Newer::Causally, |read| Newer::Update(read as u32))
    }
}

/// SO (to the next transaction) and WR between transactions, each once.
pub(super) fn causal_graph(index: &Index) -> Digraph {
    let mut edges = Vec::new();
    // By writer: its last reader, which may have read many of its versions.
    let mut last = vec![NONE; index.n_nodes()];
    for t in 0..index.n_nodes() as Node {
        edges.extend(index.successor(t).map(|next| (t, next)));
        let writers = index.reads_of(t).map(|read| index.writer_of_read(read));
        let others = writers.filter(|&writer| writer != NONE && writer != t);
        edges.extend(
            others
                .filter(|&w| std::mem::replace(&mut last[w as usize], t) != t)
                .map(|w| (w, t)),
        );
    }
    Digraph::new(index.n_nodes(), edges.iter().copied())
}

/// All such anti-dependencies, by version read, where SO ∪ WR has no cycle: else nothing is certain. Without `past` only
/// updates and single writers are found. O((reads + versions · sessions that write the key) log).
pub(super) fn anti_dependencies(
    index: &Index,
    past: Option<&CausalPast>,
    control: &Control,
) -> Result<Vec<AntiDependency>, Interrupt> {
    /// Keys gone through at a time: few may have been read often.
    const STRETCH: usize = 32;
    let mut reader_of = vec![0; index.read_key.len()];
    for t in 0..index.n_nodes() as Node {
        index.reads_of(t).for_each(|read| reader_of[read] = t);
    }
    let of_key = |_: &mut (), key: usize, found: &mut Vec<AntiDependency>| {
        of_key(
            index,
            past,
            |read| reader_of[read as usize],
            key as u32,
            found,
        );
    };
    let mut found = Vec::new();
    in_stretches(&mut found, index.n_keys(), STRETCH, control, || (), of_key)?;
    Ok(found)
}

/// The anti-dependencies of the readers of one key.
fn of_key(
    index: &Index,
    past: Option<&CausalPast>,
    reader_of: impl Fn(u32) -> Node + Copy,
    key: u32,
    found: &mut Vec<AntiDependency>,
) {
    let versions = index
        .slots_of(key)
        .map(|slot| (index.slot_node[slot], index.readers_of(slot as u32)));
    for (writer, readers) in std::iter::once((NONE, index.readers_of_initial(key))).chain(versions)
    {
        if readers.is_empty() {
            continue;
        }
        let Some(next) = next_version(index, past, reader_of, key, writer, readers) else {
            continue;
        };
        let others = readers
            .iter()
            .map(|&read| (reader_of(read), read))
            .filter(|&(t, _)| t != next);
        // A transaction that reads the version twice depends once.
        let mut last = NONE;
        for (reader, read) in others {
            if reader != last {
                found.push(AntiDependency { reader, read, next });
            }
            last = reader;
        }
    }
}

/// The anti-dependency of one read, if it has one; as [`anti_dependencies`]. O(readers of the version · log).
pub(super) fn next_after(
    index: &Index,
    past: Option<&CausalPast>,
    read: u32,
) -> Option<AntiDependency> {
    let (key, slot) = (
        index.read_key[read as usize],
        index.read_slot[read as usize],
    );
    let (writer, readers) = match slot {
        INITIAL_SLOT => (NONE, index.readers_of_initial(key)),
        slot => (index.slot_node[slot as usize], index.readers_of(slot)),
    };
    let next = next_version(index, past, |read| index.reader(read), key, writer, readers)?;
    let reader = index.reader(read);
    (reader != next).then_some(AntiDependency { reader, read, next })
}

/// The writer of the version certainly next after that of `writer`.
fn next_version(
    index: &Index,
    past: Option<&CausalPast>,
    reader_of: impl Fn(u32) -> Node,
    key: u32,
    writer: u32,
    readers: &[u32],
) -> Option<Node> {
    let mut updates = readers.iter().filter(|&&read| {
        let t = reader_of(read);
        t != writer && index.slot_of(t, key).is_some()
    });
    if let Some(&update) = updates.next() {
        let t = reader_of(update);
        let alone = updates.all(|&read| reader_of(read) == t);
        return alone.then_some(t);
    }
    let slots = index.slots_of(key);
    let writers = &index.slot_node[slots];
    let Some(past) = past else {
        return match *writers {
            [only] if writer == NONE => Some(only),
            _ => None,
        };
    };
    // The first writer of each session that does not come before the version read; an earlier one in the session of a
    // later one precedes it anyway.
    let mut firsts: Vec<Node> = Vec::new();
    for session in writers.chunk_by(|&a, &b| index.session[a as usize] == index.session[b as usize])
    {
        let first = match writer {
            NONE => session.first(),
            _ => {
                let seen = past.count(writer, index.session[session[0] as usize]);
                let from = session.partition_point(|&t| index.position(t) < seen);
                session[from..].iter().find(|&&t| t != writer)
            }
        };
        firsts.extend(first);
    }
    let next = firsts
        .iter()
        .copied()
        .reduce(|a, b| if past.precedes(index, b, a) { b } else { a })?;
    let certain = firsts
        .iter()
        .all(|&t| t == next || past.precedes(index, next, t));
    let after = writer == NONE || past.precedes(index, writer, next);
    (certain && after).then_some(next)
}

/// The version that an anti-dependency leads to.
pub(super) fn missed_slot(index: &Index, edge: &AntiDependency) -> u32 {
    index
        .slot_of(edge.next, index.read_key[edge.read as usize])
        .unwrap_or(INITIAL_SLOT)
}
