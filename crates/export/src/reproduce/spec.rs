//! A specification for PostgreSQL's isolation tester (its source, `src/test/isolation/README`).

use super::script::{comment, expectations, terminal, terminals, transaction};
use super::table::Table;
use super::{Action, PlanStep, Reproduction};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The specification: one session each, one step per statement, one permutation. Run it with `isolationtester
/// 'dbname=postgres' < reproduce.spec`.
pub fn spec(reproduction: &Reproduction<'_>) -> String {
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
    let _ = writeln!(out, "# {}\n# {}\n#", comment(headline), comment(origin));
    for said in expectations(reproduction) {
        let _ = writeln!(out, "# {said}");
    }
    let _ = writeln!(out, "\nsetup\n{{\n  {}", table.create());
    table.fill().into_iter().for_each(|rows| {
        let _ = writeln!(out, "  {rows}");
    });
    let _ = writeln!(out, "}}\n\nteardown\n{{\n  {}\n}}", table.drop());
    let names = step_names(reproduction);
    for (place, &session) in sessions.iter().enumerate() {
        let name = comment(&history.session_and_node(session));
        let _ = writeln!(out, "\n# session {name}\nsession \"{}\"", terminal(place));
        for (step, name) in plan
            .steps
            .iter()
            .zip(&names)
            .filter(|(step, _)| step.session == session)
        {
            let (statement, said) = match step.action {
                Action::Begin => (
                    format!("BEGIN ISOLATION LEVEL {isolation};"),
                    Some(transaction(reproduction, step.transaction)),
                ),
                Action::Operation(o) => (
                    table.statement(o),
                    table
                        .observed(o)
                        .map(|value| format!("observed: {}", comment(&value))),
                ),
                Action::Commit => ("COMMIT;".to_owned(), None),
                Action::Abort => ("ROLLBACK;".to_owned(), None),
            };
            let said = said.map(|said| format!("  # {said}")).unwrap_or_default();
            let _ = writeln!(out, "step \"{name}\" {{ {statement} }}{said}");
        }
    }
    let _ = write!(out, "\npermutation");
    names.iter().for_each(|name| {
        let _ = write!(out, " \"{name}\"");
    });
    let _ = writeln!(out);
    out
}

/// By step: a unique name of letters and digits: `A1_begin`, `A1_r1`, `A1_w2`, `A1_commit`.
fn step_names(reproduction: &Reproduction<'_>) -> Vec<String> {
    let sessions = terminals(reproduction);
    let history = reproduction.history;
    // By terminal: transactions begun; by transaction: its operations so far.
    let mut begun: BTreeMap<usize, usize> = BTreeMap::new();
    let mut operations: BTreeMap<usize, usize> = BTreeMap::new();
    let name = |step: &PlanStep| {
        let place = sessions
            .binary_search(&step.session)
            .expect("every step has a terminal");
        if step.action == Action::Begin {
            *begun.entry(place).or_default() += 1;
            operations.insert(place, 0);
        }
        let number = begun.get(&place).copied().unwrap_or(0);
        let what = match step.action {
            Action::Begin => "begin".to_owned(),
            Action::Operation(o) => {
                let n = operations.entry(place).or_default();
                *n += 1;
                let letter = match history.operation(o).kind {
                    isoscope_model::history::OperationKind::Read => 'r',
                    isoscope_model::history::OperationKind::Write => 'w',
                };
                format!("{letter}{n}")
            }
            Action::Commit => "commit".to_owned(),
            Action::Abort => "rollback".to_owned(),
        };
        format!("{}{number}_{what}", terminal(place))
    };
    reproduction.plan.steps.iter().map(name).collect()
}
