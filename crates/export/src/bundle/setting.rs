//! In which setting it happened: what maintainers ask first, as far as the history says it, and blanks.

use super::Brief;
use isoscope_check::checkers::Findings;
use isoscope_check::checkers::lattice::{Promise, strongest_satisfied};
use isoscope_model::history::{Cluster, History, LEVEL_CLAIMED, counted, grouped, visible};
use isoscope_tell::document::{Block, InlineText, code, text};
use std::path::Path;

/// What is known of the setting, a row each, and … for the rest.
pub(super) fn table(brief: &Brief<'_>) -> Block {
    let whole = brief.whole;
    let known = |whats: &[&str]| {
        let said: Vec<&str> = whats.iter().filter_map(|what| said(whole, what)).collect();
        said.join("; ")
    };
    let row = |what: &str, found: String| {
        vec![
            vec![text(what)],
            vec![text(if found.is_empty() {
                "…".to_owned()
            } else {
                found
            })],
        ]
    };
    let mut rows = vec![
        row(
            "product and version",
            known(&["test", "database", "version"]),
        ),
        row(
            "nodes, and which node ran which session",
            [nodes(whole.cluster()), known(&["nodes", "servers"])].join(""),
        ),
        row(
            "isolation level requested, and what the product means by it",
            known(&["isolation", LEVEL_CLAIMED]),
        ),
        row("driver or client, autocommit, retries", String::new()),
    ];
    rows.extend(
        brief
            .promise
            .map(|promise| row("promised", promised(promise, brief.findings))),
    );
    rows.push(row("schema, and how keys map to rows", String::new()));
    rows.push(row("faults injected", faults(whole)));
    rows.extend(said(whole, "workload").map(|workload| row("workload", workload.to_owned())));
    rows.extend(
        said(whole, "again")
            .map(|again| vec![vec![text("to run the workload again")], vec![code(again)]]),
    );
    rows.extend(data(whole).map(|(what, found)| row(what, found)));
    let assumptions = whole
        .assumptions()
        .iter()
        .chain(&brief.findings.assumptions);
    rows.extend(assumptions.map(|assumption| row("assumed", assumption.to_string())));
    let header: Vec<InlineText> = vec![vec![text("what")], vec![text("here")]];
    Block::Table { header, rows }
}

/// What accompanies the history says about this.
fn said<'a>(history: &'a History, what: &str) -> Option<&'a str> {
    history
        .origin()
        .about
        .iter()
        .find_map(|line| line.strip_prefix(what)?.strip_prefix(": "))
}

/// "primary: 4 sessions, standby: 3 sessions. "
fn nodes(cluster: &Cluster) -> String {
    let sessions = cluster.nodes().zip(cluster.sessions_by_node());
    let nodes: Vec<String> = sessions
        .map(|(node, n)| format!("{}: {}", visible(&node), counted(n, "session")))
        .collect();
    if nodes.is_empty() {
        String::new()
    } else {
        format!("{}. ", nodes.join(", "))
    }
}

/// "pause m2 8 times, the first at 1.54 s"; "none" if a recording says so.
fn faults(history: &History) -> String {
    let all = history.cluster().faults();
    let mut names: Vec<&str> = all.iter().map(|fault| &*fault.what).collect();
    names.sort_unstable();
    names.dedup();
    let times = |name: &str| {
        let of: Vec<_> = all.iter().filter(|fault| fault.what == name).collect();
        let first = history.origin().time(of[0].start);
        match of.len() {
            1 => format!("{} at {first}", visible(name)),
            n => format!(
                "{} {} times, first at {first}",
                visible(name),
                grouped(n as u64)
            ),
        }
    };
    match (&names[..], said(history, "workload")) {
        ([], Some(_)) => said(history, "faults").unwrap_or("none").to_owned(),
        (names, _) => names
            .iter()
            .map(|name| times(name))
            .collect::<Vec<_>>()
            .join("; "),
    }
}

/// The file and what is in it.
fn data(whole: &History) -> [(&'static str, String); 4] {
    let origin = whole.origin();
    let name = Path::new(&origin.path)
        .file_name()
        .map(|name| visible(&name.to_string_lossy()));
    let figures = whole.recorded();
    let counts = format!(
        "{}, {} ({} committed, {} aborted, {} of unknown outcome), {} on {}",
        counted(figures.sessions, "session"),
        counted(figures.transactions, "transaction"),
        grouped(figures.committed as u64),
        grouped(figures.aborted as u64),
        grouped(figures.unknown as u64),
        counted(figures.operations, "operation"),
        counted(figures.keys, "key"),
    );
    let kinds = if whole.lists().is_empty() {
        "registers: reads and writes of single values"
    } else {
        "lists: appends of single elements and reads of whole lists"
    };
    let initial = match whole.initial_value() {
        Some(value) => format!(
            "every key holds {} before the first write",
            whole.value_name(value)
        ),
        None => "keys hold nothing before the first write".to_owned(),
    };
    let file = format!(
        "{} ({})",
        name.unwrap_or_else(|| "made in memory".to_owned()),
        origin.format
    );
    [
        ("history", file),
        ("size", counts),
        ("data", kinds.to_owned()),
        ("initial state", initial),
    ]
}

/// "R-SI by postgresql repeatable read (on one node): broken. The strongest level checked that holds: P-PSI."
fn promised(promise: &Promise, findings: &Findings) -> String {
    let note = if promise.note.is_empty() {
        String::new()
    } else {
        format!(" ({})", promise.note)
    };
    let kept = match promise.is_kept(&findings.levels) {
        Some(true) => "kept",
        Some(false) => "broken",
        None => "not decided here",
    };
    let holds: Vec<&str> = strongest_satisfied(findings.verdicts())
        .into_iter()
        .map(|level| level.code())
        .collect();
    let holds = match holds[..] {
        [] => "No level that was checked holds.".to_owned(),
        [one] => format!("The strongest level checked that holds: {one}."),
        _ => format!(
            "The strongest levels checked that hold: {}.",
            holds.join(", ")
        ),
    };
    format!(
        "{} by {}{note}: {kept}. {holds}",
        promise.level().unwrap_or_default(),
        promise.name()
    )
}
