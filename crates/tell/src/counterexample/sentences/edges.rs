//! What an edge says, in one sentence: what was observed, and what follows at the level that the argument is about.

use super::words::Words;
use crate::counterexample::claim::is_in_its_list;
use crate::counterexample::sentence::{Sentence, say};
use isoscope_check::checkers::{CountedOrder, Level, Respected};
use isoscope_model::history::{KeyId, OperationId, TransactionId};
use isoscope_model::relations::{Axiom, Edge, EdgeIndex, Guarantee, Reason, Relation};

/// The beginning or the end of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::counterexample) enum Moment {
    Started(TransactionId),
    Committed(TransactionId),
}

impl Words<'_> {
    /// Why an edge is there, in a sentence with a full stop, and the path that it rests on.
    pub(in crate::counterexample) fn reason(&self, edge: &Edge, level: Level) -> Sentence {
        let path = match edge.because.premises() {
            premises @ [_, _, ..] => say!(" ({})", self.path(premises)),
            _ => Sentence::default(),
        };
        say!("{}{path}.", self.edge(edge, level).begun())
    }

    /// ", and both used key x", where real time counts only between transactions with a key in common.
    fn shared_key(&self, edge: &Edge, level: Level) -> Sentence {
        if level.row().order != CountedOrder::KeyRealTime {
            return Sentence::default();
        }
        let keys = |t| self.history.keys_used_by(t);
        let shared = keys(edge.from).find(|&key| keys(edge.to).any(|other| other == key));
        shared.map_or_else(Sentence::default, |key| {
            say!(", and both used {}", self.key(Some(key)))
        })
    }

    /// What an edge says, without a full stop.
    pub(in crate::counterexample) fn edge(&self, edge: &Edge, level: Level) -> Sentence {
        let (from, to) = (self.transaction(edge.from), self.transaction(edge.to));
        let order = || self.order(edge, level);
        match &edge.because {
            Reason::SessionOrder if edge.from.is_initial() => {
                say!("{from} comes before every transaction")
            }
            Reason::SessionOrder if edge.relation == Relation::RealTime => {
                let [ended, began] = [edge.from, edge.to].map(|t| self.history.interval(t));
                let shared = self.shared_key(edge, level);
                match (ended, began) {
                    (Some(first), Some(then)) => {
                        let [began, ended] = [then.start, first.end].map(|time| self.time(time));
                        say!("{to} began at {began}, after {from} had ended at {ended}{shared}")
                    }
                    _ => say!("{to} began after {from} had ended{shared}"),
                }
            }
            Reason::SessionOrder => say!("{to} ran after {from} in the same session"),
            Reason::Reads => self.has_read(edge),
            Reason::Visible {
                axiom,
                reader,
                read,
                seen,
            } => {
                let name = self.transaction(*reader);
                let (old, wrote) = (
                    self.content(*read),
                    self.wrote(edge.from_operation, edge.key),
                );
                if is_in_its_list(self.history, edge) {
                    let order = order();
                    return say!(
                        "{name} read {old}, where {from}'s append comes before {to}'s: so {order}"
                    );
                }
                let saw = match axiom {
                    Axiom::CommitOrder if level.has_snapshots() => {
                        let chain = self.in_time(seen, level);
                        say!("{from}, which {wrote}, committed before {name} started{chain}")
                    }
                    Axiom::CommitOrder if level.is_of_each_read() => {
                        say!("{from}, which {wrote}, had committed by then")
                    }
                    Axiom::CommitOrder
                        if level.is_of_dependencies() && !level.is_serial_for_updates() =>
                    {
                        say!("{name} depends on {from}, which {wrote}")
                    }
                    Axiom::CommitOrder => {
                        say!("{from}, which {wrote}, {} before {name}", verb(level))
                    }
                    Axiom::ReadCommitted if self.is_one_scan(seen, *read) => {
                        say!("the same scan of {name} read from {from}, which {wrote}")
                    }
                    Axiom::ReadCommitted => {
                        say!("{name} had already read from {from}, which {wrote}")
                    }
                    Axiom::ReadAtomic
                    | Axiom::Causal
                    | Axiom::Session(Guarantee::ReadYourWrites) => {
                        self.seen(seen, [&from, &name, &wrote])
                    }
                    Axiom::Session(_) => self.seen_by_session(seen, [&from, &name, &wrote]),
                };
                if edge.to.is_initial() {
                    return say!(
                        "{saw}, but {name} read {old} and missed that: {from}'s version would be older than the initial one"
                    );
                }
                if level.respected() == Some(Respected::OfUpdates) {
                    return say!(
                        "{name} read {old} from {to} and overwrote it, so {from}'s version, which is older than {name}'s, is older \
                         than that one, too"
                    );
                }
                let overlap = match moments(edge, level) {
                    Some([_, Moment::Started(_)]) => ", and writers of one key may not overlap",
                    _ => "",
                };
                let found = match self.history.lists().read_by(*read) {
                    Some(_) if self.ends_with_own(*read) => {
                        say!("{old}, which before its own elements ends with what {to} appended")
                    }
                    Some(_)
                        if edge.from_operation.is_some()
                            && !self.has_element(Some(*read), edge.from_operation) =>
                    {
                        say!("{old}, {to}'s version, which lacks it")
                    }
                    Some(_) => say!("{old}, which ends with what {to} appended"),
                    None => say!("{old} from {to}"),
                };
                let session =
                    |t: TransactionId| (!t.is_initial()).then(|| self.history.session_of(t));
                let is_plain = edge.from < edge.to && session(edge.from) == session(edge.to);
                let plain = if is_plain {
                    ", as their session shows, too"
                } else {
                    ""
                };
                say!(
                    "{saw}, but {name} read {found}{overlap}: so {}{plain}",
                    order()
                )
            }
            Reason::Overwrites { writer, .. } => {
                let old = self.read_of(edge.from_operation, edge.key, *writer);
                let missed = match self.newer(edge, *writer) {
                    Some(newer) => newer,
                    None if self.has_element(edge.from_operation, edge.to_operation) => {
                        say!("not {}'s newer version", self.transaction(edge.to))
                    }
                    None => self.missed(edge.to_operation, edge.to),
                };
                say!("{from} read {old}, {missed}: so {}", order())
            }
            Reason::Conflict { .. } => {
                let key = self.key(edge.key);
                let misses = |e: &EdgeIndex| {
                    self.edges
                        .get(*e)
                        .is_some_and(|e| e.relation == Relation::AntiDependency)
                };
                if level.is_of_dependencies() && !edge.because.premises().iter().any(misses) {
                    return say!(
                        "{from} and {to} both wrote {key}, and {to} depends on {from}: so {}",
                        order()
                    );
                }
                if level.is_of_dependencies() {
                    return say!(
                        "{from} and {to} both wrote {key}, so one of them depends on the other; {from} does not depend on \
                         {to}, whose version it missed: so {}",
                        order()
                    );
                }
                say!(
                    "{from} and {to} both wrote {key}, so they may not overlap; {from} started before {to} committed{}: so {}",
                    self.in_time(edge.because.premises(), level),
                    order()
                )
            }
            Reason::ReadModifyWrite { read } => {
                let read = self.edges.get(*read).and_then(|e| e.to_operation);
                let old = self.read_of(read, edge.key, edge.from);
                let comma = if edge.from.is_initial() { "," } else { "" };
                say!(
                    "{to} read {old}{comma} and then {}, which is newer",
                    self.wrote(edge.to_operation, edge.key)
                )
            }
            Reason::Listed { reader, read } => {
                let (reader, list) = (self.transaction(*reader), self.content(*read));
                let (first, then) = (edge.from_operation, edge.to_operation);
                match self.listed_element(*read, then) {
                    true if self.is_listed_before(*read, first, then) => {
                        let [first, then] =
                            [first, then].map(|append| self.wrote(append, edge.key));
                        let overlap = match moments(edge, level) {
                            Some([_, Moment::Started(_)]) => {
                                say!(", and writers of one key may not overlap: so {}", order())
                            }
                            _ => Sentence::default(),
                        };
                        say!("{reader} read {list}: {from} {first} before {to} {then}{overlap}")
                    }
                    true => {
                        let element = then.map(|append| self.value(append)).unwrap_or_default();
                        say!(
                            "{reader} read {list}, where no {element} can be that of {to}, since appends of one transaction are next to each other: so {from} {} before {to}",
                            verb(level)
                        )
                    }
                    false => {
                        let lacks = self.missed(then, edge.to);
                        say!(
                            "{reader} read {list}, {lacks}: so {from} {} before {to}",
                            verb(level)
                        )
                    }
                }
            }
            Reason::Assumed => say!("in this case {}", self.older(edge)),
        }
    }

    /// "not T39's 4, which is newer because T39 ran after T24" for the missed version of a value, given the writer of the one
    /// that was read; none where it is newer for another reason.
    fn newer(&self, edge: &Edge, writer: TransactionId) -> Option<Sentence> {
        /// Maximum number of transactions named on the way.
        const MAX_NAMED: usize = 4;
        let write = edge.to_operation.filter(|_| !writer.is_initial())?;
        let operation = self.history.operation(write);
        if self.history.lists().is_list(operation.key) {
            return None;
        }
        let order: Vec<&Edge> = edge
            .because
            .premises()
            .iter()
            .filter_map(|&e| self.edges.get(e))
            .collect();
        let (older, newer) = (self.transaction(writer), self.transaction(edge.to));
        let after = match order.as_slice() {
            [] => return None,
            [only] => match (&only.because, only.relation) {
                (Reason::SessionOrder, Relation::RealTime) => {
                    say!("began after {older} had ended")
                }
                (Reason::SessionOrder, _) => say!("ran after {older}"),
                (Reason::Reads | Reason::ReadModifyWrite { .. }, _) => say!("read from {older}"),
                (Reason::Assumed, _) => return None,
                _ => say!("came after {older}"),
            },
            [_, others @ ..] if others.len() > MAX_NAMED => {
                say!("came after {older} through {} others", others.len())
            }
            [_, others @ ..] => {
                let through: Vec<Sentence> = others
                    .iter()
                    .map(|edge| self.transaction(edge.from))
                    .collect();
                say!("came after {older} through {}", Words::list(&through))
            }
        };
        let returned = edge
            .from_operation
            .map(|read| self.history.operation(read).value);
        Some(if returned == Some(operation.value) {
            say!("that of {older} and not that of {newer}, which is newer because {newer} {after}")
        } else {
            say!(
                "not {newer}'s {}, which is newer because {newer} {after}",
                self.value(write)
            )
        })
    }

    /// " (T2 committed < T1 started < T6 committed < T5 started)" for a path of several edges.
    fn in_time(&self, path: &[EdgeIndex], level: Level) -> Sentence {
        let links: Option<Vec<[Moment; 2]>> = path
            .iter()
            .map(|&e| self.edges.get(e).and_then(|edge| moments(edge, level)))
            .collect();
        let Some(links) = links.filter(|links| links.len() > 1) else {
            return Sentence::default();
        };
        let mut chain: Vec<Moment> = links.into_iter().flatten().collect();
        chain.dedup();
        let said: Vec<Sentence> = chain
            .into_iter()
            .map(|moment| self.moment(moment))
            .collect();
        say!(" ({})", Sentence::join(&said, " < "))
    }

    /// How a reader saw a transaction that wrote: "T3 saw T2, which saw T1, which wrote x = 1".
    pub(super) fn seen(
        &self,
        path: &[EdgeIndex],
        [from, reader, wrote]: [&Sentence; 3],
    ) -> Sentence {
        const MAX_NAMED: usize = 3;
        let edges: Vec<&Edge> = path.iter().filter_map(|&e| self.edges.get(e)).collect();
        match edges.as_slice() {
            [only] if only.relation == Relation::SessionOrder => {
                say!("{from}, which {wrote}, ran before {reader} in its session")
            }
            named if (1..=MAX_NAMED).contains(&named.len()) => {
                let through: Vec<Sentence> = named
                    .iter()
                    .rev()
                    .map(|edge| say!("saw {}", self.transaction(edge.from)))
                    .collect();
                say!(
                    "{reader} {}, which {wrote}",
                    Sentence::join(&through, ", which ")
                )
            }
            _ => say!("{reader} had to see {from}, which {wrote}"),
        }
    }

    /// How a session guarantee lets a reader see a transaction that wrote, step by step from the reader back: "T3 read from
    /// T2; T2 ran after T1 in its session; T1 wrote x = 1".
    fn seen_by_session(
        &self,
        path: &[EdgeIndex],
        [from, reader, wrote]: [&Sentence; 3],
    ) -> Sentence {
        const MAX_NAMED: usize = 5;
        let edges: Vec<&Edge> = path.iter().filter_map(|&e| self.edges.get(e)).collect();
        if edges.is_empty() || edges.len() > MAX_NAMED {
            return say!(
                "{reader} read from a transaction that follows {from} by what sessions had read, and {from} {wrote}"
            );
        }
        let step = |edge: &&Edge| {
            let [before, after] = [edge.from, edge.to].map(|t| self.transaction(t));
            match edge.relation {
                Relation::SessionOrder => say!("{after} ran after {before} in its session; "),
                _ => say!("{after} read from {before}; "),
            }
        };
        say!(
            "{}{from} {wrote}",
            Sentence::join(edges.iter().rev().map(step), "")
        )
    }

    /// `4 = 3`, or `4 = 0, the initial version`.
    fn read_of(
        &self,
        read: Option<OperationId>,
        key: Option<KeyId>,
        writer: TransactionId,
    ) -> Sentence {
        match read {
            Some(read) if writer.is_initial() => self.initial_read(read),
            read => self.content_or_key(read, key),
        }
    }

    /// "T3 started before T2 committed", or what an edge says at a level without snapshots.
    fn order(&self, edge: &Edge, level: Level) -> Sentence {
        match moments(edge, level) {
            Some([first, then]) => say!("{} before {}", self.moment(first), self.moment(then)),
            None if level.is_of_each_read() && edge.relation == Relation::AntiDependency => {
                say!(
                    "{} read before {} committed",
                    self.transaction(edge.from),
                    self.transaction(edge.to)
                )
            }
            None if !level.is_serial() && edge.relation == Relation::AntiDependency => {
                say!(
                    "{} missed {}'s version",
                    self.transaction(edge.from),
                    self.transaction(edge.to)
                )
            }
            None if level.is_of_dependencies() && edge.relation == Relation::WriteWrite => {
                say!(
                    "{}'s version is older than {}'s",
                    self.transaction(edge.from),
                    self.transaction(edge.to)
                )
            }
            None if matches!(edge.because, Reason::Visible { .. }) && !level.reads_newest() => {
                say!(
                    "{} would have to commit before {}",
                    self.transaction(edge.from),
                    self.transaction(edge.to)
                )
            }
            None if level.is_serial() => say!(
                "{} must have run before {}",
                self.transaction(edge.from),
                self.transaction(edge.to)
            ),
            None => say!(
                "{} came before {}",
                self.transaction(edge.from),
                self.transaction(edge.to)
            ),
        }
    }

    /// The assignment of the variables in the formula of an edge: "t1 = T295, t2 = T297, t3 = T393, x = 4"; empty where it
    /// is obvious.
    pub(in crate::counterexample) fn roles(&self, edge: &Edge) -> String {
        let key = edge
            .key
            .map(|key| format!("x = {}", self.history.key_name(key)));
        let name = |t: TransactionId| self.history.transaction_name(t);
        let parts: Vec<(&str, TransactionId)> = match &edge.because {
            Reason::Visible { reader, .. } => {
                vec![("t1", edge.to), ("t2", edge.from), ("t3", *reader)]
            }
            Reason::Overwrites { writer, .. } => {
                vec![("t1", *writer), ("t2", edge.to), ("t3", edge.from)]
            }
            Reason::Conflict { .. } => vec![("t4", edge.from), ("t3", edge.to)],
            Reason::SessionOrder | Reason::Reads => vec![("t1", edge.from), ("t2", edge.to)],
            Reason::ReadModifyWrite { .. } | Reason::Listed { .. } | Reason::Assumed => Vec::new(),
        };
        if parts.is_empty() {
            return String::new();
        }
        // The axiom of conflicts calls the key that both write y.
        let key = match edge.because {
            Reason::Conflict { .. } => edge
                .key
                .map(|key| format!("y = {}", self.history.key_name(key))),
            _ => key,
        };
        let parts = parts
            .into_iter()
            .map(|(role, t)| format!("{role} = {}", name(t)))
            .chain(key);
        parts.collect::<Vec<_>>().join(", ")
    }

    /// "T3 started".
    pub(in crate::counterexample) fn moment(&self, moment: Moment) -> Sentence {
        match moment {
            Moment::Started(t) => say!("{} started", self.transaction(t)),
            Moment::Committed(t) => say!("{} committed", self.transaction(t)),
        }
    }
}

