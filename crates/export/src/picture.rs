//! Everything that belongs on the page of one counterexample.

use super::digest::shortened;
use super::drawing::{ABOUT_DECISIVE, Drawing, arranged, draw, is_legible};
use super::options::ComposeOptions;
use super::view::{PAGE_CONTENT, View};
use isoscope_check::checkers::{Level, Verdict};
use isoscope_draw::diagram::layout::{Arranged, LEAST_SCALE, Layout};
use isoscope_draw::diagram::scene::{Scene, scene};
use isoscope_draw::diagram::text_size::printable;
use isoscope_draw::diagram::{Arrow, Diagram, Target};
use isoscope_model::history::{History, Outcome, TransactionId, Unit, counted, visible};
use isoscope_model::relations::{EdgeIndex, Relation};
use isoscope_tell::counterexample::{
    Counterexample, Explanation, Orders, Shows, Step, drawn_part, narrate,
};
use std::collections::BTreeMap;
use std::path::Path;

/// A step of the argument as shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureStep {
    /// `Observed`, `Rule`, `Therefore` or `Case 1.2`.
    pub heading: String,
    /// The number of cases around it.
    pub depth: usize,
    /// Its number, from 1; none for what follows the argument.
    pub number: Option<usize>,
    /// The sentence after the heading.
    pub text: String,
    /// The edges it mentions.
    pub edges: Vec<EdgeIndex>,
}

/// A page: the input of all exporters.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Headline.
    pub title: String,
    /// What happened, in one sentence.
    pub subtitle: String,
    /// `RC holds`, `RA broken`, …: for programs.
    pub verdicts: Vec<String>,
    /// What it breaks and what still allows it, and what was tested: a line each, above the drawing.
    pub facts: Vec<String>,
    /// What else is known, a line each, below the argument.
    pub details: Vec<String>,
    /// What the transactions satisfy and break on every order: for programs.
    pub orders: Orders,
    /// The edges that make the difference between two orders.
    pub decisive: Vec<EdgeIndex>,
    /// What is drawn.
    pub diagram: Diagram,
    /// Where.
    pub layout: Layout,
    /// Its shapes.
    pub scene: Scene,
    /// How to read them, where that is not by arrows.
    pub key: Option<&'static str>,
    /// Whether the shapes keep their size where they are wider than a page, which is then wider, too.
    pub is_wide: bool,
    /// Whether its ground is dark, in SVG and PNG.
    pub is_dark: bool,
    /// The argument.
    pub steps: Vec<PictureStep>,
    /// The text after the steps.
    pub conclusion: String,
    /// Facts about the file, the verdicts and the program, in order.
    pub footer: Vec<String>,
    /// What a viewer shows about a target.
    pub tooltips: BTreeMap<TargetKey, String>,
    /// All of it as Markdown.
    pub markdown: String,
    /// All of it as plain text.
    pub text: String,
}

impl Picture {
    /// What the mark of the edges that make the difference means, if there are any.
    pub(super) fn about_mark(&self) -> Option<&'static str> {
        (!self.decisive.is_empty()).then_some(ABOUT_DECISIVE)
    }

    /// The relation of the arrows that have the number of this line and that it mentions, if it is a single one.
    pub(super) fn relation_of(&self, step: &PictureStep) -> Option<Relation> {
        // A line of operations has no arrows.
        let number = step.number.filter(|_| self.key.is_none())?;
        let is_of = |arrow: &Arrow| step.edges.is_empty() || step.edges.contains(&arrow.edge);
        let is_numbered = |arrow: &&Arrow| match arrow.numbers.as_slice() {
            [first, ..] if *first == number => is_of(arrow),
            all => all.contains(&number),
        };
        let mut arrows = self.diagram.arrows.iter().filter(is_numbered);
        let first = arrows.next()?.relation;
        arrows.all(|arrow| arrow.relation == first).then_some(first)
    }
}

/// A [`Target`] as a sortable key.
pub type TargetKey = (u8, usize);

/// The key of a target.
pub(super) fn target_key(target: Target) -> TargetKey {
    match target {
        Target::Transaction(t) => (0, t.0 as usize),
        Target::Operation(o) => (1, o.index()),
        Target::Edge(e) => (2, e),
        Target::Elsewhere(t) | Target::Several(t, _) => (3, t.index()),
    }
}

