//! `isoscope hunt`: runs a workload against a database until an anomaly appears.

use super::collect::{DatabaseArguments, complain_of_losses, summary, watched};
use super::follow_text::time;
use super::output::{Output, Paint, code_width, codes};
use super::values::{Claim, claim};
use super::workload::WorkloadArguments;
use super::{ExitCode, MINIMIZING, claims, complain, disagreements};
use crate::audit::{Example, Examples};
use crate::checkers::Level;
use crate::checkers::lattice::Promise;
use crate::control::Control;
use crate::export::ComposeOptions;
use crate::export::bundle::{self, Brief};
use crate::files;
use crate::generate::{Kind, Length, Workload};
use crate::hunt::{self, Hunt, Judged, Live, News, Opened, Plan};
use crate::report::{VerdictWord, grouped};
use crate::{health, relations};
use anyhow::Context;
use clap::Args;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a smaller workload is tried before it counts as too small.
const ATTEMPTS: u64 = 3;
/// Runs of the smallest workload, for the rate.
const RUNS: u64 = 10;

/// Rounds if neither their number nor a time is given.
const ROUNDS: u64 = 10;

/// What `hunt` needs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    isoscope hunt --rounds 5\n  \
    isoscope hunt --db postgres://me@localhost/test --isolation repeatable-read --level SER --keys 10 -o found/\n  \
    isoscope hunt --db mysql://root@127.0.0.1:3306/test --isolation repeatable-read --workload mini --time 600\n  \
    isoscope hunt --db sqlite --claim \"sqlite serializable\" --rounds 3\n  \
    isoscope hunt --db primary=postgres://me@localhost:5432/test --db standby=postgres://me@localhost:5433/test,read-only \
      --isolation repeatable-read --time 60\n\n\
    With several servers the workload is by default disjoint-writes: 12 keys, 2000 transactions of 2 to 4 operations \
    per session. The level is what the database promises for one server.\n\n\
    A folder, named by -o, gets the history of the round that violates a level, and a report of the violation that is \
    easiest to follow. `isoscope collect --help` lists databases and their levels.\n\n\
    Exit codes: 0 no violation in any round, 1 violated, 2 bad usage or a database that does not answer, 3 undecided.")]
pub struct HuntArguments {
    #[command(flatten)]
    database: DatabaseArguments,
    #[command(flatten)]
    workload: WorkloadArguments,
    /// Levels to check [default: what the database promises at this isolation level]
    #[arg(long, value_name = "L", value_delimiter = ',', value_parser = super::values::level)]
    level: Vec<Level>,
    /// What the database promises, as in `check`: its level is checked, and the report says so
    #[arg(long, value_name = "CLAIM", value_parser = claim, conflicts_with = "level")]
    claim: Option<Claim>,
    /// Rounds, each with the next seed [default: 10, or as many as --time allows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,
    /// Seconds after which no new round begins and a running one is cut short
    #[arg(long, value_name = "SECS", value_parser = super::values::seconds)]
    time: Option<f64>,
    /// Seconds for checking one round; levels not decided by then are undecided
    #[arg(long, value_name = "SECS", value_parser = super::values::seconds)]
    check_time_limit: Option<f64>,
    /// Folder for what is found
    #[arg(short, long, value_name = "FOLDER", default_value = "isoscope-hunt")]
    output: PathBuf,
    /// Keep the histories of all rounds
    #[arg(long)]
    keep: bool,
    /// Go on after a violation, to the end of its round and with the next ones, and say how many of the rounds have one; a report is made of the first
    #[arg(long)]
    all_rounds: bool,
    /// Seconds for finding a smaller workload that still violates a level, and how often it does
    #[arg(long, value_name = "SECS", value_parser = super::values::seconds, conflicts_with = "all_rounds")]
    shrink: Option<f64>,
}

pub(super) fn run(arguments: &HuntArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    if claims::listed(arguments.claim, out) {
        return Ok(ExitCode::Satisfied);
    }
    let promise = claims::promised(arguments.claim);
    let opened = arguments.database.open()?;
    let levels = match promise {
        Some(promise) => promise.asked().into_iter().collect(),
        None => levels_of(&arguments.level, &opened)?,
    };
    let folder = &arguments.output;
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let mut hunt = Hunt::new(Plan {
        workload: arguments.workload.workload_or(defaults(&opened))?,
        rounds: arguments.rounds.unwrap_or(if arguments.time.is_some() {
            u64::MAX
        } else {
            ROUNDS
        }),
        time: arguments.time.map(Duration::from_secs_f64),
        keep: arguments.keep,
    });
    if opened.has_several_servers() && arguments.level.is_empty() && promise.is_none() {
        let (name, isolation, codes) =
            (opened.name, opened.isolation, codes(levels.iter().copied()));
        out.text(&format!(
            "{name} promises {codes} at {isolation} for one server; this asks for it across all of them\n"
        ));
    }
    let playing = Playing {
        opened: &opened,
        levels: &levels,
        promise,
        check_time_limit: arguments.check_time_limit,
        ends_early: !arguments.all_rounds,
    };
    let (mut worst, mut rounds, mut violated) = (ExitCode::Satisfied, 0, 0);
    let path = |seed: u64| folder.join(format!("seed-{seed}.edn"));
    while let Some(code) = play(&mut hunt, &playing, violated == 0, path, out)? {
        worst = worst.max(code);
        rounds += 1;
        violated += u64::from(code == ExitCode::Violated);
        if violated > 0 && !arguments.all_rounds {
            if let Some(seconds) = arguments.shrink {
                shrink(
                    &hunt.workload(),
                    &playing,
                    arguments,
                    Duration::from_secs_f64(seconds),
                    out,
                )?;
            }
            return Ok(code);
        }
    }
    if arguments.all_rounds {
        out.text(&format!(
            "{violated} of {rounds} rounds violate {}\n",
            codes(levels.iter().copied())
        ));
    }
    Ok(if violated > 0 {
        ExitCode::Violated
    } else {
        worst
    })
}

