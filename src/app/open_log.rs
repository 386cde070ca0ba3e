//! Opening the log of a server at the moment of a transaction, by a command of the user's.
//!
//! The command is in the settings and comes from nowhere else. It is shown as it would run before it runs for the first
//! time after it was written.

use super::App;
use super::page::Page;
use super::tasks::{Failure, Task};
use super::vocabulary::Tone;
use crate::formats::fields;
use crate::history::{History, TransactionId};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// The form with the command.
#[derive(Clone, Debug)]
pub struct OpenLogForm {
    /// The command as it is written.
    pub template: String,
    /// As it would run, or why it cannot.
    pub filled: Result<Vec<String>, String>,
    /// The command that this was made of.
    pub made_of: String,
}

impl Default for OpenLogForm {
    fn default() -> OpenLogForm {
        OpenLogForm {
            template: String::new(),
            filled: Err(String::new()),
            made_of: String::new(),
        }
    }
}

/// What came of filling in a command.
struct Filled {
    template: String,
    command: Result<Vec<String>, String>,
    /// Whether to run it at once.
    run: bool,
}

static FILL: Task<Filled> = Task::new(
    "open the log",
    Failure::Message("The command could not be filled in"),
    |app, filled| match (&filled.command, filled.run) {
        (Ok(command), true) => app.run_command(command),
        _ => {
            let form = app.state.open_log.get_or_insert_default();
            if form.template.is_empty() {
                form.template.clone_from(&filled.template);
            }
            form.filled = filled.command;
            form.made_of = filled.template;
        }
    },
);

impl App {
    /// Opens the log at the transaction that has attention, or asks for the command.
    pub(super) fn open_log(&mut self) {
        let template = self.state.preferences.open_log.clone();
        let run = self.state.open_log_seen.as_ref() == Some(&template);
        self.state.open_log = (!run).then(|| OpenLogForm {
            template: template.clone(),
            ..OpenLogForm::default()
        });
        self.fill_log_command(template, run);
    }

    /// Fills a command in for the transaction that has attention.
    pub(super) fn fill_log_command(&mut self, template: String, run: bool) {
        let Some((history, t)) = self.logged() else {
            self.state.open_log = None;
            self.state.tell(
                Tone::Note,
                "Select a transaction first: the log is opened at its moment",
            );
            return;
        };
        self.ask(&FILL, move |control| {
            let known = fields::of(&history, &[t], control);
            let known = known.get(&t).cloned().unwrap_or_default();
            let command = fields::command(&template, &history, t, &known);
            Some(Filled {
                template,
                command,
                run,
            })
        });
    }

    /// Runs the command of the form, and keeps it.
    pub(super) fn confirm_log_command(&mut self) {
        let Some(form) = self.state.open_log.take() else {
            return;
        };
        if let Ok(command) = form.filled {
            self.state.preferences.open_log.clone_from(&form.made_of);
            self.state.open_log_seen = Some(form.made_of);
            self.run_command(&command);
        }
    }

    /// The transaction whose moment is meant.
    fn logged(&self) -> Option<(Arc<History>, TransactionId)> {
        let document = self.state.document.as_ref()?;
        let of_finding = document
            .finding
            .as_ref()
            .and_then(|finding| finding.transactions.last().copied());
        let own = document.current_picture().and_then(|picture| {
            picture
                .argument
                .counterexample
                .renaming
                .transactions
                .first()
                .copied()
        });
        let attended = || document.attended().into_iter().find(|t| !t.is_initial());
        let t = match self.state.page {
            Page::Browser => document.browser.transaction,
            _ => of_finding.or_else(attended).or(own),
        };
        document.history.clone().zip(t)
    }

    /// Shows a folder in the system's file manager.
    pub(super) fn show_folder(&mut self, folder: &Path) {
        let program = match std::env::consts::OS {
            "macos" => "open",
            "windows" => "explorer",
            _ => "xdg-open",
        };
        self.run_command(&[program.to_owned(), folder.display().to_string()]);
    }

    fn run_command(&mut self, command: &[String]) {
        let Some((program, arguments)) = command.split_first() else {
            return;
        };
        let started = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        match started {
            Ok(mut child) => {
                // Nothing waits for it; this only clears away what is left of it.
                std::thread::spawn(move || child.wait());
                self.state
                    .tell(Tone::Done, format!("Started: {}", command.join(" ")));
            }
            Err(error) => self
                .state
                .tell(Tone::Problem, format!("{program}: {error}")),
        }
    }
}
