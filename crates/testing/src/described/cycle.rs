//! A cycle of edges, and the names that follow from their kinds and keys.

use super::{Described, Scene};
use isoscope_judge::report::{EdgeEntry, ReasonEntry};
use isoscope_model::history::KeyId;

/// A cycle of edges.
pub(super) struct Cycle<'a> {
    pub(super) described: &'a Described<'a>,
    pub(super) edges: Vec<&'a EdgeEntry>,
    /// Their places among the edges of the violation.
    places: Vec<usize>,
}

impl<'a> Cycle<'a> {
    pub(super) fn new(described: &'a Described<'a>, cycle: &[usize]) -> Result<Cycle<'a>, String> {
        let edges = cycle
            .iter()
            .map(|&e| described.edge(e))
            .collect::<Result<Vec<_>, _>>()?;
        if edges.is_empty() {
            Err("an empty cycle".to_owned())
        } else {
            Ok(Cycle {
                described,
                edges,
                places: cycle.to_vec(),
            })
        }
    }

    /// The scene with what the cycle consists of as its identity.
    pub(super) fn scene(&self, key: Option<KeyId>, also: Vec<String>) -> Scene {
        let name = |place: usize| self.described.transaction(place).map(|t| t.0);
        // A transaction that misses a newer version may have read several older ones.
        let missing = |e: &EdgeEntry| e.from_operation.filter(|_| e.kind == "RW");
        let identity = |e: &&EdgeEntry| {
            format!(
                "{:?} {:?} {} {:?} {:?}",
                name(e.from),
                name(e.to),
                e.kind,
                e.key,
                missing(e)
            )
        };
        let mut edges: Vec<String> = self.edges.iter().map(identity).collect();
        edges.sort_unstable();
        Scene {
            key,
            also,
            identity: Some(edges.join(", ")),
            ..Scene::default()
        }
    }

    /// Whether it has an edge of a kind or rests on one.
    pub(super) fn rests_on(&self, kind: &str) -> bool {
        let mut open = self.places.clone();
        let mut met = vec![false; self.described.violation.edges.len()];
        while let Some(place) = open.pop() {
            let Ok(edge) = self.described.edge(place) else {
                continue;
            };
            if edge.kind == kind {
                return true;
            }
            if !std::mem::replace(&mut met[place], true) {
                open.extend(edge.reason.premises());
            }
        }
        false
    }

    pub(super) fn has(&self, kind: &str) -> bool {
        self.edges.iter().any(|edge| edge.kind == kind)
    }

    pub(super) fn with_session(&self, name: &str) -> String {
        if self.has("SO") {
            format!("{name}-session")
        } else {
            name.to_owned()
        }
    }

    /// The key of an edge, by one of its operations.
    pub(super) fn key(&self, edge: &EdgeEntry) -> Result<Option<KeyId>, String> {
        let Some(index) = edge.from_operation else {
            return Ok(None);
        };
        let operation = self.described.operation(edge.from, index)?;
        Ok(Some(self.described.history.operation(operation).key))
    }

    /// Its names in Adya and Jepsen, and that of the same scenario here.
    pub(super) fn names(&self) -> Vec<String> {
        let rw = |edge: &EdgeEntry| edge.kind == "RW";
        let n_rw = self.edges.iter().filter(|edge| rw(edge)).count();
        let n = self.edges.len();
        let is_adjacent =
            n > 1 && (0..n).any(|at| rw(self.edges[at]) && rw(self.edges[(at + 1) % n]));
        let name = match (n_rw, is_adjacent) {
            (0, _) if self.edges.iter().all(|edge| edge.kind == "WW") => "G0",
            (0, _) => "G1c",
            (1, _) => "G-single",
            (_, false) => "G-nonadjacent",
            (_, true) => "G2-item",
        };
        let mut names = vec![name.to_owned()];
        names.extend(self.has("SO").then(|| format!("{name}-session")));
        names.extend(self.has("RT").then(|| format!("{name}-realtime")));
        if self.is_divergence() {
            names.extend(["Divergence", "LostUpdate"].map(str::to_owned));
        }
        names
    }

    /// The two edges of a cycle of two, an anti-dependency first.
    fn pair(&self) -> Option<(&'a EdgeEntry, &'a EdgeEntry)> {
        match *self.edges.as_slice() {
            [a, b] if a.kind == "RW" => Some((a, b)),
            [b, a] if a.kind == "RW" => Some((a, b)),
            _ => None,
        }
    }

    /// Two read one version of a key and both write the key: each misses the other's write.
    pub(super) fn is_divergence(&self) -> bool {
        let Some((missed, ReasonEntry::Conflict { order })) =
            self.pair().map(|(a, b)| (a, &b.reason))
        else {
            return false;
        };
        let [back] = order.as_slice() else {
            return false;
        };
        let Ok(back) = self.described.edge(*back) else {
            return false;
        };
        let writer = |edge: &EdgeEntry| match edge.reason {
            ReasonEntry::Overwrites { writer, .. } => self.described.transaction(writer).ok(),
            _ => None,
        };
        (back.from, back.to, &back.key) == (missed.to, missed.from, &missed.key)
            && writer(missed).is_some()
            && writer(missed) == writer(back)
    }

    /// A transaction misses a version of a key that it overwrites.
    pub(super) fn is_lost_update(&self) -> bool {
        self.pair()
            .is_some_and(|(missed, order)| order.kind == "WW" && missed.key == order.key)
    }

    /// Two miss each other's versions of different keys.
    pub(super) fn is_write_skew(&self) -> bool {
        self.pair()
            .is_some_and(|(a, b)| b.kind == "RW" && a.key != b.key)
    }

    /// Two miss versions of different keys, and only observed edges lead from each to the other.
    pub(super) fn is_long_fork(&self) -> bool {
        let missed: Vec<&EdgeEntry> = self
            .edges
            .iter()
            .copied()
            .filter(|edge| edge.kind == "RW")
            .collect();
        let are_seen = self
            .edges
            .iter()
            .all(|edge| matches!(edge.kind.code(), "RW" | "SO" | "WR" | "CO"));
        matches!(*missed.as_slice(), [a, b] if a.key != b.key) && are_seen && !self.is_write_skew()
    }

    /// At snapshot isolation the same cycle may need more than observed edges.
    pub(super) fn is_named_long_fork(&self) -> bool {
        self.is_long_fork()
            && self
                .described
                .violation
                .levels
                .iter()
                .any(|level| *level == "PC")
    }
}
