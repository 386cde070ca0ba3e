//! From findings to a report.

use super::*;
use crate::checkers::lattice::StrongestOrder;
use crate::checkers::{
    C4Pattern, Case, Event, Findings, Level, LevelResult, Pattern, Proof, Question, Supposed,
    Verdict, Violation, Witness,
};
use crate::health::Health;
use isoscope_model::history::{FaultSpan, History, KeyId, OperationId, TransactionId};
use isoscope_model::relations::{Axiom, EdgeIndex, Guarantee, Reason};
use std::collections::BTreeMap;

/// What to put into a report in addition to the findings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// Seconds it took to read the history.
    pub read_seconds: f64,
    /// Whether satisfied levels carry their witness.
    pub witness: bool,
}

/// The report on the findings in `history`, without sentences. O(transactions + size of the findings, witnesses if requested).
pub fn of_findings(history: &History, findings: &Findings, settings: Settings) -> Report {
    Report {
        schema: SCHEMA.to_owned(),
        history: facts(history),
        part: None,
        levels: findings
            .levels
            .iter()
            .map(|result| level_entry(history, result, settings))
            .collect(),
        patterns: counts(findings),
        published_patterns: findings.published_patterns.as_ref().map(published),
        listing: None,
        promised: None,
        strongest: strongest(findings),
        violations: findings
            .violations
            .iter()
            .map(|violation| scenario(history, findings, violation).0)
            .collect(),
        timings: Timings {
            read: rounded(settings.read_seconds),
            index: rounded(findings.index_seconds),
            check: rounded(findings.check_seconds),
        },
        rules: history
            .rules()
            .words()
            .into_iter()
            .map(|(name, word)| (name.to_owned(), word))
            .collect(),
        assumptions: findings.assumptions.clone(),
        cut: findings.cut.map(|limit| limit.to_string()),
        tested: true,
        health: Vec::new(),
    }
}

/// A report with what is known about the history's health.
pub fn with_health(report: Report, history: &History, health: &Health) -> Report {
    Report {
        tested: health.is_tested(),
        health: health::entries(history, health),
        ..report
    }
}

fn strongest(findings: &Findings) -> Vec<StrongestEntry> {
    let verdicts: Vec<&LevelResult> = findings.verdicts().collect();
    let bases = findings
        .others
        .iter()
        .flat_map(|_| StrongestOrder::all(&verdicts));
    let entry = |StrongestOrder { base, holds, open }| StrongestEntry {
        base,
        level: holds,
        undecided: open,
    };
    bases.map(entry).collect()
}

/// Microseconds are enough.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

/// Figures of the file, regardless of the rules.
pub(super) fn facts(history: &History) -> HistoryFacts {
    let (figures, cluster) = (history.recorded(), history.cluster());
    let nodes = cluster.nodes().zip(cluster.sessions_by_node());
    let faults = cluster.faults().into_iter();
    HistoryFacts {
        path: history.origin().path.clone(),
        format: history.origin().format.to_owned(),
        sessions: figures.sessions,
        transactions: figures.transactions,
        committed: figures.committed,
        aborted: figures.aborted,
        unknown: figures.unknown,
        operations: figures.operations,
        keys: figures.keys,
        about: history.origin().about.clone(),
        nodes: nodes
            .map(|(name, sessions)| NodeEntry { name, sessions })
            .collect(),
        faults: faults
            .map(|FaultSpan { what, start, end }| FaultEntry { what, start, end })
            .collect(),
        fields: BTreeMap::new(),
        workload: WorkloadEntry::of(history),
    }
}

/// A pattern is listed when it occurs, or with 0 when a level that forbids it was requested and decided. A checker that
/// knows other patterns, or none, counts no others.
fn counts(findings: &Findings) -> Counts {
    if findings.checker.is_c4() {
        let decided = findings
            .levels
            .iter()
            .any(|result| !matches!(result.verdict, Verdict::Undecided(_)));
        let count = |pattern: C4Pattern| findings.c4_patterns.get(&pattern).copied().unwrap_or(0);
        let entries = C4Pattern::all().map(|pattern| (pattern.id().to_owned(), count(pattern)));
        return Counts(if decided {
            entries.collect()
        } else {
            Vec::new()
        });
    }
    if !findings.is_counted() {
        return Counts(Vec::new());
    }
    let decided = |result: &&LevelResult| !matches!(result.verdict, Verdict::Undecided(_));
    let looked_for = |pattern: Pattern| {
        let decided = || {
            findings
                .levels
                .iter()
                .filter(decided)
                .map(|result| result.level)
        };
        is_usual_or_among(pattern.row().level, decided())
            && decided().any(|level| level.implies(pattern.row().level))
    };
    let entry = |pattern: Pattern| match findings.patterns.get(&pattern) {
        Some(&count) => Some((pattern.id().to_owned(), count)),
        None => {
            (looked_for(pattern) && !pattern.is_of_lists()).then(|| (pattern.id().to_owned(), 0))
        }
    };
    Counts(
        Pattern::all()
            .filter(|&pattern| findings.checker.counts(pattern))
            .filter_map(entry)
            .collect(),
    )
}

