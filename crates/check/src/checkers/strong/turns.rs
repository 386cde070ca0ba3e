//! Runs the sessions against one copy of the keys: searches for a serial execution, or one with snapshots, turn by
//! turn.
//!
//! If values repeat, the writer of a read is open, but the *value* that a key must have is not. So an order can be
//! searched for without choosing writers: the next event is one whose reads return the current values (Biswas & Enea
//! 2019, Algorithm 2, a search through prefixes; Wing & Gong 1993 for single objects). States that led nowhere are
//! remembered. With few sessions that decides histories with far too many choices of writers to enumerate; with many it
//! gives up soon. It finds orders and never refutes: that is left to the engine.

use super::known::Events;
use super::open_reads::OpenReads;
use super::ordered;
use super::replay::explains;
use crate::checkers::{Level, Order, recorded};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::Rows;
use isoscope_model::history::{History, KeyId, OperationId, OperationKind, Value};
use isoscope_model::relations::{Choice, INITIAL_SLOT, Index, NONE, Node, Resolution, Slot};
use rustc_hash::{FxHashMap, FxHashSet};

/// Most visits of sessions, over all attempts.
const MOST_LOOKS: usize = 1 << 25;
/// Visits of sessions in the first attempt.
const FIRST_LOOKS: usize = 1 << 18;
/// Most states remembered.
const MOST_STATES: usize = 1 << 21;
/// Most sessions tried as the next one.
const MOST_NEXT: usize = 16;

/// What a read must find.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    /// This version: it may have returned no other.
    Version(Slot),
    /// Any version with this value, or the initial one if it has that value.
    Value { value: u32, or_initial: bool },
}

/// An order for PC, SI or SER that explains all reads, with the writers that it gives the ambiguous ones, if one is
/// found within a fixed number of steps. `share` says which fraction of them is allowed, as a shift.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(in crate::checkers) fn take_turns(
    history: &History,
    resolution: &Resolution,
    index: &Index,
    level: Level,
    share: u32,
    control: &Control,
) -> Result<Option<(Order, Choice)>, Interrupt> {
    let events = Events::new(level, index.n_nodes());
    if events.in_real_time() || !history.lists().is_empty() || index.n_nodes() == 0 {
        return Ok(None);
    }
    if !OpenReads::are_few(resolution, control)? {
        return Ok(None);
    }
    let plan = Plan::new(history, resolution, index);
    let rank = recorded::rank(index, index.n_nodes(), |node, current| {
        usize::from(plan.fits(node, current))
    });
    let mut turns = Turns::new(&plan, index, events, rank);
    let mut left = MOST_LOOKS >> share;
    let mut budget = FIRST_LOOKS;
    for attempt in 0.. {
        let before = turns.looks;
        turns.noise = fastrand::Rng::with_seed(attempt);
        turns.is_noisy = attempt > 0;
        match turns.run(budget.min(left), control)? {
            End::Found => break,
            End::Nowhere => return Ok(None),
            End::TooLong => {}
        }
        left = left.saturating_sub(turns.looks - before);
        if left == 0 || turns.dead.len() >= MOST_STATES {
            return Ok(None);
        }
        budget *= 2;
    }
    let vertex = |done: &Done| {
        if done.is_commit {
            events.commit(done.node)
        } else {
            events.start(done.node)
        }
    };
    let order: Vec<u32> = turns.done.iter().map(vertex).collect();
    let alive: Vec<Vec<bool>> = resolution
        .ambiguous_reads()
        .map(|multiple| vec![true; multiple.kept])
        .collect();
    let mut choice = resolution.choice_of_none();
    for open in OpenReads::new(history, resolution, index, &choice.clone(), &alive) {
        if open.complete(index, events, &order, &mut choice).is_some() {
            return Ok(None);
        }
    }
    // Check the history again under the choice, version by version.
    let chosen = Index::build_with(history, resolution, &choice, control)?;
    let is_explained = chosen.n_nodes() == index.n_nodes()
        && explains(&chosen, events, &OpenReads::default(), &order);
    Ok(is_explained.then(|| (ordered(events, &order), choice)))
}

