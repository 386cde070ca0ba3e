//! What the operations of a log mean, by what the test was about.
//!
//! A workload is a row of [`WORKLOADS`] and a file: the words of its operations, whether the values of all of them fit, and
//! what they mean. Nearly all are *items*: each call becomes a transaction that reads and writes registers or lists, so that
//! every level, picture and command is there. A row fits or does not, by the whole file; where none or more than one does,
//! the file is refused in one line, never guessed.
//!
//! Values may be pairs `[key value]`, as `jepsen.independent` writes them: then the workload is about each key by itself.

mod balance;
mod bank;
mod causal;
mod chain;
mod counter;
mod exchange;
mod facts;
mod ids;
mod increments;
mod inserts;
mod items;
mod linear;
mod log;
mod monotonic;
mod mutex;
mod ones;
mod queue;
mod register;
mod rows;
mod sequential;
mod set;
mod set_facts;
mod transactions;
mod upsert;

use crate::operations::{Event, Operation, Operations, Refusal, Tree};
use crate::{Input, Problem, ReadError};
use exchange::{Exchange, are_keyed, exchanges, refuse_other_keys};
use facts::Facts;
use isoscope_model::control::Control;
use isoscope_model::history::{Builder, History, Suggestions, cut};
use items::Items;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// What operations mean.
enum Meaning {
    /// Micro-operations on registers and lists.
    Transactions,
    /// Calls of one key, or all of them where there are no keys, become transactions.
    Items(fn(&[Exchange<'_, '_>], &mut Items) -> Result<(), Refusal>),
    /// It is known, but not read, for this reason.
    Refused(&'static str),
}

/// A row of the table.
struct Workload {
    name: &'static str,
    /// Words of operations of which one has to occur.
    must: &'static [&'static str],
    /// Words that may occur.
    may: &'static [&'static str],
    /// Whether the values of all operations are those of this workload.
    fits: fn(&[Exchange<'_, '_>]) -> bool,
    /// Whether values may be pairs of a key and a value.
    keyed: bool,
    meaning: Meaning,
    /// What its own rules see of one key.
    facts: fn(&[Exchange<'_, '_>], &mut Facts),
    /// Why isolation levels say nothing about it; none where its operations are reads and writes of items.
    no_levels: Option<&'static str>,
    /// What is assumed, a sentence; empty for nothing.
    assumes: &'static str,
}

/// No rules of its own.
fn no_facts(_: &[Exchange<'_, '_>], _: &mut Facts) {}

/// All workloads.
const WORKLOADS: &[Workload] = &[
    transactions::TRANSACTIONS,
    transactions::PREDICATES,
    register::REGISTER,
    register::VERSIONS,
    mutex::MUTEX,
    set::SET,
    set::SETS_IN_TRANSACTIONS,
    balance::BALANCE,
    increments::INCREMENTS,
    monotonic::MONOTONIC,
    sequential::SEQUENTIAL,
    inserts::INSERTS,
    causal::CAUSAL,
    upsert::UPSERT,
    rows::ROWS,
    rows::DIRTY_READS,
    counter::COUNTER,
    counter::PN_COUNTER,
    bank::BANK,
    queue::QUEUE,
    log::LOG,
    ids::UNIQUE_IDS,
];

/// Those that are not recognised, since their logs look like those of others.
const IF_NAMED: &[Workload] = &[
    sequential::WITHOUT_NIL,
    counter::WITHOUT_READS,
    queue::IN_ORDER,
];