/// The page of a counterexample. `whole` is the history it was taken from.
pub fn compose(
    example: &Counterexample,
    explanation: &Explanation,
    whole: &History,
    options: &ComposeOptions,
) -> Picture {
    let drawing = draw(example, explanation, whole, options);
    let tooltips = tooltips(explanation, &drawing);
    let drawn = options
        .drawn
        .as_ref()
        .and_then(|drawn| drawn.of_part(&drawing.diagram));
    // Cards that were put somewhere stay there, however small the text becomes.
    let drawn = drawn.filter(|drawn| is_legible(drawn) || !options.overrides.moved.is_empty());
    let Arranged { diagram, layout } =
        drawn.unwrap_or_else(|| arranged(&drawing.diagram, options.layout));
    // The columns of sessions have narrow cards, and others say their session.
    let says_no_outcome = diagram.cards.iter().any(|card| {
        !card.transaction.is_initial() && (card.status.is_empty() || layout.lanes.is_empty())
    });
    let is_committed =
        |t: TransactionId| t.is_initial() || example.history.outcome(t) == Outcome::Committed;
    let committed = if example.history.transactions().all(is_committed) {
        "all transactions of this counterexample were acknowledged as committed"
    } else {
        "transactions not marked otherwise committed"
    };
    let shown = options.view.scene(example, whole, &drawing.diagram);
    let linear = match options.view {
        View::Graph => super::linear::of_longest(example),
        _ => None,
    };
    let is_linear = linear.is_some();
    let shown = shown.or(linear);
    let is_graph = shown.is_none();
    // Neither time nor a table can be broken into lines.
    let may_be_wide = is_linear || matches!(options.view, View::Lanes | View::Matrix);
    let scene = shown.unwrap_or_else(|| scene(&diagram, &layout));
    let steps = explanation
        .steps
        .iter()
        .enumerate()
        .map(|(place, step)| PictureStep {
            heading: step.heading(),
            depth: step.depth(),
            number: Some(place + 1),
            text: printable(&unbroken(step)),
            edges: step.edges.clone(),
        });
    let otherwise = drawing.alternatives.iter().map(|alternative| PictureStep {
        heading: "Otherwise".to_owned(),
        depth: 0,
        number: None,
        text: printable(&alternative.text),
        edges: vec![alternative.edge],
    });
    // Which entry of the list it is shown for matters only to those who have the list.
    let mut details = explanation.details();
    // Those who know their names read them with the text.
    details.retain(|line| Some(line) != explanation.weakest.as_ref());
    let mut listed = None;
    if explanation.shows != Shows::Chosen {
        listed = explanation.contains.as_ref();
        details.retain(|line| Some(line) != explanation.contained().as_ref());
    }
    details.push(format!("In the literature: {}.", explanation.codes));
    let [summary, breaks, tested] = explanation.block();
    let mut footer = footer(example, whole, options, drawing.case.as_deref());
    let version = footer.pop();
    footer.extend(bytes_of(example));
    footer.extend((says_no_outcome && is_graph).then(|| committed.to_owned()));
    let n_drawn = diagram
        .cards
        .iter()
        .filter(|card| !card.transaction.is_initial())
        .count();
    let n = example.history.n_transactions();
    let is_reduced = is_graph
        && n_drawn < n
        && drawing.case.is_none()
        && drawn_part(&example.violation).is_none();
    footer.extend(is_reduced.then(|| format!("{n_drawn} of these {n} transactions are drawn")));
    let others = options.overrides.others();
    let is_folded = drawing.is_partial && others.is_empty();
    footer.extend(is_folded.then(|| "evidence left out".to_owned()));
    footer
        .extend((!others.is_empty()).then(|| format!("left out by choice: {}", others.join(", "))));
    footer.extend(listed.map(|listed| printable(listed)));
    footer.extend(version);
    footer.extend(ladder(example));
    Picture {
        title: printable(&explanation.title),
        subtitle: printable(&summary),
        verdicts: verdicts(example),
        orders: explanation.orders.clone(),
        decisive: example.edges_needed(&explanation.orders),
        facts: [breaks, tested].map(|line| printable(&line)).to_vec(),
        details: details.iter().map(|line| printable(line)).collect(),
        steps: steps.chain(otherwise).collect(),
        conclusion: printable(&explanation.size),
        footer,
        tooltips,
        markdown: narrate::markdown(example, explanation, whole),
        text: narrate::plain_text(example, explanation, whole),
        diagram,
        layout,
        key: is_linear.then_some(super::linear::ABOUT_LINEAR),
        is_wide: may_be_wide && scene.bounds.width() * LEAST_SCALE > PAGE_CONTENT,
        is_dark: false,
        scene,
    }
}

/// A step as a sentence. A line may break before what it is based on, not within.
fn unbroken(step: &Step) -> String {
    let (said, from) = (narrate::said(step), narrate::from(step));
    let blank = if from.is_empty() { "" } else { " " };
    format!("{said}{blank}{}", from.replace(' ', "\u{a0}"))
}

/// The requested levels in their order.
fn ladder(example: &Counterexample) -> Option<String> {
    // Of single operations on one key it is what strict serializability is, unless comparisons failed.
    let is_same = || {
        example.verdicts.iter().any(|(level, verdict)| {
            *level == Level::StrictSerializability && !matches!(verdict, Verdict::Satisfied(_))
        })
    };
    // Repeatable read implies cursor stability only, and none of the others here.
    let is_listed = |level: Level| {
        !level.is_serial_for_items() && (level != Level::Linearizability || !is_same())
    };
    let levels = example
        .verdicts
        .iter()
        .filter(|(level, _)| is_listed(*level));
    let mut levels: Vec<Level> = levels.map(|&(level, _)| level).collect();
    levels.sort_unstable();
    levels.dedup();
    let levels: Vec<String> = levels.into_iter().map(Level::spoken).collect();
    let both = [Level::CutIsolation, Level::ReadCommitted];
    let are_there = both
        .iter()
        .all(|level| example.verdicts.iter().any(|(listed, _)| listed == level));
    let apart = if are_there {
        " (neither of the first two implies the other)"
    } else {
        ""
    };
    (levels.len() > 1).then(|| format!("levels, weakest first{apart}: {}", levels.join(", ")))
}

