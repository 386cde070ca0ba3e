//! The interactive graph: its scene, painted and touched as every other, on a canvas that can be moved and zoomed, with
//! cards that can be dragged and selected.
//!
//! What the user does with the graph, egui_graphs finds out (module `graph`). From afar, where thousands of cards and
//! edges are visible, they are one mesh (module `far`).

mod batch;
mod brush;
mod clip;
mod far;
mod glide;
mod graph;
pub mod look;
pub mod navigation;
mod overview;
pub mod scene;
pub mod sketch;

use super::vocabulary::Attention;
use crate::checkers::ViolationId;
use crate::diagram::Card;
use crate::diagram::scene::Hit;
use crate::history::TransactionId;
use crate::jobs;
use crate::relations::EdgeIndex;
use egui::{CursorIcon, Id, Pos2, Rect, Response, Sense, Ui, Vec2};
use far::Far;
use glide::{Corners, Glide};
use graph::{Acts, Allowed, Hand};
use look::Look;
use navigation::{Fit, Navigation};
use overview::Overview;
use scene::{Drawn, DrawnAt, attention};
use sketch::Sketch;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// With more edges than this, a picture is not redrawn while a card is dragged.
const FOLLOWING: usize = 300;
/// Room around the canvas, in which the borders of the panels next to it can be dragged, in points.
const BORDER: f32 = 4.0;

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An anomaly, whose cards can be dragged elsewhere.
    Anomaly(ViolationId),
    /// Several, whose cards stay where they are.
    Several,
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
    /// The card that was selected or deselected.
    pub selected: Option<TransactionId>,
    /// Cards in a selection box.
    pub boxed: Vec<TransactionId>,
    /// The card that was dragged, and where its upper left corner is now.
    pub moved: Option<(TransactionId, Pos2)>,
    /// The target of the menu that is open or was requested in this frame.
    pub menu: Option<Attention>,
}

/// The graph view with its place, zoom and moved cards.
#[derive(Default)]
pub struct Canvas {
    /// As laid out.
    given: Option<Arc<Sketch>>,
    subject: Option<Subject>,
    /// As drawn now: with the dragged card where it is.
    shown: Option<Arc<Sketch>>,
    look: Arc<Look>,
    /// By edge: how far its label can grow.
    growth: Arc<BTreeMap<EdgeIndex, f32>>,
    navigation: Navigation,
    hand: Hand,
    /// The dragged card and its upper left corner, where the picture does not follow.
    dragged: Option<(usize, Pos2)>,
    /// Where a selection box was started.
    boxing: Option<Pos2>,
    hovered: Option<Attention>,
    menu: Option<Attention>,
    far: Far,
    overview: Overview,
    /// Where it was in the last frame.
    area: Option<Rect>,
    /// Where the cards of the picture before were on the screen, and their way from there.
    left: Option<Corners>,
    glide: Option<Glide>,
}

impl Canvas {
    /// Shows the whole picture in the next frame.
    pub fn fit(&mut self) {
        self.navigation.fit(Fit::Whole);
    }

    /// Moves these transactions into view, if the canvas shows only a part of the picture and not all of them.
    pub fn reveal(&mut self, transactions: &BTreeSet<TransactionId>) {
        let Some(canvas) = self.area else { return };
        let Some(area) = self.area_of(transactions) else {
            return;
        };
        if !canvas.contains_rect(self.navigation.to_screen_rect(canvas, area)) {
            self.navigation.look_at(area.center());
        }
    }

    /// Cards with their areas in the picture.
    fn all_cards(&self) -> impl Iterator<Item = (&Card, Rect)> + Clone {
        let sketches = self.shown.iter();
        sketches.flat_map(|sketch| {
            let areas = sketch.layout.cards.iter().map(|space| space.rect);
            sketch.diagram.cards.iter().zip(areas)
        })
    }

    /// The area of the picture with the cards of these transactions; none if it has none of them.
    fn area_of(&self, transactions: &BTreeSet<TransactionId>) -> Option<Rect> {
        self.all_cards()
            .filter(|(card, _)| transactions.contains(&card.transaction))
            .map(|(_, area)| area)
            .reduce(|a, b| a.union(b))
    }

