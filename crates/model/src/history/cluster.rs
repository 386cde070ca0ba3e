//! Where sessions ran and what was done to the machines meanwhile, as far as the file says so. No verdict depends on it.

use super::{Names, SessionId, visible};
use rustc_hash::FxHashMap;

/// The nodes of a history and the incidents during it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Names of the nodes (servers, replicas, endpoints), in the order of first use.
    nodes: Names,
    /// By session: its place among the nodes. Empty if no session has one.
    of_session: Vec<Option<u32>>,
    incidents: Vec<Incident>,
}

impl Default for Cluster {
    /// Nothing is known.
    fn default() -> Cluster {
        Cluster {
            nodes: Names::Implicit(0),
            of_session: Vec::new(),
            incidents: Vec::new(),
        }
    }
}

/// Something that happened to the system: a fault that began or ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    /// When, by the clock of the transactions' intervals; none if that is unknown.
    pub time: Option<i64>,
    /// What, as the file calls it: `start-partition`, `kill`.
    pub what: String,
    /// More about it, verbatim; may be empty.
    pub detail: String,
}

/// The time from the beginning of a fault to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSpan {
    /// The fault: `partition`, `pause standby`.
    pub what: String,
    /// Its first incident.
    pub start: i64,
    /// The last incident that ends it; none if the history ends before.
    pub end: Option<i64>,
}

impl Cluster {
    pub(super) fn new(
        nodes: Names,
        of_session: Vec<Option<u32>>,
        incidents: Vec<Incident>,
    ) -> Cluster {
        Cluster {
            nodes,
            of_session,
            incidents,
        }
    }

    /// The names of the nodes, verbatim.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = String> + '_ {
        (0..self.nodes.len()).map(|node| self.nodes.get(node))
    }

    /// The node of a session, verbatim.
    pub fn node_of(&self, session: SessionId) -> Option<String> {
        let node = (*self.of_session.get(session.index())?)?;
        Some(self.nodes.get(node as usize))
    }

    /// Number of sessions on each node, in the order of [`nodes`](Self::nodes). O(sessions).
    pub fn sessions_by_node(&self) -> Vec<usize> {
        let mut n = vec![0; self.nodes.len()];
        self.of_session
            .iter()
            .flatten()
            .for_each(|&node| n[node as usize] += 1);
        n
    }

    /// What happened, in the order of the file.
    pub fn incidents(&self) -> &[Incident] {
        &self.incidents
    }

    /// The faults that incidents with times begin and end, by their beginnings. `start-X` and `X` begin a fault that `stop-X` or
    /// `heal-X` ends; so do `kill` and `start`, `pause` and `resume`. O(incidents).
    pub fn faults(&self) -> Vec<FaultSpan> {
        let mut spans: Vec<FaultSpan> = Vec::new();
        let mut last: FxHashMap<&str, usize> = FxHashMap::default();
        for Incident { time, what, .. } in &self.incidents {
            let Some(time) = *time else { continue };
            let (fault, ends) = fault_of(what);
            match (last.get(fault).map(|&at| &mut spans[at]), ends) {
                (Some(span), true) => span.end = Some(time),
                (Some(FaultSpan { end: None, .. }), false) | (None, true) => {}
                (_, false) => {
                    last.insert(fault, spans.len());
                    spans.push(FaultSpan {
                        what: fault.to_owned(),
                        start: time,
                        end: None,
                    });
                }
            }
        }
        spans
    }

    /// The faults in progress at some time from `first` to `last`, or else the last one before.
    pub fn faults_while(&self, first: i64, last: i64) -> Vec<FaultSpan> {
        let (mut during, mut before) = (Vec::new(), None);
        for fault in self.faults() {
            match fault.end {
                Some(end) if end < first => {
                    before = before
                        .filter(|last: &FaultSpan| last.end > Some(end))
                        .or(Some(fault));
                }
                _ if fault.start <= last => during.push(fault),
                _ => {}
            }
        }
        if during.is_empty() {
            before.into_iter().collect()
        } else {
            during
        }
    }

    fn incidents_while(&self, first: i64, last: i64) -> Vec<Incident> {
        let faults = self.faults_while(first, last);
        let is_of = |incident: &&Incident, fault: &FaultSpan| {
            let within = |time: i64| fault.start <= time && fault.end.is_none_or(|end| time <= end);
            incident.time.is_none_or(within) && fault_of(&incident.what).0 == fault.what
        };
        let kept = self
            .incidents
            .iter()
            .filter(|incident| faults.iter().any(|fault| is_of(incident, fault)));
        kept.cloned().collect()
    }

    /// As `incidents_while`, for a selection of the sessions, and the faults while they ran from `first` to `last`, or else the last one
    /// before. All incidents where no times are known.
    pub(super) fn select(
        &self,
        sessions: impl Iterator<Item = SessionId>,
        ran: Option<(i64, i64)>,
    ) -> Cluster {
        let of_session = if self.of_session.is_empty() {
            Vec::new()
        } else {
            sessions
                .map(|s| self.of_session.get(s.index()).copied().flatten())
                .collect()
        };
        let incidents = ran.map_or_else(
            || self.incidents.clone(),
            |(first, last)| self.incidents_while(first, last),
        );
        Cluster {
            nodes: self.nodes.clone(),
            of_session,
            incidents,
        }
    }
}

