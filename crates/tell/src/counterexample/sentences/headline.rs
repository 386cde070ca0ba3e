//! The words of a [`Claim`]: a headline, and one sentence that says which transaction did what.

use super::edges::capitalized;
use super::scans;
use super::speaker::Speaker;
use super::words::Words;
use super::wrong_values::wrong_value_title;
use crate::counterexample::claim::{Claim, Visibility, claim, is_in_its_list, new_then_old};
use crate::counterexample::involved_operations;
use crate::counterexample::sentence::{Sentence, say};
use isoscope_check::checkers::{Proof, Supposed, Violation};
use isoscope_model::history::{History, KeyId, OperationId, TransactionId};
use isoscope_model::relations::{Edge, EdgeIndex, Reason, Relation};

/// A claim with its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// What it claims.
    pub claim: Claim,
    /// What happened, in a few words: "Half of a transaction was seen".
    pub title: String,
    /// Which transaction did it to which key, in one sentence with a full stop.
    pub summary: Sentence,
    /// The summary without its full stop.
    pub(super) clause: Sentence,
}

/// The claim of a violation, in words. O(edges²).
pub fn headline(history: &History, violation: &Violation) -> Headline {
    let claim = claim(history, violation);
    let words = Words::new(history, &violation.edges);
    let clause = Speaker {
        words: &words,
        violation,
    }
    .clause(&claim);
    let of_scans = scans::title_of(&claim, history, violation);
    let title = of_scans.unwrap_or_else(|| title_of(&claim, history, violation));
    Headline {
        title: title.to_owned(),
        summary: say!("{clause}."),
        clause,
        claim,
    }
}

/// The title of a [`headline`].
pub fn title(history: &History, violation: &Violation) -> String {
    headline(history, violation).title
}

/// The sentence of a [`headline`].
pub fn summary(history: &History, violation: &Violation) -> Sentence {
    headline(history, violation).summary
}

/// The pattern with its codes and their sources, for experts: "Fractured read, TAP-k (Plume), G-single (Adya)".
pub fn codes(history: &History, violation: &Violation) -> String {
    let of_predicates = involved_operations(violation)
        .into_iter()
        .any(|o| history.values()[o.index()].is_of_scan());
    let row = violation.called().row();
    let letter = row.pattern.letter().map(|_| format!("{} (Plume)", row.id));
    let others = row.adya.into_iter().flat_map(|names| names.split(", "));
    // Adya's cycles are of dependencies alone.
    let in_sessions = |name: &str| {
        violation
            .also
            .iter()
            .any(|also| also.strip_suffix("-session") == Some(name))
    };
    // What a scan missed is no item.
    let others = others.filter_map(|name| match (name, of_predicates) {
        ("P2 fuzzy read", true) => Some("P3 phantom"),
        ("G2-item", true) => Some("G2"),
        ("A5B", true) => None,
        _ => Some(name),
    });
    let others = others.filter_map(|name| {
        let with = if in_sessions(name) {
            " with session order"
        } else {
            ""
        };
        Some(format!("{name} ({}){with}", paper_of(name)?))
    });
    let in_real_time = violation
        .also
        .iter()
        .filter(|also| also.ends_with("-realtime"));
    let in_real_time = in_real_time.map(|also| format!("{also} (Elle)"));
    let names: Vec<String> = letter
        .into_iter()
        .chain(others)
        .chain(in_real_time)
        .collect();
    let known = if names.is_empty() {
        vec![format!("{} ({})", row.title, row.source)]
    } else {
        [row.title.to_owned()].into_iter().chain(names).collect()
    };
    known.join(", ")
}

/// Where a code is defined; none for plain words.
fn paper_of(code: &str) -> Option<&'static str> {
    match code {
        "G-nonadjacent" | "internal" | "incompatible-order" | "duplicate-elements" => Some("Elle"),
        _ if code.starts_with('G') => Some("Adya"),
        _ if code.starts_with(['P', 'A']) => Some("Berenson et al."),
        _ => None,
    }
}

