//! What a file may contain, as data for a JSON Schema. The reader takes a file piece by piece and so has no type for it as
//! a whole; these types only describe it, and tests hold them against the reader. Their comments are the descriptions in
//! the schema that `isoscope schema history` prints.

// Nothing is ever held in them.
#![allow(dead_code)]

use super::SCHEMA;
use super::read::{IncidentFields, OutcomeName};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value as Json;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A recorded history of database transactions. Fields that are not listed are skipped. Beyond what a schema can say:
/// numbers have no fraction, not even `.0`; sessions have different names; a transaction does not end before it starts.
#[derive(JsonSchema)]
#[schemars(title = "IsoScope history")]
pub struct HistoryFile {
    /// Name of this form of history. It comes before all fields that are not listed here.
    #[schemars(extend("const" = SCHEMA))]
    schema: String,
    /// The value that reads as the initial version of a key where no transaction writes it; null for none.
    #[schemars(extend("default" = Json::Null))]
    initial: Option<Name>,
    /// By name the rows, as pairs of key and value, that match a predicate which scans name. It comes before the sessions.
    #[schemars(default)]
    predicates: BTreeMap<String, Vec<(Name, Name)>>,
    /// The sessions, in any order.
    sessions: Vec<Session>,
    /// What happened to the system, in order. No verdict depends on it.
    #[schemars(default)]
    incidents: Vec<IncidentFields>,
}

/// What one client did.
#[derive(JsonSchema)]
struct Session {
    /// Its name, before its transactions; by default its place in the array, from 0. A number and its string name the
    /// same session.
    name: Option<Name>,
    /// The server that it used, before its transactions.
    node: Option<String>,
    /// Its transactions, in the order in which it ran them.
    #[schemars(default)]
    transactions: Vec<Transaction>,
}

/// One transaction.
#[derive(JsonSchema)]
#[schemars(extend("dependentRequired" = { "start": ["end"], "end": ["start"] }))]
struct Transaction {
    /// Its id: a number 7 is shown as T7, a string as it is; by default it is shown as its session and place.
    id: Option<Name>,
    /// What became of it.
    #[schemars(extend("default" = "committed"))]
    outcome: Option<OutcomeName>,
    /// When it began, in any unit that all transactions share.
    #[schemars(range(min = i64::MIN, max = i64::MAX))]
    start: Option<i64>,
    /// When it ended.
    #[schemars(range(min = i64::MIN, max = i64::MAX))]
    end: Option<i64>,
    /// Whether what it writes are the initial versions of its keys.
    #[schemars(default)]
    set_up: bool,
    /// Its operations, in program order.
    #[schemars(default)]
    operations: Vec<Operation>,
}

/// A name, a key or a value.
struct Name;

impl JsonSchema for Name {
    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A name, a key or a value. As keys and values, a number and its string differ.",
            "type": ["integer", "string"],
            "minimum": i64::MIN,
            "maximum": u64::MAX,
        })
    }
}

/// An operation: an array of a letter, a key and, but for reads of something unknown, a value.
struct Operation;

impl JsonSchema for Operation {
    fn schema_name() -> Cow<'static, str> {
        "Operation".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let name = generator.subschema_for::<Name>();
        let operation = |letter: &str, description: &str, shortest: usize, value: Schema| {
            json_schema!({
                "description": description,
                "type": "array",
                "prefixItems": [{ "const": letter }, name, value],
                "minItems": shortest,
                "maxItems": 3,
            })
        };
        let initial = json_schema!({ "type": "null" });
        let list = json_schema!({ "type": "array", "items": name });
        let absent = json_schema!({
            "type": "object",
            "properties": { "absent": { "const": true, "description": "There was no such row." } },
            "required": ["absent"],
        });
        let delete = json_schema!({
            "description": "A delete of a row.",
            "type": "array",
            "prefixItems": [{ "const": "d" }, name],
            "minItems": 2,
            "maxItems": 2,
        });
        let asked = json_schema!({
            "description": "The table, whose keys begin with its name and a slash (by default all keys), and the predicate.",
            "type": "object",
            "properties": {
                "table": { "type": "string", "description": "The name of the table." },
                "where": { "description": "Which rows.", "allOf": [generator.subschema_for::<Predicate>()] },
            },
        });
        let row = json_schema!({ "type": "array", "prefixItems": [name, name], "minItems": 2, "maxItems": 2 });
        let returned = json_schema!({
            "description": "Exactly the rows, or only their keys, that matched.",
            "type": "object",
            "properties": {
                "rows": { "type": "array", "items": row, "description": "Keys and values." },
                "keys": { "type": "array", "items": name, "description": "Keys, without the table." },
            },
            "oneOf": [{ "required": ["rows"] }, { "required": ["keys"] }],
        });
        let scan = json_schema!({
            "description": "A scan: what it asked for, and what it returned.",
            "type": "array",
            "prefixItems": [{ "const": "s" }, asked, returned],
            "minItems": 3,
            "maxItems": 3,
        });
        json_schema!({
            "description": "An operation: a letter, a key and a value.",
            "oneOf": [
                operation(
                    "r",
                    "A read of a value, of the initial version (null), of a whole list (an array), of a row that was not \
                     there, or of something that was not recorded (no third element).",
                    2,
                    json_schema!({ "anyOf": [name, initial, list, absent] }),
                ),
                operation(
                    "n",
                    "A read of something other than this value, or than the initial version (null).",
                    3,
                    json_schema!({ "anyOf": [name, initial] }),
                ),
                operation("w", "A write of a value; to a key that holds a list, an append.", 3, name.clone()),
                operation("a", "An append of a value to the list that the key holds.", 3, name.clone()),
                operation("i", "An insert of a row: a write of its value.", 3, name.clone()),
                delete,
                scan,
            ],
        })
    }
}

/// A predicate: an array of a word and what it needs.
struct Predicate;

impl JsonSchema for Predicate {
    fn schema_name() -> Cow<'static, str> {
        "Predicate".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let name = generator.subschema_for::<Name>();
        let predicate = generator.subschema_for::<Predicate>();
        let of = |word: &str, rest: Vec<Schema>| {
            let n = rest.len() + 1;
            let first = json_schema!({ "const": word });
            let items: Vec<Schema> = std::iter::once(first).chain(rest).collect();
            json_schema!({ "type": "array", "prefixItems": items, "minItems": n, "maxItems": n })
        };
        let integer = |least: i64, most: i64| json_schema!({ "type": "integer", "minimum": least, "maximum": most });
        let small = |least: i64| integer(least, i64::from(u32::MAX));
        let bound = json_schema!({ "anyOf": [name, { "type": "null" }] });
        let keys = json_schema!({
            "type": "array", "prefixItems": [{ "const": "key in" }], "items": name, "minItems": 1,
        });
        json_schema!({
            "description": "Which rows match: by their values, their keys (a range includes both ends, null is open), or those \
                            listed under a name in `predicates`.",
            "oneOf": [
                of("true", Vec::new()),
                of("=", vec![name.clone()]),
                of("<", vec![integer(i64::MIN, i64::MAX)]),
                of("mod", vec![small(1), small(0)]),
                of("key", vec![bound.clone(), bound]),
                keys,
                of("and", vec![predicate.clone(), predicate.clone()]),
                of("not", vec![predicate]),
                of("named", vec![json_schema!({ "type": "string" })]),
            ],
        })
    }
}
