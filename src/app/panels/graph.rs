//! The graph: its tools, its legend, and the canvas.

use super::{on_click, on_command, on_menu_click};
use crate::app::canvas::look::{Absent, Lit, Look};
use crate::app::canvas::{Answer, Canvas, Subject};
use crate::app::command::{Command, Request, Requests};
use crate::app::marks::Ask;
use crate::app::page::{Page, PageRow, Tab};
use crate::app::picture::{LayoutKind, Picture};
use crate::app::replaying::RunView;
use crate::app::state::{Document, State};
use crate::app::style::{self, Palette};
use crate::app::visibility::part_of;
use crate::app::vocabulary::{Attention, Focus};
use crate::checkers::Verdict;
use crate::diagram::Emphasis;
use crate::diagram::layout::row_text;
use crate::export::{self, Part};
use crate::history::{MarkPlace, Named, OperationId, TransactionId};
use egui::{
    Align, Align2, CornerRadius, FontId, Layout, Rect, Sense, Stroke, StrokeKind, Ui, WidgetInfo,
    WidgetType, pos2, vec2,
};
use std::collections::BTreeSet;

/// What the legend says where rows have numbers.
const ABOUT_PROOFS: &str = "a number on a read: its step in the argument";
/// What thick lines mean, where there are thin ones.
const ABOUT_WEIGHT: &str = "thick: the contradiction";

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
    if document.component.whole {
        let area = ui.available_rect_before_wrap();
        super::group::group_ui(ui, state, document, canvas, requests);
        return note_ui(ui, area, &super::group::size(document));
    }
    if !picture.orders.is_empty() && document.current_picture().is_some() {
        return super::linear::linear_ui(ui, (state, document), &picture, requests);
    }
    let area = ui.available_rect_before_wrap();
    let stale = document.current_picture().is_none();
    let renaming = &picture.argument.counterexample.renaming;
    let mut lit = if stale {
        Lit::default()
    } else {
        super::scene::lit(document, &picture)
    };
    let run = document.argument.run.as_ref();
    let run = run.filter(|run| !stale && run.of == Some(picture.argument.id));
    let done = run.and_then(|run| run.done());
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
        absent: done
            .map(|(steps, scene)| Absent::after(&picture, steps, scene.is_last))
            .unwrap_or_default(),
        wrong: story_wrong(run),
        hidden: super::scene::hidden(&picture, &state.hidden),
        chosen: document
            .parts
            .chosen
            .iter()
            .filter_map(|t| renaming.new_transaction(*t))
            .collect(),
        marked: super::scene::marked(document),
        pale: if document.argument.hovered.is_some()
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
    let subject = Subject::Anomaly(picture.argument.id);
    let (answer, response) = canvas.ui(ui, rest, &picture.sketch, look, subject);
    if !stale {
        let menu = answer.menu;
        forward(ui, &picture, document, answer, requests);
        response.context_menu(|ui| menu_ui(ui, &picture, document, menu, requests));
        match document.argument.hovered {
            Some(Attention::Transaction(t)) if is_stretch(&picture, t) => {
                let hint = "A double-click draws all of them";
                drop(response.clone().on_hover_text_at_pointer(hint));
            }
            hovered => {
                if let Some(text) = shortened_row(&picture, hovered) {
                    response.clone().on_hover_text_at_pointer(text);
                }
            }
        }
        super::answer::beside_ui(ui, response.rect, (state, document), canvas, requests);
    }
    super::overrides::left_out_ui(ui, area, document, &picture, requests);
    if document.drawing {
        note_ui(ui, area, "drawing…");
    } else if document.tree.order().is_empty() && !document.tree.filter().is_empty() {
        note_ui(ui, area, "the filter hides this anomaly from the list");
    } else if let Some(note) = super::cases::drawn_case(&picture).or(picture.note.clone()) {
        note_ui(ui, area, &note);
    }
}

