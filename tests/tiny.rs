//! The table of tiny histories: one small history per corner of the definitions, with the verdict at every level and
//! the patterns that occur.

mod common;

use common::oracle::{self, LEVELS, Observation};
use common::pattern_oracle;
use serde_json::Value as Json;

/// One row of the table.
struct Row {
    name: String,
    text: String,
    satisfied: [bool; 7],
    /// Letters of all formal instances and of those that are not implied; `None` where reads are ambiguous.
    taps: Option<(String, String)>,
    anomalies: Vec<String>,
}

fn rows() -> Vec<Row> {
    let path = common::repository("tests/data/tiny-histories.json");
    let text = std::fs::read_to_string(path).expect("the table is part of the repository");
    let table: Json = serde_json::from_str(&text).expect("the table is JSON");
    let string = |json: &Json| json.as_str().map(str::to_owned);
    let rows = table["histories"].as_array().expect("rows").iter();
    rows.map(|row| Row {
        name: string(&row["name"]).expect("a name"),
        text: string(&row["text"]).expect("a history"),
        satisfied: LEVELS.map(|level| row["verdicts"][level.code()].as_bool().expect("a verdict")),
        taps: string(&row["taps"]).zip(string(&row["taps_primary"])),
        anomalies: row["anomalies"].as_array().expect("a list").iter().filter_map(string).collect(),
    })
    .collect()
}

#[test]
fn the_table_has_all_its_rows() {
    assert_eq!(rows().len(), 67);
}

#[test]
fn the_oracle_agrees_with_the_table() {
    for row in rows() {
        let history = common::plume(&row.text);
        assert_eq!(oracle::verdicts(&history), row.satisfied, "{}\n{}", row.name, row.text);
    }
}

#[test]
fn the_pattern_oracle_agrees_with_the_table() {
    for row in rows() {
        let Some((taps, primary)) = row.taps else { continue };
        let observation = Observation::of(&common::plume(&row.text));
        let choices = observation.choices();
        assert_eq!(choices.len(), 1, "{}: no read has two possible writers", row.name);
        let counts = pattern_oracle::count(&observation, &choices[0]);
        let all: String = counts.letters.keys().collect();
        assert_eq!(all, taps, "{}\n{}", row.name, row.text);
        let own = counts.letters.keys().filter(|letter| !"hiklmn".contains(**letter));
        let mut certain: Vec<char> = own.chain(counts.primary.keys()).copied().collect();
        certain.sort_unstable();
        assert_eq!(certain.iter().collect::<String>(), primary, "{}\n{}", row.name, row.text);
    }
}
