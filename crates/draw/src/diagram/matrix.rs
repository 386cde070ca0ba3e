//! Which transaction depends on which, as a table: an edge is in the row of the transaction that it leaves and in the
//! column of the one that it leads to.
//!
//! Of a large table a [`scene`] has only what is in [`Visible`], below its column heads and to the right of its row
//! heads, which are always visible.

use super::layout::{MAX_TITLE_COLUMNS, ROW_FONT, SMALL_FONT, disc_size, shortened};
use super::path::Path;
use super::scene::{Align, Scene, numbered};
use super::text_size::{ADVANCE, columns, elide, width};
use super::theme::Role;
use super::{Diagram, Emphasis, Target};
use emath::{Pos2, Rect, Vec2, pos2, vec2};
use isoscope_model::history::TransactionId;
use isoscope_model::relations::{EdgeIndex, Relation};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The smallest cell: it has room for the letters of a relation.
const LEAST: Vec2 = vec2(36.0, 24.0);
/// The largest cell.
const MOST: Vec2 = vec2(280.0, 200.0);
/// Columns are headed by numbers if there is room for fewer letters of their names.
const NAME_COLUMNS: usize = 8;
/// Least width of the row heads: they are below what says in which direction edges go.
const CORNER: f32 = 110.0;
/// Height of the column heads.
const HEAD: f32 = 30.0;
/// Height of a line in a cell, in units of its font size.
const LINE: f32 = 1.5;
/// Between a number and a label.
const GAP: f32 = 5.0;
/// Least length of the arrow in a cell.
const ARROW: f32 = 38.0;
/// Maximum number of cells that have a name for screen readers.
const NAMED: usize = 400;

/// Which transaction depends on which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// In the order of the sessions; ⊥ first if it takes part.
    pub transactions: Vec<TransactionId>,
    /// By indices of both ends: the entries, by numbers that the table was made with.
    pub cells: BTreeMap<(usize, usize), Vec<usize>>,
}

impl Table {
    /// The table of edges with these numbers and ends. O(edges · log transactions).
    pub fn new(
        edges: impl Iterator<Item = (usize, TransactionId, TransactionId)> + Clone,
    ) -> Table {
        let ends = edges.clone().flat_map(|(_, from, to)| [from, to]);
        let sorted: BTreeSet<(bool, TransactionId)> = ends.map(|t| (!t.is_initial(), t)).collect();
        let places: BTreeMap<TransactionId, usize> = sorted
            .iter()
            .enumerate()
            .map(|(at, &(_, t))| (t, at))
            .collect();
        let mut cells: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (number, from, to) in edges {
            cells
                .entry((places[&from], places[&to]))
                .or_default()
                .push(number);
        }
        Table {
            transactions: sorted.into_iter().map(|(_, t)| t).collect(),
            cells,
        }
    }

    /// The table of a diagram's arrows, by index. O(arrows · log cards).
    pub fn of(diagram: &Diagram) -> Table {
        let end = |card: usize| diagram.cards[card].transaction;
        Table::new(
            diagram
                .arrows
                .iter()
                .enumerate()
                .map(|(place, arrow)| (place, end(arrow.from), end(arrow.to))),
        )
    }
}

/// What a cell says of an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The edge.
    pub edge: EdgeIndex,
    /// Its relation.
    pub relation: Relation,
    /// Its role in the argument.
    pub emphasis: Emphasis,
    /// `WR x`.
    pub label: String,
    /// The numbers of the lines of the argument that mention it.
    pub numbers: Vec<usize>,
    /// The operations that it is about, each with the place where its value begins: of the row, then of the column.
    pub operations: Vec<(String, usize)>,
}

impl Entry {
    /// An arrow of a diagram.
    pub fn of(diagram: &Diagram, place: usize) -> Entry {
        let arrow = &diagram.arrows[place];
        let row = |card: usize, row: Option<usize>| {
            let row = row.and_then(|row| diagram.cards[card].rows.get(row));
            row.map(|row| (row.text.clone(), row.value_at))
        };
        Entry {
            edge: arrow.edge,
            relation: arrow.relation,
            emphasis: arrow.emphasis,
            label: arrow.brief(),
            numbers: arrow.numbers.clone(),
            operations: row(arrow.from, arrow.from_row)
                .into_iter()
                .chain(row(arrow.to, arrow.to_row))
                .collect(),
        }
    }
}

