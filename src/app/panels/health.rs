//! Whether the history can be trusted: all findings, the worst first, with the operations each is about.

use super::{paint_cross, paint_tick, paint_triangle};
use crate::app::command::{Request, Requests};
use crate::app::state::Document;
use crate::app::style::{self, Palette, ROW, counted};
use crate::app::vocabulary::Phase;
use crate::health::{Finding, Health, Kind, Severity};
use crate::history::{History, OperationId, TransactionId};
use crate::report::grouped;
use egui::{
    Align2, Color32, CornerRadius, FontId, Frame, Margin, RichText, ScrollArea, Sense, Stroke, Ui,
    WidgetInfo, WidgetType, vec2,
};

pub(crate) fn health_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let (Some(history), Some(health)) = (&document.history, &document.trust.health) else {
        style::note(
            ui,
            match document.phase {
                Phase::Reading => "Reading…",
                Phase::Checking => "Looking at the history…",
                Phase::Cancelled => "Cancelled before anything was found out.",
                Phase::Done | Phase::Failed => "Nothing is known.",
            },
        );
        return;
    };
    ScrollArea::vertical()
        .id_salt("health")
        .auto_shrink(false)
        .show(ui, |ui| {
            heading_ui(ui, health);
            let mut conditions = false;
            for (place, finding) in in_order(health) {
                if finding.kind.is_condition() && !conditions {
                    conditions = true;
                    ui.add_space(10.0);
                    style::bold(
                        ui,
                        "Checker preconditions",
                        style::HEADING,
                        Palette::of(ui).strong,
                    );
                    style::note(ui, "What other checkers require of a history.");
                }
                finding_ui(ui, history, document, place, finding, requests);
            }
            ui.add_space(12.0);
        });
}

/// The findings with their indices: those about the history first, then the conditions.
fn in_order(health: &Health) -> impl Iterator<Item = (usize, &Finding)> {
    let all = || health.findings.iter().enumerate();
    all()
        .filter(|(_, finding)| !finding.kind.is_condition())
        .chain(all().filter(|(_, f)| f.kind.is_condition()))
}

/// `2 warnings, 1 caution`; empty if nothing casts doubt on verdicts.
pub(crate) fn doubts_text(health: &Health) -> String {
    let with = |severity| {
        health
            .findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    };
    let parts = [Severity::Warning, Severity::Caution].map(|severity| (with(severity), severity));
    let parts = parts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, severity)| counted(*n, severity.word()));
    parts.collect::<Vec<_>>().join(", ")
}

/// The colour of the worst finding.
pub(crate) fn doubts_colour(health: &Health, palette: &Palette) -> Color32 {
    health
        .doubts()
        .next()
        .map_or(palette.good, |finding| colour_of(finding.severity, palette))
}

fn colour_of(severity: Severity, palette: &Palette) -> Color32 {
    match severity {
        Severity::Warning => palette.bad,
        Severity::Caution => palette.caution,
        Severity::Note => palette.weak,
    }
}

fn heading_ui(ui: &mut Ui, health: &Health) {
    let palette = Palette::of(ui);
    style::bold(
        ui,
        "Can the history be trusted?",
        style::TITLE,
        palette.strong,
    );
    let doubts = doubts_text(health);
    if doubts.is_empty() {
        drop(ui.colored_label(palette.good, "Nothing casts doubt on the verdicts."))
    } else {
        drop(ui.colored_label(
            doubts_colour(health, &palette),
            format!("{doubts}: read this before trusting the verdicts."),
        ))
    }
    ui.add_space(4.0);
}

/// Icon, word and colour of a finding. A condition that does not hold is not worse.
fn sign_ui(ui: &mut Ui, finding: &Finding, palette: &Palette) {
    let colour = sign_colour(finding, palette);
    let (area, _) = ui.allocate_exact_size(vec2(18.0, 18.0), Sense::hover());
    let centre = area.center();
    let text = |text: &str| {
        ui.painter().text(
            centre,
            Align2::CENTER_CENTER,
            text,
            FontId::proportional(style::BODY),
            colour,
        );
    };
    match (finding.kind.is_condition(), finding.severity) {
        (true, _) if finding.count == 0 => paint_tick(ui.painter(), centre, 11.0, colour),
        (true, _) => paint_cross(ui.painter(), centre, 10.0, colour),
        (false, Severity::Warning) => {
            let r = 8.0;
            let corners = vec![
                centre + vec2(0.0, -r),
                centre + vec2(r, r * 0.8),
                centre + vec2(-r, r * 0.8),
            ];
            ui.painter()
                .add(egui::Shape::closed_line(corners, Stroke::new(1.6, colour)));
            let small = FontId::proportional(style::SMALL);
            ui.painter().text(
                centre + vec2(0.0, 1.5),
                Align2::CENTER_CENTER,
                "!",
                small,
                colour,
            );
        }
        (false, Severity::Caution) => {
            ui.painter()
                .circle_stroke(centre, 7.5, Stroke::new(1.6, colour));
            text("!");
        }
        (false, Severity::Note) => {
            ui.painter()
                .circle_stroke(centre, 7.5, Stroke::new(1.2, colour));
            text("i");
        }
    }
}

fn sign_colour(finding: &Finding, palette: &Palette) -> Color32 {
    if finding.kind.is_condition() && finding.count == 0 {
        palette.good
    } else {
        colour_of(finding.severity, palette)
    }
}

/// The word next to the title: its severity, or whether the condition holds.
fn word_of(finding: &Finding) -> &'static str {
    match (finding.kind.is_condition(), finding.count) {
        (true, 0) => "holds",
        (true, _) => "does not hold",
        (false, _) => finding.severity.word(),
    }
}

