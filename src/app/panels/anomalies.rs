//! The anomaly list with its filter.

use super::anomaly_rows::{ListRow, line_ui};
use super::on_click;
use crate::app::command::{Command, Request, Requests};
use crate::app::grouping::GroupBy;
use crate::app::page::Page;
use crate::app::state::{Document, State};
use crate::app::style::{self, Palette, ROW, counted};
use crate::app::tree::{Catalogue, toggle_word};
use crate::app::vocabulary::Phase;
use crate::checkers::lattice::Promise;
use crate::checkers::{Level, ViolationId, ViolationName};
use crate::counterexample::causes_and_patterns;
use crate::health::Kind;
use crate::relations::Relation;
use crate::report::grouped;
use egui::{
    CornerRadius, FontId, RichText, ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo,
    WidgetType, vec2,
};

/// Name of the filter field.
pub(crate) const FILTER_ID: &str = "anomaly filter";

/// Draws the panel.
pub(crate) fn anomalies_ui(
    ui: &mut Ui,
    state: &State,
    document: &Document,
    requests: &mut Requests,
) {
    ui.take_available_width();
    let palette = Palette::of(ui);
    if !super::workload::has_items(document) {
        // There are no patterns to be listed.
        style::bold_line(ui, "Findings", style::HEADING, palette.strong);
        super::workload::workload_ui(ui, document, requests);
        if document.complete && document.results.all_hold() {
            match super::workload::is_broken(document) {
                true => ui.label("No level asked for is violated."),
                false => ui.colored_label(palette.good, "Every level asked for holds."),
            };
        }
        return;
    }
    let total: u64 = document
        .catalogue
        .as_ref()
        .map_or(0, |c| c.findings.patterns.values().sum());
    let counts = counts(document, total);
    let width = style::width(ui, &counts, style::BODY);
    let mut has_room = true;
    ui.horizontal(|ui| {
        style::bold_line(ui, "Anomalies", style::HEADING, palette.strong);
        bookmarks_ui(ui, document, requests);
        has_room = ui.available_width() >= width;
        if has_room {
            let layout = egui::Layout::right_to_left(egui::Align::Center);
            ui.with_layout(layout, |ui| counts_ui(ui, &counts));
        }
    });
    if !has_room {
        counts_ui(ui, &counts);
    }
    filter_ui(ui, state, document, requests);
    chips_ui(ui, document, requests);
    ui.add_space(2.0);
    super::workload::workload_ui(ui, document, requests);
    health_line_ui(ui, document, requests);
    match (&document.catalogue, document.tree.catalogue()) {
        (Some(known), Some(listed)) if !known.entries.is_empty() => {
            let promised = state.lattice.promise().and_then(Promise::asked);
            list_ui(ui, (document, promised), listed, requests)
        }
        (Some(known), None) if !known.entries.is_empty() => drop(style::note(ui, "Listing…")),
        (Some(_), _) if document.complete && document.results.all_hold() => {
            match super::workload::is_broken(document) {
                true => ui.label("No level asked for is violated."),
                false => ui.colored_label(palette.good, "No anomaly: every level asked for holds."),
            };
        }
        (Some(_), _) if document.complete => drop(ui.colored_label(
            palette.caution,
            "No anomalies found; some levels are undecided.",
        )),
        _ => drop(style::note(
            ui,
            match document.phase {
                Phase::Reading => "Reading…",
                Phase::Checking => "Checking…",
                Phase::Cancelled => "Cancelled before anything was found.",
                Phase::Done => "Nothing was found.",
                Phase::Failed => "There is nothing to show.",
            },
        )),
    }
}

/// The field of the filter.
pub(crate) fn filter_id() -> egui::Id {
    egui::Id::new(FILTER_ID)
}

/// How many causes and patterns there are, or are left by the filter.
fn counts(document: &Document, total: u64) -> String {
    let Some(catalogue) = &document.catalogue else {
        return String::new();
    };
    match document.tree.filter().is_empty() {
        _ if !catalogue.findings.is_counted() => "counting…".to_owned(),
        _ if document.tree.is_being_made() || document.tree.lists_more => "listing…".to_owned(),
        true => causes_and_patterns(&catalogue.findings, catalogue.n_causes()),
        false => {
            let shown = grouped(document.tree.order().len() as u64);
            let of = grouped(document.tree.n_named().unwrap_or(total));
            let causes = counted(document.tree.n_causes(), "cause");
            format!("{shown} of {of} in {causes}")
        }
    }
}

fn counts_ui(ui: &mut Ui, text: &str) {
    ui.colored_label(Palette::of(ui).weak, text).on_hover_text(
        "The operations of one cause may form several patterns. All are counted; “List … more” lists those that are not \
         listed yet.",
    );
}