fn verdicts(example: &Counterexample) -> Vec<String> {
    let said = |word: &str| match word {
        "satisfied" => "holds",
        "violated" => "broken",
        _ => "undecided",
    };
    example
        .verdicts
        .iter()
        .map(|(level, verdict)| format!("{level} {}", said(verdict.word())))
        .collect()
}

fn footer(
    example: &Counterexample,
    whole: &History,
    options: &ComposeOptions,
    case: Option<&str>,
) -> Vec<String> {
    let mut footer = Vec::new();
    let path = Path::new(&whole.origin().path);
    if let Some(name) = path.file_name() {
        let name = printable(&visible(&name.to_string_lossy()));
        let is_packed = path
            .extension()
            .is_some_and(|ending| ["gz", "zst", "zstd", "zip"].iter().any(|e| ending == *e));
        let unpacked = whole.origin().unit == Unit::Byte && is_packed;
        let places = if unpacked {
            "; bytes of the unpacked file"
        } else {
            ""
        };
        footer.push(format!(
            "{name} ({}{places})",
            counted(example.n_transactions_of_whole, "transaction")
        ));
    }
    footer.extend(by_position(example, whole));
    footer.extend(
        options
            .sha256
            .as_ref()
            .map(|digest| format!("sha256 {}", shortened(digest))),
    );
    footer.extend(match case {
        Some(label) => Some(format!("drawn is case {label}")),
        None => drawn_part(&example.violation).map(|part| format!("only {part} is drawn")),
    });
    footer.push(format!("IsoScope {}", env!("CARGO_PKG_VERSION")));
    footer
}

/// "bytes 120, 344": where the operations of a binary file are.
fn bytes_of(example: &Counterexample) -> Option<String> {
    const MOST: usize = 12;
    let spots = example.shown_operations().into_iter();
    let spots = spots.filter_map(|o| example.history.spot_of(o));
    let mut bytes: Vec<u32> = spots
        .filter(|spot| spot.unit == Unit::Byte)
        .map(|spot| spot.number - 1)
        .collect();
    bytes.sort_unstable();
    bytes.dedup();
    let more = if bytes.len() > MOST { ", …" } else { "" };
    let shown: Vec<String> = bytes.iter().take(MOST).map(u32::to_string).collect();
    (!shown.is_empty()).then(|| format!("bytes {}{more}", shown.join(", ")))
}

/// "S2#3: transaction 3 of session 2", for the first that is named by its position.
fn by_position(example: &Counterexample, whole: &History) -> Option<String> {
    let t = *example
        .renaming
        .transactions
        .iter()
        .find(|&&t| whole.is_named_by_position(t))?;
    let (name, session) = (
        whole.transaction_name(t),
        whole.session_and_node(whole.session_of(t)),
    );
    Some(printable(&format!(
        "{name}: transaction {} of session {session}",
        whole.position_of(t) + 1
    )))
}

fn tooltips(explanation: &Explanation, drawing: &Drawing) -> BTreeMap<TargetKey, String> {
    let diagram = &drawing.diagram;
    let mut tooltips = BTreeMap::new();
    for card in &diagram.cards {
        let session = &diagram.lanes[card.lane].title;
        let text = format!("{}: {}, {session}", card.title, card.status);
        tooltips.insert(target_key(Target::Transaction(card.transaction)), text);
        for row in &card.rows {
            let place = if row.place.is_empty() {
                String::new()
            } else {
                format!(", {}", row.place)
            };
            tooltips.insert(
                target_key(Target::Operation(row.operation)),
                format!("{}: {}{place}", card.title, row.full),
            );
        }
    }
    for arrow in &diagram.arrows {
        let (from, to) = (
            &diagram.cards[arrow.from].title,
            &diagram.cards[arrow.to].title,
        );
        let mut text = format!(
            "{from} → {to}, {} ({})",
            arrow.text(),
            drawing.edges[arrow.edge].relation.name()
        );
        if let Some(alternative) = drawing
            .alternatives
            .iter()
            .find(|alternative| alternative.edge == arrow.edge)
        {
            text.push_str(": ");
            text.push_str(&printable(&alternative.text));
        } else if let Some(reason) = explanation.reasons.get(arrow.edge) {
            text.push_str(": ");
            text.push_str(&printable(&reason.text));
        }
        tooltips.insert(target_key(Target::Edge(arrow.edge)), text);
    }
    tooltips
}
