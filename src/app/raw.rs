//! Fetching raw lines of the history file off the frame.

use super::samples;
use super::state::{RawLines, Source};
use crate::checkers::ViolationId;
use crate::formats;
use crate::history::{History, OperationId};
use crate::jobs::{Job, Revision, Wake};
use std::sync::Arc;

/// Most lines fetched for one violation.
const MAX_LINES: usize = 60;

/// Fetches the lines of `operations` (of the whole history) for the violation `of`.
pub fn start(
    history: Arc<History>,
    source: Source,
    of: ViolationId,
    operations: Vec<OperationId>,
    revision: Revision,
    wake: Wake,
) -> Job<RawLines> {
    Job::start("raw lines", revision, wake, move |control, outbox| {
        let mut places: Vec<(u32, OperationId)> = operations
            .into_iter()
            .map(|operation| (history.line_of(operation), operation))
            .filter(|(line, _)| *line > 0)
            .collect();
        places.sort_unstable();
        places.dedup();
        let mut raw = RawLines { of: Some(of), ..RawLines::default() };
        for (line, operation) in places.into_iter().take(MAX_LINES) {
            if control.check().is_err() {
                return;
            }
            match line_of(&source, line) {
                Ok(text) => raw.lines.push((operation, line, text)),
                Err(trouble) => {
                    raw.trouble = Some(trouble);
                    break;
                }
            }
        }
        outbox.send(raw);
    })
}

/// Fetches the line of one operation.
pub fn start_one(source: Source, line: u32, revision: Revision, wake: Wake) -> Job<String> {
    Job::start("raw line", revision, wake, move |_, outbox| {
        outbox.send(line_of(&source, line).unwrap_or_else(|trouble| trouble));
    })
}

fn line_of(source: &Source, line: u32) -> Result<String, String> {
    let from_text = |text: &str| {
        let found = text.lines().nth(line.saturating_sub(1) as usize);
        found.map(str::to_owned).ok_or_else(|| format!("there is no line {line}"))
    };
    match source {
        Source::File(path) => {
            formats::raw_line(path, line).map_err(|error| format!("{}, line {line}: {error}", path.display()))
        }
        Source::Sample(place) => {
            samples::ALL.get(*place).map_or(Err("there is no such sample".to_owned()), |s| from_text(s.text))
        }
        Source::Bytes { bytes, .. } => from_text(&String::from_utf8_lossy(bytes)),
    }
}
