//! What was measured, as text and as CSV.

use crate::cell::{Measured, Outcome};
use crate::figures::Figure;
use isoscope::checkers::{Checker, Level};
use isoscope::control::Stage;
use std::fmt::Write;

/// All cells of one value.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) value: String,
    pub(crate) operations: u64,
    pub(crate) cells: Vec<(Level, Checker, Measured)>,
}

impl Row {
    /// What was measured of a checker at a level.
    pub(crate) fn cell(&self, level: Level, checker: Checker) -> Option<&Measured> {
        self.cells
            .iter()
            .find(|(l, c, _)| (*l, *c) == (level, checker))
            .map(|(_, _, measured)| measured)
    }
}

/// The tables of a level: CPU time, and peak memory where the system tells.
pub(crate) fn text(figure: &Figure, level: Level, rows: &[Row], checkers: &[Checker]) -> String {
    let asked: Vec<Checker> = checkers
        .iter()
        .copied()
        .filter(|c| c.levels().contains(&level))
        .collect();
    let mut out = String::new();
    let mut table = |title: &str, show: &dyn Fn(&Measured) -> String| {
        let _ = writeln!(
            out,
            "{} by {}: {title}",
            level.code(),
            figure.parameter.name()
        );
        let mut lines = vec![["", "operations"].map(str::to_owned).to_vec()];
        lines[0].extend(asked.iter().map(|checker| checker.name().to_owned()));
        for row in rows {
            let mut line = vec![row.value.clone(), row.operations.to_string()];
            line.extend(
                asked
                    .iter()
                    .map(|&c| row.cell(level, c).map_or("-".to_owned(), show)),
            );
            lines.push(line);
        }
        out.push_str(&aligned(&lines));
        out.push('\n');
    };
    table("seconds of user CPU (* violated)", &outcome);
    let megabytes =
        |value: Option<f64>| value.map_or("?".to_owned(), |value| format!("{value:.0}"));
    table("peak memory in MB, the history included", &|measured| {
        megabytes(measured.peak)
    });
    if level > Level::TransactionalCausalConsistency {
        let title = format!("seconds of {}", stage_names());
        table(&title, &|measured| stages(measured));
    }
    out
}

/// Names of the stages, as [`stages`] shows them.
pub(crate) fn stage_names() -> String {
    Stage::ALL.map(Stage::name).join(" / ")
}

/// What each stage of the engines took, of a checker that has them.
pub(crate) fn stages(measured: &Measured) -> String {
    if measured.stages.iter().any(|&spent| spent > 0.0) {
        measured.stages.map(seconds).join(" / ")
    } else {
        "-".to_owned()
    }
}

/// How a check ended, and how many seconds it took.
pub(crate) fn outcome(measured: &Measured) -> String {
    match measured.outcome {
        Outcome::Satisfied => seconds(measured.seconds),
        Outcome::Violated => format!("*{}", seconds(measured.seconds)),
        Outcome::TimeOut => format!(
            "> {:.*} s",
            usize::from(measured.seconds < 9.5),
            measured.seconds
        ),
        Outcome::GaveUp => "gave up".to_owned(),
        Outcome::Failed => "failed".to_owned(),
    }
}

/// With three significant digits.
fn seconds(seconds: f64) -> String {
    let digits = (2 - seconds.max(1e-4).log10().floor() as i32).clamp(0, 5) as usize;
    format!("{seconds:.digits$}")
}

/// Columns of equal width, flush right, the first one flush left.
pub(crate) fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            lines
                .iter()
                .map(|line| line[column].len())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut out = String::new();
    for line in lines {
        let _ = write!(out, "  {:<width$}", line[0], width = widths[0]);
        for (text, width) in line.iter().zip(&widths).skip(1) {
            let _ = write!(out, "  {text:>width$}");
        }
        out.push('\n');
    }
    out
}

const HEADER: &str = "parameter,value,operations,level,checker,outcome,user_cpu_seconds,peak_mb,history_mb,build,saturate,\
                      encode,solve";

/// What [`csv`] wrote. A figure ends where another parameter begins, a row where another value does.
pub(crate) fn from_csv(text: &str) -> anyhow::Result<Vec<(Figure, Vec<Row>)>> {
    let mut lines = text.lines();
    anyhow::ensure!(
        lines.next() == Some(HEADER),
        "the first line should be {HEADER}"
    );
    let mut figures: Vec<(Figure, Vec<Row>)> = Vec::new();
    for line in lines {
        let cell = || -> Option<_> {
            let fields: [&str; 13] = line.split(',').collect::<Vec<_>>().try_into().ok()?;
            let [
                parameter,
                value,
                operations,
                level,
                checker,
                outcome,
                seconds,
                peak,
                history,
                stages @ ..,
            ] = fields;
            let figure: Figure = format!("{parameter}={value}").parse().ok()?;
            let measured = Measured {
                outcome: serde_json::from_value(outcome.into()).ok()?,
                seconds: seconds.parse().ok()?,
                peak: peak.parse().ok(),
                history: history.parse().ok(),
                stages: stages.map(|spent| spent.parse().unwrap_or(0.0)),
            };
            Some((
                figure,
                operations.parse().ok()?,
                (level.parse().ok()?, checker.parse().ok()?, measured),
            ))
        };
        let Some((figure, operations, cell)) = cell() else {
            anyhow::bail!("this line is not understood: {line}")
        };
        let value = figure.values[0].clone();
        if figures
            .last()
            .is_none_or(|(last, _)| last.parameter != figure.parameter)
        {
            figures.push((
                Figure {
                    values: Vec::new(),
                    ..figure
                },
                Vec::new(),
            ));
        }
        let (figure, rows) = figures.last_mut().expect("there is one now");
        if rows.last().is_none_or(|row| row.value != value) {
            figure.values.push(value.clone());
            rows.push(Row {
                value,
                operations,
                cells: Vec::new(),
            });
        }
        rows.last_mut().expect("there is one now").cells.push(cell);
    }
    Ok(figures)
}

/// A line per cell.
pub(crate) fn csv(figures: &[(Figure, Vec<Row>)]) -> String {
    let mut out = format!("{HEADER}\n");
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.1}"));
    for (figure, rows) in figures {
        for row in rows {
            for (level, checker, measured) in &row.cells {
                let outcome = serde_json::to_value(measured.outcome).expect("a name is JSON");
                let _ = writeln!(
                    out,
                    "{},{},{},{},{checker},{},{:.6},{},{},{}",
                    figure.parameter.name(),
                    row.value,
                    row.operations,
                    level.code(),
                    outcome.as_str().unwrap_or_default(),
                    measured.seconds,
                    number(measured.peak),
                    number(measured.history),
                    measured.stages.map(|spent| format!("{spent:.6}")).join(","),
                );
            }
        }
    }
    out
}
