//! IsoScope's own JSON.
//!
//! ```json
//! {"schema": "isoscope.history/1",
//!  "initial": 0,
//!  "sessions": [
//!    {"name": "a",
//!     "transactions": [
//!       {"id": 7, "outcome": "committed", "start": 10, "end": 20,
//!        "operations": [["r", "x", 3], ["w", "x", 4], ["r", "y", null], ["r", "z"]]}]}]}
//! ```
//!
//! | field | meaning | when absent |
//! |---|---|---|
//! | `schema` | always `isoscope.history/1`; comes before fields not listed here | error |
//! | `initial` | the value that reads as the initial version where no transaction writes it; `null` for none | none |
//! | `predicates` | by name the rows, as pairs of key and value, that match a predicate; before `sessions` | none |
//! | `sessions` | in any order | error |
//! | `incidents` | what happened to the system, in order: `what`, and perhaps `time` and `detail` | none |
//! | `name` | of a session, before its transactions; each session has its own | its place in the array, from 0 |
//! | `node` | of a session, before its transactions: the server it used | not recorded |
//! | `transactions` | in session order | none |
//! | `id` | a number 7 is shown as T7, a string as it is | shown as session and place |
//! | `outcome` | `committed`, `aborted` or `unknown` | `committed` |
//! | `start`, `end` | when it ran, integers of 64 bits, both or neither | not recorded |
//! | `set_up` | `true` where what the transaction writes are the initial versions of its keys | `false` |
//! | `operations` | in program order: letter, key, value | none |
//!
//! | operation | meaning |
//! |---|---|
//! | `["w", "x", 3]` | wrote 3 |
//! | `["r", "x", 3]` | read 3 |
//! | `["r", "x", null]` | read the initial version |
//! | `["r", "x"]` | read something that was not recorded |
//! | `["n", "x", 3]` | read something that was not 3 (or, with `null`, not the initial version) |
//! | `["a", "x", 3]` | appended 3 to the list x |
//! | `["r", "x", [1, 2, 3]]` | read a whole list |
//! | `["i", "x", 3]` | inserted the row x: a write |
//! | `["d", "x"]` | deleted the row x |
//! | `["r", "x", {"absent": true}]` | found no row x |
//! | `["s", {}, {"rows": [["x", 1], ["y", 2]]}]` | a scan of all keys returned exactly these rows |
//! | `["s", {"where": ["mod", 3, 1]}, {"keys": ["x"]}]` | exactly these keys have values like this |
//! | `["s", {"table": "orders"}, {"rows": [[17, 1]]}]` | exactly this row, whose key is `orders/17`, is in the table |
//!
//! A key with `a` or a list holds lists; `w` appends to such a key, too. With one of the others keys are rows: absent at
//! first, and `initial` does not matter. Predicates are `["true"]`, `["=", value]`, `["<", integer]`, `["mod", divisor, remainder]`,
//! `["key", first, last]` (both included, either may be null), `["key in", key, …]`, `["and", p, p]`, `["not", p]` and
//! `["named", name]`. Names, keys and values are strings or
//! integers. **A number and its string are two keys and two values**: `5` is called 5 and `"5"` is called `"5"`, with
//! quotes, as in EDN; other strings are called by their content. For sessions and transactions `1` and `"1"` name the
//! same. Other fields are skipped. The schema can say everything that a [`History`](isoscope_model::history::History) can hold
//! once failed statements are settled, so writing loses nothing but their marks; the writer uses one line per
//! transaction.
//!
//! The text is read in one pass: memory is only needed for the history. [`HistoryFile`] describes it for programs.

mod read;
mod scan;
#[cfg(feature = "schema")]
mod schema;
mod write;

#[cfg(feature = "schema")]
pub use schema::HistoryFile;

use super::{Format, Input, Likelihood};

/// The row of the table.
pub const FORMAT: Format = Format::file(
    "json",
    &["isoscope-json"],
    &["json"],
    sniff,
    read::read,
    write::write,
);

/// The first field of every file.
const SCHEMA: &str = "isoscope.history/1";

fn sniff(input: &Input<'_>) -> Likelihood {
    let head = input.head().trim_ascii_start();
    let Some(inside) = head.strip_prefix(b"{") else {
        return Likelihood::No;
    };
    match inside.trim_ascii_start().first() {
        _ if memchr::memmem::find(head, SCHEMA.as_bytes()).is_some() => Likelihood::Certain,
        None | Some(b'"' | b'}') => Likelihood::Perhaps,
        Some(_) => Likelihood::No,
    }
}

#[cfg(test)]
mod tests;
