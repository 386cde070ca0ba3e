//! The arguments, as typed values.

use super::collect::CollectArguments;
use super::growing::FollowArguments;
use super::hunt::HuntArguments;
use super::reproduce::ReproduceArguments;
use super::values::{Claim, Described, claim, level, seconds};
use super::workload::GenerateArguments;
use crate::checkers::{Checker, Level, Pattern, ViolationName};
use crate::control::Control;
use crate::diagram::layout::LayoutStyle;
use crate::export::reproduce::Isolation;
use crate::export::{ComposeOptions, Evidence};
use crate::history::{
    DuplicateRule, FailedCasRule, FailedRule, History, InitialRule, ListRule, NilRule, Rules,
    SetUpRule, TimeRule, TimeoutRule, UnknownRule, ValueRule, Vocabulary,
};
use crate::papers::{Counting, RcRule};
use crate::report::TallyBy;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// See which isolation anomalies a database history contains, and why.
#[derive(Debug, Parser)]
#[command(
    name = "isoscope",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  \
        isoscope history.txt                              open it in the window\n  \
        isoscope check history.txt                        verdict per isolation level, anomalies by class\n  \
        isoscope check --level SI,SER --json runs/        one JSON object per history of a folder\n  \
        isoscope explain history.txt --violation TAP-k/1  what happened, and why each edge is there\n\n\
        Exit codes: 0 satisfied, 1 violated, 2 bad usage, unreadable input or unwritable output, 3 undecided.\n\
        Subcommands read `-` as standard input."
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    /// A history or a folder to open in the window; two histories are compared
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
}

/// One subcommand.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check histories against isolation levels
    Check(CheckArguments),
    /// Say in words what happened and why it is a contradiction (Markdown)
    Explain(ExplainArguments),
    /// Export one counterexample; the file extension of OUT chooses the format
    Export(ExportArguments),
    /// Make a report of one counterexample for an issue tracker: words, pictures, files, scripts
    Report(ReportArguments),
    /// Write the smallest sub-history found that still violates a level
    Minimize(MinimizeArguments),
    /// Convert between history formats
    Convert(ConvertArguments),
    /// Count sessions, transactions, operations and keys
    Stats(StatsArguments),
    /// Show the isolation levels: their promises, implications and names
    Levels(LevelsArguments),
    /// Check the evidence in a report with independent code
    Verify(VerifyArguments),
    /// Generate a history from a workload on an in-memory store, with optional faults
    Generate(GenerateArguments),
    /// Run a workload against a database and record the history
    Collect(CollectArguments),
    /// Run a workload against a database until an anomaly appears
    Hunt(HuntArguments),
    /// Run the workload of a recording again and say how often it violates a level
    Reproduce(ReproduceArguments),
    /// Join the reports of shards into one report for each history
    MergeReports(MergeArguments),
    /// Check histories with the arguments, words and exit codes of elle-cli
    #[command(version, arg_required_else_help = true)]
    Elle(ElleArguments),
    /// Print the JSON Schema of reports, histories or driver programs
    Schema(SchemaArguments),
    /// Print completions for a shell
    Completions(CompletionsArguments),
    /// Write manual pages
    Manual(ManualArguments),
}

/// What `elle` needs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    isoscope elle -m list-append -c serializable history.json\n  \
    isoscope elle -m rw-register -v json history.edn\n\n\
    A line for each file: its path, a tab, and true, false or unknown. Exit code 1 if one is false, 255 if one cannot be read.")]