/// The history that a log is.
pub(crate) fn history(
    mut operations: Operations<'_>,
    input: &Input<'_>,
    format: &'static str,
    suggestions: Suggestions,
    control: &Control,
) -> Result<History, ReadError> {
    let mut builder = Builder::new(input.origin(format));
    builder.suggest(suggestions);
    if operations.events.is_empty() {
        return operations.around.without_clients(builder, format);
    }
    operations.note_unread_fields();
    let refuse = |(line, message): Refusal| {
        let problem = Problem::Other(message);
        match line {
            0 => ReadError::whole(format, problem),
            line => ReadError::at(format, u64::from(line), 0, problem),
        }
    };
    operations.pair_by_content().map_err(refuse)?;
    let calls = operations.around.calls(&operations.events);
    refuse_other_keys(&operations, &calls).map_err(refuse)?;
    let is_keyed = are_keyed(&operations, &calls).map_err(refuse)?;
    let choices = [(true, is_keyed), (false, true)];
    let mut chosen = None;
    for (keyed, _) in choices.into_iter().filter(|(_, is_possible)| *is_possible) {
        let all = exchanges(&operations, &calls, keyed);
        let named = operations.workload();
        if let Some(workload) = the_one(&all, keyed, named).map_err(refuse)? {
            chosen = Some((workload, all, keyed));
            break;
        }
    }
    let Some((workload, exchanges, keyed)) = chosen else {
        return Err(refuse(unknown(&operations)));
    };
    let go_on = |control: &Control| {
        let interrupted = |interrupt| ReadError::whole(format, interrupt);
        control.check().map_err(interrupted)
    };
    go_on(control)?;
    if !workload.assumes.is_empty() {
        builder.assume(workload.assumes);
    }
    match workload.meaning {
        Meaning::Refused(why) => Err(refuse((0, why.to_owned()))),
        Meaning::Transactions => {
            drop(exchanges);
            crate::elle::history(crate::elle::log_of(operations, keyed), builder, format)
        }
        Meaning::Items(of) => {
            let (mut items, mut facts) = (
                Items::for_calls(calls.len(), &operations),
                Facts::new(control),
            );
            let keys = by_key(exchanges);
            if !workload.keyed && keys.iter().flatten().any(|exchange| exchange.key.is_some()) {
                let message = format!(
                    "operations name a `key`, which the workload `{}` has not",
                    workload.name
                );
                return Err(refuse((0, message)));
            }
            let is_nameless = |of_one: &Vec<Exchange<'_, '_>>| of_one[0].key.is_none();
            if keys.len() > 1
                && let Some(nameless) = keys.iter().find(|of_one| is_nameless(of_one))
            {
                let message = "this operation has no `key`, but others have one".to_owned();
                return Err(refuse((nameless[0].line, message)));
            }
            for of_one in &keys {
                // What the rules remember meanwhile is gone before there are items.
                (workload.facts)(of_one, &mut facts);
                // A search for an order that took all of the time leaves levels undecided, no more.
                if !facts.search.is_out_of_time {
                    go_on(control)?;
                }
                of(of_one, &mut items).map_err(refuse)?;
            }
            drop(keys);
            let at_ease = Control::new();
            let control = match facts.search.is_out_of_time {
                true => &at_ease,
                false => control,
            };
            if facts.instead_of_levels().is_some() {
                items.without_beginning();
            }
            let no_levels = workload.no_levels.or(items.is_incomplete);
            let history = items.history(operations, &calls, builder, control, |drafts| {
                facts.workload(workload.name, no_levels, drafts)
            });
            history.map_err(|problem| ReadError::whole(format, problem))
        }
    }
}

/// The exchanges of each key, in the order in which keys occur; all of them where none names one.
fn by_key<'c, 'a>(exchanges: Vec<Exchange<'c, 'a>>) -> Vec<Vec<Exchange<'c, 'a>>> {
    if exchanges.iter().all(|exchange| exchange.key.is_none()) {
        return vec![exchanges];
    }
    let mut places = rustc_hash::FxHashMap::default();
    let mut groups: Vec<Vec<Exchange<'c, 'a>>> = Vec::new();
    for exchange in exchanges {
        let key = exchange.key.map(|key| key.text());
        let place = *places.entry(key).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[place].push(exchange);
    }
    groups
}

/// The workload that all exchanges fit, if there is exactly one; an error names several.
fn the_one(
    exchanges: &[Exchange<'_, '_>],
    keyed: bool,
    named: Option<&str>,
) -> Result<Option<&'static Workload>, Refusal> {
    let words: BTreeSet<&str> = exchanges.iter().map(|exchange| exchange.word).collect();
    let has_words = |row: &&Workload| {
        let any = row.must.is_empty()
            || named.is_some()
            || row.must.iter().any(|word| words.contains(word));
        let all = row.may.is_empty() && row.must.is_empty()
            || words
                .iter()
                .all(|word| row.must.contains(word) || row.may.contains(word));
        any && all
    };
    let is_named = |row: &&Workload| named.is_none_or(|name| row.name == name);
    let if_named = IF_NAMED.iter().filter(|_| named.is_some());
    let rows = WORKLOADS.iter().chain(if_named).filter(is_named);
    let rows = rows.filter(|row| row.keyed || !keyed).filter(has_words);
    let fitting: Vec<&Workload> = rows.filter(|row| (row.fits)(exchanges)).collect();
    match fitting[..] {
        [] => Ok(None),
        [row] => Ok(Some(row)),
        [one, other, ..] => Err((
            0,
            format!(
                "these operations may be those of `{0}` or of `{1}`: `--workload {0}` or `--workload {1}`",
                one.name, other.name
            ),
        )),
    }
}