/// How many anomalies are bookmarked, in the heading: a line of its own would move the list below the pointer.
fn bookmarks_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let marked = document
        .notes
        .values()
        .filter(|note| note.bookmarked)
        .count();
    if marked > 0 {
        let word = "is:bookmarked";
        let on = crate::app::filter::words(document.tree.filter())
            .iter()
            .any(|w| w == word);
        if chip_ui(
            ui,
            (
                &format!("⚑ {marked}"),
                &format!("{marked} bookmarked"),
                "bookmarked",
            ),
            Palette::of(ui).caution,
            on,
        ) {
            requests.push(Request::Filter(toggle_word(document.tree.filter(), word)));
        }
    }
}

/// The worst finding that casts doubt on everything below, if there is any.
fn health_line_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let Some(health) = &document.trust.health else {
        return;
    };
    let Some(worst) = super::health::worst(health) else {
        return;
    };
    ui.spacing_mut().item_spacing.y = 0.0;
    let colour = super::health::doubts_colour(health, &palette);
    let (text, end) = ("History health", super::health::doubts_text(health));
    let row = ListRow {
        text,
        end,
        indent: -8.0,
        colour,
        size: style::BODY,
        ..ListRow::default()
    };
    let heading = row.ui(ui, true);
    // They are listed as anomalies, and say nothing of the database.
    let end = match health.finding(worst).filter(|_| worst == Kind::CutOff) {
        Some(finding) => format!("{} in doubt", counted(finding.count as usize, "read")),
        None => String::new(),
    };
    let size = style::BODY;
    let row = ListRow {
        text: worst.title(),
        end,
        indent: 14.0,
        colour: palette.text,
        size,
        ..ListRow::default()
    };
    let line = row.ui(ui, false);
    let hover = super::tooltip(Command::Show(Page::Health));
    if heading.on_hover_text(&hover).clicked() || line.on_hover_text(&hover).clicked() {
        requests.push(Request::Run(Command::Show(Page::Health)));
    }
}

fn filter_ui(ui: &mut Ui, state: &State, document: &Document, requests: &mut Requests) {
    let mut filter = document.tree.filter().to_owned();
    ui.horizontal(|ui| {
        let clear = !filter.is_empty();
        let width = ui.available_width() - if clear { 66.0 } else { 36.0 };
        let field = egui::TextEdit::singleline(&mut filter)
            .id(filter_id())
            .hint_text("filter: words, key:4")
            .margin(egui::Margin::symmetric(8, 5))
            .desired_width(width);
        let response = ui.add(field).on_hover_text(
            "Words are looked for in names of patterns and transactions; key:4 session:2 txn:T295 edge:RW level:RA are exact",
        );
        response.widget_info(|| WidgetInfo::labeled(WidgetType::TextEdit, true, "Filter anomalies"));
        if state.focus_filter {
            response.request_focus();
        }
        if response.changed() {
            requests.push(Request::Filter(filter.clone()));
        }
        let is_entered = response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        requests.extend(named(document).filter(|_| is_entered).map(Request::ShowInstance));
        if clear && ui.add(egui::Button::new("×").frame(false)).on_hover_text("Clear the filter").clicked() {
            requests.push(Request::Filter(String::new()));
        }
        let menu = ui.menu_button("▾", |ui| menu_ui(ui, document, requests));
        let name = || WidgetInfo::labeled(WidgetType::Button, true, "How the list is grouped");
        menu.response.widget_info(name);
        menu.response.on_hover_text("How the list is grouped, and by which edges it is filtered");
    });
}

/// How the list is grouped, and which edges its anomalies have.
fn menu_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    style::note(ui, "Group by").on_hover_text(super::tooltip(Command::GroupBy));
    for by in GroupBy::ALL {
        let chosen = ui.radio(document.tree.by() == by, by.word());
        let spoken = || {
            let name = format!("Group by {}", by.word());
            WidgetInfo::selected(
                WidgetType::RadioButton,
                true,
                document.tree.by() == by,
                name,
            )
        };
        chosen.widget_info(spoken);
        super::on_menu_click(&chosen, ui, Request::GroupBy(by), requests);
    }
    ui.separator();
    style::note(ui, "Only with an edge");
    let filter = document.tree.filter();
    let words = crate::app::filter::words(filter);
    let history = document.history.as_ref();
    let in_time = history.is_some_and(|history| history.has_times());
    let is_there = |relation: &Relation| in_time || *relation != Relation::RealTime;
    for relation in Relation::ALL.into_iter().filter(is_there) {
        let word = format!("edge:{}", relation.code());
        let mut is_on = words.iter().any(|w| w.eq_ignore_ascii_case(&word));
        let name = format!("{} {}", relation.code(), relation.name());
        let colour = Palette::of(ui).relation(relation);
        if ui
            .checkbox(&mut is_on, RichText::new(name).color(colour))
            .clicked()
        {
            requests.push(Request::Filter(toggle_word(filter, &word)));
        }
    }
}