pub struct ElleArguments {
    /// Histories
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,
    /// The workload [default: recognised]
    #[arg(short, long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// The notation: edn or json [default: by content]
    #[arg(short, long, value_name = "NOTATION", value_parser = ["edn", "json"])]
    pub(super) format: Option<String>,
    /// What to print
    #[arg(short = 'v', long, value_enum, default_value_t = ElleOutput::Text)]
    pub(super) output: ElleOutput,
    /// Levels by Elle's keywords [default: strict-serializable]
    #[arg(short, long, value_name = "LEVELS", value_delimiter = ',')]
    pub(super) consistency_models: Vec<String>,
    /// Anomalies whose levels are asked for, too
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) anomalies: Vec<String>,
    /// Milliseconds that a file may take, if more than a minute
    #[arg(short = 's', long, value_name = "MS")]
    pub(super) cycle_search_timeout: Option<u64>,
    /// Folder for pictures and words of what is found
    #[arg(short, long, value_name = "DIR")]
    pub(super) directory: Option<PathBuf>,
    /// Balances of a bank may be below zero
    #[arg(short = 'n', long, hide_short_help = true)]
    pub(super) allow_negative_balances: bool,
    /// What the balances of a bank sum to [default: those of the first read]
    #[arg(short = 'o', long, value_name = "N", hide_short_help = true)]
    pub(super) total_amount: Option<i64>,
    /// Whose exit codes
    #[arg(long, value_enum, default_value_t = ElleExit::Elle)]
    pub(super) exit: ElleExit,
    #[command(flatten)]
    pub(super) not_needed: ElleNotNeeded,
}

/// What elle-cli takes and is not needed here.
#[derive(Args, Debug)]
#[command(
    next_help_heading = "Accepted, no effect (what keys promise is asked by level, such as K-SER)"
)]
pub(super) struct ElleNotNeeded {
    #[arg(short = 'p', long, value_name = "FORMAT", hide_short_help = true)]
    plot_format: Option<String>,
    #[arg(short = 't', long, value_name = "MS", hide_short_help = true)]
    plot_timeout: Option<u64>,
    #[arg(short = 'b', long, value_name = "BYTES", hide_short_help = true)]
    max_plot_bytes: Option<u64>,
    #[arg(short = 'g', long, value_name = "N", hide_short_help = true)]
    group_size: Option<u64>,
    #[arg(long, value_name = "N", hide_short_help = true)]
    max_transfer: Option<i64>,
    #[arg(long, hide_short_help = true)]
    wfr_keys: bool,
    #[arg(long, hide_short_help = true)]
    sequential_keys: bool,
    #[arg(long, hide_short_help = true)]
    linearizable_keys: bool,
}

/// What `elle` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ElleOutput {
    /// A line for each file
    Text,
    /// An object for each file
    Json,
}

impl ElleOutput {
    pub(super) fn is_json(self) -> bool {
        self == ElleOutput::Json
    }
}

/// Whose exit codes `elle` has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ElleExit {
    /// elle-cli: unknown is 0
    Elle,
    /// Jepsen: unknown is 2
    Jepsen,
    /// This program: unknown is 3
    Isoscope,
}

/// What `schema` needs.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  \
    isoscope schema report > report.schema.json\n\n\
    Draft 2020-12. Fields that a schema does not list are allowed: later versions may add some.")]
pub struct SchemaArguments {
    /// What to describe
    #[arg(value_name = "WHAT")]
    pub(super) of: Described,
}

/// What `completions` needs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    isoscope completions bash > /etc/bash_completion.d/isoscope\n  \
    isoscope completions zsh > \"${fpath[1]}/_isoscope\"")]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(super) shell: clap_complete::Shell,
}

/// What `manual` needs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  isoscope manual -o /usr/local/share/man/man1")]
pub struct ManualArguments {
    /// The folder for isoscope.1 and a page for each subcommand
    #[arg(short, long, value_name = "DIR")]
    pub(super) output: PathBuf,
}