/// The fault that an incident is about, and whether it ends there.
fn fault_of(what: &str) -> (&str, bool) {
    match what {
        "start" | "restart" => ("kill", true),
        "resume" => ("pause", true),
        "heal" | "stop" => ("partition", true),
        _ => match what
            .strip_prefix("stop-")
            .or_else(|| what.strip_prefix("heal-"))
        {
            Some(fault) => (fault, true),
            None => (what.strip_prefix("start-").unwrap_or(what), false),
        },
    }
}

impl super::History {
    /// This history with what accompanying files say about it, for [`Origin::about`](super::Origin::about).
    pub fn annotated(mut self, about: Vec<String>) -> super::History {
        self.origin.about = about;
        self
    }

    /// This history with what was tested, in words, in place of what accompanying files say of it.
    #[must_use]
    pub fn tested_as(mut self, said: Option<&str>) -> super::History {
        if let Some(said) = said.map(super::visible_line) {
            self.origin.about.push(format!("{}: {said}", super::TESTED));
        }
        self
    }

    /// Where sessions ran and what was done to the machines.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Name of a session for people, with its node if that is known: `7 on standby`. Both are [`visible`].
    pub fn session_and_node(&self, session: SessionId) -> String {
        let name = self.session_name(session);
        match self.cluster.node_of(session) {
            Some(node) => format!("{name} on {}", visible(&node)),
            None => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(incidents: &[(i64, &str)]) -> Vec<(String, i64, Option<i64>)> {
        let incident = |&(time, what): &(i64, &str)| Incident {
            time: Some(time),
            what: what.to_owned(),
            detail: String::new(),
        };
        let cluster = Cluster {
            incidents: incidents.iter().map(incident).collect(),
            ..Cluster::default()
        };
        cluster
            .faults()
            .into_iter()
            .map(|span| (span.what, span.start, span.end))
            .collect()
    }

    #[test]
    fn incidents_pair_up_to_faults() {
        // Jepsen records the beginning and the end of each step of the nemesis.
        let twice = [
            (1, "start-partition"),
            (2, "start-partition"),
            (5, "stop-partition"),
            (6, "stop-partition"),
        ];
        assert_eq!(faults(&twice), [("partition".to_owned(), 1, Some(6))]);
        let again = [(1, "pause"), (3, "resume"), (4, "pause")];
        assert_eq!(
            faults(&again),
            [
                ("pause".to_owned(), 1, Some(3)),
                ("pause".to_owned(), 4, None)
            ]
        );
        let mixed = [
            (1, "kill"),
            (2, "start-slow"),
            (3, "start"),
            (4, "stop-slow"),
            (9, "stop-other"),
        ];
        assert_eq!(
            faults(&mixed),
            [
                ("kill".to_owned(), 1, Some(3)),
                ("slow".to_owned(), 2, Some(4))
            ]
        );
    }

    #[test]
    fn a_part_of_a_history_has_the_faults_of_its_time() {
        let incident = |&(time, what): &(i64, &str)| Incident {
            time: Some(time),
            what: what.to_owned(),
            detail: String::new(),
        };
        let all = [
            (1, "start-partition config"),
            (2, "start-partition shard1"),
            (3, "stop-partition shard1"),
            (7, "stop-partition config"),
            (9, "kill"),
        ];
        let cluster = Cluster {
            incidents: all.iter().map(incident).collect(),
            ..Cluster::default()
        };
        let during = |first, last| {
            let part = cluster.select(std::iter::empty(), Some((first, last)));
            part.incidents
                .into_iter()
                .map(|incident| incident.time.unwrap_or_default())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            during(4, 5),
            [1, 7],
            "the partition of the other shard is over"
        );
        assert_eq!(during(3, 5), [1, 2, 3, 7]);
        assert_eq!(during(8, 8), [1, 7], "the last one before");
        assert_eq!(during(10, 11), [9]);
        assert_eq!(during(0, 0), [0; 0]);
    }
}
