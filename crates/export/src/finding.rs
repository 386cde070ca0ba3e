//! The page of what the rules of a workload see: the calls that show it over time, in the words of the log.

use super::Picture;
use super::digest::shortened;
use super::picture::{PictureStep, target_key};
use isoscope_draw::diagram::layout::{LEAST_SCALE, Layout};
use isoscope_draw::diagram::text_size::printable;
use isoscope_draw::diagram::{Diagram, RowRole, Subject, Target, diagram, operations_in, sequence};
use isoscope_model::history::{History, TransactionId, TransactionSet, counted, cut, visible};
use isoscope_tell::counterexample::Orders;
use isoscope_tell::workload::{Told, told};
use std::path::Path;

/// The page of the finding at a place; none if the history has fewer. O(operations of its calls + findings).
pub fn compose_finding(history: &History, place: usize, sha256: Option<&str>) -> Option<Picture> {
    compose_with(history, place, sha256, true)
}

/// The same without the calls around those that show it.
pub fn compose_finding_alone(history: &History, place: usize) -> Option<Picture> {
    compose_with(history, place, None, false)
}

fn compose_with(
    history: &History,
    place: usize,
    sha256: Option<&str>,
    with_context: bool,
) -> Option<Picture> {
    let told = told(history, place)?;
    let fact = history.workload()?.facts.get(place)?;
    let context = || fact.context.iter().filter(|_| with_context);
    let all = || fact.calls.iter().chain(context());
    let mut members = TransactionSet::empty(history);
    for call in all() {
        members.insert(call.transaction);
    }
    let (small, renaming) = history.restrict(&members, |_| true);
    let mut diagram = in_its_words(&small, |t| {
        let whole = renaming.old_transaction(t);
        let call = all().find(|call| call.transaction == whole);
        let said = call.map_or_else(String::new, |call| printable(&visible(&call.said)));
        let shows_it = fact.calls.iter().any(|call| call.transaction == whole);
        let role = if shows_it {
            RowRole::Involved
        } else {
            RowRole::Context
        };
        (said, role)
    });
    let tooltips = diagram.cards.iter().map(|card| {
        let session = &diagram.lanes[card.lane].title;
        let text = format!("{}: {}, {session}", card.title, card.status);
        (target_key(Target::Transaction(card.transaction)), text)
    });
    let tooltips = tooltips.collect();
    let scene = sequence::scene(&diagram, &small, history);
    diagram.arrows.clear();
    let Told {
        id,
        title,
        rule,
        statement,
        calls,
        facts,
    } = &told;
    let step = |(place, line): (usize, &String)| PictureStep {
        heading: "The calls that show it".to_owned(),
        depth: 0,
        number: Some(place + 1),
        text: printable(line),
        edges: Vec::new(),
    };
    Some(Picture {
        title: printable(statement.trim_end_matches('.')),
        subtitle: format!("{title}: {rule}"),
        verdicts: vec![id.clone()],
        facts: facts.iter().map(|fact| printable(fact)).collect(),
        details: Vec::new(),
        key: None,
        orders: Orders::default(),
        decisive: Vec::new(),
        diagram,
        layout: Layout::default(),
        is_wide: scene.bounds.width() * LEAST_SCALE > super::view::PAGE_CONTENT,
        is_dark: false,
        scene,
        steps: calls.iter().enumerate().map(step).collect(),
        conclusion: String::new(),
        footer: footer(history, id, sha256),
        tooltips,
        markdown: told.markdown(),
        text: told.plain_text(),
    })
}

/// Most characters of what was said on a card; the rest is left out at its end.
const LONGEST: usize = 40;

/// Cards of all transactions, each with what was asked and answered as its only line.
fn in_its_words(small: &History, said: impl Fn(TransactionId) -> (String, RowRole)) -> Diagram {
    let all: Vec<TransactionId> = small.transactions().collect();
    let mut diagram = diagram(&Subject {
        history: small,
        transactions: &all,
        edges: &[],
        cycle: &[],
        operations: &[],
        shown: &|_| false,
        all_operations: true,
        n_operations: &operations_in(small),
    });
    for card in &mut diagram.cards {
        let (text, role) = said(card.transaction);
        let shown = cut(&text, LONGEST);
        // A call without a result has no operation.
        if card.rows.is_empty() {
            card.title = format!("{} {text}", card.title);
        }
        card.rows.truncate(1);
        for row in &mut card.rows {
            row.value_at = shown.len();
            row.full.clone_from(&text);
            row.text.clone_from(&shown);
            row.role = role;
        }
    }
    diagram
}

fn footer(history: &History, id: &str, sha256: Option<&str>) -> Vec<String> {
    let name = Path::new(&history.origin().path).file_name().map(|name| {
        let name = printable(&visible(&name.to_string_lossy()));
        format!(
            "{name} ({})",
            counted(history.n_transactions(), "transaction")
        )
    });
    let digest = sha256.map(|digest| format!("sha256 {}", shortened(digest)));
    let version = format!("IsoScope {}", env!("CARGO_PKG_VERSION"));
    std::iter::once(id.to_owned())
        .chain(name)
        .chain(digest)
        .chain([version])
        .collect()
}