fn title_of(claim: &Claim, history: &History, violation: &Violation) -> &'static str {
    match claim {
        Claim::WrongValue { pattern, reads } => wrong_value_title(
            *pattern,
            reads.len(),
            reads
                .iter()
                .any(|&read| history.lists().read_by(read).is_some()),
        ),
        Claim::StaleRead {
            visibility: Visibility::OwnSession,
            ..
        } => "A session did not see its own write",
        Claim::StaleRead {
            visibility: Visibility::ReadBefore(_),
            ..
        } => "A later read returned an older state",
        Claim::StaleRead {
            visibility: Visibility::Read(seen),
            read,
            ..
        } if history.operation(*seen).key == history.operation(*read).key => {
            "A transaction read two versions of one key"
        }
        Claim::StaleRead {
            visibility: Visibility::Read(_),
            ..
        } => "Half of a transaction was seen",
        Claim::StaleRead {
            visibility: Visibility::SessionRead(_),
            ..
        } => "The reads of a session went back",
        Claim::StaleRead {
            visibility: Visibility::WroteLater(_),
            ..
        } => "The writes of a session were seen out of order",
        Claim::StaleRead {
            visibility: Visibility::SessionSawLater(_),
            ..
        } => "A session did not see what came before a write that it had read",
        Claim::StaleRead {
            visibility: Visibility::Followed(_),
            ..
        } => "A write was seen without what its session had read before",
        Claim::StaleRead {
            visibility: Visibility::Order,
            ..
        } if is_of_dependencies(violation) => "A transaction missed a write on which it depends",
        Claim::StaleRead {
            visibility: Visibility::Through,
            ..
        } => "An effect was seen without its cause",
        Claim::StaleRead {
            visibility: Visibility::Order,
            ..
        } => "A write that came before was not seen",
        Claim::TwoReads { forced }
            if forced.len() == 2 && violation.proof.cycle_edges().len() == 2 =>
        {
            "Two reads that no single order explains"
        }
        Claim::TwoReads { .. } if has_session_order(violation) => {
            "Reads that no order of the sessions explains"
        }
        Claim::TwoReads { .. } => "Reads that no single order explains",
        Claim::Observed
            if violation
                .proof
                .cycle_edges()
                .iter()
                .any(|&e| is_listed(history, violation, e)) =>
        {
            "Lists contradict each other on the order of transactions"
        }
        Claim::Observed if has_session_order(violation) => "A transaction read from its own future",
        Claim::Observed if violation.proof.cycle_edges().len() == 2 => {
            "Two transactions read from each other"
        }
        Claim::Observed => "Reads form a cycle",
        Claim::LostWrite { .. }
            if violation
                .key
                .is_some_and(|key| history.lists().is_list(key)) =>
        {
            "A transaction appended after an element that it had not seen"
        }
        Claim::LostWrite { readers, .. } if overlap(violation, readers).is_some() => {
            "Two writers of a key overlapped"
        }
        Claim::Overlap { .. } => "Two writers of a key overlapped",
        Claim::LostWrite { .. } => "One of two updates was lost",
        Claim::ReadersDisagree { .. } => "Two readers disagree on the order of two writes",
        Claim::MissedEachOther { .. } => "Two transactions missed each other's write",
        Claim::Ring { missing } if missing.len() > 1 && has_session_order(violation) => {
            "Missed writes that no order of the sessions explains"
        }
        Claim::Ring { missing } if missing.len() > 1 => "A ring of missed writes",
        Claim::Ring { .. } => "Reads and writes that no order explains",
        Claim::AgainstTheClock { .. } if new_then_old(violation).is_some() => {
            "A newer value was read first, then the older one"
        }
        Claim::AgainstTheClock {
            missed: Some(_), ..
        } => "A write that had finished was not seen",
        Claim::OverwrittenBefore { .. } => {
            "A value was read that had been overwritten before the read began"
        }
        Claim::AgainstTheClock { .. } => "Reads contradict real time",
        Claim::Cases => match violation.proof.answers().next() {
            Some(Supposed::Writer { .. }) => "Reads that no choice of writers explains",
            Some(Supposed::Append { .. }) => "A list that no possible appends explain",
            Some(Supposed::Outcome { .. }) => "Reads that neither commit nor abort explains",
            Some(Supposed::Order(_)) | None => "Reads that no order of the writes explains",
        },
    }
}