/// What `check` needs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    isoscope check history.txt\n  \
    isoscope check --level RC,RA,TCC --time-limit 60 big.txt\n  \
    isoscope check --level SER --verdicts-only big.txt\n  \
    isoscope check --claim \"postgresql repeatable read\" history.txt\n  \
    isoscope check --json --witness history.txt > report.json\n  \
    isoscope check --instances TAP-n --offset 1000 --limit 100 history.txt\n  \
    isoscope check --checker plume-tc --one-cm history.txt\n  \
    isoscope check --checker plume --count published history.txt\n  \
    isoscope check --checker polysi --level SI history.txt\n  \
    isoscope check --json --shards 4 --shard 0 runs/ -o part-0.json\n\n\
    Checkers:\n  \
    fast                        the engines of this program; all levels\n  \
    plume, plume-tc, plume-dfs  Plume's algorithm with vector clocks, tree clocks, or searches; CI, RC, RA, TCC\n  \
    c4, c4-tc, c4-dfs           C4's algorithm in the same three variants, with its own twelve patterns; TCC\n  \
    be-sat                      Biswas & Enea's saturation; RC, RA, TCC, without patterns\n  \
    be-search                   Biswas & Enea's search for a serial order; PC, SI, SER, without patterns\n  \
    polysi                      PolySI's polygraph and solver; SI, SER, without patterns\n  \
    polysi-np, polysi-ncp       the same without pruning, without compaction and pruning\n  \
    mtc                         MTC's algorithm for mini-transactions; SI, SER, SSER, Divergence only\n  \
    vl-lwt                      MTC's algorithm for lightweight transactions; LIN\n\n\
    All instances of a pattern are counted. Only the smallest of each root cause (such as two writers that many readers\n\
    saw in the wrong order) is listed, up to --max-instances. Every counted instance has an id, from TAP-n/1 to the\n\
    total count: listed ones first, then the rest. --instances lists any of them, explain --violation explains any one.\n\n\
    Exit codes: 0 satisfied, 1 violated, 2 bad usage, unreadable input or unwritable output, 3 undecided or nothing\n\
    tested.")]
pub struct CheckArguments {
    /// Histories, or folders of histories; `-` is standard input
    #[arg(value_name = "PATH", required_unless_present = "claim")]
    pub(super) paths: Vec<PathBuf>,
    /// Levels to check: CI, RC, RA, TCC, PC, SI, SER, SSER, LIN [default: those that the checker decides]; only if named: PSI,
    /// UA, CS, MV, MSR, PL2 and PL1, the session guarantees RYW, MR, MW, WFR and PRAM, and levels that ignore session order (P-),
    /// respect real time (R-), or do so per key (K-) or for commits only (C-); `isoscope levels` lists them all with their names
    #[arg(long, value_name = "L", value_delimiter = ',', value_parser = level)]
    pub(super) level: Vec<Level>,
    /// Check every level that can be decided, on every order, and say which are the strongest that hold. Where a level is
    /// violated, those without session order may take long: see --time-limit
    #[arg(long, conflicts_with = "level")]
    pub(super) all_levels: bool,
    /// What the database promises: a product and a setting, such as "postgresql repeatable read"; `help` lists them. Its
    /// level is checked, too, and the exit code says whether the promise is kept
    #[arg(long, value_name = "CLAIM", value_parser = claim)]
    pub(super) claim: Option<Claim>,
    /// Checker to use: fast, or a published algorithm (see below)
    #[arg(long, value_name = "NAME", default_value_t = Checker::Fast)]
    pub(super) checker: Checker,
    /// With plume: one commit order, built with the causal axiom, for all levels, as published
    #[arg(long)]
    pub(super) one_cm: bool,
    /// With plume: read committed as in Biswas & Enea (be) or in Plume (plume), which lets two reads of one key go
    /// backwards
    #[arg(long, value_name = "WHOSE")]
    pub(super) rc: Option<RcRule>,
    /// With plume: count TAP patterns by IsoScope's rule (own), or as Plume's published program does (published)
    /// [default: own]
    #[arg(long, value_name = "HOW")]
    pub(super) count: Option<Counting>,
    #[command(flatten)]
    pub(super) tested: TestedArgument,
    /// Print one JSON object per history, one per line
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) limits: LimitArguments,
    /// Threads to use [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Maximum violations listed per pattern: up to 1000, one per root cause; beyond that, other instances too. Counts
    /// always include all instances, listed or not
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(super) max_instances: usize,
    /// Stop after the verdicts and small evidence for them: do not count or list all violations. Ids number only what is
    /// shown
    #[arg(long, conflicts_with_all = ["instances", "shards"])]
    pub(super) verdicts_only: bool,
    /// List counted instances of one pattern: first the listed violations, then the others in an order that
    /// depends on the history only
    #[arg(long, value_name = "PATTERN", value_parser = pattern, conflicts_with = "shards")]
    pub(super) instances: Option<Pattern>,
    /// With --instances: how many to skip
    #[arg(long, value_name = "N", default_value_t = 0, requires = "instances")]
    pub(super) offset: u64,
    /// With --instances: how many to list
    #[arg(long, value_name = "N", default_value_t = 100, requires = "instances")]
    pub(super) limit: u64,
    /// Also count the instances by what they have in common: level, key, session or cause
    #[arg(long, value_name = "WHAT", conflicts_with_all = ["verdicts_only", "shards"])]
    pub(super) count_by: Option<TallyBy>,
    #[command(flatten)]
    pub(super) empty: EmptyArguments,
    /// Do not run the verifier on the evidence: verdicts then rest on the checkers alone
    #[arg(long)]
    pub(super) no_self_check: bool,
    /// Include the commit order of each satisfied level in the JSON report
    #[arg(long, requires = "json")]
    pub(super) witness: bool,
    /// Write the JSON report to this file, which appears only once complete [default: standard output]
    #[arg(short, long, value_name = "OUT", requires = "json")]
    pub(super) output: Option<PathBuf>,
    /// Also write JUnit XML to this file: a test suite for each history, a test case for each level
    #[arg(long, value_name = "OUT", conflicts_with_all = ["shards", "instances"])]
    pub(super) junit: Option<PathBuf>,
    /// Also write SARIF 2.1.0 to this file: a result for each anomaly, with its line in the history
    #[arg(long, value_name = "OUT", conflicts_with_all = ["shards", "instances"])]
    pub(super) sarif: Option<PathBuf>,
    /// Do one of N equal parts of the work: every Nth of the histories.
    /// Join the reports with merge-reports
    #[arg(long, value_name = "N", requires = "json", requires = "shard", help_heading = "Several machines",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) shards: Option<u32>,
    /// Which part, from 0 to N - 1
    #[arg(
        long,
        value_name = "I",
        requires = "shards",
        help_heading = "Several machines"
    )]
    pub(super) shard: Option<u32>,
    #[command(flatten)]
    pub(super) follow: FollowArguments,
    #[command(flatten)]
    pub(super) reading: ReadingArguments,
}

