//! What an argument is about.

use isoscope_check::checkers::Violation;
use isoscope_model::history::OperationId;
use isoscope_model::relations::Reason;

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
