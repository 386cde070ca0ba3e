//! Progress of a reader, and whether it is to stop.

use super::ReadError;
use isoscope_model::control::Control;
use std::cell::Cell;

/// Tells the control now and then how far a reader is, and asks it whether to go on.
pub(super) struct Watch<'a> {
    format: &'static str,
    control: &'a Control,
    /// The byte from which it tells again.
    next: Cell<usize>,
    /// The byte up to which it has reported.
    reported: Cell<usize>,
}

impl<'a> Watch<'a> {
    /// Bytes from one time to the next.
    pub(super) const EVERY: usize = 1 << 16;

    /// Tells and asks for the first time at the byte `first` or the next that is seen.
    pub(super) fn new(format: &'static str, control: &'a Control, first: usize) -> Watch<'a> {
        Watch {
            format,
            control,
            next: Cell::new(first),
            reported: Cell::new(0),
        }
    }

    /// The reader is at this byte. Errors: it is to stop.
    #[inline]
    pub(super) fn at(&self, byte: usize) -> Result<(), ReadError> {
        if byte < self.next.get() {
            return Ok(());
        }
        self.next.set(byte + Watch::EVERY);
        self.control
            .advance((byte - self.reported.replace(byte)) as u64);
        self.control
            .check()
            .map_err(|interrupt| ReadError::whole(self.format, interrupt))
    }
}
