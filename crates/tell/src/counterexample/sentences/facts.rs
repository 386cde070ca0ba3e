//! Facts about a counterexample in addition to its argument: which levels allow it, and what it takes for granted.

use super::headline::headline;
use super::verdict::Standing;
use super::words::Words;
use crate::counterexample::other_writers::{Assumed, other_writers};
use crate::counterexample::sentence::{Mention, Sentence, say};
use crate::counterexample::{Counterexample, Explanation, Shows};
use isoscope_check::checkers::{Findings, Level, Pattern, Proof, Respected, Verdict, Violation};
use isoscope_model::history::{
    DuplicateRule, FaultSpan, History, KeyId, Operation, OperationId, OperationKind, Outcome,
    TransactionId, Unit, UnknownRule, Value, grouped, visible,
};
use isoscope_model::relations::{Axiom, Edge, Reason, Relation, set_up_transactions};

/// Maximum number of reads listed one by one that other transactions may explain.
const MOST_READS: usize = 3;

/// Maximum number of faults named.
const MOST_FAULTS: usize = 5;

/// Maximum number of other writers named for one of them.
const MOST_WRITERS: usize = 3;

impl Explanation {
    /// This explanation with what is known of the whole history: its verdicts, the simpler violation that this one contains, by
    /// place in the list as in [`simpler_ones`](crate::counterexample::simpler_ones), and the condition of the violation.
    pub fn within(
        mut self,
        whole: &History,
        findings: &Findings,
        violation: &Violation,
        simpler_ones: &[Option<usize>],
    ) -> Explanation {
        let verdicts: Vec<(Level, &Verdict)> = findings
            .levels
            .iter()
            .map(|result| (result.level, &result.verdict))
            .collect();
        // Before the check is done this would be half the truth.
        if Level::of(whole)
            .iter()
            .all(|level| findings.level(*level).is_some())
        {
            let standing = Standing::of(&verdicts);
            let others = if findings.patterns.values().sum::<u64>() > 1 {
                ", with its other anomalies,"
            } else {
                ""
            };
            self.whole = Some(if standing == self.standing {
                "The whole history breaks the same levels.".to_owned()
            } else {
                standing.sentence(&format!("The whole history{others} breaks"), "", None)
            });
        }
        let place = findings
            .violations
            .iter()
            .position(|listed| listed.id == violation.id);
        // What the list has no entry of its own for.
        self.contains = (self.shows == Shows::Cause).then(|| {
            say!("found among the transactions of {}, as IsoScope numbers the anomalies of this file", violation.id)
        });
        if self.contains.is_some() {
            return self.under(whole, findings, violation);
        }
        let simpler = place.and_then(|place| *simpler_ones.get(place)?);
        self.contains = simpler.map(|simpler| {
            let simpler = &findings.violations[simpler];
            let extent = |v: &Violation| (v.levels.weakest(), v.transactions.len());
            let headline = headline(whole, simpler);
            match headline.clause {
                _ if is_same(&headline.summary, &self.summary) => {
                    say!("one of several anomalies with the same cause, which IsoScope lists after {}", simpler.id)
                }
                clause if extent(simpler) < extent(violation) => {
                    say!("simpler, with the same cause, listed as {}: {clause}", simpler.id)
                }
                _ => say!("IsoScope lists an anomaly with the same cause before this one: {}", simpler.id),
            }
        });
        self.under(whole, findings, violation)
    }

    /// This explanation with what it takes for granted of the whole history.
    fn under(mut self, whole: &History, findings: &Findings, violation: &Violation) -> Explanation {
        let of_last = "of several transactions that wrote a value the last in the file is meant";
        let others = match other_writers(whole, &self.taken) {
            others if !others.is_empty() && whole.rules().duplicates == DuplicateRule::Last => {
                vec![of_last.to_owned()]
            }
            others => of_other_writers(whole, &others),
        };
        let rests_on_writers = self.assumptions.iter().any(|said| said == ONE_WRITER);
        self.assumptions.retain(|said| said != ONE_WRITER);
        self.checked = (rests_on_writers && others.is_empty())
            .then(|| checked(whole, &self.taken))
            .flatten();
        self.assumptions.splice(0..0, others);
        if whole.rules().unknown != UnknownRule::default() {
            let how = whole.rules().unknown.word();
            self.assumptions.push(format!(
                "transactions of unknown outcome count as {how}, and are called so here"
            ));
        }
        self.assumptions.extend(set_up_of(whole, &self.taken));
        self.assumptions
            .splice(0..0, findings.condition_of(whole, violation));
        self
    }

