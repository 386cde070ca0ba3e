//! Where the initial state comes from.

use super::survey::Survey;
use super::words::{by_number, counted, names, percent};
use super::{Finding, Kind, LISTED, Severity};
use isoscope_model::history::{
    History, KeyId, OperationId, OperationKind, Outcome, SessionId, TransactionId,
};
use isoscope_model::relations::{Resolution, Standing};
use rustc_hash::FxHashSet;

/// Minimum number of keys for which a setup is worth mentioning.
const FEWEST_KEYS: usize = 5;

/// Findings about the initial state. O(keys + transactions + operations of initial write-only transactions).
pub(super) fn findings(
    history: &History,
    resolution: &Resolution,
    survey: &Survey,
) -> Vec<Finding> {
    [
        uncounted_set_up(history, resolution, survey),
        never_written(history, survey),
        never_read(history, survey),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Write-only transactions at the beginning of a session that write at least nine tenths of all keys that are read, no
/// key in two of them, and whose keys are not read in their initial version: a setup written as part of the run. Unless
/// told, checkers may order it late.
fn uncounted_set_up(
    history: &History,
    resolution: &Resolution,
    survey: &Survey,
) -> Option<Finding> {
    let some = history
        .transactions()
        .any(|t| resolution.standing(t) == Standing::Initial);
    let read = survey.keys.iter().filter(|key| key.is_read).count();
    if some || read < FEWEST_KEYS {
        return None;
    }
    let (session, transactions, covered) = history
        .sessions()
        .filter_map(|session| covering(history, survey, session))
        .max_by_key(|(session, _, covered)| (*covered, std::cmp::Reverse(*session)))?;
    if covered * 10 < read * 9
        || covered < FEWEST_KEYS
        || transactions.len() == history.n_transactions()
    {
        return None;
    }
    let n = transactions.len() as u64;
    let flag = transactions
        .iter()
        .take(LISTED)
        .map(|&t| history.transaction_name(t))
        .collect::<Vec<_>>()
        .join(",");
    let who = names(history, &transactions, n);
    let shown = if n == 1 {
        format!("--init txn={who}")
    } else {
        "--init txn=… with their names".to_owned()
    };
    let text = format!(
        "{who} at the beginning of session {} {} to {} of the keys that are read, and no transaction reads an initial version of \
         them: {} like the set-up of the initial state, but {} as {} like others. {shown} puts {} before everything else.",
        history.session_name(session),
        by_number(n, "only writes,", "only write,"),
        percent(covered as u64, read as u64),
        by_number(n, "it looks", "they look"),
        by_number(n, "counts", "count"),
        by_number(n, "a transaction", "transactions"),
        by_number(n, "it", "them"),
    );
    let finding = Finding::new(Kind::SetUp, Severity::Caution, n, text);
    let finding = finding.about_transactions(transactions.iter().copied());
    // A remedy must name all of them.
    Some(if transactions.len() <= LISTED {
        finding.remedy("init", format!("txn={flag}"))
    } else {
        finding
    })
}

/// The committed write-only transactions at the beginning of a session and how many of the keys read they cover.
fn covering(
    history: &History,
    survey: &Survey,
    session: SessionId,
) -> Option<(SessionId, Vec<TransactionId>, usize)> {
    let mut transactions = Vec::new();
    let mut keys: FxHashSet<KeyId> = FxHashSet::default();
    let mut covered = 0;
    'session: for t in history.transactions_of(session) {
        let range = history.operation_range(t);
        let writes_only = history.kinds()[range.clone()]
            .iter()
            .all(|kind| *kind == OperationKind::Write);
        if !writes_only || range.is_empty() || history.outcome(t) != Outcome::Committed {
            break;
        }
        let mut mine: Vec<KeyId> = history.keys()[range].to_vec();
        mine.sort_unstable();
        mine.dedup();
        for key in &mine {
            let tally = &survey.keys[key.index()];
            if keys.contains(key) || tally.initial_is_read {
                break 'session;
            }
        }
        covered += mine
            .iter()
            .filter(|key| survey.keys[key.index()].is_read)
            .count();
        keys.extend(mine);
        transactions.push(t);
    }
    (!transactions.is_empty()).then_some((session, transactions, covered))
}

/// One operation on each of the first of these keys.
fn examples(history: &History, keys: &[KeyId]) -> Vec<OperationId> {
    let mut wanted: FxHashSet<KeyId> = keys.iter().take(LISTED).copied().collect();
    let mut found = Vec::new();
    for (o, key) in history.keys().iter().enumerate() {
        if wanted.is_empty() {
            break;
        }
        if wanted.remove(key) {
            found.push(OperationId::new(o));
        }
    }
    found
}

fn never_written(history: &History, survey: &Survey) -> Option<Finding> {
    let keys: Vec<KeyId> = (0..survey.keys.len())
        .filter(|&key| !survey.keys[key].is_written && survey.keys[key].initial_is_read)
        .map(KeyId::new)
        .collect();
    let n = keys.len() as u64;
    let first = *keys.first()?;
    let text = format!(
        "{} read in {} initial version only and never written (such as key {}): nothing can be learnt about {}.",
        counted(n, "key") + by_number(n, " is", " are"),
        by_number(n, "its", "their"),
        history.key_name(first),
        by_number(n, "it", "them"),
    );
    let finding = Finding::new(Kind::NeverWritten, Severity::Note, n, text);
    Some(finding.about_operations(history, examples(history, &keys).into_iter()))
}

fn never_read(history: &History, survey: &Survey) -> Option<Finding> {
    let keys: Vec<KeyId> = (0..survey.keys.len())
        .filter(|&key| survey.keys[key].is_written && !survey.keys[key].is_read)
        .map(KeyId::new)
        .collect();
    let n = keys.len() as u64;
    let first = *keys.first()?;
    let text = format!(
        "{} written and never read (such as key {}): {} versions can have any order.",
        counted(n, "key") + by_number(n, " is", " are"),
        history.key_name(first),
        by_number(n, "its", "their"),
    );
    let finding = Finding::new(Kind::NeverRead, Severity::Note, n, text);
    Some(finding.about_operations(history, examples(history, &keys).into_iter()))
}
