//! Fetching raw lines of the history file off the frame.

use super::samples;
use super::tasks::{Failure, Task};
use super::vocabulary::{Part, RawLines, Source};
use crate::checkers::ViolationId;
use crate::control::Control;
use crate::formats;
use crate::history::{History, OperationId, Spot};

/// Maximum number of lines fetched for one violation.
const MAX_LINES: usize = 60;

/// Fetching the lines of the selected violation.
pub(super) static LINES: Task<RawLines> = Task {
    shows_progress: false,
    ..Task::new("raw lines", Failure::Silent, |app, lines| {
        let Some(document) = &mut app.state.document else {
            return;
        };
        document.raw = lines;
    })
};

/// Fetching the text from which the operation shown in the history browser was read.
pub(super) static LINE: Task<String> = Task {
    shows_progress: false,
    ..Task::new("raw line", Failure::Silent, |app, line| {
        let Some(document) = &mut app.state.document else {
            return;
        };
        if let Some((_, text)) = &mut document.browser.operation {
            *text = Some(line);
        }
    })
};

/// The lines of `operations` (of the whole history), for the violation `of`.
pub(super) fn lines(
    history: &History,
    source: &Source,
    of: ViolationId,
    operations: Vec<OperationId>,
    control: &Control,
) -> Option<RawLines> {
    let mut places: Vec<(u32, OperationId)> = operations
        .into_iter()
        .map(|operation| (history.line_of(operation), operation))
        .filter(|(line, _)| *line > 0)
        .collect();
    places.sort_unstable();
    places.dedup();
    places.truncate(MAX_LINES);
    let mut raw = RawLines {
        of: Some(of),
        ..RawLines::default()
    };
    let all: Vec<OperationId> = places.iter().map(|(_, operation)| *operation).collect();
    for ((line, operation), text) in places
        .into_iter()
        .zip(texts_at(source, history, &all, control))
    {
        match text {
            Ok(text) => raw.lines.push((operation, line, text)),
            Err(error) => {
                raw.error = Some(error);
                break;
            }
        }
    }
    control.check().ok().map(|()| raw)
}

/// The text from which an operation was read, or why there is none.
pub(super) fn line(
    history: &History,
    source: &Source,
    operation: OperationId,
    control: &Control,
) -> Option<String> {
    let text = texts_at(source, history, &[operation], control)
        .into_iter()
        .next()?;
    Some(text.unwrap_or_else(|error| error))
}

/// The text from which each operation was read, in one pass over the file; for those without one, why.
fn texts_at(
    source: &Source,
    history: &History,
    operations: &[OperationId],
    control: &Control,
) -> Vec<Result<String, String>> {
    let origin = history.origin();
    let spots: Option<Vec<Spot>> = operations
        .iter()
        .map(|operation| history.spot_of(*operation))
        .collect();
    let Some(spots) = spots else {
        return operations
            .iter()
            .map(|_| Err("it was not read from a file".to_owned()))
            .collect();
    };
    let found = match source {
        Source::File(path) | Source::Part(Part { path, .. }) => {
            formats::raw_spots(path, origin, &spots, control)
        }
        Source::Sample(place) => match samples::ALL.get(*place) {
            Some(sample) => formats::raw_spots_in(sample.text.as_bytes(), &spots, control),
            None => Err(std::io::Error::other("there is no such sample")),
        },
        Source::Bytes { bytes, .. } => formats::raw_spots_in(bytes, &spots, control),
    };
    let say = |spot: &Spot, error: std::io::Error| match source {
        Source::File(path) | Source::Part(Part { path, .. }) => {
            format!("{}, {}: {error}", path.display(), spot.text(origin))
        }
        Source::Sample(_) | Source::Bytes { .. } => error.to_string(),
    };
    match found {
        Ok(texts) => spots
            .iter()
            .zip(texts)
            .map(|(spot, text)| text.map_err(|error| say(spot, error)))
            .collect(),
        Err(error) => spots
            .iter()
            .take(1)
            .map(|spot| Err(say(spot, std::io::Error::other(error.to_string()))))
            .collect(),
    }
}
