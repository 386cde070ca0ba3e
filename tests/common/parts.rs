//! Parts of histories, made without the library's own way of making them: operation by operation, by key and value.

use isoscope::checkers::{self, Level, Options, Pattern, Verdict};
use isoscope::control::Control;
use isoscope::history::{History, OperationId, OperationKind, TransactionId, TransactionSet};

/// What is left of a history without these operations, without the reads of what they wrote, and without transactions that
/// have no operation left. `None` if nothing is left.
pub(crate) fn without(history: &History, removed: impl Fn(OperationId) -> bool) -> Option<History> {
    let operations = || (0..history.n_operations()).map(OperationId::new);
    let written: Vec<_> = operations()
        .filter(|&o| removed(o) && history.operation(o).kind == OperationKind::Write)
        .map(|o| (history.operation(o).key, history.operation(o).value))
        .collect();
    let stays = |o: OperationId| {
        let operation = history.operation(o);
        let reads_it = operation.kind == OperationKind::Read
            && written.contains(&(operation.key, operation.value));
        !removed(o) && !reads_it
    };
    let left = history
        .transactions()
        .filter(|&t| history.operations_of(t).any(stays));
    let keep = TransactionSet::of(history, left);
    (!keep.is_empty()).then(|| history.restrict(&keep, stays).0)
}

/// What is left without a transaction.
pub(crate) fn without_transaction(
    history: &History,
    transaction: TransactionId,
) -> Option<History> {
    without(history, |o| history.transaction_of(o) == transaction)
}

/// What is left without an operation.
pub(crate) fn without_operation(history: &History, operation: OperationId) -> Option<History> {
    without(history, |o| o == operation)
}

/// Whether the engine finds a level violated, and by this pattern if one is given.
pub(crate) fn is_violated(history: &History, level: Level, pattern: Option<Pattern>) -> bool {
    let options = Options {
        levels: vec![level],
        ..Options::default()
    };
    let findings = checkers::check(history, &options, &Control::new(), &|_| {});
    let of_level = findings
        .level(level)
        .is_some_and(|result| result.verdict == Verdict::Violated);
    let fits = |v: &checkers::Violation| {
        v.levels.contains(level) && pattern.is_none_or(|p| p == v.id.pattern)
    };
    of_level && findings.violations.iter().any(fits)
}

/// Whether the engine finds a level violated by an instance of this pattern that does not follow from a simpler violation,
/// and that is about the transactions with these names if they are given.
pub(crate) fn is_violated_by_itself(
    history: &History,
    level: Level,
    pattern: Pattern,
    names: Option<&[String]>,
) -> bool {
    let options = Options {
        levels: vec![level],
        ..Options::default()
    };
    let findings = checkers::check(history, &options, &Control::new(), &|_| {});
    findings.violations.iter().any(|v| {
        v.levels.contains(level)
            && v.id.pattern == pattern
            && !v.implied
            && names.is_none_or(|names| names_of(history, v) == names)
    })
}

/// The names of the transactions that a violation is about, in order.
pub(crate) fn names_of(history: &History, violation: &checkers::Violation) -> Vec<String> {
    let names = violation.transactions.iter();
    let mut names: Vec<String> = names
        .map(|&t| history.transaction_name(t).to_string())
        .collect();
    names.sort();
    names
}

/// Whether the engine finds something that violates a level and no weaker one.
pub(crate) fn is_violated_alone(history: &History, level: Level) -> bool {
    let options = Options {
        levels: vec![level],
        ..Options::default()
    };
    let findings = checkers::check(history, &options, &Control::new(), &|_| {});
    findings
        .violations
        .iter()
        .any(|violation| violation.levels.weakest() == Some(level))
}

/// The fewest transactions of a part that violates a level, by this pattern if one is given: all sets of transactions are
/// tried, with all their reads whose writers are among them. `None` if no part does.
pub(crate) fn fewest(history: &History, level: Level, pattern: Option<Pattern>) -> Option<usize> {
    let n = history.n_transactions();
    let mut sets: Vec<u32> = (1..1u32 << n).collect();
    sets.sort_by_key(|set| set.count_ones());
    let violates = |set: &u32| {
        let outside = |o: OperationId| set & (1 << history.transaction_of(o).index()) == 0;
        without(history, outside).is_some_and(|part| is_violated(&part, level, pattern))
    };
    sets.into_iter()
        .find(violates)
        .map(|set| set.count_ones() as usize)
}

/// Those of some transactions to which sessions and reads lead from one of them, through others of them.
pub(crate) fn observed_after(
    history: &History,
    from: TransactionId,
    among: &[TransactionId],
) -> Vec<TransactionId> {
    let operations = |t: TransactionId, kind: OperationKind| {
        history
            .operations_of(t)
            .filter(move |&o| history.operation(o).kind == kind)
    };
    let reads_from = |t: TransactionId, writer: TransactionId| {
        operations(t, OperationKind::Read).any(|read| {
            let returned = history.operation(read);
            let list = history.lists().read_by(read).unwrap_or_default();
            operations(writer, OperationKind::Write)
                .map(|write| history.operation(write))
                .any(|written| {
                    written.key == returned.key
                        && (written.value == returned.value || list.contains(&written.value))
                })
        })
    };
    let (mut reached, mut next) = (vec![from], 0);
    while let Some(&t) = reached.get(next).filter(|t| !t.is_initial()) {
        next += 1;
        let is_after = |&other: &TransactionId| {
            let in_session = || t < other && history.session_of(t) == history.session_of(other);
            !other.is_initial() && (in_session() || reads_from(other, t))
        };
        let is_new = |other: &TransactionId| !reached.contains(other) && is_after(other);
        let new: Vec<TransactionId> = among.iter().copied().filter(is_new).collect();
        reached.extend(new);
    }
    reached
}
