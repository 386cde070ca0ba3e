//! The level strip: a pill per level with its verdict, and how the checking goes.

use super::{paint_cross, paint_tick};
use crate::app::command::{Command, Request, Requests};
use crate::app::state::{Document, Phase};
use crate::app::style::{self, Palette, duration};
use crate::checkers::{Level, LevelResult, Verdict};
use crate::control::Progress;
use egui::{
    Align, CornerRadius, FontId, Layout, Rect, Response, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, vec2,
};

/// Width of the strip from which on pills carry their verdict as a word.
const ROOMY: f32 = 1100.0;

/// The weakest violated levels: those violated that imply no other violated one. Two at most (CI and RC).
pub fn weakest_broken(document: &Document) -> Vec<Level> {
    let broken: Vec<Level> =
        document.levels.iter().filter(|(_, result)| is_broken(result.as_ref())).map(|(level, _)| *level).collect();
    let minimal = |level: &Level| !broken.iter().any(|other| other != level && level.implies(*other));
    broken.iter().copied().filter(minimal).collect()
}

fn is_broken(result: Option<&LevelResult>) -> bool {
    result.is_some_and(|result| result.verdict == Verdict::Violated)
}

/// Draws the strip.
pub fn levels_ui(ui: &mut Ui, document: &Document, progress: Option<Progress>, requests: &mut Requests) {
    let roomy = ui.available_width() >= ROOMY;
    let weakest = weakest_broken(document);
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = 5.0;
        for (place, (level, result)) in document.levels.iter().enumerate() {
            if place > 0 {
                let joint = if *level == Level::ReadCommitted { "·" } else { "→" };
                style::note(ui, joint);
            }
            let pill = pill_ui(ui, *level, result.as_ref(), weakest.contains(level), document.phase, roomy);
            if pill.clicked() && document.witness(*level).is_some() {
                requests.push(Request::ShowOrder(*level));
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 8.0;
            end_ui(ui, document, progress, requests);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| summary_ui(ui, document, &weakest));
        });
    });
}

fn pill_ui(
    ui: &mut Ui,
    level: Level,
    result: Option<&LevelResult>,
    weakest: bool,
    phase: Phase,
    roomy: bool,
) -> Response {
    let palette = Palette::of(ui);
    let verdict = result.map(|result| &result.verdict);
    let colour = palette.verdict(verdict);
    let word = match verdict {
        Some(Verdict::Satisfied(_)) => "holds",
        Some(Verdict::Violated) => "broken",
        Some(Verdict::Undecided(_)) => "open",
        None if phase == Phase::Checking => "…",
        None => "",
    };
    let text = if roomy && !word.is_empty() { format!("{} {word}", level.code()) } else { level.code().to_owned() };
    let galley = ui.painter().layout_no_wrap(text, FontId::proportional(style::BODY), colour);
    let holds = matches!(verdict, Some(Verdict::Satisfied(_)));
    let sense = if holds { Sense::click() } else { Sense::hover() };
    let (area, response) = ui.allocate_exact_size(vec2(galley.size().x + 34.0, 25.0), sense);
    let fill = if verdict.is_some() { palette.tint(colour) } else { palette.ground };
    let width = if weakest || response.hovered() && holds || response.has_focus() { 2.4 } else { 1.2 };
    ui.painter().rect(area, CornerRadius::same(12), fill, Stroke::new(width, colour), StrokeKind::Inside);
    paint_mark(ui, area, verdict, phase, &palette);
    let at = Rect::from_min_size(area.min + vec2(25.0, 0.0), vec2(galley.size().x, area.height()));
    style::paint_bold(ui.painter(), at.left_center() - vec2(0.0, galley.size().y / 2.0), galley, colour);
    let spoken = verdict.map_or("not known yet", Verdict::word);
    let kind = if holds { WidgetType::Button } else { WidgetType::Label };
    response.widget_info(|| WidgetInfo::labeled(kind, true, format!("Level {level}: {spoken}")));
    response.on_hover_ui(|ui| hover_ui(ui, level, result, weakest))
}