/// The operations that were impossible in the scenes up to the one that is shown.
fn story_wrong(run: Option<&RunView>) -> BTreeSet<OperationId> {
    let Some((story, _)) = run.and_then(|run| run.shown()) else {
        return BTreeSet::new();
    };
    let shown = run.map_or(0, |run| run.scene + 1);
    let scenes = story.scenes.iter().take(shown);
    scenes.filter_map(|scene| scene.wrong).collect()
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
    let arrows = &picture.sketch.diagram.arrows;
    let n_thick = arrows
        .iter()
        .filter(|arrow| arrow.emphasis == Emphasis::Cycle)
        .count();
    let about_weight = (0 < n_thick && n_thick < arrows.len()).then_some(ABOUT_WEIGHT);
    about_decisive(picture)
        .or(has_proofs.then_some(ABOUT_PROOFS))
        .or(about_weight)
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
        && is_stretch(picture, t)
    {
        requests.push(Request::WholeCycle(true));
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

/// Whether a card is in place of the middle of a long cycle.
fn is_stretch(picture: &Picture, t: TransactionId) -> bool {
    let mut cards = picture.sketch.diagram.cards.iter();
    cards.any(|card| card.transaction == t && card.is_stretch())
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

/// The tabs above the middle of the window: pages of the anomaly, then those of the file, and the menu of the graph.
pub(crate) fn header_ui(ui: &mut Ui, state: &State, document: &Document, requests: &mut Requests) {
    let holds = document.results.levels.iter().any(|(_, result)| {
        let verdict = result.as_ref().map(|result| &result.verdict);
        matches!(verdict, Some(Verdict::Satisfied(_)))
    });
    let has_tab = |row: &&PageRow| row.tab == Tab::Tab;
    // There is an order only where a level holds; a page that was asked for is there while it is shown.
    let is_more = |row: &&PageRow| {
        state.page == row.page && row.tab != Tab::Tab
            || row.tab == Tab::More && (row.page != Page::Order || holds)
    };
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = 14.0;
        let rows: Vec<&PageRow> = Page::table().iter().filter(has_tab).collect();
        let (tabs, rest) = rows.split_at(n_tabs(ui, &rows));
        let more = Page::table().iter().filter(is_more);
        let more: Vec<&PageRow> = rest.iter().copied().chain(more).collect();
        let mut of_file = false;
        for row in tabs {
            let is_of_file = !row.page.is_about_anomaly();
            if is_of_file && !std::mem::replace(&mut of_file, is_of_file) {
                ui.separator();
            }
            let command = Command::Show(row.page);
            tab_ui(ui, command, state.page == row.page, requests);
        }
        more_ui(ui, &more, state, requests);
        if state.page != Page::Graph || document.finding.is_some() || document.picture.is_none() {
            return;
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let menu = ui.menu_button("Layout ▾", |ui| layout_ui(ui, state, document, requests));
            menu.response
                .widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, "Layout"));
        });
    });
}

/// How many tabs there is room for next to the two menus.
fn n_tabs(ui: &Ui, rows: &[&PageRow]) -> usize {
    const MENU: f32 = 110.0;
    const MORE: f32 = 84.0;
    let width = |row: &&PageRow| {
        style::width(ui, row.name, style::BODY) + 1.0 + ui.spacing().item_spacing.x
    };
    let room = ui.available_width() - MENU;
    let ends: Vec<f32> = rows
        .iter()
        .scan(0.0, |end, row| {
            *end += width(row);
            Some(*end)
        })
        .collect();
    ends.iter().filter(|end| **end <= room - MORE).count()
}

/// The menu of the other pages.
fn more_ui(ui: &mut Ui, rest: &[&PageRow], state: &State, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let active = rest.iter().find(|row| row.page == state.page);
    let (name, colour) = active.map_or(("More", palette.weak), |row| (row.name, palette.accent));
    ui.menu_button(
        egui::RichText::new(format!("{name} ▾")).color(colour),
        |ui| {
            for row in rest {
                let command = Command::Show(row.page);
                let entry = ui.radio(state.page == row.page, row.name);
                let entry = entry.on_hover_text(super::tooltip(command));
                on_menu_click(&entry, ui, Request::Run(command), requests);
            }
        },
    );
}

/// How the graph is drawn, and how much of it.
fn layout_ui(ui: &mut Ui, state: &State, document: &Document, requests: &mut Requests) {
    ui.set_min_width(230.0);
    for (kind, name) in [
        (LayoutKind::Auto, "Automatic"),
        (LayoutKind::Lanes, "Columns for sessions"),
        (LayoutKind::Layered, "Layers along the edges"),
    ] {
        let chosen = ui.radio(state.layout == kind, name);
        on_menu_click(&chosen, ui, Request::Layout(kind), requests);
    }
    ui.separator();
    super::group::scope_ui(ui, document, requests);
    ui.separator();
    let picture = document.picture.as_ref();
    let is_open = picture.is_some_and(|picture| !picture.expanded.is_empty());
    switch_ui(
        ui,
        "Evidence",
        is_open,
        Request::Run(Command::ExpandEvidence),
        requests,
    );
    let others = Request::Run(Command::Alternatives);
    switch_ui(ui, "Orders ruled out", state.alternatives, others, requests);
    if let Some(picture) = picture.filter(|picture| !picture.foldable.is_empty()) {
        let any = !picture.shows.overrides.folded.is_empty();
        switch_ui(
            ui,
            "Fold sessions",
            any,
            Request::FoldSessions(!any),
            requests,
        );
    }
    if let Some(picture) = picture {
        let is_whole = picture.shows.overrides.whole_cycle;
        let cards = &picture.sketch.diagram.cards;
        if is_whole || cards.iter().any(|card| card.is_stretch()) {
            let request = Request::WholeCycle(!is_whole);
            switch_ui(ui, "All of the cycle", is_whole, request, requests);
        }
    }
    switch_ui(
        ui,
        "Map of the history",
        !state.preferences.no_map,
        Request::Run(Command::WhereMap),
        requests,
    );
    ui.separator();
    for command in [Command::Fit, Command::ZoomIn, Command::ZoomOut] {
        let button = egui::Button::new(command.row().name).shortcut_text(command.key_text());
        on_click(&ui.add(button), Request::Run(command), requests);
    }
}

/// A switch of the menu.
fn switch_ui(ui: &mut Ui, name: &str, mut is_on: bool, request: Request, requests: &mut Requests) {
    let response = ui.checkbox(&mut is_on, name);
    on_menu_click(&response, ui, request, requests);
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
    let place = Align2::LEFT_TOP.anchor_size(
        area.left_top() + vec2(10.0, 8.0),
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
    let named = ui.interact(place, ui.id().with("note"), Sense::empty());
    named.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, text));
}
