//! Lines of a stream.

use crate::follow::keep::kept;

/// Lines with their numbers, from 1.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) bytes: Vec<u8>,
    pub(super) numbers: Vec<u32>,
}

impl Lines {
    pub(super) fn push(&mut self, number: u32, line: &[u8]) {
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
        self.numbers.push(number);
    }

    pub(super) fn append(&mut self, other: &Lines) {
        self.bytes.extend_from_slice(&other.bytes);
        self.numbers.extend_from_slice(&other.numbers);
    }

    /// The number of a line of these in the stream.
    pub(super) fn number(&self, line: u32) -> u32 {
        let place = (line as usize).checked_sub(1);
        place
            .and_then(|place| self.numbers.get(place))
            .copied()
            .unwrap_or(0)
    }

    /// The number of the first one.
    pub(super) fn first(&self) -> i64 {
        self.numbers.first().map_or(0, |&line| i64::from(line))
    }

    /// The number of the last one.
    pub(super) fn last(&self) -> u32 {
        self.numbers.last().copied().unwrap_or(0)
    }
}

kept!(Lines { bytes, numbers });

/// A line without the carriage return that some files have before each line feed.
pub(super) fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