/// The other transaction of a lost write of one reader, where all that is known is that both wrote the key and that
/// each started before the other committed.
fn overlap(violation: &Violation, readers: &[TransactionId]) -> Option<TransactionId> {
    if is_of_dependencies(violation) {
        return None;
    }
    let cycle: Vec<&Edge> = violation
        .proof
        .cycle_edges()
        .iter()
        .filter_map(|e| violation.edges.get(*e))
        .collect();
    let ([one], [_, _]) = (readers, cycle.as_slice()) else {
        return None;
    };
    let is_conflict =
        |edge: &&&Edge| matches!(edge.because, Reason::Conflict { .. }) && edge.to == *one;
    let is_missed = |edge: &&Edge| edge.relation == Relation::AntiDependency && edge.from == *one;
    cycle
        .iter()
        .find(is_conflict)
        .filter(|_| cycle.iter().any(is_missed))
        .map(|edge| edge.from)
}

/// Whether the weakest level violated is about dependencies: then nothing is said of one order of commits, unless that of the
/// transactions that write.
fn is_of_dependencies(violation: &Violation) -> bool {
    violation
        .levels
        .weakest()
        .is_some_and(|level| level.is_of_dependencies() && !level.is_serial_for_updates())
}

fn has_session_order(violation: &Violation) -> bool {
    let is_of_session = |edge: &Edge| edge.relation == Relation::SessionOrder;
    violation
        .proof
        .cycle_edges()
        .into_iter()
        .filter_map(|e| violation.edges.get(e))
        .any(is_of_session)
}

/// Whether an edge is known from a list.
fn is_listed(history: &History, violation: &Violation, e: EdgeIndex) -> bool {
    let is = |edge: &Edge| {
        matches!(edge.because, Reason::Listed { .. }) || is_in_its_list(history, edge)
    };
    violation.edges.get(e).is_some_and(is)
}

