//! Linearizability of lightweight transactions: the differences from strict serializability.
//!
//! A read that is only known not to have returned some value is no read of a version, so it is in no edge. That no
//! order explains some operations is confirmed independently here, by walking over their beginnings and ends with
//! everything that may have taken effect in between (Lowe 2017, section 5).

use super::initial::Initial;
use super::resolution::Resolution;
use crate::report::EdgeEntry;
use isoscope_model::control::Control;
use isoscope_model::history::{
    History, KeyId, OperationId, OperationKind, Outcome, SessionId, TransactionId, Value,
};
use isoscope_model::levels::{Level, Pattern};
use isoscope_model::relations::Relation;
use rustc_hash::{FxHashMap, FxHashSet};

/// The pattern of operations that no order explains.
pub(super) const PATTERN: Pattern = Pattern::NoLinearOrder;

/// Whether no failed comparison finds its excluded value in this order. O(operations).
pub(super) fn comparisons_fit(
    history: &History,
    order: &[TransactionId],
    initial: &Initial,
) -> Result<(), String> {
    let mut current: Vec<Option<Value>> = vec![None; history.n_keys()];
    for &t in order.iter().filter(|&&t| !initial.is_setup(t)) {
        for o in history.operations_of(t) {
            let operation = history.operation(o);
            let there = &mut current[operation.key.index()];
            if operation.kind == OperationKind::Write {
                *there = Some(operation.value);
            } else if history
                .differs_from(o)
                .is_some_and(|other| reads_as(history, operation.key, *there, other))
            {
                let (text, name) = (history.operation_text(o), history.transaction_name(t));
                return Err(format!(
                    "{text} of {name} comes where that value is the current one"
                ));
            }
        }
    }
    Ok(())
}

/// Whether a version reads as a value.
fn reads_as(history: &History, key: KeyId, version: Option<Value>, value: Value) -> bool {
    match version {
        Some(written) => written == value,
        None => history.may_be_initial(key, value),
    }
}

/// Whether these transactions cannot be put in an order that respects real time and session order and in which each
/// read returns the current version and no failed comparison finds its value; whatever the other transactions did that
/// may have committed and write one of their keys ([`Others`]). One of unknown outcome may take effect once at any time
/// after it began, in its session. Linear in what runs beside them, exponential in how many run at once.
///
/// A failed comparison counts at LIN only, everything else at strict serializability, too.
pub(super) fn no_order(
    history: &History,
    resolution: &Resolution<'_>,
    transactions: &[TransactionId],
    levels: &[Level],
) -> Result<(), String> {
    resolution.initial().is_lightweight(history)?;
    let puzzle = Puzzle::new(history, resolution, transactions, Others::WhileTheyRan)?;
    let compares = puzzle
        .required()
        .iter()
        .any(|piece| piece.differs.is_some());
    let is_shown = |level: Level| level == "LIN" || level == "SSER" && !compares;
    if let Some(level) = levels.iter().find(|&&level| !is_shown(level)) {
        return Err(format!(
            "that operations have no linear order says nothing about {level}"
        ));
    }
    let control = resolution.initial().control();
    Replay::new(&puzzle).finds_no_order(control).or_else(|_| {
        let puzzle = Puzzle::new(history, resolution, transactions, Others::Later)?;
        Replay::new(&puzzle).finds_no_order(control)
    })
}

/// What other committed writes of the keys may have done. Both allow more than can have been, so what neither explains is
/// shown by either.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    /// Taken effect any number of times while they ran, or never; and any value that was written before the required
    /// pieces may be there at first.
    WhileTheyRan,
    /// Taken effect once at any time after they began, or never.
    Later,
}

/// Whether an edge says that one transaction had ended before another began, and that is so.
pub(super) fn is_in_time(
    history: &History,
    transactions: &[TransactionId],
    edge: &EdgeEntry,
) -> Result<(), String> {
    let interval = |place: usize| {
        transactions
            .get(place)
            .filter(|t| !t.is_initial())
            .and_then(|&t| history.interval(t))
    };
    let in_order =
        matches!((interval(edge.from), interval(edge.to)), (Some(a), Some(b)) if a.end < b.start);
    let is_plain = edge.from_operation.is_none() && edge.to_operation.is_none();
    require!(
        edge.kind == Relation::RealTime && in_order && is_plain,
        "the one had not ended before the other began"
    )
}

/// One operation.
#[derive(Clone, Copy, Debug)]
struct Piece {
    transaction: TransactionId,
    key: KeyId,
    start: i64,
    end: i64,
    reads: Option<Value>,
    differs: Option<Value>,
    writes: Option<Value>,
    /// Whether it has a place in its session.
    in_session: bool,
}

