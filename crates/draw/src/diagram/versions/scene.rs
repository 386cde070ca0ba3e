//! The versions of a key from left to right, each with its readers below; above them what the anomaly forces.

use super::{Chain, Forced, VersionRow};
use crate::diagram::layout::label_size;
use crate::diagram::path::Path;
use crate::diagram::scene::{Align, Mark, Scene, Shape, head};
use crate::diagram::text_size::{ADVANCE, elide};
use crate::diagram::theme::Role;
use crate::diagram::{Anomaly, Arrow, Emphasis, Target};
use emath::{Pos2, Rect, Vec2, pos2, vec2};
use isoscope_model::history::{History, OperationId, Outcome, TransactionId, grouped};
use isoscope_model::relations::EdgeIndex;

/// A card of a version.
const CARD: Vec2 = vec2(112.0, 46.0);
/// From one card to the next.
pub const STEP: f32 = 143.0;
/// From one arc of what is forced to the next.
const ARC: f32 = 22.0;
/// Room above the cards.
const TOP: f32 = 16.0;
/// Readers among which those of the anomaly are looked for.
const SORTED: usize = 1000;
/// Room for the words "read by".
const READ_BY: f32 = 8.0 * ADVANCE * FONT;
/// Maximum number of readers named under a version.
const READERS: usize = 8;
/// Height of a line under a version.
const LINE: f32 = 16.0;
/// Font size of values.
const VALUE: f32 = 12.5;
/// Font size of everything else.
const FONT: f32 = 11.0;

/// What a picture of versions shows of them.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    /// Maximum number of readers named under a version.
    pub readers: usize,
    /// Orders that the anomaly forces, as arcs above the versions.
    pub forced: bool,
}

/// Everything.
pub const WHOLE: Detail = Detail {
    readers: READERS,
    forced: true,
};

/// Height of versions with this many readers each, without arcs.
pub fn height(readers: usize) -> f32 {
    TOP + CARD.y + 14.0 + LINE * (readers + 2) as f32
}

/// The versions at `places`, ascending, as columns that are [`STEP`] wide. O(places + what is forced).
pub fn scene(
    history: &History,
    chain: &Chain,
    anomaly: Option<&Anomaly<'_>>,
    places: &[usize],
    detail: Detail,
) -> Scene {
    let arcs = if detail.forced {
        arcs(chain, places)
    } else {
        Vec::new()
    };
    let top = TOP + ARC * arcs.iter().map(|(_, level)| level + 1).max().unwrap_or(0) as f32;
    let bounds = Rect::from_min_size(
        Pos2::ZERO,
        vec2(places.len() as f32 * STEP + 8.0, top + CARD.y + 8.0),
    );
    let mut columns = Columns {
        history,
        anomaly,
        top,
        readers: detail.readers,
        scene: Scene::new(bounds),
    };
    for (column, &place) in places.iter().enumerate() {
        let (card, row) = (columns.card(column), &chain.rows[place]);
        columns.version(card, row);
        columns.readers(card, row);
        let next = places.get(column + 1).copied().unwrap_or(place + 1);
        if let Some(between) = chain.rows.get(place + 1..=next) {
            columns.gap(card, between);
        }
    }
    columns.forced(chain, places, &arcs);
    columns.scene
}

/// What is forced between two of these places, each with the lowest level above the cards that is free for it.
fn arcs(chain: &Chain, places: &[usize]) -> Vec<(Forced, usize)> {
    let column = |place: usize| places.binary_search(&place).ok();
    let mut taken: Vec<Vec<(usize, usize)>> = Vec::new();
    let mut arcs = Vec::new();
    for forced in &chain.forced {
        let (Some(a), Some(b)) = (column(forced.older), column(forced.newer)) else {
            continue;
        };
        let (a, b) = (a.min(b), a.max(b));
        let is_free = |level: &Vec<(usize, usize)>| level.iter().all(|(c, d)| b <= *c || *d <= a);
        let level = taken.iter().position(is_free).unwrap_or(taken.len());
        taken.resize(taken.len().max(level + 1), Vec::new());
        taken[level].push((a, b));
        arcs.push((*forced, level));
    }
    arcs
}

