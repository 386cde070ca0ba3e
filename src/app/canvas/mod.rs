//! The interactive graph: egui_graphs for the model, the drawing order and the card under the pointer; everything else
//! is our own.
//!
//! What egui_graphs does differently, and how it is handled here:
//! * it requests a repaint after every frame: frames in which nothing happened paint the shapes of the previous frame;
//! * it moves a pressed card's centre under the pointer: its dragging is off, cards move as far as the pointer does;
//! * it zooms by a fixed factor per frame, without bounds, and fits without knowing how wide cards are: its navigation
//!   is off, see [`navigation`];
//! * it draws cards over labels: labels are painted after it;
//! * it visits every card and edge in every frame: from afar, where thousands are visible, they are one mesh (module
//!   `far`).

mod batch;
mod brush;
mod card;
mod clip;
mod edge;
mod far;
pub mod look;
pub mod navigation;
mod overview;
pub mod sketch;

use super::vocabulary::Attention;
use crate::diagram::Target;
use crate::diagram::path::distance_to_line;
use crate::diagram::scene::Scene;
use crate::history::TransactionId;
use crate::jobs;
use crate::relations::EdgeIndex;
use brush::Brush;
use card::CardNode;
use edge::ArrowEdge;
use egui::epaint::ClippedShape;
use egui::{CursorIcon, Pos2, Rect, Response, Sense, Ui, Vec2, WidgetInfo, WidgetType};
use egui_graphs::{
    Graph, GraphView, MetadataFrame, SettingsInteraction, SettingsNavigation, SettingsStyle,
};
use far::Far;
use look::Look;
use navigation::{Fit, Navigation};
use overview::Overview;
use petgraph::Directed;
use petgraph::stable_graph::DefaultIx;
use sketch::{CardSketch, EdgeSketch, Sketch};
use std::collections::BTreeSet;
use std::sync::Arc;

type Model = Graph<Arc<CardSketch>, Arc<EdgeSketch>, Directed, DefaultIx, CardNode, ArrowEdge>;

/// Name under which egui_graphs stores zoom and pan.
const ID: &str = "canvas";
/// Labels that the picture shrinks below this are left out, in points.
const LEGIBLE_LABEL: f32 = 5.5;
/// Below this zoom, cards and edges have no names for screen readers.
const NAMED_ZOOM: f32 = 0.12;
/// Maximum number of cards, and of edges, that have such names.
const NAMED: usize = 500;
/// How near the pointer must be to an edge, in points on the screen.
const REACH: f32 = 6.0;
/// With more edges than this, a picture is not redrawn while a card is dragged.
const FOLLOWING: usize = 300;
/// Room around the canvas, in which the borders of the panels next to it can be dragged, in points.
const BORDER: f32 = 4.0;
/// Number of frames redrawn after anything happens.
const FRESH_FRAMES: u8 = 3;

/// Draws a scene, this many times as large, with its origin at `origin`.
pub fn paint(painter: &egui::Painter, scene: &Scene, (origin, zoom): (Pos2, f32), look: &Look) {
    let mut shapes = Vec::new();
    Brush {
        painter,
        zoom,
        origin,
        look,
        hovered: false,
    }
    .draw_scene(scene, &mut shapes);
    painter.extend(shapes);
}

/// Whether cards can be dragged elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cards {
    /// They can.
    Movable,
    /// They stay where they are.
    Fixed,
}

/// What the user did with the graph in this frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Under the pointer.
    pub hovered: Option<Attention>,
    /// Clicked: a part of the picture, or the empty background.
    pub clicked: Option<Option<Attention>>,
    /// Double-clicked.
    pub double_clicked: Option<Attention>,
    /// Cards in a selection box.
    pub boxed: Vec<TransactionId>,
    /// The card that was dragged, and where its upper left corner is now.
    pub moved: Option<(TransactionId, Pos2)>,
    /// The target of the menu that is open or was requested in this frame.
    pub menu: Option<Attention>,
}

