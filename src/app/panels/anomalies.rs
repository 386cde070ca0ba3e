//! The anomaly list with its filter.

use super::{on_click, paint_triangle};
use crate::app::command::{Command, Request, Requests};
use crate::app::grouping::GroupBy;
use crate::app::instances::AT_ONCE;
use crate::app::page::Page;
use crate::app::state::{Document, State};
use crate::app::style::{self, Palette, ROW, counted};
use crate::app::tree::{Branch, Catalogue, Entry, ListLine, short, toggle_word};
use crate::app::vocabulary::{Attention, Focus, Phase};
use crate::checkers::lattice::Promise;
use crate::checkers::{Level, Pattern, ViolationId, ViolationName};
use crate::counterexample::{causes_and_patterns, headline};
use crate::health::Kind;
use crate::relations::Relation;
use crate::report::grouped;
use egui::{
    Align2, CornerRadius, FontId, Rect, RichText, ScrollArea, Sense, Stroke, StrokeKind, Ui,
    WidgetInfo, WidgetType, vec2,
};

/// What the anomalies are that have the cause of a simpler one.
const SAME_CAUSE: &str = "The same operations also form these patterns. Each can be drawn as itself; the simplest is above.";

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
        selected: false,
        triangle: None,
        is_of_two: false,
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
        selected: false,
        triangle: None,
        is_of_two: false,
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

/// How many anomalies of a branch are reads that say nothing about the database, since the log seems to lack their writers.
fn doubted(document: &Document, catalogue: &Catalogue, branch: &Branch) -> u64 {
    // Of those that a filter leaves, it is not known which are in doubt.
    let is_whole = document.tree.filter().is_empty();
    let is_about = is_whole
        && match branch {
            Branch::Level(level) => *level == catalogue.level_of(Pattern::ThinAirRead),
            Branch::Pattern(pattern) => *pattern == Pattern::ThinAirRead,
            _ => false,
        };
    let finding = document
        .trust
        .health
        .as_ref()
        .and_then(|health| health.finding(Kind::CutOff));
    finding
        .filter(|_| is_about)
        .map_or(0, |finding| finding.count)
}

fn line_ui(
    ui: &mut Ui,
    line: &ListLine,
    (document, promised): (&Document, Option<Level>),
    catalogue: &Catalogue,
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    match line {
        ListLine::Branch {
            branch,
            text,
            count,
            open,
        } => {
            let (depth, colour, size) = match branch {
                Branch::Level(_) => (0, palette.strong, style::BODY),
                Branch::Pattern(_) => (1, palette.text, style::BODY),
                Branch::Group(..) | Branch::Consequences(_) => (2, palette.weak, style::BODY),
                Branch::Cause(_) => (1, palette.accent, style::SMALL),
                Branch::AlsoPattern(..) => (2, palette.text, style::BODY),
                Branch::AnomalyGroup(..) => (0, palette.strong, style::BODY),
                Branch::HeapPattern(..) => (1, palette.text, style::BODY),
            };
            let indent = depth as f32 * 14.0;
            let doubted = doubted(document, catalogue, branch).min(*count);
            let end = match doubted {
                0 => grouped(*count),
                n => format!("{}, {} in doubt", grouped(*count), grouped(n)),
            };
            let row = ListRow {
                text,
                end,
                indent,
                colour,
                size,
                selected: false,
                triangle: Some(*open),
                is_of_two: false,
            };
            let bold = matches!(branch, Branch::Level(_) | Branch::AnomalyGroup(..));
            let response = row.ui(ui, bold);
            let hover = match branch {
                Branch::Level(level) => format!("{}: {}", level.code(), level.promise()),
                Branch::AnomalyGroup(GroupBy::Component, _) => {
                    "Anomalies that share transactions, directly or through others".to_owned()
                }
                Branch::AnomalyGroup(..) => "Anomalies with this in common".to_owned(),
                Branch::Cause(_) => SAME_CAUSE.to_owned(),
                Branch::Pattern(pattern)
                | Branch::HeapPattern(_, _, pattern)
                | Branch::AlsoPattern(_, pattern) => {
                    let row = pattern.row();
                    let adya = row
                        .adya
                        .map(|name| format!(" · {name}"))
                        .unwrap_or_default();
                    format!("{}: {}\n{}{adya}", row.name, row.meaning, row.source)
                }
                Branch::Group(..) => "Instances with one root cause".to_owned(),
                Branch::Consequences(_) => SAME_CAUSE.to_owned(),
            };
            let hover = match doubted {
                0 => hover,
                n => format!(
                    "{hover}\n{} may be due to writers missing from the log: see Health",
                    counted(n as usize, "read")
                ),
            };
            on_click(
                &response.on_hover_text(hover),
                Request::Toggle(*branch),
                requests,
            );
        }
        ListLine::Cause { entry } | ListLine::Summary { entry } => {
            if let Some(entry) = catalogue.entries.get(*entry) {
                let is_title = matches!(line, ListLine::Cause { .. });
                let shown = (document, promised);
                cause_ui(ui, entry, is_title, shown, catalogue, requests);
            }
        }
        ListLine::Instance { entry, depth } => {
            let Some(entry) = catalogue.entries.get(*entry) else {
                return;
            };
            let selected = is_selected(document, entry);
            let colour = match (selected, entry.simpler.is_some()) {
                (true, _) => palette.strong,
                (false, true) => palette.weak,
                (false, false) => palette.text,
            };
            let (drawn, by_cause) = (
                document.drawn.get(&entry.id),
                document.tree.by() == GroupBy::Cause,
            );
            let end = match drawn.map(|drawn| drawn.size) {
                _ if by_cause => entry.id.to_string(),
                Some(1) => "1 txn".to_owned(),
                Some(n) => format!("{n} txns"),
                None if entry.size > 1 => format!("≤ {} txns", entry.size),
                None => "1 txn".to_owned(),
            };
            let row = ListRow {
                text: &entry.label,
                end,
                indent: *depth as f32 * 14.0,
                colour,
                size: style::BODY,
                selected,
                triangle: None,
                is_of_two: false,
            };
            let response = row.ui(ui, false);
            of_anomaly(ui, response, (entry, &entry.label), document, requests);
        }
        ListLine::More {
            pattern,
            listed,
            counted,
        } => {
            let n = grouped((counted - listed).min(AT_ONCE));
            let text = match document.tree.by() {
                GroupBy::Cause => format!("List {n} more {}", short(*pattern)),
                _ => format!("List {n} more"),
            };
            let (end, colour, size) = (
                format!("{} listed", grouped(*listed)),
                palette.accent,
                style::BODY,
            );
            let row = ListRow {
                text: &text,
                end,
                indent: 28.0,
                colour,
                size,
                selected: false,
                triangle: None,
                is_of_two: false,
            };
            let hint =
                "Where one cause shows in many instances, only one of them is listed initially.\n";
            if row
                .ui(ui, false)
                .on_hover_text(format!("{hint}{}", super::tooltip(Command::ListMore)))
                .clicked()
            {
                requests.push(Request::ListMore(*pattern));
            }
        }
    }
}