/// The versions that a picture of the anomaly needs, at most `most`: those that it orders, those that its edges are
/// about, those that its transactions wrote, and the ones around them; the oldest ones of a key that it is not about.
/// O(edges · operations of a transaction · log versions).
pub fn places(history: &History, chain: &Chain, anomaly: &Anomaly<'_>, most: usize) -> Vec<usize> {
    let forced = chain
        .forced
        .iter()
        .flat_map(|forced| [forced.older, forced.newer]);
    let edges = || {
        anomaly.edges.iter().filter(|edge| {
            edge.key
                .is_some_and(|key| anomaly.renaming.keys[key.index()] == chain.key)
        })
    };
    let whole = |operation: OperationId| {
        chain.place_of(*anomaly.renaming.operations.get(operation.index())?)
    };
    let about = edges()
        .flat_map(|edge| edge.from_operation.into_iter().chain(edge.to_operation))
        .filter_map(whole);
    let initial = edges()
        .filter(|edge| edge.from.is_initial() || edge.to.is_initial())
        .map(|_| 0);
    let last_write = |small: TransactionId| {
        let t = anomaly.renaming.old_transaction(small);
        let writes = history
            .operations_of(t)
            .filter(|operation| history.operation(*operation).key == chain.key);
        writes.filter_map(|write| chain.place_of(write)).last()
    };
    let written = (0..anomaly.renaming.transactions.len())
        .map(TransactionId::new)
        .filter_map(last_write);
    let mut places: Vec<usize> = Vec::new();
    let add = |places: &mut Vec<usize>, place: usize| {
        if places.len() < most && place < chain.rows.len() && !places.contains(&place) {
            places.push(place);
        }
    };
    forced
        .chain(about)
        .chain(initial)
        .chain(written)
        .for_each(|place| add(&mut places, place));
    let around: Vec<usize> = places
        .iter()
        .flat_map(|place| [place.saturating_sub(1), place + 1])
        .collect();
    let others = if places.is_empty() { 0..most } else { 0..0 };
    around
        .into_iter()
        .chain(others)
        .for_each(|place| add(&mut places, place));
    places.sort_unstable();
    places
}

struct Columns<'a> {
    history: &'a History,
    anomaly: Option<&'a Anomaly<'a>>,
    /// Room above the cards, for what is forced.
    top: f32,
    /// Maximum number of readers named under a version.
    readers: usize,
    scene: Scene,
}

