//! `isoscope elle`: arguments, words and exit codes of elle-cli (ligurio/elle-cli), so that scripts that call it can call
//! this instead.
//!
//! A file is valid if no level that was asked for is violated; for workloads for which Jepsen has a rule of its own (sets,
//! banks, counters, …), if that rule says so.

use super::args::ElleExit;
use super::output::Output;
use super::{ElleArguments, ExitCode, complain};
use crate::audit::{self, Examples};
use crate::checkers::lattice::named;
use crate::checkers::{Findings, Level, LevelResult, Options, Pattern, Verdict, Violation};
use crate::control::Control;
use crate::counterexample::narrate;
use crate::export::{self, ComposeOptions, ExportKind};
use crate::formats::{self, Request};
use crate::health;
use crate::history::{Answer, Fact, History, OperationId, OperationKind, Rules, TransactionId};
use crate::relations::resolve;
use crate::report::{self, Settings};
use anyhow::Context;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// What elle-cli calls a workload, the name here, and the rule of Jepsen that decides; none where levels do.
type Model = (&'static str, &'static str, Option<&'static str>);

const MODELS: &[Model] = &[
    ("list-append", "transactions", None),
    ("rw-register", "transactions", None),
    ("long-fork", "transactions", None),
    ("cas-register", "register", None),
    ("register", "register", None),
    ("mutex", "mutex", None),
    ("bank", "bank", Some("bank")),
    ("counter", "counter", Some("counter")),
    ("pn-counter", "pn-counter", Some("pn-counter")),
    ("set", "set", Some("set")),
    ("set-full", "set", Some("set-full")),
    ("comments", "set", Some("comments")),
    ("sequential", "sequential", Some("sequential")),
    ("causal", "causal", None),
    ("g2", "g2", Some("g2")),
    ("queue", "queue", Some("total-queue")),
    ("total-queue", "queue", Some("total-queue")),
    ("unique-ids", "unique-ids", Some("unique-ids")),
    ("kafka", "log", Some("kafka")),
];

/// Anomalies of Elle, each with the level that is violated where it occurs.
const ANOMALIES: &[(&[&str], Level)] = &[
    (&["G0"], Level::PlainReadUncommitted),
    (
        &[
            "G1",
            "G1a",
            "G1b",
            "G1c",
            "incompatible-order",
            "dirty-update",
            "future-read",
            "duplicate-elements",
        ],
        Level::PlainAdyaReadCommitted,
    ),
    (&["internal"], Level::PlainReadAtomic),
    (&["lost-update"], Level::PlainCursorStability),
    (
        &["G-single", "G-single-item"],
        Level::PlainParallelSnapshotIsolation,
    ),
    (
        &["G-nonadjacent", "G-nonadjacent-item", "GSIa", "GSIb"],
        Level::PlainSnapshotIsolation,
    ),
    (&["G2-item"], Level::PlainRepeatableRead),
    (&["G2", "write-skew"], Level::PlainSerializability),
];

/// The default of elle-cli.
const STRICT: Level = Level::StrictSerializability;

/// How long a file may take unless more is asked for.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn run(arguments: &ElleArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let asked = levels(arguments).and_then(|levels| Ok((levels, model(arguments)?)));
    let (levels, model) = match asked {
        Ok(asked) => asked,
        Err(error) => {
            complain(&format!("{error:#}"));
            return Ok(unfit(arguments.exit));
        }
    };
    let (mut worst, mut is_unread, mut is_another) = (Answer::Valid, false, false);
    for path in &arguments.files {
        match file(path, model, &levels, arguments) {
            Ok((answer, json)) => {
                let shown = crate::history::visible(&path.display().to_string());
                let line = match json {
                    Some(json) => format!("{json}\n"),
                    // A tab, which text would show as what it is.
                    None => format!("{shown} \t {}\n", word(answer)),
                };
                out.with(|out| out.write_all(line.as_bytes()));
                worst = worst.max(answer);
            }
            Err(error) => {
                complain(&format!("{}: {error:#}", path.display()));
                match error.is::<Another>() {
                    true => is_another = true,
                    false => is_unread = true,
                }
            }
        }
    }
    Ok(match (is_unread, is_another) {
        (true, _) => ExitCode::Unread,
        (_, true) => unfit(arguments.exit),
        _ => code(arguments.exit, worst),
    })
}

