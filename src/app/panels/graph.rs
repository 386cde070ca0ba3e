//! The graph: its tools, its legend, and the canvas.

use super::{on_click, on_command, on_menu_click};
use crate::app::canvas::look::{Absent, Lit, Look};
use crate::app::canvas::{Answer, Canvas, Cards};
use crate::app::command::{Command, Request, Requests};
use crate::app::marks::Ask;
use crate::app::page::Page;
use crate::app::page::PageRow;
use crate::app::picture::{LayoutKind, Picture};
use crate::app::state::{Document, State};
use crate::app::style::{self, Palette};
use crate::app::visibility::part_of;
use crate::app::vocabulary::{Attention, Focus};
use crate::diagram::layout::row_text;
use crate::export::{self, Part};
use crate::history::{MarkPlace, Named, TransactionId};
use egui::{
    Align, Align2, CornerRadius, FontId, Layout, Rect, Sense, Stroke, StrokeKind, Ui, WidgetInfo,
    WidgetType, pos2, vec2,
};

/// What the legend says where rows have numbers.
const ABOUT_PROOFS: &str = "a number on a read: the edge that it proves";

pub(crate) fn graph_ui(
    ui: &mut Ui,
    state: &State,
    document: &Document,
    canvas: &mut Canvas,
    requests: &mut Requests,
) {
    if let Some(finding) = &document.finding {
        return super::workload::picture_ui(ui, finding, requests);
    }
    let Some(picture) = document.picture.clone() else {
        empty_ui(ui, document, requests);
        return;
    };
    tools_ui(ui, state, document, requests);
    if document.component.whole {
        super::group::group_ui(ui, state, document, canvas, requests);
        return;
    }
    if !picture.orders.is_empty() && document.current_picture().is_some() {
        return super::linear::linear_ui(ui, (state, document), &picture, requests);
    }
    super::layers::layers_ui(ui, state, document, &picture, requests);
    let area = ui.available_rect_before_wrap();
    let stale = document.current_picture().is_none();
    let renaming = &picture.argument.counterexample.renaming;
    let mut lit = if stale {
        Lit::default()
    } else {
        super::scene::lit(document, &picture)
    };
    let layer = document.layer_shown().map(|(place, _)| place);
    if let (Some(place), false) = (layer, lit.any) {
        lit = Lit::of_layer(&picture, place);
    }
    if let (Some(Attention::Anomaly(_)), false) = (document.attention(), stale) {
        // Another anomaly under the pointer: highlights what it has in common with this one.
        lit.transactions = document
            .attended()
            .iter()
            .filter_map(|t| renaming.new_transaction(*t))
            .collect();
        lit.any = !lit.transactions.is_empty();
    }
    if document.reveal.step && !stale {
        canvas.reveal(&lit.transactions);
    }
    let look = Look {
        palette: Palette::of(ui),
        lit,
        absent: layer
            .map(|place| Absent::at_layer(&picture, place))
            .unwrap_or_default(),
        hidden: super::scene::hidden(&picture, &state.hidden),
        chosen: document
            .parts
            .chosen
            .iter()
            .filter_map(|t| renaming.new_transaction(*t))
            .collect(),
        marked: super::scene::marked(document),
        pale: if layer.is_some() && document.attention().is_none() {
            0.6
        } else if document.argument.hovered.is_some()
            && !matches!(document.argument.hovered, Some(Attention::Step(_)))
        {
            0.7
        } else {
            0.55
        },
        opacity: if stale { 0.45 } else { 1.0 },
        ..Look::default()
    };
    let present = picture
        .drawn
        .iter()
        .filter_map(|&e| picture.relation_drawn(e))
        .collect();
    let rest = super::legend::legend_ui(ui, area, state, &present, note(&picture), requests);
    let (answer, response) = canvas.ui(ui, rest, &picture.sketch, look, Cards::Movable);
    if !stale {
        let menu = answer.menu;
        forward(ui, &picture, document, answer, requests);
        response.context_menu(|ui| menu_ui(ui, &picture, document, menu, requests));
        if let Some(text) = shortened_row(&picture, document.argument.hovered) {
            response.clone().on_hover_text_at_pointer(text);
        }
        super::answer::beside_ui(ui, response.rect, (state, document), canvas, requests);
    }
    super::overrides::left_out_ui(ui, area, document, &picture, requests);
    if document.drawing {
        note_ui(ui, area, "drawing…");
    } else if document.tree.order().is_empty() && !document.tree.filter().is_empty() {
        note_ui(ui, area, "the filter hides this anomaly from the list");
    } else if let Some(note) = &picture.note {
        note_ui(ui, area, note);
    }
}