    /// Which simpler violation it contains, in a sentence.
    pub fn contained(&self) -> Option<String> {
        let clause = self.contains.clone()?.begun();
        Some(format!("{clause}."))
    }

    /// The lines below the title: who did what, what that breaks and what still allows it, and what was tested.
    pub fn block(&self) -> [String; 3] {
        let breaks = match &self.told_by {
            Some(simpler) => format!("{} Explained more simply by {simpler}.", self.breaks),
            None => self.breaks.clone(),
        };
        [self.summary.to_string(), breaks, self.tested.clone()]
    }

    /// What else is known, a line each, for the end of every form of the explanation: what casts doubt on it, which order
    /// makes the difference, the weakest levels broken, the whole history, faults, and what was checked or is assumed.
    pub fn details(&self) -> Vec<String> {
        let doubt = self.doubt.clone().into_iter();
        doubt.chain(self.details_without_doubt()).collect()
    }

    /// As `details`, without the doubt, for readers who are shown it elsewhere.
    pub fn details_without_doubt(&self) -> Vec<String> {
        let assumed = (!self.assumptions.is_empty())
            .then(|| format!("Assumed: {}.", self.assumptions.join("; ")));
        let facts = [
            self.argued.clone(),
            self.difference.clone(),
            self.weakest.clone(),
            self.whole.clone(),
            self.promised.clone(),
            self.contained(),
            self.faults.clone(),
            self.checked.clone(),
            assumed,
        ];
        facts.into_iter().flatten().collect()
    }
}

/// Whether two summaries say the same. Lists are shortened to what matters where they are shown, so they do not count.
fn is_same(one: &Sentence, other: &Sentence) -> bool {
    let outside = |(text, mention)| match mention {
        Some(Mention::List(_)) => None,
        _ => Some(text),
    };
    let [one, other]: [String; 2] =
        [one, other].map(|said| said.spans().filter_map(outside).collect());
    one == other
}

/// "what s1 (line 1) wrote counts as the initial state", where it may have been read.
fn set_up_of(whole: &History, taken: &[(OperationId, Option<TransactionId>)]) -> Option<String> {
    let may_be_initial = |(read, from): &&(OperationId, Option<TransactionId>)| match from {
        Some(from) => from.is_initial(),
        None => whole.may_be_initial(whole.keys()[read.index()], whole.values()[read.index()]),
    };
    let keys: Vec<KeyId> = taken
        .iter()
        .filter(may_be_initial)
        .map(|(read, _)| whole.keys()[read.index()])
        .collect();
    let is_of_keys = |o: &OperationId| {
        let o = whole.operation(*o);
        o.kind == OperationKind::Write && keys.contains(&o.key)
    };
    let wrote = |t: TransactionId| Some((t, whole.operations_of(t).find(is_of_keys)?));
    let mut wrote: Vec<String> = set_up_transactions(whole)
        .into_iter()
        .filter_map(wrote)
        .map(|(t, write)| match whole.spot_of(write) {
            Some(spot) => format!(
                "{} ({})",
                whole.transaction_name(t),
                spot.text(whole.origin())
            ),
            None => whole.transaction_name(t).to_string(),
        })
        .collect();
    let last = wrote.pop()?;
    let all = if wrote.is_empty() {
        last
    } else {
        format!("{} and {last}", wrote.join(", "))
    };
    Some(format!("what {all} wrote counts as the initial state"))
}

