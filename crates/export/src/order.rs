//! The page of a level that holds: the order that was found, as lanes, with what each read saw.

use super::Picture;
use super::digest::shortened;
use super::picture::target_key;
use super::picture::{PictureStep, TargetKey};
use super::view::PAGE_CONTENT;
use emath::{Vec2, vec2};
use isoscope_draw::diagram::lanes::{LaneContent, Lanes, ORDER_MARGIN, View};
use isoscope_draw::diagram::layout::Layout;
use isoscope_draw::diagram::scene::Scene;
use isoscope_draw::diagram::text_size::printable;
use isoscope_draw::diagram::timeline::{Span, Timeline};
use isoscope_draw::diagram::{Anomaly, Arrow, Diagram, Subject, Target, diagram, operations_in};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{
    History, KeyId, Renaming, TransactionId, TransactionSet, counted, grouped, visible,
};
use isoscope_model::relations::Edge;
use isoscope_tell::counterexample::Orders;
use isoscope_tell::counterexample::passes::{
    OrderLine, Passes, Seen, Surroundings, line, markdown, plain_text, title, why,
};
use isoscope_tell::counterexample::replay::StepKind;
use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::ops::RangeInclusive;
use std::path::Path;

/// Maximum number of transactions in a picture.
pub const MOST_DRAWN: usize = 30;
/// Least and greatest width of a place in the order; names in between are whole.
const PLACE: (f32, f32) = (48.0, 120.0);
/// What a transaction covers of its place.
const COVERED: f64 = 0.8;
/// Height of a lane on a page: with few of them, and with many.
const LANE: (f32, f32) = (96.0, 78.0);
/// Height of a lane in a window.
const LOW_LANE: (f32, f32) = (64.0, 44.0);
/// In a window few lanes are higher, which keeps arrows apart: as many as this height has room for, up to the greatest.
const WINDOW: f32 = 270.0;
/// The greatest height of a lane in a window.
const HIGH_LANE: f32 = 96.0;
/// How many transactions a window shows before the selected one.
const BEFORE: usize = 10;
/// Height that lanes leave free at the bottom.
const BELOW: f32 = 18.0;
/// With more sessions lanes are lower.
const FEW: usize = 4;
/// Maximum number of keys in a label.
const KEYS: usize = 2;

/// The part of an order that a picture shows: up to [`MOST_DRAWN`] transactions from here on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// The line of the order that comes first.
    pub first: usize,
}

/// A part of an order as a window shows it: its transactions are those of the whole history.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderSheet {
    /// Which part.
    pub stretch: Stretch,
    /// The steps of the witness that it covers.
    pub steps: RangeInclusive<usize>,
    /// The lanes. An edge in it is the index of one of `arrows`.
    pub scene: Scene,
    /// The reads of what other transactions wrote.
    pub arrows: Vec<ReadFrom>,
    /// What they show.
    pub caption: String,
}

/// One transaction read what another wrote: both of the whole history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFrom {
    /// The writer.
    pub writer: TransactionId,
    /// The reader.
    pub reader: TransactionId,
    /// Who read what from whom, as a sentence without a full stop.
    pub text: String,
}