/// What the legend says besides the meaning of lines.
fn note(picture: &Picture) -> Option<&'static str> {
    let has_proofs = picture
        .sketch
        .diagram
        .cards
        .iter()
        .flat_map(|card| &card.rows)
        .any(|row| row.proves.is_some());
    about_decisive(picture).or(has_proofs.then_some(ABOUT_PROOFS))
}

/// What the mark of decisive edges means, if there is one.
pub(super) fn about_decisive(picture: &Picture) -> Option<&'static str> {
    let mut arrows = picture.sketch.diagram.arrows.iter();
    arrows
        .any(|arrow| arrow.is_decisive)
        .then_some(export::ABOUT_DECISIVE)
}

/// The whole text of the operation under the pointer, if its card shows only a part.
fn shortened_row(picture: &Picture, hovered: Option<Attention>) -> Option<&str> {
    let Some(Attention::Operation(operation)) = hovered else {
        return None;
    };
    let row = picture
        .sketch
        .diagram
        .cards
        .iter()
        .flat_map(|card| &card.rows)
        .find(|row| row.operation == operation)?;
    (row_text(row) != row.full).then_some(&row.full)
}

/// The context menu of a card.
fn menu_ui(
    ui: &mut Ui,
    picture: &Picture,
    document: &Document,
    at: Option<Attention>,
    requests: &mut Requests,
) {
    let example = &picture.argument.counterexample;
    let small = match at {
        Some(Attention::Transaction(t)) => Some(t),
        Some(Attention::Operation(o)) => Some(example.history.transaction_of(o)),
        _ => None,
    };
    let n_edges = example.violation.edges.len();
    if let Some(part @ (Part::Edge(_) | Part::Operation(_))) =
        at.and_then(|at| part_of(at, n_edges))
    {
        super::overrides::menu_ui(ui, document, part, requests);
        if matches!(part, Part::Edge(_)) {
            return;
        }
        ui.separator();
    }
    let Some(small) = small.filter(|t| !t.is_initial()) else {
        for command in [
            Command::Fit,
            Command::SwitchLayout,
            Command::ExpandEvidence,
            Command::FoldSession,
            Command::ShowHidden,
        ] {
            on_menu_click(
                &ui.button(command.row().name),
                ui,
                Request::Run(command),
                requests,
            );
        }
        return;
    };
    let whole = example.renaming.old_transaction(small);
    let session = example.history.session_of(small);
    let of_session = || -> Vec<TransactionId> {
        example
            .history
            .transactions_of(session)
            .map(|t| example.renaming.old_transaction(t))
            .collect()
    };
    let others = || -> Vec<TransactionId> {
        let edges = &example.violation.edges;
        let near = |t: &TransactionId| {
            edges
                .iter()
                .any(|e| (e.from, e.to) == (small, *t) || (e.from, e.to) == (*t, small))
        };
        let far = example
            .history
            .transactions()
            .filter(|t| *t != small && !near(t));
        far.map(|t| example.renaming.old_transaction(t)).collect()
    };
    let chosen = document.parts.chosen.contains(&whole);
    let kept = document
        .chosen_parts()
        .is_some_and(|overrides| overrides.kept.contains(&Part::Transaction(small)));
    if picture.foldable.contains(&session) {
        let is_folded = picture.shows.overrides.folded.contains(&session);
        let what = if is_folded {
            "Unfold session"
        } else {
            "Fold session"
        };
        if ui
            .button(format!(
                "{what} {}",
                example.history.session_and_node(session)
            ))
            .clicked()
        {
            requests.push(Request::FoldSession(session));
            ui.close();
        }
    }
    let named = document
        .history
        .as_ref()
        .map(|history| Named::new(history, whole));
    let mark = named.map(|named| {
        (
            "Mark in the history".to_owned(),
            Request::Marks(Ask::Add(MarkPlace::Transaction(named))),
        )
    });
    let actions: [(String, Request); 7] = [
        (
            if kept {
                "Keep no longer"
            } else {
                "Always show this transaction"
            }
            .to_owned(),
            Request::Keep(Part::Transaction(small)),
        ),
        (
            if chosen {
                "Do not choose"
            } else {
                "Add to what-if"
            }
            .to_owned(),
            Request::Choose(vec![whole]),
        ),
        (
            "Hide this transaction".to_owned(),
            Request::Hide(vec![whole]),
        ),
        (
            format!("Hide session {}", example.history.session_and_node(session)),
            Request::Hide(of_session()),
        ),
        (
            "Show only its neighbours".to_owned(),
            Request::Hide(others()),
        ),
        (
            "Show among all sessions".to_owned(),
            Request::ShowInLanes(whole),
        ),
        ("Show in the history".to_owned(), Request::Browse(whole)),
    ];
    for (name, request) in actions.into_iter().chain(mark) {
        on_menu_click(&ui.button(name), ui, request, requests);
    }
}