/// "Checked: only S3#16 wrote 48 = 6 in these 90 transactions."
fn checked(whole: &History, taken: &[(OperationId, Option<TransactionId>)]) -> Option<String> {
    let words = Words::new(whole, &[]);
    let from = taken.iter().filter_map(|&(read, from)| Some((read, from?)));
    let written: Vec<(OperationId, TransactionId)> = from
        .clone()
        .filter(|(_, writer)| !writer.is_initial())
        .collect();
    let has_initial = from.count() > written.len();
    let all = match whole.n_transactions() {
        1 => "this transaction".to_owned(),
        n => format!("these {} transactions", grouped(n as u64)),
    };
    match written.as_slice() {
        [] => None,
        [(read, writer)] if whole.operation(*read).value.is_of_scan() => Some(format!(
            "Checked: no other version of {} in {all} explains the scan than that of {}.",
            words.key_name(whole.operation(*read).key),
            words.transaction(*writer)
        )),
        [(read, writer)] if !whole.lists().is_list(whole.operation(*read).key) => Some(format!(
            "Checked: only {} wrote {} in {all}.",
            words.transaction(*writer),
            words.content(*read)
        )),
        _ if has_initial => Some(format!(
            "Checked: each value that was read here, unless it is the initial one, was written once in {all}."
        )),
        _ => Some(format!(
            "Checked: each value that was read here was written once in {all}."
        )),
    }
}

const ONE_WRITER: &str = "each value that was read has one possible writer";
const ANY_APPEND: &str = "the argument holds whichever of several appends made an element that was appended more than once";

/// Whether a read is wrong because of the transaction that it read from.
fn rests_on_writer(pattern: Pattern) -> bool {
    matches!(
        pattern,
        Pattern::IntermediateRead
            | Pattern::NotMyOwnWrite
            | Pattern::NonRepeatableRead
            | Pattern::IncompatibleOrder
    )
}

/// Whether the argument says which operation of a transaction came before another.
fn rests_on_program_order(violation: &Violation) -> bool {
    let is_after_a_read = |edge: &Edge| {
        matches!(
            edge.because,
            Reason::Visible {
                axiom: Axiom::ReadCommitted,
                ..
            }
        )
    };
    let is_of_own_writes = matches!(
        violation.id.pattern,
        Pattern::FutureRead
            | Pattern::NotMyOwnWrite
            | Pattern::NotMyLastWrite
            | Pattern::IntermediateRead
    );
    let read_by_read =
        |level: Level| level.is_of_each_read() || level.respected() == Some(Respected::SoFar);
    is_of_own_writes
        || violation.edges.iter().any(is_after_a_read)
        || violation.id.pattern.letter().is_none()
            && violation.levels.weakest().is_some_and(read_by_read)
}

/// Whether the argument may use which transaction of a session came first.
fn rests_on_sessions(violation: &Violation) -> bool {
    let is_simple = matches!(violation.proof, Proof::Reads(_) | Proof::Cycle(_));
    !is_simple
        || violation
            .edges
            .iter()
            .any(|edge| edge.relation == Relation::SessionOrder && !edge.from.is_initial())
}

/// Which faults there were while the transactions of a history ran, or else the last one before them.
pub(in crate::counterexample) fn faults(history: &History) -> Option<String> {
    let times = || history.transactions().filter_map(|t| history.interval(t));
    let (first, last) = (
        times().map(|times| times.start).min()?,
        times().map(|times| times.end).max()?,
    );
    let faults = history.cluster().faults_while(first, last);
    let when = match faults.first()?.end {
        Some(end) if end < first => "The last fault before these transactions",
        _ => "Faults while these transactions ran",
    };
    let origin = history.origin();
    let time = |at: i64| match origin.seconds_per_tick() {
        Some(_) => origin.time(at),
        None => format!("time {}", origin.time(at)),
    };
    let describe = |fault: &FaultSpan| match fault.end {
        Some(end) => format!(
            "{} from {} to {}",
            visible(&fault.what),
            time(fault.start),
            time(end)
        ),
        None => format!("{} from {} on", visible(&fault.what), time(fault.start)),
    };
    let described: Vec<String> = faults.iter().take(MOST_FAULTS).map(describe).collect();
    let more = faults.len() - described.len();
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    Some(format!("{when}: {}{more}.", described.join(", ")))
}

