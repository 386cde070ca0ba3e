//! Our own notation, one line per session: for tests, samples, bug reports and histories written by hand.
//!
//! ```text
//! # A lost update: both read the initial x.
//! a: [r x 0, w x 1]
//! b: [r x 0, w x 2] [r x 2]!
//! ```
//!
//! Grammar; blanks (spaces and tabs) may appear between any two tokens, a line ends with LF or CR LF:
//!
//! ```text
//! history     = { line }
//! line        = [ session [ "@" node ] ":" { transaction } | "initial" ":" ( "none" | value )
//!                 | "predicate" name ":" [ key value { "," key value } ]
//!                 | "!" incident [ detail ] [ "@" time ] ] [ "#" anything ]
//! transaction = [ label ] "[" [ operation { "," operation } ] "]" [ "*" ] [ "!" | "?" ] [ "@" start ".." end ]
//! operation   = "w" key value | "a" key value | "r" key ( value | "init" | "?" | list ) | "n" key ( value | "init" )
//!                 | "i" key value | "d" key | "r" key "absent" | "s" [ table ] [ "(" predicate ")" ] result
//! list        = "[" { value } "]"
//! result      = "{" [ key value { "," key value } ] "}" | "keys" "{" [ key { "," key } ] "}"
//! predicate   = part { "and" part }
//! part        = "v" "=" value | "v" "<" integer | "v" "mod" integer "=" integer | "key" first ".." last
//!                 | "key" "in" { key } | "not" part | "(" predicate ")" | "true" | name
//! session, node, label, key, value, incident, detail = bare | quoted
//! bare        = one or more characters, none of them a blank, a control character or one of []{}(),:;#!?@"\
//! quoted      = a string as in JSON, for names that cannot be bare (and for a session called "initial")
//! start, end, time = integer, 64 bits, may be negative
//! ```
//!
//! - `!` marks an aborted transaction, `?` one of unknown outcome; the others committed.
//! - `*` marks a transaction that set up the initial state: what it writes are the initial versions of its keys. A
//!   label that begins with `*` must be quoted.
//! - `r x init` read the initial version, `r x ?` read something that was not recorded. `n x 3` read something that was
//!   not 3; nothing else is known about it.
//! - `a x 3` appended 3 to the list x, `r x [1 2 3]` read a whole list, `r x []` an empty one. A key with one of these
//!   holds lists; `w` appends to such a key, too.
//! - **Rows**: `i x 1` inserted the row x (a write, like `w`), `d x` deleted it, `r x absent` found none. `s {x 1, y 2}` is a
//!   scan that returned exactly these rows, `s (v mod 3 = 1) {x 1}` exactly these of the rows whose values are like this,
//!   `s keys {x}` only keys. `s orders {17 1}` scanned the rows of a table, whose keys are `orders/17`, …; without a table a
//!   scan is of all keys. A predicate of the value or key is unknown where it makes no sense, and does not match then. Both
//!   ends of a range of keys belong to it, either may be missing; integers come before strings. A line `predicate p: x 1, y
//!   2`, above its first use, lists what matches `p`. A table called `keys` and a value `absent` are quoted. In a file with any of these a row is absent at first, and `initial` does not matter.
//! - **0 is the initial value** where no transaction writes it, as in Plume's text, unless a line says `initial: none`
//!   or names another value. The line may appear anywhere.
//! - A session may have several lines: its transactions follow each other in the order of the file. A line without
//!   transactions makes a session without any. `[]` is a transaction without operations.
//! - A bare name that is a number in its usual form is that number. **A key or a value in quotes is a string**, so `5`
//!   and `"5"` differ, while `x` and `"x"` are the same. Quotes do not matter for sessions and labels: `1` and `"1"`
//!   name the same session. A label `T7` numbers the transaction 7. Transactions without a label are named after their
//!   session and place: `a1`, `a2`.
//! - `7@standby:` says that the session 7 ran on the node standby. A line `! kill "the primary" @15` says what happened to
//!   the system at that time. No verdict depends on either.
//! - `@ 10..20` says when the transaction began and ended.
//!
//! The notation can say everything that a [`History`] can hold once failed statements are settled, so writing loses
//! nothing but their marks.

mod read;
mod scan;
mod write;

use super::{Format, Input, Likelihood, Problem, ReadError};
use isoscope_model::control::Control;
use isoscope_model::history::History;
use read::Parser;

/// The row of the table.
pub const FORMAT: Format = Format::file(
    "text",
    &["isoscope-text"],
    &["txt", "history"],
    sniff,
    read,
    write::write,
);

fn sniff(input: &Input<'_>) -> Likelihood {
    let Some(line) = input.head_lines().find(|line| {
        !line.starts_with(b"#") && !line.starts_with(b"!") && !line.starts_with(b"predicate ")
    }) else {
        return if input.head_lines().next().is_some() {
            Likelihood::Perhaps
        } else {
            Likelihood::No
        };
    };
    // A quoted session name may contain a colon; the first one is good enough for a guess.
    let Some(colon) = line.iter().position(|&b| b == b':') else {
        return Likelihood::No;
    };
    let (session, rest) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
    let named = !session.is_empty()
        && (session.starts_with(b"\"") || session.iter().all(|&b| is_bare(b) || b == b'@'));
    match rest.contains(&b'[') || session == b"initial" {
        _ if !named => Likelihood::No,
        true => Likelihood::Likely,
        false if rest.is_empty() || rest.starts_with(b"#") => Likelihood::Perhaps,
        false => Likelihood::No,
    }
}

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    control.phase("reading", input.bytes().len() as u64);
    let parser = Parser::new(input, control);
    let history = parser.history()?;
    if history.n_sessions() == 0 {
        return Err(ReadError::whole(FORMAT.name, Problem::Empty));
    }
    Ok(history)
}

/// Reads this notation from memory; the empty text is the empty history.
pub fn parse(text: &str) -> Result<History, ReadError> {
    Parser::new(&Input::new("", text.as_bytes()), &Control::new()).history()
}

/// Whether a byte may be part of a bare name. Characters beyond ASCII may.
#[inline]
fn is_bare(byte: u8) -> bool {
    BARE[byte as usize]
}

/// By byte: whether it may be part of a bare name.
static BARE: [bool; 256] = {
    let mut bare = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        bare[byte] = byte >= 0x80 || ((byte as u8).is_ascii_graphic() && !is_mark(byte as u8));
        byte += 1;
    }
    bare
};

const fn is_mark(byte: u8) -> bool {
    matches!(
        byte,
        b'[' | b']'
            | b'{'
            | b'}'
            | b'('
            | b')'
            | b','
            | b':'
            | b';'
            | b'#'
            | b'!'
            | b'?'
            | b'@'
            | b'"'
            | b'\\'
    )
}

#[cfg(test)]
mod tests;