/// The exact words of the filter: a click takes one away.
fn chips_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let filter = document.tree.filter();
    let words = crate::app::filter::words(filter);
    let fields: Vec<&String> = words.iter().filter(|word| word.contains(':')).collect();
    if !fields.is_empty() {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(5.0, 5.0);
            let accent = Palette::of(ui).accent;
            for word in fields {
                let text = word.replacen(':', " ", 1);
                if chip_ui(ui, (&format!("{text} ×"), &text, &text), accent, true) {
                    requests.push(Request::Filter(toggle_word(filter, word)));
                }
            }
        });
    }
    if document.tree.is_similar() && !document.tree.order().is_empty() {
        style::note(ui, "No exact match. Similar:");
    }
}

/// A button for one word of the filter: its text, its name for screen readers, and what it is.
fn chip_ui(
    ui: &mut Ui,
    (text, spoken, hint): (&str, &str, &str),
    colour: egui::Color32,
    on: bool,
) -> bool {
    let palette = Palette::of(ui);
    let galley =
        ui.painter()
            .layout_no_wrap(text.to_owned(), FontId::proportional(style::SMALL), colour);
    let (area, response) = ui.allocate_exact_size(galley.size() + vec2(14.0, 6.0), Sense::click());
    let fill = if on {
        palette.tint(colour)
    } else {
        palette.panel
    };
    let line = if on || response.hovered() {
        colour
    } else {
        palette.line
    };
    ui.painter().rect(
        area,
        CornerRadius::same(9),
        fill,
        Stroke::new(if on { 1.6 } else { 1.0 }, line),
        StrokeKind::Inside,
    );
    ui.painter()
        .galley(area.center() - galley.size() / 2.0, galley, colour);
    response.widget_info(|| {
        WidgetInfo::selected(WidgetType::Button, true, on, format!("Only {spoken}"))
    });
    response
        .on_hover_text(format!("Only anomalies with this: {hint}"))
        .clicked()
}

fn list_ui(
    ui: &mut Ui,
    (document, promised): (&Document, Option<Level>),
    catalogue: &Catalogue,
    requests: &mut Requests,
) {
    let lines = document.tree.lines();
    if let Some(id) = named(document).filter(|id| catalogue.place(*id).is_none())
        && ui
            .button(format!("Show {id} (counted but not listed)"))
            .clicked()
    {
        requests.push(Request::ShowInstance(id));
    }
    if lines.is_empty() {
        let hidden: u64 = catalogue.findings.patterns.values().sum();
        style::note(
            ui,
            format!(
                "No anomalies match the filter; {} are hidden.",
                grouped(hidden)
            ),
        );
        on_click(
            &ui.button("Clear the filter"),
            Request::Filter(String::new()),
            requests,
        );
        return;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let mut area = ScrollArea::vertical()
        .id_salt("anomalies")
        .auto_shrink(false);
    let wanted = document.selected.filter(|_| document.reveal.selected);
    if let Some(line) = wanted.and_then(|id| document.tree.line_of(id)) {
        let id = ui.make_persistent_id(egui::Id::new("anomalies"));
        let now = egui::scroll_area::State::load(ui.ctx(), id).map_or(0.0, |state| state.offset.y);
        let (top, height) = (line as f32 * ROW, ui.available_height());
        if top < now || top + ROW > now + height {
            area = area.vertical_scroll_offset((top - height * 0.4).max(0.0));
        }
    }
    area.show_rows(ui, ROW, lines.len(), |ui, range| {
        for line in &lines[range] {
            line_ui(ui, line, (document, promised), catalogue, requests);
        }
    });
}

/// The instance that the filter names, listed or not.
fn named(document: &Document) -> Option<ViolationId> {
    let catalogue = document.tree.catalogue()?;
    let named: ViolationName = document.tree.filter().parse().ok()?;
    named.id().filter(|id| catalogue.is_counted(*id))
}

/// The filter keys, for the help sheet.
pub(crate) fn filter_help() -> RichText {
    RichText::new(format!(
        "{}: words of the filter are all looked for. key:4, session:2, txn:T295, edge:RW and level:RA mean exactly that.",
        Command::FocusFilter.key_text()
    ))
}