/// What is at a key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Version {
    Initial,
    Written(Value),
    /// A value that nothing here reads.
    Other,
}

/// A possible state of affairs between two events.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Situation {
    /// The pieces that have their place and may still run, ascending.
    placed: Vec<usize>,
    /// By key of the puzzle.
    versions: Vec<Version>,
}

struct Puzzle<'a> {
    history: &'a History,
    freedom: Others,
    /// The keys, ascending.
    keys: Vec<KeyId>,
    /// By key: what may be there before the first of the required pieces.
    before: Vec<Vec<Version>>,
    /// First those that must be placed, then writes that may be placed.
    pieces: Vec<Piece>,
    /// How many must be placed.
    n_required: usize,
    /// By session: its pieces in session order.
    sessions: FxHashMap<SessionId, Vec<usize>>,
}

impl<'a> Puzzle<'a> {
    fn new(
        history: &'a History,
        resolution: &Resolution<'_>,
        transactions: &[TransactionId],
        freedom: Others,
    ) -> Result<Puzzle<'a>, String> {
        let mut listed: FxHashSet<TransactionId> = FxHashSet::default();
        let mut pieces = Vec::new();
        // One of unknown outcome is free even if named.
        let is_free =
            |t: &TransactionId| !t.is_initial() && history.outcome(*t) == Outcome::Unknown;
        for &t in transactions.iter().filter(|t| !is_free(t)) {
            if t.is_initial()
                || history.outcome(t) != Outcome::Committed
                || resolution.is_setup(t)
                || !listed.insert(t)
            {
                return Err(format!(
                    "{} need not take part once",
                    history.transaction_name(t)
                ));
            }
            let piece = piece(history, t)
                .ok_or_else(|| format!("{} is empty", history.transaction_name(t)))?;
            pieces.push(piece);
        }
        let first = pieces
            .iter()
            .map(|piece| piece.start)
            .min()
            .ok_or("it names no transaction")?;
        let last = pieces.iter().map(|piece| piece.end).max().unwrap_or(first);
        let mut keys: Vec<KeyId> = pieces.iter().map(|piece| piece.key).collect();
        keys.sort_unstable();
        keys.dedup();
        let n_required = pieces.len();
        let others = keys
            .iter()
            .flat_map(|&key| resolution.initial().writers_of(history, key))
            .copied();
        let mut earlier: FxHashSet<(KeyId, Value)> = FxHashSet::default();
        for other in others
            .filter(|t| !listed.contains(t))
            .filter_map(|t| piece(history, t))
        {
            let is_unknown = history.outcome(other.transaction) == Outcome::Unknown;
            let is_earlier = other.start < first && !is_unknown && freedom == Others::WhileTheyRan;
            earlier.extend(
                other
                    .writes
                    .filter(|_| is_earlier)
                    .map(|value| (other.key, value)),
            );
            let end = if freedom == Others::Later {
                i64::MAX
            } else {
                other.end
            };
            if other.writes.is_some() && other.start <= last && end >= first {
                pieces.push(Piece { end, ..other });
            }
        }
        let (before, sessions) = (Vec::new(), FxHashMap::default());
        let mut puzzle = Puzzle {
            history,
            freedom,
            before,
            keys,
            pieces,
            n_required,
            sessions,
        };
        puzzle.before = puzzle
            .keys
            .iter()
            .map(|&key| puzzle.before(key, &earlier))
            .collect();
        puzzle.find_sessions();
        Ok(puzzle)
    }

    /// What may be at a key if these values were written earlier: as far as something reads it, each by itself.
    fn before(&self, key: KeyId, earlier: &FxHashSet<(KeyId, Value)>) -> Vec<Version> {
        let of_key = self.pieces.iter().filter(|piece| piece.key == key);
        let mut read: Vec<Value> = of_key
            .flat_map(|piece| piece.reads.into_iter().chain(piece.differs))
            .collect();
        read.sort_unstable();
        read.dedup();
        read.retain(|&value| earlier.contains(&(key, value)));
        let written = read.into_iter().map(Version::Written);
        let other = earlier
            .iter()
            .any(|(other, _)| *other == key)
            .then_some(Version::Other);
        std::iter::once(Version::Initial)
            .chain(written)
            .chain(other)
            .collect()
    }

    /// Those of unknown outcome keep their places in the sessions of required ones; others that may be placed are in no
    /// session.
    fn find_sessions(&mut self) {
        let session = |piece: &Piece| self.history.session_of(piece.transaction);
        let of_required: FxHashSet<SessionId> = self.required().iter().map(session).collect();
        let is_in_session = |(at, piece): &(usize, &Piece)| {
            let is_unknown = self.history.outcome(piece.transaction) == Outcome::Unknown;
            *at < self.n_required || is_unknown && of_required.contains(&session(piece))
        };
        let mut sessions: FxHashMap<SessionId, Vec<usize>> = FxHashMap::default();
        for (at, piece) in self.pieces.iter().enumerate().filter(is_in_session) {
            sessions.entry(session(piece)).or_default().push(at);
        }
        sessions
            .values_mut()
            .for_each(|session| session.sort_unstable_by_key(|&at| self.pieces[at].transaction));
        for &at in sessions.values().flatten() {
            self.pieces[at].in_session = true;
        }
        self.sessions = sessions;
    }

    fn required(&self) -> &[Piece] {
        &self.pieces[..self.n_required]
    }

    /// Whether a piece may be placed any number of times.
    fn is_loose(&self, at: usize) -> bool {
        let is_unknown = self.history.outcome(self.pieces[at].transaction) == Outcome::Unknown;
        at >= self.n_required && !is_unknown && self.freedom == Others::WhileTheyRan
    }

    fn key(&self, piece: &Piece) -> usize {
        self.keys.partition_point(|key| *key < piece.key)
    }

    fn fits(&self, piece: &Piece, version: Version) -> bool {
        let is = |value: Value| match version {
            Version::Initial => self.history.may_be_initial(piece.key, value),
            Version::Written(written) => written == value,
            Version::Other => false,
        };
        piece.reads.is_none_or(is) && !piece.differs.is_some_and(is)
    }

    /// The pieces of the session of a piece before and after it; none if it is in no session.
    fn around(&self, at: usize) -> (&[usize], &[usize]) {
        let piece = &self.pieces[at];
        let session = self
            .sessions
            .get(&self.history.session_of(piece.transaction))
            .filter(|_| piece.in_session);
        let session = session.map_or(&[][..], Vec::as_slice);
        let before =
            session.partition_point(|&other| self.pieces[other].transaction < piece.transaction);
        let after =
            session.partition_point(|&other| self.pieces[other].transaction <= piece.transaction);
        (&session[..before], &session[after..])
    }

    /// Every combination of what may be there at first.
    fn at_first(&self) -> FxHashSet<Situation> {
        let mut all = vec![Vec::new()];
        for versions in &self.before {
            let with =
                |some: &Vec<Version>, &more: &Version| some.iter().copied().chain([more]).collect();
            all = all
                .iter()
                .flat_map(|some| versions.iter().map(move |more| with(some, more)))
                .collect();
        }
        all.into_iter()
            .map(|versions| Situation {
                placed: Vec::new(),
                versions,
            })
            .collect()
    }
}