/// The layout is computed elsewhere: this one leaves all cards where they are.
#[derive(Debug, Default)]
struct Still;

#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct StillState;

impl egui_graphs::LayoutState for StillState {}

impl egui_graphs::Layout<StillState> for Still {
    fn from_state(_state: StillState) -> impl egui_graphs::Layout<StillState> {
        Still
    }

    fn next<N, E, Ty, Ix, Dn, De>(&mut self, _graph: &mut Graph<N, E, Ty, Ix, Dn, De>, _ui: &Ui)
    where
        N: Clone,
        E: Clone,
        Ty: petgraph::EdgeType,
        Ix: petgraph::graph::IndexType,
        Dn: egui_graphs::DisplayNode<N, E, Ty, Ix>,
        De: egui_graphs::DisplayEdge<N, E, Ty, Ix, Dn>,
    {
    }

    fn state(&self) -> StillState {
        StillState
    }
}

/// The graph view with its place, zoom and moved cards.
#[derive(Default)]
pub struct Canvas {
    /// As laid out.
    given: Option<Arc<Sketch>>,
    /// As drawn now.
    shown: Arc<Sketch>,
    model: Option<Model>,
    look: Arc<Look>,
    navigation: Navigation,
    dragged: Option<Dragged>,
    /// Where a selection box was started.
    boxing: Option<Pos2>,
    menu: Option<Attention>,
    far: Far,
    overview: Overview,
    last: Last,
}

/// A card that is being dragged.
#[derive(Clone, Copy, Debug)]
struct Dragged {
    /// Its place.
    card: usize,
    /// Where its upper left corner is now.
    at: Pos2,
}

/// What the last drawn frame looked like.
#[derive(Default)]
struct Last {
    fresh: u8,
    shapes: Vec<ClippedShape>,
    rect: Option<Rect>,
    shown_corner: Option<Pos2>,
    pixels_per_point: f32,
    atlas_fill: f32,
    answer: Answer,
}

impl Canvas {
    /// Shows the whole picture in the next frame.
    pub fn fit(&mut self) {
        self.fit_as(Fit::Whole);
    }

    fn fit_as(&mut self, how: Fit) {
        self.navigation.fit(how);
        self.last.fresh = FRESH_FRAMES;
    }

    /// Moves these transactions into sight, if the canvas shows only a part of the picture and not all of them.
    pub fn reveal(&mut self, transactions: &BTreeSet<TransactionId>) {
        let Some(canvas) = self.last.rect else { return };
        let Some(area) = self.area_of(transactions) else {
            return;
        };
        if !canvas.contains_rect(self.navigation.to_screen_rect(canvas, area)) {
            self.navigation.look_at(area.center());
            self.last.fresh = FRESH_FRAMES;
        }
    }

    /// The area of the picture with the cards of these transactions; none if it has none of them.
    fn area_of(&self, transactions: &BTreeSet<TransactionId>) -> Option<Rect> {
        let cards = self
            .shown
            .parts
            .cards
            .iter()
            .filter(|card| transactions.contains(&card.card.transaction));
        cards.map(|card| card.rect).reduce(|a, b| a.union(b))
    }

    /// Zooms around the centre.
    pub fn zoom_by(&mut self, factor: f32) {
        if let Some(rect) = self.last.rect {
            self.navigation.zoom_about(rect.size() / 2.0, factor);
            self.last.fresh = FRESH_FRAMES;
        }
    }

    /// Shows the picture at its own size, around the centre.
    pub fn own_size(&mut self) {
        self.zoom_by(1.0 / self.navigation.zoom());
    }

    /// Draws `sketch` in `area`. A dragged card stays where it is until another sketch arrives.
    pub fn ui(
        &mut self,
        ui: &mut Ui,
        area: Rect,
        sketch: &Arc<Sketch>,
        look: Look,
        cards: Cards,
    ) -> (Answer, Response) {
        let inside = area.shrink(BORDER);
        ui.scope_builder(egui::UiBuilder::new().max_rect(inside), |ui| {
            self.show(ui, sketch, look, cards)
        })
        .inner
    }