/// The reads and writes of the transactions of an index, by value if the writer is open.
struct Plan {
    /// By node, its reads: the key and what it must hold.
    wanted: Rows<(u32, Wanted)>,
    /// By version: its value, in a numbering by key and value.
    value: Vec<u32>,
    /// By version: its identity in a state; versions that no read can distinguish have the same.
    print: Vec<u64>,
}

impl Plan {
    fn new(history: &History, resolution: &Resolution, index: &Index) -> Plan {
        let mut numbers: FxHashMap<(u32, Value), u32> = FxHashMap::default();
        let mut number = |key: u32, value: Value| {
            let next = numbers.len() as u32;
            *numbers.entry((key, value)).or_insert(next)
        };
        let written = |slot: usize| history.operation(index.slot_operation[slot]).value;
        let value: Vec<u32> = (0..index.slot_node.len())
            .map(|slot| number(index.slot_key[slot], written(slot)))
            .collect();
        let mut is_named = vec![false; value.len()];
        let mut wanted = Rows::default();
        for node in 0..index.n_nodes() {
            let named = index.reads_of(node as Node).map(|read| {
                let slot = index.read_slot[read];
                if let Some(is_named) = is_named.get_mut(slot as usize) {
                    *is_named = true;
                }
                (index.read_key[read], Wanted::Version(slot))
            });
            let is_open = |read: &OperationId| {
                history.kinds()[read.index()] == OperationKind::Read
                    && !resolution.candidates(*read).is_empty()
                    && !resolution.is_open_after_own_write(*read)
            };
            let open = history
                .operations_of(index.transaction[node])
                .filter(is_open)
                .map(|read| {
                    let operation = history.operation(read);
                    let key = operation.key.0;
                    let or_initial = history.may_be_initial(KeyId(key), operation.value);
                    (
                        key,
                        Wanted::Value {
                            value: number(key, operation.value),
                            or_initial,
                        },
                    )
                });
            wanted.push(named.chain(open));
        }
        let print = |slot: usize| {
            if is_named[slot] {
                mixed(1, slot as u64)
            } else {
                mixed(2, u64::from(value[slot]))
            }
        };
        let print = (0..value.len()).map(print).collect();
        Plan {
            wanted,
            value,
            print,
        }
    }

    fn reads_of(&self, node: Node) -> &[(u32, Wanted)] {
        self.wanted.of(node)
    }

    fn is_there(&self, wanted: Wanted, current: Slot) -> bool {
        match wanted {
            Wanted::Version(slot) => current == slot,
            Wanted::Value { or_initial, .. } if current == INITIAL_SLOT => or_initial,
            Wanted::Value { value, .. } => self.value[current as usize] == value,
        }
    }

    fn fits(&self, node: Node, current: &[Slot]) -> bool {
        self.reads_of(node)
            .iter()
            .all(|&(key, wanted)| self.is_there(wanted, current[key as usize]))
    }
}

/// A well-mixed hash of two numbers (SplitMix64).
fn mixed(a: u64, b: u64) -> u64 {
    let mut z = a
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(b)
        .wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// An event that has been run.
#[derive(Clone, Copy, Debug)]
struct Done {
    node: Node,
    /// At SER every event is one.
    is_commit: bool,
}

/// How a run ends.
enum End {
    Found,
    /// Every branch ends in a state in which no transaction can continue.
    Nowhere,
    TooLong,
}

/// A state with the sessions still to be tried next.
struct Frame {
    /// Best last.
    next: Vec<u32>,
    /// Events run before the one that led to this state.
    n_done: usize,
    state: u64,
}

struct Turns<'a> {
    plan: &'a Plan,
    index: &'a Index,
    events: Events,
    rank: Option<Vec<u32>>,
    /// By key: the newest version.
    current: Vec<Slot>,
    /// By session: the node whose turn it is, and whether it has started.
    head: Vec<Node>,
    has_started: Vec<bool>,
    /// Events run, and the versions that they replaced.
    done: Vec<Done>,
    replaced: Vec<(u32, Slot)>,
    /// The print of the state.
    state: u64,
    /// Prints of states from which the end cannot be reached.
    dead: FxHashSet<u64>,
    looks: usize,
    noise: fastrand::Rng,
    is_noisy: bool,
}

