//! Shapes, each with a role and a target: the same list for canvas, SVG and PNG.
//!
//! A [`Scene`] has no colours (the [`theme`](super::theme) looks up roles) and no view: zoom, pan and highlighting
//! belong to the viewer. Hover, click and tooltips share [`Scene::hit`]. The graph, the lanes, the matrix and the versions
//! of a key are scenes.

use super::layout::{
    self, CardBox, LABEL_FONT, Layout, ROW_FONT, Route, SMALL_FONT, TITLE_FONT, disc_size,
    label_text, number_text, row_parts, title_text,
};
use super::path::{Path, distance_to_line};
use super::text_size::width;
use super::theme::Role;
use super::{Arrow, Card, Diagram, Emphasis, RowRole, Target};
use emath::{Pos2, Rect, Vec2, pos2, vec2};
use isoscope_model::relations::Relation;
use std::collections::BTreeSet;
use std::ops::Range;

/// The horizontal position of a text relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// It starts there.
    Left,
    /// It is centred there.
    Center,
    /// It ends there.
    Right,
    /// It continues where the previous text ends, on the same line; the point is only approximate.
    After,
}

/// A shape in scene coordinates.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A rectangle with rounded corners.
    Rect {
        /// Where.
        rect: Rect,
        /// Radius of its corners.
        radius: f32,
    },
    /// A line, not filled.
    Line(Path),
    /// An arrow head: tip first.
    Head([Pos2; 3]),
    /// One line of text, in the font of its [role](Role::is_prose).
    Text {
        /// Its middle in height (of capital letters), and the side given by `align` in width.
        at: Pos2,
        /// Which side.
        align: Align,
        /// Font size.
        size: f32,
        /// Whether it is bold.
        bold: bool,
        /// The text.
        text: String,
        /// Where the value begins in it, if it is an operation.
        value_at: Option<usize>,
    },
}

/// A shape, its role and what it represents.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The shape.
    pub shape: Shape,
    /// Its look, through the theme.
    pub role: Role,
    /// What a click on it selects.
    pub target: Option<Target>,
    /// Encloses the shape: generously for a text, whose true width depends on the font.
    bounds: Rect,
}

/// What marks of a graph draw together: arrows and cards by their place in the diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What is below everything.
    Ground,
    /// An arrow's line.
    Line(usize),
    /// A card with its rows.
    Card(usize),
    /// An arrow's head.
    Head(usize),
    /// An arrow's label.
    Label(usize),
}

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Encloses everything.
    pub bounds: Rect,
    /// What to draw, in this order.
    pub marks: Vec<Mark>,
    /// Of a graph: the marks of each part, in the same order.
    pub parts: Vec<PartMarks>,
    /// What a screen reader says.
    pub names: Vec<Name>,
}

/// The marks of a part of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct PartMarks {
    /// The part.
    pub part: Part,
    /// Its marks, by their places in the scene.
    pub marks: Range<usize>,
    /// Encloses them.
    pub bounds: Rect,
}

/// What a screen reader says about an area.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// Where.
    pub area: Rect,
    /// What it says.
    pub text: String,
    /// What the area represents, if it can be hidden.
    pub target: Option<Target>,
}

/// What is at a point of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// What a click there selects.
    pub target: Target,
    /// Of a graph: the part.
    pub part: Option<Part>,
}

impl Mark {
    /// A shape of this role that represents `target`.
    pub fn new(shape: Shape, role: Role, target: Option<Target>) -> Mark {
        let bounds = shape.bounds();
        Mark {
            shape,
            role,
            target,
            bounds,
        }
    }

    /// Encloses the shape: generously for a text, whose true width depends on the font. O(1).
    pub fn bounds(&self) -> Rect {
        self.bounds
    }
}

impl Scene {
    /// Nothing yet within `bounds`.
    pub fn new(bounds: Rect) -> Scene {
        Scene {
            bounds,
            marks: Vec::new(),
            parts: Vec::new(),
            names: Vec::new(),
        }
    }

