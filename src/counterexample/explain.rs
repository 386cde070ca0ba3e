//! The argument for a counterexample, as data: what was observed, what follows, and why that cannot be.
//!
//! Title, summary and conclusion are made here, the steps in `tell`, the sentences about edges in `words`.

use super::reasons;
use super::tell::Teller;
use super::words::Words;
use super::{Counterexample, Explanation, Minimality};
use crate::checkers::{Pattern, Proof, Supposed, Violation};
use crate::history::{History, OperationId, OperationKind, TransactionId};
use crate::relations::{Edge, EdgeIndex, Reason, Relation};
use std::collections::BTreeSet;

/// The argument for `example`. O(edges² + operations).
pub fn explain(example: &Counterexample) -> Explanation {
    let (history, violation) = (&example.history, &example.violation);
    let words = Words::new(history, &violation.edges);
    let reasons = reasons::reasons(history, &violation.edges, example.level);
    Explanation {
        title: title(history, violation),
        summary: summary(history, violation),
        steps: Teller::new(&words, violation, example.level).tell(),
        edge_reasons: reasons.iter().map(|reason| reason.short.clone()).collect(),
        reasons,
        conclusion: conclusion(example),
    }
}

/// Why edge `index` of `edges` is there, in a sentence.
pub fn edge_reason(history: &History, edges: &[Edge], index: EdgeIndex) -> String {
    edges.get(index).map(|edge| Words::new(history, edges).reason(edge)).unwrap_or_default()
}

/// The operations an argument is about, in ascending order.
pub fn involved_operations(violation: &Violation) -> Vec<OperationId> {
    let mut operations = violation.operations.clone();
    for edge in &violation.edges {
        operations.extend(edge.from_operation);
        operations.extend(edge.to_operation);
        if let Reason::Visible { read, .. } | Reason::Listed { read, .. } = edge.because {
            operations.push(read);
        }
    }
    operations.extend(violation.proof.reads());
    operations.sort_unstable();
    operations.dedup();
    operations
}

/// `Fractured read (TAP-k) on key 4`.
pub fn title(history: &History, violation: &Violation) -> String {
    let row = violation.id.pattern.row();
    let id = if violation.id.pattern.letter().is_some() { format!(" ({})", row.id) } else { String::new() };
    let key = violation.key.map(|key| format!(" on key {}", history.key_name(key))).unwrap_or_default();
    let whoever = match &violation.proof {
        Proof::Writers { .. } => ", whoever wrote what was read",
        Proof::Appends { .. } => ", whoever appended what was read",
        Proof::Outcomes { .. } => ", whichever transactions committed",
        Proof::Combinations { options, .. } => match options.first() {
            Some(Supposed::Outcome { .. }) => ", whichever transactions committed",
            Some(Supposed::Append { .. }) => ", whoever appended what was read",
            _ => ", whoever wrote what was read",
        },
        _ => "",
    };
    format!("{}{id}{key}{whoever}", row.title)
}

