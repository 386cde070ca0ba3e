//! What a level promises, only as far as an argument uses it.

use super::speaker::Speaker;
use crate::counterexample::rests_on::closure;
use isoscope_check::checkers::Level;
use isoscope_model::relations::{Edge, Reason, Relation};

/// What an argument uses of a level.
struct Used {
    /// That one transaction ran after another in its session.
    sessions: bool,
    /// That one had ended before another began.
    real_time: bool,
    /// That one read from another.
    reads: bool,
    /// That a transaction must see what it read from.
    sees_reads: bool,
    /// That a transaction must see what its session did before.
    sees_sessions: bool,
    /// That a transaction must see what those that it sees had seen.
    sees_more: bool,
    /// That two writers of a key do not miss each other.
    conflicts: bool,
}

impl Used {
    fn of(speaker: &Speaker<'_>) -> Used {
        let all = &speaker.violation.edges;
        let cycles = speaker.violation.proof.parts().into_iter();
        let cycles = cycles.flat_map(|part| part.cycle_edges());
        let used = closure(all, cycles, false);
        let edges: Vec<&Edge> = used.iter().filter_map(|&e| all.get(e)).collect();
        let has = |relation: Relation| {
            let is_it = |edge: &&&Edge| edge.relation == relation && !edge.from.is_initial();
            edges.iter().filter(is_it).count() > 0
        };
        let paths = || {
            edges.iter().filter_map(|edge| match &edge.because {
                Reason::Visible { seen, .. } => Some(seen.as_slice()),
                _ => None,
            })
        };
        let steps = |relation: Relation| {
            let mut all = paths().flatten().filter_map(|&e| speaker.edge(e));
            all.any(|edge| edge.relation == relation && !edge.from.is_initial())
        };
        Used {
            sessions: has(Relation::SessionOrder),
            real_time: has(Relation::RealTime),
            reads: has(Relation::WriteRead),
            sees_reads: steps(Relation::WriteRead),
            sees_sessions: steps(Relation::SessionOrder),
            sees_more: paths().any(|path| path.len() > 1),
            conflicts: edges
                .iter()
                .any(|edge| matches!(edge.because, Reason::Conflict { .. })),
        }
    }

    /// "a transaction commits after those that it read from and after the earlier transactions of its session".
    fn order(&self) -> Option<String> {
        let parts = [
            (self.reads, "after those that it read from"),
            (
                self.sessions,
                "after the earlier transactions of its session",
            ),
            (self.real_time, "after all that had ended before it began"),
        ];
        let parts: Vec<&str> = parts
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, text)| *text)
            .collect();
        (!parts.is_empty()).then(|| format!("a transaction commits {}", joined(&parts)))
    }

    /// What comes before a transaction by itself: "the earlier transactions of its session".
    fn before(&self, level: Level) -> Vec<&'static str> {
        let parts = [
            (self.sessions, "the earlier transactions of its session"),
            (
                self.real_time && level.counts_real_time(),
                "all that had ended before it began",
            ),
        ];
        let used = parts.into_iter().filter(|(is_used, _)| *is_used);
        used.map(|(_, text)| text).collect()
    }

    fn of_snapshots(&self, level: Level) -> String {
        let reads = "each transaction reads the newest versions committed before it started";
        let mut clauses = vec![reads.to_owned()];
        let before = self.before(level);
        if !before.is_empty() {
            clauses.push(format!("it starts after {} committed", joined(&before)));
        }
        if self.conflicts {
            clauses.push(
                "of two transactions that overlap and write one key, one must abort".to_owned(),
            );
        }
        clauses.join("; ")
    }

    fn of_serial_order(&self, level: Level) -> String {
        let order = "the transactions ran as if one after the other";
        match self.before(level).as_slice() {
            [] => order.to_owned(),
            before => format!("{order}, each after {}", joined(before)),
        }
    }

    /// "a transaction sees those that it read from and all that these had seen", with what it reads of that.
    fn seen(&self, more: bool) -> String {
        let mut parts = Vec::new();
        if self.sees_sessions && !self.sees_reads {
            parts.push("the earlier transactions of its session");
        } else if self.sees_sessions {
            parts.extend([
                "the earlier transactions of its session",
                "those that it read from",
            ]);
        } else {
            parts.push("those that it read from");
        }
        if more && self.sees_more {
            parts.push("all that these had seen");
        }
        format!(
            "a transaction sees {}; of each key it reads the newest version that it sees",
            joined(&parts)
        )
    }
}

/// "a", "a and b", "a, b and c".
fn joined(parts: &[&str]) -> String {
    match parts.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}

impl Speaker<'_> {
    /// What a level promises, as far as the argument uses it: clauses without a full stop. Where an argument is not made of
    /// edges, all of it.
    pub(super) fn rule(&self, level: Level) -> String {
        let used = Used::of(self);
        let mut clauses: Vec<String> = Vec::new();
        match level.base().code {
            "RC" => {
                clauses.push(
                    "once a transaction has read from another, it reads no older version of what that one wrote"
                        .to_owned(),
                );
                let is_one_scan = |edge: &Edge| match &edge.because {
                    Reason::Visible { read, seen, .. } => self.words.is_one_scan(seen, *read),
                    _ => false,
                };
                if self.violation.edges.iter().any(is_one_scan) {
                    clauses.push("all reads of a scan happen at one moment".to_owned());
                }
            }
            "RA" => clauses.push(used.seen(false)),
            "TCC" => clauses.push(used.seen(true)),
            "PC" | "SI" => return used.of_snapshots(level),
            "SER" => return used.of_serial_order(level),
            _ => return level.promise().to_owned(),
        }
        clauses.extend(used.order());
        clauses.join("; ")
    }

    /// What every level promises of the order of commits, as far as a cycle of sessions and reads uses it.
    pub(super) fn rule_of_order(&self) -> String {
        let order = Used::of(self).order();
        order.unwrap_or_else(|| "there is one order of commits".to_owned())
    }
}
