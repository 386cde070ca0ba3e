//! A script with a terminal for each session, with what was observed as comments.

use super::script::{comment, expectations, terminal, terminals, transaction};
use super::table::Table;
use super::{Action, Reproduction};
use std::fmt::Write;

/// The script. Every statement is on its own line and begins with the terminal to type it into: `/* A */`.
pub fn sql(reproduction: &Reproduction<'_>) -> String {
    let Reproduction {
        history,
        plan,
        isolation,
        headline,
        origin,
    } = reproduction;
    let table = Table::new(history);
    let sessions = terminals(reproduction);
    let mut out = String::new();
    let _ = writeln!(out, "-- {}", comment(headline));
    let _ = writeln!(out, "-- {}", comment(origin));
    let _ = writeln!(out, "--");
    let _ = writeln!(
        out,
        "-- Open one terminal for each session and type every statement into the one named before it,"
    );
    let _ = writeln!(
        out,
        "-- from top to bottom. What was observed is behind each SELECT."
    );
    for said in expectations(reproduction) {
        let _ = writeln!(out, "-- {said}");
    }
    for (place, &session) in sessions.iter().enumerate() {
        let _ = writeln!(
            out,
            "-- {}: session {}",
            terminal(place),
            comment(&history.session_and_node(session))
        );
    }
    let _ = writeln!(out, "\n-- In any terminal, once:");
    let _ = writeln!(out, "DROP TABLE IF EXISTS kv;");
    let _ = writeln!(out, "{}", table.create());
    table.fill().into_iter().for_each(|rows| {
        let _ = writeln!(out, "{rows}");
    });
    let _ = writeln!(
        out,
        "\n-- MySQL and MariaDB: SET SESSION TRANSACTION ISOLATION LEVEL {isolation};"
    );
    for place in 0..sessions.len() {
        let setting = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL";
        let _ = writeln!(out, "/* {} */ {setting} {isolation};", terminal(place));
    }
    let _ = writeln!(out);
    for step in &plan.steps {
        let place = sessions
            .binary_search(&step.session)
            .expect("every step has a terminal");
        let (statement, said) = match step.action {
            Action::Begin => (
                "BEGIN;".to_owned(),
                Some(transaction(reproduction, step.transaction)),
            ),
            Action::Operation(o) => {
                let observed = table
                    .observed(o)
                    .map(|value| format!("observed: {}", comment(&value)));
                let differs = if plan.unexplained.contains(&o) {
                    " (cannot be observed in this order)"
                } else {
                    ""
                };
                (
                    table.statement(o),
                    observed.map(|observed| format!("{observed}{differs}")),
                )
            }
            Action::Commit => ("COMMIT;".to_owned(), None),
            Action::Abort => ("ROLLBACK;".to_owned(), None),
        };
        let said = said.map(|said| format!("  -- {said}")).unwrap_or_default();
        let _ = writeln!(out, "/* {} */ {statement}{said}", terminal(place));
    }
    let _ = writeln!(out, "\n-- In any terminal, at the end:\n{}", table.drop());
    out
}
