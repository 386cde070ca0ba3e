//! The origin of a history, down to the line of an operation.

use super::{SessionId, visible};
use chrono::{DateTime, TimeDelta};

/// What the numbers of [`History::line_of`](super::History::line_of) count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Lines, from 1.
    #[default]
    Line,
    /// Bytes: the number is the 0-based offset plus one.
    Byte,
}

/// What begins a line of [`Origin::about`] that says which levels the database claims, before a colon.
pub const LEVEL_CLAIMED: &str = "level claimed";

/// What begins a line of [`Origin::about`] that says what was tested, before a colon.
pub const TESTED: &str = "tested";

/// What begins a line of [`Origin::about`] that says when the recording began, as Jepsen writes it.
const BEGAN: &str = "started: ";

/// The origin of a history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The path as given by the user; empty for a history made in memory.
    pub path: String,
    /// Name of the format, a row of the table in `formats`.
    pub format: &'static str,
    /// The unit of the operations' positions.
    pub unit: Unit,
    /// Names of the files that the history was read from, if it is a folder or archive of several; else empty.
    pub parts: Vec<String>,
    /// By session: its place in `parts`. Empty if `parts` is.
    pub part_of_session: Vec<u32>,
    /// What accompanying files say about it, a line each: `nodes: n1 n2`.
    pub about: Vec<String>,
    /// Whether times are positions in the order of the recorded events, since the file has no usable clock.
    pub times_are_events: bool,
    /// Whether some transactions have no session in the file, and count as those of one.
    pub lacks_sessions: bool,
    /// The time from which times are shown, in ticks: 0 where the file counts from about the start of the recording, else the
    /// first time that it has.
    pub zero: i64,
}

/// A file whose first time is at most so many times as large as the recording is long counts from its start.
const FROM_START: i64 = 10;

impl Origin {
    /// Length of a tick of the transactions' clock in seconds, where the format defines it.
    pub fn seconds_per_tick(&self) -> Option<f64> {
        match self.format {
            "elle-edn" | "elle-json" | "jepsen-blocks" | "tipocket" if !self.times_are_events => {
                Some(1e-9)
            }
            "cobra" => Some(1e-3),
            _ => None,
        }
    }

    /// The time from which those of a recording from `first` to `last` are shown.
    pub(super) fn zero(first: i64, last: i64) -> i64 {
        let is_from_start =
            first >= 0 && first <= last.saturating_sub(first).max(1).saturating_mul(FROM_START);
        if is_from_start { 0 } else { first }
    }

    /// A time of the file as it is shown: `8.73 s`, or `+8.73 s` if it is not counted from 0.
    pub fn time(&self, at: i64) -> String {
        let since = at.saturating_sub(self.zero);
        let sign = if since < 0 {
            "−"
        } else if self.zero != 0 {
            "+"
        } else {
            ""
        };
        format!("{sign}{}", self.duration(since.unsigned_abs() as f64))
    }

    /// A time of the file by the clock of the machine, in UTC: `2026-01-02 10:00:01.123`. None where nothing says when the
    /// recording began.
    pub fn wall(&self, at: i64) -> Option<String> {
        let tick = self.seconds_per_tick()?;
        let mut lines = self.about.iter();
        let began = lines.find_map(|line| line.strip_prefix(BEGAN))?;
        let began = DateTime::parse_from_str(began, "%Y%m%dT%H%M%S%.f%#z").ok()?;
        let since = TimeDelta::nanoseconds((at as f64 * tick * 1e9) as i64);
        let moment = began.checked_add_signed(since)?.to_utc();
        Some(moment.format("%Y-%m-%d %H:%M:%S%.3f").to_string())
    }