/// Whether a level is decided without being asked for, or is among these: the other levels are counted only where asked for.
pub(super) fn is_usual_or_among(level: Level, mut asked: impl Iterator<Item = Level>) -> bool {
    Level::ALL.contains(&level) || asked.any(|other| other == level)
}

fn published(counts: &BTreeMap<Pattern, u64>) -> Counts {
    Counts(
        counts
            .iter()
            .map(|(pattern, &count)| (pattern.id().to_owned(), count))
            .collect(),
    )
}

fn level_entry(history: &History, result: &LevelResult, settings: Settings) -> LevelEntry {
    let mut entry = LevelEntry {
        level: result.level,
        verdict: VerdictWord::from(&result.verdict),
        checker: result.checker.to_owned(),
        seconds: rounded(result.seconds),
        reason: None,
        assuming: result.condition(history),
        witness: None,
        snapshots: None,
        sources: None,
    };
    match &result.verdict {
        Verdict::Undecided(cause) => entry.reason = Some(cause.to_string()),
        Verdict::Satisfied(witness) if settings.witness => {
            let (order, snapshots) = witness_order(history, witness);
            entry.witness = Some(
                order
                    .into_iter()
                    .map(|t| transaction_entry(history, t))
                    .collect(),
            );
            entry.snapshots = snapshots;
            entry.sources =
                (!result.sources.is_empty()).then(|| source_entries(history, &result.sources));
        }
        _ => {}
    }
    entry
}

fn source_entries(history: &History, sources: &[(OperationId, TransactionId)]) -> Vec<SourceEntry> {
    let entry = |&(read, writer): &(OperationId, TransactionId)| {
        let reader = history.transaction_of(read);
        SourceEntry {
            reader: transaction_entry(history, reader),
            operation: read.index() - history.operation_range(reader).start,
            writer: transaction_entry(history, writer),
        }
    };
    sources.iter().map(entry).collect()
}

/// The commit order of a witness, and for PC and SI the number of commits before each one's start.
fn witness_order(history: &History, witness: &Witness) -> (Vec<TransactionId>, Option<Vec<u32>>) {
    match witness {
        Witness::Reads => (Vec::new(), None),
        Witness::CommitOrder(order) => (order.to_vec(), None),
        Witness::Events(events) => {
            let mut started_after = vec![0u32; history.n_transactions()];
            let mut order = Vec::with_capacity(events.len() / 2);
            for event in events.iter() {
                match *event {
                    Event::Start(t) if !t.is_initial() => {
                        started_after[t.index()] = order.len() as u32
                    }
                    Event::Commit(t) if !t.is_initial() => order.push(t),
                    Event::Start(_) | Event::Commit(_) => {}
                }
            }
            let snapshots = order.iter().map(|t| started_after[t.index()]).collect();
            (order, Some(snapshots))
        }
    }
}

fn transaction_entry(history: &History, t: TransactionId) -> TransactionEntry {
    if t.is_initial() {
        return TransactionEntry {
            session: None,
            index: None,
            id: "⊥".to_owned(),
            name: None,
        };
    }
    let name = history.exact_session_name(history.session_of(t));
    // Only a number that prints as it was written is given as a number: `007` is a name.
    let session = match name.parse::<u64>() {
        Ok(number) if number.to_string() == name => SessionName::Number(number),
        _ => SessionName::Name(name),
    };
    let id = history.exact_transaction_name(t);
    let name = Some(history.transaction_name(t)).filter(|name| *name != id);
    TransactionEntry {
        session: Some(session),
        index: Some(history.position_of(t)),
        id,
        name,
    }
}

/// The places of transactions in a list: a scenario's own first, then any other that its edges name.
pub struct Places<'a> {
    history: &'a History,
    transactions: Vec<TransactionId>,
}