/// What the work on one history may take, from reading it to the last word about it.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct LimitArguments {
    /// Seconds for one history, reading included; what is not decided by then is undecided, what is not small by then is
    /// shown larger
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    time_limit: Option<f64>,
    /// Memory limit in megabytes; what is not decided within it is undecided, a history that does not fit is not read
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u32).range(1..))]
    memory_limit: Option<u32>,
}

impl LimitArguments {
    /// For one history, from now on.
    pub(super) fn control(self) -> Control {
        let control = Control::new();
        let control = match self.memory_limit {
            Some(megabytes) => control.with_memory_limit((megabytes as usize) << 20),
            None => control,
        };
        self.time_limit.map_or(control.clone(), |seconds| {
            control.with_time_limit(Duration::from_secs_f64(seconds))
        })
    }
}

/// Which violations are looked for, and how the history is read.
#[derive(Args, Debug)]
pub(super) struct AskedArguments {
    /// Most violations per pattern
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(super) max_instances: usize,
    /// Levels, as given to `check` when it listed the violation [default: all usual ones that apply]
    #[arg(long, value_name = "L", value_delimiter = ',', value_parser = level)]
    pub(super) level: Vec<Level>,
    #[command(flatten)]
    pub(super) limits: LimitArguments,
    #[command(flatten)]
    pub(super) tested: TestedArgument,
    #[command(flatten)]
    pub(super) reading: ReadingArguments,
}

/// What was tested.
#[derive(Args, Debug)]
pub(super) struct TestedArgument {
    /// What was tested, where the file does not say: product, version, isolation level, nodes, as in "PostgreSQL 15.18 at
    /// REPEATABLE READ, one primary and one standby". Whether it is a bug there is said where that is known
    #[arg(long = "tested", value_name = "WHAT")]
    pub(super) said: Option<String>,
}

/// How to read a history.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct ReadingArguments {
    /// Format of the file [default: by its content]
    #[arg(long, value_name = "F")]
    pub(super) format: Option<String>,
    #[command(flatten)]
    pub(super) rules: RuleArguments,
}

impl ReadingArguments {
    /// The command-line choices, else the rules in `otherwise`.
    pub(super) fn or(&self, otherwise: &Rules) -> (Option<&str>, Rules) {
        (self.format.as_deref(), self.rules.or(otherwise))
    }
}

