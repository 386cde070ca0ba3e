//! Smaller workloads, to find what is needed for an anomaly that comes and goes.

use isoscope_record::generate::{Kind, Length, Workload};

/// Fewest transactions of a session.
const FEWEST_TRANSACTIONS: u64 = 10;

/// The workloads that are next smaller in one respect each: half the transactions, sessions or keys, or shorter
/// transactions. Empty if nothing is left to take away. At least `sessions` sessions stay.
pub fn smaller(workload: &Workload, sessions: u32) -> Vec<Workload> {
    let Length { least, most } = workload.operations;
    let has_length = matches!(
        workload.kind,
        Kind::General | Kind::DisjointWrites | Kind::ListAppend
    );
    let candidates = [
        Workload {
            transactions: (workload.transactions / 2).max(FEWEST_TRANSACTIONS),
            ..*workload
        },
        Workload {
            sessions: (workload.sessions / 2).max(sessions).max(2),
            ..*workload
        },
        Workload {
            keys: (workload.keys / 2).max(2),
            ..*workload
        },
        Workload {
            operations: Length {
                least: least.min(2),
                most: (most - 1).max(2),
            },
            ..*workload
        },
    ];
    let is_smaller = |candidate: &Workload| {
        candidate.transactions < workload.transactions
            || candidate.sessions < workload.sessions
            || candidate.keys < workload.keys
            || (has_length && candidate.operations.most < most)
    };
    candidates.into_iter().filter(is_smaller).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_get_smaller_until_nothing_is_left_to_take_away() {
        let mut workload = Workload {
            kind: Kind::DisjointWrites,
            ..Workload::default()
        };
        let mut steps = 0;
        while let Some(next) = smaller(&workload, 3).pop() {
            workload = next;
            steps += 1;
        }
        assert!(steps > 5);
        let Workload {
            sessions,
            transactions,
            keys,
            operations,
            ..
        } = workload;
        assert_eq!(
            (sessions, transactions, keys, operations),
            (3, 10, 2, Length { least: 2, most: 2 })
        );
        let mini = Workload {
            kind: Kind::Mini,
            operations: Length::fixed(8),
            ..workload
        };
        assert!(smaller(&mini, 3).is_empty());
    }
}
