//! Can the history be trusted?
//!
//! A verdict is about a database only as far as the log records what happened there. [`examine`] looks for signs that
//! it does not (values that no transaction wrote, values written twice, sessions that overlap in time, …) and explains
//! the likely cause and which [rule](isoscope_model::history::Rules) would change it. It also lists which conditions of other
//! checkers hold. It knows no isolation level, and no verdict depends on it.

mod conditions;
mod set_up;
mod survey;
mod tested;
#[cfg(test)]
mod tests;
mod times;
mod unwritten;
mod version_order;
mod words;
mod writes;

pub use version_order::VersionOrder;

use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, OperationId, TransactionId};
use isoscope_model::relations::Resolution;
use survey::Survey;

/// Maximum number of transactions, and of operations, that a finding names.
pub const LISTED: usize = 100;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Verdicts may be about the log and not about the database.
    Warning,
    /// Some verdicts rest on a choice, or may stay open.
    Caution,
    /// For information.
    Note,
}

impl Severity {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Caution => "caution",
            Severity::Note => "note",
        }
    }
}

/// A table of kinds: the variant, its word in reports, its title.
macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $word:literal, $title:literal;)*) => {
        /// What a finding is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $($(#[$doc])* $variant,)* }

        impl Kind {
            /// All kinds, in the order in which findings of equal severity are listed.
            pub const ALL: &'static [Kind] = &[$(Kind::$variant,)*];

            /// The word for it in reports.
            pub fn word(self) -> &'static str {
                match self { $(Kind::$variant => $word,)* }
            }

            /// Title for display.
            pub fn title(self) -> &'static str {
                match self { $(Kind::$variant => $title,)* }
            }
        }
    };
}

kinds! {
    /// Nothing that a level could be violated by.
    NothingTested = "nothing-tested", "Nothing was tested";
    /// Hardly any transaction committed.
    FewCommitted = "few-committed", "Few transactions committed";
    /// Values that no transaction wrote, most likely real anomalies.
    ThinAir = "unwritten-thin-air", "Reads out of thin air";
    /// Values that no transaction wrote, since the log lacks their writers.
    CutOff = "unwritten-cut-off", "Writers missing from the log";
    /// Values that no transaction wrote, since they were there before.
    LeftOver = "unwritten-initial", "State from before the log";
    /// Several transactions wrote one value to a key.
    DuplicateValues = "duplicate-values", "Values written more than once";
    /// A value is initial and was written, too.
    InitialOrWritten = "initial-or-written", "Initial values that were written";
    /// An aborted transaction wrote a value that another one wrote, too.
    RetriedValues = "retried-values", "Values written by a retry";
    /// Aborted transactions that all took equally long, and whose writes were read.
    TimedOut = "aborts-like-time-outs", "Aborts that look like time-outs";
    /// A transaction begins before the one before it in its session ended.
    SessionsOverlap = "sessions-overlap", "Sessions overlap in time";
    /// A transaction begins before the one before it in its session began, or ends before it begins.
    ClockAgainstOrder = "clock-against-session-order", "Clock against session order";
    /// Transactions that look like the setup of the initial state.
    SetUp = "set-up-not-initial", "A set-up that counts as part of the run";
    /// Transactions of unknown outcome.
    UnknownOutcome = "unknown-outcome", "Unknown outcomes";
    /// Reads without a recorded result.
    UnrecordedReads = "unrecorded-reads", "Results not recorded";
    /// Keys of which only the initial version is ever read, and that no transaction writes.
    NeverWritten = "keys-never-written", "Keys never written";
    /// Keys that are not read.
    NeverRead = "keys-never-read", "Keys never read";
    /// How much of the version order can be inferred.
    VersionOrder = "version-order", "Inferable version order";
    /// Condition: each value is written to its key once.
    UniqueValues = "unique-values", "Unique values";
    /// Condition: each writer of a key has read it before.
    ReadModifyWrite = "read-modify-write", "Read before write";
    /// Condition: small transactions.
    MiniTransactions = "mini-transactions", "Mini-transactions";
    /// Condition: keys hold lists.
    Lists = "lists", "Lists";
    /// Condition: transactions have times.
    Times = "times", "Times";
}

