//! The versions of a key from left to right, each with its readers below; above them what the anomaly forces.

use super::{Chain, Row};
use crate::diagram::layout::label_size;
use crate::diagram::path::Path;
use crate::diagram::scene::{Align, Mark, Scene, Shape, head};
use crate::diagram::text_size::{ADVANCE, elide};
use crate::diagram::theme::Role;
use crate::diagram::{Anomaly, Arrow, Emphasis, Target};
use crate::history::{History, Outcome, TransactionId, grouped};
use emath::{Pos2, Rect, Vec2, pos2, vec2};

/// A card of a version.
const CARD: Vec2 = vec2(112.0, 46.0);
/// From one card to the next.
pub const STEP: f32 = 146.0;
/// From one arc of what is forced to the next.
const ARC: f32 = 22.0;
/// Maximum number of arcs above each other.
const ARCS: usize = 3;
/// Maximum number of readers named under a version.
const READERS: usize = 8;
/// Height of a line under a version.
const LINE: f32 = 16.0;
/// Font size of values.
const VALUE: f32 = 12.5;
/// Font size of everything else.
const FONT: f32 = 11.0;

/// The versions at `places`, ascending, as columns that are [`STEP`] wide. O(places + what is forced).
pub fn scene(history: &History, chain: &Chain, anomaly: Option<&Anomaly<'_>>, places: &[usize]) -> Scene {
    let top = 16.0 + ARC * chain.forced.len().min(ARCS) as f32;
    let bounds = Rect::from_min_size(Pos2::ZERO, vec2(places.len() as f32 * STEP, top + CARD.y + 8.0));
    let mut columns = Columns { history, anomaly, top, scene: Scene::new(bounds) };
    for (column, &place) in places.iter().enumerate() {
        let (card, row) = (columns.card(column), &chain.rows[place]);
        columns.version(card, row);
        columns.readers(card, row);
        if let Some(&next) = places.get(column + 1) {
            columns.gap(card, next - place - 1);
        } else if place + 1 < chain.rows.len() {
            columns.gap(card, 0);
        }
    }
    columns.forced(chain, places);
    columns.scene
}

/// The versions that a picture of the anomaly needs, at most `most`: those that it is about, and the ones around them.
pub fn places(chain: &Chain, anomaly: &Anomaly<'_>, most: usize) -> Vec<usize> {
    let is_own = |t: TransactionId| matches!(Anomaly::target(Some(anomaly), t), Target::Transaction(_));
    let is_read = |row: &Row| row.readers.iter().any(|(reader, _)| is_own(*reader));
    let rows = chain.rows.iter().enumerate();
    let own = rows.filter(|(_, row)| (is_own(row.writer) && !row.writer.is_initial()) || is_read(row));
    let mut places: Vec<usize> = own.map(|(place, _)| place).take(most).collect();
    let around = |place: &usize| [place.saturating_sub(1), place + 1];
    let around: Vec<usize> = places.iter().flat_map(around).filter(|place| *place < chain.rows.len()).collect();
    // Of a key that it is not about, the oldest ones.
    let others = if places.is_empty() { 0..chain.rows.len() } else { 0..0 };
    for place in around.into_iter().chain(others) {
        if places.len() < most && !places.contains(&place) {
            places.push(place);
        }
    }
    places.sort_unstable();
    places
}

struct Columns<'a> {
    history: &'a History,
    anomaly: Option<&'a Anomaly<'a>>,
    /// Room above the cards, for what is forced.
    top: f32,
    scene: Scene,
}