/// The model that is asked for, if one is.
fn model(arguments: &ElleArguments) -> anyhow::Result<Option<&'static Model>> {
    let Some(name) = &arguments.model else {
        return Ok(None);
    };
    let row = MODELS.iter().find(|(model, ..)| model == name);
    let known = || {
        let known: Vec<&str> = MODELS.iter().map(|(model, ..)| *model).collect();
        format!("there is no model `{name}`: known are {}", known.join(", "))
    };
    row.map(Some).with_context(known)
}

/// The exit code of bad arguments and of a history of another model, with which elle-cli ends as if it were invalid.
fn unfit(like: ElleExit) -> ExitCode {
    match like {
        ElleExit::Isoscope => ExitCode::Unusable,
        ElleExit::Elle | ElleExit::Jepsen => ExitCode::Violated,
    }
}

/// The exit code that a caller expects.
fn code(like: ElleExit, worst: Answer) -> ExitCode {
    match (like, worst) {
        (_, Answer::Invalid) => ExitCode::Violated,
        (ElleExit::Jepsen, Answer::Unknown) => ExitCode::Unusable,
        (ElleExit::Isoscope, Answer::Unknown) => ExitCode::Undecided,
        _ => ExitCode::Satisfied,
    }
}

fn word(answer: Answer) -> &'static str {
    match answer {
        Answer::Valid => "true",
        Answer::Invalid => "false",
        Answer::Unknown => "unknown",
    }
}

/// The levels that are asked for, by Elle's keywords, and those whose violation the anomalies show.
fn levels(arguments: &ElleArguments) -> anyhow::Result<Vec<Level>> {
    let mut levels = Vec::new();
    let is_said = |name: &&String| !name.trim().is_empty();
    for name in arguments.consistency_models.iter().filter(is_said) {
        levels.push(elle_level(name.trim_start_matches(':'))?);
    }
    if levels.is_empty() {
        levels.push(STRICT);
    }
    for name in arguments.anomalies.iter().filter(is_said) {
        let bare = name.trim_start_matches(':');
        let (plain, suffix) = match (
            bare.strip_suffix("-process"),
            bare.strip_suffix("-realtime"),
        ) {
            (Some(plain), _) => (plain, ""),
            (_, Some(plain)) => (plain, "R-"),
            _ => (bare, "P-"),
        };
        let row = ANOMALIES.iter().find(|(names, _)| names.contains(&plain));
        let (_, level) = row.with_context(|| format!("there is no anomaly `{name}`"))?;
        let code = format!("{suffix}{}", level.code().trim_start_matches("P-"));
        levels.push(named(&code).map_err(anyhow::Error::msg)?);
    }
    levels.dedup();
    Ok(levels)
}

/// The level of a keyword of Elle, also of its short names for orders by session and by real time.
fn elle_level(name: &str) -> anyhow::Result<Level> {
    const SHORT: &[(&str, &str)] = &[
        ("PL-1", "read-uncommitted"),
        ("PL-2", "read-committed"),
        ("PL-SI", "snapshot-isolation"),
        ("PL-3", "serializable"),
    ];
    let long = ["strong-session-", "strong-"].iter().find_map(|order| {
        let rest = name.strip_prefix(order)?;
        let (_, long) = SHORT.iter().find(|(short, _)| *short == rest)?;
        Some(format!("{order}{long}"))
    });
    let name = long.as_deref().unwrap_or(name);
    named(&format!(":{name}")).map_err(anyhow::Error::msg)
}

