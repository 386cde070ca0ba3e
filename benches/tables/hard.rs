//! The table of hard instances: which are decided within a limit.

use crate::cell::{Cell, Measured, Outcome};
use crate::common::{Hard, Workload};
use crate::table;
use isoscope::checkers::{Checker, Level};

/// Measures the instances at each level and prints a row for each, then how many of each kind were decided.
pub(crate) fn print(instances: &[Hard], levels: &[Level], limit: f64) -> anyhow::Result<()> {
    let mut lines = vec![vec![String::new()]];
    lines[0].extend(levels.iter().map(|level| level.code().to_owned()));
    let mut rows: Vec<(&Hard, Vec<Measured>)> = Vec::new();
    for hard in instances {
        let mut row = Vec::new();
        for &level in levels {
            let cell = Cell {
                checker: Checker::Fast,
                level,
                workload: Workload::default(),
                hard: Some(*hard),
                limit,
            };
            let measured = cell.measure_apart()?;
            eprintln!("{hard} {level}: {}", table::outcome(&measured));
            row.push(measured);
        }
        rows.push((hard, row));
    }
    for (hard, row) in &rows {
        let cells = row.iter().map(table::outcome);
        lines.push(std::iter::once(hard.to_string()).chain(cells).collect());
    }
    println!(
        "Hard instances: seconds of user CPU, one thread (* violated)\n{}",
        table::aligned(&lines)
    );
    let mut of_stages = vec![lines[0].clone()];
    for (hard, row) in &rows {
        of_stages.push(
            std::iter::once(hard.to_string())
                .chain(row.iter().map(table::stages))
                .collect(),
        );
    }
    println!(
        "Of these {}\n{}",
        table::stage_names(),
        table::aligned(&of_stages)
    );
    println!(
        "Decided within {limit} s\n{}",
        table::aligned(&counted(&rows, levels))
    );
    Ok(())
}

/// By kind of instance and level: how many were decided, of how many.
fn counted(rows: &[(&Hard, Vec<Measured>)], levels: &[Level]) -> Vec<Vec<String>> {
    let mut lines = vec![vec![String::new()]];
    lines[0].extend(levels.iter().map(|level| level.code().to_owned()));
    let is_decided =
        |measured: &Measured| matches!(measured.outcome, Outcome::Satisfied | Outcome::Violated);
    for kind in ["cases", "sat", "blind"] {
        let of_kind: Vec<&Vec<Measured>> = rows
            .iter()
            .filter(|(hard, _)| hard.kind() == kind)
            .map(|(_, row)| row)
            .collect();
        if of_kind.is_empty() {
            continue;
        }
        let count = |place: usize| of_kind.iter().filter(|row| is_decided(&row[place])).count();
        let cells = (0..levels.len()).map(|place| format!("{} of {}", count(place), of_kind.len()));
        lines.push(std::iter::once(kind.to_owned()).chain(cells).collect());
    }
    lines
}