fn is_selected(document: &Document, entry: &Entry) -> bool {
    document.selected == Some(entry.id) && document.finding.is_none()
}

/// The headline of the simplest anomaly of a cause, or who did what with the level that it breaks, in the line below.
fn cause_ui(
    ui: &mut Ui,
    entry: &Entry,
    is_title: bool,
    (document, promised): (&Document, Option<Level>),
    catalogue: &Catalogue,
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    let told = || {
        let history = document.history.as_ref()?;
        Some(headline(history, catalogue.violation(entry.id)?))
    };
    // Until it is minimized, what was found is told.
    let (title, summary) = match document.drawn.get(&entry.id) {
        Some(drawn) => (drawn.title.clone(), drawn.summary.clone()),
        None => told().map_or_else(
            || (entry.id.to_string(), entry.label.clone()),
            |told| (told.title, told.summary.to_string()),
        ),
    };
    let level = catalogue.level_of(entry.id.pattern).code();
    // What breaks a level breaks what was promised, if that implies it.
    let breaks = |promised: Level| {
        let violation = catalogue.violation(entry.id);
        violation.is_some_and(|violation| {
            let mut levels = violation.levels.iter();
            levels.any(|broken| promised.implies(broken))
        })
    };
    let end = match promised.is_some_and(breaks) {
        true => format!("{level} · bug"),
        false => level.to_owned(),
    };
    let (text, end, colour, size) = match is_title {
        true => (&title, String::new(), palette.strong, style::BODY),
        false => (&summary, end, palette.weak, style::SMALL),
    };
    let row = ListRow {
        text,
        end,
        indent: -8.0,
        colour,
        size,
        selected: is_selected(document, entry),
        triangle: None,
        is_of_two: true,
    };
    let response = row.ui(ui, is_title);
    let about = format!("{title}. {summary}");
    of_anomaly(ui, response, (entry, &about), document, requests);
}

