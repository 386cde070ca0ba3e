//! The order of operations on one key by just-in-time linearization (Lowe 2017, section 5), where few run at once.
//!
//! The events, beginnings and ends of operations, are walked once in order of time. Of all orders of what has ended so
//! far only a *configuration* matters: the current value, and which of the running operations have taken effect. The
//! set of possible configurations is the *frontier*. Operations take effect as late as possible, when one of them ends
//! that has not yet. If then no configuration is left there is no order. With c operations at once and v values there
//! are at most 3^c · v configurations, so the time is linear in the length of the history.
//!
//! Five facts keep the frontier small:
//!
//! - An operation that only observes takes effect as soon as it fits: it changes nothing.
//! - A write that ran when another plain write took effect may have come directly before that one, where nothing sees
//!   it. Such a *covered* write is done or not done, whichever turns out to be needed.
//! - A write of unknown outcome, which may take effect at any time from its beginning on or never, does so only where
//!   something sees it. Those that do the same are interchangeable: how many were used is all that counts.
//! - A write that is not needed for something that waits for its value is at the latest needed when it ends.
//! - A configuration is left out if another one can do all that it can.
//!
//! An operation that is *loose* is a write that may take effect while it runs, any number of times, or never. Replacing
//! operations by loose ones, and leaving out those that only observe, only adds orders. What cannot be ordered even so
//! thus shows that there is no order of all, and is smaller ([`Cores`](super::core::Cores)).

use super::steps::{Class, OTHER, Step, Steps, UNWRITTEN};
use arrange::Arrangement;
use isoscope_model::control::{Control, Interrupt};
use log::{Entry, Log, Taken};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

mod arrange;
mod log;

/// How the walk ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Walked {
    /// Places of all operations that must come, and of those optional ones that did, in an order that explains them.
    Order(Vec<u32>),
    /// There is none: at the end of the operation at this place no configuration is left.
    None {
        /// Its place.
        stuck: u32,
    },
    /// Too many operations run at once, or too many configurations are possible.
    TooWide,
}

/// What is known of an operation's part in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// It takes effect once while it runs.
    Must,
    /// It takes effect once after it began, or never.
    May,
    /// It takes effect any number of times while it runs.
    Loose,
    /// It is left out.
    Out,
}

/// Most configurations of a frontier; beyond that, depth first is the better way to look for an order.
const MOST_CONFIGURATIONS: usize = 1 << 16;

/// Work between two checks of the control: some tenths of a millisecond.
const WORK_PER_CHECK: usize = 1 << 13;

/// One possible state of affairs between two events.
#[derive(Clone, Copy, Debug)]
struct Configuration {
    value: Class,
    /// How many optional operations of each kind were used: a number of [`Frontier::tallies`].
    used: u32,
    /// Running operations that took effect, as a set of slots.
    done: u64,
    /// Running writes that may have taken effect unseen.
    covered: u64,
    /// How it came about.
    log: u32,
}

/// What distinguishes configurations.
type Key = (Class, u32, u64, u64);

impl Configuration {
    fn key(&self) -> Key {
        (self.value, self.used, self.done, self.covered)
    }
}

/// Optional writes that do the same.
#[derive(Clone, Copy, Debug)]
struct Kind {
    reads: Option<Class>,
    writes: Class,
    /// Those that may take effect once, of all that began.
    once: u32,
    /// Loose ones that run.
    loose: u32,
}

/// A way to go on: the running operation in a slot takes effect, or an optional one of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Slot(u32),
    Kind(u32),
}

/// Configurations, each once.
#[derive(Default)]
struct Found {
    all: Vec<Configuration>,
    keys: FxHashSet<Key>,
}

impl Found {
    fn add(&mut self, configuration: Configuration) {
        if self.keys.insert(configuration.key()) {
            self.all.push(configuration);
        }
    }
}

/// When, whether it is an end, and the place of the operation.
type Event = (i64, bool, u32);

/// Kinds and how many of each, ascending by kind.
type Tally = Box<[(u32, u32)]>;

/// The running operations that must come, as sets of slots.
struct Running {
    /// By slot: the place of the operation.
    places: [u32; u64::BITS as usize],
    taken: u64,
    /// Those that write whatever was there.
    plain: u64,
    /// Those that read and write.
    swaps: u64,
    /// Those that failed because another value was there.
    differ: u64,
    /// By class: those that read it.
    want: Vec<u64>,
}

