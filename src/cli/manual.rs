//! What shells and `man` read, made from the definitions that the help is made from.

use super::args::Arguments;
use super::output::Output;
use super::{CompletionsArguments, ExitCode, ManualArguments};
use crate::files;
use anyhow::Context;
use clap::CommandFactory;

const NAME: &str = "isoscope";

/// Prints the completions for a shell.
pub(super) fn completions(
    arguments: &CompletionsArguments,
    out: &mut Output,
) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Arguments::command(),
        NAME,
        &mut script,
    );
    out.with(|out| out.write_all(&script));
    Ok(ExitCode::Satisfied)
}

/// Writes a manual page for the program and one for each subcommand.
pub(super) fn pages(arguments: &ManualArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let folder = &arguments.output;
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let mut program = Arguments::command();
    program.build();
    let others = program
        .get_subcommands()
        .filter(|command| command.get_name() != "help" && !command.is_hide_set());
    // Building has given each the name that its page has.
    let of_command =
        |command: &clap::Command| (format!("{NAME}-{}", command.get_name()), command.clone());
    let mut pages: Vec<(String, clap::Command)> = others.map(of_command).collect();
    pages.push((NAME.to_owned(), program));
    for (name, command) in &pages {
        let path = folder.join(format!("{name}.1"));
        files::write_file(&path, |file| {
            anyhow::Ok(clap_mangen::Man::new(command.clone()).render(file)?)
        })?;
    }
    out.text(&format!(
        "{} manual pages in {}\n",
        pages.len(),
        crate::history::visible(&folder.display().to_string())
    ));
    Ok(ExitCode::Satisfied)
}

/// The subcommand that a mistyped one means, if there is no such file; none where it resembles no subcommand.
pub(super) fn meant(word: &str) -> Option<String> {
    const ALIKE: f64 = 0.85;
    let command = Arguments::command();
    let names = command
        .get_subcommands()
        .map(|command| command.get_name().to_owned());
    let alike = |name: String| (strsim::jaro_winkler(word, &name), name);
    let best = names.map(alike).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(likeness, _)| *likeness >= ALIKE)
        .map(|(_, name)| name)
}
