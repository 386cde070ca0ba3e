//! Why an edge is there: next to the edge where it is drawn and was clicked, else below the argument.

use crate::app::canvas::Canvas;
use crate::app::command::{Command, Request, Requests};
use crate::app::page::Page;
use crate::app::picture::{self, Picture};
use crate::app::state::{Document, State};
use crate::app::style::{self, Palette};
use crate::app::vocabulary::{Attention, Focus};
use crate::diagram::layout::MAX_TITLE_COLUMNS;
use crate::diagram::text_size::elide;
use crate::history::TransactionId;
use crate::relations::EdgeIndex;
use egui::{
    Align2, Area, Frame, Id, Order, Pos2, Rect, RichText, ScrollArea, Sense, Ui, Vec2, WidgetInfo,
    WidgetType, vec2,
};

/// Width of an answer next to an edge.
const WIDTH: f32 = 330.0;
/// Its height, as long as that is not known.
const HEIGHT: f32 = 160.0;
/// The status line below everything, in points.
const BELOW: f32 = 30.0;
/// A point of an edge's line weighs as much as so many square points of a card.
const LINE: f32 = 30.0;
/// Space between an edge's label and its answer.
const GAP: f32 = 12.0;

/// The edge whose answer is next to it: it was clicked, and the graph shows it.
fn answered_on_the_graph(state: &State, document: &Document) -> Option<EdgeIndex> {
    let picture = document
        .current_picture()
        .filter(|_| state.page == Page::Graph && !document.component.whole)?;
    let Some(Attention::Edge(index)) = document.argument.pinned else {
        return None;
    };
    let edge = picture.edges().get(index)?;
    (picture.drawn.contains(&index) && !state.hidden.contains(&edge.relation)).then_some(index)
}

/// The answer next to the edge that was clicked, in `canvas` at `area` or what is below it, where it hides least.
pub(super) fn beside_ui(
    ui: &Ui,
    area: Rect,
    (state, document): (&State, &Document),
    canvas: &Canvas,
    requests: &mut Requests,
) {
    let Some((index, picture)) =
        answered_on_the_graph(state, document).zip(document.current_picture())
    else {
        return;
    };
    let Some((edge, (label, line))) = picture.edges().get(index).zip(canvas.edge_of(area, index))
    else {
        return;
    };
    let id = Id::new(("why an edge is there", index));
    let size = ui
        .ctx()
        .memory(|memory| memory.area_rect(id))
        .map_or(vec2(WIDTH, HEIGHT), |rect| rect.size());
    let cards: Vec<(Rect, f32)> = canvas
        .cards(area)
        .map(|(t, card)| {
            (
                card,
                if t == edge.from || t == edge.to {
                    3.0
                } else {
                    1.0
                },
            )
        })
        .collect();
    let room = area.with_max_y(ui.ctx().content_rect().bottom() - BELOW);
    let place = best_place(size, room.shrink(8.0), (label, &line), &cards);
    Area::new(id)
        .order(Order::Middle)
        .fixed_pos(place.min)
        .constrain_to(room)
        .show(ui.ctx(), |ui| {
            Frame::popup(ui.style()).show(ui, |ui| {
                ui.set_width(WIDTH);
                let height = room.height() * 0.7;
                ScrollArea::vertical()
                    .max_height(height)
                    .min_scrolled_height(height)
                    .show(ui, |ui| {
                        answer_ui(ui, picture, document, index, requests);
                    });
            });
        });
}