fn forward(
    ui: &Ui,
    picture: &Picture,
    document: &Document,
    answer: Answer,
    requests: &mut Requests,
) {
    let example = &picture.argument.counterexample;
    let whole = |t: TransactionId| example.renaming.old_transaction(t);
    if !answer.boxed.is_empty() {
        requests.push(Request::ChooseMore(
            answer.boxed.iter().map(|t| whole(*t)).collect(),
        ));
    }
    requests.extend(answer.moved.map(|(t, at)| Request::MoveCard(t, at)));
    requests.extend(answer.selected.map(|t| Request::Choose(vec![whole(t)])));
    if ui.input(|input| input.modifiers.shift) {
        return;
    }
    if let Some(hovered) = answer.hovered {
        requests.push(Request::Focus(Focus::Hover(hovered)));
    }
    let folded = |t: TransactionId| (!t.is_initial()).then(|| example.history.session_of(t));
    let folded = |t| folded(t).filter(|session| picture.foldable.contains(session));
    if let Some(Attention::Edge(edge)) = answer.double_clicked {
        requests.push(Request::ToggleEvidence(edge));
    } else if let Some(Attention::Transaction(t)) = answer.double_clicked
        && let Some(session) = folded(t)
    {
        requests.push(Request::FoldSession(session));
    } else if let Some(clicked) = answer.clicked {
        let pin = if clicked == document.argument.pinned {
            None
        } else {
            clicked
        };
        requests.push(Request::Focus(Focus::Pin(pin)));
        if let Some(Attention::Operation(operation)) = clicked
            && let Some(&whole) = picture
                .argument
                .counterexample
                .renaming
                .operations
                .get(operation.index())
        {
            requests.push(Request::ShowOperation(whole));
        }
    }
}

