//! The lines of the anomaly list: branches, causes with who did what, and instances.

use super::{on_click, paint_triangle};
use crate::app::command::{Command, Request, Requests};
use crate::app::grouping::GroupBy;
use crate::app::instances::AT_ONCE;
use crate::app::state::Document;
use crate::app::style::{self, Palette, ROW, counted};
use crate::app::tree::{Branch, Catalogue, Entry, ListLine, short, toggle_word};
use crate::app::vocabulary::{Attention, Focus};
use crate::checkers::{Level, Pattern};
use crate::counterexample::headline;
use crate::health::Kind;
use crate::report::grouped;
use egui::{
    Align2, CornerRadius, FontId, Rect, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, vec2,
};

/// What the anomalies are that have the cause of a simpler one.
const SAME_CAUSE: &str = "The same operations also form these patterns. Each can be drawn as itself; the simplest is above.";

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

pub(super) fn line_ui(
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
                triangle: Some(*open),
                ..ListRow::default()
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
                ..ListRow::default()
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
                ..ListRow::default()
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
        is_of_two: true,
        ..ListRow::default()
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
#[derive(Default)]
pub(super) struct ListRow<'a> {
    pub(super) text: &'a str,
    pub(super) end: String,
    pub(super) indent: f32,
    pub(super) colour: egui::Color32,
    pub(super) size: f32,
    pub(super) selected: bool,
    pub(super) triangle: Option<bool>,
    /// It is one of two lines of the same thing.
    pub(super) is_of_two: bool,
}

impl ListRow<'_> {
    pub(super) fn ui(&self, ui: &mut Ui, bold: bool) -> egui::Response {
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