impl<'a> Places<'a> {
    /// These transactions, at their places.
    pub fn new(history: &'a History, transactions: Vec<TransactionId>) -> Places<'a> {
        Places {
            history,
            transactions,
        }
    }

    /// All transactions that have a place, in order.
    pub fn entries(&self) -> Vec<TransactionEntry> {
        self.transactions
            .iter()
            .map(|&t| transaction_entry(self.history, t))
            .collect()
    }

    /// These transactions, in order.
    pub fn transactions(&self) -> &[TransactionId] {
        &self.transactions
    }

    /// The name of a key.
    pub fn key(&self, key: KeyId) -> String {
        self.history.key_names().get(key.index())
    }

    /// The place of a transaction, a new one at the end if it has none.
    pub fn of(&mut self, t: TransactionId) -> usize {
        match self.transactions.iter().position(|&u| u == t) {
            Some(place) => place,
            None => {
                self.transactions.push(t);
                self.transactions.len() - 1
            }
        }
    }

    /// The entry of an operation, whose transaction gets a place.
    pub fn operation_entry(&mut self, operation: OperationId) -> OperationEntry {
        let history = self.history;
        OperationEntry {
            transaction: self.of(history.transaction_of(operation)),
            index: self.operation(operation),
            text: history.operation_text(operation),
            line: Some(history.line_of(operation)).filter(|&line| line > 0),
            place: history
                .spot_of(operation)
                .map(|spot| spot.text(history.origin())),
        }
    }

    fn operation(&self, operation: OperationId) -> usize {
        let t = self.history.transaction_of(operation);
        operation.index() - self.history.operation_range(t).start
    }
}

/// The levels a violation violates. Those that count real time are named only where they were decided: not
/// every history has times.
fn levels_of(findings: &Findings, violation: &Violation) -> Vec<Level> {
    let is_decided = |level| {
        findings
            .level(level)
            .is_some_and(|result| result.verdict == Verdict::Violated)
    };
    let named = violation
        .levels
        .iter()
        .filter(|&level| !level.counts_real_time() || is_decided(level));
    named.collect()
}

/// The entry of one instance, without sentences and without its component, and the places of the transactions that it
/// names. To go on, add transactions to the places, and put [`Places::entries`] into the entry.
pub fn scenario<'a>(
    history: &'a History,
    findings: &Findings,
    violation: &Violation,
) -> (ViolationEntry, Places<'a>) {
    let mut places = Places::new(history, violation.transactions.clone());
    let edges = (0..violation.edges.len())
        .map(|e| edge_entry(violation, e, &mut places))
        .collect();
    let operations = violation
        .operations
        .iter()
        .map(|&o| places.operation_entry(o))
        .collect();
    let proof = proof_entry(&mut places, &violation.proof);
    let row = violation.id.pattern.row();
    let entry = ViolationEntry {
        id: violation.id.to_string(),
        pattern: row.pattern,
        name: row.name.to_owned(),
        also: violation.also.clone(),
        levels: levels_of(findings, violation),
        claim: None,
        key: violation.key.map(|key| places.key(key)),
        transactions: places.entries(),
        edges,
        operations,
        proof,
        statements: Vec::new(),
        implied: violation.implied,
        contains: None,
        group: violation.group,
        component: 0,
    };
    (entry, places)
}

fn edge_entry(violation: &Violation, index: usize, places: &mut Places<'_>) -> EdgeEntry {
    let edge = &violation.edges[index];
    EdgeEntry {
        from: places.of(edge.from),
        to: places.of(edge.to),
        kind: edge.relation,
        key: edge.key.map(|key| places.key(key)),
        why: String::new(),
        from_operation: edge.from_operation.map(|o| places.operation(o)),
        to_operation: edge.to_operation.map(|o| places.operation(o)),
        reason: reason_entry(&edge.because, places),
    }
}

fn reason_entry(reason: &Reason, places: &mut Places<'_>) -> ReasonEntry {
    match reason {
        Reason::SessionOrder => ReasonEntry::SessionOrder,
        Reason::Reads => ReasonEntry::Reads,
        Reason::Visible {
            axiom,
            reader,
            read,
            seen,
        } => ReasonEntry::Visible {
            axiom: match axiom {
                Axiom::ReadCommitted => AxiomWord::ReadCommitted,
                Axiom::ReadAtomic => AxiomWord::ReadAtomic,
                Axiom::Causal => AxiomWord::Causal,
                Axiom::Session(guarantee) => match guarantee {
                    Guarantee::ReadYourWrites => AxiomWord::ReadYourWrites,
                    Guarantee::MonotonicReads => AxiomWord::MonotonicReads,
                    Guarantee::MonotonicWrites => AxiomWord::MonotonicWrites,
                    Guarantee::WritesFollowReads => AxiomWord::WritesFollowReads,
                    Guarantee::Pram => AxiomWord::Pram,
                },
                Axiom::CommitOrder => AxiomWord::CommitOrder,
            },
            reader: places.of(*reader),
            read: places.operation(*read),
            seen: seen.clone(),
        },
        Reason::Overwrites { writer, order } => ReasonEntry::Overwrites {
            writer: places.of(*writer),
            order: order.clone(),
        },
        Reason::Conflict { order } => ReasonEntry::Conflict {
            order: order.clone(),
        },
        Reason::ReadModifyWrite { read } => ReasonEntry::ReadModifyWrite { read: *read },
        Reason::Listed { reader, read } => ReasonEntry::Listed {
            reader: places.of(*reader),
            read: places.operation(*read),
        },
        Reason::Assumed => ReasonEntry::Assumed,
    }
}

