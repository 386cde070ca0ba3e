//! The guarantees of sessions: read your writes, monotonic reads, monotonic writes, writes follow reads, and PRAM.
//!
//! Each is an axiom like those of RC, RA and TCC: t3 reads key x from t1, t2 ∉ {t1, t3} also writes x, and a path of SO and
//! WR that the guarantee counts ([`Guarantee`]) leads from t2 to t3; then t2 comes before t1 in every commit order. A
//! guarantee holds iff SO ∪ WR, the orders that lists show and these edges have no cycle. None of them counts a single
//! write-read edge, so a transaction may see half of another one.
//!
//! They are decided as the other weak levels (`replay`); what a guarantee forces against an order is found here.

use super::base_order::{Open, Replay, between};
use super::causality::Forced;
use super::order::LinearOrder;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Guarantee, Index, NONE, Node};
use std::collections::VecDeque;

/// By session: a bound of its nodes, with whose it is; none where it is another one's. Empty where no bounds are needed.
struct UpTo(Vec<(u32, Node)>);

impl UpTo {
    /// The bound of a session, 0 if there is none.
    fn of(&self, session: u32, whose: u32) -> Node {
        match self.0[session as usize] {
            (known, bound) if known == whose => bound,
            _ => 0,
        }
    }

    /// Raises the bound of a session.
    fn raise(&mut self, session: u32, whose: u32, bound: Node) {
        if !self.0.is_empty() {
            self.0[session as usize] = (whose, bound.max(self.of(session, whose)));
        }
    }
}

/// What a guarantee forces against an order: a walk over the sessions that keeps what each transaction's session has read.
/// Takes O(reads + versions between); for WFR also the transactions between, for each reader of a version that is not the
/// newest.
pub(super) struct Demands<'a> {
    index: &'a Index,
    guarantee: Guarantee,
    /// By node: the session, plus one, whose transactions so far have read from it.
    read_in: Vec<u32>,
    /// By session: up to which of its nodes, exclusive, the transactions of the session so far have seen it.
    seen: UpTo,
    /// By session: up to which of its nodes, exclusive, the transaction sees it by its own reads.
    seen_now: UpTo,
    /// For WFR: by node, the last reader, plus one, that it was found for.
    followed: Vec<u32>,
    /// For WFR: by session, up to which node its reads have been looked at, and for which reader, plus one.
    looked_at: Vec<(u32, Node)>,
}

impl<'a> Demands<'a> {
    pub(super) fn new(index: &'a Index, guarantee: Guarantee) -> Demands<'a> {
        let by = |guarantees: &[Guarantee], n: usize| {
            if guarantees.contains(&guarantee) {
                n
            } else {
                0
            }
        };
        use Guarantee::{MonotonicReads, MonotonicWrites, Pram, WritesFollowReads};
        let (nodes, sessions) = (index.n_nodes(), index.n_sessions());
        Demands {
            index,
            guarantee,
            read_in: vec![0; by(&[MonotonicReads], nodes)],
            seen: UpTo(vec![(0, 0); by(&[Pram], sessions)]),
            seen_now: UpTo(vec![(0, 0); by(&[MonotonicWrites, Pram], sessions)]),
            followed: vec![0; by(&[WritesFollowReads], nodes)],
            looked_at: vec![(0, 0); by(&[WritesFollowReads], sessions)],
        }
    }

    /// The edges that the open reads of an order force against it.
    pub(super) fn of(
        mut self,
        order: &LinearOrder,
        replay: &Replay,
        control: &Control,
    ) -> Result<Vec<Forced>, Interrupt> {
        let mut open: Vec<Open> = replay.open.iter().flatten().copied().collect();
        open.sort_unstable_by_key(|open| (open.reader, open.read));
        let mut demands = Vec::new();
        let of_session = |a: &Open, b: &Open| {
            self.index.session[a.reader as usize] == self.index.session[b.reader as usize]
        };
        for of_session in open.chunk_by(of_session) {
            let session = self.index.session[of_session[0].reader as usize];
            let mut next = self.index.session_begin[session as usize];
            for of_reader in of_session.chunk_by(|a, b| a.reader == b.reader) {
                control.check()?;
                let reader = of_reader[0].reader;
                (next..reader).for_each(|t| self.keep(t));
                next = reader;
                self.begin(of_reader, order, replay);
                for &one in of_reader {
                    let missed =
                        between(self.index, replay, one).filter(|&t2| self.sees(t2, reader));
                    let to = self.index.writer_of_read(one.read as usize);
                    demands.extend(missed.map(|from| Forced {
                        from,
                        to,
                        read: one.read,
                    }));
                }
            }
        }
        Ok(demands)
    }

    /// The nodes that a node reads from, possibly more than once.
    fn writers(&self, t: Node) -> impl Iterator<Item = Node> + use<'a> {
        let index: &'a Index = self.index;
        index.read_writer[index.reads_of(t)]
            .iter()
            .copied()
            .filter(|&writer| writer != NONE)
    }