/// How to understand what a file leaves open.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "What a file leaves open")]
pub(super) struct RuleArguments {
    /// The initial version of a key: format, nothing, any-unwritten, or a value
    #[arg(long, value_name = "WHAT")]
    initial: Option<InitialRule>,
    /// Transactions that set up the initial state: auto, none, or txn=NAME,NAME
    #[arg(long, value_name = "WHICH")]
    init: Option<SetUpRule>,
    /// Failed statements in committed transactions: auto, drop, abort, split
    #[arg(long, value_name = "HOW")]
    failed: Option<FailedRule>,
    /// Compare-and-sets that failed: format, observed (the value was another one), dropped (they did not happen)
    #[arg(long, value_name = "HOW")]
    failed_cas: Option<FailedCasRule>,
    /// Transactions of unknown outcome: observed, aborted, committed
    #[arg(long, value_name = "HOW")]
    unknown: Option<UnknownRule>,
    /// Writer of a value that several transactions wrote: any, last
    #[arg(long, value_name = "WHO")]
    duplicates: Option<DuplicateRule>,
    /// How to interpret a list that was read: exact, last, merge
    #[arg(long, value_name = "WHAT")]
    lists: Option<ListRule>,
    /// When two values are the same: auto, exact, text (5 and "5" are)
    #[arg(long, value_name = "WHEN")]
    values: Option<ValueRule>,
    /// Recorded times: use, ignore
    #[arg(long, value_name = "HOW")]
    times: Option<TimeRule>,
    /// Operations that failed with an error about a time-out or a lost connection: failed, unknown (they may have taken effect)
    #[arg(long, value_name = "HOW")]
    failed_timeouts: Option<TimeoutRule>,
    /// A register that was read as nil: absent (it holds nothing), unknown (the read says nothing, as for Knossos)
    #[arg(long, value_name = "WHAT")]
    nil: Option<NilRule>,
    /// What the operations of a log are about, where several workloads have their words
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// What a word of operations means: push=enqueue (may be repeated)
    #[arg(long, value_name = "WORD=KNOWN", value_parser = meaning)]
    word: Vec<(String, String)>,
    /// What a field of operations means: cell=key (may be repeated)
    #[arg(long, value_name = "FIELD=KNOWN", value_parser = meaning)]
    field: Vec<(String, String)>,
}

/// A name and the known one that means the same.
fn meaning(text: &str) -> Result<(String, String), String> {
    let (name, known) = text
        .split_once('=')
        .filter(|(name, known)| !name.is_empty() && !known.is_empty())
        .ok_or("expected NAME=KNOWN, such as push=enqueue")?;
    Ok((name.to_owned(), known.to_owned()))
}

impl RuleArguments {
    /// The requested rules; those not given are those of `otherwise`.
    pub(super) fn or(&self, otherwise: &Rules) -> Rules {
        Rules {
            initial: self
                .initial
                .clone()
                .unwrap_or_else(|| otherwise.initial.clone()),
            set_up: self
                .init
                .clone()
                .unwrap_or_else(|| otherwise.set_up.clone()),
            failed: self.failed.unwrap_or(otherwise.failed),
            failed_cas: self.failed_cas.unwrap_or(otherwise.failed_cas),
            unknown: self.unknown.unwrap_or(otherwise.unknown),
            duplicates: self.duplicates.unwrap_or(otherwise.duplicates),
            lists: self.lists.unwrap_or(otherwise.lists),
            values: self.values.unwrap_or(otherwise.values),
            times: self.times.unwrap_or(otherwise.times),
            vocabulary: Vocabulary {
                workload: self
                    .workload
                    .clone()
                    .or_else(|| otherwise.vocabulary.workload.clone()),
                words: [&self.word[..], &otherwise.vocabulary.words].concat(),
                fields: [&self.field[..], &otherwise.vocabulary.fields].concat(),
                nil: self.nil.unwrap_or(otherwise.vocabulary.nil),
                failed_timeouts: self
                    .failed_timeouts
                    .unwrap_or(otherwise.vocabulary.failed_timeouts),
            },
        }
    }
}

/// What `explain` needs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    isoscope explain history.txt\n  \
    isoscope explain history.txt --violation TAP-k/1 > issue.md")]