fn empty_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let text = match (document.is_busy(), document.complete) {
        _ if document.selected.is_some() => super::awaited(document, ""),
        (true, _) => "The first anomaly is drawn here as soon as it is known.",
        (false, true)
            if document
                .catalogue
                .as_ref()
                .is_some_and(|c| c.entries.is_empty()) =>
        {
            if document.results.all_hold() {
                "Nothing to draw: every level asked for holds."
            } else {
                "Nothing to draw; some levels are undecided."
            }
        }
        _ => "Select an anomaly to draw it.",
    };
    let palette = Palette::of(ui);
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.4);
        ui.colored_label(palette.weak, text);
        ui.add_space(8.0);
        if document.complete && document.results.all_hold() {
            super::command_button_ui(ui, Command::Show(Page::Order), requests);
        }
    });
}

/// The tabs above the middle of the window, and the graph's tools.
pub(crate) fn header_ui(ui: &mut Ui, state: &State, requests: &mut Requests) {
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = 12.0;
        let (tabs, rest) = Page::table().split_at(n_tabs(ui));
        for row in tabs {
            tab_ui(
                ui,
                Command::Show(row.page),
                state.page == row.page,
                requests,
            );
        }
        if !rest.is_empty() {
            more_ui(ui, rest, state, requests);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            for (command, name, step) in [(Command::Forward, "→", 1), (Command::Back, "←", -1)]
            {
                let button = egui::Button::new(name).frame(false);
                let response = ui
                    .add_enabled(state.places.can_go(step), button)
                    .on_hover_text(super::tooltip(command));
                response.widget_info(|| {
                    WidgetInfo::labeled(WidgetType::Button, true, command.row().name)
                });
                on_click(&response, Request::Run(command), requests);
            }
        });
    });
}

/// How many tabs there is room for: all, or some and a menu with the others.
fn n_tabs(ui: &Ui) -> usize {
    const ARROWS: f32 = 56.0;
    const MORE: f32 = 84.0;
    let font = FontId::proportional(style::BODY);
    let width = |row: &PageRow| {
        let galley =
            ui.painter()
                .layout_no_wrap(row.name.to_owned(), font.clone(), egui::Color32::WHITE);
        galley.size().x + 1.0 + ui.spacing().item_spacing.x
    };
    let room = ui.available_width() - ARROWS;
    let ends: Vec<f32> = Page::table()
        .iter()
        .scan(0.0, |end, row| {
            *end += width(row);
            Some(*end)
        })
        .collect();
    if ends.last().is_some_and(|end| *end > room) {
        ends.iter().filter(|end| **end <= room - MORE).count()
    } else {
        ends.len()
    }
}

/// The pages whose tabs have no room.
fn more_ui(ui: &mut Ui, rest: &[PageRow], state: &State, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let active = rest.iter().find(|row| row.page == state.page);
    let (name, colour) = active.map_or(("More", palette.weak), |row| (row.name, palette.accent));
    ui.menu_button(egui::RichText::new(name).color(colour), |ui| {
        for row in rest {
            let command = Command::Show(row.page);
            let button = egui::Button::selectable(state.page == row.page, row.name);
            on_menu_click(
                &ui.add(button).on_hover_text(super::tooltip(command)),
                ui,
                Request::Run(command),
                requests,
            );
        }
    });
}

/// The toolbar above the graph.
fn tools_ui(ui: &mut Ui, state: &State, document: &Document, requests: &mut Requests) {
    ui.with_layout(Layout::right_to_left(Align::TOP), |ui| {
        ui.spacing_mut().item_spacing = vec2(5.0, 3.0);
        ui.add_space(8.0);
        for (command, name) in [
            (Command::ZoomIn, "+"),
            (Command::ZoomOut, "−"),
            (Command::Fit, "Fit"),
        ] {
            let response = ui.button(name).on_hover_text(super::tooltip(command));
            response
                .widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, command.row().name));
            on_click(&response, Request::Run(command), requests);
        }
        // The rest of the width, in several lines if that is little.
        let size = vec2(ui.available_width(), ui.spacing().interact_size.y);
        ui.allocate_ui_with_layout(
            size,
            Layout::left_to_right(Align::Center).with_main_wrap(true),
            |ui| {
                ui.add_space(8.0);
                super::group::scope_ui(ui, document, requests);
                ui.separator();
                if document.component.whole {
                    drop(style::note(ui, super::group::size(document)))
                } else {
                    picture_tools_ui(ui, state, document, requests)
                }
            },
        );
    });
    ui.add_space(2.0);
}