/// Looks for a smaller workload that still violates a level, and for faults that are not needed for that, and says how often
/// the smallest one found does.
fn shrink(
    workload: &Workload,
    playing: &Playing<'_>,
    arguments: &HuntArguments,
    time: Duration,
    out: &mut Output,
) -> anyhow::Result<()> {
    let end = Instant::now() + time;
    let [path, kept] = ["smaller.edn", "smallest.edn"].map(|name| arguments.output.join(name));
    // The recording of the last run that violates a level stays.
    let mut violates =
        |(opened, workload): &(Opened, Workload), left: Duration| -> anyhow::Result<bool> {
            let mut hunt = Hunt::new(Plan {
                workload: *workload,
                rounds: 1,
                time: Some(left),
                keep: true,
            });
            let playing = Playing { opened, ..*playing };
            let violated = play(&mut hunt, &playing, false, |_| path.clone(), out)?
                == Some(ExitCode::Violated);
            match (violated, path.exists()) {
                (true, _) => std::fs::rename(&path, &kept),
                (false, true) => std::fs::remove_file(&path),
                (false, false) => Ok(()),
            }
            .with_context(|| path.display().to_string())?;
            Ok(violated)
        };
    let left = || end.saturating_duration_since(Instant::now());
    let mut smallest = (playing.opened.clone(), *workload);
    let least = arguments.database.placed_sessions();
    'smaller: loop {
        for (opened, workload) in smaller(&smallest, least) {
            for attempt in 0..ATTEMPTS {
                let seed = workload.seed.wrapping_add(attempt);
                if left().is_zero() {
                    break 'smaller;
                }
                if violates(&(opened.clone(), Workload { seed, ..workload }), left())? {
                    smallest = (opened, workload);
                    continue 'smaller;
                }
            }
        }
        break;
    }
    let (opened, workload) = smallest;
    let mut violated = 0;
    for run in 0..RUNS {
        let seed = workload.seed.wrapping_add(run);
        violated += u64::from(violates(
            &(opened.clone(), Workload { seed, ..workload }),
            time,
        )?);
    }
    let faults = match (&opened.faults()[..], &playing.opened.faults()[..]) {
        ([], []) => String::new(),
        ([], _) => ", without faults".to_owned(),
        (faults, _) => format!(", with {}", faults.join(", ")),
    };
    out.text(&format!(
        "\n{violated} of {RUNS} runs of the smallest workload found violate {}{faults}:\n  {}\n  {}\n",
        codes(playing.levels.iter().copied()),
        hunt::arguments(&workload),
        kept.display()
    ));
    Ok(())
}

/// What is next smaller: one fault less, or a smaller workload.
fn smaller((opened, workload): &(Opened, Workload), sessions: u32) -> Vec<(Opened, Workload)> {
    let fewer = opened
        .faults()
        .into_iter()
        .map(|name| (opened.without_fault(name), *workload));
    fewer
        .chain(
            hunt::smaller(workload, sessions)
                .into_iter()
                .map(|smaller| (opened.clone(), smaller)),
        )
        .collect()
}

/// What the rounds of a hunt have in common.
pub(super) struct Playing<'a> {
    pub(super) opened: &'a Opened,
    pub(super) levels: &'a [Level],
    pub(super) promise: Option<&'static Promise>,
    pub(super) check_time_limit: Option<f64>,
    /// Whether a round ends when a violation is known.
    pub(super) ends_early: bool,
}