    fn show(
        &mut self,
        ui: &mut Ui,
        sketch: &Arc<Sketch>,
        look: Look,
        cards: Cards,
    ) -> (Answer, Response) {
        self.take_sketch(sketch);
        let rect = ui.available_rect_before_wrap();
        if self.navigation.prepare(rect.size(), self.bounds())
            && let Some(area) = self.area_of(&look.lit.transactions)
        {
            self.navigation.look_at(area.center());
            let cards: Vec<Rect> = self
                .shown
                .parts
                .cards
                .iter()
                .map(|card| card.rect)
                .collect();
            self.navigation.uncover(&cards, area);
        }
        if ui.rect_contains_pointer(rect) && self.navigation.wheel(ui, rect) {
            self.last.fresh = FRESH_FRAMES;
        }
        self.note_changes(ui, rect, look);
        self.draw_marks(ui, rect, &self.shown.parts.lanes, self.look.strength(false));
        let response = match (far::is_far(self.navigation.zoom()), self.last.fresh) {
            (true, _) => self.draw_far(ui, rect),
            (false, 0) => self.repeat(ui),
            (false, _) => self.draw(ui, rect),
        };
        let boxed = self.draw_box(ui, rect, &response);
        let moved = match self.boxing {
            None => self.move_things(ui, rect, &response, cards == Cards::Movable),
            Some(_) => None,
        };
        self.draw_dragged(ui, rect);
        self.draw_labels(ui, rect, cards);
        self.name_things(ui, rect);
        let bounds = self.bounds();
        let is_lit =
            |card: &&Arc<CardSketch>| self.look.lit.transactions.contains(&card.card.transaction);
        let lit = self.shown.parts.cards.iter().filter(is_lit);
        let lit: Vec<Rect> = lit
            .map(|card| self.navigation.to_screen_rect(rect, card.rect))
            .collect();
        if let Some(at) = self.overview.ui(
            ui,
            (rect, bounds),
            &lit,
            &self.shown.parts,
            &self.navigation,
        ) {
            self.navigation.look_at(at);
            self.last.fresh = FRESH_FRAMES;
            ui.request_repaint();
        }
        let answer = Answer {
            boxed,
            moved,
            ..self.answer(rect, &response)
        };
        (answer, response)
    }

    /// A box drawn with Shift held selects the cards in it.
    fn draw_box(&mut self, ui: &Ui, rect: Rect, response: &Response) -> Vec<TransactionId> {
        if response.drag_started() && ui.input(|input| input.modifiers.shift) {
            self.boxing = ui.input(|input| input.pointer.press_origin());
        }
        let Some((from, to)) = self.boxing.zip(response.interact_pointer_pos()) else {
            return Vec::new();
        };
        let area = Rect::from_two_pos(from, to);
        let accent = self.look.palette.accent;
        ui.painter_at(rect).rect(
            area,
            egui::CornerRadius::ZERO,
            accent.gamma_multiply(0.15),
            egui::Stroke::new(1.2, accent),
            egui::StrokeKind::Inside,
        );
        if !response.drag_stopped() {
            return Vec::new();
        }
        self.boxing = None;
        let is_in = |card: &&Arc<CardSketch>| {
            area.intersects(self.navigation.to_screen_rect(rect, card.rect))
        };
        self.shown
            .parts
            .cards
            .iter()
            .filter(is_in)
            .flat_map(|card| card.card.transactions())
            .collect()
    }

    fn take_sketch(&mut self, sketch: &Arc<Sketch>) {
        if self
            .given
            .as_ref()
            .is_some_and(|old| Arc::ptr_eq(old, sketch))
        {
            return;
        }
        let old = self.given.replace(Arc::clone(sketch));
        let is_same = old.as_ref().is_some_and(|old| old.is_nearly(sketch));
        jobs::discard(old);
        self.dragged = None;
        self.last.answer = Answer::default();
        self.build(Arc::clone(sketch));
        if !is_same {
            self.fit_as(Fit::ToRead);
        }
    }

