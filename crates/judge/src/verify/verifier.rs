//! Evidence on one history: witnesses of satisfied levels, proofs of violated ones.

use super::cut;
use super::elements::{self, Apart};
use super::initial::Initial;
use super::levels::{self, is_of_reads};
use super::object::Object;
use super::replay::{Flaw, Step};
use super::resolution::{Join, Resolution};
use super::story::Sources;
use super::subject::Subject;
use super::witness::Witness;
use super::{cycle, overwriting, read, witness};
use crate::report::{ProofEntry, ViolationEntry};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, OperationId, OperationKind, Outcome, TransactionId, Value};
use isoscope_model::levels::Level;
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock};

/// A violation with the ids of what it names.
#[derive(Clone, Debug)]
pub struct Stated<'a> {
    /// Its entry in a report.
    pub entry: Cow<'a, ViolationEntry>,
    /// Its transactions.
    pub transactions: Vec<TransactionId>,
    /// The reads that it rests on, possibly more than once. If one is missing, checking takes longer.
    pub reads: Vec<OperationId>,
}

/// Checks evidence on one history.
pub struct Verifier<'a> {
    history: Cow<'a, History>,
    pub(super) control: &'a Control,
    initial: Arc<Initial>,
    /// Orders that explain every read one transaction after the other.
    pub(super) serial: Mutex<Vec<Arc<[TransactionId]>>>,
    whole: OnceLock<Arc<Join>>,
    /// The history with its elements distinguished, where there are any to distinguish.
    apart: OnceLock<Option<Apart>>,
    /// Where each transaction has a session of its own.
    plain: OnceLock<Box<Verifier<'a>>>,
}

impl<'a> Verifier<'a> {
    /// For a history. When `control` ends the work, whatever is undecided is [`Flaw::Interrupted`]. O(operations).
    pub fn new(history: &'a History, control: &'a Control) -> Verifier<'a> {
        Verifier::of(Cow::Borrowed(history), control)
    }

    fn of(history: Cow<'a, History>, control: &'a Control) -> Verifier<'a> {
        let initial = Arc::new(Initial::new(&history, control));
        Verifier {
            history,
            control,
            initial,
            serial: Mutex::default(),
            whole: OnceLock::new(),
            apart: OnceLock::new(),
            plain: OnceLock::new(),
        }
    }

    pub(super) fn history(&self) -> &History {
        &self.history
    }

    pub(super) fn initial(&self) -> &Initial {
        &self.initial
    }

    /// Whether a witness of a level above CI can be replayed at all: not where lists were merged, since what they say
    /// about versions other than their own is undefined.
    pub fn can_replay(&self) -> bool {
        !witness::has_no_meaning(&self.history)
    }

    /// Of a history of counters, banks or queues: whether a level is violated; none for any other history, and where that is
    /// not known.
    pub fn breaks_object(&self, level: Level) -> Option<bool> {
        Object::of(self.history())?.breaks(level)
    }

    /// Whether a witness explains every read at the level which is above CI.
    ///
    /// # Errors
    /// What is wrong with it, or that there was no time or memory to find out.
    pub fn witness(
        &self,
        level: Level,
        witness: Witness<'_>,
        sources: Sources<'_>,
    ) -> Result<(), Flaw> {
        self.control.check()?;
        if let Some(object) = Object::of(self.history()) {
            let order: Vec<TransactionId> = match witness {
                Witness::Commits(order) => order.to_vec(),
                Witness::Steps(steps) => serial(steps).ok_or_else(|| {
                    Flaw::Wrong("it is not one transaction after the other".to_owned())
                })?,
            };
            return Ok(object.replay(&order)?);
        }
        match levels::plain_of(level) {
            // What holds with sessions holds without, and takes less time to replay.
            Some(level) => match self.shows(level, witness, sources) {
                Err(Flaw::Wrong(_)) => self.plain().shows(level, witness, sources),
                known => known,
            },
            None => self.shows(level, witness, sources),
        }
    }

    fn plain(&self) -> &Verifier<'a> {
        self.plain.get_or_init(|| {
            let plain = self.initial.without_sessions(&self.history);
            Box::new(Verifier::of(Cow::Owned(plain), self.control))
        })
    }

    /// Whether the history satisfies CI, which needs no witness.
    ///
    /// # Errors
    /// As in [`Verifier::witness`].
    pub fn cut_isolation(&self, level: Level) -> Result<(), Flaw> {
        let is_plain =
            self.history.lists().is_empty() && !reads_two_values(&self.history, self.control)?;
        if is_plain {
            return Ok(());
        }
        let of_items = levels::row(level).of_items;
        Ok(cut::satisfied(
            &self.history,
            &self.resolution()?,
            of_items,
        )?)
    }

    /// Whether each of these violations contradicts the levels it names.
    pub fn violations(&self, stated: &[Stated<'_>]) -> Vec<Result<(), Flaw>> {
        if stated.is_empty() {
            return Vec::new();
        }
        let join = self.control.check().map(|()| {
            let reads = stated.iter().flat_map(|one| one.reads.iter().copied());
            Arc::new(Join::of(&self.history, reads))
        });
        let confirm = |one: &Stated<'_>| {
            let join = join.as_ref().map_err(|interrupt| *interrupt)?;
            let all = one.entry.levels.iter();
            let plain: Vec<Level> = all
                .clone()
                .filter_map(|&level| levels::plain_of(level))
                .collect();
            let others: Vec<Level> = all
                .copied()
                .filter(|&level| levels::plain_of(level).is_none())
                .collect();
            if plain.is_empty() || !others.is_empty() {
                self.confirm(one, &others, join)?;
            }
            if !plain.is_empty() {
                self.plain().confirm(one, &plain, join)?;
            }
            Ok(())
        };
        // What was not looked at to its end is neither right nor wrong.
        let interrupted = |flaw| self.control.check().map_or_else(Flaw::from, |()| flaw);
        stated
            .par_iter()
            .map(|one| confirm(one).map_err(interrupted))
            .collect()
    }

    /// Whether a violation contradicts these levels; by all reads where the join lacks information.
    fn confirm(&self, one: &Stated<'_>, levels: &[Level], join: &Arc<Join>) -> Result<(), Flaw> {
        self.control.check()?;
        let subject = Subject {
            history: &self.history,
            resolution: &Resolution::by(&self.history, Arc::clone(&self.initial), Arc::clone(join)),
            violation: &one.entry,
            transactions: &one.transactions,
            levels,
        };
        let mut shown = holds(subject, false);
        if subject.resolution.has_missed() {
            let resolution = &self.resolution()?;
            shown = holds(
                Subject {
                    resolution,
                    ..subject
                },
                false,
            );
        }
        let Err(message) = shown else {
            return Ok(());
        };
        // Every statement about a history whose elements are distinguished as far as possible also applies to this one,
        // except at CI: there every append counts.
        let distinguish = || {
            elements::concerns(&self.history)
                .then(|| elements::distinguished(self.history.clone().into_owned(), &self.initial))
        };
        match self.apart.get_or_init(distinguish) {
            Some(apart) if !levels.iter().any(|&level| is_of_reads(level)) => {
                let subject = Subject {
                    history: &apart.history,
                    resolution: &Resolution::whole(&apart.history, Arc::clone(&self.initial)),
                    ..subject
                };
                Ok(holds(subject, apart.is_impossible)?)
            }
            _ => Err(message.into()),
        }
    }

    /// The sources of all reads.
    pub(super) fn resolution(&self) -> Result<Resolution<'_>, Interrupt> {
        // Four arrays of numbers and a table of the values written.
        self.control.needs(self.history.n_operations() * 32)?;
        let join = self
            .whole
            .get_or_init(|| Resolution::whole(&self.history, Arc::clone(&self.initial)).join());
        let initial = Arc::clone(&self.initial);
        Ok(Resolution::by(&self.history, initial, Arc::clone(join)))
    }
}