/// What happened, in one sentence with a full stop.
pub fn summary(history: &History, violation: &Violation) -> String {
    let words = Words::new(history, &violation.edges);
    special_summary(&words, violation).unwrap_or_else(|| {
        let names: Vec<String> = violation.transactions.iter().map(|&t| words.transaction(t)).collect();
        let meaning = violation.id.pattern.row().meaning;
        match names.len() {
            0 => format!("{}.", capitalized(meaning)),
            1..=6 => format!("{}: {}.", Words::list(&names), meaning),
            n => format!("{} and {} more transactions: {meaning}.", names[..4].join(", "), n - 4),
        }
    })
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The summary with names, for patterns whose parts can be found among the edges.
fn special_summary(words: &Words<'_>, violation: &Violation) -> Option<String> {
    let pattern = violation.id.pattern;
    if let Proof::Writers { read, cases } = &violation.proof {
        return writers_summary(words, violation, *read, cases);
    }
    if let Proof::Appends { read, place, cases } = &violation.proof {
        return Some(appends_summary(words, violation, (*read, *place), cases));
    }
    if let Proof::Outcomes { transaction, cases } = &violation.proof {
        return Some(outcomes_summary(words, violation, *transaction, cases));
    }
    if let Proof::Combinations { options, excluded, .. } = &violation.proof {
        return Some(combinations_summary(options, excluded.len()));
    }
    if let Proof::Clauses { lemmas, .. } = &violation.proof {
        return Some(clauses_summary(violation, lemmas.len()));
    }
    if matches!(violation.proof, Proof::Read | Proof::Reads { .. }) || pattern == Pattern::NonRepeatableRead {
        return read_summary(words, violation);
    }
    match pattern {
        Pattern::NonMonoReadCO
        | Pattern::NonMonoReadCM
        | Pattern::FracturedReadCO
        | Pattern::FracturedReadCM
        | Pattern::COConflictCM
        | Pattern::ConflictCM => visible_summary(words, violation),
        Pattern::CyclicCO => {
            let Proof::Cycle(cycle) = &violation.proof else { return None };
            Some(format!("Session order and reads go in a circle: {}.", words.path(cycle)))
        }
        Pattern::Divergence | Pattern::LostUpdate => divergence_summary(words, violation),
        Pattern::WriteSkew => {
            let mut rw = violation.edges.iter().filter(|e| e.relation == Relation::AntiDependency);
            let (a, b) = (rw.next()?, rw.next()?);
            let missed = |e: &Edge| {
                let what = words.content_or_key(e.from_operation, e.key);
                format!("{} reads {what}, which {} overwrites", words.transaction(e.from), words.transaction(e.to))
            };
            (a.from == b.to && a.to == b.from).then(|| format!("{}, while {}.", missed(a), missed(b)))
        }
        _ => None,
    }
}

/// "Whichever of T1, T2 and the initial state wrote the 1 that T3 read of key 4, a contradiction follows; …".
fn writers_summary(
    words: &Words<'_>,
    violation: &Violation,
    read: OperationId,
    cases: &[(TransactionId, Proof)],
) -> Option<String> {
    let names: Vec<String> = cases.iter().map(|(writer, _)| words.transaction(*writer)).collect();
    let meaning = violation.id.pattern.row().meaning;
    Some(format!(
        "Whichever of {} wrote the {}, a contradiction follows; if {} did: {meaning}.",
        Words::list(&names),
        words.value_read(read),
        names.first()?
    ))
}

/// "Whichever of T1 and T2 appended the 1 in place 2 of the list that T3 read of key 4, a contradiction follows; if T1 did:
/// …".
fn appends_summary(
    words: &Words<'_>,
    violation: &Violation,
    (read, place): (OperationId, usize),
    cases: &[(OperationId, Proof)],
) -> String {
    let names: Vec<String> = cases.iter().map(|(append, _)| words.appender(*append)).collect();
    let (element, meaning) = (words.element_read(read, place), violation.id.pattern.row().meaning);
    match names.as_slice() {
        [] => format!("No append can have made the {element}."),
        [one] => format!("Only {one} can have appended the {element}, and then: {meaning}."),
        [first, ..] => format!(
            "Whichever of {} appended the {element}, a contradiction follows; if {first} did: {meaning}.",
            Words::list(&names)
        ),
    }
}

/// "Whether T1 committed or not, a contradiction follows; if it did: …".
fn outcomes_summary(words: &Words<'_>, violation: &Violation, t: TransactionId, cases: &[(bool, Proof)]) -> String {
    let first = if cases.first().is_some_and(|(committed, _)| *committed) { "if it did" } else { "if it did not" };
    let (name, meaning) = (words.transaction(t), violation.id.pattern.row().meaning);
    format!("Whether {name} committed or not, a contradiction follows; {first}: {meaning}.")
}

/// "Whoever wrote what 40 reads returned, one of 60 combinations is there, and each contradicts."
fn combinations_summary(options: &[Supposed], n_combinations: usize) -> String {
    let reads: BTreeSet<OperationId> = options.iter().filter_map(|option| option.read()).collect();
    let n = reads.len();
    format!(
        "Whoever wrote what {n} reads returned, one of {n_combinations} combinations is there, and each contradicts."
    )
}

/// "In whatever orders these 40 transactions wrote their keys, one of 60 cycles closes: …".
fn clauses_summary(violation: &Violation, n_cycles: usize) -> String {
    let n = violation.transactions.iter().filter(|t| !t.is_initial()).count();
    let meaning = violation.id.pattern.row().meaning;
    format!("In whatever orders these {n} transactions wrote their keys, one of {n_cycles} cycles closes: {meaning}.")
}

/// Patterns h to n: t3 reads the key from t1 although it sees t2.
fn visible_summary(words: &Words<'_>, violation: &Violation) -> Option<String> {
    let told = |e: &&Edge| matches!(e.because, Reason::Visible { .. });
    let own = violation.edges.iter().rev().find(|e| told(e) && e.key == violation.key);
    let edge = own.or_else(|| violation.edges.iter().rev().find(told))?;
    let Reason::Visible { reader, seen, .. } = &edge.because else { return None };
    let (t3, t2) = (words.transaction(*reader), words.transaction(edge.from));
    let key = words.key(edge.key);
    let older = match edge.to.is_initial() {
        true => format!("the initial version of {key}"),
        false => format!("a version of {key} older than {t2}'s"),
    };
    let first = seen.first().and_then(|&e| violation.edges.get(e));
    let through = match first.filter(|e| seen.len() == 1 && e.relation == Relation::WriteRead) {
        Some(wr) => format!("{t3} sees {t2} through {}", words.key(wr.key)),
        None if seen.len() == 1 => format!("{t3} comes after {t2} in its session"),
        None => format!("{t3} could see {t2}'s write of {key}"),
    };
    let goes = match violation.id.pattern {
        Pattern::NonMonoReadCO | Pattern::NonMonoReadCM => "yet goes back to",
        _ => "yet reads",
    };
    Some(format!("{through}, {goes} {older}."))
}

fn divergence_summary(words: &Words<'_>, violation: &Violation) -> Option<String> {
    let key = violation.key?;
    let mut readers: Vec<TransactionId> = Vec::new();
    let mut writer = None;
    for edge in &violation.edges {
        if edge.relation == Relation::WriteRead && edge.key == Some(key) {
            if writer.is_some_and(|w| w != edge.from) {
                return None;
            }
            writer = Some(edge.from);
            if !readers.contains(&edge.to) {
                readers.push(edge.to);
            }
        }
    }
    let names: Vec<String> = readers.iter().map(|&t| words.transaction(t)).collect();
    let version = match writer? {
        t if t.is_initial() => format!("the initial version of key {}", words.history.key_name(key)),
        t => format!("{}'s version of key {}", words.transaction(t), words.history.key_name(key)),
    };
    match names.as_slice() {
        [_, _, ..] => {
            Some(format!("{} read {version} and each overwrote it: only one update can survive.", Words::list(&names)))
        }
        [one] => {
            Some(format!("{one} read {version} and overwrote a newer one that it had not seen: that update is lost."))
        }
        [] => None,
    }
}

/// Patterns a to f and j: what the read returned and why it may not.
fn read_summary(words: &Words<'_>, violation: &Violation) -> Option<String> {
    let involved = involved_operations(violation);
    let reads = words.of_kind(&involved, OperationKind::Read);
    let read = *reads.first()?;
    let t = words.transaction(words.history.transaction_of(read));
    let what = words.content(read);
    let writes = words.of_kind(&involved, OperationKind::Write);
    let writer = |own: bool| {
        let reader = words.history.transaction_of(read);
        let matching = writes.iter().find(|&&w| (words.history.transaction_of(w) == reader) == own);
        matching.map(|&w| words.transaction(words.history.transaction_of(w)))
    };
    Some(match violation.id.pattern {
        Pattern::ThinAirRead => format!("{t} reads {what}, a value that nobody wrote."),
        Pattern::AbortedRead => match writer(false) {
            Some(writer) => format!("{t} reads {what}, which only {writer} wrote, and {writer} aborted."),
            None => format!("{t} reads {what}, which only an aborted transaction wrote."),
        },
        Pattern::FutureRead => format!("{t} reads {what}, which it writes only later."),
        Pattern::NotMyOwnWrite => format!("{t} reads {what} after having written the key itself."),
        Pattern::NotMyLastWrite => format!("{t} reads {what}, an own write that it had already overwritten."),
        Pattern::IntermediateRead => match writer(false) {
            Some(writer) => format!("{t} reads {what}, which {writer} had overwritten before it committed."),
            None => format!("{t} reads {what}, which its writer had overwritten before it committed."),
        },
        Pattern::NonRepeatableRead => {
            let of_key = |r: &&OperationId| Some(words.history.operation(**r).key) == violation.key;
            let reader = violation.transactions.get(2).copied().unwrap_or(words.history.transaction_of(read));
            let own = |r: &&OperationId| words.history.transaction_of(**r) == reader;
            let contents: Vec<String> = reads.iter().filter(of_key).filter(own).map(|&r| words.content(r)).collect();
            let t = words.transaction(reader);
            format!("{t} reads {}: versions of different transactions.", contents.join(", then "))
        }
        _ => return None,
    })
}

/// "No execution that satisfies RA explains these 3 transactions…".
fn conclusion(example: &Counterexample) -> String {
    let level = example.level;
    let n = example.history.n_transactions();
    let these = if n == 1 { "this transaction".to_owned() } else { format!("these {n} transactions") };
    let size = match example.minimality {
        Minimality::Smallest | Minimality::SmallestForPattern | Minimality::Irreducible if n <= 1 => String::new(),
        Minimality::Smallest => format!(
            " Without any one of them the rest satisfies {level}, and no smaller part of the history shows this."
        ),
        Minimality::SmallestForPattern => format!(
            " Without any one of them the rest satisfies {level}, and no smaller part of the history shows this pattern, \
             though one violates {level} in another way."
        ),
        Minimality::Irreducible => format!(" Without any one of them the rest satisfies {level}."),
        Minimality::IrreducibleForPattern => format!(
            " Without any one of them this pattern is gone, though a part of them still violates {level} in another way."
        ),
        Minimality::Reduced => " Not every one of them could be tried without.".to_owned(),
    };
    let m = example.history.n_operations();
    let operations = match example.operation_minimality.passes_without_any() && m > 1 {
        true => format!(" Nor can any of the {m} operations be left out."),
        false => String::new(),
    };
    let long_name = level.long_name();
    format!("Therefore no execution that satisfies {level} ({long_name}) explains {these}.{size}{operations}")
}