    fn bounds(&self) -> Rect {
        if self.given.is_some() {
            self.shown.layout.bounds
        } else {
            Rect::NOTHING
        }
    }

    /// Makes the graph of a sketch. O(cards + edges).
    fn build(&mut self, sketch: Arc<Sketch>) {
        self.far.clear();
        self.overview.clear();
        let parts = &sketch.parts;
        let mut model = Model::new();
        let mut nodes = Vec::with_capacity(parts.cards.len());
        for card in &parts.cards {
            nodes.push(model.add_node_with_label_and_location(
                Arc::clone(card),
                String::new(),
                card.rect.center(),
            ));
        }
        for edge in &parts.edges {
            if let (Some(&from), Some(&to)) = (nodes.get(edge.arrow.from), nodes.get(edge.arrow.to))
            {
                model.add_edge(from, to, Arc::clone(edge));
            }
        }
        jobs::replace(&mut self.shown, sketch);
        self.model = Some(model);
        self.spread_look();
        self.last.fresh = FRESH_FRAMES;
    }

    /// Anything that makes the last frame's shapes wrong requests a redraw.
    fn note_changes(&mut self, ui: &Ui, rect: Rect, look: Look) {
        let busy = ui.input(|input| {
            let pointer = &input.pointer;
            !input.events.is_empty()
                || pointer.is_moving()
                || pointer.any_down()
                || pointer.any_released()
        });
        let scale = ui.pixels_per_point();
        let fill = ui.fonts(|fonts| fonts.font_atlas_fill_ratio());
        // The atlas is rebuilt when it is nearly full; kept text would point into the old one.
        let atlas_was_remade = fill < self.last.atlas_fill;
        let moved = self.last.rect != Some(rect) || self.last.pixels_per_point != scale;
        if *self.look != look {
            self.look = Arc::new(look);
            self.spread_look();
            self.last.fresh = FRESH_FRAMES;
        }
        if busy || moved || atlas_was_remade || self.dragged.is_some() {
            self.last.fresh = FRESH_FRAMES;
        }
        self.last.rect = Some(rect);
        self.last.pixels_per_point = scale;
        self.last.atlas_fill = fill;
    }

    fn spread_look(&mut self) {
        let Some(model) = &mut self.model else { return };
        let nodes: Vec<_> = model.nodes_iter().map(|(index, _)| index).collect();
        for index in nodes {
            if let Some(node) = model.node_mut(index) {
                node.display_mut().look = Arc::clone(&self.look);
            }
        }
        let edges: Vec<_> = model.edges_iter().map(|(index, _)| index).collect();
        for index in edges {
            if let Some(edge) = model.edge_mut(index) {
                edge.display_mut().look = Arc::clone(&self.look);
            }
        }
    }

    fn draw_marks(
        &self,
        ui: &Ui,
        rect: Rect,
        marks: &[crate::diagram::scene::Mark],
        strength: f32,
    ) {
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        let origin = self.navigation.to_screen(rect, Pos2::ZERO);
        let zoom = self.navigation.zoom();
        let brush = Brush {
            painter: &painter,
            zoom,
            origin,
            look: &self.look,
            hovered: false,
        };
        let mut shapes = Vec::new();
        brush.draw(marks, strength, &mut shapes);
        painter.extend(shapes);
    }

