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
            match text_at(&source, &history, operation) {
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

/// Fetches what stands where one operation was read from.
pub fn start_one(
    history: Arc<History>,
    source: Source,
    operation: OperationId,
    revision: Revision,
    wake: Wake,
) -> Job<String> {
    Job::start("raw line", revision, wake, move |_, outbox| {
        outbox.send(text_at(&source, &history, operation).unwrap_or_else(|trouble| trouble));
    })
}

fn text_at(source: &Source, history: &History, operation: OperationId) -> Result<String, String> {
    let origin = history.origin();
    let spot = history.spot_of(operation).ok_or("it was not read from a file")?;
    match source {
        Source::File(path) => formats::raw_spot(path, origin, spot)
            .map_err(|error| format!("{}, {}: {error}", path.display(), spot.text(origin))),
        Source::Sample(place) => match samples::ALL.get(*place) {
            Some(sample) => formats::raw_spot_in(sample.text.as_bytes(), spot).map_err(|error| error.to_string()),
            None => Err("there is no such sample".to_owned()),
        },
        Source::Bytes { bytes, .. } => formats::raw_spot_in(bytes, spot).map_err(|error| error.to_string()),
    }
}
