//! Level → verdict, with evidence.
//!
//! [`check`] decides any set of levels for one history. Weak levels (CI, RC, RA, TCC, guarantees of sessions), strong levels (PC, SI, SER,
//! SSER), levels of dependencies (PSI, PL3U and others) and the linearizability of lightweight transactions have an engine each; they work on the
//! [`Index`](isoscope_model::relations::Index) or on the resolved history and return a witness, violations, or the reason why
//! they could not decide. No checker starts threads of its own (it uses the rayon pool it is called in), prints, or
//! knows about files.

mod ambiguity;
mod applicable;
mod beginning;
mod c4_pattern;
mod check;
mod checker;
mod components;
mod cut_isolation;
mod decide;
pub(crate) mod decision;
mod dependencies;
pub mod derivation;
mod each_read;
mod evidence;
mod facts;
mod in_real_time;
pub mod lattice;
mod linearizability;
mod list_reads;
mod mini_transactions;
mod monotonic_reads;
mod overwriting;
mod page;
mod place;
mod proof;
pub mod read_consistency;
mod recorded;
mod refutation;
mod rest;
mod stretches;
pub mod strong;
pub mod strong_patterns;
mod update_serializability;
mod violation;
pub mod weak;

/// What checkers of levels are made of, for those that decide in other ways and list in the same way what violates a level.
pub mod building_blocks {
    pub use super::applicable::{decide_applicable, not_linear};
    pub use super::check::verify_assumed_setup;
    pub use super::decide::Decisions;
    pub use super::evidence::{arrange, collect};
    pub use super::mini_transactions::{decide as decide_mini_transactions, misfit};
    pub use super::rest::Sought;
}

pub use c4_pattern::C4Pattern;
pub use check::{check, check_resolved, check_without_sessions, count, has_repeated_elements};
pub use checker::Checker;
pub use decision::{Decision, Order};
pub use isoscope_model::levels::{
    CountedOrder, Engine, Level, LevelRow, LevelSet, Moments, Pattern, PatternRow, Respected,
    Shows, WitnessKind,
};
pub use page::{Page, add_instances, instances};
pub use place::Place;
pub use proof::{Case, Proof, Question, Supposed, WrongReads};
use rest::Counted;
pub use rest::Rest;
pub use violation::{Instances, Violation, ViolationId, ViolationName};

use isoscope_model::control::Interrupt;
use isoscope_model::history::{History, OperationId, TransactionId};
use isoscope_model::relations::names;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What to check and how much to list.
#[derive(Clone, Debug)]
pub struct Options {
    /// The levels asked for.
    pub levels: Vec<Level>,
    /// Most instances listed per pattern; counts stay exact.
    pub max_instances: usize,
    /// Whether all instances are counted. If not, the check stops with the verdicts and their evidence, wherever these
    /// need no counting; then [`Findings::patterns`] is empty.
    pub counts: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            levels: Level::WITHOUT_TIMES.to_vec(),
            max_instances: 1000,
            counts: true,
        }
    }
}

/// Start or commit of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// It takes its snapshot.
    Start(TransactionId),
    /// Its writes become visible.
    Commit(TransactionId),
}

/// Why a level is satisfied: replaying it explains every read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Witness {
    /// No order is needed (CI).
    Reads,
    /// A commit order of all committed (and promoted) transactions: RC, RA, TCC, guarantees of sessions, PSI, SER, SSER, LIN.
    CommitOrder(Arc<Vec<TransactionId>>),
    /// An order of starts and commits: PC, SI.
    Events(Arc<Vec<Event>>),
}

/// Why a level could not be decided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// Stopped by the user or a limit.
    #[error("{0}")]
    Interrupted(#[from] isoscope_model::control::Interrupt),
    /// The level needs real time and no times of the history order anything.
    #[error("no timestamps")]
    NoTimestamps,
    /// Some reads have several possible writers, which the selected checker does not distinguish.
    #[error("ambiguous reads ({0})")]
    AmbiguousReads(usize),
    /// Lists contain elements that were appended more than once, which the selected checker does not distinguish.
    #[error("elements of lists that were appended more than once ({0})")]
    RepeatedElements(usize),
    /// The checker would need more memory than it may take.
    #[error("{what} would take {megabytes} MB, more than the {allowed} MB allowed")]
    TooLarge {
        /// What the memory is for.
        what: &'static str,
        /// How much is needed, in units of 2²⁰ bytes.
        megabytes: u64,
        /// How much is allowed.
        allowed: u64,
    },
    /// This version does not check the level for this kind of history.
    #[error("{0}")]
    Unsupported(String),
    /// It was decided, but the verifier rejected the evidence.
    #[error("internal disagreement, please report{}: {message}", attached(.file))]
    Disagreement {
        /// The file to attach to the report; empty for a history made in memory.
        file: String,
        /// What was rejected, and why.
        message: String,
    },
    /// It was found violated, but without evidence that can be verified.
    #[error("found violated, but without evidence that can be verified")]
    Unproven,
}

/// The file to attach to the report of a disagreement.
fn attached(file: &str) -> String {
    if file.is_empty() {
        String::new()
    } else {
        format!(" and attach {file}")
    }
}

/// The answer for one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A legal execution explains the history.
    Satisfied(Witness),
    /// No legal execution does; the evidence is among the [`Findings::violations`] that name the level.
    Violated,
    /// Not known.
    Undecided(Cause),
}

impl Verdict {
    /// The word used in reports.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Satisfied(_) => "satisfied",
            Verdict::Violated => "violated",
            Verdict::Undecided(_) => "undecided",
        }
    }
}

