//! What a report says of its violations besides the proofs: names, keys, claims, premises of statements, texts and places
//! of operations, groups, components and numbers. Each is derived again from the history and from the edges, which
//! `verify` has checked.
//!
//! Where a read has several possible writers, what depends on them is not compared.

/// `Ok` if the first holds, else an error of the words after it, which are formatted.
macro_rules! require {
    ($holds:expr, $($otherwise:tt)*) => {
        if $holds { Ok(()) } else { Err(format!($($otherwise)*)) }
    };
}

mod claim;
mod cycle;
mod form;
mod letters;
mod names;
mod pattern;
mod reads;
mod roles;
mod together;

use isoscope_judge::report::{EdgeEntry, OperationEntry, Report, SessionName, ViolationEntry};
use isoscope_model::history::{History, KeyId, OperationId, OperationKind, TransactionId};
use isoscope_model::relations::set_up_transactions;
use reads::Reads;

/// Everything that is wrong in the descriptions of a report whose proofs hold.
pub fn problems(history: &History, report: &Report) -> Vec<String> {
    let plain = history.with_a_session_each(&set_up_transactions(history));
    let (reads, plain_reads) = (Reads::new(history), Reads::new(&plain));
    let mut problems = Vec::new();
    let mut described = Vec::new();
    for violation in &report.violations {
        // A violation of levels that count no sessions is described as if there were none.
        let is_plain = pattern::are_plain(violation.levels.iter().map(|level| level.code()));
        let reads = if is_plain { &plain_reads } else { &reads };
        let found = Described::new(history, reads, violation).and_then(|described| {
            let scene = described.scene(Surplus::Refused)?;
            problems.extend(
                described
                    .flaws(&scene, Surplus::Refused)
                    .into_iter()
                    .map(|flaw| format!("{}: {flaw}", violation.id)),
            );
            Ok((described.transactions, scene))
        });
        match found {
            Ok((transactions, scene)) => described.push(together::Member {
                violation,
                transactions,
                scene,
                is_plain,
            }),
            Err(message) => problems.push(format!("{}: {message}", violation.id)),
        }
    }
    if described.len() == report.violations.len() {
        let are_plain = pattern::are_plain(report.levels.iter().map(|level| level.level.code()));
        let reads = if are_plain { &plain_reads } else { &reads };
        problems.extend(together::flaws(report, &described, reads));
    }
    problems
}

/// Panics unless everything that a report says besides its proofs is true.
pub fn assert_true(history: &History, report: &Report) {
    let problems = problems(history, report);
    assert!(problems.is_empty(), "{problems:#?}");
}

/// What is wrong in the description of the one violation of a small history that was cut out to show it. Unlike that of
/// a report it may name operations and transactions that its proof does not need.
pub fn problems_of_example(history: &History, violation: &ViolationEntry) -> Vec<String> {
    let plain;
    let described_in = if pattern::are_plain(violation.levels.iter().map(|level| level.code())) {
        plain = history.with_a_session_each(&set_up_transactions(history));
        &plain
    } else {
        history
    };
    let reads = Reads::new(described_in);
    let found = Described::new(history, &reads, violation).and_then(|described| {
        let scene = described.scene(Surplus::Allowed)?;
        Ok(described.flaws(&scene, Surplus::Allowed))
    });
    found.unwrap_or_else(|message| vec![message])
}

/// Whether a violation may name operations and transactions that its proof does not need.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Surplus {
    Refused,
    Allowed,
}

/// An instance of a pattern.
#[derive(Clone, Debug, Default)]
struct Scene {
    /// The key on which the contradiction shows.
    key: Option<KeyId>,
    /// Its other names.
    also: Vec<String>,
    /// Equal for the same instance; none where that is unknown.
    identity: Option<String>,
    /// Reads that are wrong.
    reads: Vec<OperationId>,
    /// For the letters h to n: the version that was read and the newer one, by writer.
    versions: Option<(TransactionId, TransactionId)>,
}