    /// Keeps what later transactions of its session see by the reads of a transaction.
    fn keep(&mut self, t: Node) {
        let session = self.index.session[t as usize] + 1;
        for writer in self.writers(t) {
            if let Some(read_in) = self.read_in.get_mut(writer as usize) {
                *read_in = session;
            }
            self.seen
                .raise(self.index.session[writer as usize], session, writer + 1);
        }
    }

    /// Finds out what a transaction with open reads sees by its own reads.
    fn begin(&mut self, open: &[Open], order: &LinearOrder, replay: &Replay) {
        let reader = open[0].reader;
        match self.guarantee {
            Guarantee::MonotonicWrites | Guarantee::Pram => {
                for writer in self.writers(reader) {
                    self.seen_now
                        .raise(self.index.session[writer as usize], reader + 1, writer);
                }
            }
            Guarantee::WritesFollowReads => {
                let candidates = open
                    .iter()
                    .flat_map(|&one| between(self.index, replay, one));
                let lowest = candidates
                    .map(|t2| order.place[t2 as usize])
                    .min()
                    .unwrap_or(0);
                self.follow(reader, |t| order.place[t as usize] > lowest);
            }
            Guarantee::ReadYourWrites | Guarantee::MonotonicReads => {}
        }
    }

    /// Marks what a reader sees by writes that follow reads, as far as the nodes on the way are `inside`, which holds of all
    /// nodes after one in its session, and of all that read from them.
    fn follow(&mut self, reader: Node, inside: impl Fn(Node) -> bool) {
        let mark = reader + 1;
        let mut open: Vec<Node> = self.writers(reader).collect();
        while let Some(writer) = open.pop() {
            let session = self.index.session[writer as usize] as usize;
            let first = match self.looked_at[session] {
                (of, last) if of == mark => last + 1,
                _ => self.index.session_begin[session],
            };
            for t in (first..=writer).rev().take_while(|&t| inside(t)) {
                for source in self.writers(t) {
                    if std::mem::replace(&mut self.followed[source as usize], mark) != mark {
                        open.push(source);
                    }
                }
            }
            if first <= writer {
                self.looked_at[session] = (mark, writer);
            }
        }
    }

    /// Whether the guarantee counts a path from t2 to the current reader.
    fn sees(&self, t2: Node, t3: Node) -> bool {
        let session = self.index.session[t2 as usize];
        let in_session = || t2 < t3 && session == self.index.session[t3 as usize];
        match self.guarantee {
            Guarantee::ReadYourWrites => in_session(),
            Guarantee::MonotonicReads => {
                self.read_in[t2 as usize] == self.index.session[t3 as usize] + 1
            }
            Guarantee::MonotonicWrites => t2 < self.seen_now.of(session, t3 + 1),
            Guarantee::WritesFollowReads => self.followed[t2 as usize] == t3 + 1,
            Guarantee::Pram => {
                in_session()
                    || t2 < self.seen.of(session, self.index.session[t3 as usize] + 1)
                    || t2 < self.seen_now.of(session, t3 + 1)
            }
        }
    }
}

