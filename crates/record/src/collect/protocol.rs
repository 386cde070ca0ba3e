//! The lines that IsoScope and a driver program exchange, as data. `docs/drivers.md` says what they mean; the comments here
//! are the descriptions in the JSON Schema that `isoscope schema driver` prints.

use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::Value as Json;

/// The version of the protocol.
const VERSION: u64 = 1;

/// A line between IsoScope and a driver program: a request, written to the program's standard input, or its answer, read
/// from its standard output. Each request has one answer, in order.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(title = "IsoScope driver protocol", transform = one_only)]
// Only describes; requests are written and answers are read piece by piece.
#[allow(dead_code)]
pub enum Line<'a> {
    /// What IsoScope writes.
    Request(Request<'a>),
    /// What the program writes.
    Answer(Answer),
}

/// What a driver is asked to do.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(tag = "op", rename_all = "kebab-case")]
#[schemars(title = "Request")]
pub enum Request<'a> {
    /// Always the first request. `ok` is an object with the database's `name`, its `version`, and `lists`: whether it has
    /// lists.
    Hello {
        /// The version of the protocol.
        #[schemars(extend("const" = VERSION))]
        protocol: u64,
        /// The isolation level of all transactions: what `--isolation` says, by default `serializable`.
        isolation: &'a str,
        /// Whether this session only reads.
        read_only: bool,
    },
    /// Deletes what earlier runs left.
    Prepare {
        /// Registers 0 to one less than this will be used.
        registers: u64,
    },
    /// Begins a transaction.
    Begin,
    /// `ok` is the value of a register: null or 0 if none was ever written.
    Read {
        /// The register.
        key: u64,
    },
    /// Sets a register.
    Write {
        /// The register.
        key: u64,
        /// Its new value, which is never 0.
        #[schemars(range(min = 1))]
        value: u64,
    },
    /// `ok` is the array of a list's elements, oldest first, or null for none.
    ReadList {
        /// The list.
        key: u64,
    },
    /// Adds an element at the end of a list.
    Append {
        /// The list.
        key: u64,
        /// The element, which is never 0.
        #[schemars(range(min = 1))]
        value: u64,
    },
    /// Commits. `ok` says that the transaction is known to have committed.
    Commit,
    /// Rolls back, also after the database has aborted the transaction.
    Rollback,
}

impl Request<'_> {
    /// The greeting of this version.
    pub(super) fn hello(isolation: &str, read_only: bool) -> Request<'_> {
        Request::Hello {
            protocol: VERSION,
            isolation,
            read_only,
        }
    }
}

/// What became of a request: exactly one of `ok`, `aborted` and `unknown`.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(title = "Answer", transform = one_only)]
#[allow(dead_code)]
pub enum Answer {
    /// The request was done.
    Done {
        /// What was asked for; null where there is nothing to say.
        ok: Json,
    },
    /// The database refused: the transaction has no effect, now or later.
    Refused {
        /// Why.
        aborted: String,
    },
    /// It is not known what happened. The program is ended and started again.
    Open {
        /// Why.
        unknown: String,
    },
}

/// Of several alternatives one holds, not several.
fn one_only(schema: &mut Schema) {
    if let Some(alternatives) = schema.remove("anyOf") {
        schema.insert("oneOf".to_owned(), alternatives);
    }
}
