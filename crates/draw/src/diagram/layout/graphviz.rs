//! Layers, as Graphviz draws them, by the crate layout-rs.
//!
//! The crate is worked around: cycles are broken here and edges are passed in the topological order of their sources,
//! with its self-check off, because its reachability test takes exponential time otherwise; an empty graph, on which it
//! panics, never reaches it. It cannot be interrupted and its search is recursive, so [`graphviz`] runs it on a thread
//! with a stack of its own; a caller that must not wait runs the whole on a worker. Edges end on the border of cards,
//! not on rows, and may pass through cards; labels are placed here.

use super::labels::{Chords, is_free};
use super::lanes::card_box;
use super::measure::{card_width, label_size};
use super::moved::places_along;
use super::ports::{CardShape, Way, ports};
use super::{Layout, Route};
use crate::diagram::Diagram;
use crate::diagram::path::{Path, Segment};
use ::layout::core::base::Orientation;
use ::layout::core::format::{ClipHandle, RenderBackend};
use ::layout::core::geometry::Point;
use ::layout::core::style::StyleAttr;
use ::layout::std_shapes::shapes::{Arrow, Element, ShapeKind};
use ::layout::topo::layout::VisualGraph;
use emath::{Pos2, Rect, Vec2, pos2, vec2};
use isoscope_model::graph::{Digraph, topological_order_by_priority};
use petgraph::acyclic::Acyclic;
use petgraph::data::Build;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use std::collections::BTreeMap;

/// More cards than this take layout-rs too long.
pub const MAX_CARDS: usize = 200;

/// Maximum number of arrows passed: dense graphs take it long, too.
const MAX_ARROWS: usize = 600;

/// Distance between arrows that connect the same cards.
const PARALLEL: f32 = 44.0;

/// The diagram is too big for this layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the layered layout takes at most {MAX_CARDS} transactions and {MAX_ARROWS} edges, this has {cards} and {arrows}"
)]
pub struct TooManyCards {
    /// Number of cards.
    pub cards: usize,
    /// Number of arrows.
    pub arrows: usize,
}

impl TooManyCards {
    /// The error for this diagram.
    pub fn of(diagram: &Diagram) -> TooManyCards {
        TooManyCards {
            cards: diagram.cards.len(),
            arrows: diagram.arrows.len(),
        }
    }
}

/// Lays out a diagram in layers. Takes up to some seconds for [`MAX_CARDS`] cards and cannot be interrupted.
pub fn graphviz(diagram: &Diagram) -> Result<Layout, TooManyCards> {
    let size = TooManyCards::of(diagram);
    if size.cards > MAX_CARDS || size.arrows > MAX_ARROWS {
        return Err(size);
    }
    if size.cards == 0 {
        return Ok(Layout::default());
    }
    let run = || {
        std::thread::Builder::new().stack_size(64 << 20).spawn({
            let job = Job::new(diagram);
            move || job.run()
        })
    };
    // Without a thread there is no layered layout; the lanes show the same diagram.
    let drawn = run().ok().and_then(|thread| thread.join().ok());
    Ok(drawn.map_or_else(|| super::lanes(diagram), |drawn| finish(diagram, drawn)))
}

/// The input of layout-rs.
struct Job {
    sizes: Vec<Vec2>,
    /// Arrow, source, target; without self loops and cycles, by the topological order of sources.
    edges: Vec<(usize, usize, usize)>,
    /// Arrows reversed to break cycles.
    turned: Vec<bool>,
}

/// The output of layout-rs.
struct Drawn {
    centers: Vec<Pos2>,
    /// By arrow; none for self loops.
    paths: Vec<Option<Path>>,
}

impl Job {
    fn new(diagram: &Diagram) -> Job {
        let shapes = shapes(diagram);
        let sizes = diagram
            .cards
            .iter()
            .zip(&shapes)
            .map(|(card, shape)| Vec2::new(card_width(card), shape.height));
        let rank = acyclic_order(diagram);
        let mut turned = vec![false; diagram.arrows.len()];
        let mut edges = Vec::new();
        for (index, arrow) in diagram
            .arrows
            .iter()
            .enumerate()
            .filter(|(_, arrow)| arrow.from != arrow.to)
        {
            turned[index] = rank[arrow.from] > rank[arrow.to];
            let (from, to) = if turned[index] {
                (arrow.to, arrow.from)
            } else {
                (arrow.from, arrow.to)
            };
            edges.push((index, from, to));
        }
        edges.sort_by_key(|&(index, from, to)| (rank[from], rank[to], index));
        Job {
            sizes: sizes.collect(),
            edges,
            turned,
        }
    }

