//! `isoscope stats`: figures of a history, and whether it can be trusted.

use super::output::{Output, Paint};
use super::paper_tables::{self, Table};
use super::{ExitCode, StatsArguments, input};
use crate::health::{self, Finding, Health, Severity};
use crate::history::{FaultSpan, History, Spread, Statistics, fences, visible};
use crate::relations::{self, Breadth, Index};
use crate::report::{StatisticsReport, grouped};

pub(super) fn run(arguments: &StatsArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    if let Some(name) = &arguments.reading.format {
        input::known_format(name)?;
    }
    if let Some(table) = Table::of(arguments) {
        return paper_tables::run(table, arguments, out);
    }
    let [file] = arguments.paths.as_slice() else {
        anyhow::bail!(
            "statistics are for one history; for several, use --plume-table or --weakest-table"
        );
    };
    let control = arguments.limits.control();
    let (history, _) = input::open(file, &arguments.reading, &control)?;
    let statistics = Statistics::of(&history);
    let resolution = relations::resolve(&history, &control)?;
    let health = health::examine(&history, &resolution, &control)?;
    // If a read has several possible writers, each of them makes the same sessions communicate.
    let breadth = Breadth::of(&Index::build(&history, &resolution, &control)?);
    if arguments.json {
        let report = StatisticsReport::new(&history, &statistics, &breadth, &health);
        out.with(|out| report.to_line(out));
        return Ok(ExitCode::Satisfied);
    }
    let text = table(&history, &statistics, &breadth)
        + &health_text(&health, out)
        + &assumptions(resolution.assumptions(), out);
    out.text(&text);
    Ok(ExitCode::Satisfied)
}

/// How many faults are named.
const MOST_FAULTS: usize = 5;

