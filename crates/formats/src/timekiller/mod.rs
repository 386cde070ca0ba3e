//! The JSON of TimeKiller, which is Chronos and Aion (FertileFragrance/TimeKiller: README.md, src/main/java/reader).
//!
//! ```text
//! history     = [ transaction, … ]
//! transaction = { "tid": name, "sid": name, "sts": stamp, "cts": stamp, "ops": [ operation, … ] }
//! stamp       = { "p": integer, "l": integer }              p may be a string
//! operation   = { "t": "w" | "r", "k": key, "v": value }    or "write", "read", in any case
//!             | { "t": "a", "k": key, "v": element } | { "t": "r", "k": key, "v": [ element, … ] }
//!
//! [{"tid": 67, "sid": 19, "sts": {"p": 1691420095436341, "l": 61}, "cts": {"p": 1691420095659914, "l": 18},
//!   "ops": [{"t": "w", "k": 7, "v": 2}, {"t": "r", "k": 8, "v": null}]}]
//! ```
//!
//! - A file holds registers or lists, which TimeKiller gets as an argument. Here the first operation other than a read of `null`
//!   tells which.
//! - A read of `null`, or without a value, found the initial version or the empty list. No number is initial.
//! - The transactions of a session are in session order: TimeKiller requires that, and then checks whether the
//!   timestamps agree. So the order of the file counts, not that of the timestamps.
//! - All transactions committed.
//! - The start timestamp (`sts`) and the commit timestamp (`cts`) are the beginning and end of a transaction, as the
//!   database sees it. They are hybrid: `p` is compared first, then `l`. A time is `p · (L + 1) + l`, where L is the
//!   largest `l` of the file, which keeps order and distance and is `p` itself where there are no logical parts. Where
//!   that exceeds 64 bits it is the rank among all timestamps of the file, which keeps the order.

mod read;
mod write;

use super::{Format, Input, Likelihood};

/// The row of the table.
pub const FORMAT: Format = Format::file(
    "timekiller",
    &["chronos"],
    &["json"],
    sniff,
    read::read,
    write::write,
);

fn sniff(input: &Input<'_>) -> Likelihood {
    let head = input.head().trim_ascii_start();
    let begins = head
        .strip_prefix(b"[")
        .is_some_and(|rest| rest.trim_ascii_start().starts_with(b"{"));
    let says = |field: &str| memchr::memmem::find(head, field.as_bytes()).is_some();
    match begins {
        true if says("\"sts\"") || says("\"cts\"") || (says("\"ops\"") && says("\"t\"")) => {
            Likelihood::Likely
        }
        _ => Likelihood::No,
    }
}

#[cfg(test)]
mod tests;
