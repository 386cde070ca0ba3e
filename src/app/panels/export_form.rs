//! The export dialog: what to write, and where.

use super::on_click;
use crate::app::canvas::look::Look;
use crate::app::canvas::scene::{Drawn, DrawnAt};
use crate::app::command::{Request, Requests};
use crate::app::exporting::PAGE;
use crate::app::page::Page;
use crate::app::state::{Document, ExportForm};
use crate::app::style::{self, Palette};
use crate::diagram::scene::Scene;
use crate::export::{EXPORTERS, ExportKind};
use egui::{Id, Rect, Sense, Ui, WidgetInfo, WidgetType, vec2};
use std::path::{Path, PathBuf};

/// A lower window has no room for the preview, in points.
const ROOM: f32 = 680.0;
/// Height of the preview, in points.
const PREVIEW: f32 = 460.0;

/// Draws the dialog over the window; the form is edited in place.
pub(crate) fn export_ui(
    ui: &mut Ui,
    form: &mut ExportForm,
    document: Option<&Document>,
    waiting: bool,
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    let answer = super::sheet("export", ui).show(ui.ctx(), |ui| {
        ui.set_width(520.0_f32.min(ui.ctx().content_rect().width() - 60.0));
        let is_order = form.view == Page::Order;
        let title = if document.is_some_and(|document| document.finding.is_some()) {
            "Export this finding"
        } else if is_order {
            "Save this order"
        } else {
            "Export this anomaly"
        };
        style::bold(ui, title, style::TITLE, palette.strong);
        ui.add_space(6.0);
        for row in EXPORTERS
            .iter()
            .filter(|row| !is_order || row.kind.is_of_orders())
        {
            ui.horizontal(|ui| {
                style::frame_choices(ui);
                let is_chosen = form.kind == row.kind && !is_page(&form.path);
                if ui.radio(is_chosen, row.name).clicked() {
                    form.path = with_extension(&form.path, row.kind);
                    form.kind = row.kind;
                }
                style::note(ui, about(row.kind));
            });
        }
        if !is_order {
            ui.horizontal(|ui| {
                style::frame_choices(ui);
                if ui.radio(is_page(&form.path), "HTML page").clicked() {
                    let path = Path::new(&form.path).with_extension(PAGE);
                    form.path = path.display().to_string();
                }
                style::note(ui, "the whole report in one file, for any browser");
            });
        }
        ui.add_space(8.0);
        if !is_order {
            let is_picture = form.kind.is_picture() && !is_page(&form.path);
            ui.add_enabled_ui(is_picture, |ui| {
                view_ui(ui, form, document);
                ui.horizontal(|ui| {
                    style::frame_choices(ui);
                    let with_argument = &mut form.style.with_argument;
                    ui.checkbox(with_argument, "With the steps of the argument");
                    ui.checkbox(&mut form.style.is_dark, "Dark");
                });
            });
            let has_room = ui.ctx().content_rect().height() >= ROOM;
            let is_seen = has_room && is_picture;
            if is_seen {
                preview_ui(ui, form.preview.as_deref(), form.style.is_dark);
            }
            ui.add_space(8.0);
        }
        let label = style::note(ui, "File");
        ui.horizontal(|ui| {
            let field = egui::TextEdit::singleline(&mut form.path)
                .margin(egui::Margin::symmetric(8, 5))
                .desired_width(ui.available_width() - 90.0);
            let response = ui.add(field).labelled_by(label.id);
            response.widget_info(|| WidgetInfo::labeled(WidgetType::TextEdit, true, "Export path"));
            if response.changed()
                && let Some(kind) = kind_of(&form.path)
            {
                form.kind = kind;
            }
            if ui
                .button("Choose…")
                .on_hover_text("Choose the file in a dialog")
                .clicked()
            {
                requests.push(Request::ChooseExportPath(form.kind));
            }
        });
        if waiting {
            own_dialog_ui(ui, requests);
        }
        ui.add_space(10.0);
        ui.horizontal(|ui| {
            let is_known = document.is_some_and(|document| document.view(form.view).is_some());
            let fits = if is_order {
                form.kind.is_of_orders()
            } else {
                is_known || !form.kind.is_picture()
            };
            let ready = !form.path.trim().is_empty() && fits;
            let button = ui.add_enabled(ready, egui::Button::new("Export").fill(palette.selected));
            let unfocused = ui.memory(|memory| memory.focused().is_none());
            let enter = ready && unfocused && ui.input(|input| input.key_pressed(egui::Key::Enter));
            if button.clicked() || enter {
                let path = PathBuf::from(form.path.trim());
                requests.push(match is_page(&form.path) && !is_order {
                    true => Request::WritePage(path),
                    false => Request::WriteExport(form.kind, path),
                });
            }
            super::ends(&ui.button("Cancel"), requests);
        });
    });
    super::ends(&answer.backdrop_response, requests);
}