impl Running {
    /// Those that only observe.
    fn observers(&self) -> u64 {
        self.taken & !(self.plain | self.swaps)
    }
}

/// A walk over the events of one key.
pub(super) struct Frontier<'a> {
    steps: &'a [Step],
    /// By class: whether the initial version reads like this.
    initial: Vec<bool>,
    parts: Vec<Part>,
    kinds: Vec<Kind>,
    /// By place: the kind of an optional operation.
    kind_of: FxHashMap<u32, u32>,
    /// By class: the kinds that write it, and those that read it.
    kinds_by_class: FxHashMap<Class, (Vec<u32>, Vec<u32>)>,
    running: Running,
    now: Vec<Configuration>,
    /// The first entry: nothing was used.
    tallies: Vec<Tally>,
    tally_of: FxHashMap<Tally, u32>,
    log: Log,
    spent: usize,
}

impl<'a> Frontier<'a> {
    /// Of the operations of one key, each with its part. Those that say nothing are left out.
    pub(super) fn new(steps: &'a Steps, part: impl Fn(usize) -> Part) -> Frontier<'a> {
        let mut frontier = Frontier {
            steps: &steps.steps,
            initial: steps.tallies.iter().map(|tally| tally.initial).collect(),
            parts: (0..steps.steps.len()).map(part).collect(),
            kinds: Vec::new(),
            kind_of: FxHashMap::default(),
            kinds_by_class: FxHashMap::default(),
            running: Running {
                places: [0; u64::BITS as usize],
                taken: 0,
                plain: 0,
                swaps: 0,
                differ: 0,
                want: vec![0; steps.tallies.len()],
            },
            now: vec![Configuration {
                value: UNWRITTEN,
                used: 0,
                done: 0,
                covered: 0,
                log: log::ROOT,
            }],
            tallies: vec![Tally::default()],
            tally_of: std::iter::once((Tally::default(), 0)).collect(),
            log: Log::default(),
            spent: 0,
        };
        frontier.find_kinds();
        frontier
    }

    /// As `new`, with any of these values there at first, too, or one that nothing reads, as within a longer history.
    pub(super) fn beginning_with(mut self, values: Vec<Class>) -> Frontier<'a> {
        let first = self.now[0];
        self.now.extend(
            values
                .into_iter()
                .chain([OTHER])
                .map(|value| Configuration { value, ..first }),
        );
        self
    }

    /// Numbers the optional writes by what they do.
    fn find_kinds(&mut self) {
        let mut number: FxHashMap<(Option<Class>, Class), u32> = FxHashMap::default();
        for (place, (step, part)) in (0..).zip(self.steps.iter().zip(&self.parts)) {
            let Some(writes) = step
                .writes
                .filter(|_| matches!(part, Part::May | Part::Loose))
            else {
                continue;
            };
            let next = self.kinds.len() as u32;
            let kind = *number.entry((step.reads, writes)).or_insert(next);
            if kind == next {
                self.kinds.push(Kind {
                    reads: step.reads,
                    writes,
                    once: 0,
                    loose: 0,
                });
                self.kinds_by_class.entry(writes).or_default().0.push(kind);
                if let Some(reads) = step.reads {
                    self.kinds_by_class.entry(reads).or_default().1.push(kind);
                }
            }
            self.kind_of.insert(place, kind);
        }
    }

