//! What a step of an argument says.

use super::edges::{Moment, capitalized, moments};
use super::speaker::Speaker;
use super::words::{Words, counted, either};
use crate::counterexample::sentence::{Mention, Sentence, say};
use crate::counterexample::statement::{CaseLabel, Rule, Statement};
use isoscope_check::checkers::{Level, Pattern, Supposed};
use isoscope_model::history::{OperationId, OperationKind, Outcome, TransactionId};
use isoscope_model::relations::EdgeIndex;

/// What a cycle of session order and reads contradicts where lists are among the reads.
const ORDER_OF_LISTS: &str = "Read committed and above: there is one order of commits; sessions, reads and the elements of every list follow it, so that an element which a list lacks came later than those it has";

/// What lists contradict that are no versions of one list.
const LISTS: &str = "Read committed and above, for lists: a read returns only committed appends, each of them once and in one \
                     order for all reads; none is ever removed";

impl Speaker<'_> {
    /// A statement in an argument about a level, as a sentence without a full stop; `case` is the label of its case.
    pub(in crate::counterexample) fn statement(
        &self,
        says: &Statement,
        level: Level,
        case: &CaseLabel,
    ) -> Sentence {
        let words = self.words;
        let impossible = |why: Sentence| say!("{why}: {}", closing(case));
        match says {
            Statement::Session { transactions } => self.in_session(transactions),
            Statement::Read { read } => self.has_read(*read),
            Statement::Operation {
                operation,
                read_from,
                names_writer,
                follows,
                in_time,
            } => {
                let did = self.did(*operation, *read_from, *follows);
                let rolled_back = if *names_writer {
                    self.rolled_back(*read_from)
                } else {
                    ""
                };
                say!(
                    "{did}{rolled_back}{}",
                    self.outcome_and_time(*operation, *in_time)
                )
            }
            Statement::BeganAfter { edges } => self.began_after(edges),
            Statement::NotWritten { by } => {
                let names: Vec<Sentence> = by.iter().map(|&t| words.transaction(t)).collect();
                let none = if names.len() == 2 { "neither" } else { "none" };
                say!(
                    "{} began after that read had ended: {none} of them wrote it",
                    Words::list(&names)
                )
            }
            Statement::Edge { edge } => self
                .edge(*edge)
                .map(|edge| words.edge(edge, level))
                .unwrap_or_default(),
            Statement::NoOtherWriters { reads } => self.no_other_writers(reads),
            Statement::Absent { pattern, reads } => {
                self.absent(*pattern, reads).unwrap_or_default()
            }
            Statement::LaterWrites { read } => self.later_writes(*read),
            Statement::Committed { edge } => match self.edge(*edge) {
                Some(edge) => {
                    let name = words.transaction(edge.from);
                    say!(
                        "{}, so {name}, whose outcome is unknown, committed",
                        words.has_read(edge)
                    )
                }
                None => Sentence::default(),
            },
            Statement::Rule(Rule::Order) => {
                say!("Read committed and above: {}", self.rule_of_order())
            }
            Statement::Rule(Rule::OrderOfLists) => ORDER_OF_LISTS.into(),
            Statement::Rule(Rule::Lists) => LISTS.into(),
            Statement::Rule(Rule::Level(level)) => {
                say!("{}: {}", capitalized(&level.spoken()), self.rule(*level))
            }
            Statement::OpenWriter { read, writers } => {
                let names: Vec<Sentence> = writers
                    .iter()
                    .map(|&writer| words.transaction(writer))
                    .collect();
                let value = words.value_read(*read);
                match names.as_slice() {
                    [one] => say!("Only {one} may have written the {value}"),
                    _ => say!(
                        "Only {} may have written the {value}: one of them did",
                        Words::list(&names)
                    ),
                }
            }
            Statement::OpenAppend {
                read,
                place,
                appends,
            } => {
                let names: Vec<Sentence> = appends
                    .iter()
                    .map(|&append| words.appender(append))
                    .collect();
                say!(
                    "{} appended the {}",
                    either(&names),
                    words.element_read(*read, *place)
                )
            }
            Statement::OpenOutcome { transaction } => {
                say!("{} committed or not", words.transaction(*transaction))
            }
            Statement::OpenReads { n_reads } => {
                say!(
                    "Several transactions may have written what {} returned",
                    counted(*n_reads, "read")
                )
            }
            Statement::OpenOutcomes { n_transactions } => {
                say!(
                    "Whether {} committed is unknown",
                    counted(*n_transactions, "transaction")
                )
            }
            Statement::OpenOrders { n_pairs } => {
                let pairs = counted(*n_pairs, "pair");
                say!(
                    "For {pairs} of transactions that write the same key it is open which one wrote first"
                )
            }
            Statement::SupposeOrder { edge, is_first } => {
                let older = self
                    .edge(*edge)
                    .map(|edge| words.older(edge))
                    .unwrap_or_default();
                say!("{} that {older}", suppose(*is_first))
            }
            Statement::Suppose {
                supposed,
                is_first,
                with_consequence,
            } => {
                let follows = if *with_consequence {
                    self.follows(*supposed)
                } else {
                    Sentence::default()
                };
                say!(
                    "{} that {}{follows}",
                    suppose(*is_first),
                    words.supposed(*supposed)
                )
            }
            Statement::Cycle { edges, rule } => {
                if edges.iter().any(|(e, _)| self.leads_to_initial(*e)) {
                    return impossible("Nothing is older than the initial version".into());
                }
                let rule = rule
                    .map(|number| say!(" by rule {}", step_number(number)))
                    .unwrap_or_default();
                say!("{}{rule}", impossible(self.chain(edges, level)))
            }
            Statement::Overlap {
                transactions,
                key,
                because,
            } => {
                let [first, second] = transactions.map(|t| self.transaction(t));
                let numbers = because.iter().map(|&number| step_number(number));
                say!(
                    "So {first} and {second} overlapped ({}), and both wrote {}: {} must abort one of them",
                    Sentence::join(numbers, ", "),
                    words.key(Some(*key)),
                    level.spoken()
                )
            }
            Statement::WrongReads { pattern, reads, at } => {
                let why = self.wrong_reads(*pattern, reads);
                match at {
                    Some(level) => say!("{why}: impossible at {}", level.spoken()),
                    None => impossible(why),
                }
            }
            Statement::NoAppend { read, place } => impossible(say!(
                "No append can have made the {}: those of one transaction are next to each other in every list, each \
                 append is there once, and its own appends before a read are at the end of it",
                words.element_read(*read, *place)
            )),
            Statement::OtherCombinations { n, n_clauses } => {
                let others = match n {
                    0 | 1 => "No other combination is left".into(),
                    2 => {
                        "1 other combination contradicts, too, and with it all that is left".into()
                    }
                    n => say!(
                        "{} other combinations contradict, too, and together they exclude all",
                        n - 1
                    ),
                };
                impossible(say!("{others} {}", in_steps(*n_clauses)))
            }
            Statement::OtherCycles { n, n_clauses } => {
                let others = match n {
                    1 => "No other combination is left".into(),
                    2 => "1 other cycle excludes what is left".into(),
                    n => say!(
                        "{} other cycles exclude further combinations, and together they exclude all",
                        n - 1
                    ),
                };
                impossible(say!("{others} {}", in_steps(*n_clauses)))
            }
            Statement::NoCaseLeft => impossible("No case is left".into()),
        }
    }

    /// "T1, T4 and T9 ran in this order in session 3".
    fn in_session(&self, transactions: &[TransactionId]) -> Sentence {
        let history = self.words.history;
        let names: Vec<Sentence> = transactions.iter().map(|&t| self.transaction(t)).collect();
        let session = transactions
            .first()
            .map(|&t| history.session_name(history.session_of(t)));
        say!(
            "{} ran in this order in session {}",
            Words::list(&names),
            session.unwrap_or_default()
        )
    }

    /// "T4 (at time 8) and T5 (at time 9) began after T1 had ended at time 7".
    fn began_after(&self, edges: &[EdgeIndex]) -> Sentence {
        let ends: Vec<_> = edges
            .iter()
            .filter_map(|&e| self.edge(e))
            .map(|edge| (edge.from, edge.to))
            .collect();
        let name =
            |&(_, later): &(TransactionId, TransactionId)| match self.words.history.interval(later)
            {
                Some(ran) => say!(
                    "{} (at {})",
                    self.transaction(later),
                    self.words.time(ran.start)
                ),
                None => self.transaction(later),
            };
        let names: Vec<Sentence> = ends.iter().map(name).collect();
        let Some(&(first, _)) = ends.first() else {
            return Sentence::default();
        };
        let ended = self
            .words
            .history
            .interval(first)
            .map(|ran| say!(" at {}", self.words.time(ran.end)));
        let name = self.transaction(first);
        say!(
            "{} began after {name} had ended{}",
            Words::list(&names),
            ended.unwrap_or_default()
        )
    }

    /// "T1 wrote x = 1", "T2 read x = 1 from T1"; "T1 then read x = 2" after another operation of it.
    fn did(&self, o: OperationId, read_from: Option<EdgeIndex>, follows: bool) -> Sentence {
        let words = self.words;
        let name = self.transaction(words.history.transaction_of(o));
        let then = if follows { " then" } else { "" };
        if let Some(edge) = read_from.and_then(|e| self.edge(e)) {
            return say!("{name}{then} {}", words.read_from(edge));
        }
        match words.history.operation(o).kind {
            OperationKind::Read => say!("{name}{then} read {}", words.content(o)),
            OperationKind::Write => say!("{name}{then} {}", words.wrote(Some(o), None)),
        }
    }

    /// Whether the writer that an edge names was rolled back.
    fn rolled_back(&self, read_from: Option<EdgeIndex>) -> &'static str {
        let history = self.words.history;
        let write = read_from
            .and_then(|e| self.edge(e))
            .and_then(|edge| edge.from_operation);
        match write.map(|write| history.outcome(history.transaction_of(write))) {
            Some(Outcome::Aborted) => " and rolled back",
            _ => "",
        }
    }

    /// " and aborted"; ", if it committed, between time 3 and time 7".
    fn outcome_and_time(&self, o: OperationId, in_time: bool) -> Sentence {
        let history = self.words.history;
        let t = history.transaction_of(o);
        let outcome = match history.outcome(t) {
            Outcome::Aborted if history.operation(o).kind == OperationKind::Write => " and aborted",
            Outcome::Unknown if in_time => ", if it committed",
            _ => "",
        };
        match history.interval(t).filter(|_| in_time) {
            Some(ran) => {
                let [began, ended] = [ran.start, ran.end].map(|time| self.words.time(time));
                say!("{outcome}, between {began} and {ended}")
            }
            None => outcome.into(),
        }
    }

    /// "No other transaction in the file that may have committed, and began before the last of these had ended, wrote x = 1".
    fn no_other_writers(&self, reads: &[OperationId]) -> Sentence {
        let history = self.words.history;
        let content = |&read: &OperationId| {
            let operation = history.operation(read);
            (
                self.words.content(read),
                history.may_be_initial(operation.key, operation.value),
            )
        };
        let mut read: Vec<(Sentence, bool)> = reads.iter().map(content).collect();
        read.sort_by(|(one, _), (other, _)| one.as_bytes().cmp(other.as_bytes()));
        read.dedup();
        let not_initial = match read.len() {
            _ if read.iter().any(|(_, is_initial)| *is_initial) => "",
            1 => ", and it is not taken as the initial value",
            _ => ", and none of these is the initial value",
        };
        let read: Vec<Sentence> = read.into_iter().map(|(content, _)| content).collect();
        say!(
            "No other transaction in the file that may have committed, and began before the last of these had ended, wrote \
             {}{not_initial}",
            either(&read)
        )
    }

    /// What the whole file lacks where reads are wrong in a way; none where that says nothing.
    pub(in crate::counterexample) fn absent(
        &self,
        pattern: Pattern,
        reads: &[OperationId],
    ) -> Option<Sentence> {
        let history = self.words.history;
        let &read = reads.first()?;
        let value = self.words.wrong_value(pattern, read)?;
        match pattern {
            Pattern::ThinAirRead => {
                let reader = history.transaction_of(read);
                let that = match history.interval(reader) {
                    Some(_) => say!(
                        " that began before {} ended",
                        history.transaction_name(reader)
                    ),
                    None => Sentence::default(),
                };
                Some(say!(
                    "No transaction in the file{that} {value}, and it is not taken as the initial value"
                ))
            }
            Pattern::AbortedRead => {
                let sets_up = |t: &TransactionId| {
                    let mut all = history.operations_of(*t).map(|o| history.operation(o));
                    reads
                        .iter()
                        .any(|&read| all.any(|o| o.key == history.operation(read).key))
                };
                let later = if history.set_up().iter().any(sets_up) {
                    ", apart from the set-up,"
                } else {
                    ""
                };
                Some(say!(
                    "Every transaction in the file that {value}{later} aborted"
                ))
            }
            Pattern::FutureRead => Some(say!(
                "No other transaction in the file that may have committed {value}, and it is not taken as the initial value"
            )),
            Pattern::DuplicateElement if self.words.n_appends(read) == 1 => {
                Some(say!("Only one operation in the file {value}"))
            }
            _ => None,
        }
    }

    /// "Every other write of x = 1 began after time 7, when T3 had ended".
    fn later_writes(&self, read: OperationId) -> Sentence {
        let history = self.words.history;
        let reader = history.transaction_of(read);
        let ended = history
            .interval(reader)
            .map(|ran| self.words.time(ran.end))
            .unwrap_or_default();
        let (name, value) = (self.transaction(reader), self.words.content(read));
        say!("Every other write of {value} began after {ended}, when {name} had ended")
    }

    /// ", so that T1, of unknown outcome, must have committed": what follows from a supposition immediately.
    fn follows(&self, supposed: Supposed) -> Sentence {
        let history = self.words.history;
        let must_have_committed = |t: TransactionId| {
            if t.is_initial() || history.outcome(t) == Outcome::Committed {
                Sentence::default()
            } else {
                say!(
                    ", so that {}, of unknown outcome, must have committed",
                    self.transaction(t)
                )
            }
        };
        match supposed {
            Supposed::Order(_) => Sentence::default(),
            Supposed::Writer { writer, .. } => must_have_committed(writer),
            Supposed::Append { append, .. } => must_have_committed(history.transaction_of(append)),
            Supposed::Outcome {
                committed: true, ..
            } => ", so that what it read must be explained, too".into(),
            Supposed::Outcome { .. } => ", so that no transaction read from it".into(),
        }
    }

    fn leads_to_initial(&self, e: EdgeIndex) -> bool {
        self.edge(e).is_some_and(|edge| edge.to.is_initial())
    }

    /// "T1 before T2 (5) before T1 (6)"; where transactions have snapshots "T22 committed < T46 started (5) < …".
    fn chain(&self, cycle: &[(EdgeIndex, Option<usize>)], level: Level) -> Sentence {
        let step = |number: Option<usize>| {
            number.map_or_else(Sentence::default, |number| {
                say!(" ({})", step_number(number))
            })
        };
        if let Some(links) = self.in_time(cycle, level) {
            // Begins where a moment is followed by itself, so that the first and the last are the same.
            let n = links.len();
            let first = (0..n)
                .find(|&at| links[(at + n - 1) % n].1[1] == links[at].1[0])
                .unwrap_or(0);
            let mut said: Vec<Sentence> = Vec::new();
            let mut last = None;
            for (number, [from, to]) in links.iter().cycle().skip(first).take(n) {
                if last != Some(from) {
                    said.push(self.words.moment(*from));
                }
                said.push(say!("{}{}", self.words.moment(*to), step(*number)));
                last = Some(to);
            }
            let begin = &links[first].1[0];
            said.extend((last != Some(begin)).then(|| self.words.moment(*begin)));
            return Sentence::join(said, " < ");
        }
        let edges = cycle
            .iter()
            .filter_map(|&(e, number)| Some((self.edge(e)?, number)));
        let first = edges
            .clone()
            .next()
            .map(|(edge, _)| self.transaction(edge.from));
        let links = edges
            .map(|(edge, number)| say!(" before {}{}", self.transaction(edge.to), step(number)));
        Sentence::join(first.into_iter().chain(links), "")
    }

    /// The edges of a cycle in time, each with its number, where each of them has a meaning in time.
    fn in_time(
        &self,
        cycle: &[(EdgeIndex, Option<usize>)],
        level: Level,
    ) -> Option<Vec<(Option<usize>, [Moment; 2])>> {
        let link = |&(e, number): &(EdgeIndex, Option<usize>)| {
            Some((number, moments(self.edge(e)?, level)?))
        };
        cycle
            .iter()
            .map(link)
            .collect::<Option<Vec<_>>>()
            .filter(|links| !links.is_empty())
    }
}

/// The number of a step, from 1.
pub(in crate::counterexample) fn step_number(number: usize) -> Sentence {
    Sentence::name(number.to_string(), Mention::Step(number))
}

/// How a contradiction ends the argument, or a case of it.
fn closing(case: &CaseLabel) -> &'static str {
    if case.is_empty() {
        "impossible"
    } else {
        "impossible in this case"
    }
}

/// The beginning of a supposition.
fn suppose(is_first: bool) -> &'static str {
    if is_first { "Suppose" } else { "And suppose" }
}

/// "(in 3 steps, which `isoscope verify` follows)".
fn in_steps(n_clauses: usize) -> Sentence {
    let steps = if n_clauses == 0 {
        "one step".into()
    } else {
        counted(n_clauses + 1, "step")
    };
    say!("(in {steps}, which `isoscope verify` follows)")
}
