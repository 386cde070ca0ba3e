//! Chooses command line or window from the arguments; nothing else.

use isoscope::app;
use isoscope::cli::{self, Invocation};
use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::parse(std::env::args_os()) {
        Invocation::Command(command) => cli::run(&command).into(),
        Invocation::Done(code) => code.into(),
        Invocation::Window(files) => match app::run(files.clone()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => cli::without_window(&error.to_string(), files).into(),
        },
    }
}
