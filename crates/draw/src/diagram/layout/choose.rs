//! Choosing a layout: several are computed and measured.

use super::grid::grids;
use super::lane_order::lane_order;
use super::lanes::{columns_of, lanes_in_order};
use super::{Layout, LayoutStyle, Problem, crossings, graphviz, lanes, problems};
use crate::diagram::path::Segment;
use crate::diagram::{Arrow, Card, Diagram, Emphasis};
use emath::Vec2;

/// Texts may be scaled down to this, which is 11 units for the smallest.
pub const LEAST_SCALE: f32 = 0.88;
/// Differences between scales that do not matter.
const ABOUT: f32 = 0.05;

/// What it costs to scatter the transactions of few sessions.
const SCATTERED: f32 = 1000.0;
/// What it costs to do without places and values.
const NARROWED: f32 = 100.0;
/// Up to so many sessions have a column each, wherever that is clear and legible.
const FEW_LANES: usize = 4;

/// Layers are tried with up to this many cards and arrows.
const LAYERED: (usize, usize) = (24, 60);
/// Grids are tried with up to this many arrows.
const GRID_ARROWS: usize = 400;

/// A layout and its diagram: without columns by session, the cards name their session.
#[derive(Clone, Debug)]
pub struct Arranged {
    /// What is drawn.
    pub diagram: Diagram,
    /// Where.
    pub layout: Layout,
}

impl Arranged {
    /// A diagram with one of its layouts.
    pub fn new(diagram: &Diagram, layout: Layout) -> Arranged {
        let diagram = if layout.lanes.is_empty() {
            diagram.without_lanes()
        } else {
            diagram.clone()
        };
        Arranged { diagram, layout }
    }

    /// What it has of another diagram of the same cards, everything where it is; none if it has not all of it. O(cards² +
    /// arrows²).
    pub fn of_part(&self, part: &Diagram) -> Option<Arranged> {
        let (all, places) = (&self.diagram, &self.layout);
        let has = |card: &Card, kept: &Card| {
            kept.transaction == card.transaction && kept.others == card.others
        };
        let is_shown = |card: &&Card| part.cards.iter().any(|kept| has(card, kept));
        let says = |arrow: &Arrow, kept: &Arrow| {
            arrow.edge == kept.edge || arrow.also.contains(&kept.edge)
        };
        let is_drawn = |arrow: &Arrow| part.arrows.iter().any(|kept| says(arrow, kept));
        let has_all = part
            .cards
            .iter()
            .all(|kept| all.cards.iter().any(|card| has(card, kept)))
            && part
                .arrows
                .iter()
                .all(|kept| all.arrows.iter().any(|arrow| says(arrow, kept)));
        if !has_all {
            return None;
        }
        let cards = all.cards.iter().enumerate();
        let cards: Vec<usize> = cards
            .filter(|(_, card)| is_shown(card))
            .map(|(i, _)| i)
            .collect();
        let place = |card: usize| cards.iter().position(|&kept| kept == card);
        let mut arrows = Vec::new();
        let mut routes = Vec::new();
        for (arrow, route) in all
            .arrows
            .iter()
            .zip(&places.routes)
            .filter(|(a, _)| is_drawn(a))
        {
            let (from, to) = (place(arrow.from)?, place(arrow.to)?);
            arrows.push(Arrow {
                from,
                to,
                ..arrow.clone()
            });
            routes.push(route.clone());
        }
        Some(Arranged {
            diagram: Diagram {
                lanes: all.lanes.clone(),
                cards: cards.iter().map(|&card| all.cards[card].clone()).collect(),
                arrows,
            },
            layout: Layout {
                cards: cards
                    .iter()
                    .map(|&card| places.cards[card].clone())
                    .collect(),
                routes,
                ..places.clone()
            },
        })
    }

    /// The factor by which it is scaled to fit, at most 1.
    pub fn scale(&self, room: Vec2) -> f32 {
        let size = self.layout.bounds.size();
        (room.x / size.x.max(1.0))
            .min(room.y / size.y.max(1.0))
            .min(1.0)
    }
}