pub struct ExplainArguments {
    /// The history; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// The violation to explain: its id in `check`, or any of its names, with a number or without [default: the first of each pattern]
    #[arg(long, value_name = "ID", value_parser = str::parse::<ViolationName>)]
    pub(super) violation: Option<ViolationName>,
    /// Explain every listed violation
    #[arg(long, conflicts_with = "violation")]
    pub(super) all: bool,
    /// Explain why the strongest level that holds does, even if others are violated
    #[arg(long, conflicts_with_all = ["violation", "all"])]
    pub(super) witness: bool,
    /// Plain text instead of Markdown
    #[arg(long)]
    pub(super) plain: bool,
    /// Add details: the axioms word for word, the cases, how the argument is derived, and a step-by-step run; where a level
    /// holds, the whole order
    #[arg(long)]
    pub(super) long: bool,
    /// Add the command that opens the log of the server at each transaction: words in which {node}, {wall}, {time}, {end}, {line},
    /// {file}, {transaction} and {field:NAME} are filled in, such as 'less +/{wall} logs/{node}/db.log'
    #[arg(long, value_name = "COMMAND")]
    pub(super) open_log: Option<String>,
    #[command(flatten)]
    pub(super) asked: AskedArguments,
}

/// What `export` needs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    isoscope export history.txt --violation TAP-k/1 -o anomaly.svg\n  \
    isoscope export history.txt --violation TAP-k/1 --view lanes -o time.svg\n  \
    isoscope export history.txt --violation TAP-k/1 -o issue.md\n  \
    isoscope export history.txt --witness --level SI -o order.svg\n\n\
    File extensions: svg, png (twice the size), dot, tex (TikZ), mmd (Mermaid), json, md, txt; of an order svg, png, tex, md\n\
    and txt.")]
pub struct ExportArguments {
    /// The history; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// The violation: its id in `check`, or any of its names [default: a small one of the weakest level violated]
    #[arg(long, value_name = "ID", value_parser = str::parse::<ViolationName>)]
    pub(super) violation: Option<ViolationName>,
    /// Instead of a violation, the order that satisfies the strongest of the levels asked for that holds
    #[arg(long, conflicts_with_all = ["violation", "view", "layout", "all_operations", "evidence", "alternatives"])]
    pub(super) witness: bool,
    /// The transaction that the picture of an order begins with [default: the first of the order]
    #[arg(long, value_name = "T", requires = "witness")]
    pub(super) from: Option<String>,
    /// Where to write it
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: PathBuf,
    /// What a picture (svg, png, tex) shows of the anomaly
    #[arg(long, value_enum, default_value_t = ViewName::Graph)]
    pub(super) view: ViewName,
    #[command(flatten)]
    pub(super) drawing: DrawingArguments,
    #[command(flatten)]
    pub(super) asked: AskedArguments,
}

/// What `report` needs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    isoscope report history.txt -o report/\n  \
    isoscope report history.txt --violation TAP-k/1 -o report.html\n  \
    isoscope report history.txt --violation WriteSkew/1 --isolation repeatable-read -o report/\n\n\
    OUT that ends in .html is one page that opens offline. Anything else is a new folder with the same page, Markdown for\n\
    GitHub (report.md) and for Jira (report.jira.txt), pictures, the sub-history in several formats, each read back and\n\
    checked again, an SQL script for several terminals and a specification for PostgreSQL's isolationtester.\n\n\
    Exit codes: 0 written, or every level is satisfied; 2 bad usage or unreadable input; 3 nothing violated, but a level\n\
    is undecided.")]
pub struct ReportArguments {
    /// The history; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// The violation: its id in `check`, or any of its names [default: a small one of the weakest level violated]
    #[arg(long, value_name = "ID", value_parser = str::parse::<ViolationName>)]
    pub(super) violation: Option<ViolationName>,
    /// Where to write it: a new folder, or a file that ends in .html; `-` writes the page to standard output
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: PathBuf,
    /// Replace an earlier report in OUT, even if edited, unless other files are there
    #[arg(long)]
    pub(super) force: bool,
    /// Isolation setting of the scripts: read-uncommitted, read-committed, repeatable-read, serializable, or a level
    /// [default: the weakest that promises the violated level]
    #[arg(long, value_name = "SETTING", value_parser = str::parse::<Isolation>)]
    pub(super) isolation: Option<Isolation>,
    #[command(flatten)]
    pub(super) drawing: DrawingArguments,
    /// What the database promises, as in `check`: the report says so, and whether it is kept
    #[arg(long, value_name = "CLAIM", value_parser = claim)]
    pub(super) claim: Option<Claim>,
    #[command(flatten)]
    pub(super) asked: AskedArguments,
}