/// A step of a path: later in the same session (`false`), or a read (`true`).
pub(super) type PathStep = (Node, Node, bool);

/// A path from t2 to t3 that a guarantee counts, and its kind: of several kinds the one that is easiest to follow.
/// O(reads of the session of t3, and of what it sees).
pub(super) fn path(
    index: &Index,
    guarantee: Guarantee,
    t2: Node,
    t3: Node,
) -> Option<(Guarantee, Vec<PathStep>)> {
    use Guarantee::{MonotonicReads, MonotonicWrites, Pram, ReadYourWrites, WritesFollowReads};
    let kinds = [
        ReadYourWrites,
        MonotonicReads,
        MonotonicWrites,
        Pram,
        WritesFollowReads,
    ];
    let counted = kinds.into_iter().filter(|&kind| guarantee.counts(kind));
    counted
        .filter_map(|kind| Some((kind, path_of(index, kind, t2, t3)?)))
        .next()
}

fn path_of(index: &Index, kind: Guarantee, t2: Node, t3: Node) -> Option<Vec<PathStep>> {
    let in_session =
        |a: Node, b: Node| a < b && index.session[a as usize] == index.session[b as usize];
    let writers = |t: Node| {
        index
            .reads_of(t)
            .map(|read| index.writer_of_read(read))
            .filter(|&writer| writer != NONE)
    };
    let earlier = || (index.session_begin[index.session[t3 as usize] as usize]..t3).rev();
    match kind {
        Guarantee::ReadYourWrites => in_session(t2, t3).then(|| vec![(t2, t3, false)]),
        Guarantee::MonotonicReads => {
            let reader = earlier().find(|&t| writers(t).any(|writer| writer == t2))?;
            Some(vec![(t2, reader, true), (reader, t3, false)])
        }
        Guarantee::MonotonicWrites => {
            let writer = writers(t3).find(|&writer| in_session(t2, writer))?;
            Some(vec![(t2, writer, false), (writer, t3, true)])
        }
        Guarantee::Pram => {
            let of = |t: Node| Some((t, writers(t).find(|&writer| in_session(t2, writer))?));
            let (reader, writer) = earlier().find_map(of)?;
            Some(vec![
                (t2, writer, false),
                (writer, reader, true),
                (reader, t3, false),
            ])
        }
        Guarantee::WritesFollowReads => following(index, t2, t3),
    }
}

/// How a node was found to have been read before another one wrote.
#[derive(Clone, Copy)]
struct Followed {
    /// Who read from it.
    reader: Node,
    /// Who wrote later in the session of that reader, or is the reader.
    writer: Node,
    /// Whether the last reader read from that one, or else who did is found in the same way.
    is_last: bool,
}

/// The path of writes that follow reads with the fewest reads.
fn following(index: &Index, t2: Node, t3: Node) -> Option<Vec<PathStep>> {
    let writers = |t: Node| {
        index
            .reads_of(t)
            .map(|read| index.writer_of_read(read))
            .filter(|&writer| writer != NONE)
    };
    let mut found: rustc_hash::FxHashMap<Node, Followed> = rustc_hash::FxHashMap::default();
    let mut open: VecDeque<(Node, bool)> = writers(t3).map(|writer| (writer, true)).collect();
    while !found.contains_key(&t2) {
        let (writer, is_last) = open.pop_front()?;
        for reader in (index.session_begin[index.session[writer as usize] as usize]..=writer).rev()
        {
            for source in writers(reader) {
                found.entry(source).or_insert_with(|| {
                    open.push_back((source, false));
                    Followed {
                        reader,
                        writer,
                        is_last,
                    }
                });
            }
        }
    }
    let (mut path, mut at) = (Vec::new(), t2);
    loop {
        let Followed {
            reader,
            writer,
            is_last,
        } = found[&at];
        path.push((at, reader, true));
        if reader != writer {
            path.push((reader, writer, false));
        }
        if is_last {
            path.push((writer, t3, true));
            return Some(path);
        }
        at = writer;
    }
}
