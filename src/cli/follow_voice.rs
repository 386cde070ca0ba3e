//! Says what a follower finds, in words or as JSON.

use super::output::{Output, codes};
use super::{ExitCode, follow_text};
use crate::checkers::Level;
use crate::follow::{FOLLOWED, Options};
use crate::report::{Followed, FollowedEnd, FollowedEvent, Progress};
use std::io::{IsTerminal, Write};

/// The levels asked for, if all can be followed.
pub(super) fn levels(asked: &[Level]) -> anyhow::Result<Vec<Level>> {
    if let Some(other) = asked.iter().find(|level| !FOLLOWED.contains(level)) {
        anyhow::bail!("{other} cannot be followed, only {}", codes(FOLLOWED));
    }
    Ok(if asked.is_empty() {
        Options::default().levels
    } else {
        asked.to_vec()
    })
}

/// The exit code of the last answers.
pub(super) fn exit_code(end: &FollowedEnd) -> ExitCode {
    ExitCode::worst(end.levels.iter().map(|level| level.verdict))
}

/// Says what happens, in words or as JSON.
pub(super) struct Voice<'a> {
    is_json: bool,
    /// What was said last about the progress.
    last: FollowedEvent,
    /// All else that was said.
    pub(super) said: Vec<Followed>,
    out: &'a mut Output,
}

impl<'a> Voice<'a> {
    pub(super) fn new(is_json: bool, out: &'a mut Output) -> Voice<'a> {
        Voice {
            is_json,
            last: FollowedEvent::Progress(Progress::default()),
            said: Vec::new(),
            out,
        }
    }

    pub(super) fn say(&mut self, event: FollowedEvent) {
        let followed = Followed::new(event);
        match (&followed.event, self.is_json) {
            (_, true) => self.out.with(|out| followed.to_line(out)),
            (FollowedEvent::Violation(found), _) => {
                self.clear_progress();
                self.out.text(&follow_text::violation(found, self.out));
            }
            (FollowedEvent::End(end), _) => {
                self.clear_progress();
                self.out.text(&follow_text::end(end, self.out));
            }
            (FollowedEvent::Progress(_) | FollowedEvent::Answer(_), _) => {}
        }
        if !matches!(followed.event, FollowedEvent::Progress(_)) {
            self.said.push(followed);
        }
    }

    /// Says how far it is: in words, on standard error.
    pub(super) fn progress(&mut self, event: FollowedEvent) {
        let is_news = event != self.last;
        self.last = event.clone();
        let mut err = std::io::stderr();
        let text = match &event {
            FollowedEvent::Progress(progress) if !self.is_json => follow_text::progress(progress),
            _ if is_news => return self.say(event),
            _ => return,
        };
        // If this cannot be written, there is nowhere to say so.
        let _ = match err.is_terminal() {
            true => write!(err, "\r\u{1b}[K\u{1b}[?7l{text}\u{1b}[?7h").and_then(|()| err.flush()),
            false if is_news => writeln!(err, "{text}"),
            false => Ok(()),
        };
    }

    fn clear_progress(&self) {
        let mut err = std::io::stderr();
        if err.is_terminal() && !self.is_json {
            let _ = write!(err, "\r\u{1b}[K").and_then(|()| err.flush());
        }
    }
}
