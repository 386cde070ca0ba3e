//! What the rules of a workload say, above the list of anomalies, and a finding of theirs in place of one.

use super::scene::paint_named;
use crate::app::canvas::look::Look;
use crate::app::canvas::scene::{Drawn, DrawnAt};
use crate::app::command::{Command, Request, Requests};
use crate::app::finding::FindingView;
use crate::app::state::Document;
use crate::app::style::{self, Palette};
use crate::history::{Fact, visible};
use egui::{Button, RichText, ScrollArea, Sense, Ui, WidgetInfo, WidgetType};

/// Height of the findings before they scroll.
const HIGHEST: f32 = 180.0;

/// Most findings that are listed: all of them are laid out in each frame.
const MOST: usize = 200;

/// Whether the rules of its workload call something invalid.
pub(super) fn is_broken(document: &Document) -> bool {
    let history = document.history.as_ref();
    let workload = history.and_then(|history| history.workload());
    workload.is_some_and(|workload| workload.is_broken())
}

/// Whether its operations are reads and writes of items.
pub(super) fn has_items(document: &Document) -> bool {
    let history = document.history.as_ref();
    let workload = history.and_then(|history| history.workload());
    workload.is_none_or(|workload| workload.has_items())
}

/// Shows what was found, each with the transaction that shows it; nothing for a history of transactions.
pub(crate) fn workload_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let Some(workload) = document
        .history
        .as_ref()
        .and_then(|history| history.workload())
    else {
        return;
    };
    if workload.like_jepsen.is_empty() && workload.has_items() {
        return;
    }
    let palette = Palette::of(ui);
    let title = format!("Workload {}", workload.name);
    style::bold_line(ui, &title, style::BODY, palette.strong);
    let mut facts: Vec<(usize, &Fact)> = workload.facts.iter().enumerate().collect();
    facts.sort_by_key(|(_, fact)| !fact.counts);
    let shown = document.finding.as_ref().map(|finding| finding.place);
    let list = ScrollArea::vertical()
        .id_salt("workload")
        .max_height(HIGHEST);
    list.show(ui, |ui| {
        let left_out = facts.len().saturating_sub(MOST);
        for (place, fact) in facts.into_iter().take(MOST) {
            if fact_ui(ui, fact, shown == Some(place), &palette) {
                requests.push(Request::ShowFinding(place));
            }
        }
        if left_out > 0 {
            style::note(
                ui,
                format!("{left_out} more are in the output of isoscope check --json."),
            );
        }
    });
    let answers = workload.like_jepsen.iter();
    let answers: Vec<String> = answers
        .map(|(rule, answer)| format!("{rule} {}", answer.word()))
        .collect();
    if !answers.is_empty() {
        let said = format!(
            "By the rules of Jepsen's checkers the whole log is: {}.",
            answers.join(", ")
        );
        style::note(ui, said);
    }
    if let Some(undecided) = workload.undecided() {
        style::note(ui, undecided);
    }
    ui.separator();
}

/// A line of the list; whether it was clicked.
fn fact_ui(ui: &mut Ui, fact: &Fact, is_shown: bool, palette: &Palette) -> bool {
    let colour = if fact.counts {
        palette.bad
    } else {
        palette.text
    };
    let key = fact
        .key
        .as_ref()
        .map_or_else(String::new, |key| format!("in key {}, ", visible(key)));
    let text = format!("{}: {key}{}", fact.name, visible(&fact.statement));
    let button = Button::selectable(is_shown, RichText::new(text).color(colour)).wrap();
    ui.add(button).clicked()
}

/// What a finding is, next to its picture.
pub(crate) fn finding_ui(
    ui: &mut Ui,
    document: &Document,
    finding: &FindingView,
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    let told = &finding.told;
    let title = format!("{} ({})", told.title, told.id);
    style::bold(ui, &title, style::TITLE, palette.strong);
    style::note(ui, told.rule);
    ui.label(&told.statement);
    ui.horizontal_wrapped(|ui| {
        for command in [Command::Export, Command::Report, Command::CopyMarkdown] {
            super::command_button_ui(ui, command, requests);
        }
    });
    ui.add_space(style::GAP);
    style::bold(ui, "The calls that show it", style::HEADING, palette.strong);
    let workload = document
        .history
        .as_ref()
        .and_then(|history| history.workload());
    let fact = workload.and_then(|workload| workload.facts.get(finding.place));
    let calls = fact.iter().flat_map(|fact| &fact.calls);
    for (line, call) in told.calls.iter().zip(calls) {
        let button = Button::selectable(false, line).wrap();
        let hint = "Show it in the history";
        if ui.add(button).on_hover_text(hint).clicked() {
            requests.push(Request::Browse(call.transaction));
        }
    }
    ui.add_space(style::GAP);
    for fact in &told.facts {
        style::note(ui, fact);
    }
}

/// The calls of a finding over time, in place of the graph.
pub(crate) fn picture_ui(ui: &mut Ui, finding: &FindingView, requests: &mut Requests) {
    const ZOOM: (f32, f32) = (0.85, 1.5);
    let Some(picture) = &finding.picture else {
        style::note(ui, "Drawing…");
        return;
    };
    let scene = &picture.scene;
    ui.add_space(style::GAP);
    ScrollArea::both()
        .id_salt("finding")
        .auto_shrink(false)
        .show(ui, |ui| {
            let zoom = (ui.available_width() / scene.bounds.width()).clamp(ZOOM.0, ZOOM.1);
            let (area, response) =
                ui.allocate_exact_size(scene.bounds.size() * zoom, Sense::click());
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &picture.title));
            let look = Look {
                palette: Palette::of(ui),
                ..Look::default()
            };
            let place = DrawnAt {
                origin: area.min - zoom * scene.bounds.min.to_vec2(),
                zoom,
                area: ui.clip_rect(),
            };
            let drawn = Drawn {
                scene,
                place,
                look: &look,
            };
            let target = paint_named(ui, &drawn, &response);
            let of_card = target.and_then(|target| finding.transaction(target, picture));
            if let Some(transaction) = of_card.filter(|_| response.clicked()) {
                requests.push(Request::Browse(transaction));
            }
        });
}