impl Speaker<'_> {
    /// The summary without its full stop.
    fn clause(&self, claim: &Claim) -> Sentence {
        match claim {
            Claim::WrongValue { pattern, reads } => self.wrong_value(*pattern, reads),
            Claim::StaleRead {
                read,
                older,
                newer,
                visibility,
            } => self.stale_read(*read, *older, *newer, *visibility),
            Claim::TwoReads { forced } => self.two_reads(forced),
            Claim::Observed => match &self.violation.proof {
                Proof::Cycle(_) => self.observed(),
                _ => capitalized(self.violation.id.pattern.row().meaning).into(),
            },
            Claim::LostWrite {
                key,
                writer,
                readers,
            } => self.lost_write(*key, *writer, readers),
            Claim::Overlap {
                key,
                writers,
                is_open,
            } => self.overlap(*key, *writers, *is_open),
            Claim::ReadersDisagree { missed: [a, b] } => self.readers_disagree(*a, *b),
            Claim::MissedEachOther { missed } => {
                let clauses = missed.map(|e| self.missed(e));
                say!("{}; {}", clauses[0], clauses[1])
            }
            Claim::Ring { missing } => self.ring(missing),
            Claim::AgainstTheClock { clock, missed } => self.against_the_clock(*clock, *missed),
            Claim::OverwrittenBefore { read, by } => self.overwritten_before(*read, *by),
            Claim::Cases => self.cases(),
        }
    }

    /// The edges of the cycle, each after the one that leads to it, from `first` on.
    fn along_cycle(&self, first: Option<EdgeIndex>) -> Vec<EdgeIndex> {
        let mut left = self.violation.proof.cycle_edges();
        let mut along: Vec<EdgeIndex> = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let end = along.last().map(|&e| self.violation.edges[e].to);
            let next = left.iter().position(|e| match end {
                Some(end) => self.violation.edges[*e].from == end,
                None => Some(*e) == first,
            });
            along.push(left.remove(next.unwrap_or_default()));
        }
        along
    }

    /// "T2 read from T1; T1 ran after T2 in its session."
    fn observed(&self) -> Sentence {
        const MAX_NAMED: usize = 4;
        // The last of the steps is the read that the others rule out.
        let is_read = |e: &EdgeIndex| self.violation.edges[*e].because == Reason::Reads;
        let mut cycle = self.along_cycle(None);
        let last = cycle.iter().rposition(is_read);
        cycle.rotate_left(last.map_or(0, |last| last + 1));
        let mut clauses: Vec<Sentence> = cycle
            .iter()
            .filter_map(|&e| self.observed_clause(e))
            .collect();
        let is_future = last.is_some() && has_session_order(self.violation);
        if let Some(said) = clauses.last_mut().filter(|_| is_future) {
            *said = say!("yet {said}");
        }
        let more = clauses.len().saturating_sub(MAX_NAMED);
        clauses.truncate(MAX_NAMED);
        let more = if more > 0 {
            say!("; {more} more close the cycle")
        } else {
            Sentence::default()
        };
        say!("{}{more}", Sentence::join(clauses, "; ").begun())
    }

    /// "T2 read from T1".
    fn observed_clause(&self, e: EdgeIndex) -> Option<Sentence> {
        let edge = self.violation.edges.get(e)?;
        let (from, to) = (self.transaction(edge.from), self.transaction(edge.to));
        Some(match edge.because {
            Reason::Reads => say!("{to} read from {from}"),
            Reason::SessionOrder => say!("{to} ran after {from} in its session"),
            Reason::Listed { read, .. } if !self.words.listed_element(read, edge.to_operation) => {
                let [has, lacks] = [edge.from, edge.to].map(|t| self.transaction(t));
                say!(
                    "{} was read with {has}'s append and without {lacks}'s",
                    self.words.key(edge.key)
                )
            }
            Reason::Listed { .. } => say!("{} has {from} before {to}", self.words.key(edge.key)),
            Reason::Visible { .. } => {
                say!("{} has {from} before {to}", self.words.key(edge.key))
            }
            _ => say!("{from} came before {to}"),
        })
    }

    fn stale_read(
        &self,
        read: OperationId,
        older: TransactionId,
        (newer, write): (TransactionId, Option<OperationId>),
        visibility: Visibility,
    ) -> Sentence {
        let key = Some(self.words.history.operation(read).key);
        let (new, writer) = (self.words.wrote(write, key), self.transaction(newer));
        let version = if older.is_initial() {
            ", the initial version"
        } else {
            ""
        };
        let stale = if older.is_initial() {
            self.words.initial_read(read)
        } else {
            self.words.content(read)
        };
        let reader = self.reader(read);
        let is_newer = || self.is_newer(newer, older);
        // What was read is the newer version itself.
        let unless_of_key =
            |seen: OperationId, also| match Some(self.words.history.operation(seen).key) == key {
                true => Sentence::default(),
                false => also,
            };
        match visibility {
            Visibility::OwnSession => {
                let comma = if version.is_empty() { "" } else { "," };
                say!(
                    "{reader} read {stale}{comma} although {writer}, earlier in its session, had {}, {}",
                    self.words.written(write, key),
                    is_newer()
                )
            }
            Visibility::ReadBefore(seen) if self.words.history.share_scan(seen, read) => {
                let is_of_seen = |edge: &&Edge| edge.to_operation == Some(seen);
                let edge = self.violation.edges.iter().find(is_of_seen);
                let (write, key) =
                    edge.map_or((None, None), |edge| (edge.from_operation, edge.key));
                say!(
                    "{reader}'s scan saw that {writer} {}, but not that it {new}",
                    self.words.wrote(write, key)
                )
            }
            Visibility::ReadBefore(seen) => say!(
                "{reader} had read {} from {writer}{}; then {reader} read the older {stale}",
                self.words.content(seen),
                unless_of_key(seen, say!(", which also {new}"))
            ),
            Visibility::Read(seen) => say!(
                "{reader} read {} from {writer}{}, but {reader} read the older {stale}",
                self.words.content(seen),
                unless_of_key(seen, say!(", which also {new}"))
            ),
            Visibility::SessionRead(seen) => {
                let earlier = self.reader(seen);
                let also = unless_of_key(seen, say!(", which {new}"));
                say!(
                    "{earlier} had read {} from {writer}{also}; later in the same session {reader} read the older {stale}",
                    self.words.content(seen)
                )
            }
            Visibility::WroteLater(seen) => {
                let later = self.source_of(seen);
                say!(
                    "{reader} read {} from {later}, before which {writer}, in the same session, {new}; but {reader} read the \
                     older {stale}",
                    self.words.content(seen)
                )
            }
            Visibility::SessionSawLater(seen) => {
                let (earlier, later) = (self.reader(seen), self.source_of(seen));
                say!(
                    "{earlier} had read {} from {later}, before which {writer}, in the same session, {new}; later {reader}, in \
                     the session of {earlier}, read the older {stale}",
                    self.words.content(seen)
                )
            }
            Visibility::Followed(seen) => say!(
                "{reader} read {} from {}; {writer} {new}, but {reader} read the older {stale}",
                self.words.content(seen),
                self.follower(seen, newer)
            ),
            Visibility::Order if is_of_dependencies(self.violation) => {
                say!(
                    "{reader} depends on {writer}, which {new}, a newer version, but {reader} read {stale}"
                )
            }
            Visibility::Through => say!(
                "{}, but {reader} read the older {stale}",
                self.saw_through(read, newer, &new)
            ),
            Visibility::Order => {
                let comma = if version.is_empty() { "" } else { "," };
                say!(
                    "{reader} read {stale}{comma} although {writer} came before it and {new}, {}",
                    is_newer()
                )
            }
        }
    }

    /// "T4 saw T3, which saw T2, which wrote x = 1": the path that the edge concluded from a read names.
    fn saw_through(&self, read: OperationId, newer: TransactionId, wrote: &Sentence) -> Sentence {
        let path = self
            .violation
            .edges
            .iter()
            .find_map(|edge| match &edge.because {
                Reason::Visible { read: of, seen, .. } if *of == read && edge.from == newer => {
                    Some(seen.as_slice())
                }
                _ => None,
            });
        let (writer, reader) = (self.transaction(newer), self.reader(read));
        self.words
            .seen(path.unwrap_or_default(), [&writer, &reader, wrote])
    }

    /// Why the version of one transaction is newer than that of another, if it is because one read from the other.
    fn is_newer(&self, newer: TransactionId, older: TransactionId) -> Sentence {
        let is_read =
            |edge: &&Edge| edge.because == Reason::Reads && (edge.from, edge.to) == (older, newer);
        match self
            .violation
            .edges
            .iter()
            .find(is_read)
            .and_then(|edge| edge.to_operation)
        {
            Some(read) => {
                let [newer, older] = [newer, older].map(|t| self.transaction(t));
                say!(
                    "which is newer: {newer} had read {} from {older}",
                    self.words.content(read)
                )
            }
            None => "which is newer".into(),
        }
    }

    /// The writer of what a read returned, by the edge of the read.
    fn writer_read_by(&self, read: OperationId) -> Option<TransactionId> {
        let is_it = |edge: &&Edge| edge.because == Reason::Reads && edge.to_operation == Some(read);
        self.violation
            .edges
            .iter()
            .find(is_it)
            .map(|edge| edge.from)
    }

    /// The name of the transaction that a read returned a version of.
    fn source_of(&self, read: OperationId) -> Sentence {
        self.writer_read_by(read)
            .map_or_else(|| "a transaction".into(), |t| self.transaction(t))
    }

    /// The writer of what a read returned, and how it follows another one: "T3, which had read from T1".
    fn follower(&self, read: OperationId, first: TransactionId) -> Sentence {
        let (name, followed) = (self.source_of(read), self.transaction(first));
        let Some(writer) = self.writer_read_by(read).filter(|t| !t.is_initial()) else {
            return name;
        };
        let history = self.words.history;
        let precedes =
            |t: TransactionId| t < writer && history.session_of(t) == history.session_of(writer);
        let reads = self
            .violation
            .edges
            .iter()
            .filter(|edge| edge.because == Reason::Reads && edge.from == first);
        let readers: Vec<TransactionId> = reads.map(|edge| edge.to).collect();
        match readers.iter().find(|&&t| precedes(t)) {
            _ if readers.contains(&writer) => say!("{name}, which had read from {followed}"),
            Some(&t) => {
                say!(
                    "{name}, before which {}, in the same session, had read from {followed}",
                    self.transaction(t)
                )
            }
            None => say!("{name}, which follows {followed} through what others had read"),
        }
    }

    /// "By T15's read of key 201, T11 came before T12; by T29's read of key 518, T12 came before T13; T11 read from T13."
    /// "T1 came before T2 by T3's read of key 4, T2 before T5 in its session, and T5 before T1 by its read of key 6".
    fn two_reads(&self, forced: &[EdgeIndex]) -> Sentence {
        const MAX_NAMED: usize = 4;
        let cycle = self.along_cycle(forced.first().copied());
        let edges = cycle.iter().filter_map(|e| self.violation.edges.get(*e));
        let mut clauses: Vec<Sentence> = edges
            .enumerate()
            .map(|(place, edge)| {
                let [first, then] = [edge.from, edge.to].map(|t| self.transaction(t));
                let came = if place == 0 { " came" } else { "" };
                say!("{first}{came} before {then}{}", self.because(edge, forced))
            })
            .collect();
        let more = clauses.len().saturating_sub(MAX_NAMED);
        clauses.truncate(MAX_NAMED);
        let last = match more {
            0 => clauses.pop().unwrap_or_default(),
            _ => say!("{more} more close the cycle"),
        };
        say!("{}, and {last}", Sentence::join(&clauses, ", "))
    }

    /// " by T3's read of key 4", " in its session": how an order on a cycle is known.
    fn because(&self, edge: &Edge, forced: &[EdgeIndex]) -> Sentence {
        let read_by = |edge: &Edge| match edge.because {
            Reason::Visible { reader, read, .. } => Some((reader, Some(read))),
            Reason::Overwrites { .. } => Some((edge.from, edge.from_operation)),
            _ => None,
        };
        let Some((reader, read)) = read_by(edge) else {
            return match edge.because {
                Reason::SessionOrder => " in its session".into(),
                Reason::Reads => ", which read from it".into(),
                _ => Sentence::default(),
            };
        };
        let forced = forced.iter().filter_map(|e| self.violation.edges.get(*e));
        let is_same = |other: &&Edge| {
            read_by(other).is_some_and(|(other, _)| other == reader) && other.key == edge.key
        };
        let of = match read {
            Some(read) if forced.filter(is_same).count() > 1 => self.words.content(read),
            _ => self.words.key(edge.key),
        };
        match reader == edge.from {
            true => say!(" by its read of {of}"),
            false => say!(" by {}'s read of {of}", self.transaction(reader)),
        }
    }

    fn lost_write(&self, key: KeyId, writer: TransactionId, readers: &[TransactionId]) -> Sentence {
        let is_list = self.words.history.lists().is_list(key);
        let key = self.words.key(Some(key));
        let version = match writer {
            t if t.is_initial() => say!("the initial version of {key}"),
            t => say!("{}'s version of {key}", self.transaction(t)),
        };
        match readers {
            [one] if overlap(self.violation, readers).is_some() => {
                let other = overlap(self.violation, readers).unwrap_or(*one);
                let both = [*one, other].map(|t| self.transaction(t));
                let did = if is_list { "appended to" } else { "wrote" };
                say!(
                    "{} both {did} {key}, and each started before the other committed",
                    Words::list(&both)
                )
            }
            [one] => {
                let one_of = |edge: &Edge| match (edge.from == *one, edge.to == *one) {
                    (true, _) => Some(edge.to),
                    (_, true) => Some(edge.from),
                    _ => None,
                };
                let cycle = self.violation.proof.cycle_edges();
                let mut orders = cycle.iter().filter_map(|e| self.violation.edges.get(*e));
                let of_versions = orders
                    .find(|edge| edge.relation == Relation::WriteWrite && one_of(edge).is_some());
                let other = of_versions
                    .and_then(one_of)
                    .map(|other| say!("{}'s", self.transaction(other)));
                let (verb, what) = if is_list {
                    ("appended", "append")
                } else {
                    ("overwrote it", "write")
                };
                let missed = other.unwrap_or_else(|| "another".into());
                say!(
                    "{} read {version} and {verb} without having seen {missed} {what}: one of the two {what}s is lost",
                    self.transaction(*one)
                )
            }
            several => {
                let names: Vec<Sentence> = several.iter().map(|&t| self.transaction(t)).collect();
                say!(
                    "{} read {version} and each overwrote it: only one update can survive",
                    Words::list(&names)
                )
            }
        }
    }

    /// "T1 and T2 both wrote key 4, T1 first, but T2 started before T1 committed."
    fn overlap(&self, key: KeyId, writers: [TransactionId; 2], is_open: bool) -> Sentence {
        let history = self.words.history;
        let did = if history.lists().is_list(key) {
            "appended to"
        } else {
            "wrote"
        };
        let [first, second] = writers.map(|t| self.transaction(t));
        let both = say!(
            "{first} and {second} both {did} {}",
            self.words.key(Some(key))
        );
        if is_open {
            say!("{both}, but neither can have committed before the other started")
        } else {
            say!("{both}, {first} first, but {second} started before {first} committed")
        }
    }

    /// "T1 read key 49 = 1, not T2's newer 7".
    fn missed(&self, e: EdgeIndex) -> Sentence {
        let Some(edge) = self.violation.edges.get(e) else {
            return Sentence::default();
        };
        let read = self.words.content_or_key(edge.from_operation, edge.key);
        let missed = self.words.missed(edge.to_operation, edge.to);
        say!("{} read {read}, {missed}", self.transaction(edge.from))
    }

    fn readers_disagree(&self, a: EdgeIndex, b: EdgeIndex) -> Sentence {
        let (Some(first), Some(second)) =
            (self.violation.edges.get(a), self.violation.edges.get(b))
        else {
            return Sentence::default();
        };
        let clause = |saw: TransactionId, e: EdgeIndex, reader: TransactionId| {
            let in_session = |edge: &Edge| {
                (edge.from, edge.to, edge.relation) == (saw, reader, Relation::SessionOrder)
            };
            let how = if self.violation.edges.iter().any(in_session) {
                say!("ran after {} in its session", self.transaction(saw))
            } else {
                say!("saw {}", self.transaction(saw))
            };
            say!(
                "{} {how}, but {}",
                self.transaction(reader),
                self.missed_write(e)
            )
        };
        say!(
            "{}; {}",
            clause(second.to, a, first.from),
            clause(first.to, b, second.from)
        )
    }

    /// "missed T2's key 49 = 7".
    fn missed_write(&self, e: EdgeIndex) -> Sentence {
        let Some(edge) = self.violation.edges.get(e) else {
            return Sentence::default();
        };
        let write = self.words.content_or_key(edge.to_operation, edge.key);
        say!("missed {}'s {write}", self.transaction(edge.to))
    }

    fn ring(&self, missing: &[TransactionId]) -> Sentence {
        const MAX_NAMED: usize = 4;
        let order = match self.violation.levels.weakest() {
            Some(level) if level.is_serial() || level.is_serial_for_updates() => "no serial order",
            Some(level) if level.is_of_dependencies() => "no order of versions",
            _ => "no order of commits",
        };
        let names: Vec<Sentence> = missing
            .iter()
            .take(MAX_NAMED)
            .map(|&t| self.transaction(t))
            .collect();
        let cycle = self.violation.proof.cycle_edges();
        let is_miss = |&e: &EdgeIndex| self.violation.edges[e].relation == Relation::AntiDependency;
        let missed: Vec<EdgeIndex> = cycle.iter().copied().filter(is_miss).collect();
        if missed.len() == missing.len() && (1..=3).contains(&missed.len()) {
            let clause = |&e: &EdgeIndex| {
                say!(
                    "{} {}",
                    self.transaction(self.violation.edges[e].from),
                    self.missed_write(e)
                )
            };
            let mut clauses: Vec<Sentence> = missed.iter().map(clause).collect();
            let others: Vec<EdgeIndex> = cycle
                .iter()
                .copied()
                .filter(|e| !missed.contains(e))
                .collect();
            let others = match others.as_slice() {
                [] => "",
                [one] => {
                    clauses.extend(self.observed_clause(*one));
                    ""
                }
                _ => "with what else was observed, ",
            };
            return say!("{}: {others}that leaves {order}", Words::list(&clauses));
        }
        // Where nothing else closes the cycle, each missed what the next one wrote.
        let each = match missed.len() == cycle.len() {
            true => say!("each missed the next one's write; that leaves {order}"),
            false => say!("each missed a write; with what else was observed, that leaves {order}"),
        };
        match missing.len() {
            0 => capitalized(self.violation.id.pattern.row().meaning).into(),
            1 => say!(
                "{} missed several writes; with what else was observed, that leaves {order}",
                names[0]
            ),
            n if n > MAX_NAMED => say!(
                "{} and {} more transactions {each}",
                Sentence::join(&names, ", "),
                n - MAX_NAMED
            ),
            _ => say!("{} {each}", Words::list(&names)),
        }
    }

    fn against_the_clock(&self, clock: EdgeIndex, missed: Option<EdgeIndex>) -> Sentence {
        let Some(edge) = self.violation.edges.get(clock) else {
            return Sentence::default();
        };
        let (ended, began) = (self.transaction(edge.from), self.transaction(edge.to));
        if let Some([new, old]) = new_then_old(self.violation) {
            let [first, reader] = [new, old].map(|read| self.reader(read));
            let [new, old] = [new, old].map(|read| self.words.content(read));
            return say!(
                "{reader} read the older {old}, although {first}, which had ended before {reader} began, had read {new}"
            );
        }
        match missed {
            Some(missed) => say!(
                "{}, although {ended} had ended before {began} began",
                self.missed(missed)
            ),
            None => say!(
                "{ended} had ended before {began} began, yet what was read puts {began} before {ended}"
            ),
        }
    }

    fn overwritten_before(&self, read: OperationId, by: OperationId) -> Sentence {
        let words = self.words;
        let [reader, writer] =
            [read, by].map(|o| words.transaction(words.history.transaction_of(o)));
        let wrote = words.wrote(Some(by), None);
        say!(
            "{reader} read {}, although {writer} {wrote} before that read began",
            words.content(read)
        )
    }
}