impl Kind {
    /// Whether it is a requirement of checkers, not something that may be wrong with the history.
    pub fn is_condition(self) -> bool {
        self >= Kind::UniqueValues
    }
}

/// A choice that changes what a finding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// Name of the [rule](isoscope_model::history::Rules::words).
    pub rule: &'static str,
    /// What to choose.
    pub choice: String,
}

impl Remedy {
    /// As on the command line: `--initial any-unwritten`.
    pub fn flag(&self) -> String {
        let quote = self.choice.contains(char::is_whitespace);
        if quote {
            format!("--{} '{}'", self.rule, self.choice)
        } else {
            format!("--{} {}", self.rule, self.choice)
        }
    }
}

/// Something worth knowing about a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is about.
    pub kind: Kind,
    /// How much it matters.
    pub severity: Severity,
    /// In plain words.
    pub text: String,
    /// The exact number of occurrences; for a condition, of violations (0: it holds).
    pub count: u64,
    /// The first transactions it is about, ascending, at most [`LISTED`].
    pub transactions: Vec<TransactionId>,
    /// The first operations it is about, ascending, at most [`LISTED`].
    pub operations: Vec<OperationId>,
    /// A choice that changes it.
    pub remedy: Option<Remedy>,
}

impl Finding {
    /// A finding about nothing in particular.
    fn new(kind: Kind, severity: Severity, count: u64, text: String) -> Finding {
        Finding {
            kind,
            severity,
            text,
            count,
            transactions: Vec::new(),
            operations: Vec::new(),
            remedy: None,
        }
    }

    /// About these operations and their transactions, ascending.
    fn about_operations(
        mut self,
        history: &History,
        operations: impl Iterator<Item = OperationId>,
    ) -> Finding {
        self.operations = operations.take(LISTED).collect();
        self.transactions = self
            .operations
            .iter()
            .map(|&o| history.transaction_of(o))
            .collect();
        self.transactions.dedup();
        self
    }

    /// About these transactions, ascending.
    fn about_transactions(mut self, transactions: impl Iterator<Item = TransactionId>) -> Finding {
        self.transactions = transactions.take(LISTED).collect();
        self
    }

    /// Choosing this changes it.
    fn remedy(mut self, rule: &'static str, choice: impl Into<String>) -> Finding {
        self.remedy = Some(Remedy {
            rule,
            choice: choice.into(),
        });
        self
    }
}

/// All findings about the health of one history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// The findings, the worst first.
    pub findings: Vec<Finding>,
    /// How much of the version order can be inferred.
    pub version_order: VersionOrder,
}

impl Health {
    /// Findings that cast doubt on verdicts: warnings and cautions.
    pub fn doubts(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.severity < Severity::Note)
    }

    /// Whether the history has anything that a level could be violated by.
    pub fn is_tested(&self) -> bool {
        self.finding(Kind::NothingTested).is_none()
    }

    /// The finding of a kind, if there is one.
    pub fn finding(&self, kind: Kind) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.kind == kind)
    }
}

/// Examines a history whose reads are resolved.
///
/// O(operations), in parallel in the current rayon pool; the result is the same for any number of threads. About a
/// quarter of a byte per operation, and 24 bytes per key and thread while there are several operations per key. Errors:
/// only when `control` says to stop.
pub fn examine(
    history: &History,
    resolution: &Resolution,
    control: &Control,
) -> Result<Health, Interrupt> {
    control.check()?;
    if history
        .workload()
        .is_some_and(|workload| !workload.has_items())
    {
        return Ok(Health::default());
    }
    let survey = Survey::of(history, resolution, control)?;
    let version_order = VersionOrder::of(history, &survey);
    control.check()?;
    let mut findings = unwritten::findings(history, resolution, &survey, control)?;
    findings.extend(tested::finding(history, resolution));
    findings.extend(writes::findings(history, resolution));
    control.check()?;
    findings.extend(times::findings(history, resolution));
    findings.extend(set_up::findings(history, resolution, &survey));
    findings.extend(conditions::findings(
        history,
        resolution,
        &survey,
        version_order,
    ));
    findings.sort_by_key(|finding| (finding.severity, finding.kind));
    Ok(Health {
        findings,
        version_order,
    })
}