    fn draw(&mut self, ui: &mut Ui, rect: Rect) -> Response {
        self.last.fresh -= 1;
        let Some(model) = &mut self.model else {
            return ui.allocate_rect(rect, Sense::hover());
        };
        // egui_graphs adds the movement of its corner since it was last shown to the pan it is given.
        let drift = self
            .last
            .shown_corner
            .map_or(Vec2::ZERO, |corner| rect.min - corner);
        let mut frame = MetadataFrame::new(Some(ID.to_owned())).load(ui);
        frame.zoom = self.navigation.zoom();
        frame.pan = self.navigation.pan() - drift;
        frame.save(ui);
        self.last.shown_corner = Some(rect.min);
        let layer = ui.layer_id();
        let start = ui.graphics(|graphics| {
            graphics
                .get(layer)
                .map_or(0, |list| list.all_entries().len())
        });
        let still = SettingsNavigation::new()
            .with_zoom_and_pan_enabled(false)
            .with_fit_to_screen_enabled(false);
        let answer = GraphView::<StillState, Still>::new()
            .with_id(Some(ID.to_owned()))
            .with_interactions(&SettingsInteraction::new().with_hover_enabled(true))
            .with_navigations(&still)
            .with_styles(&SettingsStyle::new())
            .show(ui, model);
        // Only the last fresh frame is repeated.
        if self.last.fresh == 0 {
            self.last.shapes = ui.graphics(|graphics| {
                graphics.get(layer).map_or(Vec::new(), |list| {
                    list.all_entries().skip(start).cloned().collect()
                })
            });
        }
        answer.response
    }

    fn draw_far(&mut self, ui: &mut Ui, rect: Rect) -> Response {
        self.last.fresh = FRESH_FRAMES;
        let response = ui.allocate_rect(rect, Sense::click_and_drag());
        let painter = ui.painter_at(rect);
        let (zoom, origin) = (
            self.navigation.zoom(),
            self.navigation.to_screen(rect, Pos2::ZERO),
        );
        self.far
            .draw(&painter, &self.shown.parts, &self.look, zoom, origin);
        let brush = Brush {
            painter: &painter,
            zoom,
            origin,
            look: &self.look,
            hovered: false,
        };
        let mut frames = Vec::new();
        let chosen = |card: &&Arc<CardSketch>| self.look.is_card_chosen(&card.card);
        self.shown
            .parts
            .cards
            .iter()
            .filter(chosen)
            .for_each(|card| brush.draw_choice(card.rect, &mut frames));
        painter.extend(frames);
        response
    }

    fn repeat(&self, ui: &mut Ui) -> Response {
        let (response, painter) = ui.allocate_painter(ui.available_size(), Sense::click_and_drag());
        for kept in &self.last.shapes {
            painter
                .with_clip_rect(kept.clip_rect)
                .add(kept.shape.clone());
        }
        response
    }

    /// Moves the picture or a card; returns the card that was released, and where.
    fn move_things(
        &mut self,
        ui: &Ui,
        rect: Rect,
        response: &Response,
        movable: bool,
    ) -> Option<(TransactionId, Pos2)> {
        if response.drag_started() {
            let pressed = ui
                .input(|input| input.pointer.press_origin())
                .filter(|_| movable);
            let card = pressed.and_then(|at| self.card_at(rect, at));
            let at = card
                .and_then(|card| self.shown.parts.cards.get(card))
                .map(|card| card.rect.min);
            self.dragged = card.zip(at).map(|(card, at)| Dragged { card, at });
        }
        if response.dragged() && response.drag_delta() != Vec2::ZERO {
            let way = response.drag_delta();
            match self.dragged {
                Some(dragged) => self.drag(dragged, way / self.navigation.zoom()),
                None => self.navigation.move_by(way),
            }
            self.last.fresh = FRESH_FRAMES;
        }
        if response.dragged() && self.dragged.is_none() {
            ui.set_cursor_icon(CursorIcon::Grabbing);
        }
        let dragged = self.dragged.filter(|_| response.drag_stopped())?;
        self.dragged = None;
        let card = self.shown.parts.cards.get(dragged.card)?;
        Some((card.card.transaction, dragged.at))
    }

    /// Edges follow at once if they are few; if they are many, a frame follows the pointer and the picture is redrawn
    /// when the card is released.
    fn drag(&mut self, dragged: Dragged, way: Vec2) {
        let at = dragged.at + way;
        self.dragged = Some(Dragged { at, ..dragged });
        if let Some(given) = self
            .given
            .as_ref()
            .filter(|given| given.diagram.arrows.len() <= FOLLOWING)
        {
            self.build(Arc::new(given.moved(dragged.card, at)));
        }
    }

