//! Sessions as columns, edges around cards.
//!
//! 1. Lanes are ordered so that connected ones are near ([`lane_order`]); cards are in session order.
//! 2. Ports are put on the rows that edges are about ([`ports`]); rows grow with their ports.
//! 3. Cards are placed so that edges run level where they can ([`placement`]).
//! 4. Edges over several lanes get a passage between the cards of each lane in between ([`routes`]); the gaps grow.
//! 5. Vertical pieces between two lanes are ordered and packed into columns ([`gutters`]); the gutter grows.
//! 6. Every label has its own room on the line where it leaves its card, and moves to the middle of a longer piece
//!    if that is free ([`labels`]).
//!
//! No edge passes through a foreign card and no label overlaps anything foreign, by construction: ports of left and
//! right sides and passages of even and odd lanes use different heights (see [`ports`]), and gutters hold vertical
//! pieces in columns of their own. Not done: crossings are reduced greedily, not minimized.

use super::gutters::{Vertical, columns};
use super::lane_order::lane_order;
use super::measure::{CORNER, LABEL_HEIGHT, card_width, label_size};
use super::placement::{Tie, bands, place};
use super::ports::{CardShape, Grid, Ports, Side, Way, ports, ways, weight};
use super::routes::{Column, Course, assign_passages, courses, gap_height, level_out};
use super::{CardBox, Layout, Route, labels};
use crate::diagram::Diagram;
use crate::diagram::path::Path;
use emath::{Pos2, Rect, pos2};
use std::collections::BTreeMap;

/// Minimum space next to a card: an arrow head and a corner.
const ZONE: f32 = 26.0;
/// Length of line visible between its card and its label, and between its label and its first corner: with few lanes,
/// and with many.
const LABEL_GAP: (f32, f32) = (12.0, 7.0);
/// Distance of columns in a gutter.
const COLUMN: f32 = 14.0;
/// How far a lane's background extends beyond its cards.
const LANE_PAD: f32 = 16.0;
/// Lanes have this total width unless they need more or less, so that few lanes do not look lost on a page.
const WIDTH: f32 = 760.0;
/// Maximum by which a gutter is widened for that.
const SPARE: f32 = 110.0;
/// Height of a lane's title band.
const LANE_TITLE: f32 = 34.0;

/// Lays out a diagram with sessions as columns. Nothing is drawn for an empty diagram. O(edges² + cards · log) in the
/// worst case; some milliseconds for hundreds of cards.
pub fn lanes(diagram: &Diagram) -> Layout {
    if diagram.cards.is_empty() {
        return Layout::default();
    }
    lanes_in_order(diagram, &lane_order(diagram))
}

/// A layout with the lanes in this order.
pub(super) fn lanes_in_order(diagram: &Diagram, order: &[usize]) -> Layout {
    let (gutters, cards, routes) = arranged(diagram, &Grid::new(diagram, order));
    finish(order, &gutters, cards, routes)
}

/// A layout with cards in these columns, whatever their session; arrows between vertically adjacent cards run straight.
/// The layout has no lanes.
pub(super) fn columns_of(diagram: &Diagram, columns: Vec<Vec<usize>>) -> Layout {
    let (_, cards, routes) = arranged(diagram, &Grid::of(columns));
    let mut layout = Layout {
        bounds: Rect::NOTHING,
        lanes: Vec::new(),
        cards,
        routes,
    };
    layout.bounds = layout.content().expand(LANE_PAD / 2.0);
    layout.at_origin()
}

pub(super) fn arranged(diagram: &Diagram, grid: &Grid) -> (Gutters, Vec<CardBox>, Vec<Route>) {
    let ways = ways(diagram, grid);
    let frame = Frame::new(diagram, grid, &ways);
    let gutters = Gutters::new(&frame, diagram, &ways);
    let cards: Vec<CardBox> = (0..diagram.cards.len())
        .map(|card| {
            card_box(
                &frame.ports.shapes[card],
                frame.tops[card],
                gutters.lane_x[grid.lane_of[card]],
            )
        })
        .collect();
    let mut routes: Vec<Route> = (0..diagram.arrows.len())
        .map(|arrow| route(diagram, &frame, &gutters, &cards, arrow))
        .collect();
    labels::move_to_free_middles(&cards, &mut routes);
    (gutters, cards, routes)
}

/// Heights: of cards and edges.
struct Frame<'a> {
    grid: &'a Grid,
    ports: Ports,
    tops: Vec<f32>,
    courses: Vec<Option<Course>>,
}