/// What the argument takes for granted, apart from what holds for the whole history only under a condition.
pub(in crate::counterexample) fn assumptions(example: &Counterexample) -> Vec<String> {
    let is_repeated =
        !example.level.is_of_reads() && !example.history.appends().repeated().is_empty();
    let one_writer = if is_repeated { ANY_APPEND } else { ONE_WRITER };
    let written = match &example.violation.proof {
        // Such a read is wrong because of its writer.
        Proof::Reads(_) if !rests_on_writer(example.violation.id.pattern) => None,
        proof if proof.is_about_answers() => {
            Some("a read with several possible writers has a case for each")
        }
        _ => Some(one_writer),
    };
    let violation = &example.violation;
    let initial = initial_values(example);
    let in_time = |edge: &Edge| edge.relation == Relation::RealTime;
    let is_timed =
        violation.edges.iter().any(in_time) || violation.id.pattern == Pattern::NoLinearOrder;
    let clock = is_timed.then(|| {
        if example.history.origin().times_are_events {
            "events, counted from 1, happened in the order in which the file has them".to_owned()
        } else {
            "the recorded times are those of one clock".to_owned()
        }
    });
    let rests_on_sessions = rests_on_sessions(violation) && example.level.plain_of().is_none();
    let rests_on_operations =
        example.level == Level::CutIsolation || rests_on_program_order(violation);
    let order = match (rests_on_operations, rests_on_sessions) {
        _ if example.history.n_transactions() == 1 => {
            Some("the file has the operations of a transaction in the order in which they ran")
        }
        (true, true) => Some(
            "the file has the transactions of a session, and their operations, in the order in which they ran",
        ),
        (true, false) => {
            Some("the file has the operations of a transaction in the order in which they ran")
        }
        (false, true) => {
            Some("the file has the transactions of a session in the order in which they ran")
        }
        (false, false) => None,
    };
    let by_last = "at cut isolation a list counts as the version of whichever transaction appended its last element";
    let list = is_repeated.then(|| by_last.to_owned());
    let lacks_sessions = example.history.origin().lacks_sessions;
    let session =
        lacks_sessions.then(|| "transactions without a process count as one session".to_owned());
    let written = written.map(str::to_owned).into_iter();
    written
        .chain(initial)
        .chain(clock)
        .chain(order.map(str::to_owned))
        .chain(looks_early(example))
        .chain(session)
        .chain(list)
        .collect()
}

/// That lines are in no order of time, where a read is in a line before that of the write that it returned.
fn looks_early(example: &Counterexample) -> Option<String> {
    let history = &example.history;
    let line = |operation: Option<OperationId>| {
        let spot = history.spot_of(operation?)?;
        (spot.unit == Unit::Line).then_some((spot.part, spot.number))
    };
    let mut reads = example
        .violation
        .edges
        .iter()
        .filter(|edge| edge.because == Reason::Reads);
    let is_early = reads.any(
        |edge| match (line(edge.from_operation), line(edge.to_operation)) {
            (Some((of, write)), Some((part, read))) => of == part && read < write,
            _ => false,
        },
    );
    is_early.then(|| "the order of lines across sessions says nothing of time".to_owned())
}

