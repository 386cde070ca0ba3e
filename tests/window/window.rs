//! Driving the window without a display, for all tests of it.

#![allow(dead_code)]

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use isoscope::app::App;
use isoscope::app::state::{Document, Phase};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Two sessions; b reads a's second transaction through y and its first through x: a fractured read on x, with an
/// intermediate read beside it.
pub(crate) const FRACTURED: &str = "a: [w x 1, w z 1] [w x 2, w y 1]\nb: [r y 1, r x 1] [r z 1]\n";
/// Nothing wrong.
pub(crate) const CLEAN: &str = "a: [w x 1] [w x 2]\nb: [r x 2]\n";
/// Longest wait for work in the background.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) type Window = Harness<'static, App>;

pub(crate) fn window(theme: egui::Theme) -> Window {
    window_of(egui::vec2(1280.0, 800.0), 1.0, theme)
}

/// A window of a size in points, at a scale.
pub(crate) fn window_of(size: egui::Vec2, scale: f32, theme: egui::Theme) -> Window {
    Harness::builder()
        .with_size(size)
        .with_pixels_per_point(scale)
        .with_theme(theme)
        .build_ui_state(|ui, app: &mut App| app.draw(ui), App::new(None))
}

pub(crate) fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a temporary folder is writable");
    path
}

/// Draws frames until `done`, for jobs work on threads of their own.
pub(crate) fn wait(window: &mut Window, what: &str, done: impl Fn(&Window) -> bool) {
    let start = Instant::now();
    while !done(window) {
        assert!(start.elapsed() < PATIENCE, "waited too long: {what}");
        std::thread::sleep(Duration::from_millis(5));
        window.step();
    }
    window.run_steps(3);
}

pub(crate) fn document(window: &Window) -> &Document {
    window
        .state()
        .state()
        .document
        .as_ref()
        .expect("a history is open")
}

pub(crate) fn open(window: &mut Window, path: PathBuf) {
    window.state_mut().open_all(vec![path]);
    wait(window, "the check", is_settled);
}

/// Whether a history is open, checked and drawn, and no dropped or chosen path is still looked at: until then, the
/// document is the one before it.
pub(crate) fn is_settled(window: &Window) -> bool {
    let state = window.state().state();
    let done = |document: &Document| document.phase == Phase::Done && !document.drawing;
    state.looking.is_none() && state.document.as_ref().is_some_and(done)
}

/// Both themes.
pub(crate) fn themes() -> [egui::Theme; 2] {
    [egui::Theme::Dark, egui::Theme::Light]
}

/// Opens `text` in a new window. The folder must live as long as the window reads raw lines.
pub(crate) fn opened(text: &str, theme: egui::Theme) -> (Window, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut window = window(theme);
    open(&mut window, write(folder.path(), "history.txt", text));
    (window, folder)
}

/// Whether any part of the window, possibly several, says this.
pub(crate) fn says(window: &Window, text: &str) -> bool {
    window.query_all_by_label_contains(text).next().is_some()
}

pub(crate) fn press(window: &mut Window, key: egui::Key) {
    window.key_press(key);
    window.run_steps(4);
}

/// Opens a menu and chooses an entry.
pub(crate) fn choose(window: &mut Window, menu: &str, entry: &str) {
    window.get_by_label(menu).click();
    window.run_steps(4);
    window.get_by_label(entry).click();
    window.run_steps(4);
}

pub(crate) fn click(window: &mut Window, at: egui::Pos2) {
    window.hover_at(at);
    window.step();
    window.drag_at(at);
    window.step();
    window.drop_at(at);
    window.run_steps(4);
}

/// A dropped file.
#[derive(Debug)]
pub(crate) struct Dropped(pub(crate) PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}
