//! What checkers require of a history, and how much of the version order can be inferred.

use super::survey::{MINI_KEYS, MINI_OPERATIONS, Survey};
use super::words::{by_number, counted, percent};
use super::{Finding, Kind, Severity, VersionOrder};
use isoscope_model::history::{History, TransactionId, grouped};
use isoscope_model::relations::Resolution;

/// The conditions, each broken by `count` things, and two plain figures. O(transactions + lists).
pub(super) fn findings(
    history: &History,
    resolution: &Resolution,
    survey: &Survey,
    order: VersionOrder,
) -> Vec<Finding> {
    let mut findings = vec![
        unique_values(history, resolution),
        read_before_write(history, survey),
        mini_transactions(survey),
        lists(history),
        times(history),
    ];
    findings.extend(version_order(order));
    findings.extend(unrecorded(history, survey));
    findings
}

fn version_order(order: VersionOrder) -> Option<Finding> {
    let VersionOrder {
        known,
        by_session,
        pairs,
    } = order;
    let mut text = format!(
        "Reads show the order of {} of {} ({}). They show it where one was read before the other was written, or where a list has both.",
        grouped(known),
        counted(pairs, "pair") + " of neighbouring versions",
        percent(known, pairs),
    );
    if by_session > 0 {
        let more = if known > 0 { " more" } else { "" };
        text += &format!(
            " Session order gives {}{more}, of keys that only one session writes.",
            grouped(by_session)
        );
    }
    if known + by_session < pairs {
        text += " Strong levels have to search for the rest.";
    }
    (pairs > 0).then(|| Finding::new(Kind::VersionOrder, Severity::Note, known, text))
}

fn unrecorded(history: &History, survey: &Survey) -> Option<Finding> {
    let n = survey.unrecorded.count;
    let text = format!(
        "The result of {} was not recorded: {} nothing.",
        counted(n, "read"),
        by_number(n, "it says", "they say")
    );
    let finding = Finding::new(Kind::UnrecordedReads, Severity::Note, n, text);
    (n > 0).then(|| finding.about_operations(history, survey.unrecorded.first.iter().copied()))
}

fn unique_values(history: &History, resolution: &Resolution) -> Finding {
    let repeated = resolution.repeated_writes();
    let n = repeated.len() as u64;
    let text = match n {
        0 => "Holds: no value is written to a key by two transactions. Most checkers need this."
            .to_owned(),
        n => format!(
            "Does not hold: {} a value that the key had before. Most checkers need it; here all possible writers are tried.",
            counted(n, "write") + by_number(n, " repeats", " repeat"),
        ),
    };
    let finding = Finding::new(Kind::UniqueValues, Severity::Note, n, text);
    finding.about_operations(history, repeated.iter().map(|(again, _)| *again))
}

fn read_before_write(history: &History, survey: &Survey) -> Finding {
    let (n, all) = (survey.blind.count, survey.first_writes);
    let text = match n {
        0 if all == 0 => "Holds: nothing is written.".to_owned(),
        0 => "Holds: every transaction reads a key before it writes it, so each version says which one it follows."
            .to_owned(),
        n => format!(
            "Does not hold: {} of {} write a key that the transaction has not read ({}).",
            grouped(n),
            counted(all, "first write"),
            percent(n, all),
        ),
    };
    let finding = Finding::new(Kind::ReadModifyWrite, Severity::Note, n, text);
    finding.about_operations(history, survey.blind.first.iter().copied())
}

fn mini_transactions(survey: &Survey) -> Finding {
    let n = survey.large.count;
    let shape = format!(
        "at most {MINI_OPERATIONS} operations on at most {MINI_KEYS} keys, each read before it is written"
    );
    let text = match n {
        0 => format!("Holds: every transaction has {shape}, as MTC needs it."),
        n => format!(
            "Does not hold: {} larger or {} what was not read before; MTC needs {shape}.",
            counted(n, "transaction") + by_number(n, " is", " are"),
            by_number(n, "writes", "write"),
        ),
    };
    let finding = Finding::new(Kind::MiniTransactions, Severity::Note, n, text);
    finding.about_transactions(survey.large.first.iter().copied())
}

fn lists(history: &History) -> Finding {
    let lists = history.lists();
    let n_lists = history.key_names().len() as u64;
    let with = (0..history.n_keys())
        .filter(|&key| lists.is_list(isoscope_model::history::KeyId::new(key)))
        .count() as u64;
    let without = n_lists - with;
    let text = match (with, without) {
        (0, _) => {
            "Does not hold: a key holds a single value, so a read does not show the order of versions."
                .to_owned()
        }
        (_, 0) => {
            "Holds: every key holds a list, so a read shows the order of its elements.".to_owned()
        }
        (with, without) => format!(
            "Holds in part: {} of {} a list.",
            grouped(with),
            counted(with + without, "key") + by_number(with, " holds", " hold"),
        ),
    };
    Finding::new(Kind::Lists, Severity::Note, without, text)
}

fn times(history: &History) -> Finding {
    let without = |t: &TransactionId| history.interval(*t).is_none();
    let n = history.transactions().filter(without).count() as u64;
    let text = match n {
        0 => "Holds: every transaction has times, as strict serializability needs them.".to_owned(),
        _ if !history.has_times() => {
            "The history has no times. Without times, real-time levels can be refuted but not confirmed."
                .to_owned()
        }
        n => format!("Does not hold: {} no times.", counted(n, "transaction") + by_number(n, " has", " have")),
    };
    let finding = Finding::new(Kind::Times, Severity::Note, n, text);
    if history.has_times() {
        finding.about_transactions(history.transactions().filter(without))
    } else {
        finding
    }
}