/// Which values that were read are initial ones: "0 is the initial value", or "x = 2 is the initial version" where that
/// is unusual.
fn initial_values(example: &Counterexample) -> Option<String> {
    let (history, violation) = (&example.history, &example.violation);
    let usual = history.initial_value();
    let reads_initial = |edge: &Edge| edge.because == Reason::Reads && edge.from.is_initial();
    let reads = violation
        .edges
        .iter()
        .filter(|edge| reads_initial(edge))
        .filter_map(|edge| edge.to_operation);
    let read: Vec<Operation> = reads
        .map(|o| history.operation(o))
        .filter(|o| !history.lists().is_list(o.key))
        .collect();
    let other_than_usual = read
        .iter()
        .filter(|o| o.value != Value::INITIAL && Some(o.value) != usual);
    let is_thin_air = violation.id.pattern == Pattern::ThinAirRead;
    let of_keys = (0..history.n_operations())
        .filter(|_| is_thin_air)
        .map(|o| history.keys()[o]);
    let instead = of_keys.filter_map(|key| Some((key, history.initial_value_of(key)?)));
    let known = |o: &Operation| match o.value {
        value if value.is_of_scan() => history.initial_value_of(o.key).unwrap_or(Value::ABSENT),
        value => value,
    };
    let said = |(key, value): (KeyId, Value)| match value {
        Value::ABSENT => format!("{} is absent at first", history.key_name(key)),
        value => format!(
            "{} = {} is the initial version",
            history.key_name(key),
            history.value_name(value)
        ),
    };
    let mut others: Vec<String> = other_than_usual
        .map(|o| (o.key, known(o)))
        .chain(instead)
        .filter(|(key, _)| !history.lists().is_list(*key))
        .map(said)
        .collect();
    others.sort_unstable();
    others.dedup();
    if !others.is_empty() {
        return Some(others.join("; "));
    }
    let is_ruled_out = matches!(
        violation.id.pattern,
        Pattern::ThinAirRead | Pattern::FutureRead | Pattern::NoLinearOrder
    );
    // Readers take a zero for an initial value.
    let zero = |edge: &&Edge| edge.because == Reason::Reads && !edge.from.is_initial();
    let mut written = violation
        .edges
        .iter()
        .filter(zero)
        .filter_map(|edge| edge.to_operation);
    let is_ruled_out =
        is_ruled_out || written.any(|o| history.value_name(history.operation(o).value) == "0");
    let matters = !read.is_empty() || is_ruled_out;
    let of_registers = history.lists().is_empty();
    match usual.filter(|_| matters) {
        Some(value) => Some(format!(
            "{} is the initial value",
            history.value_name(value)
        )),
        None => (is_ruled_out && of_registers).then(|| "an unwritten key has no value".to_owned()),
    }
}

/// "the 2 that d1 read of key x is that of d3, not that of d2 (line 1, aborted)", for each of these reads; one general
/// clause where there are many.
fn of_other_writers(whole: &History, reads: &[Assumed]) -> Vec<String> {
    if reads.len() > MOST_READS {
        let least = "a value that several transactions wrote is taken as read from the one that breaks least";
        return vec![least.to_owned()];
    }
    let mut clauses: Vec<String> = reads.iter().map(|read| of_one_read(whole, read)).collect();
    clauses.dedup();
    clauses
}

fn of_one_read(whole: &History, read: &Assumed) -> String {
    let words = Words::new(whole, &[]);
    let name = |&write: &OperationId| {
        let t = whole.transaction_of(write);
        let place = whole.spot_of(write).map(|spot| spot.text(whole.origin()));
        let aborted = (whole.outcome(t) == Outcome::Aborted).then(|| "aborted".to_owned());
        let note: Vec<String> = place.into_iter().chain(aborted).collect();
        if note.is_empty() {
            words.transaction(t)
        } else {
            say!("{} ({})", words.transaction(t), note.join(", "))
        }
    };
    let mut not: Vec<String> = read
        .others
        .iter()
        .take(MOST_WRITERS)
        .map(name)
        .map(|t| format!("that of {t}"))
        .collect();
    let more = read.others.len().saturating_sub(MOST_WRITERS);
    not.extend((more > 0).then(|| format!("that of {more} more")));
    not.extend(read.may_be_initial.then(|| "the initial one".to_owned()));
    let (value, others) = (words.value_read(read.read), not.join(" or "));
    match read.from {
        None => format!("the {value} may be {others}"),
        Some(from) if from.is_initial() => format!("the {value} is the initial one, not {others}"),
        Some(from) => format!(
            "the {value} is that of {}, not {others}",
            words.transaction(from)
        ),
    }
}
