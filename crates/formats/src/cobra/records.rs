//! Bytes → records, with a check of their order.

use crate::Problem;
use isoscope_model::control::Control;

/// A record of a log. Times are there if the logs have any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record {
    Start {
        id: i64,
        time: Option<i64>,
    },
    Write {
        write: i64,
        key: i64,
        value: i64,
    },
    Read {
        writer: i64,
        write: i64,
        key: i64,
        value: i64,
    },
    End {
        committed: bool,
        time: Option<i64>,
    },
}

/// How a log ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// With the end of a transaction, or without any.
    Complete,
    /// Inside a transaction, with or without a piece of a record.
    Open,
    /// With a piece of the record that begins a transaction.
    Begun,
}

/// The first place where the bytes are not a valid log.
#[derive(Debug)]
pub(super) struct Bad {
    /// From 0.
    pub(super) byte: usize,
    /// Number of valid records before it.
    pub(super) records: usize,
    pub(super) problem: Problem,
}

/// Bytes between two checks of the control.
const BYTES_PER_CHECK: usize = 1 << 16;

/// Passes the records of a log to `visit`, each with the byte at which it begins. Operations only come between the
/// start and the end of a transaction. A record cut off by the end of the file is not passed. O(bytes).
pub(super) fn walk(
    bytes: &[u8],
    timed: bool,
    control: &Control,
    mut visit: impl FnMut(usize, Record),
) -> Result<Ending, Bad> {
    let mut open: Option<i64> = None;
    let mut at = 0;
    let mut records = 0;
    let mut next_check = 0;
    while let Some(&tag) = bytes.get(at) {
        if at >= next_check {
            control.check().map_err(|interrupt| Bad {
                byte: at,
                records,
                problem: interrupt.into(),
            })?;
            next_check = at + BYTES_PER_CHECK;
        }
        let numbers = match (tag, open) {
            (b'S', None) => 1 + usize::from(timed),
            (b'C' | b'A', Some(_)) => 1 + usize::from(timed),
            (b'W', Some(_)) => 3,
            (b'R', Some(_)) => 4,
            _ => {
                let expected = match open {
                    None => "`S` for the start of a transaction",
                    Some(_) => "`R`, `W`, or `C` for the end of the transaction",
                };
                return Err(Bad {
                    byte: at,
                    records,
                    problem: Problem::Expected {
                        expected,
                        found: shown(tag),
                    },
                });
            }
        };
        let Some(fields) = bytes.get(at + 1..at + 1 + 8 * numbers) else {
            return Ok(if open.is_some() {
                Ending::Open
            } else {
                Ending::Begun
            });
        };
        let number = |place: usize| match fields[8 * place..].first_chunk() {
            Some(&field) => i64::from_be_bytes(field),
            None => 0,
        };
        let time = timed.then(|| number(1));
        let record = match tag {
            b'S' => {
                open = Some(number(0));
                Record::Start {
                    id: number(0),
                    time,
                }
            }
            b'W' => Record::Write {
                write: number(0),
                key: number(1),
                value: number(2),
            },
            b'R' => Record::Read {
                writer: number(0),
                write: number(1),
                key: number(2),
                value: number(3),
            },
            _ => {
                if let Some(id) = open.take_if(|id| *id != number(0)) {
                    let found = format!("`{}` of transaction {}", char::from(tag), number(0));
                    let problem =
                        Problem::Other(format!("transaction {id} is open, found {found}"));
                    return Err(Bad {
                        byte: at,
                        records,
                        problem,
                    });
                }
                open = None;
                Record::End {
                    committed: tag == b'C',
                    time,
                }
            }
        };
        visit(at, record);
        records += 1;
        at += 1 + 8 * numbers;
    }
    Ok(if open.is_some() {
        Ending::Open
    } else {
        Ending::Complete
    })
}

/// A byte, for messages.
fn shown(byte: u8) -> String {
    if byte.is_ascii_graphic() {
        format!("`{}`", char::from(byte))
    } else {
        format!("the byte {byte:#04x}")
    }
}