/// What a row of an anomaly offers: its flag, notes, menu and name.
fn of_anomaly(
    ui: &Ui,
    response: egui::Response,
    (entry, about): (&Entry, &str),
    document: &Document,
    requests: &mut Requests,
) {
    let note = document.notes.get(&entry.identity);
    if note.is_some_and(|note| note.bookmarked) {
        // A small flag in the margin.
        let at = response.rect.left_center() + vec2(5.0, 0.0);
        let flag = vec![
            at + vec2(-3.0, -5.0),
            at + vec2(3.0, -5.0),
            at + vec2(3.0, 5.0),
            at + vec2(0.0, 2.0),
            at + vec2(-3.0, 5.0),
        ];
        ui.painter().add(egui::Shape::convex_polygon(
            flag,
            Palette::of(ui).caution,
            Stroke::NONE,
        ));
    }
    let own = note
        .map(|note| note.text.trim())
        .filter(|text| !text.is_empty());
    let own = own.map(|text| format!("\n{text}")).unwrap_or_default();
    if response.hovered() && !is_selected(document, entry) {
        // Its transactions are highlighted in the other views.
        requests.push(Request::Focus(Focus::Hover(Attention::Anomaly(entry.id))));
    }
    response.context_menu(|ui| only_ui(ui, document, entry, requests));
    let hint = "\nRight click: only those with its pattern, key or sessions";
    if response
        .on_hover_text(format!("{} {about}{own}{hint}", entry.id))
        .clicked()
    {
        requests.push(Request::Select(entry.id));
    }
}

/// Filter words that match an anomaly.
fn only_ui(ui: &mut Ui, document: &Document, entry: &Entry, requests: &mut Requests) {
    let mut offer = |ui: &mut Ui, word: String| {
        if ui
            .button(format!("Only {}", word.replacen(':', " ", 1)))
            .clicked()
        {
            let filter = document.tree.filter();
            let has = crate::app::filter::words(filter).contains(&word);
            let filter = if has {
                filter.to_owned()
            } else {
                toggle_word(filter, &word)
            };
            requests.push(Request::Filter(filter));
            ui.close();
        }
    };
    offer(ui, format!("pattern:{}", entry.id.pattern.row().id));
    let fields = entry
        .search
        .split('|')
        .filter(|field| field.starts_with("key:") || field.starts_with("session:"));
    fields.take(8).for_each(|field| offer(ui, field.to_owned()));
}

/// One line of the list.
struct ListRow<'a> {
    text: &'a str,
    end: String,
    indent: f32,
    colour: egui::Color32,
    size: f32,
    selected: bool,
    triangle: Option<bool>,
    /// It is one of two lines of the same thing.
    is_of_two: bool,
}

impl ListRow<'_> {
    fn ui(&self, ui: &mut Ui, bold: bool) -> egui::Response {
        let palette = Palette::of(ui);
        // Of an entry of two lines, Tab stops at the first.
        let sense = if self.is_of_two && !bold {
            Sense::CLICK
        } else {
            Sense::click()
        };
        let (area, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), sense);
        let spoken = || format!("{} {}", self.text, self.end);
        response.widget_info(|| {
            WidgetInfo::selected(WidgetType::SelectableLabel, true, self.selected, spoken())
        });
        if !ui.is_rect_visible(area) {
            return response;
        }
        let painter = ui.painter();
        if self.selected && self.is_of_two {
            painter.rect_filled(area, CornerRadius::ZERO, palette.selected);
        } else if self.selected {
            painter.rect(
                area.shrink2(vec2(0.0, 0.5)),
                CornerRadius::same(4),
                palette.selected,
                Stroke::new(1.0, palette.accent),
                StrokeKind::Inside,
            );
        } else if response.hovered() || response.has_focus() {
            painter.rect_filled(area, CornerRadius::same(4), palette.raised);
        }
        if let Some(open) = self.triangle {
            paint_triangle(
                painter,
                area.left_center() + vec2(self.indent + 6.0, 0.0),
                open,
                palette.weak,
            );
        }
        let end_font = FontId::proportional(style::SMALL);
        let end = painter.text(
            area.right_center() - vec2(6.0, 0.0),
            Align2::RIGHT_CENTER,
            &self.end,
            end_font,
            palette.weak,
        );
        let left = area.left() + self.indent + 15.0;
        let room = (end.left() - 6.0 - left).max(10.0);
        let galley = style::cut(
            painter,
            self.text,
            FontId::proportional(self.size),
            self.colour,
            room,
        );
        let at = Rect::from_min_size(area.min, area.size()).left_center()
            + vec2(left - area.left(), -galley.size().y / 2.0);
        if bold {
            style::paint_bold(painter, at, galley, self.colour)
        } else {
            painter.galley(at, galley, self.colour);
        }
        response
    }
}

/// The filter keys, for the help sheet.
pub(crate) fn filter_help() -> RichText {
    RichText::new(format!(
        "{}: words of the filter are all looked for. key:4, session:2, txn:T295, edge:RW and level:RA mean exactly that.",
        Command::FocusFilter.key_text()
    ))
}