/// Verdict of one level and its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelResult {
    /// The level.
    pub level: Level,
    /// The answer.
    pub verdict: Verdict,
    /// Name of the engine.
    pub checker: &'static str,
    /// Wall time, seconds.
    pub seconds: f64,
    /// For a satisfied weak level of a history with ambiguous reads: the writer that the witness assumes for each such
    /// read, by operation. At the strong levels the order of the witness determines it.
    pub sources: Vec<(OperationId, TransactionId)>,
    /// For a violated level: transactions that merely look like a set-up of the initial state and without which the
    /// violation is not established. Empty if the verdict rests on no such assumption.
    pub assuming: Vec<TransactionId>,
    /// Whether it would be the other one if compare-and-sets of which the file only says that they failed were read the other
    /// way.
    pub hangs_on_failed_cas: bool,
}

impl LevelResult {
    /// A verdict that rests on no assumption and has no writers to name.
    pub fn new(level: Level, verdict: Verdict, checker: &'static str, seconds: f64) -> LevelResult {
        LevelResult {
            level,
            verdict,
            checker,
            seconds,
            sources: Vec::new(),
            assuming: Vec::new(),
            hangs_on_failed_cas: false,
        }
    }

    /// The assumption that the verdict rests on, if any, in words: "T1 set up the initial state".
    pub fn condition(&self, history: &History) -> Option<String> {
        match &self.verdict {
            Verdict::Violated if !self.assuming.is_empty() => Some(format!(
                "{} set up the initial state",
                names(history, &self.assuming)
            )),
            Verdict::Violated if self.hangs_on_failed_cas => Some(
                "failed compare-and-sets observed another value; --failed-cas dropped satisfies it"
                    .to_owned(),
            ),
            Verdict::Satisfied(_) if self.hangs_on_failed_cas => Some(
                "failed compare-and-sets did not happen; --failed-cas observed violates it"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    /// Whether there is a [`condition`](Self::condition).
    pub fn is_conditional(&self) -> bool {
        self.hangs_on_failed_cas || !self.assuming.is_empty()
    }
}

/// Everything found about one history.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The checker that decided.
    pub checker: Checker,
    /// In the order of the levels asked for.
    pub levels: Vec<LevelResult>,
    /// What was decided in addition to these, about PSI and about other orders; none if that was not asked for.
    pub others: Option<Vec<LevelResult>>,
    /// All instances of each pattern that occurs, listed or not. Empty for checkers that do not know these patterns.
    pub patterns: BTreeMap<Pattern, u64>,
    /// For the variants of C4: all instances of its own patterns.
    pub c4_patterns: BTreeMap<C4Pattern, u64>,
    /// For the variants of Plume: its letters as its published program counts them, which may also occur where the
    /// axioms satisfy the level. `None` if they were not requested or could not be counted.
    pub published_patterns: Option<BTreeMap<Pattern, u64>>,
    /// Listed instances, by pattern, smallest first, implied ones last.
    pub violations: Vec<Violation>,
    /// Choices about the input that the verdicts rest on, in words.
    pub assumptions: Vec<String>,
    /// The limit that ended the work before all instances were counted and listed: then the counts are lower bounds.
    pub cut: Option<Interrupt>,
    /// Seconds spent on building the index.
    pub index_seconds: f64,
    /// Seconds spent on checking.
    pub check_seconds: f64,
    /// How the instances that are counted and not listed are found ([`instances`]).
    pub rest: Rest,
}

impl Findings {
    /// The result for a level, if it was asked for.
    pub fn level(&self, level: Level) -> Option<&LevelResult> {
        self.levels.iter().find(|result| result.level == level)
    }

    /// All verdicts, those in addition to the levels asked for included.
    pub fn verdicts(&self) -> impl Iterator<Item = &LevelResult> + Clone {
        self.levels.iter().chain(self.others.iter().flatten())
    }

    /// The assumption, in words, that a listed violation rests on: that of the weakest level it violates, or of a
    /// stronger one, which is then named.
    pub fn condition_of(&self, history: &History, violation: &Violation) -> Option<String> {
        let mut results = violation
            .levels
            .iter()
            .filter_map(|level| self.level(level));
        let weakest = results.next()?;
        let at_level = |result: &LevelResult| {
            Some(format!(
                "at {} {}",
                result.level.spoken(),
                result.condition(history)?
            ))
        };
        weakest
            .condition(history)
            .or_else(|| results.find_map(at_level))
    }

    /// The violation with this name, if it is listed.
    pub fn violation(&self, id: ViolationId) -> Option<&Violation> {
        self.violations.iter().find(|violation| violation.id == id)
    }

    /// Notes that a limit ended the work before all instances were counted and listed.
    pub fn end_early(&mut self, limit: Interrupt) {
        if self.cut.is_none() {
            self.cut = Some(limit);
            self.assumptions.push(format!(
                "The work ended before all violations were counted and listed ({limit}); there may be more of them."
            ));
        }
    }

    /// Adds what other findings on the same history assume, each sentence once.
    pub fn assume(&mut self, other: &mut Findings) {
        self.cut = self.cut.or(other.cut);
        let is_new = |sentence: &String| !self.assumptions.contains(sentence);
        let new: Vec<String> = std::mem::take(&mut other.assumptions)
            .into_iter()
            .filter(is_new)
            .collect();
        self.assumptions.extend(new);
    }

    /// Whether [`count`] counts the instances without another check.
    pub fn can_be_counted(&self) -> bool {
        matches!(self.rest.counted, Counted::Not(_))
    }

    /// Whether the instances, if any, were counted.
    pub fn is_counted(&self) -> bool {
        matches!(self.rest.counted, Counted::All)
    }
}