/// A row of the table: a name, a number, and a remark.
type StatsRow = (&'static str, String, String);

fn row(name: &'static str, number: usize, more: impl Into<String>) -> StatsRow {
    (name, grouped(number as u64), more.into())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn share(part: usize, whole: usize) -> String {
    percent(if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    })
}

fn spread(spread: Spread, of: &str) -> String {
    format!(
        "{} to {} {of}, {:.1} on average",
        grouped(spread.min as u64),
        grouped(spread.max as u64),
        spread.mean
    )
}

fn table(history: &History, s: &Statistics, breadth: &Breadth) -> String {
    let (recorded, shapes) = (&s.recorded, &s.shapes);
    let transactions = history.n_transactions();
    let operations = history.n_operations();
    let mut rows: Vec<StatsRow> = vec![
        ("format", history.origin().format.to_owned(), String::new()),
        row("sessions", recorded.sessions, ""),
        row(
            "transactions",
            recorded.transactions,
            spread(s.transactions_of_session, "a session"),
        ),
        row(
            "  committed",
            recorded.committed,
            share(recorded.committed, recorded.transactions),
        ),
        row(
            "  aborted",
            recorded.aborted,
            share(recorded.aborted, recorded.transactions),
        ),
        row(
            "  unknown",
            recorded.unknown,
            share(recorded.unknown, recorded.transactions),
        ),
        row(
            "  read only",
            shapes.read_only,
            share(shapes.read_only, transactions),
        ),
        row(
            "  write only",
            shapes.write_only,
            share(shapes.write_only, transactions),
        ),
        row(
            "  read, then write",
            shapes.read_modify_write,
            share(shapes.read_modify_write, transactions),
        ),
        row(
            "  both, otherwise",
            shapes.mixed,
            share(shapes.mixed, transactions),
        ),
    ];
    if transactions > recorded.transactions {
        rows.insert(
            6,
            row(
                "  as interpreted",
                transactions,
                "with the parts of those that were split at failed statements",
            ),
        );
    }
    rows.splice(2..2, cluster_rows(history));
    match fences::n_fences(history) {
        0 => {}
        n => rows.push(row(
            "  of barriers",
            n,
            format!("on keys that begin with {}", fences::FENCES),
        )),
    }
    if shapes.empty > 0 {
        rows.push(row(
            "  empty",
            shapes.empty,
            share(shapes.empty, transactions),
        ));
    }
    rows.extend([
        row(
            "operations",
            recorded.operations,
            spread(s.operations_of_transaction, "a transaction"),
        ),
        row("  reads", s.reads, share(s.reads, operations)),
        row("  writes", s.writes, share(s.writes, operations)),
        row(
            "keys",
            recorded.keys,
            format!(
                "{:.1} operations a key",
                per(recorded.operations, recorded.keys)
            ),
        ),
        row("hottest key", s.hottest_key_operations, "operations"),
        (
            "hottest tenth of keys",
            percent(s.hot_tenth_share),
            "of all operations".to_owned(),
        ),
    ]);
    if let Some(exponent) = s.zipf_exponent {
        rows.push((
            "skew",
            format!("{exponent:.2}"),
            "exponent of a Zipf distribution, estimated; 0 is uniform".to_owned(),
        ));
    }
    let repeated = match s.repeated_values {
        0 => "none by two transactions".to_owned(),
        n => format!("{} of them by several transactions", grouped(n as u64)),
    };
    rows.push(row("values written", s.distinct_values, repeated));
    let conflicts = grouped(s.write_conflicts);
    let concurrent = s
        .concurrent_write_conflicts
        .map(|n| format!(", {} at the same time", grouped(n)));
    let concurrent = concurrent.unwrap_or_default();
    rows.push((
        "write conflicts",
        conflicts,
        format!("pairs of transactions of two sessions, per key{concurrent}"),
    ));
    rows.extend(breadth_rows(breadth));
    if s.lists.keys > 0 {
        rows.push(row(
            "keys with lists",
            s.lists.keys,
            format!(
                "{} reads, longest {}",
                grouped(s.lists.reads as u64),
                s.lists.longest
            ),
        ));
    }
    if let Some(times) = s.times {
        rows.push(row(
            "times",
            times.transactions,
            format!("transactions, from {} to {}", times.from, times.to),
        ));
    }
    let width = rows
        .iter()
        .map(|(_, value, _)| value.chars().count())
        .max()
        .unwrap_or(0);
    let line = |(name, value, more): StatsRow| {
        format!("{name:22}{value:>width$}  {more}")
            .trim_end()
            .to_owned()
            + "\n"
    };
    rows.into_iter().map(line).collect()
}

/// Where sessions ran and what happened meanwhile, if the file says so.
fn cluster_rows(history: &History) -> Vec<StatsRow> {
    let cluster = history.cluster();
    let mut rows = Vec::new();
    if cluster.nodes().len() > 0 {
        let sessions = |(node, n): (String, usize)| {
            format!("{} {} of the sessions", visible(&node), grouped(n as u64))
        };
        let nodes: Vec<String> = cluster
            .nodes()
            .zip(cluster.sessions_by_node())
            .map(sessions)
            .collect();
        rows.push(row("  nodes", cluster.nodes().len(), nodes.join(", ")));
    }
    let faults = cluster.faults();
    if !faults.is_empty() {
        let time = |time: i64| history.origin().time(time);
        let describe = |fault: &FaultSpan| match fault.end {
            Some(end) => format!(
                "{} from {} to {}",
                visible(&fault.what),
                time(fault.start),
                time(end)
            ),
            None => format!("{} from {} on", visible(&fault.what), time(fault.start)),
        };
        let mut words: Vec<String> = faults.iter().take(MOST_FAULTS).map(describe).collect();
        if faults.len() > MOST_FAULTS {
            words.push(format!("{} more", faults.len() - MOST_FAULTS));
        }
        rows.push(row("faults", faults.len(), words.join(", ")));
    }
    rows
}

fn per(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// The quantities that the search for an order is exponential in.
fn breadth_rows(breadth: &Breadth) -> Vec<StatsRow> {
    let of_all = row("width", breadth.width, "sessions that committed something");
    let (Some(largest), Some(smallest)) = (breadth.components.first(), breadth.components.last())
    else {
        return vec![of_all];
    };
    let n = |n: usize, what: &str| {
        format!(
            "{} {what}{}",
            grouped(n as u64),
            if n == 1 { "" } else { "s" }
        )
    };
    let size = format!(
        "{}, {}",
        n(largest.sessions, "session"),
        n(largest.transactions, "transaction")
    );
    let sizes = match breadth.components.len() {
        1 => format!("of sessions that share keys: {size}"),
        _ => {
            format!(
                "of sessions that share keys: the largest {size}, the smallest {}",
                n(smallest.sessions, "session")
            )
        }
    };
    vec![of_all, row("components", breadth.components.len(), sizes)]
}

/// All findings: those that cast doubt on verdicts, the others, and the conditions of checkers.
fn health_text(health: &Health, out: &Output) -> String {
    let (conditions, findings): (Vec<&Finding>, Vec<&Finding>) = health
        .findings
        .iter()
        .partition(|finding| finding.kind.is_condition());
    let mut text = format!(
        "\n{}\n",
        out.paint(Paint::Strong, "Can the history be trusted?")
    );
    if health.doubts().next().is_none() {
        text += &format!(
            "  {}\n",
            out.paint(Paint::Good, "Nothing casts doubt on verdicts.")
        );
    }
    for finding in findings {
        let paint = match finding.severity {
            Severity::Warning => Paint::Bad,
            Severity::Caution => Paint::Open,
            Severity::Note => Paint::Faint,
        };
        text += &format!(
            "  {}  {}\n",
            out.paint(paint, &format!("{:7}", finding.severity.word())),
            finding.text
        );
    }
    text += &format!("\n{}\n", out.paint(Paint::Strong, "Checker preconditions"));
    for finding in conditions {
        text += &format!("  {:18}  {}\n", finding.kind.title(), finding.text);
    }
    text
}

fn assumptions(sentences: &[String], out: &Output) -> String {
    let line =
        |sentence: &String| format!("\n{} {sentence}\n", out.paint(Paint::Faint, "Assumed:"));
    sentences.iter().map(line).collect()
}
