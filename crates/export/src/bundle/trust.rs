//! Why it is not the harness, and how often it happens.

use isoscope_check::checkers::{Findings, Pattern};
use isoscope_check::health::{Health, LISTED, Severity};
use isoscope_model::history::{
    History, OperationId, OperationKind, Outcome, TransactionId, Value, grouped,
};
use isoscope_tell::counterexample::{Counterexample, involved_operations, simpler_ones};
use isoscope_tell::document::{Block, Inline, InlineText, code, strong, text};
use std::collections::BTreeMap;

/// The checks that distinguish a fault of the database from one of the test, an item each, beginning with whether it
/// holds.
pub(super) fn harness(
    example: &Counterexample,
    whole: &History,
    health: &Health,
) -> Vec<InlineText> {
    let small = &example.history;
    let name = |t: TransactionId| small.transaction_name(t);
    let reads: Vec<OperationId> = (0..small.n_operations())
        .map(OperationId::new)
        .filter(|&o| {
            small.operation(o).kind == OperationKind::Read
                && small.operation(o).value != Value::UNRECORDED
                && !small.operation(o).value.is_of_scan()
        })
        .collect();
    let mut items = Vec::new();
    let several: Vec<String> = written_several_times(example, whole, &reads);
    items.push(checked(
        several.is_empty(),
        "every value read here was written at most once",
        &format!(
            "written more than once in the whole history: {}",
            several.join(", ")
        ),
    ));
    let unwritten: Vec<String> = reads
        .iter()
        .filter(|&&o| {
            let read = small.operation(o);
            !writes(small).any(|w| (w.key, w.value) == (read.key, read.value))
                && !small.may_be_initial(read.key, read.value)
        })
        .map(|&o| {
            format!(
                "{} in {}",
                small.operation_text(o),
                name(small.transaction_of(o))
            )
        })
        .collect();
    items.push(checked(
        unwritten.is_empty(),
        "every value read here has a logged writer, or is the initial one",
        &format!(
            "no transaction wrote what was read by {}: is its writer missing from the log?",
            unwritten.join(", ")
        ),
    ));
    let unknown: Vec<String> = small
        .transactions()
        .filter(|&t| small.outcome(t) == Outcome::Unknown)
        .map(name)
        .collect();
    items.push(checked(
        unknown.is_empty(),
        "no transaction of unknown outcome takes part",
        &format!("of unknown outcome: {}", unknown.join(", ")),
    ));
    let here: Vec<TransactionId> = small
        .transactions()
        .map(|t| example.renaming.old_transaction(t))
        .collect();
    for finding in health
        .findings
        .iter()
        .filter(|finding| finding.severity < Severity::Note)
    {
        let touches = finding.transactions.iter().any(|t| here.contains(t));
        // Only the first ones are listed.
        let whose = match (touches, finding.transactions.len() < LISTED) {
            (true, _) => " (about these transactions, too)",
            (false, true) => " (about other transactions)",
            (false, false) => "",
        };
        let mut item = vec![
            strong(format!("{}:", finding.severity.word())),
            text(format!(" {}{whose}", finding.text)),
        ];
        if let Some(remedy) = &finding.remedy {
            item.extend([
                text(" Read otherwise with "),
                code(remedy.flag()),
                text("."),
            ]);
        }
        items.push(item);
    }
    if health.doubts().next().is_none() {
        items.push(checked(
            true,
            "the whole history shows no sign that its log differs from what happened",
            "",
        ));
    }
    items
}

fn checked(holds: bool, yes: &str, no: &str) -> Vec<Inline> {
    if holds {
        vec![text(format!("✔ {yes}"))]
    } else {
        vec![strong("✘"), text(format!(" {no}"))]
    }
}

fn writes(history: &History) -> impl Iterator<Item = isoscope_model::history::Operation> + '_ {
    let all = (0..history.n_operations()).map(|o| history.operation(OperationId::new(o)));
    all.filter(|operation| operation.kind == OperationKind::Write)
}

/// The reads of values that several operations of the whole history wrote to their key.
fn written_several_times(
    example: &Counterexample,
    whole: &History,
    reads: &[OperationId],
) -> Vec<String> {
    let mut counts: BTreeMap<_, u32> = BTreeMap::new();
    let content = |o: &OperationId| {
        let operation = whole.operation(example.renaming.operations[o.index()]);
        (operation.key, operation.value)
    };
    reads.iter().for_each(|o| {
        counts.insert(content(o), 0);
    });
    for write in writes(whole) {
        counts
            .entry((write.key, write.value))
            .and_modify(|n| *n += 1);
    }
    let several = reads.iter().filter(|o| counts[&content(o)] > 1);
    let mut names: Vec<String> = several
        .map(|&o| example.history.operation_text(o))
        .collect();
    names.dedup();
    names
}

/// All findings about the log, conditions of other checkers included.
pub(super) fn health_table(health: &Health) -> Block {
    let row = |finding: &isoscope_check::health::Finding| {
        let mut words = vec![text(&finding.text)];
        if let Some(remedy) = &finding.remedy {
            words.extend([
                text(" Read otherwise with "),
                code(remedy.flag()),
                text("."),
            ]);
        }
        vec![
            vec![text(finding.severity.word())],
            vec![text(finding.kind.title())],
            words,
        ]
    };
    let header = ["severity", "check", "details"]
        .map(|name| vec![text(name)])
        .to_vec();
    Block::Table {
        header,
        rows: health.findings.iter().map(row).collect(),
    }
}

/// Patterns of the whole history: name, count, how many of those listed no simpler one explains, and the weakest level
/// among those listed.
pub(super) fn kinds(whole: &History, findings: &Findings) -> Vec<Vec<InlineText>> {
    let simpler = simpler_ones(whole, &findings.violations);
    let row = |(pattern, &count): (&Pattern, &u64)| {
        let listed = findings.violations.iter().zip(&simpler);
        let listed = || listed.clone().filter(|(v, _)| v.id.pattern == *pattern);
        let causes = listed().filter(|(_, simpler)| simpler.is_none()).count();
        let weakest = listed().filter_map(|(v, _)| v.levels.weakest()).min();
        let more = match (listed().count() as u64) < count {
            true => " or more",
            false => "",
        };
        vec![
            vec![text(pattern.row().title), text(" "), code(pattern.id())],
            vec![text(grouped(count))],
            vec![text(format!("{causes}{more}"))],
            weakest
                .map(|level| text(level.spoken()))
                .into_iter()
                .collect(),
        ]
    };
    findings
        .patterns
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(row)
        .collect()
}

/// Where in the file violations of one kind begin and end: "lines 12 to 9,830".
pub(super) fn extent(findings: &Findings, whole: &History, pattern: Pattern) -> Option<String> {
    let listed = findings
        .violations
        .iter()
        .filter(|violation| violation.id.pattern == pattern);
    let operations = listed.flat_map(involved_operations);
    let lines: Vec<u32> = operations
        .map(|o| whole.line_of(o))
        .filter(|&line| line > 0)
        .collect();
    let (first, last) = (lines.iter().min()?, lines.iter().max()?);
    let one = whole.origin().part_of_session.is_empty();
    let text = if first == last {
        format!("line {}", grouped(u64::from(*first)))
    } else {
        format!(
            "lines {} to {}",
            grouped(u64::from(*first)),
            grouped(u64::from(*last))
        )
    };
    (one && whole.origin().unit == isoscope_model::history::Unit::Line).then_some(text)
}