    /// A length of time in ticks as it is shown: `1.5 ms`; a plain number where the format defines no unit.
    pub fn duration(&self, ticks: f64) -> String {
        let Some(seconds) = self.seconds_per_tick().map(|tick| ticks * tick) else {
            return super::grouped(ticks.max(0.0) as u64);
        };
        let units = [
            (1e-6, 1e-9, "ns"),
            (1e-3, 1e-6, "µs"),
            (1.0, 1e-3, "ms"),
            (f64::INFINITY, 1.0, "s"),
        ];
        let (_, unit, name) = units
            .into_iter()
            .find(|(below, ..)| seconds < *below)
            .unwrap_or(units[3]);
        let number = seconds.max(0.0) / unit;
        let text = if number >= 100.0 {
            super::grouped(number.round() as u64)
        } else {
            format!("{number:.2}")
        };
        let text = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        format!("{text} {name}")
    }

    /// The file in the folder that a session was read from, if there are several.
    pub fn part_of_session(&self, session: SessionId) -> Option<u32> {
        self.part_of_session.get(session.index()).copied()
    }

    /// The name of a part.
    pub fn part_name(&self, part: u32) -> &str {
        self.parts.get(part as usize).map_or("", String::as_str)
    }
}

/// The file and position of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The file, a place in [`Origin::parts`]; `None` if there is only one.
    pub part: Option<u32>,
    /// The unit of `number`.
    pub unit: Unit,
    /// As [`History::line_of`](super::History::line_of).
    pub number: u32,
    /// Of a line that holds many transactions of a session, the place of this one among them, from 1; 0 where it holds few.
    /// Of bytes, the place of the operation in its transaction, from 1, in the upper half, and in the lower one how many
    /// the transaction has.
    pub within: u32,
}

impl Spot {
    /// The largest place within a transaction that is told from others.
    pub(super) const MOST: usize = 0xffff;

    /// In words: `line 12`; `line 1, transaction 15` where a line holds several; `operation 7 of 20` of its transaction in a
    /// file that has no lines; `T3.log operation 7 of 20`.
    pub fn text(self, origin: &Origin) -> String {
        let place = match (self.unit, self.within) {
            (Unit::Line, 0) => format!("line {}", self.number),
            (Unit::Line, nth) => format!("line {}, transaction {nth}", self.number),
            (Unit::Byte, 0) => format!("byte {}", self.number - 1),
            (Unit::Byte, within) => format!("operation {} of {}", within >> 16, within & 0xffff),
        };
        match self.part {
            Some(part) => format!("{} {place}", visible(origin.part_name(part))),
            None => place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_as_in_the_file_unless_it_counts_from_long_ago() {
        let shown = |format, first, last, at| {
            Origin {
                format,
                zero: Origin::zero(first, last),
                ..Origin::default()
            }
            .time(at)
        };
        assert_eq!(
            shown("elle-edn", 20_000_000, 9_000_000_000, 8_730_000_000),
            "8.73 s"
        );
        assert_eq!(shown("text", 100, 140, 130), "130");
        let epoch = 1_700_000_000_000_000_000;
        assert_eq!(
            shown(
                "elle-edn",
                epoch,
                epoch + 9_000_000_000,
                epoch + 8_730_000_000
            ),
            "+8.73 s"
        );
        assert_eq!(
            shown("elle-edn", epoch, epoch + 9_000_000_000, epoch - 1_000_000),
            "−1 ms"
        );
    }

    #[test]
    fn the_clock_of_the_machine_is_known_where_the_test_says_when_it_began() {
        let mut origin = Origin {
            format: "elle-edn",
            about: vec!["started: 20260102T100000.500+0100".to_owned()],
            ..Origin::default()
        };
        let wall = origin.wall(1_000_000_000);
        assert_eq!(wall.as_deref(), Some("2026-01-02 09:00:01.500"));
        origin.about = vec!["started: 20260102T100000.000Z".to_owned()];
        assert_eq!(origin.wall(0).as_deref(), Some("2026-01-02 10:00:00.000"));
        origin.about = vec!["started: yesterday".to_owned()];
        assert_eq!(origin.wall(0), None);
    }
}