/// A table with what it says.
pub struct Content<'a> {
    /// Who depends on whom.
    pub table: &'a Table,
    /// The name of a transaction.
    pub name: &'a dyn Fn(TransactionId) -> String,
    /// What the entry with a number says; none if it is not shown.
    pub entry: &'a dyn Fn(usize) -> Option<Entry>,
}

impl Content<'_> {
    fn name_of(&self, t: TransactionId) -> String {
        if t.is_initial() {
            "initial".to_owned()
        } else {
            (self.name)(t)
        }
    }
}

/// Sizes of a table's parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// Room of the heads: width of those of the rows, height of those of the columns.
    pub heads: Vec2,
    /// Size of a cell.
    pub cell: Vec2,
    /// Number of rows, and of columns.
    pub n: usize,
    /// Columns are headed by numbers, since there is no room for names.
    by_number: bool,
}

impl Measure {
    /// A table that fills `room` as far as cells have sensible sizes. O(transactions) if there are at most 100, else O(1).
    pub fn new(content: &Content<'_>, room: Vec2) -> Measure {
        let n = content.table.transactions.len();
        let names = || {
            content
                .table
                .transactions
                .iter()
                .map(|t| columns(&content.name_of(*t)).min(MAX_TITLE_COLUMNS))
        };
        let longest = if n <= 100 {
            names().max().unwrap_or(0)
        } else {
            MAX_TITLE_COLUMNS - 6
        };
        let sizes = |numbers: usize| {
            let heads = vec2(
                ((longest + numbers) as f32 * ADVANCE * ROW_FONT + 20.0).max(CORNER),
                HEAD,
            );
            (
                heads,
                ((room - heads - vec2(1.0, 1.0)) / n.max(1) as f32).clamp(LEAST, MOST),
            )
        };
        let (heads, cell) = sizes(0);
        let by_number = ((cell.x - 8.0) / (ADVANCE * ROW_FONT)) < longest.min(NAME_COLUMNS) as f32;
        let (heads, cell) = if by_number {
            sizes(columns(&n.to_string()) + 1)
        } else {
            (heads, cell)
        };
        // Wide cells are not needlessly high.
        Measure {
            heads,
            cell: vec2(cell.x, cell.y.min(cell.x.max(120.0))),
            n,
            by_number,
        }
    }

    /// Size of the whole table.
    pub fn size(&self) -> Vec2 {
        self.heads + self.n as f32 * self.cell + vec2(1.0, 1.0)
    }

    /// How many rows and columns fit into `room` without their heads.
    pub fn fitting(&self, room: Vec2) -> (usize, usize) {
        let fit = (room - self.heads - vec2(1.0, 1.0)) / self.cell;
        (
            (fit.y.max(1.0) as usize).min(self.n),
            (fit.x.max(1.0) as usize).min(self.n),
        )
    }

    /// Everything.
    pub fn all(&self) -> Visible {
        Visible {
            rows: 0..self.n,
            columns: 0..self.n,
        }
    }
}

/// The rows and columns of a table that are drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visible {
    /// Of the transactions that edges leave.
    pub rows: Range<usize>,
    /// Of the transactions that edges lead to.
    pub columns: Range<usize>,
}

/// What is visible of a table. O(entries of the visible rows).
pub fn scene(content: &Content<'_>, measure: &Measure, visible: &Visible) -> Scene {
    let (rows, columns) = (visible.rows.len() as f32, visible.columns.len() as f32);
    let size = measure.heads + vec2(columns, rows) * measure.cell + vec2(1.0, 1.0);
    let scene = Scene::new(Rect::from_min_size(Pos2::ZERO, size));
    let mut painter = Painter {
        content,
        measure,
        visible,
        scene,
    };
    painter.ground();
    visible.rows.clone().for_each(|row| painter.row(row));
    visible
        .columns
        .clone()
        .for_each(|column| painter.column(column));
    let cells = &content.table.cells;
    for row in visible.rows.clone() {
        for (&(_, column), entries) in
            cells.range((row, visible.columns.start)..(row, visible.columns.end))
        {
            let entries: Vec<Entry> = entries
                .iter()
                .filter_map(|number| (content.entry)(*number))
                .collect();
            if !entries.is_empty() {
                painter.cell((row, column), &entries);
            }
        }
    }
    painter.scene
}

struct Painter<'a> {
    content: &'a Content<'a>,
    measure: &'a Measure,
    visible: &'a Visible,
    scene: Scene,
}

