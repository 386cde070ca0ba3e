//! The one way to paint and to touch a scene: the graph, the lanes, the matrix and the versions share it.

use super::brush::Brush;
use super::look::Look;
use crate::app::vocabulary::Attention;
use crate::diagram::Target;
use crate::diagram::scene::{Hit, Scene};
use egui::{Id, Painter, Pos2, Rect, Sense, Ui, WidgetInfo, WidgetType};

/// How near the pointer must be to an edge, in points on the screen.
const REACH: f32 = 6.0;
/// Below this zoom, nothing has a name for screen readers.
const NAMED_ZOOM: f32 = 0.12;
/// Maximum number of names.
const NAMED: usize = 1000;

/// Where a scene is drawn.
#[derive(Clone, Copy, Debug)]
pub struct DrawnAt {
    /// Its origin on the screen.
    pub origin: Pos2,
    /// Points of the screen per unit.
    pub zoom: f32,
    /// What is outside is not there.
    pub area: Rect,
}

impl DrawnAt {
    /// A rectangle of the scene on the screen.
    pub fn to_screen(&self, area: Rect) -> Rect {
        (area * self.zoom).translate(self.origin.to_vec2())
    }

    /// A point of the screen in the scene.
    pub fn to_scene(&self, at: Pos2) -> Pos2 {
        ((at - self.origin) / self.zoom).to_pos2()
    }
}

/// A scene with its place and its look.
#[derive(Clone, Copy)]
pub struct Drawn<'a> {
    /// What is drawn.
    pub scene: &'a Scene,
    /// Where.
    pub place: DrawnAt,
    /// How.
    pub look: &'a Look,
}

impl Drawn<'_> {
    fn brush<'b>(&'b self, painter: &'b Painter) -> Brush<'b> {
        Brush {
            painter,
            zoom: self.place.zoom,
            origin: self.place.origin,
            look: self.look,
        }
    }

    /// Paints what is in view. O(parts + marks in view), without parts O(marks).
    pub fn paint(&self, painter: &Painter) {
        painter.extend(self.brush(painter).scene(self.scene));
    }

    /// Paints what is below everything in a graph.
    pub(super) fn paint_ground(&self, painter: &Painter) {
        painter.extend(self.brush(painter).ground(self.scene));
    }

    /// Paints the frames around selected cards alone.
    pub(super) fn paint_choices(&self, painter: &Painter) {
        painter.extend(self.brush(painter).choices(self.scene));
    }

    /// What is at a point of the screen.
    pub fn hit(&self, at: Pos2) -> Option<Hit> {
        let reach = REACH / self.place.zoom.max(0.02);
        let is_there = |target| !self.look.is_hidden(target);
        self.scene
            .hit(self.place.to_scene(at), reach, is_there)
            .filter(|_| self.place.area.contains(at))
    }

    /// Painted things have no names of their own for screen readers and tests: gives them some, unless they are too
    /// many or too small to distinguish.
    pub fn name(&self, ui: &Ui, id: Id) {
        if self.place.zoom < NAMED_ZOOM {
            return;
        }
        let names = self.scene.names.iter().enumerate().filter_map(|(n, name)| {
            let area = self.place.to_screen(name.area).intersect(self.place.area);
            let is_gone = |target| self.look.is_hidden(target) || self.look.is_absent(target);
            (area.is_positive() && !name.target.is_some_and(is_gone)).then_some((n, area, name))
        });
        for (n, area, name) in names.take(NAMED) {
            let response = ui.interact(area, id.with(("named", n)), Sense::empty());
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &name.text));
        }
    }
}

/// What has attention when the pointer is on this.
pub fn attention(target: Target) -> Option<Attention> {
    match target {
        Target::Transaction(t) => Some(Attention::Transaction(t)),
        Target::Operation(o) => Some(Attention::Operation(o)),
        Target::Edge(e) => Some(Attention::Edge(e)),
        Target::Elsewhere(t) => Some(Attention::Elsewhere(t)),
        Target::Several(..) => None,
    }
}