fn finding_ui(
    ui: &mut Ui,
    history: &History,
    document: &Document,
    place: usize,
    finding: &Finding,
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    let colour = sign_colour(finding, &palette);
    let is_open = document.trust.open_finding == Some(place);
    let has_more = !finding.operations.is_empty() || !finding.transactions.is_empty();
    let is_doubt = finding.severity < Severity::Note;
    let frame = Frame::new()
        .inner_margin(Margin::symmetric(10, 6))
        .corner_radius(CornerRadius::same(6))
        .fill(if is_doubt {
            palette.tint(colour)
        } else {
            palette.panel
        })
        .stroke(Stroke::new(
            1.0,
            if is_doubt { colour } else { palette.line },
        ));
    let shown = frame.show(ui, |ui| {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 10.0;
            sign_ui(ui, finding, &palette);
            ui.vertical(|ui| {
                ui.horizontal(|ui| {
                    style::bold_line(ui, finding.kind.title(), style::BODY, palette.strong);
                    if !finding.kind.is_condition() {
                        ui.label(
                            RichText::new(word_of(finding))
                                .size(style::SMALL)
                                .color(colour),
                        );
                    }
                    if has_more {
                        let (area, _) = ui.allocate_exact_size(vec2(10.0, 14.0), Sense::hover());
                        paint_triangle(ui.painter(), area.center(), is_open, palette.weak);
                        style::note(ui, grouped(finding.count));
                    }
                });
                ui.add(
                    egui::Label::new(RichText::new(&finding.text).color(palette.text))
                        .wrap()
                        .selectable(false),
                );
            });
        });
        ui.set_min_width(ui.available_width());
    });
    let response = ui.interact(
        shown.response.rect,
        ui.id().with(("finding", place)),
        Sense::click(),
    );
    response.widget_info(|| {
        let text = format!(
            "Finding {}: {}: {}",
            word_of(finding),
            finding.kind.title(),
            finding.text
        );
        WidgetInfo::selected(WidgetType::SelectableLabel, true, is_open, text)
    });
    if has_more && response.on_hover_text("Show what it is about").clicked() {
        requests.push(Request::OpenFinding(place));
    }
    if let Some(remedy) = finding.remedy.as_ref().filter(|_| is_doubt || is_open)
        && document.form.word(remedy.rule) != remedy.choice
    {
        ui.horizontal(|ui| {
            ui.add_space(28.0);
            let mut flag = remedy.flag();
            if flag.chars().count() > 60 {
                flag = flag.chars().take(57).collect::<String>() + "…";
            }
            let hover = "Change the rule on the right; Read again applies it";
            if ui
                .small_button(format!("Choose {flag}"))
                .on_hover_text(hover)
                .clicked()
            {
                requests.push(Request::SetRule(remedy.rule, remedy.choice.clone()));
            }
        });
    }
    if is_open {
        about_ui(ui, history, finding, requests);
    }
}

/// The operations a finding is about, or its transactions; a click shows them in the history.
fn about_ui(ui: &mut Ui, history: &History, finding: &Finding, requests: &mut Requests) {
    ui.spacing_mut().item_spacing.y = 0.0;
    for &operation in &finding.operations {
        let end = history
            .spot_of(operation)
            .map_or_else(String::new, |spot| spot.text(history.origin()));
        let transaction = history.transaction_of(operation);
        if line_ui(ui, &operation_line(history, transaction, operation), &end) {
            requests.push(Request::Browse(transaction));
            requests.push(Request::ShowOperation(operation));
        }
    }
    let listed = if finding.operations.is_empty() {
        for &transaction in &finding.transactions {
            let text = history.transaction_name(transaction);
            let end = format!(
                "session {}",
                history.session_and_node(history.session_of(transaction))
            );
            if line_ui(ui, &text, &end) {
                requests.push(Request::Browse(transaction));
            }
        }
        finding.transactions.len()
    } else {
        finding.operations.len()
    };
    // Pairs and keys are not counted like the listed items, so only truncated lists say so.
    if listed >= crate::health::LISTED && finding.count > listed as u64 {
        style::note(
            ui,
            format!("The first {} are listed.", grouped(listed as u64)),
        );
    }
    ui.add_space(4.0);
}

fn operation_line(history: &History, transaction: TransactionId, operation: OperationId) -> String {
    format!(
        "{}  {}",
        history.transaction_name(transaction),
        history.operation_text(operation)
    )
}

fn line_ui(ui: &mut Ui, text: &str, end: &str) -> bool {
    let palette = Palette::of(ui);
    let (area, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    response.widget_info(|| {
        WidgetInfo::labeled(
            WidgetType::SelectableLabel,
            true,
            format!("Show {text} {end}"),
        )
    });
    if ui.is_rect_visible(area) {
        let painter = ui.painter().with_clip_rect(area.intersect(ui.clip_rect()));
        if response.hovered() || response.has_focus() {
            painter.rect_filled(area, CornerRadius::same(4), palette.raised);
        }
        let left = area.left_center() + vec2(38.0, 0.0);
        painter.text(
            left,
            Align2::LEFT_CENTER,
            text,
            FontId::monospace(style::CODE),
            palette.text,
        );
        let right = area.right_center() - vec2(8.0, 0.0);
        painter.text(
            right,
            Align2::RIGHT_CENTER,
            end,
            FontId::proportional(style::SMALL),
            palette.weak,
        );
    }
    response.on_hover_text("Show it in the history").clicked()
}

/// The worst finding, which the list of anomalies shows.
pub(crate) fn worst(health: &Health) -> Option<Kind> {
    health.doubts().next().map(|finding| finding.kind)
}