/// A violation with the history that it is about.
struct Described<'a> {
    history: &'a History,
    /// The same with the sessions of the file.
    named: &'a History,
    reads: &'a Reads<'a>,
    violation: &'a ViolationEntry,
    /// Those that it names, by place.
    transactions: Vec<TransactionId>,
}

impl<'a> Described<'a> {
    /// `named` gives names, those of `reads` may have other sessions.
    fn new(
        named: &'a History,
        reads: &'a Reads<'a>,
        violation: &'a ViolationEntry,
    ) -> Result<Described<'a>, String> {
        let find = |entry| {
            let t = find(named, entry)?;
            let name = named.transaction_name(t);
            require!(
                entry.name.as_ref().is_none_or(|said| *said == name),
                "transaction {} is {name}",
                entry.id
            )?;
            Ok(t)
        };
        let transactions: Result<_, String> = violation.transactions.iter().map(find).collect();
        Ok(Described {
            history: reads.history,
            named,
            reads,
            violation,
            transactions: transactions?,
        })
    }

    fn transaction(&self, place: usize) -> Result<TransactionId, String> {
        let t = self.transactions.get(place).copied();
        t.ok_or_else(|| format!("there is no transaction at place {place}"))
    }

    fn edge(&self, index: usize) -> Result<&'a EdgeEntry, String> {
        let edge = self.violation.edges.get(index);
        edge.ok_or_else(|| format!("there is no edge {index}"))
    }

    fn operation(&self, place: usize, index: usize) -> Result<OperationId, String> {
        let t = self.transaction(place)?;
        let operation = (!t.is_initial()).then(|| self.history.operations_of(t).nth(index));
        operation
            .flatten()
            .ok_or_else(|| format!("place {place} has no operation {index}"))
    }

    fn entry(&self, entry: &OperationEntry) -> Result<OperationId, String> {
        self.operation(entry.transaction, entry.index)
    }

    fn is_read(&self, o: OperationId) -> bool {
        self.history.operation(o).kind == OperationKind::Read
    }

    /// The operations that it names, those of its edges included.
    fn operations(&self) -> Result<Vec<OperationId>, String> {
        let ends = self.violation.edges.iter().flat_map(|edge| {
            [
                (edge.from, edge.from_operation),
                (edge.to, edge.to_operation),
            ]
        });
        let of_edges = ends.filter_map(|(place, index)| Some((place, index?)));
        let own = self.violation.operations.iter();
        let mut all = own
            .map(|entry| (entry.transaction, entry.index))
            .chain(of_edges)
            .map(|(place, index)| self.operation(place, index))
            .collect::<Result<Vec<_>, _>>()?;
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }
}

/// The transaction that an entry names.
fn find(
    history: &History,
    entry: &isoscope_judge::report::TransactionEntry,
) -> Result<TransactionId, String> {
    let (Some(session), Some(index)) = (&entry.session, entry.index) else {
        return Ok(TransactionId::INITIAL);
    };
    let name = match session {
        SessionName::Number(number) => number.to_string(),
        SessionName::Name(name) => name.clone(),
    };
    let session = history
        .sessions()
        .find(|&session| history.exact_session_name(session) == name);
    session
        .and_then(|session| history.transactions_of(session).nth(index))
        .ok_or_else(|| format!("there is no transaction {}", entry.id))
}

/// The writes of a transaction to a key, in program order; ⊥ has none.
fn writes_of(
    history: &History,
    t: TransactionId,
    key: KeyId,
) -> impl DoubleEndedIterator<Item = OperationId> {
    let operations = (!t.is_initial()).then(|| history.operation_range(t));
    operations
        .into_iter()
        .flatten()
        .map(OperationId::new)
        .filter(move |&o| {
            let operation = history.operation(o);
            operation.kind == OperationKind::Write && operation.key == key
        })
}