/// What a picture shows.
#[derive(Args, Debug)]
pub(super) struct DrawingArguments {
    /// How to arrange the transactions
    #[arg(long, value_enum, default_value_t = LayoutStyle::Auto)]
    layout: LayoutStyle,
    /// Show all operations of the transactions, not only those the argument is about
    #[arg(long)]
    all_operations: bool,
    /// Evidence to draw in addition to the contradiction: all, none, or some relations, for example SO,WR
    #[arg(long, value_name = "WHICH", default_value = "all", value_parser = str::parse::<Evidence>)]
    evidence: Evidence,
    /// Also draw the orders that were ruled out, and what would have followed from them
    #[arg(long)]
    alternatives: bool,
}

impl DrawingArguments {
    /// The options for the picture of a part of `history`.
    pub(super) fn options(&self, history: &History) -> ComposeOptions {
        ComposeOptions {
            all_operations: self.all_operations,
            layout: self.layout,
            evidence: self.evidence.clone(),
            alternatives: self.alternatives,
            ..ComposeOptions::for_history(history)
        }
    }
}

/// What a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ViewName {
    /// Its dependency graph
    Graph,
    /// Its sessions on a time axis
    Lanes,
    /// Which transaction depends on which, as a table
    Matrix,
    /// The versions of its key in order, with their readers
    Key,
}

/// What `minimize` needs.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  isoscope minimize history.txt --level SI -o small.txt")]
pub struct MinimizeArguments {
    /// The history; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// The level that must stay violated
    #[arg(long, value_name = "L", value_parser = level)]
    pub(super) level: Level,
    /// Where to write the smaller history; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: PathBuf,
    /// Format to write [default: by the extension of OUT, else the format of FILE]
    #[arg(long, value_name = "F")]
    pub(super) to: Option<String>,
    #[command(flatten)]
    pub(super) limits: LimitArguments,
    #[command(flatten)]
    pub(super) reading: ReadingArguments,
}

/// What `convert` needs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    isoscope convert history.txt -o history.json\n  \
    isoscope convert history.edn -o history.hist --renumber    # names in history.hist.names.json\n\n\
    Verdicts stay the same: what was written is read back and compared, and if the format cannot hold the history,\n\
    nothing is written and the exit code is 2.")]
pub struct ConvertArguments {
    /// The history; `-` is standard input
    #[arg(value_name = "IN")]
    pub(super) input: PathBuf,
    /// Where to write it; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: PathBuf,
    /// Format of IN [default: by its content]
    #[arg(long, value_name = "F")]
    pub(super) from: Option<String>,
    /// Format of OUT [default: by its extension]
    #[arg(long, value_name = "F")]
    pub(super) to: Option<String>,
    /// Replace sessions, transactions, keys and values by numbers, and write their names to OUT.names.json
    #[arg(long)]
    pub(super) renumber: bool,
    /// Where to write the table of names instead of OUT.names.json
    #[arg(long, value_name = "FILE", requires = "renumber")]
    pub(super) names: Option<PathBuf>,
    #[command(flatten)]
    pub(super) limits: LimitArguments,
    #[command(flatten)]
    pub(super) rules: RuleArguments,
}