    /// Walks over all events. Linear in the number of operations, exponential in how many run at once in the worst case.
    ///
    /// # Errors
    /// [`Interrupt`] when `control` ends the work first.
    pub(super) fn walk(mut self, control: &Control) -> Result<Walked, Interrupt> {
        let events = self.events();
        let mut next_check = WORK_PER_CHECK;
        for (at, &(_, is_end, place)) in (0..).zip(&events) {
            if self.spent >= next_check {
                control.check()?;
                next_check = self.spent + WORK_PER_CHECK;
            }
            self.spent += 1;
            match (self.parts[place as usize], is_end) {
                (Part::Must, false) if !self.begin(place) => return Ok(Walked::TooWide),
                (Part::Must, true) => {
                    let slot = self
                        .running
                        .places
                        .iter()
                        .position(|&other| other == place)
                        .unwrap_or_default();
                    self.end(slot as u32, at);
                }
                (Part::May, false) => self.kind_at(place).once += 1,
                (Part::Loose, false) => self.kind_at(place).loose += 1,
                (Part::Loose, true) => self.end_loose(self.kind_of[&place], at),
                _ => {}
            }
            match self.now.len() {
                0 => return Ok(Walked::None { stuck: place }),
                n if n > MOST_CONFIGURATIONS => return Ok(Walked::TooWide),
                _ => {}
            }
        }
        let Frontier {
            steps,
            initial,
            parts,
            kind_of,
            now,
            log,
            ..
        } = &self;
        let arrangement = Arrangement {
            steps,
            parts,
            events: &events,
            kind_of,
            initial,
        };
        Ok(Walked::Order(arrangement.order(&log.up_to(now[0].log))))
    }

    /// Beginnings and ends in order of time: one operation precedes another if it ended before that one began, so at one time
    /// beginnings come first.
    fn events(&self) -> Vec<Event> {
        let mut events: Vec<Event> = Vec::with_capacity(2 * self.steps.len());
        for (place, (step, part)) in (0..).zip(self.steps.iter().zip(&self.parts)) {
            let observes = step.reads.is_some() || step.differs.is_some();
            if *part != Part::Out && (step.writes.is_some() || *part == Part::Must && observes) {
                events.extend([(step.start, false, place), (step.end, true, place)]);
            }
        }
        events.sort_unstable();
        events
    }

    fn kind_at(&mut self, place: u32) -> &mut Kind {
        &mut self.kinds[self.kind_of[&place] as usize]
    }

    /// Whether a value reads as a class.
    fn is(&self, value: Class, class: Class) -> bool {
        value == class || value == UNWRITTEN && self.initial[class as usize]
    }

    /// Whether an operation observes what it did if this is the value.
    fn fits(&self, step: &Step, value: Class) -> bool {
        step.reads.is_none_or(|class| self.is(value, class))
            && !step.differs.is_some_and(|class| self.is(value, class))
    }