/// The answer for one file, and all about it where JSON is asked for.
fn file(
    path: &Path,
    model: Option<&Model>,
    levels: &[Level],
    arguments: &ElleArguments,
) -> anyhow::Result<(Answer, Option<Json>)> {
    let asked = Duration::from_secs(arguments.cycle_search_timeout.unwrap_or_default() / 1000);
    let control = Control::new().with_time_limit(PATIENCE.max(asked));
    let format = arguments
        .format
        .as_deref()
        .map(|format| format!("elle-{format}"));
    let history = read(path, format.as_deref(), model, &control)?;
    let found = workload_of(&history);
    let mut levels = levels.to_vec();
    if matches!(found, "register" | "mutex") && arguments.consistency_models.is_empty() {
        levels = vec![Level::Linearizability];
    }
    let options = Options {
        levels,
        counts: false,
        ..Options::default()
    };
    let findings = audit::check(&history, &options, &control, &|_| {});
    let by_rule = rule(&history, model.and_then(|(.., rule)| *rule))
        .map(|(rule, answer)| (rule, bank(&history, arguments).unwrap_or(answer)));
    let by_levels = {
        let is_strict = matches!(arguments.exit, ElleExit::Isoscope);
        by_levels(&history, &findings, is_strict, &control.overtime())
    };
    if let Some((rule, answer)) = by_rule
        && answer == Answer::Valid
        && by_levels == Answer::Invalid
    {
        complain(&format!(
            "{}: valid by the rule of `{rule}`, but no order explains it at the levels asked for",
            path.display()
        ));
    }
    if let Some(folder) = &arguments.directory {
        draw(&history, &findings, folder, &control)?;
    }
    let answer = by_rule.map_or(by_levels, |(_, answer)| answer);
    let json = arguments
        .output
        .is_json()
        .then(|| whole(&history, &findings, answer));
    Ok((answer, json))
}

/// The answer about a bank of which the total, or that balances may be negative, is given on the command line.
fn bank(history: &History, arguments: &ElleArguments) -> Option<Answer> {
    let ElleArguments {
        allow_negative_balances: may_be_negative,
        total_amount: total,
        ..
    } = arguments;
    let workload = history
        .workload()
        .filter(|workload| workload.name == "bank" && (*may_be_negative || total.is_some()))?;
    let is_wrong = |fact: &Fact| match fact.name {
        "negative" => !may_be_negative,
        "wrong total" => total.is_none(),
        _ => fact.counts,
    };
    let balances = |t| {
        history
            .operations_of(t)
            .filter(|o| history.operation(*o).kind == OperationKind::Read)
    };
    let sum = |t| -> Option<i64> {
        let amounts = balances(t).map(|o| {
            history
                .value_name(history.operation(o).value)
                .parse::<i64>()
                .ok()
        });
        amounts.sum()
    };
    let is_other = |t: TransactionId| {
        let has_all = balances(t).next().is_some();
        has_all && total.is_some_and(|total| sum(t).is_some_and(|sum| sum != total))
    };
    let is_broken = workload.facts.iter().any(is_wrong) || history.transactions().any(is_other);
    Some(if is_broken {
        Answer::Invalid
    } else {
        Answer::Valid
    })
}

/// What a history is about.
fn workload_of(history: &History) -> &'static str {
    history
        .workload()
        .map_or("transactions", |workload| workload.name)
}

/// Reads a file. One that is not of the workload of the model by itself, or of several, may be if it is named.
fn read(
    path: &Path,
    format: Option<&str>,
    model: Option<&Model>,
    control: &Control,
) -> anyhow::Result<History> {
    let open = |rules: Option<&Rules>| {
        let mut request = Request::from(format);
        request.rules = rules;
        formats::open(path, request, control)
    };
    let by_itself = open(None);
    let is_wanted = |history: &History| match model {
        Some((_, wanted, _)) => workload_of(history) == *wanted,
        None => true,
    };
    let is_empty = |history: &History| history.n_transactions() == 0;
    if by_itself.as_ref().is_ok_and(is_empty) {
        return Ok(by_itself?);
    }
    if by_itself.as_ref().is_ok_and(is_wanted) {
        let history = by_itself?;
        return match model.and_then(|(name, ..)| other_keys(&history, name)) {
            Some(other) => Err(Another::of(model, other).into()),
            None => Ok(history),
        };
    }
    if let Some((_, wanted, _)) = model {
        let mut rules = Rules::default();
        rules.vocabulary.workload = Some((*wanted).to_owned());
        if let Ok(history) = open(Some(&rules))
            && is_wanted(&history)
        {
            return Ok(history);
        }
    }
    let history = by_itself.map_err(|error| anyhow::anyhow!("{}", error.message()))?;
    Err(Another::of(model, workload_of(&history)).into())
}

