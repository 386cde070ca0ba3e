//! `isoscope stats`: figures of a history.

use super::output::Output;
use super::{ExitCode, StatsArguments, input};
use crate::history::Statistics;
use crate::report::StatisticsReport;
use crate::report::grouped;

pub(super) fn run(arguments: &StatsArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let (history, _) = input::open(&arguments.file, &arguments.reading)?;
    let statistics = Statistics::of(&history);
    if arguments.json {
        let report = StatisticsReport::new(&history, &statistics);
        out.with(|out| report.to_line(out));
        return Ok(ExitCode::Satisfied);
    }
    let per = |part: usize, whole: usize| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let s = &statistics;
    let rows = [
        ("format", history.origin().format.to_owned(), String::new()),
        ("sessions", grouped(s.sessions as u64), String::new()),
        ("transactions", grouped(s.transactions as u64), format!("{:.1} a session", per(s.transactions, s.sessions))),
        ("  committed", grouped(s.committed as u64), percent(per(s.committed, s.transactions))),
        ("  aborted", grouped(s.aborted as u64), percent(per(s.aborted, s.transactions))),
        ("  unknown", grouped(s.unknown as u64), percent(per(s.unknown, s.transactions))),
        ("operations", grouped(s.operations as u64), format!("{:.1} a transaction", per(s.operations, s.transactions))),
        ("  reads", grouped(s.reads as u64), percent(per(s.reads, s.operations))),
        ("  writes", grouped(s.writes as u64), percent(per(s.writes, s.operations))),
        ("keys", grouped(s.keys as u64), format!("{:.1} operations a key", per(s.operations, s.keys))),
        ("longest transaction", grouped(s.longest_transaction as u64), "operations".to_owned()),
        ("hottest key", grouped(s.hottest_key_operations as u64), "operations".to_owned()),
        ("hottest tenth of keys", percent(s.hot_tenth_share), "of all operations".to_owned()),
    ];
    let width = rows.iter().map(|(_, value, _)| value.chars().count()).max().unwrap_or(0);
    let lines =
        rows.map(|(name, value, more)| format!("{name:22}{value:>width$}  {more}").trim_end().to_owned() + "\n");
    out.text(&lines.concat());
    Ok(ExitCode::Satisfied)
}
