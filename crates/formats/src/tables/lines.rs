//! One operation a line, or an array of them, in JSON: each entry is a whole call.
//!
//! ```json
//! {"client": "c1", "op": "write", "key": "k", "value": "a", "start": 10, "end": 20, "node": "n1"}
//! {"client": "c2", "op": "read", "key": "k", "value": null, "start": 30, "end": 40, "outcome": "ok"}
//! ```
//!
//! | field, or a synonym | |
//! |---|---|
//! | `op`, `f`, `operation` | what was done: `read` (`r`), `write` (`w`), `cas`, or the word of another workload |
//! | `key`, `k`, `register` | the key; without one there is a single register |
//! | `value`, `val` | what was written or read; nothing is the absent value |
//! | `client`, `process`, `session`, `thread` | the session, a number or a name |
//! | `start`, `call`; `end`, `return` | integers, in any unit, or seconds like `12.5`; without any there is no real time |
//! | `outcome` | `committed` (`ok`), `aborted` (`fail`), `unknown` (`info`); where it is missing, `unknown` with an `error` or without an `end`, else `committed` |
//!
//! What a field that is not known might say is never passed over: where no field names a key or an outcome and one of
//! another name may, the file is refused, and the error says how to name it.

use crate::elle::Scanner;
use crate::operations::{Operations, Refusal, Stage, meaning_of, read_by};
use crate::{Format, Input, Likelihood, Problem, ReadError, workloads};
use isoscope_model::control::Control;
use isoscope_model::history::{History, Vocabulary};

/// The row of the table.
pub const FORMAT: Format = Format {
    name: "operations",
    aliases: &["json-lines", "ndjson"],
    extensions: &["ndjson", "jsonl", "json"],
    part_name: None,
    sniff,
    read,
    write: None,
};

fn sniff(input: &Input<'_>) -> Likelihood {
    let vocabulary = input.vocabulary();
    let Some((fields, are_all)) = first_fields(input.head(), &vocabulary) else {
        return Likelihood::No;
    };
    let has = |what: &str| fields.contains(&what);
    let is_operation = has("f") && !has("stage");
    match (is_operation, has("key") || has("value"), are_all) {
        (true, true, true) => Likelihood::Certain,
        // The type of an event may follow.
        (true, true, false) => Likelihood::Likely,
        (true, false, _) => Likelihood::Perhaps,
        (false, _, _) => Likelihood::No,
    }
}

/// What the fields of the first object are about, `stage` for the type of an event, and whether it ends in the head.
fn first_fields(head: &[u8], vocabulary: &Vocabulary) -> Option<(Vec<&'static str>, bool)> {
    let mut scan = Scanner::<true>::new("", head);
    let close = scan.open_first_map()?;
    let (mut fields, mut first) = (Vec::new(), true);
    loop {
        match scan.more(close, &mut first) {
            Ok(true) => {}
            ended => return Some((fields, ended.is_ok())),
        }
        let (Ok(Some(name)), Ok(value)) = (scan.field(), scan.tree()) else {
            return Some((fields, false));
        };
        match meaning_of(name, vocabulary) {
            Some("type") if value.word().and_then(Stage::named).is_some() => fields.push("stage"),
            Some(what) => fields.push(what),
            None => {}
        }
    }
}

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let bytes = crate::without_mark(input.bytes());
    control.phase("reading", bytes.len() as u64);
    let by = &mut Operations::take_call;
    let operations = read_by::<true>(input, FORMAT.name, bytes, control, by)?;
    finish(operations, input, FORMAT.name, control)
}

/// The history of operations, all taken as whole calls.
pub(crate) fn finish(
    mut operations: Operations<'_>,
    input: &Input<'_>,
    format: &'static str,
    control: &Control,
) -> Result<History, ReadError> {
    let refuse = |(line, message): Refusal| {
        ReadError::at(format, u64::from(line), 0, Problem::Other(message))
    };
    operations.settle().map_err(refuse)?;
    operations.require_known_fields().map_err(refuse)?;
    workloads::history(
        operations,
        input,
        format,
        crate::elle::suggestions(),
        control,
    )
}
