//! The graph as egui_graphs knows it: which card or edge was clicked, which cards were selected, where a card is dragged,
//! how far the view was moved and zoomed.
//!
//! egui_graphs paints nothing here, since the window shows the scene that is exported; and it asks the scene what is
//! under the pointer, through [`Under`]. How it is used follows from what it does:
//! * it requests another frame whenever it is shown: it is shown only while a button or the zoom acts;
//! * it moves the centre of a pressed card under the pointer: where the card was gripped is added;
//! * it zooms by a fixed factor per frame, without bounds: the factor is what the wheel asks for within the bounds;
//! * it fits the view when it is shown first: that is ignored.

use super::navigation::Navigation;
use crate::diagram::Diagram;
use crate::diagram::scene::Part;
use egui::{Pos2, Rect, Response, Shape, Ui, Vec2};
use egui_graphs::{
    DisplayEdge, DisplayNode, DrawContext, EdgeProps, Graph, GraphChange, GraphView, LayoutRandom,
    LayoutStateRandom, MetadataFrame, Node, NodeProps, SettingsInteraction, SettingsNavigation,
};
use petgraph::Directed;
use petgraph::stable_graph::{DefaultIx, NodeIndex};
use std::cell::Cell;
use std::rc::Rc;

/// Name under which egui_graphs stores zoom and pan.
const ID: &str = "canvas";

/// The part of the scene under the pointer, which all cards and edges know.
type Under = Rc<Cell<Option<Part>>>;

/// A card or an edge, by its part of the scene.
#[derive(Clone, Debug)]
struct Element {
    part: Part,
    under: Under,
}

type Model = Graph<Element, Element, Directed, DefaultIx, Element, Element>;

/// What the user did.
#[derive(Default)]
pub(super) struct Acts {
    /// Clicked a card or an edge.
    pub(super) clicked: bool,
    /// Clicked it twice.
    pub(super) double_clicked: bool,
    /// Selected or deselected a card.
    pub(super) selected: Option<usize>,
    /// Dragged a card, so that its upper left corner is here.
    pub(super) dragged: Option<(usize, Pos2)>,
    /// Released it.
    pub(super) released: bool,
}

/// What the user may do with the graph in this frame.
pub(super) struct Allowed<'a> {
    /// Cards can be dragged.
    pub(super) dragging: bool,
    /// A click selects or deselects a card; those for which this is true are selected.
    pub(super) selecting: Option<&'a dyn Fn(usize) -> bool>,
}

/// The graph of a diagram.
#[derive(Default)]
pub(super) struct Hand {
    model: Option<Model>,
    under: Under,
    /// Where it was shown last.
    corner: Option<Pos2>,
    /// The card that is dragged, and its upper left corner from the pointer.
    grip: Option<(usize, Vec2)>,
}

impl Hand {
    /// Takes a diagram. O(cards + edges).
    pub(super) fn take(&mut self, diagram: &Diagram) {
        let mut model = Model::new();
        let element = |part| Element {
            part,
            under: Rc::clone(&self.under),
        };
        let nodes: Vec<NodeIndex> = (0..diagram.cards.len())
            .map(|card| model.add_node_with_label(element(Part::Card(card)), String::new()))
            .collect();
        for (edge, arrow) in diagram.arrows.iter().enumerate() {
            let (from, to) = (nodes[arrow.from], nodes[arrow.to]);
            model.add_edge_with_label(from, to, element(Part::Line(edge)), String::new());
        }
        self.model = Some(model);
        self.grip = None;
    }

    /// Whether a card is held.
    pub(super) fn holds(&self) -> bool {
        self.grip.is_some()
    }

    /// Whether anything can happen in this frame, or must be known for later ones.
    pub(super) fn is_needed(&self, ui: &Ui) -> bool {
        let acts = ui.input(|input| {
            let pointer = &input.pointer;
            pointer.any_down() || pointer.any_released() || input.zoom_delta() != 1.0
        });
        self.model.is_some() && (acts || self.corner.is_none())
    }