/// Recursion is bounded by the depth of the proof.
fn proof_entry(places: &mut Places<'_>, proof: &Proof) -> ProofEntry {
    match proof {
        Proof::Reads(None) => ProofEntry::Read,
        Proof::Reads(Some(wrong)) => ProofEntry::Reads {
            pattern: wrong.pattern,
            reads: wrong
                .reads
                .iter()
                .map(|&read| places.operation_entry(read))
                .collect(),
        },
        Proof::Cycle(edges) => ProofEntry::Cycle {
            edges: edges.clone(),
        },
        Proof::Cases { question, cases } => cases_entry(places, *question, cases),
        Proof::Log {
            options,
            excluded,
            clauses,
        } => match proof.cycles_of_orders() {
            Some(cycles) => ProofEntry::Clauses {
                lemmas: cycles.into_iter().map(<[EdgeIndex]>::to_vec).collect(),
                clauses: clauses
                    .iter()
                    .map(|clause| {
                        let edges = clause.iter().map(|&(option, _)| options[option].order());
                        edges.flatten().collect()
                    })
                    .collect(),
            },
            None => ProofEntry::Combinations {
                options: options
                    .iter()
                    .filter_map(|&option| option_entry(places, option))
                    .collect(),
                excluded: excluded
                    .iter()
                    .map(|(together, proof)| CombinationEntry {
                        options: together.iter().map(|option| option + 1).collect(),
                        proof: proof_entry(places, proof),
                    })
                    .collect(),
                clauses: clauses
                    .iter()
                    .map(|clause| {
                        clause
                            .iter()
                            .map(|&(option, holds)| {
                                let number = option as i64 + 1;
                                if holds { number } else { -number }
                            })
                            .collect()
                    })
                    .collect(),
            },
        },
    }
}

/// The cases of a question.
fn cases_entry(places: &mut Places<'_>, question: Question, cases: &[Case]) -> ProofEntry {
    match question {
        Question::Order { key, .. } => {
            // One writer came first, or the other one.
            let [first, second] = [0, 1].map(|place| CaseEntry {
                assume: cases[place].0.order().unwrap_or_default(),
                proof: Box::new(proof_entry(places, &cases[place].1)),
            });
            ProofEntry::Split {
                key: places.key(key),
                first,
                second,
            }
        }
        Question::Writer { read } => ProofEntry::Writers {
            read: places.operation_entry(read),
            cases: cases
                .iter()
                .filter_map(|(answer, proof)| match *answer {
                    Supposed::Writer { writer, .. } => Some(WriterEntry {
                        writer: places.of(writer),
                        proof: proof_entry(places, proof),
                    }),
                    _ => None,
                })
                .collect(),
        },
        Question::Append { read, place } => ProofEntry::Appends {
            read: places.operation_entry(read),
            place,
            cases: cases
                .iter()
                .filter_map(|(answer, proof)| match *answer {
                    Supposed::Append { append, .. } => Some(AppendEntry {
                        append: places.operation_entry(append),
                        proof: proof_entry(places, proof),
                    }),
                    _ => None,
                })
                .collect(),
        },
        Question::Outcome { transaction } => ProofEntry::Outcomes {
            transaction: places.of(transaction),
            cases: cases
                .iter()
                .filter_map(|(answer, proof)| match *answer {
                    Supposed::Outcome { committed, .. } => Some(OutcomeEntry {
                        committed,
                        proof: proof_entry(places, proof),
                    }),
                    _ => None,
                })
                .collect(),
        },
    }
}

fn option_entry(places: &mut Places<'_>, option: Supposed) -> Option<OptionEntry> {
    match option {
        Supposed::Order(_) => None,
        Supposed::Writer { read, writer } => Some(OptionEntry::Writer {
            read: places.operation_entry(read),
            writer: places.of(writer),
        }),
        Supposed::Append {
            read,
            place,
            append,
        } => Some(OptionEntry::Append {
            read: places.operation_entry(read),
            place,
            append: places.operation_entry(append),
        }),
        Supposed::Outcome {
            transaction,
            committed,
        } => Some(OptionEntry::Outcome {
            transaction: places.of(transaction),
            committed,
        }),
    }
}