fn paint_mark(ui: &Ui, area: Rect, verdict: Option<&Verdict>, phase: Phase, palette: &Palette) {
    let centre = area.left_center() + vec2(15.0, 0.0);
    let colour = palette.verdict(verdict);
    match verdict {
        Some(Verdict::Satisfied(_)) => paint_tick(ui.painter(), centre, 11.0, colour),
        Some(Verdict::Violated) => paint_cross(ui.painter(), centre, 11.0, colour),
        Some(Verdict::Undecided(_)) => {
            ui.painter().text(centre, egui::Align2::CENTER_CENTER, "?", FontId::proportional(style::BODY), colour);
        }
        None if phase == Phase::Checking => {
            let turn = ui.input(|input| input.time) as f32 * 4.0;
            let arc: Vec<_> = (0..=10).map(|i| centre + egui::Vec2::angled(turn + i as f32 * 0.42) * 4.6).collect();
            ui.painter().line(arc, Stroke::new(1.6, colour));
        }
        None => drop(ui.painter().circle_stroke(centre, 4.0, Stroke::new(1.2, colour))),
    }
}

fn hover_ui(ui: &mut Ui, level: Level, result: Option<&LevelResult>, weakest: bool) {
    let palette = Palette::of(ui);
    ui.set_max_width(330.0);
    style::bold(ui, &level.long_name().replace('-', " "), style::BODY, palette.strong);
    ui.label(format!("Promises that {}.", level.promise()));
    match result {
        None => ui.colored_label(palette.weak, "Not known yet."),
        Some(result) => {
            let text = match &result.verdict {
                Verdict::Satisfied(_) => {
                    "Holds: an order that explains every read was found. Click to step through it.".to_owned()
                }
                Verdict::Violated if weakest => "Broken, and no weaker level is.".to_owned(),
                Verdict::Violated => "Broken.".to_owned(),
                Verdict::Undecided(cause) => format!("Left open: {cause}."),
            };
            ui.colored_label(palette.verdict(Some(&result.verdict)), text);
            style::note(ui, format!("{} in {}", result.checker, duration(result.seconds)))
        }
    };
}

fn summary_ui(ui: &mut Ui, document: &Document, weakest: &[Level]) {
    let palette = Palette::of(ui);
    let codes: Vec<&str> = weakest.iter().map(|level| level.code()).collect();
    let known = document.levels.iter().all(|(_, result)| result.is_some());
    let text = match (codes.is_empty(), document.phase) {
        (false, _) => format!("weakest broken: {}", codes.join(", ")),
        (true, Phase::Done) if known => {
            let open =
                document.levels.iter().any(|(_, r)| matches!(r, Some(r) if matches!(r.verdict, Verdict::Undecided(_))));
            if open { "nothing found broken".to_owned() } else { "every level holds".to_owned() }
        }
        _ => String::new(),
    };
    ui.add_space(8.0);
    ui.add(egui::Label::new(egui::RichText::new(text).color(palette.weak)).truncate());
}

fn end_ui(ui: &mut Ui, document: &Document, progress: Option<Progress>, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let (reading, checking) = document.seconds;
    match document.phase {
        Phase::Done => {
            ui.colored_label(palette.weak, format!("checked in {}", duration(checking))).on_hover_text(format!(
                "read in {}, checked in {}",
                duration(reading),
                duration(checking)
            ));
        }
        Phase::Cancelled => drop(ui.colored_label(palette.caution, "cancelled")),
        Phase::Failed => drop(ui.colored_label(palette.bad, "failed")),
        Phase::Reading | Phase::Checking => {
            let name = "Cancel";
            if ui.button(name).on_hover_text(super::tooltip(Command::Escape)).clicked() {
                requests.push(Request::Run(Command::Escape));
            }
            let progress = progress.unwrap_or_default();
            if let Some(fraction) = progress.fraction() {
                ui.add(egui::ProgressBar::new(fraction).desired_width(90.0).desired_height(6.0));
            } else {
                ui.add(egui::Spinner::new().size(14.0).color(palette.accent));
            }
            ui.add(egui::Label::new(egui::RichText::new(progress.phase).color(palette.weak)).truncate());
        }
    }
}
