//! Reads of values that no transaction wrote, and why.
//!
//! There are three possible causes: the database made the value up (thin air), the log lacks the writer, or the value
//! was there before the log began. Each value is judged by itself, in this order:
//!
//! | likeliest | because |
//! |---|---|
//! | left over | it is the only such value of its key, the key's recorded initial version is not read, no session reads it after it has seen a logged version of the key, and no write of the key is known to have ended before |
//! | cut off | it is larger than all values logged for its key, and it is only read near the end of sessions; or several sessions read it |
//! | thin air | neither |
//!
//! One cause for many values is likelier than many causes. So none is left over unless half of the keys with such
//! values look so, and more keys than those whose recorded initial version is read (then the state before the log is
//! known and differs), and not if all of them are larger than what was written later, unless they are equal. And where
//! at least [`MANY`] reads are not left over, all are cut off if a quarter of them are; else none is merely for being
//! large and late.

use super::survey::Survey;
use super::words::{by_number, counted};
use super::{Finding, Kind, LISTED, Severity};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{
    History, KeyId, OperationId, OperationKind, Outcome, SessionId, TransactionId, Value, grouped,
};
use isoscope_model::relations::{Glance, Resolution};
use rustc_hash::{FxHashMap, FxHashSet};

/// From this many reads on they are assumed to have one cause.
const MANY: usize = 20;

/// The likeliest cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    LeftOver,
    /// The end of the log is missing.
    CutTail,
    /// A writer is missing.
    CutWriter,
    ThinAir,
}

/// A value of a key that was read and not written.
#[derive(Debug)]
struct Phantom {
    key: KeyId,
    value: Value,
    reads: Vec<OperationId>,
    /// It may be left over, see the module documentation.
    is_first: bool,
    /// It is larger than all values logged for its key.
    is_larger: bool,
    cause: Cause,
}

/// Findings about reads of values that no transaction wrote. O(operations) where there are any, else nothing.
pub(super) fn findings(
    history: &History,
    resolution: &Resolution,
    survey: &Survey,
    control: &Control,
) -> Result<Vec<Finding>, Interrupt> {
    if survey.unwritten.is_empty() {
        return Ok(Vec::new());
    }
    let keys = keys_with_phantoms(history, resolution, survey, control)?;
    let initial_is_read = |key: KeyId| survey.keys[key.index()].initial_is_read;
    let known = survey.keys.iter().filter(|key| key.initial_is_read).count();
    let story = |key: KeyStory| {
        let is_known = initial_is_read(key.key);
        key.phantoms(history, is_known)
    };
    let mut phantoms: Vec<Phantom> = keys.into_iter().flat_map(story).collect();
    agree(&mut phantoms, known);
    let with = |causes: &[Cause]| {
        phantoms
            .iter()
            .filter(|phantom| causes.contains(&phantom.cause))
            .collect::<Vec<_>>()
    };
    let flag = Flag::new(&phantoms, survey);
    let findings = [
        thin_air(history, &with(&[Cause::ThinAir]), flag),
        cut_off(history, &with(&[Cause::CutTail, Cause::CutWriter]), flag),
        left_over(history, &with(&[Cause::LeftOver]), known == 0),
    ];
    Ok(findings.into_iter().flatten().collect())
}

/// Whether it helps to treat unwritten values as initial: not where the initial versions of their keys are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flag {
    Helps,
    IsOfNoUse,
}

impl Flag {
    fn new(phantoms: &[Phantom], survey: &Survey) -> Flag {
        if phantoms
            .iter()
            .any(|phantom| survey.keys[phantom.key.index()].initial_is_read)
        {
            Flag::IsOfNoUse
        } else {
            Flag::Helps
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Flag::Helps => {
                "With --initial any-unwritten, one such value of each key counts as its initial value."
            }
            Flag::IsOfNoUse => {
                "No rule explains them: the initial versions of their keys are known."
            }
        }
    }

    fn on(self, finding: Finding) -> Finding {
        match self {
            Flag::Helps => finding.remedy("initial", "any-unwritten"),
            Flag::IsOfNoUse => finding,
        }
    }
}

/// What is known about a key some of whose read values no transaction wrote.
#[derive(Default)]
struct KeyStory {
    key: KeyId,
    largest_written: Option<u64>,
    /// When the first write of it that is known to have taken effect had ended.
    written: Option<i64>,
    /// By value: its reads, and whether the session of each had seen a logged version before.
    reads: FxHashMap<Value, Vec<(OperationId, bool)>>,
}