impl Painter<'_> {
    /// The upper left corner of a cell.
    fn corner(&self, (row, column): (usize, usize)) -> Pos2 {
        let place = vec2(
            (column - self.visible.columns.start) as f32,
            (row - self.visible.rows.start) as f32,
        );
        (self.measure.heads + place * self.measure.cell).to_pos2()
    }

    /// Lines, and the diagonal, on which no edge is.
    fn ground(&mut self) {
        let Visible { rows, columns } = self.visible.clone();
        for place in rows.start.max(columns.start)..rows.end.min(columns.end) {
            let area = Rect::from_min_size(self.corner((place, place)), self.measure.cell);
            self.scene.rect(area, 0.0, Role::Lane, None);
        }
        let end = self.corner((rows.end, columns.end));
        for row in rows.start..=rows.end {
            let y = self.corner((row, columns.start)).y;
            self.scene
                .line(Path::line(pos2(0.0, y), pos2(end.x, y)), Role::Rule, None);
        }
        for column in columns.start..=columns.end {
            let x = self.corner((rows.start, column)).x;
            self.scene
                .line(Path::line(pos2(x, 0.0), pos2(x, end.y)), Role::Rule, None);
        }
        let at = (pos2(self.measure.heads.x - 8.0, HEAD / 2.0), Align::Right);
        self.scene.text(
            at,
            SMALL_FONT,
            "row → column".to_owned(),
            Role::Folded,
            None,
        );
    }

    fn name(&self, place: usize) -> (String, Option<Target>) {
        let t = self.content.table.transactions[place];
        (
            self.content.name_of(t),
            (!t.is_initial()).then_some(Target::Transaction(t)),
        )
    }

    fn row(&mut self, row: usize) {
        let (name, target) = self.name(row);
        let corner = self.corner((row, self.visible.columns.start));
        let area = Rect::from_min_max(
            pos2(0.0, corner.y),
            pos2(corner.x, corner.y + self.measure.cell.y),
        );
        self.scene
            .rect(area.shrink(1.0), 2.0, Role::ContextRow, target);
        let shown = elide(&name, MAX_TITLE_COLUMNS);
        let at = (area.right_center() - vec2(9.0, 0.0), Align::Right);
        self.scene
            .bold(at, ROW_FONT, shown, Role::CardTitle, target);
        if self.measure.by_number {
            let at = (area.left_center() + vec2(4.0, 0.0), Align::Left);
            self.scene.text(
                at,
                SMALL_FONT,
                (row + 1).to_string(),
                Role::CardStatus,
                target,
            );
        }
        self.scene.name(area, format!("Row {name}"), None);
    }

    fn column(&mut self, column: usize) {
        let (name, target) = self.name(column);
        let x = self.corner((self.visible.rows.start, column)).x;
        let area = Rect::from_min_max(pos2(x, 0.0), pos2(x + self.measure.cell.x, HEAD));
        self.scene
            .rect(area.shrink(1.0), 2.0, Role::ContextRow, target);
        let at = (area.center(), Align::Center);
        if self.measure.by_number {
            self.scene.text(
                at,
                SMALL_FONT,
                (column + 1).to_string(),
                Role::CardStatus,
                target,
            );
        } else {
            let shown = elide(
                &name,
                ((area.width() - 8.0) / (ADVANCE * ROW_FONT)) as usize,
            );
            self.scene
                .bold(at, ROW_FONT, shown, Role::CardTitle, target);
        }
        self.scene.name(area, format!("Column {name}"), None);
    }

    fn cell(&mut self, (row, column): (usize, usize), entries: &[Entry]) {
        let area = Rect::from_min_size(self.corner((row, column)), self.measure.cell).shrink(2.0);
        let room = (area.height() / (LEAST.y - 4.0)).max(1.0) as usize;
        if entries.len() <= room {
            let height = area.height() / entries.len() as f32;
            for (place, entry) in entries.iter().enumerate() {
                let min = area.min + vec2(0.0, place as f32 * height);
                self.tile(
                    Rect::from_min_size(min, vec2(area.width(), height)).shrink(0.5),
                    entry,
                    &entry.label,
                );
            }
        } else {
            let label = format!("{}+{}", entries[0].relation.code(), entries.len() - 1);
            let first = Entry {
                label: label.clone(),
                operations: Vec::new(),
                ..entries[0].clone()
            };
            self.tile(area, &first, &label);
        }
        if self.scene.names.len() < NAMED {
            let codes: Vec<&str> = entries.iter().map(|entry| entry.relation.code()).collect();
            let (from, to) = (self.name(row).0, self.name(column).0);
            let text = format!("Cell {} from {from} to {to}", codes.join(" and "));
            self.scene.name(area, text, None);
        }
    }

    /// An edge: its label, and as far as there is room its number, and its line between the operations that it is about.
    fn tile(&mut self, area: Rect, entry: &Entry, label: &str) {
        let (relation, target) = (entry.relation, Some(Target::Edge(entry.edge)));
        self.scene
            .rect(area, 4.0, Role::Label(relation, entry.emphasis), target);
        let Tile {
            shown,
            size,
            before_label,
            lines,
        } = Tile::new(area.size(), entry, label);
        let top = area.center().y - LINE * size * lines.len() as f32 / 2.0;
        for (place, line) in lines.into_iter().enumerate() {
            let at = pos2(area.center().x, top + LINE * size * (place as f32 + 0.5));
            match line {
                CellLine::Number => {
                    self.scene
                        .marks
                        .extend(numbered(at, &entry.numbers, Some(relation), target))
                }
                CellLine::Label => {
                    if before_label > 0.0 {
                        let center = at - vec2((width(&shown, size) + GAP) / 2.0, 0.0);
                        self.scene.marks.extend(numbered(
                            center,
                            &entry.numbers,
                            Some(relation),
                            target,
                        ));
                    }
                    let at = at + vec2(before_label / 2.0, 0.0);
                    self.scene.bold(
                        (at, Align::Center),
                        size,
                        shown.clone(),
                        Role::LabelText(relation),
                        target,
                    );
                }
                CellLine::Arrow => {
                    let length = (area.width() * 0.4).clamp(ARROW, 90.0);
                    let from = at - vec2(length / 2.0, 0.0);
                    self.scene
                        .level_edge(from, length, (relation, entry.emphasis), target);
                }
                CellLine::Operation(place) => {
                    let (text, value_at) = &entry.operations[place];
                    let shown = shortened(text, *value_at, letters(area.width(), SMALL_FONT));
                    self.scene
                        .operation((at, Align::Center), SMALL_FONT, shown, target);
                }
            }
        }
    }
}