/// Whether the proof of a violation holds at each of the levels. `is_impossible`: no append can have made some place of a
/// list.
fn holds(subject: Subject<'_>, is_impossible: bool) -> Result<(), String> {
    let Subject {
        violation, levels, ..
    } = subject;
    if levels.is_empty() {
        return Err("it names no level".to_owned());
    }
    if levels
        .iter()
        .any(|&level| overwriting::is_of_overwriting(level))
    {
        return overwriting::check(subject);
    }
    if violation.proof == ProofEntry::Read {
        read::check(subject, levels)?;
        return read::check_edges(subject);
    }
    // A cycle says nothing about CI, but two reads of one key do. Proofs that name their reads show it themselves.
    let (of_reads, of_cycles): (Vec<Level>, Vec<Level>) = levels
        .iter()
        .partition(|&&level| is_of_reads(level) && !names_reads(&violation.proof));
    if !of_reads.is_empty() {
        read::check(subject, &of_reads)?;
    }
    cycle::check(subject, is_impossible, &of_cycles)
}

fn names_reads(proof: &ProofEntry) -> bool {
    use ProofEntry::{Appends, Combinations, Outcomes, Reads, Writers};
    matches!(
        proof,
        Reads { .. } | Writers { .. } | Appends { .. } | Outcomes { .. } | Combinations { .. }
    )
}

/// Whether a transaction reads two values of a key that need not be its own. O(operations).
fn reads_two_values(history: &History, control: &Control) -> Result<bool, Interrupt> {
    let sessions: Vec<_> = history.sessions().collect();
    let found = sessions.par_iter().map_init(
        || vec![Seen::default(); history.n_keys()],
        |seen, session| {
            control.check()?;
            let may_commit = |t: &TransactionId| history.outcome(*t) != Outcome::Aborted;
            let mut transactions = history.transactions_of(*session).filter(may_commit);
            Ok(transactions.any(|t| {
                history
                    .operation_range(t)
                    .any(|o| seen_twice(history, seen, t, o))
            }))
        },
    );
    found.try_reduce(|| false, |a, b| Ok(a || b))
}

/// What a transaction has read from and written to a key.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// The number of the transaction, from 1.
    by: u32,
    own: Option<Value>,
    others: Option<Value>,
}

/// Whether an operation reads a value other than the one before.
fn seen_twice(history: &History, seen: &mut [Seen], t: TransactionId, o: usize) -> bool {
    let (key, value) = (history.keys()[o].index(), history.values()[o]);
    let seen = &mut seen[key];
    if seen.by != t.0 + 1 {
        *seen = Seen {
            by: t.0 + 1,
            own: None,
            others: None,
        };
    }
    match history.kinds()[o] {
        OperationKind::Write => {
            seen.own = Some(value);
            false
        }
        OperationKind::Read if value == Value::UNRECORDED || seen.own == Some(value) => false,
        // Of a row that was not listed, the version that was read is anything that does not match.
        OperationKind::Read if value.is_of_scan() => seen.others.replace(value).is_some(),
        OperationKind::Read => seen
            .others
            .replace(value)
            .is_some_and(|before| before != value),
    }
}

/// The transactions of steps in which each commits before the next one starts.
fn serial(steps: &[Step]) -> Option<Vec<TransactionId>> {
    let pairs = steps.chunks(2);
    let one = |pair: &[Step]| match pair {
        [Step::Start(one), Step::Commit(other)] if one == other => Some(*one),
        _ => None,
    };
    pairs.map(one).collect()
}
