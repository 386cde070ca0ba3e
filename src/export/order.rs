//! The page of a level that holds: the order that was found, as lanes, with what each read saw.

use super::Picture;
use super::digest::shortened;
use super::picture::target_key;
use super::picture::{PictureStep, TargetKey};
use super::view::PAGE_CONTENT;
use crate::control::{Control, Interrupt};
use crate::counterexample::passes::{Line, Passes, Seen, Surroundings, line, markdown, plain_text, title, why};
use crate::counterexample::replay::StepKind;
use crate::diagram::lanes::{Lanes, Shown};
use crate::diagram::layout::Layout;
use crate::diagram::scene::Scene;
use crate::diagram::text_size::printable;
use crate::diagram::timeline::{Span, Timeline};
use crate::diagram::{Anomaly, Diagram, Subject, Target, diagram, operations_in};
use crate::history::{History, Renaming, TransactionId, TransactionSet, counted, grouped, visible};
use crate::relations::{Edge, Reason, Relation};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Maximum number of transactions in a picture.
pub const MOST_DRAWN: usize = 60;
/// Width of a place in the order, wide enough for a short name.
const PLACE: f32 = 58.0;
/// What a transaction covers of its place.
const COVERED: f64 = 0.8;

/// The part of an order that a picture shows: up to [`MOST_DRAWN`] transactions from here on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// The line of the order that comes first.
    pub first: usize,
}

/// The page of a level that holds. O(operations · log versions).
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub fn compose_order(
    passes: &Passes<'_>,
    surroundings: &Surroundings<'_>,
    stretch: Stretch,
    sha256: Option<&str>,
    control: &Control,
) -> Result<Picture, Interrupt> {
    let part = Part::new(passes, stretch);
    let sentences = why(passes, surroundings);
    let diagram = part.diagram();
    let scene = if passes.is_ordered() { part.scene(&diagram, control)? } else { Scene::new(emath::Rect::ZERO) };
    let steps = part.lines.iter().enumerate().map(|(place, of)| PictureStep {
        heading: if passes.is_ordered() { "The order" } else { "What each read returned" }.to_owned(),
        depth: 0,
        number: Some(part.first + place + 1),
        text: printable(&line(passes, of, false)),
        edges: Vec::new(),
    });
    Ok(Picture {
        title: printable(&title(passes)),
        subtitle: part.caption(),
        verdicts: vec![format!("{} holds", passes.level())],
        facts: vec![printable(&sentences.join(" "))],
        steps: steps.collect(),
        conclusion: String::new(),
        footer: footer(passes, sha256),
        tooltips: part.tooltips(&diagram),
        markdown: markdown(passes, surroundings, true),
        text: plain_text(passes, surroundings, true),
        layout: Layout::default(),
        is_wide: true,
        diagram,
        scene,
    })
}

fn footer(passes: &Passes<'_>, sha256: Option<&str>) -> Vec<String> {
    let history = passes.history();
    let name = Path::new(&history.origin().path).file_name().map(|name| {
        format!(
            "{} ({})",
            printable(&visible(&name.to_string_lossy())),
            counted(history.n_transactions(), "transaction")
        )
    });
    let digest = sha256.map(|digest| format!("sha256 {}", shortened(digest)));
    let verified = passes.is_verified().then(|| "independently verified".to_owned());
    let version = format!("IsoScope {}", env!("CARGO_PKG_VERSION"));
    name.into_iter().chain(digest).chain(verified).chain([version]).collect()
}

/// What is drawn: some lines of the order, as a history of their transactions.
struct Part<'p> {
    passes: &'p Passes<'p>,
    /// The place of the first line, from 0.
    first: usize,
    lines: &'p [Line],
    small: History,
    renaming: Renaming,
}