    /// Adds a rectangle.
    pub fn rect(&mut self, rect: Rect, radius: f32, role: Role, target: Option<Target>) {
        self.marks
            .push(Mark::new(Shape::Rect { rect, radius }, role, target));
    }

    /// Adds a line.
    pub fn line(&mut self, path: Path, role: Role, target: Option<Target>) {
        self.marks.push(Mark::new(Shape::Line(path), role, target));
    }

    /// Adds a text that is not bold.
    pub fn text(
        &mut self,
        place: (Pos2, Align),
        size: f32,
        text: String,
        role: Role,
        target: Option<Target>,
    ) {
        self.write(place, (size, false), (text, None), role, target);
    }

    /// Adds a bold text.
    pub fn bold(
        &mut self,
        place: (Pos2, Align),
        size: f32,
        text: String,
        role: Role,
        target: Option<Target>,
    ) {
        self.write(place, (size, true), (text, None), role, target);
    }

    /// Adds an operation, a text whose value begins at `value_at`.
    pub(super) fn operation(
        &mut self,
        place: (Pos2, Align),
        size: f32,
        (text, value_at): (String, usize),
        target: Option<Target>,
    ) {
        let words = (text, Some(value_at));
        self.write(place, (size, false), words, Role::RowText, target);
    }

    fn write(
        &mut self,
        (at, align): (Pos2, Align),
        (size, bold): (f32, bool),
        (text, value_at): (String, Option<usize>),
        role: Role,
        target: Option<Target>,
    ) {
        let shape = Shape::Text {
            at,
            align,
            size,
            bold,
            text,
            value_at,
        };
        self.marks.push(Mark::new(shape, role, target));
    }

    /// Adds an edge's line, up to where the head begins.
    pub(super) fn edge(&mut self, path: &Path, arrow: &Arrow, target: Option<Target>) {
        self.line(
            shortened(path),
            Role::Edge(arrow.relation, arrow.emphasis),
            target,
        );
    }

    /// Adds an edge's head.
    pub(super) fn head(&mut self, path: &Path, arrow: &Arrow, target: Option<Target>) {
        let shape = Shape::Head(head(path.end(), path.arrival()));
        self.marks.push(Mark::new(
            shape,
            Role::Head(arrow.relation, arrow.emphasis),
            target,
        ));
    }

    /// Adds an edge's label with the numbers of its lines, in an area of the size that it needs.
    pub(super) fn label(&mut self, area: Rect, arrow: &Arrow, target: Option<Target>) {
        self.rect(
            area,
            4.0,
            Role::Label(arrow.relation, arrow.emphasis),
            target,
        );
        let mut at = area.center();
        if !arrow.numbers.is_empty() {
            let half = disc_size(&arrow.numbers).x / 2.0;
            let center = area.left_center() + vec2(half + 0.5, 0.0);
            self.marks.extend(numbered(
                center,
                &arrow.numbers,
                Some(arrow.relation),
                target,
            ));
            at.x += half;
        }
        self.bold(
            (at, Align::Center),
            LABEL_FONT,
            label_text(arrow),
            Role::LabelText(arrow.relation),
            target,
        );
    }

    /// Adds an edge of this length to the right, as legends show it.
    pub fn sample(&mut self, from: Pos2, length: f32, relation: Relation, emphasis: Emphasis) {
        self.level_edge(from, length, (relation, emphasis), None);
    }

    /// Adds an edge of this length to the right, which a click selects.
    pub(super) fn level_edge(
        &mut self,
        from: Pos2,
        length: f32,
        (relation, emphasis): (Relation, Emphasis),
        target: Option<Target>,
    ) {
        let tip = from + vec2(length, 0.0);
        self.line(
            Path::line(from, tip - vec2(HEAD_LENGTH * 0.8, 0.0)),
            Role::Edge(relation, emphasis),
            target,
        );
        let shape = Shape::Head(head(tip, vec2(1.0, 0.0)));
        self.marks
            .push(Mark::new(shape, Role::Head(relation, emphasis), target));
    }