/// The page as it would be written, small.
fn preview_ui(ui: &mut Ui, page: Option<&Scene>, is_dark: bool) {
    let size = vec2(
        ui.available_width(),
        (ui.ctx().content_rect().height() * 0.3).min(PREVIEW),
    );
    let (area, response) = ui.allocate_exact_size(size, Sense::hover());
    // Until it is laid out its place is kept, so that nothing moves.
    let Some(page) = page else { return };
    let bounds = page.bounds;
    let zoom = (area.width() / bounds.width()).min(area.height() / bounds.height());
    let paper = Rect::from_center_size(area.center(), bounds.size() * zoom);
    let place = DrawnAt {
        origin: paper.min - bounds.min.to_vec2() * zoom,
        zoom,
        area: paper,
    };
    let look = Look {
        palette: if is_dark { style::DARK } else { style::LIGHT },
        ..Look::default()
    };
    let (scene, look) = (page, &look);
    Drawn { scene, place, look }.paint(&ui.painter_at(paper));
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Image, true, "Preview of the page"));
}

/// The pages that a picture can show, as far as they are known.
fn view_ui(ui: &mut Ui, form: &mut ExportForm, document: Option<&Document>) {
    ui.horizontal(|ui| {
        style::frame_choices(ui);
        style::note(ui, "Picture of");
        for page in [Page::Graph, Page::Lanes, Page::Key, Page::Matrix] {
            let is_there = document.is_some_and(|document| document.view(page).is_some());
            let row = page.row();
            let button = ui.add_enabled(
                is_there,
                egui::RadioButton::new(form.view == page, row.name),
            );
            if button.on_hover_text(row.tooltip).clicked() {
                form.view = page;
            }
        }
    });
}

/// Says that a system dialog is open somewhere, and offers the built-in one.
pub(crate) fn waiting_ui(ui: &mut Ui, requests: &mut Requests) {
    egui::Area::new(Id::new("waiting for dialog"))
        .anchor(egui::Align2::CENTER_BOTTOM, [0.0, -40.0])
        .show(ui.ctx(), |ui| {
            egui::Frame::popup(ui.style()).show(ui, |ui| {
                own_dialog_ui(ui, requests);
            });
        });
}

fn own_dialog_ui(ui: &mut Ui, requests: &mut Requests) {
    ui.horizontal(|ui| {
        style::note(ui, "A dialog of the system is open.");
        on_click(
            &ui.small_button("Use the built-in one"),
            Request::UseOwnDialog,
            requests,
        );
    });
}

/// Whether this is the path of a report in one file.
fn is_page(path: &str) -> bool {
    let ending = Path::new(path.trim()).extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case(PAGE))
}

/// What a kind of export is for.
fn about(kind: ExportKind) -> &'static str {
    match kind {
        ExportKind::Svg => "for documents: sharp at every size, text stays text",
        ExportKind::Png => "for issue trackers, at twice the size",
        ExportKind::Dot => "for Graphviz",
        ExportKind::Tikz => "for LaTeX: a whole document, with its styles at the top",
        ExportKind::Mermaid => "for trackers and wikis that draw it from text",
        ExportKind::Json => "diagram, coordinates and steps as data",
        ExportKind::Markdown => "the argument, for issue trackers",
        ExportKind::Text => "the argument, for people",
    }
}

/// The kind that corresponds to a path's extension.
pub(crate) fn kind_of(path: &str) -> Option<ExportKind> {
    ExportKind::from_path(Path::new(path))
}

/// The path with the extension replaced by that of a kind.
pub(crate) fn with_extension(path: &str, kind: ExportKind) -> String {
    match (path.is_empty(), kind_of(path).is_some() || is_page(path)) {
        (true, _) => String::new(),
        (false, true) => Path::new(path)
            .with_extension(kind.extension())
            .display()
            .to_string(),
        (false, false) => format!("{path}.{}", kind.extension()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_follows_the_kind() {
        let [a, b] = [ExportKind::Svg, ExportKind::Png];
        let path = format!("dir.v2/anomaly.{}", a.extension());
        assert_eq!(kind_of(&path), Some(a));
        assert_eq!(
            with_extension(&path, b),
            format!("dir.v2/anomaly.{}", b.extension())
        );
        assert_eq!(
            with_extension("plain", b),
            format!("plain.{}", b.extension())
        );
        assert_eq!(kind_of("x.unknown"), None);
        assert_eq!(with_extension("x.html", a), format!("x.{}", a.extension()));
    }
}