/// The tools for the picture of an anomaly.
fn picture_tools_ui(ui: &mut Ui, state: &State, document: &Document, requests: &mut Requests) {
    for (kind, name) in [
        (LayoutKind::Auto, "Auto"),
        (LayoutKind::Lanes, "Sessions"),
        (LayoutKind::Layered, "Layers"),
    ] {
        let button = egui::Button::selectable(state.layout == kind, name);
        on_click(
            &ui.add(button)
                .on_hover_text(super::tooltip(Command::SwitchLayout)),
            Request::Layout(kind),
            requests,
        );
    }
    let open = document
        .picture
        .as_ref()
        .is_some_and(|picture| !picture.expanded.is_empty());
    ui.separator();
    let mut shown = open;
    let switch = egui::Checkbox::new(&mut shown, "Evidence");
    on_command(ui.add(switch), Command::ExpandEvidence, requests);
    fold_ui(ui, document, requests);
}

/// Folds all sessions, or unfolds them; absent if no session has several transactions.
fn fold_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let Some(picture) = document
        .current_picture()
        .filter(|picture| !picture.foldable.is_empty())
    else {
        return;
    };
    let any = !picture.shows.overrides.folded.is_empty();
    let hint = "Fold sessions: draw all transactions of a session as one card; Z folds that of the pinned one";
    let mut folded = any;
    let response = ui
        .add(egui::Checkbox::new(&mut folded, "Fold"))
        .on_hover_text(hint);
    response.widget_info(|| WidgetInfo::selected(WidgetType::Checkbox, true, any, "Fold sessions"));
    on_click(&response, Request::FoldSessions(!any), requests);
}

fn tab_ui(ui: &mut Ui, command: Command, active: bool, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let name = command.row().name;
    let colour = if active { palette.accent } else { palette.weak };
    let galley =
        ui.painter()
            .layout_no_wrap(name.to_owned(), FontId::proportional(style::BODY), colour);
    let (area, response) = ui.allocate_exact_size(
        vec2(galley.size().x + 1.0, ui.available_height().min(30.0)),
        Sense::click(),
    );
    let at = area.left_center() - vec2(0.0, galley.size().y / 2.0);
    if active {
        style::paint_bold(ui.painter(), at, galley, colour)
    } else {
        let colour = if response.hovered() {
            palette.strong
        } else {
            colour
        };
        ui.painter()
            .galley_with_override_text_color(at, galley, colour);
    }
    if active {
        let line = Rect::from_min_max(pos2(area.left(), area.bottom() - 2.0), area.right_bottom());
        ui.painter().rect_filled(line, 1.0, palette.accent);
    }
    response.widget_info(|| {
        WidgetInfo::selected(
            WidgetType::SelectableLabel,
            true,
            active,
            format!("Page {name}"),
        )
    });
    on_command(response, command, requests);
}

fn note_ui(ui: &Ui, area: Rect, text: &str) {
    let palette = Palette::of(ui);
    let galley = ui.painter().layout_no_wrap(
        text.to_owned(),
        FontId::proportional(style::BODY),
        palette.text,
    );
    let place = Align2::RIGHT_TOP.anchor_size(
        area.right_top() + vec2(-10.0, 8.0),
        galley.size() + vec2(20.0, 10.0),
    );
    ui.painter().rect(
        place,
        CornerRadius::same(8),
        palette.raised,
        Stroke::new(1.0, palette.line),
        StrokeKind::Inside,
    );
    ui.painter()
        .galley(place.min + vec2(10.0, 5.0), galley, palette.text);
}