/// A walk over the beginnings and ends of the pieces with all situations that are possible.
struct Replay<'a> {
    puzzle: &'a Puzzle<'a>,
    running: Vec<usize>,
    /// By piece.
    has_ended: Vec<bool>,
}

impl<'a> Replay<'a> {
    fn new(puzzle: &'a Puzzle<'a>) -> Replay<'a> {
        Replay {
            puzzle,
            running: Vec::new(),
            has_ended: vec![false; puzzle.pieces.len()],
        }
    }

    fn finds_no_order(&mut self, control: &Control) -> Result<(), String> {
        let mut events: Vec<(i64, bool, usize)> = Vec::new();
        for (at, piece) in self.puzzle.pieces.iter().enumerate() {
            events.push((piece.start, false, at));
            events.push((piece.end, true, at));
        }
        // What begins when something else ends may come before that.
        events.sort_unstable();
        let mut situations = self.puzzle.at_first();
        let mut n_left = self.puzzle.n_required;
        for (_, is_end, at) in events {
            if n_left == 0 {
                break;
            }
            if !is_end {
                self.running.push(at);
                continue;
            }
            n_left -= usize::from(at < self.puzzle.n_required);
            situations = self.after(situations, at, control)?;
            if situations.is_empty() {
                return Ok(());
            }
            self.running.retain(|&other| other != at);
            self.has_ended[at] = true;
        }
        Err("its operations can be put in order".to_owned())
    }

    /// What may be when a piece has ended: a required one has its place then.
    fn after(
        &self,
        situations: FxHashSet<Situation>,
        ends: usize,
        control: &Control,
    ) -> Result<FxHashSet<Situation>, String> {
        let is_required = ends < self.puzzle.n_required;
        let (mut after, mut seen) = (FxHashSet::default(), FxHashSet::default());
        let mut waiting: Vec<Situation> = situations.into_iter().collect();
        while let Some(mut situation) = waiting.pop() {
            control
                .tick(seen.len())
                .map_err(|interrupt| interrupt.to_string())?;
            self.place_lookers(&mut situation);
            if is_required && self.is_placed(ends, &situation) {
                situation.placed.retain(|&other| other != ends);
                after.insert(situation);
                continue;
            }
            if !seen.insert(situation.clone()) {
                continue;
            }
            let next = self
                .running
                .iter()
                .filter(|&&at| self.may_come(at, ends, &situation));
            waiting.extend(next.map(|&at| self.with(at, &situation)));
            if !is_required {
                after.insert(situation);
            }
        }
        Ok(after)
    }

    fn is_placed(&self, at: usize, situation: &Situation) -> bool {
        self.has_ended[at] && at < self.puzzle.n_required
            || situation.placed.binary_search(&at).is_ok()
    }

    fn with(&self, at: usize, situation: &Situation) -> Situation {
        let (mut next, piece) = (situation.clone(), &self.puzzle.pieces[at]);
        if let Some(value) = piece.writes {
            next.versions[self.puzzle.key(piece)] = Version::Written(value);
        }
        if !self.puzzle.is_loose(at)
            && let Err(place) = next.placed.binary_search(&at)
        {
            next.placed.insert(place, at);
        }
        next
    }

    /// Whether a piece may come next, and is worth it while one `ends`: an optional write only for something that waits for it,
    /// or at the last moment; one that a required piece of its session follows at any time.
    fn may_come(&self, at: usize, ends: usize, situation: &Situation) -> bool {
        let puzzle = self.puzzle;
        let piece = &puzzle.pieces[at];
        let there = situation.versions[puzzle.key(piece)];
        let is_worth_it = || {
            let new = piece.writes.map_or(there, Version::Written);
            at < puzzle.n_required
                || at == ends
                || puzzle
                    .around(at)
                    .1
                    .iter()
                    .any(|&later| later < puzzle.n_required)
                || self.running.iter().any(|&other| {
                    let waits = &puzzle.pieces[other];
                    waits.key == piece.key
                        && !self.is_placed(other, situation)
                        && puzzle.fits(waits, new)
                        && !puzzle.fits(waits, there)
                })
        };
        puzzle.fits(piece, there) && self.is_its_turn(at, situation) && is_worth_it()
    }

    /// Whether a piece may come next as far as sessions go.
    fn is_its_turn(&self, at: usize, situation: &Situation) -> bool {
        let (before, after) = self.puzzle.around(at);
        let is_due =
            |other: usize| other < self.puzzle.n_required && !self.is_placed(other, situation);
        !self.is_placed(at, situation)
            && !before.iter().any(|&other| is_due(other))
            && !after.iter().any(|&other| self.is_placed(other, situation))
    }

    /// Whether placing a piece would make it impossible to place some optional one.
    fn excludes(&self, at: usize, situation: &Situation) -> bool {
        let (before, _) = self.puzzle.around(at);
        before
            .iter()
            .any(|&other| other >= self.puzzle.n_required && !self.is_placed(other, situation))
    }

    /// Places every running piece that may come next, changes nothing and excludes nothing: it can only make room for others.
    fn place_lookers(&self, situation: &mut Situation) {
        loop {
            let ready = |&at: &usize| {
                let piece = &self.puzzle.pieces[at];
                piece.writes.is_none()
                    && self
                        .puzzle
                        .fits(piece, situation.versions[self.puzzle.key(piece)])
                    && self.is_its_turn(at, situation)
                    && !self.excludes(at, situation)
            };
            let Some(at) = self.running.iter().copied().find(ready) else {
                return;
            };
            *situation = self.with(at, situation);
        }
    }
}

/// What a transaction does, with the smallest and largest time where its own are unknown; `None` if nothing.
fn piece(history: &History, transaction: TransactionId) -> Option<Piece> {
    let interval = history.interval(transaction);
    let is_over = history.outcome(transaction) != Outcome::Unknown;
    let mut piece = Piece {
        transaction,
        key: history
            .operation(history.operations_of(transaction).next()?)
            .key,
        start: interval.map_or(i64::MIN, |interval| interval.start),
        end: interval
            .filter(|_| is_over)
            .map_or(i64::MAX, |interval| interval.end),
        reads: None,
        differs: None,
        writes: None,
        in_session: false,
    };
    for o in history.operations_of(transaction) {
        let operation = history.operation(o);
        match operation.kind {
            OperationKind::Write => piece.writes = Some(operation.value),
            OperationKind::Read if operation.value == Value::UNRECORDED => {
                piece.differs = compared(history, o)
            }
            OperationKind::Read => piece.reads = Some(operation.value),
        }
    }
    Some(piece)
}

fn compared(history: &History, read: OperationId) -> Option<Value> {
    history
        .differs_from(read)
        .filter(|value| *value != Value::UNRECORDED)
}
