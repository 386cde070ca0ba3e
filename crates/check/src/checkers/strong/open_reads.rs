//! Reads that may have returned the version of one of several writers, since a value was written more than once.
//!
//! The [`Index`] leaves them out. At the strong levels such a read is explained by an order that makes *one* of its
//! candidates the current version at the start of its transaction, so the engine decides which one together with the
//! order (VeriStrong, section 3, has the same disjunction as variables of its encoding).

use super::known::{Events, Known, Vertex};
use super::reachability::leads_to;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::Digraph;
use isoscope_model::history::History;
use isoscope_model::relations::{
    Choice, INITIAL_SLOT, Index, NONE, Node, Resolution, Slot, Source,
};
use std::ops::Range;

/// Maximum number of candidates of all ambiguous reads together, and what each takes.
const MOST_CANDIDATES: usize = 1 << 27;
const BYTES_PER_CANDIDATE: usize = size_of::<Slot>() + size_of::<u32>() + size_of::<bool>();

/// An ambiguous read, by its place in [`OpenReads`].
pub(in crate::checkers) type OpenRead = u32;

/// The ambiguous reads of a history whose writers a choice leaves open, by node.
#[derive(Clone, Debug, Default)]
pub(in crate::checkers) struct OpenReads {
    /// By node: its first open read.
    node_begin: Vec<u32>,
    /// By open read: the node, the key, and its place in [`Resolution::ambiguous`].
    reader: Vec<Node>,
    key: Vec<u32>,
    ambiguous: Vec<u32>,
    /// By open read: its first candidate.
    candidate_begin: Vec<u32>,
    /// By candidate: the version, or [`INITIAL_SLOT`].
    slot: Vec<Slot>,
    /// By candidate: its place among all candidates of the read.
    place: Vec<u32>,
}

impl OpenReads {
    /// Whether the candidates of all reads are few enough to be listed one by one.
    ///
    /// # Errors
    /// [`Interrupt`] when they do not fit the limit of memory, or `control` ends the work.
    pub(super) fn are_few(resolution: &Resolution, control: &Control) -> Result<bool, Interrupt> {
        let n_candidates = resolution.n_candidates();
        control.needs(n_candidates.min(MOST_CANDIDATES) * BYTES_PER_CANDIDATE)?;
        Ok(n_candidates <= MOST_CANDIDATES)
    }

    /// The ambiguous reads without a chosen writer: those all of whose possible writers committed, and the free ones,
    /// for which some may not have; for these only the candidates that committed are listed. `alive` says by ambiguous
    /// read and place which candidates are left.
    pub(super) fn new(
        history: &History,
        resolution: &Resolution,
        index: &Index,
        choice: &Choice,
        alive: &[Vec<bool>],
    ) -> [OpenReads; 2] {
        let mut both = [(); 2].map(|()| OpenReads {
            candidate_begin: vec![0],
            ..OpenReads::default()
        });
        for (at, (read, candidates)) in resolution.ambiguous().enumerate() {
            let reader = index.node[history.transaction_of(read).index()];
            if choice[at].is_some() || reader == NONE || resolution.is_open_after_own_write(read) {
                continue;
            }
            let key = history.operation(read).key.0;
            let slot = |source: &Source| match source {
                Source::Transaction { writer, .. } => match index.node[writer.index()] {
                    NONE => None,
                    node => index.slot_of(node, key),
                },
                _ => Some(INITIAL_SLOT),
            };
            let left = || {
                (0..)
                    .zip(candidates.iter())
                    .filter(|&(place, _)| alive[at][place as usize])
            };
            let is_free = left().any(|(_, source)| slot(source).is_none());
            let open = &mut both[usize::from(is_free)];
            for (place, slot) in left().filter_map(|(place, source)| Some((place, slot(source)?))) {
                open.slot.push(slot);
                open.place.push(place);
            }
            open.reader.push(reader);
            open.key.push(key);
            open.ambiguous.push(at as u32);
            open.candidate_begin.push(open.slot.len() as u32);
        }
        for open in &mut both {
            // Nodes ascend with transactions, and ambiguous reads are sorted by operation.
            debug_assert!(open.reader.is_sorted());
            let begins = (0..=index.n_nodes() as Node)
                .map(|t| open.reader.partition_point(|&reader| reader < t) as u32);
            open.node_begin = if open.reader.is_empty() {
                Vec::new()
            } else {
                begins.collect()
            };
        }
        both
    }

    pub(super) fn is_empty(&self) -> bool {
        self.reader.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.reader.len()
    }

    /// The open reads of a node.
    #[inline]
    pub(super) fn of(&self, node: Node) -> Range<OpenRead> {
        if self.is_empty() {
            0..0
        } else {
            self.node_begin[node as usize]..self.node_begin[node as usize + 1]
        }
    }

    pub(super) fn reader(&self, read: OpenRead) -> Node {
        self.reader[read as usize]
    }