fn keys_with_phantoms(
    history: &History,
    resolution: &Resolution,
    survey: &Survey,
    control: &Control,
) -> Result<Vec<KeyStory>, Interrupt> {
    let mut place_of = vec![u32::MAX; history.n_keys()];
    let mut stories: Vec<KeyStory> = Vec::new();
    for &read in &survey.unwritten {
        let key = history.operation(read).key;
        if place_of[key.index()] == u32::MAX {
            place_of[key.index()] = stories.len() as u32;
            stories.push(KeyStory {
                key,
                ..KeyStory::default()
            });
        }
    }
    // By story: the last session that has seen a logged version of the key, plus one.
    let mut seen_by = vec![0u32; stories.len()];
    let (kinds, keys, values) = (history.kinds(), history.keys(), history.values());
    let mut next = survey.unwritten.iter().copied().peekable();
    for session in history.sessions() {
        control.check()?;
        let transactions = history.transactions_of(session);
        for o in transactions.flat_map(|t| history.operation_range(t)) {
            let place = place_of[keys[o].index()] as usize;
            let Some(story) = stories.get_mut(place) else {
                continue;
            };
            let operation = OperationId::new(o);
            if next.next_if_eq(&operation).is_some() {
                let seen = seen_by[place] == session.0 + 1;
                story
                    .reads
                    .entry(values[o])
                    .or_default()
                    .push((operation, seen));
                continue;
            }
            let logged = match kinds[o] {
                OperationKind::Write => {
                    story.largest_written = story.largest_written.max(number(history, values[o]));
                    story.is_written_by(history, history.transaction_of(operation));
                    true
                }
                OperationKind::Read => {
                    matches!(resolution.glance(operation), Glance::Write(_) | Glance::Own)
                }
            };
            if logged {
                seen_by[place] = session.0 + 1;
            }
        }
    }
    Ok(stories)
}

/// The value as a number, if it is one.
fn number(history: &History, value: Value) -> Option<u64> {
    match history.value_names() {
        None => (value.0 <= Value::MAX_NUMBER).then_some(value.0),
        Some(names) => names.number(value.0 as usize),
    }
}

impl KeyStory {
    /// Notes a write.
    fn is_written_by(&mut self, history: &History, writer: TransactionId) {
        let is_sure = history.outcome(writer) == Outcome::Committed;
        let ended = history.interval(writer).filter(|_| is_sure);
        let ended = ended.map(|interval| interval.end);
        self.written = self.written.into_iter().chain(ended).min();
    }

    /// Its values, each judged by itself, in the order of their first reads. `is_known`: its recorded initial version
    /// is read.
    fn phantoms(self, history: &History, is_known: bool) -> Vec<Phantom> {
        let is_only = self.reads.len() == 1 && !is_known;
        let mut phantoms: Vec<Phantom> = Vec::with_capacity(self.reads.len());
        for (value, reads) in self.reads {
            let session_of = |read: OperationId| history.session_of(history.transaction_of(read));
            let mut sessions: Vec<SessionId> =
                reads.iter().map(|&(read, _)| session_of(read)).collect();
            sessions.dedup();
            let is_larger = self
                .largest_written
                .zip(number(history, value))
                .is_some_and(|(largest, it)| it > largest);
            let is_later = |read: OperationId| {
                let began = history.interval(history.transaction_of(read));
                let began = began.map(|interval| interval.start);
                self.written
                    .zip(began)
                    .is_some_and(|(written, began)| written < began)
            };
            let is_first = is_only && reads.iter().all(|&(read, seen)| !seen && !is_later(read));
            let cause = if is_larger && reads.iter().all(|&(read, _)| is_late(history, read)) {
                Cause::CutTail
            } else if sessions.len() > 1 {
                Cause::CutWriter
            } else {
                Cause::ThinAir
            };
            let reads = reads.into_iter().map(|(read, _)| read).collect();
            phantoms.push(Phantom {
                key: self.key,
                value,
                reads,
                is_first,
                is_larger,
                cause,
            });
        }
        phantoms.sort_by(|a, b| a.reads.first().cmp(&b.reads.first()));
        phantoms
    }
}

/// Whether a read is in the last tenth of its session, provided the session is long enough.
fn is_late(history: &History, read: OperationId) -> bool {
    let t = history.transaction_of(read);
    let n = history.transactions_of(history.session_of(t)).len();
    n > 2 && (n - 1 - history.position_of(t)) * 10 < n
}