    /// Takes all of the area that is available. `under` is the part under the pointer, `card` the area of a card.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        navigation: &mut Navigation,
        (under, card): (Option<Part>, &dyn Fn(usize) -> Rect),
        allowed: &Allowed<'_>,
    ) -> Option<(Response, Acts)> {
        let rect = ui.available_rect_before_wrap();
        let model = self.model.as_mut()?;
        self.under.set(under.map(|part| match part {
            Part::Head(edge) | Part::Label(edge) => Part::Line(edge),
            part => part,
        }));
        if let Some(is_selected) = allowed.selecting {
            for index in 0..model.node_count() {
                if let Some(node) = model.node_mut(NodeIndex::new(index)) {
                    node.set_selected(is_selected(index));
                }
            }
        }
        // egui_graphs adds the movement of its corner since it was last shown to the pan it is given.
        let is_first = self.corner.is_none();
        let drift = rect.min - self.corner.replace(rect.min).unwrap_or(rect.min);
        let mut frame = MetadataFrame::new(Some(ID.to_owned())).load(ui);
        frame.zoom = navigation.zoom();
        frame.pan = navigation.pan() - drift;
        frame.save(ui);
        let factor = navigation.bounded(ui.input(egui::InputState::zoom_delta));
        let interactions = SettingsInteraction::new()
            .with_node_clicking_enabled(true)
            .with_edge_clicking_enabled(true)
            .with_dragging_enabled(allowed.dragging)
            .with_node_selection_multi_enabled(allowed.selecting.is_some());
        let navigations = SettingsNavigation::new()
            .with_fit_to_screen_enabled(false)
            .with_zoom_and_pan_enabled(allowed.selecting.is_none() || factor != 1.0)
            .with_zoom_speed((factor - 1.0).abs());
        let shown = GraphView::<LayoutStateRandom, LayoutRandom>::new()
            .with_id(Some(ID.to_owned()))
            .with_interactions(&interactions)
            .with_navigations(&navigations)
            .show(ui, model);
        let pointer = ui
            .input(|input| input.pointer.press_origin())
            .map(|at| navigation.to_picture(rect, at));
        let mut acts = Acts::default();
        let (mut pan, mut zoom) = (navigation.pan(), navigation.zoom());
        for change in shown.changes.iter().filter(|_| !is_first) {
            match *change {
                GraphChange::NodeClicked { .. } | GraphChange::EdgeClicked { .. } => {
                    acts.clicked = true;
                    acts.double_clicked = shown.response.double_clicked();
                }
                GraphChange::NodeDoubleClicked { .. } => {
                    (acts.clicked, acts.double_clicked) = (true, true)
                }
                GraphChange::NodeSelected { node } | GraphChange::NodeDeselected { node }
                    if under.is_some() =>
                {
                    acts.selected = Some(node.index())
                }
                GraphChange::NodeDragStarted { node } => {
                    let corner = card(node.index()).min;
                    self.grip = pointer.map(|at| (node.index(), corner - at));
                }
                GraphChange::NodeDragEnded { .. } => acts.released = true,
                GraphChange::Panned { new_pan, .. } => pan = new_pan,
                GraphChange::Zoomed { new_zoom, .. } => zoom = new_zoom,
                _ => {}
            }
        }
        navigation.go_to(pan, zoom);
        if let Some((card, grip)) = self.grip
            && let Some(node) = model.node(NodeIndex::new(card))
            && (shown.response.dragged() || shown.response.drag_stopped())
        {
            acts.dragged = Some((card, node.location() + grip));
        }
        if acts.released {
            self.grip = None;
        }
        Some((shown.response, acts))
    }
}

impl From<NodeProps<Element>> for Element {
    fn from(props: NodeProps<Element>) -> Element {
        props.payload
    }
}

impl From<EdgeProps<Element>> for Element {
    fn from(props: EdgeProps<Element>) -> Element {
        props.payload
    }
}

impl Element {
    fn is_under_pointer(&self) -> bool {
        self.under.get() == Some(self.part)
    }
}

impl DisplayNode<Element, Element, Directed, DefaultIx> for Element {
    fn closest_boundary_point(&self, _direction: Vec2) -> Pos2 {
        Pos2::ZERO
    }

    fn shapes(&mut self, _context: &DrawContext<'_>) -> Vec<Shape> {
        Vec::new()
    }

    fn update(&mut self, _state: &NodeProps<Element>) {}

    fn is_inside(&self, _at: Pos2) -> bool {
        self.is_under_pointer()
    }
}

type CardNode = Node<Element, Element, Directed, DefaultIx, Element>;

impl DisplayEdge<Element, Element, Directed, DefaultIx, Element> for Element {
    fn shapes(&mut self, _: &CardNode, _: &CardNode, _: &DrawContext<'_>) -> Vec<Shape> {
        Vec::new()
    }

    fn update(&mut self, _state: &EdgeProps<Element>) {}

    fn is_inside(&self, _: &CardNode, _: &CardNode, _at: Pos2) -> bool {
        self.is_under_pointer()
    }
}
