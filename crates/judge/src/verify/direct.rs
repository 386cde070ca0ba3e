//! The same checks for evidence available in the process: by ids, and without a join of all reads where few of them
//! matter.

use super::cut;
use super::elements::{self, Apart};
use super::initial::Initial;
use super::levels;
use super::replay::Flaw;
use super::resolution::{Join, Resolution};
use super::story::Sources;
use super::subject::Subject;
use super::violations::{holds, holds_apart};
use super::witness::{self, Stage, Witness};
use crate::report::ViolationEntry;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, OperationId, OperationKind, Outcome, TransactionId, Value};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, OnceLock};

/// A violation with the ids of what it names.
#[derive(Clone, Debug)]
pub struct Stated {
    /// Its entry in a report.
    pub entry: ViolationEntry,
    /// Its transactions.
    pub transactions: Vec<TransactionId>,
    /// The reads that it rests on, possibly more than once. If one is missing, checking takes longer.
    pub reads: Vec<OperationId>,
}

/// Checks evidence on one history.
pub struct Verifier<'a> {
    history: &'a History,
    control: &'a Control,
    initial: Arc<Initial>,
    serial: Mutex<Vec<Arc<[TransactionId]>>>,
    whole: OnceLock<Arc<Join>>,
    apart: OnceLock<Option<Apart>>,
    /// The history in which each transaction has a session of its own.
    plain: OnceLock<History>,
}

impl<'a> Verifier<'a> {
    /// For a history. When `control` ends the work, whatever is undecided is [`Flaw::Interrupted`]. O(operations).
    pub fn new(history: &'a History, control: &'a Control) -> Verifier<'a> {
        let initial = Arc::new(Initial::new(history, control));
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

    /// Whether a witness of a level above CI can be replayed at all: not where lists were merged, since what they say
    /// about versions other than their own is undefined.
    pub fn can_replay(&self) -> bool {
        !witness::has_no_meaning(self.history)
    }

    /// Whether a witness explains every read at the level with this code, which is above CI.
    ///
    /// # Errors
    /// What is wrong with it, or that there was no time or memory to find out.
    pub fn witness(
        &self,
        level: &str,
        witness: Witness<'_>,
        sources: Sources<'_>,
    ) -> Result<(), Flaw> {
        self.control.check()?;
        match levels::plain_of(level) {
            // What holds with sessions holds without, and takes less time to replay.
            Some(level) => match self.stage().shows(level, witness, sources) {
                Err(Flaw::Wrong(_)) => Verifier::new(self.plain(), self.control)
                    .stage()
                    .shows(level, witness, sources),
                known => known,
            },
            None => self.stage().shows(level, witness, sources),
        }
    }

    fn plain(&self) -> &History {
        self.plain
            .get_or_init(|| self.initial.without_sessions(self.history))
    }

