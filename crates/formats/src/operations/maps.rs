//! Logs whose entries are maps of fields, in EDN or JSON.

use super::{Operations, Tree};
use crate::Input;
use crate::elle::Scanner;
use crate::error::ReadError;
use crate::watch::Watch;
use isoscope_model::control::Control;

/// The fields of an entry, in the order of the file.
pub(crate) type Fields<'a> = Vec<(Tree<'a>, Tree<'a>)>;

/// What takes the entries of a file one after the other.
pub(crate) trait Taker<'a, const JSON: bool> {
    /// Why it goes no further.
    type Error: From<ReadError>;

    fn scan(&mut self) -> &mut Scanner<'a, JSON>;

    /// Takes an entry, or fails if none is next.
    fn take(&mut self) -> Result<(), Self::Error>;

    /// Notes something to say about the file.
    fn remark(&mut self, remark: String);
}

/// Takes all entries of a file: one after the other, or within vectors or lists. Only the first array of JSON counts.
pub(crate) fn take_all<'a, const JSON: bool, T: Taker<'a, JSON>>(
    taker: &mut T,
    control: &Control,
) -> Result<(), T::Error> {
    let watch = Watch::new(taker.scan().format(), control, 0);
    loop {
        taker.scan().blanks()?;
        let close = match taker.scan().peek() {
            None => return Ok(()),
            Some(_) if taker.scan().at_sequence() => taker.scan().open(),
            Some(_) => None,
        };
        let Some(close) = close else {
            watch.at(taker.scan().at())?;
            taker.take()?;
            continue;
        };
        let mut first = true;
        while taker.scan().more(close, &mut first)? {
            watch.at(taker.scan().at())?;
            taker.take()?;
        }
        if JSON {
            taker.scan().blanks()?;
            if taker.scan().peek().is_some() {
                let line = taker.scan().line();
                taker.remark(format!(
                    "Only the first JSON array is read; what follows from line {line} on is not."
                ));
            }
            return Ok(());
        }
    }
}

/// The operations of a file.
pub(crate) fn read<'a, const JSON: bool>(
    input: &Input<'a>,
    format: &'static str,
    bytes: &'a [u8],
    control: &Control,
) -> Result<Operations<'a>, ReadError> {
    read_by::<JSON>(input, format, bytes, control, &mut Operations::take)
}

/// How operations are made of the fields of an entry and the line of its value. An error says what is wrong with it.
type Take<'t, 'a> = &'t mut dyn FnMut(&mut Operations<'a>, Fields<'a>, u32) -> Result<(), String>;

/// The operations of a file whose entries are taken in this way.
pub(crate) fn read_by<'a, const JSON: bool>(
    input: &Input<'a>,
    format: &'static str,
    bytes: &'a [u8],
    control: &Control,
    by: Take<'_, 'a>,
) -> Result<Operations<'a>, ReadError> {
    let mut maps = Maps {
        scan: Scanner::<JSON>::new(format, bytes),
        operations: Operations::of(input),
        by,
    };
    // Growing would copy them, and touch twice the memory.
    let n_events = bytes.len() / BYTES_OF_ONE;
    maps.operations.events.reserve(n_events);
    take_all(&mut maps, control)?;
    Ok(maps.operations)
}

/// About as many bytes as an operation has.
const BYTES_OF_ONE: usize = 96;

struct Maps<'t, 'a, const JSON: bool> {
    scan: Scanner<'a, JSON>,
    operations: Operations<'a>,
    by: Take<'t, 'a>,
}

impl<'a, const JSON: bool> Taker<'a, JSON> for Maps<'_, 'a, JSON> {
    type Error = ReadError;

    fn scan(&mut self) -> &mut Scanner<'a, JSON> {
        &mut self.scan
    }

    fn take(&mut self) -> Result<(), ReadError> {
        if self.scan.peek() != Some(b'{') {
            return self.scan.fail(if JSON {
                "an operation like {\"type\": \"invoke\", …}"
            } else {
                "an operation like {:type :invoke, …}"
            });
        }
        let mut line = self.scan.line();
        let mut fields = Vec::new();
        let mut first = true;
        let close = self.scan.open().unwrap_or(b'}');
        while self.scan.more(close, &mut first)? {
            let name = self.scan.tree()?;
            if JSON {
                self.scan.close(b':')?;
            }
            self.scan.blanks()?;
            if name.word() == Some("value") {
                line = self.scan.line();
            }
            fields.push((name, self.scan.tree()?));
        }
        let taken = (self.by)(&mut self.operations, fields, line);
        taken.or_else(|message| self.scan.fail_line(line, message))
    }

    fn remark(&mut self, remark: String) {
        self.operations.around.remarks.push(remark);
    }
}
