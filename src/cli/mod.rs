//! Arguments → work → exit code.
//!
//! [`parse`] turns arguments into an [`Invocation`]; [`run`] does the work of one subcommand with the same calls as the
//! window. Results go to standard output, messages to standard error, one line each. Opening the window is left to
//! `main`.

mod args;
mod check;
mod checkpoint;
mod claims;
mod collect;
mod convert;
mod disagreements;
mod elle;
mod exit_code;
mod explain;
mod export;
mod follow;
mod follow_events;
mod follow_source;
mod follow_text;
mod follow_voice;
mod generate;
mod growing;
mod hunt;
mod input;
mod levels;
mod manual;
mod merge;
mod minimize;
mod order;
mod output;
mod paging;
mod paper_tables;
mod progress;
mod report;
mod reproduce;
mod schema;
mod self_check;
mod shards;
mod stats;
mod values;
mod verify;
mod witnesses;
mod workload;

pub use args::{
    CheckArguments, Command, CompletionsArguments, ConvertArguments, ElleArguments,
    ExplainArguments, ExportArguments, LevelsArguments, ManualArguments, MergeArguments,
    MinimizeArguments, ReportArguments, SchemaArguments, StatsArguments, VerifyArguments,
};
pub use collect::CollectArguments;
pub use exit_code::ExitCode;
pub use hunt::HuntArguments;
pub use reproduce::ReproduceArguments;
pub use workload::GenerateArguments;

use crate::fonts;
use crate::history::{History, visible_line};
use anyhow::Context;
use clap::Parser;
use output::Output;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Time limit for minimizing one counterexample if the user sets none.
const MINIMIZING: Duration = Duration::from_secs(20);

/// What the arguments request.
#[derive(Debug)]
pub enum Invocation {
    /// Open the window on these histories.
    Window(Vec<PathBuf>),
    /// Run a subcommand.
    Command(Box<Command>),
    /// Nothing is left to do: help was printed, or a usage error.
    Done(ExitCode),
}

/// Help because nothing else was said.
const HELP: clap::error::ErrorKind =
    clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;

/// Parses the arguments; the first one is the program's name. Prints help, or a usage error in one line.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Invocation {
    let arguments = elle::plain_arguments(arguments.into_iter().collect());
    let is_elle = arguments.get(1).is_some_and(|command| command == "elle");
    match args::Arguments::try_parse_from(arguments) {
        Ok(args::Arguments {
            command: Some(command),
            ..
        }) => Invocation::Command(Box::new(command)),
        Ok(args::Arguments {
            command: None,
            files,
        }) => match mistyped(&files) {
            Some(message) => {
                complain(&message);
                Invocation::Done(ExitCode::Unusable)
            }
            None => Invocation::Window(files),
        },
        Err(error) if error.use_stderr() && error.kind() != HELP => {
            complain(&usage_error(&error.render().to_string()));
            Invocation::Done(match is_elle {
                // As elle-cli.
                true => ExitCode::Violated,
                false => ExitCode::Unusable,
            })
        }
        Err(help) => {
            let mut out = Output::new();
            out.text(&if output::is_coloured() {
                help.render().ansi().to_string()
            } else {
                help.render().to_string()
            });
            Invocation::Done(out.outcome(ExitCode::Satisfied))
        }
    }
}

/// Runs a subcommand.
pub fn run(command: &Command) -> ExitCode {
    let mut out = Output::new();
    let result = match command {
        Command::Check(arguments) => check::run(arguments, &mut out),
        Command::Explain(arguments) => explain::run(arguments, &mut out),
        Command::Export(arguments) => export::run(arguments, &mut out),
        Command::Report(arguments) => report::run(arguments, &mut out),
        Command::Minimize(arguments) => minimize::run(arguments, &mut out),
        Command::Convert(arguments) => convert::run(arguments, &mut out),
        Command::Levels(arguments) => levels::run(arguments, &mut out),
        Command::Stats(arguments) => stats::run(arguments, &mut out),
        Command::Verify(arguments) => verify::run(arguments, &mut out),
        Command::Generate(arguments) => generate::run(arguments, &mut out),
        Command::Collect(arguments) => collect::run(arguments, &mut out),
        Command::Hunt(arguments) => hunt::run(arguments, &mut out),
        Command::Reproduce(arguments) => reproduce::run(arguments, &mut out),
        Command::MergeReports(arguments) => merge::run(arguments, &mut out),
        Command::Elle(arguments) => elle::run(arguments, &mut out),
        Command::Schema(arguments) => schema::run(arguments, &mut out),
        Command::Completions(arguments) => manual::completions(arguments, &mut out),
        Command::Manual(arguments) => manual::pages(arguments, &mut out),
    };
    let code = result.unwrap_or_else(|error| {
        complain(&format!("{error:#}"));
        ExitCode::Unusable
    });
    out.outcome(code)
}

/// Threads to work with; as many as there are cores unless a number is given.
fn pool(threads: Option<u16>) -> anyhow::Result<rayon::ThreadPool> {
    let threads = threads.map_or(0, usize::from);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .context("threads cannot be started")
}

/// Reports an error on standard error, in one line.
pub fn complain(message: &str) {
    use std::io::Write;
    let line = visible_line(&message.split_whitespace().collect::<Vec<_>>().join(" "));
    // If even this cannot be written, there is nowhere to say so.
    let _ = writeln!(std::io::stderr(), "isoscope: {line}");
}

/// Reports what a PNG of a history cannot show with the fonts of this machine.
fn complain_of_fonts(history: &History) {
    let missing = fonts::fallback(fonts::lacking(history.texts())).missing;
    if let Some(advice) = fonts::advice(&missing) {
        complain(&advice);
    }
}

/// What to say of a first word that is no file but resembles a subcommand.
fn mistyped(files: &[PathBuf]) -> Option<String> {
    let word = files.first().filter(|path| !path.exists())?.to_str()?;
    let meant = manual::meant(word)?;
    Some(format!(
        "there is no file and no subcommand `{word}`; did you mean `{meant}`? (see isoscope --help)"
    ))
}

/// A usage error in one line: clap's message without the usage.
fn usage_error(rendered: &str) -> String {
    let text = rendered.strip_prefix("error: ").unwrap_or(rendered);
    let end = ["\n\nUsage:", "\n\nFor more"]
        .iter()
        .filter_map(|mark| text.find(mark))
        .min()
        .unwrap_or(text.len());
    format!("{} (see isoscope --help)", text[..end].trim_end())
}

/// The fallback if no window can be opened: one line says why, and the findings are printed as text.
pub fn without_window(why: &str, files: Vec<PathBuf>) -> ExitCode {
    complain(&format!("{why}; the findings follow as text"));
    if files.is_empty() {
        complain("no history given (see isoscope --help)");
        return ExitCode::Unusable;
    }
    let words = ["isoscope", "check", "--"].map(OsString::from).into_iter();
    match parse(words.chain(files.into_iter().map(OsString::from))) {
        Invocation::Command(check) => run(&check),
        Invocation::Window(_) | Invocation::Done(_) => ExitCode::Unusable,
    }
}