/// Why an edge is there at length: in a sentence, by an axiom, with the assignment of its variables.
pub(in crate::counterexample) fn at_length(short: &str, axiom: &str, roles: &str) -> String {
    let here = if roles.is_empty() {
        String::new()
    } else {
        format!(" Here {roles}.")
    };
    format!("{short} {axiom}.{here}")
}

/// The verb for a transaction that precedes another: at serializability and above it ran before it.
pub(in crate::counterexample) fn verb(level: Level) -> &'static str {
    if level.is_serial() { "ran" } else { "came" }
}

/// What an edge says in time, at the levels where transactions have snapshots.
pub(in crate::counterexample) fn moments(edge: &Edge, level: Level) -> Option<[Moment; 2]> {
    use Moment::{Committed, Started};
    let (from, to) = (edge.from, edge.to);
    if !level.has_snapshots() {
        return None;
    }
    match edge.relation {
        Relation::AntiDependency => Some([Started(from), Committed(to)]),
        Relation::SessionOrder | Relation::WriteRead | Relation::CausalOrder => {
            Some([Committed(from), Started(to)])
        }
        Relation::WriteWrite if level.forbids_conflicts() => Some([Committed(from), Started(to)]),
        Relation::WriteWrite | Relation::CommitOrder => Some([Committed(from), Committed(to)]),
        Relation::RealTime => None,
    }
}

/// With a capital letter.
pub(in crate::counterexample) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}