/// Lays out a diagram in this style. Of several layouts it takes the one in which nothing overlaps, whose text is large
/// enough in this `room`, and that has the best combination of few crossings and corners, large text, sessions in their
/// order, and little height. In the style [`Auto`](LayoutStyle::Auto) these are columns by session, rings, grids, and
/// layers.
pub fn arrange(diagram: &Diagram, style: LayoutStyle, room: Vec2) -> Arranged {
    let plain = diagram.without_lanes();
    let has_few_lanes = diagram.lanes.len() <= FEW_LANES;
    let scattered = if has_few_lanes { SCATTERED } else { 0.0 };
    let mut candidates: Vec<(f32, Arranged)> = Vec::new();
    let mut add = |strangeness: f32, diagram: &Diagram, layout: Layout| {
        candidates.push((strangeness, Arranged::new(diagram, layout)));
    };
    if style != LayoutStyle::Layered {
        let in_order: Vec<usize> = (0..diagram.lanes.len()).collect();
        // Columns that are too wide for the page do without what the argument says, too.
        let narrow = has_few_lanes.then(|| diagram.narrow());
        for (strangeness, diagram) in [(0.0, Some(diagram)), (NARROWED, narrow.as_ref())] {
            let Some(diagram) = diagram else { continue };
            for order in orders(diagram, &in_order) {
                let strangeness = strangeness + if order == in_order { 0.0 } else { 0.5 };
                add(strangeness, diagram, lanes_in_order(diagram, &order));
            }
        }
    }
    if style == LayoutStyle::Auto && diagram.cards.len() > 1 && diagram.arrows.len() <= GRID_ARROWS
    {
        for columns in grids(&plain) {
            add(scattered + 2.0, diagram, columns_of(&plain, columns));
        }
    }
    let is_small = diagram.cards.len() <= LAYERED.0 && diagram.arrows.len() <= LAYERED.1;
    if (style == LayoutStyle::Layered || style == LayoutStyle::Auto && is_small)
        && let Ok(layout) = graphviz(&plain)
    {
        // Its arrows end on cards, not on their rows.
        add(scattered + 6.0, diagram, layout);
    }
    let measured = candidates.into_iter().map(|(strangeness, arranged)| {
        let cost = cost(&arranged, strangeness, room);
        (cost, arranged)
    });
    let best =
        measured.min_by(|(a, _), (b, _)| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    best.map_or_else(
        || Arranged::new(diagram, lanes(diagram)),
        |(_, arranged)| arranged,
    )
}

/// The orders of columns that are tried: all of few, else that of the sessions and one with connected ones side by side.
fn orders(diagram: &Diagram, in_order: &[usize]) -> Vec<Vec<usize>> {
    if in_order.len() > FEW_LANES {
        let mut orders = vec![lane_order(diagram), in_order.to_vec()];
        orders.dedup();
        return orders;
    }
    let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
    for &lane in in_order {
        let with = |order: Vec<usize>| {
            (0..=order.len()).map(move |place| {
                let mut order = order.clone();
                order.insert(place, lane);
                order
            })
        };
        orders = orders.into_iter().flat_map(with).collect();
    }
    orders
}

/// The number of problems, by how much its text is too small, and the effort of reading it.
fn cost(arranged: &Arranged, strangeness: f32, room: Vec2) -> (usize, f32, f32) {
    let Arranged { diagram, layout } = arranged;
    let is_unclear = |problem: &Problem| !matches!(problem, Problem::LooseEnd(_));
    let unclear = problems(diagram, layout)
        .iter()
        .filter(|problem| is_unclear(problem))
        .count();
    let scale = arranged.scale(room);
    let corner = |emphasis: Emphasis| {
        if emphasis == Emphasis::Cycle {
            0.3
        } else {
            0.1
        }
    };
    let corners = diagram
        .arrows
        .iter()
        .zip(&layout.routes)
        .map(|(arrow, route)| {
            let n = route
                .path
                .segments
                .iter()
                .filter(|segment| !matches!(segment, Segment::Line(_)))
                .count();
            n as f32 * corner(arrow.emphasis)
        });
    let shape = corners.sum::<f32>() + layout.bounds.height() / 200.0;
    (
        unclear,
        // A little smaller is as good.
        ((LEAST_SCALE - scale).max(0.0) / ABOUT).ceil(),
        crossings(layout) as f32 + 20.0 * (1.0 - scale) + shape + strangeness,
    )
}

impl Diagram {
    /// This diagram without what makes its cards and labels wide and is said elsewhere: where operations are in the file,
    /// that a transaction committed, and the values that rows have, too.
    fn narrow(&self) -> Diagram {
        let mut diagram = self.clone();
        for card in &mut diagram.cards {
            if card.status == "committed" {
                card.status.clear();
            }
            card.rows.iter_mut().for_each(|row| row.place.clear());
        }
        for arrow in diagram
            .arrows
            .iter_mut()
            .filter(|arrow| arrow.to_row.is_some())
        {
            if let Some((key, _)) = arrow.label.split_once(" = ") {
                arrow.label = key.to_owned();
            }
        }
        diagram
    }

    /// This diagram with the session on each card instead of the usual outcome.
    fn without_lanes(&self) -> Diagram {
        let mut diagram = self.clone();
        for card in diagram
            .cards
            .iter_mut()
            .filter(|card| !card.transaction.is_initial() && !card.is_stretch())
        {
            let session = self
                .lanes
                .get(card.lane)
                .map_or("", |lane| lane.title.as_str());
            let outcome = if card.status == "committed" {
                String::new()
            } else {
                format!(", {}", card.status)
            };
            card.status = format!("{session}{outcome}");
        }
        diagram
    }
}
