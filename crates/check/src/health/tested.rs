//! Whether a verdict means anything: whether enough took effect, and was read, for a level to be violated.

use super::words::{counted, percent};
use super::{Finding, Kind, Severity};
use isoscope_model::history::{History, OperationId, OperationKind, TransactionId, Value};
use isoscope_model::relations::{Glance, Resolution, Standing};

/// Fewer than one committed transaction of so many casts doubt.
const FEW: usize = 20;

/// The finding that nothing, or little, was tested. O(transactions), and O(operations) where nothing is read or written.
pub(super) fn finding(history: &History, resolution: &Resolution) -> Option<Finding> {
    let counts = |t: &TransactionId| {
        matches!(
            resolution.standing(*t),
            Standing::Committed | Standing::Promoted | Standing::Possible
        )
    };
    let committed = || history.transactions().filter(counts);
    let is_known_read = |o: &OperationId| {
        let operation = history.operation(*o);
        let is_known = operation.value != Value::UNRECORDED || history.differs_from(*o).is_some();
        operation.kind == OperationKind::Read && is_known
    };
    // What is wrong by itself was tested.
    let is_harmless = |o: OperationId| {
        matches!(
            resolution.glance(o),
            Glance::Outside | Glance::Own | Glance::Initial | Glance::Unrecorded
        ) && !resolution.is_irregular(o)
            && history.differs_from(o).is_none()
    };
    let (n, all) = (committed().count(), history.n_transactions());
    let is_read = || committed().any(|t| history.operations_of(t).any(|o| is_known_read(&o)));
    let is_written = || history.kinds().contains(&OperationKind::Write);
    let all_harmless = || committed().all(|t| history.operations_of(t).all(is_harmless));
    let nothing = match n {
        0 => "No transaction committed, so every level holds and nothing was tested.",
        1 if all_harmless() => {
            "Only one transaction committed, so every level holds and nothing was tested."
        }
        _ if !is_read() => {
            "No transaction that committed read anything that is known, so every level holds and nothing was tested."
        }
        _ if !is_written() && all_harmless() => {
            "No transaction wrote anything, so every level holds and nothing was tested."
        }
        _ if n < all / FEW => {
            let text = format!(
                "Only {} of {} committed ({}): that a level holds means little.",
                n,
                counted(all as u64, "transaction"),
                percent(n as u64, all as u64)
            );
            return Some(Finding::new(
                Kind::FewCommitted,
                Severity::Caution,
                n as u64,
                text,
            ));
        }
        _ => return None,
    };
    Some(Finding::new(
        Kind::NothingTested,
        Severity::Warning,
        all.max(1) as u64,
        nothing.to_owned(),
    ))
}