    /// Adds what a screen reader says about an area.
    pub fn name(&mut self, area: Rect, text: String, target: Option<Target>) {
        self.names.push(Name { area, text, target });
    }

    /// Where the marks begin that belong to no part yet.
    fn loose(&self) -> usize {
        self.parts.last().map_or(0, |part| part.marks.end)
    }

    /// Ends a part: all marks since the one before belong to it.
    fn end(&mut self, part: Part) {
        let marks = self.loose()..self.marks.len();
        let bounds = self.marks[marks.clone()]
            .iter()
            .fold(Rect::NOTHING, |all, mark| all.union(mark.bounds));
        self.parts.push(PartMarks {
            part,
            marks,
            bounds,
        });
    }

    /// The marks that reach into an area, in drawing order. O(parts + marks of the parts that reach into it).
    pub fn marks_in(
        &self,
        area: Rect,
    ) -> impl DoubleEndedIterator<Item = (Option<Part>, &Mark)> + Clone {
        let parts = self
            .parts
            .iter()
            .filter(move |part| part.bounds.intersects(area))
            .map(|part| (Some(part.part), part.marks.clone()));
        let loose = std::iter::once((None, self.loose()..self.marks.len()));
        let marks = parts
            .chain(loose)
            .flat_map(|(part, marks)| self.marks[marks].iter().map(move |mark| (part, mark)));
        marks.filter(move |(_, mark)| mark.bounds.intersects(area))
    }

    /// The relations and weights of its edges, as lines or as labels alone, in the order of [`Relation::ALL`].
    pub fn edges(&self) -> BTreeSet<(Relation, Emphasis)> {
        let edge = |mark: &Mark| match mark.role {
            Role::Edge(relation, emphasis) | Role::Label(relation, emphasis) => {
                Some((relation, emphasis))
            }
            _ => None,
        };
        self.marks.iter().filter_map(edge).collect()
    }

    /// What is at a point, of all that `is_there`. Later marks are on top; a line is hit within `tolerance`, but only where
    /// no area is. O(parts + marks near the point), in a scene without parts O(marks).
    pub fn hit(&self, at: Pos2, tolerance: f32, is_there: impl Fn(Target) -> bool) -> Option<Hit> {
        let near = self
            .marks_in(Rect::from_center_size(at, Vec2::splat(2.0 * tolerance)))
            .filter_map(|(part, mark)| {
                let target = mark.target.filter(|target| is_there(*target))?;
                Some((&mark.shape, Hit { target, part }))
            });
        let is_inside =
            |shape: &Shape| matches!(shape, Shape::Rect { rect, .. } if rect.contains(at));
        if let Some((_, hit)) = near.clone().rev().find(|(shape, _)| is_inside(shape)) {
            return Some(hit);
        }
        let distance = |shape: &Shape| match shape {
            Shape::Line(path) => distance_to_line(at, &path.flatten(6)),
            Shape::Head(points) => distance_to_line(at, points),
            _ => f32::INFINITY,
        };
        near.rev()
            .map(|(shape, hit)| (distance(shape), hit))
            .filter(|(distance, _)| *distance <= tolerance)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, hit)| hit)
    }

    /// What a click at a point selects: see [`Scene::hit`].
    pub fn at(&self, at: Pos2, tolerance: f32) -> Option<Target> {
        self.hit(at, tolerance, |_| true).map(|hit| hit.target)
    }

    /// Puts another scene's marks on top, scaled from the origin and then moved by `by`; the bounds stay.
    pub fn append(&mut self, other: &Scene, scale: f32, by: Vec2) {
        let mark =
            |mark: &Mark| Mark::new(mark.shape.transformed(scale, by), mark.role, mark.target);
        self.marks.extend(other.marks.iter().map(mark));
    }
}

impl Shape {
    fn bounds(&self) -> Rect {
        match self {
            Shape::Rect { rect, .. } => *rect,
            Shape::Line(path) => path.bounds(),
            Shape::Head(points) => Rect::from_points(points),
            Shape::Text { at, size, text, .. } => {
                Rect::from_center_size(*at, 2.0 * vec2(width(text, *size), *size))
            }
        }
    }