    pub(super) fn key(&self, read: OpenRead) -> u32 {
        self.key[read as usize]
    }

    /// The versions that a read may have returned; [`INITIAL_SLOT`] for ⊥'s.
    pub(super) fn candidates(&self, read: OpenRead) -> &[Slot] {
        &self.slot[self.range(read)]
    }

    fn range(&self, read: OpenRead) -> Range<usize> {
        self.candidate_begin[read as usize] as usize
            ..self.candidate_begin[read as usize + 1] as usize
    }

    /// Records in a choice that a read returned this candidate; returns whether it is one.
    fn choose(&self, read: OpenRead, slot: Slot, choice: &mut Choice) -> bool {
        let candidate = self
            .range(read)
            .find(|&candidate| self.slot[candidate] == slot);
        if let Some(candidate) = candidate {
            choice[self.ambiguous[read as usize] as usize] = Some(self.place[candidate]);
        }
        candidate.is_some()
    }

    /// Completes a choice with what the reads return in this order of starts and commits. Returns the first read that
    /// returns no candidate, by its place in [`Resolution::ambiguous`]. O(reads + writes).
    pub(super) fn complete(
        &self,
        index: &Index,
        events: Events,
        order: &[Vertex],
        choice: &mut Choice,
    ) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        let mut unexplained = None;
        let mut current: Vec<Slot> = vec![INITIAL_SLOT; index.n_keys()];
        for &v in order {
            let Some(t) = events.node(v) else { continue };
            if !events.split() || !events.is_commit(v) {
                let fails =
                    |&read: &OpenRead| !self.choose(read, current[self.key(read) as usize], choice);
                let failed: Vec<OpenRead> = self.of(t).filter(fails).collect();
                unexplained = unexplained.or(failed
                    .first()
                    .map(|&read| self.ambiguous[read as usize] as usize));
            }
            if events.is_commit(v) {
                index.writes_of(t).for_each(|write| {
                    current[index.write_key[write] as usize] = index.write_slot[write]
                });
            }
        }
        unexplained
    }

    /// The edges implied by a read from this candidate: it comes after the commit of the writer; a read of ⊥ comes
    /// before all writers of the key.
    pub(super) fn edges(
        &self,
        known: &Known<'_>,
        read: OpenRead,
        slot: Slot,
    ) -> Vec<(Vertex, Vertex)> {
        let (events, reader) = (known.events, self.reader(read));
        match slot {
            INITIAL_SLOT => {
                let firsts = known
                    .first_writers(self.key(read))
                    .filter(|&writer| writer != reader);
                firsts
                    .map(|writer| (events.start(reader), events.commit(writer)))
                    .collect()
            }
            slot => vec![(
                events.commit(known.index.slot_node[slot as usize]),
                events.start(reader),
            )],
        }
    }

    /// Removes the candidates that the known edges exclude: those whose commit comes after the start of the reader, and
    /// those whose writer's session has overwritten the version by then. Returns, by [`Resolution::ambiguous`], whether
    /// any candidate was removed.
    pub(super) fn prune(
        &self,
        known: &Known<'_>,
        graph: &Digraph,
        order: &[Vertex],
        alive: &mut [Vec<bool>],
        control: &Control,
    ) -> Result<bool, Interrupt> {
        let mut queries: Vec<(Vertex, Vertex)> = Vec::new();
        let mut about: Vec<(OpenRead, usize)> = Vec::new();
        for read in 0..self.len() as OpenRead {
            for candidate in self.range(read) {
                let excluding = self.excluded_by(known, read, self.slot[candidate]);
                about.extend(excluding.iter().map(|_| (read, candidate)));
                queries.extend(excluding);
            }
        }
        let holds = leads_to(known.index, known.events, graph, order, &queries, control)?;
        let mut changed = false;
        for (&(read, candidate), _) in about.iter().zip(holds).filter(|(_, holds)| *holds) {
            let left =
                &mut alive[self.ambiguous[read as usize] as usize][self.place[candidate] as usize];
            changed |= std::mem::replace(left, false);
        }
        Ok(changed)
    }

    /// Paths each of which rules out that the read returned this candidate.
    fn excluded_by(&self, known: &Known<'_>, read: OpenRead, slot: Slot) -> Vec<(Vertex, Vertex)> {
        let (events, reader) = (known.events, self.reader(read));
        let start = events.start(reader);
        if slot == INITIAL_SLOT {
            let firsts = known
                .first_writers(self.key(read))
                .filter(|&writer| writer != reader);
            return firsts
                .map(|writer| (events.commit(writer), start))
                .collect();
        }
        let commit = |slot: Slot| events.commit(known.index.slot_node[slot as usize]);
        let overwritten = known
            .next_in_session(slot)
            .filter(|&next| known.index.slot_node[next as usize] != reader);
        [(start, commit(slot))]
            .into_iter()
            .chain(overwritten.map(|next| (commit(next), start)))
            .collect()
    }
}