    fn run(self) -> Drawn {
        let mut graph = VisualGraph::new(Orientation::TopToBottom);
        graph.dag.set_validate(false);
        let style = StyleAttr::simple();
        let nodes: Vec<_> = self
            .sizes
            .iter()
            .map(|size| {
                let size = Point::new(f64::from(size.x), f64::from(size.y));
                graph.add_node(Element::create(
                    ShapeKind::new_box(""),
                    style.clone(),
                    Orientation::TopToBottom,
                    size,
                ))
            })
            .collect();
        for &(index, from, to) in &self.edges {
            let arrow = Arrow {
                properties: Some(index.to_string()),
                ..Arrow::simple("")
            };
            graph.add_edge(arrow, nodes[from], nodes[to]);
        }
        let mut capture = Capture {
            paths: vec![None; self.turned.len()],
        };
        graph.do_it(false, false, false, &mut capture);
        let centers = nodes.iter().map(|&node| {
            let (min, max) = graph.pos(node).bbox(false);
            pos2(
                ((min.x + max.x) / 2.0) as f32,
                ((min.y + max.y) / 2.0) as f32,
            )
        });
        let centers = centers.collect();
        for (path, _) in capture
            .paths
            .iter_mut()
            .zip(&self.turned)
            .filter(|(_, turned)| **turned)
        {
            *path = path.as_ref().map(reversed);
        }
        Drawn {
            centers,
            paths: capture.paths,
        }
    }
}

fn reversed(path: &Path) -> Path {
    let mut ends = vec![path.start];
    ends.extend(path.segments.iter().map(Segment::end));
    let turned = path
        .segments
        .iter()
        .enumerate()
        .rev()
        .map(|(i, segment)| match *segment {
            Segment::Line(_) => Segment::Line(ends[i]),
            Segment::Quadratic(c, _) => Segment::Quadratic(c, ends[i]),
            Segment::Cubic(c, d, _) => Segment::Cubic(d, c, ends[i]),
        });
    Path {
        start: path.end(),
        segments: turned.collect(),
    }
}

fn shapes(diagram: &Diagram) -> Vec<CardShape> {
    ports(
        diagram,
        &vec![Way::Straight; diagram.arrows.len()],
        |_, _| 0.0,
    )
    .shapes
}

/// Ranks of cards in an order that as many edges as possible follow: edges are taken by relation (session order first,
/// anti-dependencies last), and one that would close a cycle is skipped. O(arrows · (cards + arrows)).
fn acyclic_order(diagram: &Diagram) -> Vec<usize> {
    let n = diagram.cards.len();
    let mut graph = Acyclic::<DiGraph<(), ()>>::new();
    let cards: Vec<NodeIndex> = (0..n).map(|_| graph.add_node(())).collect();
    let mut arrows: Vec<_> = diagram
        .arrows
        .iter()
        .filter(|arrow| arrow.from != arrow.to)
        .collect();
    let strength = |relation: isoscope_model::relations::Relation| {
        use isoscope_model::relations::Relation::*;
        [
            SessionOrder,
            RealTime,
            WriteRead,
            WriteWrite,
            CausalOrder,
            CommitOrder,
            AntiDependency,
        ]
        .iter()
        .position(|r| *r == relation)
    };
    arrows.sort_by_key(|arrow| (strength(arrow.relation), arrow.edge));
    for arrow in arrows {
        // An arrow that would close a cycle is left out.
        let _ = graph.try_add_edge(cards[arrow.from], cards[arrow.to], ());
    }
    let edges = graph.edge_references();
    let edges = edges.map(|edge| (edge.source().index() as u32, edge.target().index() as u32));
    let order =
        topological_order_by_priority(&Digraph::new(n, edges), &vec![0; n]).unwrap_or_default();
    let mut rank = vec![0; n];
    order
        .into_iter()
        .zip(0..)
        .for_each(|(card, place)| rank[card as usize] = place);
    rank
}

/// Records the curves that layout-rs draws.
struct Capture {
    paths: Vec<Option<Path>>,
}

impl RenderBackend for Capture {
    fn draw_rect(
        &mut self,
        _: Point,
        _: Point,
        _: &StyleAttr,
        _: Option<String>,
        _: Option<ClipHandle>,
    ) {
    }

    fn draw_line(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}

    fn draw_circle(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}

    fn draw_text(&mut self, _: Point, _: &str, _: &StyleAttr) {}

    fn draw_arrow(
        &mut self,
        path: &[(Point, Point)],
        _: bool,
        head: (bool, bool),
        _: &StyleAttr,
        properties: Option<String>,
        _: &str,
    ) {
        let place = properties
            .and_then(|id| id.parse::<usize>().ok())
            .filter(|&arrow| arrow < self.paths.len());
        let (Some(place), [first, rest @ ..]) = (place, path) else {
            return;
        };
        let at = |p: Point| pos2(p.x as f32, p.y as f32);
        // The first pair is a point and its control point, each further one a control point and a point; a control
        // point is mirrored at its point for the next piece.
        let mut segments = Vec::with_capacity(rest.len());
        let mut control = at(first.1);
        for &(before, end) in rest {
            let (before, end) = (at(before), at(end));
            segments.push(Segment::Cubic(control, before, end));
            control = end + (end - before);
        }
        let path = Path {
            start: at(first.0),
            segments,
        };
        // An arrow that layout-rs reversed has its head at the start.
        self.paths[place] = Some(if head.0 && !head.1 {
            reversed(&path)
        } else {
            path
        });
    }