impl Columns<'_> {
    fn card(&self, column: usize) -> Rect {
        Rect::from_min_size(pos2(column as f32 * STEP + 6.0, self.top), CARD)
    }

    fn name(&self, transaction: TransactionId) -> String {
        match transaction.is_initial() {
            true => "initial".to_owned(),
            false => self.history.transaction_name(transaction),
        }
    }

    fn target(&self, transaction: TransactionId) -> Option<Target> {
        (!transaction.is_initial()).then(|| Anomaly::target(self.anomaly, transaction))
    }

    fn version(&mut self, card: Rect, row: &Row) {
        let target = self.target(row.writer);
        let (name, value) = (self.name(row.writer), elide(&self.history.value_name(row.value), 13));
        let outcome = if row.blemish.is_some() { Outcome::Aborted } else { Outcome::Committed };
        let is_own = matches!(target, Some(Target::Transaction(_)));
        let emphasis = if is_own { Emphasis::Cycle } else { Emphasis::Evidence };
        self.scene.rect(card, 6.0, Role::Bar(outcome, emphasis), target);
        let middle = |y: f32| (card.center() + vec2(0.0, y), Align::Center);
        self.scene.bold(middle(-8.0), VALUE, value.clone(), Role::CardTitle, target);
        self.scene.text(middle(10.0), FONT, elide(&name, 16), Role::CardStatus, target);
        let readers: Vec<String> = row.readers.iter().take(READERS).map(|(t, _)| self.name(*t)).collect();
        let spoken = match readers.is_empty() {
            true => format!("Version {value} of {name}, never read"),
            false => format!("Version {value} of {name}, read by {}", readers.join(", ")),
        };
        self.scene.names.push((card, spoken));
    }

    fn readers(&mut self, card: Rect, row: &Row) {
        let mut y = card.bottom() + 14.0;
        let columns = ((STEP - 14.0) / (ADVANCE * FONT)) as usize;
        let mut line = |scene: &mut Scene, text: &str, role: Role, target: Option<Target>| {
            let area = Rect::from_x_y_ranges(card.left()..=card.right(), y - LINE / 2.0..=y + LINE / 2.0);
            if let Some(target) = target {
                scene.rect(area, 2.0, Role::ContextRow, Some(target));
                scene.names.push((area, format!("Reader {text}")));
            }
            scene.text((area.left_center(), Align::Left), FONT, elide(text, columns), role, target);
            y += LINE;
            scene.bounds.max.y = scene.bounds.max.y.max(y);
        };
        if let Some(blemish) = row.blemish {
            line(&mut self.scene, blemish, Role::FaultText, None);
        }
        let text = if row.readers.is_empty() { "never read" } else { "read by" };
        line(&mut self.scene, text, Role::Folded, None);
        for &(reader, _) in row.readers.iter().take(READERS) {
            let (name, target) = (self.name(reader), self.target(reader));
            let role = if matches!(target, Some(Target::Transaction(_))) { Role::CardTitle } else { Role::CardStatus };
            line(&mut self.scene, &name, role, target);
        }
        if row.readers.len() > READERS {
            let more = format!("and {} more", grouped((row.readers.len() - READERS) as u64));
            line(&mut self.scene, &more, Role::Folded, None);
        }
    }

    /// The arrow to the next version shown, with how many are left out between them.
    fn gap(&mut self, card: Rect, n_between: usize) {
        let (from, to) = (card.right_center(), card.right_center() + vec2(STEP - CARD.x, 0.0));
        self.scene.line(Path::line(from, to - vec2(8.0, 0.0)), Role::Next, None);
        self.scene.marks.push(Mark::new(Shape::Head(head(to, vec2(1.0, 0.0))), Role::Next, None));
        if n_between > 0 {
            let at = from.lerp(to, 0.5) - vec2(0.0, 12.0);
            self.scene.text((at, Align::Center), FONT, format!("+{n_between}"), Role::Folded, None);
        }
    }

    /// What the anomaly forces: arcs above the cards, from the older version to the newer one.
    fn forced(&mut self, chain: &Chain, places: &[usize]) {
        // What is not shown is to the left or to the right of what is.
        let column = |place: usize| match places.binary_search(&place) {
            Err(0) => self.card(0).translate(vec2(-STEP, 0.0)),
            Ok(column) | Err(column) => self.card(column),
        };
        let in_sight = |place: usize| places.binary_search(&place).is_ok();
        let forced = chain.forced.iter().filter(|f| in_sight(f.older) || in_sight(f.newer));
        let ends: Vec<_> = forced.map(|f| (f, column(f.older), column(f.newer))).collect();
        for (n, (forced, older, newer)) in ends.into_iter().enumerate() {
            let agrees = forced.older < forced.newer;
            let side = vec2(if agrees { 10.0 } else { -10.0 }, 0.0);
            let (from, to) = (older.center_top() + side, newer.center_top() - side);
            let y = self.top - ARC * (n % ARCS + 1) as f32;
            let path = Path::rounded(&[from, pos2(from.x, y), pos2(to.x, y), to], 5.0);
            let says = if agrees { "forced" } else { "forces opposite" };
            let arrow = Arrow {
                edge: 0,
                also: Vec::new(),
                numbers: Vec::new(),
                from: 0,
                from_row: None,
                to: 0,
                to_row: None,
                relation: forced.relation,
                label: format!("{} {says}", forced.relation.code()),
                emphasis: Emphasis::Cycle,
            };
            self.scene.edge(&path, &arrow, None);
            self.scene.head(&path, &arrow, None);
            let area = Rect::from_center_size(pos2((from.x + to.x) / 2.0, y), label_size(&arrow));
            self.scene.label(area, &arrow, None);
        }
    }
}