impl Columns<'_> {
    fn card(&self, column: usize) -> Rect {
        Rect::from_min_size(pos2(column as f32 * STEP + 6.0, self.top), CARD)
    }

    fn name(&self, transaction: TransactionId) -> String {
        if transaction.is_initial() {
            "initial".to_owned()
        } else {
            self.history.transaction_name(transaction)
        }
    }

    /// What is said of a version without readers: an element may be in lists that were read, but at the end of none.
    fn unread(&self, row: &VersionRow) -> &'static str {
        let key = row.write.map(|write| self.history.operation(write).key);
        if key.is_some_and(|key| self.history.lists().is_list(key)) {
            "no read ends here"
        } else {
            "never read"
        }
    }

    fn target(&self, transaction: TransactionId) -> Option<Target> {
        (!transaction.is_initial()).then(|| Anomaly::target(self.anomaly, transaction))
    }

    fn version(&mut self, card: Rect, row: &VersionRow) {
        // A write of the anomaly is one of its operations.
        let own = self
            .anomaly
            .zip(row.write)
            .and_then(|(anomaly, write)| anomaly.renaming.new_operation(write));
        let target = own.map(Target::Operation).or(self.target(row.writer));
        let (mut name, value) = (
            self.name(row.writer),
            elide(&self.history.value_name(row.value), 13),
        );
        if row.sets_up {
            name += " (initial)";
        }
        let outcome = if row.is_harmful() {
            Outcome::Aborted
        } else {
            Outcome::Committed
        };
        let is_own = matches!(target, Some(Target::Transaction(_) | Target::Operation(_)));
        let emphasis = if is_own {
            Emphasis::Cycle
        } else {
            Emphasis::Evidence
        };
        self.scene
            .rect(card, 6.0, Role::Bar(outcome, emphasis), target);
        let middle = |y: f32| (card.center() + vec2(0.0, y), Align::Center);
        self.scene
            .bold(middle(-8.0), VALUE, value.clone(), Role::CardTitle, target);
        self.scene.text(
            middle(10.0),
            FONT,
            elide(&name, 16),
            Role::CardStatus,
            target,
        );
        let readers: Vec<String> = row
            .readers
            .iter()
            .take(READERS)
            .map(|(t, _)| self.name(*t))
            .collect();
        let spoken = if readers.is_empty() {
            format!("Version {value} of {name}, {}", self.unread(row))
        } else {
            format!("Version {value} of {name}, read by {}", readers.join(", "))
        };
        self.scene.name(card, spoken, None);
    }

    fn readers(&mut self, card: Rect, row: &VersionRow) {
        let mut y = card.bottom() + 14.0;
        let columns = ((STEP - 14.0) / (ADVANCE * FONT)) as usize;
        let (mut any, unread) = (false, self.unread(row));
        let mut line = |scene: &mut Scene, text: &str, role: Role, target: Option<Target>| {
            let area =
                Rect::from_x_y_ranges(card.left()..=card.right(), y - LINE / 2.0..=y + LINE / 2.0);
            if let Some(target) = target {
                scene.rect(area, 2.0, Role::ContextRow, Some(target));
                scene.name(area, format!("Reader {text}"), None);
            }
            // The first reader follows the words "read by", the others are below it.
            let indent = if role == Role::Folded || role == Role::FaultText {
                0.0
            } else {
                READ_BY
            };
            if indent > 0.0 && !std::mem::replace(&mut any, true) {
                scene.text(
                    (area.left_center(), Align::Left),
                    FONT,
                    "read by".to_owned(),
                    Role::Folded,
                    target,
                );
            }
            let columns = columns - (indent / (ADVANCE * FONT)) as usize;
            let at = area.left_center() + vec2(indent, 0.0);
            scene.text((at, Align::Left), FONT, elide(text, columns), role, target);
            y += LINE;
            scene.bounds.max.y = scene.bounds.max.y.max(y);
        };
        if let Some(blemish) = row.blemish {
            let role = if row.is_harmful() {
                Role::FaultText
            } else {
                Role::Folded
            };
            line(&mut self.scene, blemish, role, None);
        }
        if row.readers.is_empty() {
            line(&mut self.scene, unread, Role::Folded, None);
        }
        // Readers of the anomaly come first.
        let is_own = |t: &TransactionId| matches!(self.target(*t), Some(Target::Transaction(_)));
        let (own, others): (Vec<_>, Vec<_>) = row
            .readers
            .iter()
            .map(|(t, _)| *t)
            .take(SORTED)
            .partition(is_own);
        for reader in own.into_iter().chain(others).take(self.readers) {
            let (name, target) = (self.name(reader), self.target(reader));
            let role = if matches!(target, Some(Target::Transaction(_))) {
                Role::CardTitle
            } else {
                Role::CardStatus
            };
            line(&mut self.scene, &name, role, target);
        }
        if row.readers.len() > self.readers {
            let more = format!(
                "and {} more",
                grouped((row.readers.len() - self.readers) as u64)
            );
            line(&mut self.scene, &more, Role::Folded, None);
        }
    }

    /// The arrow to the next version shown, the last of `rows`, with how many are left out before it; a dotted line if
    /// nothing recorded orders them.
    fn gap(&mut self, card: Rect, rows: &[VersionRow]) {
        let (from, to) = (
            card.right_center(),
            card.right_center() + vec2(STEP - CARD.x, 0.0),
        );
        if rows.iter().all(|row| row.is_joined) {
            self.scene
                .line(Path::line(from, to - vec2(8.0, 0.0)), Role::Next, None);
            self.scene.marks.push(Mark::new(
                Shape::Head(head(to, vec2(1.0, 0.0))),
                Role::Next,
                None,
            ));
        } else {
            self.scene.line(
                Path::line(from + vec2(4.0, 0.0), to - vec2(4.0, 0.0)),
                Role::Guess,
                None,
            );
        }
        if rows.len() > 1 {
            let at = from.lerp(to, 0.5) - vec2(0.0, 12.0);
            self.scene.text(
                (at, Align::Center),
                FONT,
                format!("+{}", rows.len() - 1),
                Role::Folded,
                None,
            );
        }
    }

    /// What the anomaly forces: arcs above the cards, from the older version to the newer one.
    fn forced(&mut self, chain: &Chain, places: &[usize], arcs: &[(Forced, usize)]) {
        for (forced, level) in arcs {
            let card = |place: usize| self.card(places.binary_search(&place).unwrap_or(0));
            let agrees = forced.older < forced.newer;
            let side = vec2(if agrees { 10.0 } else { -10.0 }, 0.0);
            let (from, to) = (
                card(forced.older).center_top() + side,
                card(forced.newer).center_top() - side,
            );
            let y = self.top - ARC * (level + 1) as f32;
            let path = Path::rounded(&[from, pos2(from.x, y), pos2(to.x, y), to], 5.0);
            let target = self.edge_of(chain, forced).map(Target::Edge);
            if self.anomaly.is_some() && target.is_none() {
                // The argument that is shown does without it.
                continue;
            }
            let says = if agrees { "" } else { ", against this order" };
            let arrow = Arrow {
                edge: 0,
                also: Vec::new(),
                numbers: self.numbers_of(target),
                from: 0,
                from_row: None,
                to: 0,
                to_row: None,
                relation: forced.relation,
                label: format!("{}{says}", forced.relation.code()),
                condition: None,
                is_decisive: false,
                emphasis: Emphasis::Cycle,
            };
            self.scene.edge(&path, &arrow, target);
            self.scene.head(&path, &arrow, target);
            let area = Rect::from_center_size(pos2((from.x + to.x) / 2.0, y), label_size(&arrow));
            self.scene.label(area, &arrow, target);
        }
    }

    /// The numbers of the lines of the argument that mention an edge.
    fn numbers_of(&self, target: Option<Target>) -> Vec<usize> {
        let (Some(anomaly), Some(Target::Edge(edge))) = (self.anomaly, target) else {
            return Vec::new();
        };
        let is_of_edge = |arrow: &&&Arrow| arrow.edge == edge || arrow.also.contains(&edge);
        anomaly
            .arrows
            .iter()
            .find(is_of_edge)
            .map(|arrow| arrow.numbers.clone())
            .unwrap_or_default()
    }

    /// The edge of the anomaly that says so.
    fn edge_of(&self, chain: &Chain, forced: &Forced) -> Option<EdgeIndex> {
        let anomaly = self.anomaly?;
        let small = |place: usize| anomaly.renaming.new_transaction(chain.rows[place].writer);
        let (older, newer) = (small(forced.older)?, small(forced.newer)?);
        anomaly.edges.iter().position(|edge| {
            (edge.from, edge.to, edge.relation) == (older, newer, forced.relation)
                && edge
                    .key
                    .is_some_and(|key| anomaly.renaming.keys[key.index()] == chain.key)
        })
    }
}