/// The part of an order around a step; none where nothing is ordered. O(operations of the part · log versions).
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub fn order_sheet(
    passes: &Passes<'_>,
    step: usize,
    control: &Control,
) -> Result<Option<OrderSheet>, Interrupt> {
    let at = passes
        .lines
        .partition_point(|line| *line.steps.end() < step);
    let before = if passes.lines.len() > MOST_DRAWN {
        BEFORE
    } else {
        at
    };
    let stretch = Stretch {
        first: at.saturating_sub(before),
    };
    let part = OrderExcerpt::new(passes, stretch);
    let (true, Some(first), Some(last)) =
        (passes.is_ordered(), part.lines.first(), part.lines.last())
    else {
        return Ok(None);
    };
    let steps = *first.steps.start()..=*last.steps.end();
    let diagram = part.diagram();
    let high = (WINDOW / (part.small.n_sessions() as f32 + 0.5)).clamp(LOW_LANE.0, HIGH_LANE);
    let mut scene = part.scene(&diagram, (high, LOW_LANE.1), control)?;
    let of_whole = |target| match target {
        Target::Transaction(t) => Some(Target::Elsewhere(part.renaming.old_transaction(t))),
        Target::Operation(o) => Some(Target::Elsewhere(
            part.renaming.old_transaction(part.small.transaction_of(o)),
        )),
        Target::Edge(edge) => Some(Target::Edge(edge)),
        Target::Elsewhere(_) | Target::Several(..) => None,
    };
    scene
        .marks
        .iter_mut()
        .for_each(|mark| mark.target = mark.target.and_then(of_whole));
    let (arrows, caption) = (part.arrows(&diagram), part.caption(&diagram));
    Ok(Some(OrderSheet {
        stretch,
        steps,
        scene,
        arrows,
        caption,
    }))
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
    let part = OrderExcerpt::new(passes, stretch);
    let sentences = why(passes, surroundings);
    let diagram = part.diagram();
    let scene = if passes.is_ordered() {
        part.scene(&diagram, LANE, control)?
    } else {
        Scene::new(emath::Rect::ZERO)
    };
    let steps = part
        .lines
        .iter()
        .enumerate()
        .map(|(place, of)| PictureStep {
            heading: if passes.is_ordered() {
                "The order"
            } else {
                "What each read returned"
            }
            .to_owned(),
            depth: 0,
            number: Some(part.first + place + 1),
            text: printable(&line(passes, of, false)),
            edges: Vec::new(),
        });
    Ok(Picture {
        title: printable(&title(passes)),
        subtitle: part.caption(&diagram),
        verdicts: vec![format!("{} holds", passes.level())],
        facts: vec![printable(&sentences.join(" "))],
        details: Vec::new(),
        key: None,
        steps: steps.collect(),
        conclusion: String::new(),
        footer: footer(passes, sha256),
        tooltips: part.tooltips(&diagram),
        markdown: markdown(passes, surroundings, true),
        text: plain_text(passes, surroundings, true),
        layout: Layout::default(),
        orders: Orders::default(),
        decisive: Vec::new(),
        is_wide: true,
        is_dark: false,
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
    let verified = passes
        .is_verified()
        .then(|| "independently verified".to_owned());
    let version = format!("IsoScope {}", env!("CARGO_PKG_VERSION"));
    name.into_iter()
        .chain(digest)
        .chain(verified)
        .chain([version])
        .collect()
}

/// What is drawn: some lines of the order, as a history of their transactions.
struct OrderExcerpt<'p> {
    passes: &'p Passes<'p>,
    /// The place of the first line, from 0.
    first: usize,
    lines: &'p [OrderLine],
    small: History,
    renaming: Renaming,
}

impl<'p> OrderExcerpt<'p> {
    fn new(passes: &'p Passes<'p>, stretch: Stretch) -> OrderExcerpt<'p> {
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
        OrderExcerpt {
            passes,
            first,
            lines: &passes.lines[first..end],
            small,
            renaming,
        }
    }

    /// A read and the write that it saw: an edge if both are drawn.
    fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for line in self.lines {
            for read in self.passes.operations(line) {
                let Some(Seen::Write(write)) = self.passes.seen(read) else {
                    continue;
                };
                let ends = (
                    self.renaming.new_operation(write),
                    self.renaming.new_operation(read),
                );
                let (Some(from), Some(to)) = ends else {
                    continue;
                };
                edges.push(Edge::write_read(
                    &self.small,
                    self.small.transaction_of(from),
                    Some(from),
                    to,
                ));
            }
        }
        edges
    }

    fn diagram(&self) -> Diagram {
        let edges = self.edges();
        let all: Vec<TransactionId> = self.small.transactions().collect();
        let cycle: Vec<usize> = (0..edges.len()).collect();
        let mut diagram = diagram(&Subject {
            history: &self.small,
            transactions: &all,
            edges: &edges,
            cycle: &cycle,
            operations: &[],
            shown: &|_| true,
            all_operations: true,
            n_operations: &operations_in(&self.small),
        });
        self.join_arrows(&mut diagram, &edges);
        diagram
    }

    /// One arrow between two transactions, whatever the number of reads.
    fn join_arrows(&self, diagram: &mut Diagram, edges: &[Edge]) {
        let mut place: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let mut joined: Vec<Arrow> = Vec::new();
        for arrow in std::mem::take(&mut diagram.arrows) {
            match place.entry((arrow.from, arrow.to)) {
                Entry::Occupied(first) => {
                    let first = &mut joined[*first.get()];
                    first.also.push(arrow.edge);
                    first.also.extend(arrow.also);
                }
                Entry::Vacant(entry) => {
                    entry.insert(joined.len());
                    joined.push(arrow);
                }
            }
        }
        for arrow in &mut joined {
            let keys = self.keys(arrow, edges);
            let more = keys.len().saturating_sub(KEYS);
            let named = keys[..keys.len() - more].join(", ");
            let more = if more > 0 {
                format!(" +{more}")
            } else {
                String::new()
            };
            arrow.label = format!("{} {named}{more}", arrow.relation.code());
        }
        diagram.arrows = joined;
    }

    /// The keys of an arrow, in the order in which they are read.
    fn keys(&self, arrow: &Arrow, edges: &[Edge]) -> Vec<String> {
        let mut keys: Vec<KeyId> = Vec::new();
        for key in std::iter::once(&arrow.edge)
            .chain(&arrow.also)
            .filter_map(|edge| edges[*edge].key)
        {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys.iter()
            .map(|&key| printable(&self.small.key_name(key)))
            .collect()
    }

    /// By edge: who read what from whom. Edges between the same transactions say the same.
    fn arrows(&self, diagram: &Diagram) -> Vec<ReadFrom> {
        let edges = self.edges();
        let by_ends: BTreeMap<(TransactionId, TransactionId), String> = diagram
            .arrows
            .iter()
            .map(|arrow| {
                let edge = &edges[arrow.edge];
                (
                    (edge.from, edge.to),
                    self.reads_from(diagram, arrow, &edges),
                )
            })
            .collect();
        let read_from = |edge: &Edge| ReadFrom {
            writer: self.renaming.old_transaction(edge.from),
            reader: self.renaming.old_transaction(edge.to),
            text: by_ends
                .get(&(edge.from, edge.to))
                .cloned()
                .unwrap_or_default(),
        };
        edges.iter().map(read_from).collect()
    }

    /// "T2 read what T1 wrote: key 3, key 4".
    fn reads_from(&self, diagram: &Diagram, arrow: &Arrow, edges: &[Edge]) -> String {
        let (from, to) = (
            &diagram.cards[arrow.from].title,
            &diagram.cards[arrow.to].title,
        );
        let keys: Vec<String> = self
            .keys(arrow, edges)
            .iter()
            .map(|key| format!("key {key}"))
            .collect();
        format!("{to} read what {from} wrote: {}", keys.join(", "))
    }

    /// By transaction drawn, its places in the order. Those that overlap another one of their session, as they may where
    /// session order is ignored, are where they commit.
    fn spans(&self) -> Vec<Span> {
        let mut spans = vec![None::<Span>; self.small.n_transactions()];
        for (place, line) in self.lines.iter().enumerate() {
            let Some(t) = self.renaming.new_transaction(line.transaction) else {
                continue;
            };
            let at = (self.first + place + 1) as f64;
            let here = Span {
                from: at,
                to: at + COVERED,
            };
            let started = spans[t.index()]
                .filter(|_| self.keeps_sessions() && line.moment == StepKind::Commit);
            spans[t.index()] = Some(started.map_or(here, |started| Span {
                from: started.from,
                ..here
            }));
        }
        spans
            .into_iter()
            .map(|span| span.unwrap_or_default())
            .collect()
    }

    fn keeps_sessions(&self) -> bool {
        self.passes.level().plain_of().is_none()
    }

    fn scene(
        &self,
        diagram: &Diagram,
        lane: (f32, f32),
        control: &Control,
    ) -> Result<Scene, Interrupt> {
        let timeline = Timeline::of_order(&self.small, self.spans(), control)?;
        let (edges, all) = (self.edges(), self.small.transactions().collect());
        let itself = Renaming {
            transactions: all,
            ..Renaming::default()
        };
        let anomaly = Anomaly {
            renaming: &itself,
            edges: &edges,
            arrows: diagram.arrows.iter().collect(),
        };
        let shown = LaneContent {
            history: &self.small,
            timeline: &timeline,
            true_time: false,
            anomaly: Some(anomaly),
            annotations: &[],
        };
        let size = self.size(lane);
        let mut lanes = Lanes::new(shown, size, View::default());
        lanes.plot.max.y = size.y - BELOW;
        lanes.fit();
        Ok(lanes.scene())
    }

    /// Room for the lanes, each so high with few and with many of them: places wide enough for most names.
    fn size(&self, (few, many): (f32, f32)) -> Vec2 {
        let longest = self
            .small
            .transactions()
            .map(|t| self.small.transaction_name(t).chars().count())
            .max();
        let place = (longest.unwrap_or(0) as f32 * 6.7 + 14.0) / COVERED as f32;
        let place = place.clamp(PLACE.0, PLACE.1);
        let lane = if self.small.n_sessions() <= FEW {
            few
        } else {
            many
        };
        let places = self.lines.len() as f32 + 2.0 * ORDER_MARGIN as f32;
        let width = 100.0 + place * places;
        vec2(
            width.max(PAGE_CONTENT),
            30.0 + lane * (self.small.n_sessions() as f32 + 0.5),
        )
    }

    /// What of the order is drawn, and how.
    fn caption(&self, diagram: &Diagram) -> String {
        let drawn = self.small.n_transactions();
        let all: BTreeSet<TransactionId> = self
            .passes
            .lines
            .iter()
            .map(|line| line.transaction)
            .collect();
        let before: BTreeSet<TransactionId> = self.passes.lines[..self.first]
            .iter()
            .map(|line| line.transaction)
            .collect();
        let range = match all.len() {
            1 => "The only transaction".to_owned(),
            2 if drawn == 2 => "Both transactions".to_owned(),
            n if n == drawn && self.first == 0 => {
                format!("All {}{}", counted(n, "transaction"), self.besides())
            }
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
        let order = match (
            self.passes.is_ordered(),
            self.passes.level().has_snapshots(),
            self.keeps_sessions(),
        ) {
            (false, ..) => "in the order of the file",
            (true, true, true) => "in the order found, each from its start to its commit",
            (true, true, false) => "in the order found, each where it commits",
            (true, false, _) => "in the order found",
        };
        let verified = if self.passes.is_verified() {
            "; independently verified"
        } else {
            "; not verified"
        };
        let note = match (
            self.passes.is_ordered(),
            diagram.arrows.is_empty(),
            self.first,
        ) {
            (false, ..) => "",
            (true, true, _) => " No read here returned what another transaction here wrote.",
            (true, false, 0) => {
                " An arrow leads from a write to a read that returned it; other reads are of initial versions or own writes."
            }
            (true, false, _) => {
                " An arrow leads from a write to a read that returned it; other reads are of initial versions, own writes or \
                 transactions before these."
            }
        };
        format!("{range} {order}{verified}.{note}")
    }

    /// The transactions that set up the initial state, which are in no place of the order, in parentheses.
    fn besides(&self) -> String {
        let history = self.passes.history();
        let is_left_out =
            |t: &TransactionId| !self.passes.lines.iter().any(|line| line.transaction == *t);
        let set_up: Vec<TransactionId> = self.passes.set_up().filter(is_left_out).collect();
        match set_up.as_slice() {
            [] => String::new(),
            [one] => format!(
                " (besides {}, the initial state)",
                printable(&history.transaction_name(*one))
            ),
            several => format!(
                " (besides {}, the initial state)",
                counted(several.len(), "transaction")
            ),
        }
    }

    fn tooltips(&self, diagram: &Diagram) -> BTreeMap<TargetKey, String> {
        let of_lines = self.lines.iter().filter_map(|of| {
            let t = self.renaming.new_transaction(of.transaction)?;
            Some((
                target_key(Target::Transaction(t)),
                printable(&line(self.passes, of, false)),
            ))
        });
        let edges = self.edges();
        let of_arrows = diagram.arrows.iter().map(|arrow| {
            (
                target_key(Target::Edge(arrow.edge)),
                self.reads_from(diagram, arrow, &edges),
            )
        });
        of_lines.chain(of_arrows).collect()
    }
}