/// Words that a workload knows by another name, where that is what they usually mean.
const NEAREST: &[(&str, &str, &str)] = &[
    ("push", "queue", "enqueue"),
    ("pop", "queue", "dequeue"),
    ("offer", "queue", "enqueue"),
    ("poll", "queue", "dequeue"),
    ("take", "queue", "dequeue"),
    ("lock", "mutex", "acquire"),
    ("unlock", "mutex", "release"),
    ("get", "register", "read"),
    ("put", "register", "write"),
    ("set", "register", "write"),
    ("compare-and-set", "register", "cas"),
    ("insert", "set", "add"),
    ("increment", "counter", "add"),
];

/// The error for operations that fit no workload.
fn unknown(operations: &Operations<'_>) -> Refusal {
    let events = &operations.events;
    let words: BTreeSet<&str> = events
        .iter()
        .map(|event| operations.word(&event.content))
        .collect();
    let mut rows = WORKLOADS.iter();
    let knows = |row: &Workload, word| row.must.contains(&word) || row.may.contains(&word);
    let strange: Vec<&str> = words
        .iter()
        .filter(|word| !WORKLOADS.iter().any(|row| knows(row, word)))
        .copied()
        .collect();
    let of = |word: &str| {
        events
            .iter()
            .find(|event| operations.word(&event.content) == word)
    };
    if let Some(name) = operations.workload()
        && !WORKLOADS.iter().any(|row| row.name == name)
    {
        let names: Vec<&str> = WORKLOADS.iter().map(|row| row.name).collect();
        return (
            0,
            format!(
                "there is no workload `{}`: known are {}",
                crate::error::escape(name),
                names.join(", ")
            ),
        );
    }
    if strange.is_empty() {
        let all: Vec<&str> = words.into_iter().collect();
        let valued = |event: &&Event<Operation<'_>>| !event.content.value.is_nil();
        let some = events.iter().find(valued).or(events.first());
        let shown = some.map_or_else(String::new, |event| {
            let text = event.content.value.text();
            format!(", such as `{}`,", crate::error::escape(&cut(&text, 40)))
        });
        let line = some.map_or(0, |event| event.line);
        let known = match rows.any(|row| all.iter().all(|word| knows(row, word))) {
            true => "their values",
            false => "no workload has all of these words; their values",
        };
        return (
            line,
            format!(
                "operations {}: {known}{shown} fit no workload with them",
                named(&all)
            ),
        );
    }
    let line = of(strange[0]).map_or(0, |event| event.line);
    let nearest = nearest(&strange);
    (
        line,
        format!(
            "operations {}: no workload has these words{nearest}",
            named(&strange)
        ),
    )
}

/// Words in a sentence, at most six of them.
fn named(words: &[&str]) -> String {
    const MOST: usize = 6;
    let quoted = words.iter().take(MOST);
    let quoted = quoted.map(|word| format!("`{}`", crate::error::escape(&cut(word, 40))));
    let more = match words.len() > MOST {
        true => format!(" and {} more", words.len() - MOST),
        false => String::new(),
    };
    quoted.collect::<Vec<_>>().join(", ") + &more
}

/// Which workload these words may mean, and how to say so; empty if that is not known of all.
fn nearest(strange: &[&str]) -> String {
    let workload = |word: &&str| NEAREST.iter().find(|(known, _, _)| known == word);
    let meant: Option<Vec<_>> = strange.iter().map(workload).collect();
    match meant.as_deref() {
        Some([first, rest @ ..]) if rest.iter().all(|one| one.1 == first.1) => {
            let all = std::iter::once(first).chain(rest);
            let options: Vec<String> = all
                .map(|(word, _, known)| format!("--word {word}={known}"))
                .collect();
            format!("; nearest: {}, {}", first.1, options.join(" "))
        }
        _ => String::new(),
    }
}

/// A number as a value.
pub(crate) fn number(number: i64) -> Tree<'static> {
    match u64::try_from(number) {
        Ok(number) => Tree::Number(number),
        Err(_) => Tree::Name(number.to_string().into()),
    }
}

/// A name with the number that it is as text: keys of maps in JSON are strings.
fn plain(name: &Tree<'_>) -> Tree<'static> {
    let number = |word: &str| {
        let number: i64 = word.parse().ok()?;
        (number.to_string() == word).then_some(number)
    };
    let number = name.word().and_then(number);
    number.map_or_else(|| name.clone().into_owned(), self::number)
}

/// A name of a value or a key.
const fn name(name: &'static str) -> Tree<'static> {
    Tree::Name(Cow::Borrowed(name))
}