    /// The same shape scaled from the origin and then moved by `by`.
    pub fn transformed(&self, scale: f32, by: Vec2) -> Shape {
        let at = |p: Pos2| p * scale + by;
        match self {
            Shape::Rect { rect, radius } => Shape::Rect {
                rect: Rect::from_min_max(at(rect.min), at(rect.max)),
                radius: radius * scale,
            },
            Shape::Line(path) => Shape::Line(path.map(at)),
            Shape::Head(points) => Shape::Head(points.map(at)),
            Shape::Text {
                at: place,
                align,
                size,
                bold,
                text,
                value_at,
            } => Shape::Text {
                at: at(*place),
                align: *align,
                size: size * scale,
                bold: *bold,
                text: text.clone(),
                value_at: *value_at,
            },
        }
    }
}

/// Length of an arrow head.
const HEAD_LENGTH: f32 = 10.0;
/// Half of its width.
const HEAD_HALF: f32 = 4.5;

/// The arrow head whose tip is at `tip`, pointing along `direction`.
pub fn head(tip: Pos2, direction: Vec2) -> [Pos2; 3] {
    let (back, side) = (tip - direction * HEAD_LENGTH, direction.rot90() * HEAD_HALF);
    [tip, back + side, back - side]
}

/// The shapes of a diagram in a layout of it: lanes below, then edges, cards, arrow heads, and labels on top.
pub fn scene(diagram: &Diagram, layout: &Layout) -> Scene {
    let mut scene = Scene::new(layout.bounds);
    for (lane, rect) in diagram.lanes.iter().zip(&layout.lanes) {
        scene.rect(*rect, 8.0, Role::Lane, None);
        let columns = ((rect.width() - 28.0) / (super::text_size::ADVANCE * SMALL_FONT)) as usize;
        let at = rect.min + vec2(14.0, 17.0);
        let title = super::text_size::elide(&lane.title, columns.max(1));
        scene.text((at, Align::Left), SMALL_FONT, title, Role::LaneTitle, None);
    }
    scene.end(Part::Ground);
    for (place, arrow, route) in drawing_order(diagram, layout) {
        scene.edge(&route.path, arrow, Some(Target::Edge(arrow.edge)));
        scene.end(Part::Line(place));
    }
    for (place, (card, space)) in diagram.cards.iter().zip(&layout.cards).enumerate() {
        let on_cycle =
            |a: &Arrow| a.emphasis == Emphasis::Cycle && (a.from == place || a.to == place);
        let emphasis = if diagram.arrows.iter().any(on_cycle) {
            Emphasis::Cycle
        } else {
            Emphasis::Evidence
        };
        card_marks(&mut scene, card, space, emphasis);
        scene.end(Part::Card(place));
        let rows: Vec<&str> = card.rows.iter().map(|row| row.text.as_str()).collect();
        scene.name(
            space.rect,
            format!(
                "Transaction {}, {}: {}",
                card.title,
                card.status,
                rows.join(", ")
            ),
            Some(Target::Transaction(card.transaction)),
        );
    }
    for (place, arrow, route) in drawing_order(diagram, layout) {
        scene.head(&route.path, arrow, Some(Target::Edge(arrow.edge)));
        scene.end(Part::Head(place));
    }
    for (place, arrow, route) in drawing_order(diagram, layout) {
        let target = Some(Target::Edge(arrow.edge));
        scene.label(route.label, arrow, target);
        scene.end(Part::Label(place));
        let title = |card: usize| diagram.cards[card].title.as_str();
        let (label, from, to) = (arrow.text(), title(arrow.from), title(arrow.to));
        scene.name(
            route.label,
            format!("Edge {label} from {from} to {to}"),
            target,
        );
    }
    scene
}