/// A place for a rectangle of some size next to a label, or else in a corner, that covers as little as possible of the
/// edge, its label and its line, and of the cards, each with its weight.
fn best_place(
    size: Vec2,
    area: Rect,
    (label, line): (Rect, &[Pos2]),
    cards: &[(Rect, f32)],
) -> Rect {
    let beside = [
        Align2::LEFT_CENTER.anchor_size(label.right_center() + vec2(GAP, 0.0), size),
        Align2::RIGHT_CENTER.anchor_size(label.left_center() - vec2(GAP, 0.0), size),
        Align2::CENTER_TOP.anchor_size(label.center_bottom() + vec2(0.0, GAP), size),
        Align2::CENTER_BOTTOM.anchor_size(label.center_top() - vec2(0.0, GAP), size),
    ];
    let corners = [
        Align2::LEFT_BOTTOM,
        Align2::RIGHT_BOTTOM,
        Align2::LEFT_TOP,
        Align2::RIGHT_TOP,
    ];
    let within = |place: Rect| {
        let low = area.max - size;
        Rect::from_min_size(place.min.min(low).max(area.min), size)
    };
    let corners = corners.map(|corner| corner.align_size_within_rect(size, area));
    let covers = |place: &Rect| -> f32 {
        let covered = |other: Rect| {
            if place.intersects(other) {
                place.intersect(other).area()
            } else {
                0.0
            }
        };
        let cards: f32 = cards
            .iter()
            .map(|&(card, weight)| weight * covered(card))
            .sum();
        cards + 10.0 * covered(label) + LINE * length_within(line, *place)
    };
    let places = beside.map(within).into_iter().chain(corners);
    // The first of those that cover equally little.
    places
        .min_by(|a, b| covers(a).total_cmp(&covers(b)))
        .unwrap_or(Rect::from_min_size(area.min, size))
}

/// Length of the part of a line that is in a rectangle, in steps of a few points.
fn length_within(line: &[Pos2], area: Rect) -> f32 {
    const STEP: f32 = 4.0;
    let within = |ends: &[Pos2]| {
        let n = (ends[0].distance(ends[1]) / STEP).ceil() as usize;
        (0..n)
            .filter(|&at| area.contains(ends[0].lerp(ends[1], at as f32 / n as f32)))
            .count()
    };
    line.windows(2).map(within).sum::<usize>() as f32 * STEP
}

fn answer_ui(
    ui: &mut Ui,
    picture: &Picture,
    document: &Document,
    edge: EdgeIndex,
    requests: &mut Requests,
) {
    style::bold(
        ui,
        "Why is this edge here?",
        style::HEADING,
        Palette::of(ui).strong,
    );
    edge_ui(ui, picture, edge, true, requests);
    let n_edges = picture.argument.counterexample.violation.edges.len();
    super::overrides::pick_ui(ui, document, edge, n_edges, requests);
    evidence_ui(ui, picture, edge, requests);
}

/// Why the edge that has attention is there; without one, or where the answer is next to the edge, the edges to choose from.
pub(super) fn why_ui(
    ui: &mut Ui,
    picture: &Picture,
    state: &State,
    document: &Document,
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    let violation = &picture.argument.counterexample.violation;
    if violation.edges.is_empty() {
        style::note(
            ui,
            "The operations alone contradict the level: no edge is needed.",
        );
        return;
    }
    let chosen = match document.attention() {
        Some(Attention::Edge(edge)) => Some(edge),
        Some(Attention::Step(step)) => picture
            .argument
            .explanation
            .steps
            .get(step)
            .and_then(|step| step.edges.last().copied()),
        _ => None,
    };
    // One answer at a time.
    let chosen = chosen.filter(|edge| {
        *edge < picture.edges().len() && answered_on_the_graph(state, document).is_none()
    });
    match chosen {
        Some(edge) => answer_ui(ui, picture, document, edge, requests),
        None => {
            ui.horizontal(|ui| {
                style::bold_line(ui, "Edges", style::HEADING, palette.strong);
                style::note(ui, "click one to see why it is there");
            });
            for &edge in &picture.drawn {
                edge_ui(ui, picture, edge, false, requests);
            }
        }
    }
}