/// Runs, checks and tells of one round, which is recorded in the file that `path` gives for its seed, with a report if
/// it violates a level and `reports` is set. None when there is no round or no time left.
pub(super) fn play(
    hunt: &mut Hunt,
    playing: &Playing<'_>,
    reports: bool,
    path: impl Fn(u64) -> PathBuf,
    out: &mut Output,
) -> anyhow::Result<Option<ExitCode>> {
    let &Playing {
        opened,
        levels,
        promise,
        check_time_limit,
        ends_early,
    } = playing;
    let Some(round) = hunt.begin(&Control::new(), path) else {
        return Ok(None);
    };
    // A violation that is decided meanwhile ends the round.
    let mut early = None;
    let mut hear = |news: News<'_>| match news.violated() {
        Some((line, level)) if line > 0 => {
            round.control.stop();
            early = Some((line, level, news.since(line)));
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    };
    let options = hunt::followable(levels).filter(|_| ends_early);
    let live = options.map(|options| Live {
        options,
        to_the_end: false,
        hear: &mut hear,
    });
    let recorded = watched(&round.control, String::new, |statistics| {
        hunt.record(opened, &round, statistics, live)
    })?;
    let Some(snapshot) = recorded else {
        return Ok(None);
    };
    complain_of_losses(&snapshot, &round.workload);
    out.text(&format!(
        "seed {}  {}\n",
        round.workload.seed,
        summary(&snapshot)
    ));
    if let Some((line, level, delay)) = early {
        let delay = delay.map_or(String::new(), |delay| {
            format!(", {} after it was recorded", time(delay.as_secs_f64()))
        });
        out.text(&format!(
            "  the round ended when line {} violated {level}{delay}\n",
            grouped(u64::from(line))
        ));
    }
    let mut control = Control::new();
    if let Some(seconds) = check_time_limit {
        control = control.with_time_limit(Duration::from_secs_f64(seconds));
    }
    let judged = hunt::judge(&round.path, Some(levels), &control)?;
    let code = disagreements::reported(&round.path, &judged.findings, tell(&judged, out));
    if code == ExitCode::Violated && reports {
        report_violation(&judged, (opened.isolation, promise), &round.path, out)?;
    }
    hunt.settle(&round, &judged.findings)?;
    Ok(Some(code))
}

/// The workload of a hunt, if no other is requested. Replicas differ for moments only, so it is long; sessions that write
/// keys of their own leave no doubt about the order of versions.
fn defaults(opened: &Opened) -> Workload {
    let usual = Workload::default();
    if !opened.has_several_servers() {
        return usual;
    }
    let operations = Length { least: 2, most: 4 };
    Workload {
        kind: Kind::DisjointWrites,
        transactions: 2000,
        operations,
        keys: 12,
        ..usual
    }
}

/// The levels to check: the requested ones, else what the database promises.
pub(super) fn levels_of(requested: &[Level], opened: &Opened) -> anyhow::Result<Vec<Level>> {
    if !requested.is_empty() {
        return Ok(requested.to_vec());
    }
    let promise = opened.promise.with_context(|| {
        let (database, isolation) = (opened.name, opened.isolation);
        format!("{database} promises no level that is checked here at {isolation}, name one with --level")
    })?;
    Ok(vec![promise])
}

/// Prints the verdicts on a round.
fn tell(judged: &Judged, out: &mut Output) -> ExitCode {
    let width = code_width(&judged.findings);
    for result in &judged.findings.levels {
        let verdict = VerdictWord::from(&result.verdict);
        let verdict = out.paint(Paint::of(verdict), verdict.word());
        let condition = result
            .condition(&judged.history)
            .map_or(String::new(), |it| format!("  (if {it})"));
        out.text(&format!(
            "  {:width$}  {verdict}{condition}\n",
            result.level.code()
        ));
    }
    ExitCode::of(&judged.findings)
}

/// Writes the report of a round next to its history.
fn report_violation(
    judged: &Judged,
    (isolation, promise): (&str, Option<&'static Promise>),
    path: &Path,
    out: &mut Output,
) -> anyhow::Result<()> {
    let Judged {
        history, findings, ..
    } = judged;
    let Some(violation) = hunt::simplest_violation(findings) else {
        complain("the level is violated, but no single violation is listed");
        return Ok(());
    };
    let Example {
        violation,
        counterexample,
        explanation,
    } = &Examples::new(history, findings)
        .of(violation, &Control::new().with_time_limit(MINIMIZING));
    out.text(&format!("\n{}  {}\n", violation.id, explanation.title));
    let resolution = relations::resolve(history, &Control::new())?;
    let brief = Brief {
        example: counterexample,
        explanation,
        violation,
        whole: history,
        findings,
        health: &health::examine(history, &resolution, &Control::new())?,
        options: &ComposeOptions::for_history(history),
        promise,
        isolation: isolation.parse().ok(),
        annotations: &[],
        // Not this command line: the database's address may contain a password.
        command: format!(
            "isoscope report {} --violation {} -o report/",
            path.display(),
            violation.id
        ),
    };
    let folder = path.with_extension("report");
    let report =
        bundle::bundle(&brief, &Control::new()).with_context(|| folder.display().to_string())?;
    files::write_folder(&folder, &report)?;
    out.text(&format!(
        "  {}\n  {}\n",
        path.display(),
        folder.join("report.html").display()
    ));
    Ok(())
}