/// The numbers of lines in a disc.
pub fn numbered(
    center: Pos2,
    numbers: &[usize],
    relation: Option<Relation>,
    target: Option<Target>,
) -> [Mark; 2] {
    let size = disc_size(numbers);
    let disc = Shape::Rect {
        rect: Rect::from_center_size(center, size),
        radius: size.y / 2.0,
    };
    let text = number_text(numbers);
    let number = Shape::Text {
        at: center,
        align: Align::Center,
        size: SMALL_FONT,
        bold: true,
        text,
        value_at: None,
    };
    [
        Mark::new(disc, Role::Number(relation), target),
        Mark::new(number, Role::NumberText, target),
    ]
}

/// Arrows with their places: rejected orders first, then evidence, so that the cycle is on top.
fn drawing_order<'a>(
    diagram: &'a Diagram,
    layout: &'a Layout,
) -> impl Iterator<Item = (usize, &'a Arrow, &'a Route)> {
    let all = || {
        diagram
            .arrows
            .iter()
            .zip(&layout.routes)
            .enumerate()
            .map(|(place, (arrow, route))| (place, arrow, route))
    };
    let of = move |emphasis| all().filter(move |(_, arrow, _)| arrow.emphasis == emphasis);
    of(Emphasis::Rejected)
        .chain(of(Emphasis::Evidence))
        .chain(of(Emphasis::Cycle))
}

/// The path without the part that the arrow head covers, so that a thick line does not stick out at the tip.
fn shortened(path: &Path) -> Path {
    let mut path = path.clone();
    let before = match path.segments.len() {
        0 => return path,
        1 => path.start,
        n => path.segments[n - 2].end(),
    };
    let cut = HEAD_LENGTH * 0.8;
    if let Some(super::path::Segment::Line(end)) = path.segments.last_mut() {
        let along = *end - before;
        if along.length() > cut {
            *end -= along.normalized() * cut;
        }
    }
    path
}

fn card_marks(scene: &mut Scene, card: &Card, space: &CardBox, emphasis: Emphasis) {
    let target = Some(Target::Transaction(card.transaction));
    let pad = layout::CARD_PAD;
    let left = |y: f32| (pos2(space.rect.left() + pad, y), Align::Left);
    let right = |y: f32| (pos2(space.rect.right() - pad, y), Align::Right);
    scene.rect(space.rect, 6.0, Role::Card(emphasis), target);
    let title_y = space.header.center().y;
    scene.bold(
        left(title_y),
        TITLE_FONT,
        title_text(card),
        Role::CardTitle,
        target,
    );
    if !card.status.is_empty() {
        scene.text(
            right(title_y),
            SMALL_FONT,
            layout::status_text(card),
            Role::CardStatus,
            target,
        );
    }
    if !card.rows.is_empty() || card.folded > 0 {
        let y = space.header.bottom();
        let rule = Path::line(
            pos2(space.rect.left() + 1.0, y),
            pos2(space.rect.right() - 1.0, y),
        );
        scene.line(rule, Role::CardRule, target);
    }
    for (row, rect) in card.rows.iter().zip(&space.rows) {
        let target = Some(Target::Operation(row.operation));
        let role = if row.role == RowRole::Involved {
            Role::Row
        } else {
            Role::ContextRow
        };
        let (x, y) = (
            rect.left() + 1.5..=rect.right() - 1.5,
            rect.top() + 0.75..=rect.bottom() - 0.75,
        );
        scene.rect(Rect::from_x_y_ranges(x, y), 2.0, role, target);
        let y = rect.center().y;
        scene.operation(left(y), ROW_FONT, row_parts(row), target);
        if let Some((numbers, relation)) = &row.proves {
            let center = right(y).0 - vec2(disc_size(numbers).x / 2.0, 0.0);
            scene
                .marks
                .extend(numbered(center, numbers, Some(*relation), target));
        }
        if !row.place.is_empty() {
            let (at, align) = right(y);
            let at = at - vec2(layout::proof_width(row), 0.0);
            scene.text(
                (at, align),
                SMALL_FONT,
                layout::place_text(row),
                Role::RowPlace,
                target,
            );
        }
    }
    if let Some(rect) = space.folded {
        scene.text(
            left(rect.center().y),
            SMALL_FONT,
            layout::folded_text(card),
            Role::Folded,
            target,
        );
    }
}
