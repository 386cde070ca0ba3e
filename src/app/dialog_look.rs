//! Our own file dialog in the window's fonts, words and colours. The library paints its fields black in both themes and
//! writes the selected name in the colour of a selected line's ground: both are corrected in what it has painted.

use super::style::Palette;
use crate::app::style;
use egui::{Color32, Context, LayerId, Order, Shape, Stroke, Vec2, vec2};
use egui_file_dialog::{DirectoryEntry, FileDialog, FileDialogLabels};
use std::path::PathBuf;

/// Its usual size.
const SIZE: Vec2 = vec2(860.0, 560.0);
/// Space kept free around it: the title bar is outside its own size.
const AROUND: Vec2 = vec2(80.0, 140.0);
/// What the library fills fields with.
const BLACK: Color32 = Color32::from_black_alpha(250);

/// The dialog, closed.
pub(super) fn dialog() -> FileDialog {
    let word = |text: &str| text.to_owned();
    let labels = FileDialogLabels {
        reload: word("Reload"),
        working_directory: word("Go to the working folder"),
        show_hidden: word("Show hidden files"),
        show_system_files: word("Show system files"),
        open_button: word("Open"),
        save_button: word("Save"),
        cancel_button: word("Cancel"),
        selected_directory: word("Folder:"),
        selected_file: word("File:"),
        file_name: word("Name:"),
        err_directory_exists: word("There is a folder of this name"),
        err_file_exists: word("There is a file of this name"),
        err_empty_folder_name: word("Type a name for the folder"),
        err_empty_file_name: word("Type a name for the file"),
        ..FileDialogLabels::default()
    };
    FileDialog::new()
        .labels(labels)
        .anchor(egui::Align2::CENTER_CENTER, Vec2::ZERO)
        .default_size(SIZE)
}

/// Draws it, no larger than the window.
pub(super) fn update(dialog: &mut FileDialog, ctx: &Context) {
    dialog.config_mut().max_size = Some((ctx.content_rect().size() - AROUND).min(SIZE));
    dialog.update(ctx);
    let palette = if ctx.global_style().visuals.dark_mode {
        style::DARK
    } else {
        style::LIGHT
    };
    let layer = LayerId::new(Order::Middle, dialog.get_window_id());
    ctx.graphics_mut(|graphics| {
        let Some(list) = graphics.get_mut(layer) else {
            return;
        };
        for place in 0..list.next_idx().0 {
            list.mutate_shape(egui::layers::ShapeIdx(place), |clipped| {
                correct(&mut clipped.shape, &palette)
            });
        }
    });
}

/// The file that a search has selected, if Enter is pressed in the field of the search: the library would only leave it.
pub(super) fn searched(dialog: &FileDialog, ctx: &Context) -> Option<PathBuf> {
    if !ctx.input(|input| input.key_pressed(egui::Key::Enter)) {
        return None;
    }
    let focused = ctx
        .memory(|memory| memory.focused())
        .and_then(|id| ctx.read_response(id))?;
    let whole = ctx.memory(|memory| memory.area_rect(dialog.get_window_id()))?;
    // The other field, for a path, is on the left.
    let is_search = whole.contains_rect(focused.rect) && focused.rect.center().x > whole.center().x;
    let selected = dialog
        .selected_entry()
        .filter(|entry| is_search && entry.is_file());
    selected.map(DirectoryEntry::to_path_buf)
}

fn correct(shape: &mut Shape, palette: &Palette) {
    match shape {
        Shape::Vec(shapes) => shapes.iter_mut().for_each(|shape| correct(shape, palette)),
        Shape::Rect(rect) if rect.fill == BLACK => {
            rect.fill = palette.ground;
            rect.stroke = Stroke::new(1.0, palette.shade);
        }
        Shape::Text(text) => {
            let is_selected =
                |section: &egui::text::LayoutSection| section.format.color == palette.selected;
            if text.galley.job.sections.iter().any(is_selected) {
                text.override_text_color = Some(palette.accent);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui_kittest::Harness;

    fn fills(shape: &Shape, found: &mut Vec<Color32>) {
        match shape {
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| fills(shape, found)),
            Shape::Rect(rect) => found.push(rect.fill),
            _ => {}
        }
    }

    #[test]
    fn its_fields_have_the_colours_of_the_window() {
        for (theme, palette) in [
            (egui::Theme::Light, style::LIGHT),
            (egui::Theme::Dark, style::DARK),
        ] {
            let mut dialog = dialog();
            dialog.save_file();
            let draw = move |ui: &mut egui::Ui| {
                style::install(ui.ctx());
                update(&mut dialog, ui.ctx());
            };
            let mut window = Harness::builder()
                .with_size([1000.0, 700.0])
                .with_theme(theme)
                .build_ui(draw);
            window.run_steps(6);
            let mut found = Vec::new();
            window
                .output()
                .shapes
                .iter()
                .for_each(|clipped| fills(&clipped.shape, &mut found));
            assert!(
                !found.contains(&BLACK) && found.contains(&palette.ground),
                "{theme:?}: {found:?}"
            );
        }
    }
}