    /// Draws the dragged card where it would be dropped, if it is not already there.
    fn draw_dragged(&self, ui: &Ui, rect: Rect) {
        let Some(dragged) = self.dragged else { return };
        let Some(card) = self
            .shown
            .parts
            .cards
            .get(dragged.card)
            .filter(|card| card.rect.min != dragged.at)
        else {
            return;
        };
        let area = self
            .navigation
            .to_screen_rect(rect, Rect::from_min_size(dragged.at, card.rect.size()));
        let palette = &self.look.palette;
        let stroke = egui::Stroke::new(1.5, palette.accent);
        let ground = palette.accent.gamma_multiply(0.15);
        ui.painter_at(rect)
            .rect(area, 4.0, ground, stroke, egui::StrokeKind::Middle);
    }

    fn card_at(&self, rect: Rect, at: Pos2) -> Option<usize> {
        let at = self.navigation.to_picture(rect, at);
        // Later cards are drawn above earlier ones.
        self.shown
            .parts
            .cards
            .iter()
            .rposition(|card| card.rect.contains(at))
    }

    /// Where the label and the line of an edge are on the screen, in a canvas at `rect`.
    pub fn edge_of(&self, rect: Rect, edge: EdgeIndex) -> Option<(Rect, Vec<Pos2>)> {
        let found = self
            .shown
            .parts
            .edges
            .iter()
            .find(|sketch| sketch.arrow.edge == edge)?;
        let line = found
            .far
            .iter()
            .map(|point| self.navigation.to_screen(rect, *point))
            .collect();
        Some((self.navigation.to_screen_rect(rect, found.label), line))
    }