/// A history is about something else than was said.
#[derive(Debug)]
struct Another {
    wanted: &'static str,
    found: &'static str,
}

impl std::error::Error for Another {}

impl std::fmt::Display for Another {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Another { wanted, found } = self;
        write!(
            f,
            "this is no history of `{wanted}`: it is one of `{found}`"
        )
    }
}

impl Another {
    fn of(model: Option<&Model>, found: &'static str) -> Another {
        let wanted = model.map_or("", |(name, ..)| *name);
        Another { wanted, found }
    }
}

/// The model of transactions on keys of the other kind, if there are such keys: lists or registers.
fn other_keys(history: &History, model: &str) -> Option<&'static str> {
    let wants_lists = match model {
        "list-append" => true,
        "rw-register" | "long-fork" => false,
        _ => return None,
    };
    let mut writes = (0..history.n_operations())
        .map(|n| history.operation(OperationId::new(n)))
        .filter(|operation| operation.kind == OperationKind::Write);
    let is_wrong = writes.any(|write| history.lists().is_list(write.key) != wants_lists);
    is_wrong.then_some(if wants_lists {
        "rw-register"
    } else {
        "list-append"
    })
}

/// The answer of the rule that is asked for, or of the first of the workload; none where levels decide.
fn rule(history: &History, name: Option<&str>) -> Option<(&'static str, Answer)> {
    let rules = &history.workload()?.like_jepsen;
    let wanted = |(rule, _): &&(&'static str, Answer)| name.is_none_or(|name| *rule == name);
    rules.iter().find(wanted).copied()
}

/// The answer of the levels: unknown where one is undecided and none violated, or where fewer than two transactions may
/// have committed; if we may be stricter than Elle, where nothing was tested.
fn by_levels(history: &History, findings: &Findings, is_strict: bool, control: &Control) -> Answer {
    let mut verdicts = findings.levels.iter().map(|result| &result.verdict);
    if verdicts
        .clone()
        .any(|verdict| *verdict == Verdict::Violated)
    {
        return Answer::Invalid;
    }
    let figures = history.recorded();
    let is_healthy = || {
        let health = resolve(history, control)
            .and_then(|resolution| health::examine(history, &resolution, control));
        health.is_ok_and(|health| health.is_tested())
    };
    let is_tested = figures.committed + figures.unknown > 1 && (!is_strict || is_healthy());
    if is_tested && verdicts.all(|verdict| matches!(verdict, Verdict::Satisfied(_))) {
        Answer::Valid
    } else {
        Answer::Unknown
    }
}

/// Elle's name of what a violation shows, the most specific of several.
fn anomaly(violation: &Violation) -> String {
    let row = violation.id.pattern.row();
    let is_known = |name: &String| {
        let bare = name.strip_suffix("-process").unwrap_or(name);
        let bare = bare.strip_suffix("-realtime").unwrap_or(bare);
        ANOMALIES.iter().any(|(names, _)| names.contains(&bare))
    };
    let own = match violation.id.pattern {
        Pattern::Divergence | Pattern::LostUpdate => Some("lost-update"),
        Pattern::FutureRead => Some("future-read"),
        _ => None,
    };
    let of_cycle = violation.also.iter().rev();
    let of_cycle = of_cycle.map(|name| name.replace("-session", "-process"));
    let of_pattern = row.adya.unwrap_or_default().split(", ");
    let mut names = own
        .map(str::to_owned)
        .into_iter()
        .chain(of_cycle)
        .chain(of_pattern.map(str::to_owned))
        .filter(is_known);
    names.next().unwrap_or_else(|| row.name.to_owned())
}

/// All about a file, with the fields of Elle.
fn whole(history: &History, findings: &Findings, answer: Answer) -> Json {
    let mut anomalies: BTreeMap<String, Vec<Json>> = BTreeMap::new();
    for violation in &findings.violations {
        let id = violation.id.to_string();
        anomalies
            .entry(anomaly(violation))
            .or_default()
            .push(Json::from(id));
    }
    let is_violated = |result: &&LevelResult| result.verdict == Verdict::Violated;
    let violated = findings.levels.iter().filter(is_violated);
    let violated: Vec<Level> = violated.map(|result| result.level).collect();
    let is_too = |level: &&Level| {
        let implies = |other: &Level| level.implies(*other) && *level != other;
        violated.iter().any(implies)
    };
    let names = |levels: &mut dyn Iterator<Item = Level>| -> BTreeSet<&str> {
        let names = levels.flat_map(|level| level.row().elle.first().copied());
        names.collect()
    };
    let (not, also_not) = (
        names(&mut violated.iter().copied()),
        names(&mut Level::ALL.iter().filter(is_too).copied()),
    );
    let valid = match answer {
        Answer::Valid => Json::Bool(true),
        Answer::Invalid => Json::Bool(false),
        Answer::Unknown => Json::from("unknown"),
    };
    let settings = Settings::default();
    json!({
        "file": history.origin().path,
        "valid?": valid,
        "anomaly-types": anomalies.keys().collect::<Vec<_>>(),
        "anomalies": anomalies,
        "not": not,
        "also-not": also_not,
        "isoscope": report::of_findings(history, findings, settings),
    })
}

/// Draws a violation of each kind: `DIR/G-single/0.svg`, and in words `DIR/G-single.txt`.
fn draw(
    history: &History,
    findings: &Findings,
    folder: &Path,
    control: &Control,
) -> anyhow::Result<()> {
    let examples = Examples::new(history, findings);
    let mut drawn = BTreeSet::new();
    for violation in &findings.violations {
        let name = anomaly(violation);
        if !drawn.insert(name.clone()) {
            continue;
        }
        let example = examples.of(violation, control);
        let (small, why) = (&example.counterexample, &example.explanation);
        let picture = export::compose(small, why, history, &ComposeOptions::default());
        let svg = export::export(ExportKind::Svg, &picture)?;
        let of_kind = folder.join(&name);
        std::fs::create_dir_all(&of_kind).with_context(|| of_kind.display().to_string())?;
        crate::files::write_file(&of_kind.join("0.svg"), |file| {
            anyhow::Ok(file.write_all(&svg)?)
        })?;
        let words = narrate::plain_text(small, why, history);
        let path = folder.join(format!("{name}.txt"));
        crate::files::write_file(&path, |file| anyhow::Ok(file.write_all(words.as_bytes())?))?;
    }
    Ok(())
}

/// The arguments as clap takes them: `-v` in front of `text` or `json` names the output, else it is the old flag for all there is
/// to say, as JSON.
pub(super) fn plain_arguments(arguments: Vec<std::ffi::OsString>) -> Vec<std::ffi::OsString> {
    if arguments.get(1).is_none_or(|command| command != "elle") {
        return arguments;
    }
    let mut plain = Vec::with_capacity(arguments.len());
    let mut rest = arguments.into_iter().peekable();
    while let Some(argument) = rest.next() {
        let is_flag = argument == "-v" || argument == "--verbose";
        let names_output = rest
            .peek()
            .is_some_and(|next| next == "text" || next == "json");
        if is_flag && !names_output {
            plain.push("--output=json".into());
        } else {
            plain.push(argument);
        }
    }
    plain
}