/// Treats values as left over where that explains most keys, and makes the minority follow the majority, see the module
/// documentation. `known` is the number of keys whose recorded initial version is read.
fn agree(phantoms: &mut [Phantom], known: usize) {
    let keys = phantoms
        .iter()
        .map(|phantom| phantom.key)
        .collect::<FxHashSet<KeyId>>()
        .len();
    let first: Vec<&Phantom> = phantoms.iter().filter(|phantom| phantom.is_first).collect();
    let is_old = first.iter().any(|phantom| !phantom.is_larger)
        || first.windows(2).all(|two| two[0].value == two[1].value) && first.len() > 1;
    if first.len() * 2 >= keys && first.len() > known && is_old {
        phantoms
            .iter_mut()
            .filter(|phantom| phantom.is_first)
            .for_each(|phantom| phantom.cause = Cause::LeftOver);
    }
    let is_cut = |cause| matches!(cause, Cause::CutTail | Cause::CutWriter);
    let reads_of = |fits: &dyn Fn(Cause) -> bool| -> usize {
        phantoms
            .iter()
            .filter(|phantom| fits(phantom.cause))
            .map(|phantom| phantom.reads.len())
            .sum()
    };
    let (cut, all) = (
        reads_of(&is_cut),
        reads_of(&|cause| cause != Cause::LeftOver),
    );
    if all < MANY {
        return;
    }
    let (from, to) = if cut * 4 < all {
        (Cause::CutTail, Cause::ThinAir)
    } else {
        (Cause::ThinAir, Cause::CutWriter)
    };
    phantoms
        .iter_mut()
        .filter(|phantom| phantom.cause == from)
        .for_each(|phantom| phantom.cause = to);
}

/// `12 reads return 3 values that no transaction wrote`, and the operations.
fn beginning(phantoms: &[&Phantom]) -> (u64, String, Vec<OperationId>) {
    let mut reads: Vec<OperationId> = phantoms
        .iter()
        .flat_map(|phantom| phantom.reads.iter().copied())
        .collect();
    reads.sort_unstable();
    let n = reads.len() as u64;
    reads.truncate(LISTED);
    let values = match phantoms.len() {
        1 => "a value".to_owned(),
        n => format!("{} values", grouped(n as u64)),
    };
    let text = format!(
        "{} {} {values} that no transaction wrote.",
        counted(n, "read"),
        by_number(n, "returns", "return")
    );
    (n, text, reads)
}

fn thin_air(history: &History, phantoms: &[&Phantom], flag: Flag) -> Option<Finding> {
    let first = phantoms.first()?;
    let (n, beginning, reads) = beginning(phantoms);
    let text = format!(
        "{beginning} Most likely out of thin air (such as key {} = {}): nothing says that the log lacks writers or began late, \
         and no two sessions saw the same value. {}",
        history.key_name(first.key),
        history.value_name(first.value),
        flag.sentence(),
    );
    let finding = Finding::new(Kind::ThinAir, Severity::Warning, n, text);
    Some(flag.on(finding.about_operations(history, reads.into_iter())))
}

fn cut_off(history: &History, phantoms: &[&Phantom], flag: Flag) -> Option<Finding> {
    let first = phantoms.first()?;
    let (n, beginning, reads) = beginning(phantoms);
    let tail = phantoms
        .iter()
        .filter(|phantom| phantom.cause == Cause::CutTail)
        .count();
    let why = if tail * 2 > phantoms.len() {
        "Most likely the log was cut off: they are larger than all values logged for their keys, and are read near the \
             end of their sessions"
    } else {
        "Most likely a session, or part of one, is missing from the log: several sessions read the same values, so \
             a transaction wrote them"
    };
    let text = format!(
        "{beginning} {why} (such as key {} = {}). Then these reads say nothing about the database: check a complete log. {}",
        history.key_name(first.key),
        history.value_name(first.value),
        flag.sentence(),
    );
    let finding = Finding::new(Kind::CutOff, Severity::Warning, n, text);
    Some(flag.on(finding.about_operations(history, reads.into_iter())))
}

/// `may_be_one`: nothing else is known to be initial, so one value may be initial for all keys.
fn left_over(history: &History, phantoms: &[&Phantom], may_be_one: bool) -> Option<Finding> {
    let first = phantoms.first()?;
    let (n, beginning, reads) = beginning(phantoms);
    let same = may_be_one
        && phantoms.iter().all(|phantom| phantom.value == first.value)
        && phantoms.len() > 1;
    let choice = if same {
        history.value_name(first.value)
    } else {
        "any-unwritten".to_owned()
    };
    let text = format!(
        "{beginning} Most likely {} there before the log began: of {} it is the only such value, and no session reads it \
         after it has seen a logged version. --initial {choice} takes {} as initial.",
        by_number(phantoms.len() as u64, "it was", "they were"),
        by_number(phantoms.len() as u64, "its key", "each key"),
        by_number(phantoms.len() as u64, "it", "them"),
    );
    let finding = Finding::new(Kind::LeftOver, Severity::Warning, n, text);
    Some(
        finding
            .about_operations(history, reads.into_iter())
            .remedy("initial", choice),
    )
}