/// A line of what a cell says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellLine {
    Number,
    Label,
    Operation(usize),
    Arrow,
}

/// What there is room for in a cell.
struct Tile {
    /// The label, shortened to the relation if need be.
    shown: String,
    /// Its font size.
    size: f32,
    /// The width that the number takes before the label; zero if it is not there.
    before_label: f32,
    lines: Vec<CellLine>,
}

/// How many letters of this size fit into a cell of this width.
fn letters(cell: f32, size: f32) -> usize {
    ((cell - 8.0) / (ADVANCE * size)) as usize
}

impl Tile {
    fn new(cell: Vec2, entry: &Entry, label: &str) -> Tile {
        let size = (cell.y / 7.0).clamp(SMALL_FONT, ROW_FONT + 2.0);
        let room = letters(cell.x, size);
        let is_short = columns(label) > room && room <= 10;
        let shown = if is_short {
            entry.relation.code().to_owned()
        } else {
            elide(label, room)
        };
        let disc = if entry.numbers.is_empty() {
            Vec2::ZERO
        } else {
            disc_size(&entry.numbers)
        };
        let is_other =
            disc.x > 0.0 && width(&shown, size) + disc.x + GAP + 6.0 <= cell.x && disc.y <= cell.y;
        // The most important first.
        let mut left = ((cell.y - 4.0) / (LINE * size)) as usize;
        let mut has_room = |n: usize, is_wanted: bool| {
            let fits = is_wanted && n <= left;
            left -= if fits { n } else { 0 };
            fits
        };
        has_room(1, true);
        let has_number = has_room(1, disc.x > 0.0 && !is_other && disc.x + 6.0 <= cell.x);
        let has_arrow = has_room(1, cell.x >= ARROW + 12.0);
        let n = entry.operations.len();
        let has_operations = has_room(n, n > 0 && has_arrow && letters(cell.x, SMALL_FONT) >= 11);
        // The line is between two operations, and above a single one.
        let lines = [
            has_number.then_some(CellLine::Number),
            Some(CellLine::Label),
            (has_operations && n == 2).then_some(CellLine::Operation(0)),
            has_arrow.then_some(CellLine::Arrow),
            has_operations.then(|| CellLine::Operation(n - 1)),
        ];
        let before_label = if is_other { disc.x + GAP } else { 0.0 };
        Tile {
            shown,
            size,
            before_label,
            lines: lines.into_iter().flatten().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagram::scene::Shape;

    fn entry(edge: EdgeIndex) -> Entry {
        Entry {
            edge,
            relation: Relation::WriteRead,
            emphasis: Emphasis::Cycle,
            label: "WR balance".to_owned(),
            numbers: vec![3],
            operations: vec![
                ("w(balance) = 1".to_owned(), 13),
                ("r(balance) = 1".to_owned(), 13),
            ],
        }
    }

    #[test]
    fn only_what_is_visible_of_a_large_table_is_built() {
        let n = 3000;
        let edges = (0..n).map(|t| (t, TransactionId::new(t), TransactionId::new((t + 1) % n)));
        let table = Table::new(edges);
        let (name, entry) = (
            |t: TransactionId| format!("T{}", t.index()),
            |edge| Some(entry(edge)),
        );
        let content = Content {
            table: &table,
            name: &name,
            entry: &entry,
        };
        let measure = Measure::new(&content, vec2(600.0, 500.0));
        assert_eq!((measure.cell, measure.n), (LEAST, n));
        let visible = Visible {
            rows: 100..110,
            columns: 95..112,
        };
        let scene = scene(&content, &measure, &visible);
        let cells = scene
            .names
            .iter()
            .filter(|name| name.text.starts_with("Cell "));
        assert_eq!(cells.count(), 10);
        assert!(
            scene
                .names
                .iter()
                .any(|name| name.text == "Cell WR from T100 to T101"),
            "{:?}",
            scene.names
        );
        let inside = |mark: &crate::diagram::scene::Mark| match &mark.shape {
            Shape::Rect { rect, .. } => scene.bounds.contains_rect(*rect),
            _ => true,
        };
        assert!(scene.marks.len() < 200 && scene.marks.iter().all(inside));
        // In the smallest cells the letters of the relation are left.
        assert!(
            scene
                .marks
                .iter()
                .any(|mark| matches!(&mark.shape, Shape::Text { text, .. } if text == "WR"))
        );
    }

    #[test]
    fn a_cell_says_as_much_as_it_has_room_for() {
        let tile = |x: f32, y: f32| Tile::new(vec2(x, y), &entry(0), "WR 12345");
        let lines = |x: f32, y: f32| tile(x, y).lines;
        assert_eq!(
            (tile(34.0, 22.0).shown.as_str(), lines(34.0, 22.0)),
            ("WR", vec![CellLine::Label])
        );
        // The number is next to the letters of the relation, and above the whole label.
        assert!(tile(60.0, 80.0).before_label > 0.0 && tile(60.0, 80.0).shown == "WR");
        assert_eq!(lines(60.0, 80.0), [CellLine::Label, CellLine::Arrow]);
        assert_eq!(
            lines(75.0, 80.0),
            [CellLine::Number, CellLine::Label, CellLine::Arrow]
        );
        let all = [
            CellLine::Label,
            CellLine::Operation(0),
            CellLine::Arrow,
            CellLine::Operation(1),
        ];
        assert_eq!(lines(200.0, 120.0), all);
    }

    #[test]
    fn several_relations_share_a_cell_until_it_is_too_small() {
        let table =
            Table::new((0..4).map(|edge| (edge, TransactionId::new(0), TransactionId::new(1))));
        let (name, entry) = (|_: TransactionId| "T".to_owned(), |edge| Some(entry(edge)));
        let content = Content {
            table: &table,
            name: &name,
            entry: &entry,
        };
        for (height, n_tiles, text) in [(300.0, 4, "WR balance"), (90.0, 1, "WR+3")] {
            let measure = Measure::new(&content, vec2(600.0, height));
            let scene = scene(&content, &measure, &measure.all());
            let tiles = scene
                .marks
                .iter()
                .filter(|mark| matches!(mark.role, Role::Label(..)));
            assert_eq!(tiles.count(), n_tiles, "{height}");
            let says = |mark: &crate::diagram::scene::Mark| matches!(&mark.shape, Shape::Text { text: said, .. } if said == text);
            assert!(scene.marks.iter().any(says), "{height}: {text}");
        }
    }
}