    /// Where the cards are on the screen, in a canvas at `rect`.
    pub fn cards(&self, rect: Rect) -> impl Iterator<Item = (TransactionId, Rect)> + '_ {
        let cards = self.shown.parts.cards.iter();
        cards.map(move |card| {
            (
                card.card.transaction,
                self.navigation.to_screen_rect(rect, card.rect),
            )
        })
    }

    /// The edge nearest to a point, among those within reach. O(edges).
    fn edge_at(&self, rect: Rect, at: Pos2) -> Option<&Arc<EdgeSketch>> {
        let reach = REACH / self.navigation.zoom().max(0.02);
        let at = self.navigation.to_picture(rect, at);
        let shown = |edge: &&Arc<EdgeSketch>| !self.look.hidden.contains(&edge.arrow.relation);
        let near = self
            .shown
            .parts
            .edges
            .iter()
            .filter(|edge| edge.bounds.expand(reach).contains(at))
            .filter(shown);
        let distances = near.map(|edge| (distance_to_line(at, &edge.points), edge));
        let nearest = distances.min_by(|a, b| a.0.total_cmp(&b.0));
        nearest
            .filter(|(distance, _)| *distance <= reach)
            .map(|(_, edge)| edge)
    }

    fn attention_at(&self, rect: Rect, at: Pos2) -> Option<Attention> {
        let in_picture = self.navigation.to_picture(rect, at);
        let shown = |edge: &&Arc<EdgeSketch>| !self.look.hidden.contains(&edge.arrow.relation);
        if let Some(edge) = self
            .shown
            .parts
            .edges
            .iter()
            .rev()
            .filter(shown)
            .find(|edge| edge.label.contains(in_picture))
        {
            return Some(Attention::Edge(edge.arrow.edge));
        }
        if let Some(card) = self
            .card_at(rect, at)
            .and_then(|card| self.shown.parts.cards.get(card))
        {
            return Some(match card.at(in_picture) {
                Some(Target::Operation(operation)) => Attention::Operation(operation),
                _ => Attention::Transaction(card.card.transaction),
            });
        }
        self.edge_at(rect, at)
            .map(|edge| Attention::Edge(edge.arrow.edge))
    }

    fn draw_labels(&self, ui: &Ui, rect: Rect, cards: Cards) {
        let size = crate::diagram::layout::LABEL_FONT * self.navigation.zoom();
        if size < LEGIBLE_LABEL {
            return;
        }
        // Of many edges, only those that are lit have labels where these have to be larger than the picture shrinks them.
        let is_crowded =
            cards == Cards::Fixed && size < brush::LEGIBLE && !self.look.lit.edges.is_empty();
        let Some(model) = &self.model else { return };
        for (_, edge) in model.edges_iter() {
            let display = edge.display();
            let area = self.navigation.to_screen_rect(rect, display.sketch.label);
            let is_pale = is_crowded && display.strength() < 1.0;
            if display.is_shown()
                && !is_pale
                && !self.look.is_absent(&display.sketch.arrow)
                && area.intersects(rect)
            {
                self.draw_marks(ui, rect, &display.sketch.label_marks, display.strength());
            }
        }
    }

    /// Painted things have no names of their own for screen readers and tests: gives them some, unless they are too
    /// many or too small to distinguish.
    fn name_things(&self, ui: &Ui, rect: Rect) {
        if self.navigation.zoom() < NAMED_ZOOM {
            return;
        }
        let in_sight = |area: Rect| {
            let area = self.navigation.to_screen_rect(rect, area).intersect(rect);
            area.is_positive().then_some(area)
        };
        let name = |id: egui::Id, area: Rect, name: &dyn Fn() -> String| {
            let response = ui.interact(area, id, Sense::empty());
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, name()));
        };
        let cards = self.shown.parts.cards.iter().enumerate();
        let cards = cards.filter(|(_, sketch)| {
            !self
                .look
                .absent
                .transactions
                .contains(&sketch.card.transaction)
        });
        let cards = cards
            .filter_map(|(place, sketch)| in_sight(sketch.rect).map(|area| (place, sketch, area)));
        for (place, sketch, area) in cards.take(NAMED) {
            let card = &sketch.card;
            name(ui.id().with(("card", place)), area, &|| {
                let rows: Vec<&str> = card.rows.iter().map(|row| row.text.as_str()).collect();
                format!(
                    "Transaction {}, {}: {}",
                    card.title,
                    card.status,
                    rows.join(", ")
                )
            });
        }
        let title = |card: usize| {
            self.shown
                .parts
                .cards
                .get(card)
                .map_or("", |card| card.card.title.as_str())
        };
        let edges = self.shown.parts.edges.iter().enumerate();
        let is_there = |edge: &EdgeSketch| {
            !self.look.is_absent(&edge.arrow) && !self.look.hidden.contains(&edge.arrow.relation)
        };
        let edges = edges.filter(|(_, edge)| is_there(edge));
        let edges =
            edges.filter_map(|(place, edge)| in_sight(edge.label).map(|area| (place, edge, area)));
        for (place, edge, area) in edges.take(NAMED) {
            let arrow = &edge.arrow;
            name(ui.id().with(("edge", place)), area, &|| {
                format!(
                    "Edge {} from {} to {}",
                    arrow.label,
                    title(arrow.from),
                    title(arrow.to)
                )
            });
        }
    }

    fn answer(&mut self, rect: Rect, response: &Response) -> Answer {
        let pointer = response.hover_pos();
        let mut answer = Answer {
            hovered: pointer.and_then(|at| self.attention_at(rect, at)),
            ..Answer::default()
        };
        if response.double_clicked() {
            answer.double_clicked = answer.hovered;
        }
        if response.secondary_clicked() {
            self.menu = answer.hovered;
        }
        answer.menu = self.menu;
        if response.clicked() {
            answer.clicked = Some(answer.hovered);
        }
        if response.dragged() {
            answer.hovered = self.last.answer.hovered;
        }
        self.last.answer = answer.clone();
        answer
    }
}
