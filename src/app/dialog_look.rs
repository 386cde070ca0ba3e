//! Our own file dialog in the window's fonts, words and colours. The library paints its fields black in both themes and
//! writes the selected name in the colour of a selected line's ground: both are corrected in what it has painted.

use super::style::Palette;
use crate::app::style;
use crate::formats::{Input, SNIFFED, recognise};
use egui::{Color32, Context, LayerId, Order, Shape, Stroke, Vec2, vec2};
use egui_file_dialog::{DirectoryEntry, FileDialog, FileDialogLabels};
use std::io::Read;
use std::path::{Path, PathBuf};

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

/// Draws it, no larger than the window, with what is known of the chosen file.
pub(super) fn update(dialog: &mut FileDialog, about: &mut About, ctx: &Context) {
    about.type_slash(ctx);
    dialog.config_mut().max_size = Some((ctx.content_rect().size() - AROUND).min(SIZE));
    let chosen = dialog.selected_entry().filter(|entry| entry.is_file());
    match chosen.map(DirectoryEntry::to_path_buf) {
        Some(path) => {
            dialog.update_with_right_panel_ui(ctx, &mut |ui, _| about.of(&path).ui(ui));
        }
        None => {
            dialog.update(ctx);
        }
    }
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

/// What is known of the chosen file, and a slash that is still to be typed.
#[derive(Default)]
pub(super) struct About {
    file: Option<(PathBuf, Facts)>,
    is_slash: bool,
}

impl About {
    /// A slash begins a path, as in a shell: the library opens its field with the folder in it and swallows the slash.
    fn type_slash(&mut self, ctx: &Context) {
        let is_in_field = ctx.memory(|memory| memory.focused()).is_some();
        if is_in_field && std::mem::take(&mut self.is_slash) {
            ctx.input_mut(|input| {
                input.events.push(egui::Event::Key {
                    key: egui::Key::A,
                    physical_key: None,
                    pressed: true,
                    repeat: false,
                    modifiers: egui::Modifiers::COMMAND,
                });
                input.events.push(egui::Event::Text("/".to_owned()));
            });
        } else if !is_in_field {
            self.is_slash |= ctx.input(|input| input.key_pressed(egui::Key::Slash));
        }
    }

    /// The facts of a file, read once. O(its first 4 KB).
    fn of(&mut self, path: &Path) -> &Facts {
        if self.file.as_ref().is_none_or(|(known, _)| known != path) {
            self.file = None;
        }
        &self
            .file
            .get_or_insert_with(|| (path.to_owned(), Facts::of(path)))
            .1
    }
}

/// What the dialog says of a file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Facts {
    size: Option<String>,
    modified: Option<String>,
    format: Option<&'static str>,
}

impl Facts {
    fn of(path: &Path) -> Facts {
        let Ok(metadata) = path.metadata() else {
            return Facts::default();
        };
        let modified = metadata
            .modified()
            .ok()
            .map(chrono::DateTime::<chrono::Utc>::from);
        let mut head = Vec::new();
        let file = std::fs::File::open(path).ok();
        let _ = file.map(|file| file.take(SNIFFED as u64).read_to_end(&mut head));
        let name = path.to_string_lossy();
        Facts {
            size: Some(size(metadata.len())),
            modified: modified.map(|time| time.format("%Y-%m-%d %H:%M UTC").to_string()),
            format: recognise(&Input::new(&name, &head)).map(|(format, _)| format.name),
        }
    }

    fn ui(&self, ui: &mut egui::Ui) {
        let rows = [
            ("Format", Some(self.format.unwrap_or("not recognized"))),
            ("Size", self.size.as_deref()),
            ("Modified", self.modified.as_deref()),
        ];
        for (name, value) in rows {
            let Some(value) = value else { continue };
            style::note(ui, name);
            ui.add(egui::Label::new(value).wrap());
            ui.add_space(6.0);
        }
    }
}

/// `512 bytes`, `1.2 MB`.
fn size(bytes: u64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let unit = units.into_iter().find(|(unit, _)| bytes as f64 >= *unit);
    unit.map_or_else(
        || format!("{bytes} bytes"),
        |(unit, name)| format!("{:.1} {name}", bytes as f64 / unit),
    )
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

    #[test]
    fn a_file_has_a_format_a_size_and_a_date() {
        let path = std::env::temp_dir().join(format!("isoscope-dialog-{}.txt", std::process::id()));
        std::fs::write(&path, "a: [w x 1]\nb: [r x 1]\n").expect("a file");
        let facts = Facts::of(&path);
        let _ = std::fs::remove_file(&path);
        assert_eq!(
            (facts.format, facts.size.as_deref()),
            (Some("text"), Some("22 bytes"))
        );
        assert!(facts.modified.is_some_and(|time| time.ends_with("UTC")));
        assert_eq!(Facts::of(&path), Facts::default());
        assert_eq!(
            (size(1_234_567), size(3_000_000_000)),
            ("1.2 MB".to_owned(), "3.0 GB".to_owned())
        );
    }

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
                update(&mut dialog, &mut About::default(), ui.ctx());
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