    fn stage(&self) -> Stage<'_> {
        let Verifier {
            history,
            control,
            initial,
            serial,
            ..
        } = self;
        Stage {
            history,
            initial,
            control,
            serial,
        }
    }

    /// Whether the history satisfies CI, which needs no witness.
    ///
    /// # Errors
    /// As in [`Verifier::witness`].
    pub fn cut_isolation(&self) -> Result<(), Flaw> {
        let is_plain =
            self.history.lists().is_empty() && !reads_two_values(self.history, self.control)?;
        if is_plain {
            return Ok(());
        }
        Ok(cut::satisfied(self.history, &self.by(self.whole()?))?)
    }

    /// Whether each of these violations contradicts the levels it names.
    pub fn violations(&self, stated: &[Stated]) -> Vec<Result<(), Flaw>> {
        let n_plain = |one: &Stated| {
            one.entry
                .levels
                .iter()
                .filter(|level| levels::plain_of(level).is_some())
                .count()
        };
        if stated.iter().all(|one| n_plain(one) == 0) {
            return self.violations_with_sessions(stated);
        }
        let (mut with_sessions, mut plain) = (stated.to_vec(), stated.to_vec());
        with_sessions.iter_mut().for_each(|one| {
            one.entry
                .levels
                .retain(|level| levels::plain_of(level).is_none())
        });
        for one in &mut plain {
            one.entry.levels = one
                .entry
                .levels
                .iter()
                .filter_map(|level| levels::plain_of(level))
                .map(str::to_owned)
                .collect();
        }
        // A violation of levels of one kind says nothing of the others.
        let of = |some: &[Stated], checked: Vec<Result<(), Flaw>>| -> Vec<Result<(), Flaw>> {
            let mut checked = checked.into_iter();
            some.iter()
                .map(|one| {
                    if one.entry.levels.is_empty() {
                        Ok(())
                    } else {
                        checked.next().unwrap_or(Ok(()))
                    }
                })
                .collect()
        };
        let named = |some: &[Stated]| -> Vec<Stated> {
            some.iter()
                .filter(|one| !one.entry.levels.is_empty())
                .cloned()
                .collect()
        };
        let first = of(
            &with_sessions,
            self.violations_with_sessions(&named(&with_sessions)),
        );
        let without = Verifier::new(self.plain(), self.control);
        let second = of(&plain, without.violations_with_sessions(&named(&plain)));
        first
            .into_iter()
            .zip(second)
            .map(|(first, second)| first.and(second))
            .collect()
    }

    fn violations_with_sessions(&self, stated: &[Stated]) -> Vec<Result<(), Flaw>> {
        if stated.is_empty() {
            return Vec::new();
        }
        let join = self.control.check().map(|()| {
            let reads = stated.iter().flat_map(|one| one.reads.iter().copied());
            Arc::new(Join::of(self.history, reads))
        });
        let check = |one: &Stated| {
            let join = join.as_ref().map_err(|interrupt| *interrupt)?;
            self.control.check()?;
            match self.check(one, join) {
                Some(Ok(())) => Ok(()),
                Some(Err(message)) => self.check_apart(one, message),
                None => match self.check(one, &self.whole()?) {
                    Some(Ok(())) => Ok(()),
                    Some(Err(message)) => self.check_apart(one, message),
                    None => Err(Flaw::Wrong(
                        "it names what the history does not have".to_owned(),
                    )),
                },
            }
        };
        // What was not looked at to its end is neither right nor wrong.
        let interrupted = |flaw| self.control.check().map_or_else(Flaw::from, |()| flaw);
        stated
            .par_iter()
            .map(|one| check(one).map_err(interrupted))
            .collect()
    }

    /// By a join; none if the join lacks information.
    fn check(&self, one: &Stated, join: &Arc<Join>) -> Option<Result<(), String>> {
        let resolution = self.by(Arc::clone(join));
        let (history, violation, transactions) = (self.history, &one.entry, &one.transactions);
        let checked = holds(Subject {
            history,
            resolution: &resolution,
            violation,
            transactions,
        });
        (!resolution.has_missed()).then_some(checked)
    }

    /// Every statement about a history whose elements are distinguished as far as possible also applies to this one.
    fn check_apart(&self, one: &Stated, message: String) -> Result<(), Flaw> {
        let tell_apart =
            || elements::concerns(self.history).then(|| elements::told_apart(self.history.clone()));
        match self.apart.get_or_init(tell_apart) {
            Some(apart)
                if !one
                    .entry
                    .levels
                    .iter()
                    .any(|level| levels::is_of_reads(level)) =>
            {
                let resolution = Resolution::new(&apart.history);
                Ok(holds_apart(
                    apart,
                    &resolution,
                    &one.entry,
                    &one.transactions,
                )?)
            }
            _ => Err(message.into()),
        }
    }

    fn by(&self, join: Arc<Join>) -> Resolution<'a> {
        Resolution::by(self.history, Arc::clone(&self.initial), join)
    }

    fn whole(&self) -> Result<Arc<Join>, Interrupt> {
        // Four arrays of numbers and a table of the values written.
        self.control.needs(self.history.n_operations() * 32)?;
        let join = || Resolution::whole(self.history, Arc::clone(&self.initial)).join();
        Ok(Arc::clone(self.whole.get_or_init(join)))
    }
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
        OperationKind::Read => seen
            .others
            .replace(value)
            .is_some_and(|before| before != value),
    }
}