fn edge_ui(ui: &mut Ui, picture: &Picture, index: EdgeIndex, full: bool, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let example = &picture.argument.counterexample;
    let Some(edge) = picture.edges().get(index) else {
        return;
    };
    // The font of lists lacks the sign ⊥.
    let short = |name: String| elide(&name, MAX_TITLE_COLUMNS);
    let name = |t: TransactionId| {
        if t.is_initial() {
            "initial".to_owned()
        } else {
            short(example.history.transaction_name(t))
        }
    };
    let key = edge
        .key
        .map(|key| format!(" {}", short(example.history.key_name(key))))
        .unwrap_or_default();
    let text = format!("{} → {}", name(edge.from), name(edge.to));
    let response = ui
        .horizontal_wrapped(|ui| {
            let code = format!("{}{key}", edge.relation.code());
            ui.label(
                RichText::new(code)
                    .monospace()
                    .color(palette.relation(edge.relation)),
            );
            ui.label(RichText::new(text.as_str()).color(palette.strong));
            style::note(ui, edge.relation.name());
        })
        .response;
    let response = ui.interact(
        response.rect,
        ui.id().with(("edge line", index, full)),
        Sense::click(),
    );
    response.widget_info(|| {
        WidgetInfo::labeled(
            WidgetType::Button,
            true,
            format!("{} edge {text}", edge.relation.code()),
        )
    });
    if response.clicked() && !full {
        requests.push(Request::Focus(Focus::Pin(Some(Attention::Edge(index)))));
    }
    if response.hovered() && !full {
        requests.push(Request::Focus(Focus::Hover(Attention::Edge(index))));
    }
    if !full {
        return;
    }
    let supposed = picture
        .argument
        .interpretation
        .alternatives
        .iter()
        .find(|other| other.edge == index);
    if let Some(supposed) = supposed {
        ui.label(
            RichText::new(format!("This order was ruled out. {}", supposed.text))
                .color(palette.text),
        );
    }
    if let Some(reason) = picture.argument.explanation.reasons.get(index) {
        ui.label(RichText::new(&*reason.text).color(palette.text));
        let rejected = picture
            .argument
            .interpretation
            .alternatives
            .iter()
            .find(|other| other.instead_of == index);
        if let Some(rejected) = rejected {
            let text = format!("Why not the other way round? {}", rejected.text);
            ui.label(RichText::new(text).color(palette.weak));
        }
    }
}

fn evidence_ui(ui: &mut Ui, picture: &Picture, index: EdgeIndex, requests: &mut Requests) {
    let edges = &picture.argument.counterexample.violation.edges;
    let evidence = picture::evidence_of(edges, index);
    if evidence.is_empty() {
        return;
    }
    ui.horizontal(|ui| {
        style::note(ui, "rests on");
        let shown = picture.expanded.contains(&index);
        let text = if shown {
            "Fold evidence"
        } else {
            "Show evidence"
        };
        if ui
            .small_button(text)
            .on_hover_text(super::tooltip(Command::ExpandEvidence))
            .clicked()
        {
            requests.push(Request::ToggleEvidence(index));
        }
    });
    for premise in evidence {
        ui.indent(("premise", premise), |ui| {
            edge_ui(ui, picture, premise, false, requests)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;

    #[test]
    fn an_answer_covers_neither_its_edge_nor_a_card_where_there_is_room() {
        let area = Rect::from_min_max(pos2(0.0, 0.0), pos2(1000.0, 600.0));
        let cards = [(
            Rect::from_min_size(pos2(400.0, 50.0), vec2(200.0, 150.0)),
            3.0,
        )];
        let label = Rect::from_center_size(pos2(500.0, 230.0), vec2(80.0, 20.0));
        let size = vec2(330.0, 160.0);
        let place = best_place(size, area, (label, &[]), &cards);
        assert!(
            area.contains_rect(place) && !place.intersects(label) && !place.intersects(cards[0].0),
            "{place:?}"
        );
        let line = [pos2(500.0, 200.0), pos2(500.0, 230.0), pos2(900.0, 230.0)];
        let place = best_place(size, area, (label, &line), &cards);
        assert_eq!(length_within(&line, place), 0.0, "{place:?}");
        // Cards everywhere: at least not on the label.
        let everywhere = [(area, 1.0)];
        let place = best_place(size, area, (label, &[]), &everywhere);
        assert!(
            area.contains_rect(place) && !place.intersects(label),
            "{place:?}"
        );
    }
}