    fn create_clip(&mut self, _: Point, _: Point, _: usize) -> ClipHandle {
        0
    }
}

fn finish(diagram: &Diagram, drawn: Drawn) -> Layout {
    let mut layout = Layout::default();
    for ((card, shape), center) in diagram
        .cards
        .iter()
        .zip(shapes(diagram))
        .zip(&drawn.centers)
    {
        let half = card_width(card) / 2.0;
        layout.cards.push(card_box(
            &shape,
            center.y - shape.height / 2.0,
            (center.x - half, center.x + half),
        ));
    }
    let mut loops = vec![0; diagram.cards.len()];
    let asides = asides(diagram);
    for ((arrow, path), aside) in diagram.arrows.iter().zip(drawn.paths).zip(asides) {
        let path = path.filter(|_| arrow.from != arrow.to).map(|path| {
            let (from, to) = (
                layout.cards[arrow.from].rect.shrink(4.0),
                layout.cards[arrow.to].rect.shrink(4.0),
            );
            let (start, end) = (path.start.x, path.end().x);
            let least = (from.left() - start).max(to.left() - end);
            let most = (from.right() - start).min(to.right() - end);
            if least <= most {
                path.translated(vec2(aside.clamp(least, most), 0.0))
            } else {
                path
            }
        });
        let path = path.unwrap_or_else(|| {
            let rect = layout.cards[arrow.from].rect;
            loops[arrow.from] += 1;
            self_loop(rect, loops[arrow.from])
        });
        layout.routes.push(Route {
            path,
            label: Rect::NOTHING,
        });
    }
    let chords = Chords::new(&layout.routes);
    for arrow in 0..layout.routes.len() {
        let size = label_size(&diagram.arrows[arrow]);
        // On the line, or with one end on it.
        let on_line = places_along(chords.line(arrow));
        let off_line = [1.0, -1.0].map(|side| vec2(side * (size.x / 2.0 - 4.0), 0.0));
        let moved = off_line
            .iter()
            .flat_map(|&by| on_line.iter().map(move |&at| at + by));
        let places: Vec<Pos2> = on_line.iter().copied().chain(moved).collect();
        let rect = |center: &Pos2| Rect::from_center_size(*center, size);
        let free = |rect: &Rect| is_free(*rect, arrow, &layout.cards, &layout.routes, &chords);
        let off_cards = |rect: &Rect| !layout.cards.iter().any(|card| card.rect.intersects(*rect));
        let off_others = |rect: &Rect| {
            off_cards(rect)
                && !layout
                    .routes
                    .iter()
                    .any(|route| route.label.intersects(*rect))
        };
        let place = places
            .iter()
            .map(rect)
            .find(free)
            .or_else(|| places.iter().map(rect).find(off_others));
        let place = place.or_else(|| places.iter().map(rect).find(off_cards));
        layout.routes[arrow].label = place.unwrap_or_else(|| rect(&places[0]));
    }
    layout.bounds = layout.content().expand(16.0);
    layout.at_origin()
}

/// By arrow: how far to the side it is moved. layout-rs draws all arrows between two cards on one line, whatever their
/// direction.
fn asides(diagram: &Diagram) -> Vec<f32> {
    let pair = |arrow: &crate::diagram::Arrow| (arrow.from.min(arrow.to), arrow.from.max(arrow.to));
    let mut total: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for arrow in &diagram.arrows {
        *total.entry(pair(arrow)).or_default() += 1;
    }
    let mut placed: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let aside = |arrow: &crate::diagram::Arrow| {
        let nth = placed.entry(pair(arrow)).or_default();
        *nth += 1;
        PARALLEL * (*nth as f32 - (total[&pair(arrow)] + 1) as f32 / 2.0)
    };
    diagram.arrows.iter().map(aside).collect()
}

/// A small hook at the right side of a card; the `n`-th is larger than the previous ones.
fn self_loop(card: Rect, n: usize) -> Path {
    let (x, out) = (card.right(), 24.0 + 14.0 * n as f32);
    let (top, bottom) = (
        card.top() + 10.0,
        (card.top() + 10.0 + 14.0 * n as f32).min(card.bottom() - 2.0),
    );
    let points = [
        pos2(x, top),
        pos2(x + out, top),
        pos2(x + out, bottom),
        pos2(x, bottom),
    ];
    Path::rounded(&points, super::measure::CORNER)
}