impl<'a> Turns<'a> {
    fn new(plan: &'a Plan, index: &'a Index, events: Events, rank: Option<Vec<u32>>) -> Turns<'a> {
        Turns {
            plan,
            index,
            events,
            rank,
            current: vec![INITIAL_SLOT; index.n_keys()],
            head: index.session_begin[..index.n_sessions()].to_vec(),
            has_started: vec![false; index.n_sessions()],
            done: Vec::new(),
            replaced: Vec::new(),
            state: 0,
            dead: FxHashSet::default(),
            looks: 0,
            noise: fastrand::Rng::with_seed(0),
            is_noisy: false,
        }
    }

    /// Searches from the beginning, depth first. After [`End::Found`] `done` holds the order.
    fn run(&mut self, most_looks: usize, control: &Control) -> Result<End, Interrupt> {
        self.take_back(0);
        let n_events = if self.events.split() {
            2 * self.index.n_nodes()
        } else {
            self.index.n_nodes()
        };
        let (begin, mut steps) = (self.looks, 0usize);
        let mut frames = vec![self.enter(0)];
        loop {
            if self.done.len() == n_events {
                return Ok(End::Found);
            }
            steps += 1;
            control.tick(steps)?;
            if self.looks - begin > most_looks || self.dead.len() >= MOST_STATES {
                return Ok(End::TooLong);
            }
            let Some(frame) = frames.last_mut() else {
                return Ok(End::Nowhere);
            };
            match frame.next.pop() {
                Some(session) => {
                    let n_done = self.done.len();
                    self.turn(session);
                    let frame = self.enter(n_done);
                    frames.push(frame);
                }
                None => {
                    let (state, n_done) = (frame.state, frame.n_done);
                    self.dead.insert(state);
                    self.take_back(n_done);
                    frames.pop();
                }
            }
        }
    }

    /// Runs what can be run without excluding any branch, and lists the sessions that may be next.
    fn enter(&mut self, n_done: usize) -> Frame {
        while self.settle() {}
        let next = if self.dead.contains(&self.state) {
            Vec::new()
        } else {
            self.next()
        };
        Frame {
            next,
            n_done,
            state: self.state,
        }
    }

    fn head_of(&self, session: usize) -> Option<Node> {
        let node = self.head[session];
        (node < self.index.session_begin[session + 1]).then_some(node)
    }

    /// Runs events that may as well run now, since they change no key and no other turn depends on them: transactions
    /// that only read, and at PC every start. Returns whether there were any.
    fn settle(&mut self) -> bool {
        let before = self.done.len();
        for session in 0..self.head.len() {
            while let Some(node) = self.head_of(session) {
                self.looks += 1;
                let only_reads = self.index.writes_of(node).is_empty();
                let may_start =
                    only_reads || (self.events.split() && !self.events.forbids_conflicts());
                if self.has_started[session] || !may_start || !self.plan.fits(node, &self.current) {
                    break;
                }
                self.turn(session as u32);
                if only_reads && self.events.split() {
                    self.turn(session as u32);
                }
            }
        }
        self.done.len() > before
    }

    /// The sessions that may be next, best last: by rank if there is one, else those with the most reads to satisfy,
    /// then those furthest behind.
    fn next(&mut self) -> Vec<u32> {
        let mut found: Vec<(u64, u32)> = Vec::new();
        for session in 0..self.head.len() {
            self.looks += 1;
            let Some(node) = self.head_of(session) else {
                continue;
            };
            let may_be = if self.has_started[session] {
                !self.events.forbids_conflicts() || !self.shuts_out(session, node)
            } else {
                self.plan.fits(node, &self.current)
                    && (self.events.split() || !self.index.writes_of(node).is_empty())
            };
            if may_be {
                found.push((self.preference(session, node), session as u32));
            }
        }
        found.sort_unstable();
        let too_many = found.len().saturating_sub(MOST_NEXT);
        found
            .into_iter()
            .skip(too_many)
            .map(|(_, session)| session)
            .collect()
    }

    /// Higher is better.
    fn preference(&mut self, session: usize, node: Node) -> u64 {
        if let Some(rank) = &self.rank {
            let noise = if self.is_noisy {
                self.noise.u32(0..4)
            } else {
                0
            };
            return u64::from(u32::MAX - rank[node as usize].saturating_add(noise));
        }
        let noise = if self.is_noisy {
            self.noise.u64(0..3)
        } else {
            0
        };
        let n_reads = self.plan.reads_of(node).len() as u64 + noise;
        let (begin, end) = (
            self.index.session_begin[session],
            self.index.session_begin[session + 1],
        );
        let ahead = u64::from(node - begin) * 1000 / u64::from(end - begin);
        n_reads * 1001 + (1000 - ahead)
    }

    /// Whether the commit of a node would make it impossible for another one that has started to commit (SI).
    fn shuts_out(&self, session: usize, node: Node) -> bool {
        let keys = |node: Node| &self.index.write_key[self.index.writes_of(node)];
        (0..self.head.len())
            .filter(|&other| other != session && self.has_started[other])
            .any(|other| {
                let others = keys(self.head[other]);
                keys(node)
                    .iter()
                    .any(|key| others.binary_search(key).is_ok())
            })
    }

    /// Runs the next event of a session.
    fn turn(&mut self, session: u32) {
        let at = session as usize;
        let node = self.head[at];
        self.print_session(at);
        let is_commit = !self.events.split() || self.has_started[at];
        if is_commit {
            for write in self.index.writes_of(node) {
                let key = self.index.write_key[write];
                self.replaced.push((key, self.current[key as usize]));
                self.put(key, self.index.write_slot[write]);
            }
            self.head[at] = node + 1;
        }
        self.has_started[at] = !is_commit;
        self.print_session(at);
        self.done.push(Done { node, is_commit });
    }

    /// Undoes events until this many are left.
    fn take_back(&mut self, n_done: usize) {
        while self.done.len() > n_done {
            let Some(Done { node, is_commit }) = self.done.pop() else {
                return;
            };
            let at = self.index.session[node as usize] as usize;
            self.print_session(at);
            if is_commit {
                for _ in self.index.writes_of(node) {
                    if let Some((key, slot)) = self.replaced.pop() {
                        self.put(key, slot);
                    }
                }
            }
            self.head[at] = node;
            self.has_started[at] = is_commit && self.events.split();
            self.print_session(at);
        }
    }

    /// Makes a version the newest of its key.
    fn put(&mut self, key: u32, slot: Slot) {
        let print = |slot: Slot| {
            if slot == INITIAL_SLOT {
                0
            } else {
                mixed(3 + u64::from(key), self.plan.print[slot as usize])
            }
        };
        self.state ^= print(self.current[key as usize]) ^ print(slot);
        self.current[key as usize] = slot;
    }

    /// Adds the position of a session to the print of the state, or removes it.
    fn print_session(&mut self, session: usize) {
        let at = u64::from(self.head[session]) << 1 | u64::from(self.has_started[session]);
        self.state ^= mixed(u64::from(NONE) + session as u64, at);
    }
}
