//! What happens in a run of a counterexample, step by step.

use super::words::Words;
use crate::counterexample::replay::{Action, Expected, Explained, Isolation, RunStep, UNTOUCHED};
use crate::counterexample::sentence::{Sentence, say};
use isoscope_check::checkers::Level;
use isoscope_model::history::{History, OperationId, OperationKind, Outcome, TransactionId, Value};

/// Where one copy of the data shows the same.
pub(in crate::counterexample) fn shown(
    settings: &[Isolation],
    setting: Isolation,
    has_times: bool,
) -> Sentence {
    let weaker: Vec<&str> = settings
        .iter()
        .filter(|other| **other < setting)
        .map(|other| other.sql())
        .collect();
    match (weaker.is_empty(), settings.is_empty()) {
        (false, _) => say!(
            "A single-copy database could return just these operations at {}. At {setting}, the setting that promises this level, it would \
             have to block or abort a transaction, or return something else.",
            weaker.join(" and at ")
        ),
        (true, false) => {
            say!("A single-copy database could return just these operations at {setting}.")
        }
        (true, true) => {
            let respected = if has_times {
                "sessions and recorded times"
            } else {
                "sessions"
            };
            say!(
                "No order that respects {respected} explains all reads by one up-to-date copy of the data."
            )
        }
    }
}

/// That the order contradicts what is known of two versions of a key.
pub(in crate::counterexample) fn turned(
    words: &Words<'_>,
    older: OperationId,
    newer: OperationId,
) -> Sentence {
    let history = words.history;
    let value = |write: OperationId| history.value_name(history.operation(write).value);
    say!(
        "Here key {} = {} is committed after {}, which is newer in the inferred order of versions: no order was found that agrees \
         with that and explains the reads as well.",
        history.key_name(history.operation(older).key),
        value(older),
        value(newer)
    )
}

/// Why a read of an intermediate version of `writer` is not wrong in the run.
pub(in crate::counterexample) fn intermediate(
    words: &Words<'_>,
    writer: TransactionId,
) -> Sentence {
    let name = words.transaction(writer);
    say!(
        "The later write of {name} is left out, too: so its intermediate version counts as committed here."
    )
}

/// What a transaction does, with how the value read came about; without a full stop. `replaced`: who wrote the key again after the write that was
/// read, which the operations shown do not contain.
pub(in crate::counterexample) fn sentence(
    words: &Words<'_>,
    (transaction, action): (TransactionId, Action),
    explained: Explained,
    replaced: Option<TransactionId>,
) -> Sentence {
    let name = words.transaction(transaction);
    let o = match action {
        Action::Operation(o) => o,
        Action::Begin => return say!("{name} begins"),
        Action::Abort => return say!("{name} aborts"),
        Action::Commit if words.history.outcome(transaction) == Outcome::Unknown => {
            return say!("{name} ends; its client was not told how");
        }
        Action::Commit => return say!("{name} commits"),
    };
    let operation = words.history.operation(o);
    let content = words.content(o);
    if operation.kind == OperationKind::Write {
        let verb = if words.history.lists().is_list(operation.key) {
            "appends"
        } else {
            "writes"
        };
        return say!("{name} {verb} {content}");
    }
    let how: Sentence = match (explained, replaced) {
        (Explained::Nothing, _) if operation.value == Value::UNRECORDED => {
            "the file does not say what it returned".into()
        }
        (_, Some(writer)) => {
            say!(
                "an intermediate version, as {} wrote this key again afterwards",
                words.transaction(writer)
            )
        }
        (Explained::Nothing | Explained::Current, None) => {
            "the last committed version shown".into()
        }
        (Explained::Own, None) => "its own write".into(),
        (Explained::Older, None) => "an older version, which was overwritten before".into(),
        (Explained::Uncommitted, None) => "a write of a transaction that had not ended".into(),
        (Explained::Nowhere, None) => "no state up to here explains it".into(),
    };
    say!("{name} reads {content}: {how}")
}

/// Most operations of one caption.
const MOST_TOLD: usize = 3;

/// What a transaction did in consecutive steps, and what should have happened instead; none if it only committed.
pub(in crate::counterexample) fn scene(
    history: &History,
    steps: &[RunStep],
    setting: Isolation,
) -> Option<Sentence> {
    let words = Words::new(history, &[]);
    let first = steps.first()?;
    let name = words.transaction(first.transaction);
    let mut verb = "";
    let did = |step: &RunStep| match step.action {
        Action::Operation(o) => {
            let is_list = history.lists().is_list(history.operation(o).key);
            let now = match (history.operation(o).kind, is_list) {
                (OperationKind::Read, _) => "read",
                (OperationKind::Write, true) => "appended",
                (OperationKind::Write, false) => "wrote",
            };
            // What was done to several keys is said once.
            let is_again = std::mem::replace(&mut verb, now) == now;
            let content = words.content(o);
            Some(if is_again {
                content
            } else {
                say!("{now} {content}")
            })
        }
        Action::Abort => Some("aborted".into()),
        Action::Begin | Action::Commit => None,
    };
    let mut done: Vec<Sentence> = steps.iter().filter_map(did).collect();
    let more = done.len().saturating_sub(MOST_TOLD);
    if more > 1 {
        done.truncate(MOST_TOLD);
        done.push(say!("did {more} more"));
    }
    let last = done.pop()?;
    let done = match done.is_empty() {
        true => last,
        false => say!("{} and {last}", Sentence::join(done, ", ")),
    };
    let instead = match &first.expected {
        Some(Expected::Refused) => {
            say!(" {} would have refused that.", setting.to_string())
        }
        Some(Expected::Answer {
            text,
            is_observed: false,
        }) if text != UNTOUCHED => {
            say!(" It should have returned {text}.")
        }
        _ => match first.explained {
            Explained::Older => " That version had been overwritten before.".into(),
            Explained::Uncommitted => " Its writer had not committed.".into(),
            Explained::Nowhere => " Nothing that had happened explains that.".into(),
            Explained::Nothing | Explained::Own | Explained::Current => Sentence::default(),
        },
    };
    Some(say!("{name} {done}.{instead}"))
}

/// What a run shows of a violation of a level, given how many of its reads are explained in a way.
pub(in crate::counterexample) fn summary(
    level: Level,
    count: impl Fn(Explained) -> usize,
) -> Sentence {
    let counts = [
        (
            Explained::Older,
            "an older version than the one that was there",
        ),
        (
            Explained::Uncommitted,
            "a write of a transaction that had not ended",
        ),
        (Explained::Nowhere, "what no state explains"),
    ];
    let odd: Vec<Sentence> = counts
        .into_iter()
        .filter_map(|(explained, what)| match count(explained) {
            0 => None,
            1 => Some(say!("one read returned {what}")),
            n => Some(say!("{n} reads returned {what}")),
        })
        .collect();
    if odd.is_empty() {
        say!(
            "Only the operations shown are replayed, without the others of these transactions. Among them, each read returned \
                 what was committed last, but the transactions overlapped in a way that {} ({}) does not allow.",
            level.spoken(),
            level.code()
        )
    } else {
        say!("In all, {}.", Sentence::join(&odd, ", "))
    }
}
