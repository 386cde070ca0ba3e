//! The lines of the file with the involved operations.

use crate::app::canvas::look::Lit;
use crate::app::command::{Request, Requests};
use crate::app::state::Document;
use crate::app::style::{self, Palette};
use crate::app::vocabulary::{Attention, Focus};
use egui::text::TextWrapping;
use egui::{FontId, RichText, Sense, TextFormat, Ui, WidgetInfo, WidgetType, vec2};

/// Maximum number of rows that a line takes.
const ROWS: usize = 4;

/// A log names much else before the operation.
pub(super) fn wrapping(ui: &Ui) -> TextWrapping {
    TextWrapping {
        max_width: ui.available_width() - 8.0,
        max_rows: ROWS,
        ..TextWrapping::default()
    }
}

/// Draws the lines; those of highlighted operations are emphasized.
pub(crate) fn raw_lines_ui(ui: &mut Ui, document: &Document, lit: &Lit, requests: &mut Requests) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        style::bold_line(ui, "Raw lines", style::HEADING, palette.strong);
        style::note(ui, &document.title);
    });
    if let Some(error) = &document.raw.error {
        ui.colored_label(palette.caution, error);
    }
    let Some(picture) = document.current_picture() else {
        return;
    };
    if document.raw.of != document.selected {
        style::note(ui, "Reading…");
        return;
    }
    let renaming = &picture.argument.counterexample.renaming;
    for (operation, line, text) in &document.raw.lines {
        let small = renaming.new_operation(*operation);
        let is_lit = small.is_some_and(|small| lit.operations.contains(&small));
        let colour = if is_lit { palette.strong } else { palette.text };
        let mut job = egui::text::LayoutJob::default();
        let font = FontId::monospace(style::CODE);
        let history = &picture.argument.counterexample.history;
        let place = small
            .and_then(|small| history.spot_of(small))
            .map(|spot| spot.text(history.origin()));
        let place = place.unwrap_or_else(|| format!("line {line}"));
        job.append(
            &format!("{place:>12}  "),
            0.0,
            TextFormat::simple(font.clone(), palette.weak),
        );
        job.append(text, 0.0, TextFormat::simple(font, colour));
        job.wrap = wrapping(ui);
        let galley = ui.painter().layout_job(job);
        let (area, response) = ui.allocate_exact_size(
            vec2(ui.available_width(), galley.size().y + 5.0),
            Sense::click(),
        );
        if is_lit || response.hovered() {
            ui.painter().rect_filled(area, 4.0, palette.raised);
        }
        ui.painter().galley(
            area.left_center() - vec2(0.0, galley.size().y / 2.0),
            galley,
            palette.text,
        );
        response.widget_info(|| {
            WidgetInfo::labeled(WidgetType::Label, true, format!("{place}: {text}"))
        });
        let Some(small) = small else { continue };
        if response.hovered() {
            requests.push(Request::Focus(Focus::Hover(Attention::Operation(small))));
        }
        let whole = picture.argument.counterexample.renaming.old_transaction(
            picture
                .argument
                .counterexample
                .history
                .transaction_of(small),
        );
        if response
            .on_hover_ui(|ui| drop(ui.label(RichText::new(text).monospace())))
            .clicked()
        {
            requests.push(Request::Browse(whole));
            requests.push(Request::ShowOperation(*operation));
        }
    }
    if document.raw.lines.is_empty() && document.raw.error.is_none() {
        style::note(
            ui,
            "This history does not say on which lines its operations are.",
        );
    }
}