impl<'p> Part<'p> {
    fn new(passes: &'p Passes<'p>, stretch: Stretch) -> Part<'p> {
        let first = stretch.first.min(passes.lines.len());
        let mut members = TransactionSet::empty(passes.history());
        let mut end = first;
        for line in &passes.lines[first..] {
            if members.len() == MOST_DRAWN && !members.contains(line.transaction) {
                break;
            }
            members.insert(line.transaction);
            end += 1;
        }
        let (small, renaming) = passes.history().restrict(&members, |_| true);
        Part { passes, first, lines: &passes.lines[first..end], small, renaming }
    }

    /// A read and the write that it saw: an edge if both are drawn.
    fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for line in self.lines {
            for read in self.passes.operations(line) {
                let Some(Seen::Write(write)) = self.passes.seen(line, read) else { continue };
                let ends = (self.renaming.new_operation(write), self.renaming.new_operation(read));
                let (Some(from), Some(to)) = ends else { continue };
                edges.push(Edge {
                    from: self.small.transaction_of(from),
                    to: self.small.transaction_of(to),
                    relation: Relation::WriteRead,
                    key: Some(self.small.operation(to).key),
                    from_operation: Some(from),
                    to_operation: Some(to),
                    because: Reason::Reads,
                });
            }
        }
        edges
    }

    fn diagram(&self) -> Diagram {
        let edges = self.edges();
        let all: Vec<TransactionId> = self.small.transactions().collect();
        let cycle: Vec<usize> = (0..edges.len()).collect();
        diagram(&Subject {
            history: &self.small,
            transactions: &all,
            edges: &edges,
            cycle: &cycle,
            operations: &[],
            shown: &|_| true,
            all_operations: true,
            n_operations: &operations_in(&self.small),
        })
    }

    /// By transaction drawn, its places in the order. Those that overlap another one of their session, as they may where
    /// session order is ignored, are where they commit.
    fn spans(&self) -> Vec<Span> {
        let mut spans = vec![None::<Span>; self.small.n_transactions()];
        for (place, line) in self.lines.iter().enumerate() {
            let Some(t) = self.renaming.new_transaction(line.transaction) else { continue };
            let at = (self.first + place + 1) as f64;
            let here = Span { from: at, to: at + COVERED };
            let started = spans[t.index()].filter(|_| self.keeps_sessions() && line.moment == StepKind::Commit);
            spans[t.index()] = Some(started.map_or(here, |started| Span { from: started.from, ..here }));
        }
        spans.into_iter().map(|span| span.unwrap_or_default()).collect()
    }

    fn keeps_sessions(&self) -> bool {
        self.passes.level().plain_of().is_none()
    }

    fn scene(&self, diagram: &Diagram, control: &Control) -> Result<Scene, Interrupt> {
        let timeline = Timeline::of_order(&self.small, self.spans(), control)?;
        let (edges, all) = (self.edges(), self.small.transactions().collect());
        let itself = Renaming { transactions: all, ..Renaming::default() };
        let anomaly = Anomaly { renaming: &itself, edges: &edges, arrows: diagram.arrows.iter().collect() };
        let shown =
            Shown { history: &self.small, timeline: &timeline, true_time: false, all: false, anomaly: Some(anomaly) };
        let width = (100.0 + 1.13 * PLACE * (self.lines.len() + 1) as f32).max(PAGE_CONTENT);
        Ok(Lanes::fitted(shown, width, MOST_DRAWN).scene())
    }

    /// What of the order is drawn, and how.
    fn caption(&self) -> String {
        let drawn = self.small.n_transactions();
        let all: BTreeSet<TransactionId> = self.passes.lines.iter().map(|line| line.transaction).collect();
        let before: BTreeSet<TransactionId> =
            self.passes.lines[..self.first].iter().map(|line| line.transaction).collect();
        let range = match all.len() {
            n if n == drawn && self.first == 0 => format!("All {}", counted(n, "transaction")),
            n => {
                let first = before.len() + 1;
                format!(
                    "Transactions {} to {} of {}",
                    grouped(first as u64),
                    grouped((first + drawn - 1) as u64),
                    grouped(n as u64)
                )
            }
        };
        let order = match (self.passes.is_ordered(), self.passes.level().has_snapshots(), self.keeps_sessions()) {
            (false, ..) => "in the order of the file",
            (true, true, true) => "in the order found, each from its start to its commit",
            (true, true, false) => "in the order found, each where it commits",
            (true, false, _) => "in the order found",
        };
        let verified = if self.passes.is_verified() { "; independently verified" } else { "; not verified" };
        let note = match self.passes.is_ordered() {
            true => {
                " An arrow leads from a write to a read that returned it; other reads are of initial versions or own writes"
            }
            false => "",
        };
        let cut = match self.first {
            0 => "",
            _ if self.passes.is_ordered() => ", or of transactions before these",
            _ => "",
        };
        let stop = if note.is_empty() { "" } else { "." };
        format!("{range} {order}{verified}.{note}{cut}{stop}")
    }

    fn tooltips(&self, diagram: &Diagram) -> BTreeMap<TargetKey, String> {
        let of_lines = self.lines.iter().filter_map(|of| {
            let t = self.renaming.new_transaction(of.transaction)?;
            Some((target_key(Target::Transaction(t)), printable(&line(self.passes, of, false))))
        });
        let of_arrows = diagram.arrows.iter().map(|arrow| {
            let (from, to) = (&diagram.cards[arrow.from].title, &diagram.cards[arrow.to].title);
            (target_key(Target::Edge(arrow.edge)), format!("{from} → {to}, {}", arrow.label))
        });
        of_lines.chain(of_arrows).collect()
    }
}