/// What `stats` needs.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  isoscope stats history.txt --json\n  isoscope stats --plume-table runs/\n  \
    isoscope stats --plume-table --depth 2 --failed drop runs/\n  \
    isoscope stats --weakest-table --time-limit 60 runs/"
)]
pub struct StatsArguments {
    /// The history; with a table, any number of histories and folders of histories
    #[arg(value_name = "PATH", required = true)]
    pub(super) paths: Vec<PathBuf>,
    /// Count in how many histories each kind of anomaly occurs, as Plume's Table 4 (by the rule of its published
    /// program) and C4's Table 2 do: a row per folder
    #[arg(long, group = "table")]
    pub(super) plume_table: bool,
    /// Count histories by the weakest level above CI that they violate, as Biswas and Enea's Table 2 does: a row
    /// per folder
    #[arg(long, group = "table")]
    pub(super) weakest_table: bool,
    /// With a table: how many folder levels below PATH get rows of their own; one with a single history counts with the
    /// folder above [default: 1]
    #[arg(long, value_name = "N", requires = "table")]
    pub(super) depth: Option<u8>,
    /// Print one JSON object, or with a table, one for each history
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) limits: LimitArguments,
    #[command(flatten)]
    pub(super) reading: ReadingArguments,
}

/// What `levels` needs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    isoscope levels                     all levels, by what counts as seen: nothing, sessions, real time\n  \
    isoscope levels SI                  what it promises, who promises it, what it implies, what breaks it\n  \
    isoscope levels :snapshot-isolation the same for what Elle calls by this name\n  \
    isoscope levels -o levels.svg       the lattice as a picture, or as a graph for Graphviz with .dot")]
pub struct LevelsArguments {
    /// A code, a long name, or one of Elle's keywords with its colon [default: all levels]
    #[arg(value_name = "LEVEL")]
    pub(super) level: Option<String>,
    /// Print data for scripts
    #[arg(long)]
    pub(super) json: bool,
    /// Where to draw the lattice: a file that ends with .svg or .dot
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: Option<PathBuf>,
}

/// What `verify` needs.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  \
    isoscope check --json --witness history.txt > report.json\n  \
    isoscope verify history.txt report.json\n\n\
    Exit codes: 0 evidence supports all verdicts, 1 something is contradicted by the history, by other evidence in the \
    report, or by another verdict, 2 bad usage or unreadable input, 3 nothing is contradicted, but something is claimed \
    without evidence (a satisfied level without a witness, a violated one without a violation).")]
pub struct VerifyArguments {
    /// The history; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// A report made by `check --json`, best with `--witness`
    #[arg(value_name = "REPORT.json", required_unless_present = "order")]
    pub(super) report: Option<PathBuf>,
    /// Instead of a report: an order that `check --follow --order` wrote, to be replayed with the memory of one state
    #[arg(long, value_name = "ORDER", conflicts_with_all = ["report", "time_limit", "memory_limit"])]
    pub(super) order: Option<PathBuf>,
    #[command(flatten)]
    pub(super) limits: LimitArguments,
    #[command(flatten)]
    pub(super) reading: ReadingArguments,
}

/// What `merge-reports` needs.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  \
    for i in 0 1 2 3; do isoscope check --json --shards 4 --shard $i runs/ -o part-$i.json; done\n  \
    isoscope merge-reports part-*.json -o report.json\n\n\
    Exit codes: as for check; what a missing shard would have checked is undecided.")]
pub struct MergeArguments {
    /// Reports made by `check --json --shards N --shard I`
    #[arg(value_name = "REPORT", required = true)]
    pub(super) reports: Vec<PathBuf>,
    /// Where to write the joined report; it appears only once complete [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) empty: EmptyArguments,
}

/// What counts where nothing was tested.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct EmptyArguments {
    /// Exit with 0, not 3, where every level holds because nothing was tested: no transaction committed, or only one, or nothing
    /// was read
    #[arg(long)]
    pub(super) allow_empty: bool,
}

fn pattern(text: &str) -> Result<Pattern, String> {
    let ids = || {
        Pattern::all()
            .map(Pattern::id)
            .collect::<Vec<_>>()
            .join(", ")
    };
    Pattern::parse(text)
        .ok_or_else(|| format!("unknown pattern `{text}`, expected one of {}", ids()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_of_the_arguments_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn levels_come_as_a_list_of_codes_or_long_names() {
        let parsed =
            Arguments::try_parse_from(["isoscope", "check", "--level", "si,causal", "h.txt"])
                .unwrap();
        let Some(Command::Check(check)) = parsed.command else {
            panic!("not check")
        };
        assert_eq!(
            check.level,
            [
                Level::SnapshotIsolation,
                Level::TransactionalCausalConsistency
            ]
        );
    }
}