impl<'a> Frame<'a> {
    fn new(diagram: &Diagram, grid: &'a Grid, ways: &[Way]) -> Frame<'a> {
        let mut down = vec![false; diagram.cards.len()];
        for (arrow, way) in diagram.arrows.iter().zip(ways) {
            if let Some(upper) = grid
                .upper(arrow.from, arrow.to)
                .filter(|_| *way == Way::Straight)
            {
                down[upper] = true;
            }
        }
        // Gap `k` of a lane is above its card `k`.
        let mut passages = vec![0usize; diagram.cards.len()];
        // First with ports in the order of edges, then in the order of the resulting heights, then with the passages
        // that those heights require.
        let rank = |card: usize| grid.place_of[card] as f32 * 100.0;
        let end = |arrow: usize, end: usize| {
            let arrow = &diagram.arrows[arrow];
            if end == 0 {
                (arrow.from, arrow.from_row)
            } else {
                (arrow.to, arrow.to_row)
            }
        };
        let mut shape = ports(diagram, ways, |arrow, e| {
            let (card, row) = end(arrow, e);
            rank(card) + row.map_or(0.0, |row| 1.0 + row as f32)
        });
        let mut tops = placed(diagram, grid, &shape, &down, &passages);
        shape = ports(diagram, ways, |arrow, e| {
            tops[end(arrow, e).0] + shape.offsets[arrow][e]
        });
        tops = placed(diagram, grid, &shape, &down, &passages);
        let heights = |card: usize| shape.shapes[card].height;
        let course = |tops: &[f32]| {
            let port = |arrow: usize, e: usize| tops[end(arrow, e).0] + shape.offsets[arrow][e];
            courses(diagram, grid, ways, tops, &heights, port)
        };
        for course in course(&tops).iter().flatten() {
            for i in 1..course.lanes.len() - 1 {
                if let Some(&card) = grid.lanes[course.lanes[i]].get(course.gaps[i]) {
                    passages[card] += 1;
                }
            }
        }
        let gaps: Vec<Vec<usize>> = course(&tops)
            .into_iter()
            .map(|course| course.map_or(Vec::new(), |course| course.gaps))
            .collect();
        tops = placed(diagram, grid, &shape, &down, &passages);
        let mut courses = course(&tops);
        let columns: Vec<Column<'_>> = grid
            .lanes
            .iter()
            .map(|cards| Column {
                cards,
                tops: &tops,
                heights: &heights,
            })
            .collect();
        keep_gaps(&mut courses, gaps, &columns);
        assign_passages(&mut courses, &columns, |card| down[card]);
        level_out(&mut courses, &columns, |card| down[card]);
        Frame {
            grid,
            ports: shape,
            tops,
            courses,
        }
    }
}

/// Puts the passages into the gaps that have grown for them; heights wished elsewhere go to the nearest position there.
fn keep_gaps(courses: &mut [Option<Course>], gaps: Vec<Vec<usize>>, columns: &[Column<'_>]) {
    for (course, gaps) in courses.iter_mut().zip(gaps) {
        let Some(course) = course else { continue };
        course.gaps = gaps;
        for i in 1..course.lanes.len() - 1 {
            let (above, below) = columns[course.lanes[i]].gap(course.gaps[i]);
            course.levels[i] = course.levels[i - 1].clamp(above, below.max(above));
        }
    }
}

fn placed(
    diagram: &Diagram,
    grid: &Grid,
    ports: &Ports,
    down: &[bool],
    passages: &[usize],
) -> Vec<f32> {
    let heights: Vec<f32> = ports.shapes.iter().map(|shape| shape.height).collect();
    let mut gap_above = vec![0.0; heights.len()];
    for cards in &grid.lanes {
        for pair in cards.windows(2) {
            gap_above[pair[1]] = gap_height(down[pair[0]], passages[pair[1]]);
        }
    }
    if grid.has_bands {
        return bands(diagram, grid, &heights, &gap_above);
    }
    let ties: Vec<Tie> = diagram
        .arrows
        .iter()
        .zip(&ports.offsets)
        .map(|(arrow, offsets)| Tie {
            a: (arrow.from, offsets[0]),
            b: (arrow.to, offsets[1]),
            weight: weight(arrow.emphasis),
        })
        .collect();
    place(&grid.lanes, &heights, &gap_above, &ties)
}

/// Widths: of lanes and vertical pieces.
pub(super) struct Gutters {
    /// By lane from the left: left and right side of its cards.
    lane_x: Vec<(f32, f32)>,
    /// By arrow and hop: x of its vertical piece; none if the pieces before and after are level.
    tracks: Vec<Vec<Option<f32>>>,
    /// By arrow: whether its label is at its target.
    at_target: Vec<bool>,
    /// Left and right end of everything.
    ends: (f32, f32),
}

impl Gutters {
    fn new(frame: &Frame<'_>, diagram: &Diagram, ways: &[Way]) -> Gutters {
        let n = frame.grid.lanes.len();
        let mut pieces: Vec<Vec<Vertical>> = vec![Vec::new(); n + 1];
        let mut tracks: Vec<Vec<Option<f32>>> = Vec::with_capacity(diagram.arrows.len());
        // Space next to the cards left of a gutter and right of it.
        let mut zones = vec![(0.0_f32, 0.0_f32); n + 1];
        zones[1..n.max(1)].fill((ZONE, ZONE));
        for (arrow, course) in frame.courses.iter().enumerate() {
            let Some(course) = course else {
                tracks.push(Vec::new());
                continue;
            };
            let hops = course.lanes.len() - 1;
            tracks.push(vec![None; hops]);
            for hop in 0..hops {
                let (gutter, from_left, to_left) = course.hop(hop);
                let zone = &mut zones[gutter];
                let is_labelled = hop == 0 && !course.is_level();
                let width = if is_labelled {
                    label_room(diagram, arrow, n)
                } else {
                    ZONE
                };
                let source = if from_left { &mut zone.0 } else { &mut zone.1 };
                *source = source.max(width);
                let target = if to_left { &mut zone.0 } else { &mut zone.1 };
                *target = target.max(ZONE);
                if course.levels[hop] != course.levels[hop + 1] {
                    let leads = [
                        (course.levels[hop], from_left),
                        (course.levels[hop + 1], to_left),
                    ];
                    pieces[gutter].push(Vertical { arrow, hop, leads });
                }
            }
        }
        // An edge that runs level from card to card has its label on the side with space. By gutter and whether on the
        // left of it: the heights of lines and labels there.
        let mut heights: BTreeMap<(usize, bool), Vec<(f32, usize)>> = BTreeMap::new();
        for (arrow, course) in frame.courses.iter().enumerate() {
            let Some(course) = course else { continue };
            for hop in 0..course.lanes.len() - 1 {
                let (gutter, from_left, to_left) = course.hop(hop);
                heights
                    .entry((gutter, from_left))
                    .or_default()
                    .push((course.levels[hop], arrow));
                heights
                    .entry((gutter, to_left))
                    .or_default()
                    .push((course.levels[hop + 1], arrow));
            }
        }
        let mut at_target = vec![false; diagram.arrows.len()];
        for (arrow, course) in frame.courses.iter().enumerate() {
            let Some(course) = course.as_ref().filter(|course| course.is_level()) else {
                continue;
            };
            let (gutter, from_left, _) = course.hop(0);
            let zone = &mut zones[gutter];
            let (source, target) = if from_left {
                (&mut zone.0, zone.1)
            } else {
                (&mut zone.1, zone.0)
            };
            let room = label_room(diagram, arrow, n);
            let near = |&(y, other): &(f32, usize)| {
                other != arrow && (y - course.levels[0]).abs() <= LABEL_HEIGHT
            };
            let is_free = !heights
                .get(&(gutter, !from_left))
                .is_some_and(|heights| heights.iter().any(near));
            at_target[arrow] = *source < room && room <= target && is_free;
            if !at_target[arrow] {
                *source = source.max(room);
            }
        }
        let lane_width = |lane: usize| {
            let widest = frame.grid.lanes[lane]
                .iter()
                .map(|&card| card_width(&diagram.cards[card]))
                .fold(0.0, f32::max);
            let straight =
                diagram.arrows.iter().zip(ways).filter(|(a, way)| {
                    **way == Way::Straight && frame.grid.lane_of[a.from] == lane
                });
            straight
                .map(|(arrow, _)| label_size(arrow).x + 2.0 * label_gap(n))
                .fold(widest, f32::max)
        };
        let packed: Vec<(Vec<usize>, usize)> =
            pieces.iter().map(|pieces| columns(pieces)).collect();
        let widths: Vec<f32> = (0..n).map(lane_width).collect();
        let needed =
            |gutter: usize| zones[gutter].0 + packed[gutter].1 as f32 * COLUMN + zones[gutter].1;
        let total = widths.iter().sum::<f32>() + (0..=n).map(needed).sum::<f32>();
        // Rows have their titles at the side.
        let wished = if frame.grid.has_bands {
            0.85 * WIDTH
        } else {
            WIDTH
        };
        let spare = if n > 1 {
            ((wished - total) / (n - 1) as f32).clamp(0.0, SPARE)
        } else {
            0.0
        };
        zones[1..n.max(1)]
            .iter_mut()
            .for_each(|zone| *zone = (zone.0 + spare / 2.0, zone.1 + spare / 2.0));
        let (mut x, mut lane_x) = (0.0, Vec::with_capacity(n));
        for (gutter, (column, n_columns)) in packed.into_iter().enumerate() {
            let (left, right) = zones[gutter];
            for (piece, column) in pieces[gutter].iter().zip(column) {
                tracks[piece.arrow][piece.hop] = Some(x + left + (column as f32 + 0.5) * COLUMN);
            }
            x += left + n_columns as f32 * COLUMN + right;
            if gutter < n {
                lane_x.push((x, x + widths[gutter]));
                x += widths[gutter];
            }
        }
        Gutters {
            lane_x,
            tracks,
            at_target,
            ends: (0.0, x),
        }
    }
}

fn label_gap(n_lanes: usize) -> f32 {
    if n_lanes <= 3 {
        LABEL_GAP.0
    } else {
        LABEL_GAP.1
    }
}

/// Space that a label takes between two cards.
fn label_room(diagram: &Diagram, arrow: usize, n_lanes: usize) -> f32 {
    label_size(&diagram.arrows[arrow]).x + 2.0 * label_gap(n_lanes) + CORNER
}

/// A card's boxes.
pub(super) fn card_box(shape: &CardShape, top: f32, x: (f32, f32)) -> CardBox {
    let part =
        |y: f32, height: f32| Rect::from_min_max(pos2(x.0, top + y), pos2(x.1, top + y + height));
    CardBox {
        rect: part(0.0, shape.height),
        header: part(0.0, shape.header),
        rows: shape
            .rows
            .iter()
            .map(|&(y, height)| part(y, height))
            .collect(),
        folded: shape.folded.map(|y| part(y, super::measure::ROW_HEIGHT)),
    }
}

fn route(
    diagram: &Diagram,
    frame: &Frame<'_>,
    gutters: &Gutters,
    cards: &[CardBox],
    arrow: usize,
) -> Route {
    let content = &diagram.arrows[arrow];
    let (from, to) = (cards[content.from].rect, cards[content.to].rect);
    let size = label_size(content);
    let Some(course) = &frame.courses[arrow] else {
        let is_down = from.top() < to.top();
        let (upper, lower) = if is_down { (from, to) } else { (to, from) };
        let (start, end) = (
            pos2(from.center().x, upper.bottom()),
            pos2(from.center().x, lower.top()),
        );
        // Passages stay in the lower part of the gap, so the label is free near the upper card; a head there, too.
        let center = pos2(
            start.x,
            start.y + if is_down { 8.0 } else { 15.0 } + LABEL_HEIGHT / 2.0,
        );
        let path = if is_down {
            Path::line(start, end)
        } else {
            Path::line(end, start)
        };
        return Route {
            path,
            label: Rect::from_center_size(center, size),
        };
    };
    let side = |card: Rect, side: Side| {
        if side == Side::Left {
            card.left()
        } else {
            card.right()
        }
    };
    let enter =
        if content.from == content.to || course.lanes[0] == course.lanes[course.lanes.len() - 1] {
            course.exit
        } else if course.exit == Side::Right {
            Side::Left
        } else {
            Side::Right
        };
    let start = pos2(side(from, course.exit), course.levels[0]);
    let mut points = vec![start];
    for (hop, track) in gutters.tracks[arrow].iter().enumerate() {
        if let Some(x) = *track {
            points.extend([pos2(x, course.levels[hop]), pos2(x, course.levels[hop + 1])]);
        }
    }
    points.push(Pos2::new(
        side(to, enter),
        course.levels[course.levels.len() - 1],
    ));
    let away = if course.exit == Side::Right {
        1.0
    } else {
        -1.0
    };
    let gap = label_gap(frame.grid.lanes.len()) + size.x / 2.0;
    let x = if gutters.at_target[arrow] {
        // Behind the head.
        side(to, enter) - away * (gap + CORNER)
    } else {
        start.x + away * gap
    };
    let center = pos2(x, start.y);
    Route {
        path: Path::rounded(&points, CORNER),
        label: Rect::from_center_size(center, size),
    }
}

fn finish(order: &[usize], gutters: &Gutters, cards: Vec<CardBox>, routes: Vec<Route>) -> Layout {
    let mut layout = Layout {
        bounds: Rect::NOTHING,
        lanes: Vec::new(),
        cards,
        routes,
    };
    let content = layout.content();
    let (top, bottom) = (content.top() - LANE_TITLE, content.bottom() + LANE_PAD);
    let mut lanes = vec![Rect::NOTHING; order.len()];
    for (place, &lane) in order.iter().enumerate() {
        let (left, right) = gutters.lane_x[place];
        // The outer gutters hold edges within one lane, so they belong to its background.
        let left = if place == 0 {
            gutters.ends.0.min(content.left())
        } else {
            left
        } - LANE_PAD;
        let right = if place + 1 == order.len() {
            gutters.ends.1.max(content.right())
        } else {
            right
        } + LANE_PAD;
        lanes[lane] = Rect::from_min_max(pos2(left, top), pos2(right, bottom));
    }
    layout.bounds = lanes
        .iter()
        .fold(content, |bounds, lane| bounds.union(*lane));
    layout.lanes = lanes;
    layout.at_origin()
}
