//! A gate for continuous integration: every history of a folder must keep what its database promises.
//!
//! `cargo run --example gate -- "postgresql serializable" runs/` prints a line for each history, and the simplest anomaly where the promise
//! is broken. The exit code is 0 if all keep it, 1 if one breaks it, and 2 if one cannot be read or decided. Without
//! arguments it looks at the bundled samples.

use isoscope::audit::{self, Examples};
use isoscope::checkers::Options;
use isoscope::checkers::lattice::Promise;
use isoscope::control::Control;
use isoscope::counterexample::narrate;
use isoscope::formats::{self, ListedFile};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Time for one history.
const LIMIT: Duration = Duration::from_secs(300);

/// Whether a history keeps the promise; an error in one line if that cannot be said.
fn keeps(promise: &Promise, path: &Path) -> Result<bool, String> {
    let control = Control::new().with_time_limit(LIMIT);
    let history = formats::open(path, None, &control).map_err(|error| error.to_string())?;
    let options = Options {
        levels: promise.asked().into_iter().collect(),
        ..Options::default()
    };
    let findings = audit::check(&history, &options, &control, &|_| {});
    let is_kept = promise.is_kept(&findings.levels).ok_or("undecided")?;
    if let Some(violation) = findings.violations.first().filter(|_| !is_kept) {
        let example = Examples::new(&history, &findings).of(violation, &control);
        print!(
            "{}",
            narrate::plain_text(&example.counterexample, &example.explanation, &history)
        );
    }
    Ok(is_kept)
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let promise = Promise::named(
        &arguments
            .next()
            .unwrap_or_else(|| "postgresql serializable".to_owned()),
    )?;
    let folder = arguments
        .next()
        .unwrap_or_else(|| "sample_histories".to_owned());
    let mut worst = 0;
    for found in formats::histories(&[folder.into()], &Control::new())? {
        let (path, kept) = match found {
            ListedFile::History(path) => (path.clone(), keeps(promise, &path)),
            ListedFile::Unusable { path, message } => (path, Err(message)),
        };
        let (code, word) = match kept {
            Ok(true) => (0, "kept".to_owned()),
            Ok(false) => (1, "broken".to_owned()),
            Err(why) => (2, why),
        };
        println!("{}: {}: {word}", path.display(), promise.name());
        worst = worst.max(code);
    }
    Ok(ExitCode::from(worst))
}