    fn step_in(&self, slot: u32) -> &'a Step {
        &self.steps[self.running.places[slot as usize] as usize]
    }

    /// An operation begins; `false` if too many run.
    fn begin(&mut self, place: u32) -> bool {
        let slot = self.running.taken.trailing_ones();
        if slot == u64::BITS {
            return false;
        }
        let step = &self.steps[place as usize];
        let bit = 1 << slot;
        let running = &mut self.running;
        running.places[slot as usize] = place;
        running.taken |= bit;
        match (step.reads, step.writes) {
            (None, Some(_)) => running.plain |= bit,
            (Some(_), Some(_)) => running.swaps |= bit,
            _ => {}
        }
        if let Some(class) = step.reads {
            running.want[class as usize] |= bit;
        }
        if step.differs.is_some() {
            running.differ |= bit;
        }
        if step.writes.is_none() {
            let mut now = std::mem::take(&mut self.now);
            self.spent += now.len() / 8;
            for configuration in now
                .iter_mut()
                .filter(|configuration| self.fits(step, configuration.value))
            {
                configuration.done |= bit;
            }
            self.now = now;
        }
        true
    }

    /// The operation in a slot ends: by now it has taken effect.
    fn end(&mut self, slot: u32, at: u32) {
        let bit: u64 = 1 << slot;
        let mut after = Found::default();
        let mut open: Vec<Configuration> = Vec::new();
        for configuration in std::mem::take(&mut self.now) {
            if configuration.done & bit != 0 {
                after.add(Configuration {
                    done: configuration.done & !bit,
                    ..configuration
                });
                continue;
            }
            if configuration.covered & bit != 0 {
                after.add(Configuration {
                    covered: configuration.covered & !bit,
                    ..configuration
                });
            }
            open.push(configuration);
        }
        self.go_on(open, Move::Slot(slot), at, |then, _| {
            let is_over = then.done & bit != 0;
            if is_over {
                after.add(Configuration {
                    done: then.done & !bit,
                    ..then
                });
            }
            is_over
        });
        self.retire(slot);
        self.come_to(after.all);
    }

    /// The last running loose operation of a kind may take effect now, for what comes later.
    fn end_loose(&mut self, kind: u32, at: u32) {
        let is_last = self.kinds[kind as usize].loose == 1;
        if is_last {
            let mut after = Found::default();
            let open = self.now.clone();
            self.now
                .drain(..)
                .for_each(|configuration| after.add(configuration));
            self.go_on(open, Move::Kind(kind), at, |then, by| {
                if by == Move::Kind(kind) {
                    after.add(then);
                }
                false
            });
            self.come_to(after.all);
        }
        self.kinds[kind as usize].loose -= 1;
    }

    /// Lets operations take effect, the `last` one too, until `is_over` says so.
    fn go_on(
        &mut self,
        mut open: Vec<Configuration>,
        last: Move,
        at: u32,
        mut is_over: impl FnMut(Configuration, Move) -> bool,
    ) {
        let mut seen: FxHashSet<Key> = FxHashSet::default();
        let mut moves = Vec::new();
        while let Some(configuration) = open.pop() {
            self.moves(&configuration, last, &mut moves);
            self.spent += 1 + moves.len();
            for next in moves.drain(..) {
                let then = self.make(&configuration, next, at);
                if !is_over(then, next) && seen.insert(then.key()) {
                    open.push(then);
                }
            }
            // The caller gives up if there are so many.
            if seen.len() > MOST_CONFIGURATIONS {
                return;
            }
        }
    }

    fn retire(&mut self, slot: u32) {
        let bit = !(1u64 << slot);
        let reads = self.step_in(slot).reads;
        let running = &mut self.running;
        if let Some(class) = reads {
            running.want[class as usize] &= bit;
        }
        running.places[slot as usize] = u32::MAX;
        running.taken &= bit;
        running.plain &= bit;
        running.swaps &= bit;
        running.differ &= bit;
    }

    /// What may take effect next before the `last` one does, and that one. A swap must happen at some time, so always; a
    /// write only where something waits for its value.
    fn moves(&self, from: &Configuration, last: Move, moves: &mut Vec<Move>) {
        let running = &self.running;
        for slot in slots((running.plain | running.swaps) & !from.done) {
            let step = self.step_in(slot);
            let is_of_use = || {
                step.reads.is_some() || step.writes.is_some_and(|class| self.is_wanted(class, from))
            };
            if self.fits(step, from.value) && (last == Move::Slot(slot) || is_of_use()) {
                moves.push(Move::Slot(slot));
            }
        }
        if self.kinds.is_empty() {
            return;
        }
        let mut wanted: Vec<u32> = Vec::new();
        let mut add = |class: Class| {
            wanted.extend(
                self.kinds_by_class
                    .get(&class)
                    .into_iter()
                    .flat_map(|(writers, _)| writers),
            );
        };
        slots(running.taken & !from.done)
            .filter_map(|slot| self.step_in(slot).reads)
            .for_each(&mut add);
        let chains = self
            .kinds
            .iter()
            .zip(0..)
            .filter(|(kind, number)| kind.reads.is_some() && self.is_left(*number, from));
        chains.filter_map(|(kind, _)| kind.reads).for_each(&mut add);
        if running.differ & !from.done != 0 {
            wanted.extend(0..self.kinds.len() as u32);
        }
        if let Move::Kind(kind) = last {
            wanted.push(kind);
        }
        wanted.sort_unstable();
        wanted.dedup();
        let fits = |&kind: &u32| {
            let Kind { reads, writes, .. } = self.kinds[kind as usize];
            // What is there already may be written again to cover another write.
            let may_cover = reads.is_none() && running.plain & !from.done & !from.covered != 0;
            let is_of_use = writes != from.value || may_cover || last == Move::Kind(kind);
            is_of_use
                && self.is_left(kind, from)
                && reads.is_none_or(|class| self.is(from.value, class))
        };
        moves.extend(wanted.into_iter().filter(fits).map(Move::Kind));
    }

    /// Whether something that did not take effect yet waits for a value.
    fn is_wanted(&self, class: Class, by: &Configuration) -> bool {
        let running = &self.running;
        running.want[class as usize] & !by.done != 0
            || slots(running.differ & !by.done)
                .any(|slot| self.step_in(slot).differs != Some(class))
            || self
                .kinds_by_class
                .get(&class)
                .is_some_and(|(_, readers)| readers.iter().any(|&kind| self.is_left(kind, by)))
    }

    /// Whether an optional operation of a kind may take effect.
    fn is_left(&self, kind: u32, by: &Configuration) -> bool {
        let Kind { once, loose, .. } = self.kinds[kind as usize];
        loose > 0 || once > 0 && once > count(&self.tallies[by.used as usize], kind)
    }

    /// The configuration after something took effect, and after it all that only observes and then fits.
    fn make(&mut self, from: &Configuration, next: Move, at: u32) -> Configuration {
        let mut then = *from;
        let (is_plain, taken) = match next {
            Move::Slot(slot) => {
                let bit = 1 << slot;
                then.done |= bit;
                then.covered &= !bit;
                then.value = self.step_in(slot).writes.unwrap_or(then.value);
                (
                    self.running.plain & bit != 0,
                    Taken::Place(self.running.places[slot as usize]),
                )
            }
            Move::Kind(kind) => {
                let Kind {
                    reads,
                    writes,
                    loose,
                    ..
                } = self.kinds[kind as usize];
                then.value = writes;
                if loose == 0 {
                    then.used = self.one_more(then.used, kind);
                }
                (reads.is_none(), Taken::Kind(kind))
            }
        };
        if is_plain {
            then.covered |= self.running.plain & !then.done;
        }
        then.done |= self.running.observers() & self.running.want[then.value as usize];
        for slot in slots(self.running.differ & !then.done) {
            if self.fits(self.step_in(slot), then.value) {
                then.done |= 1 << slot;
            }
        }
        then.log = self.log.push(Entry {
            parent: from.log,
            at,
            taken,
        });
        then
    }

    fn one_more(&mut self, used: u32, kind: u32) -> u32 {
        let mut tally = self.tallies[used as usize].to_vec();
        match tally.binary_search_by_key(&kind, |entry| entry.0) {
            Ok(at) => tally[at].1 += 1,
            Err(at) => tally.insert(at, (kind, 1)),
        }
        let next = self.tallies.len() as u32;
        let tally: Tally = tally.into();
        let number = *self.tally_of.entry(tally.clone()).or_insert(next);
        if number == next {
            self.tallies.push(tally);
        }
        number
    }

    /// Goes on with these configurations, but for those that can do nothing that another one cannot.
    fn come_to(&mut self, mut after: Vec<Configuration>) {
        let n_used = |used: u32| {
            self.tallies[used as usize]
                .iter()
                .map(|entry| entry.1)
                .sum::<u32>()
        };
        after.sort_by_cached_key(|c| {
            (
                c.value,
                n_used(c.used),
                Reverse(c.covered.count_ones()),
                c.key(),
            )
        });
        /// Another one is looked for among at most so many.
        const LOOKED_AT: usize = 64;
        let mut kept: Vec<Configuration> = Vec::with_capacity(after.len());
        for configuration in after {
            let alike = kept
                .iter()
                .rev()
                .take_while(|other| other.value == configuration.value);
            if !alike
                .take(LOOKED_AT)
                .any(|other| self.covers(other, &configuration))
            {
                kept.push(configuration);
            }
        }
        self.spent += kept.len();
        self.log
            .tidy(kept.iter_mut().map(|configuration| &mut configuration.log));
        self.now = kept;
    }

    /// Whether the first can do all that the second can: of the same value, it used no more, and each running operation did
    /// what it did in the second, or better.
    fn covers(&self, a: &Configuration, b: &Configuration) -> bool {
        let running = &self.running;
        let plain = running.plain & !a.covered;
        let uses_no_more = || {
            a.used == b.used || {
                let other = &self.tallies[b.used as usize];
                self.tallies[a.used as usize]
                    .iter()
                    .all(|&(kind, used)| used <= count(other, kind))
            }
        };
        b.done & !a.done & running.observers() == 0
            && (a.done ^ b.done) & (running.swaps | plain) == 0
            && b.covered & plain == 0
            && uses_no_more()
    }
}

/// How many of a kind.
fn count(tally: &Tally, kind: u32) -> u32 {
    tally
        .binary_search_by_key(&kind, |entry| entry.0)
        .map_or(0, |at| tally[at].1)
}

/// The members of a set of slots.
fn slots(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let slot = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (slot < u64::BITS).then_some(slot)
    })
}
