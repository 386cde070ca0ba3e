//! Histories with rows: inserts, deletes and scans, at every level, against a table of verdicts by brute force.

use crate::common;
use crate::lattice::{ask, asked, compare};

use common::lattice::Verdicts;
use serde_json::Value as Json;

struct Row {
    name: String,
    text: String,
    verdicts: Verdicts,
}

fn table() -> Vec<Row> {
    let path = common::repository("tests/data/tables-histories.json");
    let text = std::fs::read_to_string(path).expect("the table is part of the repository");
    let table: Json = serde_json::from_str(&text).expect("the table is JSON");
    let row = |row: &Json| Row {
        name: row["name"].as_str().expect("a name").to_owned(),
        text: row["text"].as_str().expect("a text").to_owned(),
        verdicts: row["verdicts"]
            .as_object()
            .expect("verdicts")
            .iter()
            .map(|(code, verdict)| (code.clone(), verdict.as_bool()))
            .collect(),
    };
    let rows = table["rows"].as_array().expect("rows");
    rows.iter().map(row).collect()
}

#[test]
fn every_level_agrees_with_the_table() {
    let mut wrong = String::new();
    let mut n = 0;
    for row in table() {
        if row.text.contains(" count ") || row.text.contains(" sum ") {
            continue;
        }
        n += 1;
        let history = common::history(&row.text);
        let answer = ask(&history, &asked()).and_then(|findings| compare(&findings, &row.verdicts));
        if let Err(problem) = answer {
            wrong += &format!("{}\n{}{problem}\n", row.name, row.text);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(n, 63);
}