    /// Zooms around the centre.
    pub fn zoom_by(&mut self, factor: f32) {
        if let Some(rect) = self.area {
            self.navigation.zoom_about(rect.size() / 2.0, factor);
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
        subject: Subject,
    ) -> (Answer, Response) {
        // With an id of its own, egui_graphs knows the canvas again wherever it is.
        let builder = egui::UiBuilder::new()
            .id(Id::new("canvas"))
            .max_rect(area.shrink(BORDER));
        ui.scope_builder(builder, |ui| self.show(ui, sketch, look, subject))
            .inner
    }

    fn show(
        &mut self,
        ui: &mut Ui,
        sketch: &Arc<Sketch>,
        mut look: Look,
        subject: Subject,
    ) -> (Answer, Response) {
        let is_same = self.subject.replace(subject) == Some(subject);
        self.take(sketch, is_same);
        look.spread(&sketch.diagram);
        look.growth = Arc::clone(&self.growth);
        if *self.look != look {
            self.look = Arc::new(look);
        }
        let rect = ui.available_rect_before_wrap();
        self.area = Some(rect);
        self.navigate(ui, rect, sketch.layout.bounds);
        self.set_out(ui, rect);
        let (response, acts) = self.touch(ui, rect, subject);
        let boxed = self.select_in_box(ui, rect, &response);
        let moved = self.drag(ui, &response, &acts);
        self.paint(ui, rect);
        self.look_around(ui, rect);
        let answer = Answer {
            boxed,
            moved,
            ..self.answer(rect, &response, &acts)
        };
        (answer, response)
    }

    /// Takes another picture, of the same subject or not: of the same, the view stays where it can, and cards glide.
    fn take(&mut self, sketch: &Arc<Sketch>, is_same: bool) {
        let is_given = |given: &Arc<Sketch>| Arc::ptr_eq(given, sketch);
        if self.given.as_ref().is_some_and(is_given) {
            return;
        }
        let shown = self.shown.as_ref().filter(|_| is_same);
        let corners = shown.map(|shown| shown.corners());
        self.left = corners.zip(self.area).map(|(mut corners, area)| {
            let navigation = &self.navigation;
            corners
                .values_mut()
                .for_each(|at| *at = navigation.to_screen(area, *at));
            corners
        });
        let old = self.given.replace(Arc::clone(sketch));
        if !old
            .as_ref()
            .is_some_and(|old| is_same && old.is_nearly(sketch))
        {
            self.navigation.fit(Fit::ToRead);
        }
        jobs::discard(old);
        self.hovered = None;
        self.dragged = None;
        self.hand.take(&sketch.diagram);
        self.redraw(Arc::clone(sketch));
    }

    fn redraw(&mut self, sketch: Arc<Sketch>) {
        self.far.clear();
        self.overview.clear();
        let is_small = sketch.diagram.arrows.len() <= FOLLOWING;
        self.growth = Arc::new(if is_small {
            sketch.growth()
        } else {
            BTreeMap::new()
        });
        jobs::replace(&mut self.shown, Some(sketch));
    }

    /// Fits the picture if that is wanted, and moves it by the wheel.
    fn navigate(&mut self, ui: &Ui, rect: Rect, bounds: Rect) {
        if self.navigation.prepare(rect.size(), bounds)
            && let Some(area) = self.area_of(&self.look.lit.transactions)
        {
            self.navigation.look_at(area.center());
            let cards: Vec<Rect> = self.all_cards().map(|(_, area)| area).collect();
            self.navigation.uncover(&cards, area);
        }
        if ui.rect_contains_pointer(rect) {
            self.navigation.wheel(ui, rect);
        }
    }

    /// Cards that were elsewhere on the screen set out from there.
    fn set_out(&mut self, ui: &Ui, rect: Rect) {
        let Some((mut corners, shown)) = self.left.take().zip(self.shown.as_ref()) else {
            return;
        };
        let navigation = &self.navigation;
        corners
            .values_mut()
            .for_each(|at| *at = navigation.to_picture(rect, *at));
        self.glide = Glide::new(&corners, shown, ui.input(|input| input.time));
    }

    /// The picture to paint now: with cards that are on their way where they are.
    fn painted(&mut self, ui: &Ui) -> Option<Arc<Sketch>> {
        let shown = self.shown.clone()?;
        let now = ui.input(|input| input.time);
        let is_near = !far::is_far(self.navigation.zoom());
        let glide = self.glide.as_ref().filter(|_| is_near);
        let gliding = glide.and_then(|glide| glide.at(&shown, now));
        if gliding.is_some() {
            ui.request_repaint();
        } else {
            self.glide = None;
        }
        Some(gliding.map_or(shown, Arc::new))
    }

    /// A sketch in a canvas at `rect`.
    fn drawn<'a>(&'a self, sketch: &'a Sketch, rect: Rect) -> Drawn<'a> {
        let place = DrawnAt {
            origin: self.navigation.to_screen(rect, Pos2::ZERO),
            zoom: self.navigation.zoom(),
            area: rect,
        };
        Drawn {
            scene: &sketch.scene,
            place,
            look: &self.look,
        }
    }

    fn hit(&self, rect: Rect, at: Pos2) -> Option<Hit> {
        self.drawn(self.shown.as_ref()?, rect).hit(at)
    }

    /// What the user does with cards and edges.
    fn touch(&mut self, ui: &mut Ui, rect: Rect, subject: Subject) -> (Response, Acts) {
        let shown = self.shown.clone();
        if let Some(sketch) = shown.filter(|_| self.hand.is_needed(ui)) {
            let (shift, at) = ui.input(|input| {
                let pointer = &input.pointer;
                // What was pressed is what is dragged, however far the pointer is already.
                let pressed = pointer.press_origin().filter(|_| pointer.any_pressed());
                (input.modifiers.shift, pressed.or(pointer.latest_pos()))
            });
            let under = at
                .and_then(|at| self.hit(rect, at))
                .and_then(|hit| hit.part);
            let look = Arc::clone(&self.look);
            let is_selected = |card: usize| {
                look.chosen
                    .contains(&sketch.diagram.cards[card].transaction)
            };
            let selects = self.boxing.is_some() || shift && !self.hand.holds();
            let allowed = Allowed {
                dragging: subject != Subject::Several && !selects,
                selecting: selects.then_some(&is_selected),
            };
            let card = |card: usize| sketch.layout.cards[card].rect;
            let shown = self
                .hand
                .show(ui, &mut self.navigation, (under, &card), &allowed);
            if let Some(shown) = shown {
                return shown;
            }
        }
        let size = ui.available_size();
        let response = ui.allocate_response(size, Sense::click_and_drag());
        (response, Acts::default())
    }

    /// A box drawn with Shift held selects the cards in it.
    fn select_in_box(&mut self, ui: &Ui, rect: Rect, response: &Response) -> Vec<TransactionId> {
        if response.drag_started() && ui.input(|input| input.modifiers.shift) {
            self.boxing = ui.input(|input| input.pointer.press_origin());
        }
        if response.dragged() {
            return Vec::new();
        }
        let from = self.boxing.take();
        let Some((from, to)) = from.zip(response.interact_pointer_pos()) else {
            return Vec::new();
        };
        let area = Rect::from_two_pos(from, to);
        let is_in = |at: Rect| area.intersects(self.navigation.to_screen_rect(rect, at));
        self.all_cards()
            .filter(|(_, at)| is_in(*at))
            .flat_map(|(card, _)| card.transactions())
            .collect()
    }

    /// Edges follow a dragged card at once if they are few; if they are many, a frame follows the pointer and the picture is
    /// redrawn when the card is released. Returns the card that was released, and where.
    fn drag(&mut self, ui: &Ui, response: &Response, acts: &Acts) -> Option<(TransactionId, Pos2)> {
        let Some((card, at)) = acts.dragged else {
            if response.dragged() && self.boxing.is_none() {
                ui.set_cursor_icon(CursorIcon::Grabbing);
            }
            return None;
        };
        let given = self.given.clone()?;
        if response.drag_delta() != Vec2::ZERO {
            self.dragged = Some((card, at));
            if given.diagram.arrows.len() <= FOLLOWING {
                self.redraw(Arc::new(given.moved(card, at)));
            }
        }
        if !acts.released {
            return None;
        }
        self.dragged = None;
        Some((given.diagram.cards.get(card)?.transaction, at))
    }

    fn paint(&mut self, ui: &Ui, rect: Rect) {
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        let Some(sketch) = self.painted(ui) else {
            return;
        };
        let drawn = self.drawn(&sketch, rect);
        drawn.name(ui, ui.id());
        if far::is_far(drawn.place.zoom) {
            drawn.paint_ground(&painter);
            self.far
                .draw(&painter, &sketch.scene, &self.look, drawn.place);
            self.drawn(&sketch, rect).paint_choices(&painter);
        } else {
            drawn.paint(&painter);
        }
        let accent = self.look.palette.accent;
        let ground = accent.gamma_multiply(0.15);
        let frame = |area, width| {
            let stroke = egui::Stroke::new(width, accent);
            painter.rect(area, 0.0, ground, stroke, egui::StrokeKind::Inside);
        };
        let pointer = ui.input(|input| input.pointer.latest_pos());
        if let Some((from, to)) = self.boxing.zip(pointer) {
            frame(Rect::from_two_pos(from, to), 1.2);
        }
        // A dragged card where it would be dropped, if it is not already there.
        if let Some((card, at)) = self.dragged {
            let card = sketch.layout.cards[card].rect;
            if card.min != at {
                let area = Rect::from_min_size(at, card.size());
                frame(self.navigation.to_screen_rect(rect, area), 1.5);
            }
        }
    }

    /// The overview map.
    fn look_around(&mut self, ui: &Ui, rect: Rect) {
        let Some(sketch) = self.shown.clone() else {
            return;
        };
        let to_screen = |area| self.navigation.to_screen_rect(rect, area);
        let lit = self
            .all_cards()
            .filter(|(card, _)| self.look.lit.transactions.contains(&card.transaction));
        let lit: Vec<Rect> = lit.map(|(_, area)| to_screen(area)).collect();
        if let Some(at) = self.overview.ui(ui, rect, &lit, &sketch, &self.navigation) {
            self.navigation.look_at(at);
            ui.request_repaint();
        }
    }

    /// Where the label and the line of an edge are on the screen, in a canvas at `rect`.
    pub fn edge_of(&self, rect: Rect, edge: EdgeIndex) -> Option<(Rect, Vec<Pos2>)> {
        let sketch = self.shown.as_ref()?;
        let arrows = &sketch.diagram.arrows;
        let place = arrows.iter().position(|arrow| arrow.edge == edge)?;
        let route = &sketch.layout.routes[place];
        let line = route.path.flatten(1).into_iter();
        let line = line.map(|point| self.navigation.to_screen(rect, point));
        let label = self.navigation.to_screen_rect(rect, route.label);
        Some((label, line.collect()))
    }

    /// Where the cards are on the screen, in a canvas at `rect`.
    pub fn cards(&self, rect: Rect) -> impl Iterator<Item = (TransactionId, Rect)> + '_ {
        self.all_cards().map(move |(card, area)| {
            let area = self.navigation.to_screen_rect(rect, area);
            (card.transaction, area)
        })
    }

    fn answer(&mut self, rect: Rect, response: &Response, acts: &Acts) -> Answer {
        if !response.dragged() {
            let hit = response.hover_pos().and_then(|at| self.hit(rect, at));
            self.hovered = hit.and_then(|hit| attention(hit.target));
            if hit.is_some() {
                response.clone().on_hover_cursor(CursorIcon::PointingHand);
            }
        }
        if response.secondary_clicked() {
            self.menu = self.hovered;
        }
        let sketch = self.shown.as_ref();
        let card = |card: usize| Some(sketch?.diagram.cards.get(card)?.transaction);
        Answer {
            hovered: self.hovered,
            clicked: response
                .clicked()
                .then_some(self.hovered.filter(|_| acts.clicked)),
            double_clicked: self.hovered.filter(|_| acts.double_clicked),
            selected: acts.selected.and_then(card),
            menu: self.menu,
            ..Answer::default()
        }
    }
}
