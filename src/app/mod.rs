//! The window.
//!
//! Each frame: messages of running jobs are taken in, panels read the [`State`] and push requests, requests are carried
//! out. All reading, checking, minimizing, layout and writing runs in [`jobs`](crate::jobs); a frame never waits.
//! Results so far are shown while work is in progress, and that work can be cancelled.
//!
//! Files import each other in one direction. [`vocabulary`] imports nothing of the window. Above it are files about one
//! thing each: a page, a form, a question and its answer. [`state`] puts these together. What draws it or carries out
//! requests imports the state; only the window knows all of them.

pub mod arrangement;
mod axis;
pub mod batch;
pub mod canvas;
pub mod catalogue;
pub mod checker_comparison;
pub mod checker_run;
pub mod collecting;
pub mod command;
mod dialog_look;
pub mod dialogs;
mod dispatch;
mod drawn;
pub mod exporting;
pub mod figures;
pub mod files;
pub mod filter;
pub mod finding;
pub mod following;
pub mod fuzzy;
pub mod group_graph;
pub mod grouping;
mod instances;
mod lattice;
pub mod listing;
pub mod live;
pub mod load;
mod marking;
pub mod marks;
pub mod minimap;
pub mod nav_history;
mod navigation;
pub mod notes;
pub mod open_log;
mod opening;
mod order_export;
pub mod page;
mod pages;
pub mod palette;
mod panels;
pub mod paths;
pub mod picture;
pub mod playback;
pub mod project;
pub mod raw;
pub mod recent;
pub mod replaying;
pub mod results;
pub mod samples;
mod selection;
pub mod settings;
pub mod state;
mod stepping;
pub mod style;
pub mod sweep;
mod tasks;
pub mod text_size;
pub mod tour;
pub mod tree;
mod unreadable;
pub mod verdict_summary;
pub mod versions;
pub mod visibility;
pub mod vocabulary;
pub mod watch;
mod welcome;
pub mod what_if;
pub mod witness_view;

use crate::fonts::Face;
use crate::jobs::{Pool, Wake};
use canvas::Canvas;
use collecting::Collecting;
use collecting::form::Form;
use command::{Command, Focused, Requests};
use dialogs::Dialogs;
use egui::{Frame, Margin, Panel, Stroke, Ui};
use exporting::EXPORT;
use page::Page;
use picture::Picture;
use state::{Cover, Reveal, State};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use style::Palette;
use tasks::Tasks;
use vocabulary::{Attention, Tone};

/// How often a frame is drawn while work runs, to update the progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// How long a message that something went well is shown.
const GOOD_NEWS: Duration = Duration::from_secs(12);

/// How long quitting waits for exports, which may have much to draw first.
const PATIENCE: Duration = Duration::from_secs(60);

/// Height of the title row, in points.
const TITLE_ROW: f32 = 48.0;

/// With less height than this there is no map below the graph, which would be too small, in points.
const MAP_FROM: f32 = 420.0;

/// Height of the map, in points: in a window of this height, and in a lower one.
const MAP: (f32, f32, f32) = (110.0, 860.0, 36.0);

/// Pulled up so far, the map becomes the timeline, in points.
const PULLED: f32 = 64.0;

/// Below this width side panels are narrower, in points.
const NARROW: f32 = 1100.0;

/// Opens the window and, in it, the first of `files`; the others are offered as recent. Returns when it is closed.
/// Errors: no display can be opened or drawn on.
pub fn run(files: Vec<PathBuf>) -> Result<(), String> {
    let no_window = |why: &str| format!("no window can be opened: {why}");
    if !display_is_named() {
        return Err("no display here: neither DISPLAY nor WAYLAND_DISPLAY is set".to_owned());
    }
    let viewport = egui::ViewportBuilder::default()
        .with_title("IsoScope")
        .with_app_id("isoscope")
        .with_inner_size([1280.0, 800.0])
        .with_min_inner_size(text_size::SMALLEST_WINDOW)
        .with_drag_and_drop(true)
        .with_icon(icon());
    let options = eframe::NativeOptions {
        viewport,
        ..eframe::NativeOptions::default()
    };
    let create = move |creation: &eframe::CreationContext<'_>| {
        let mut app = App::new(recent::place());
        app.attach(&creation.egui_ctx);
        app.open_all(files);
        Ok(Box::new(app) as Box<dyn eframe::App>)
    };
    eframe::run_native("IsoScope", options, Box::new(create))
        .map_err(|error| no_window(&cause(&error.to_string())))
}

/// The last part of a chain of causes, without the source location that some libraries put before it.
fn cause(text: &str) -> String {
    let after_place = text.rsplit_once(".rs:").map_or(text, |(_, rest)| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':')
    });
    after_place.trim().to_owned()
}

/// Whether this system names a display to draw on; always true on systems without such names.
fn display_is_named() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(all(unix, not(target_os = "macos")))
        || set("DISPLAY")
        || set("WAYLAND_DISPLAY")
        || set("WAYLAND_SOCKET")
}

fn icon() -> egui::IconData {
    eframe::icon_data::from_png_bytes(include_bytes!("../../assets/icon.png")).unwrap_or_default()
}

/// The window's contents and the work behind them.
pub struct App {
    state: State,
    canvas: Canvas,
    dialogs: Dialogs,
    pool: Pool,
    wake: Wake,
    attached: bool,
    /// A text field had the keyboard at the end of the last frame.
    was_typing: bool,
    /// Questions that are being answered.
    tasks: Tasks,
    /// Fonts that the next frame adds.
    new_fonts: Vec<Face>,
    files: files::Files,
    /// The picture of the welcome page was asked for.
    asked_for_welcome: bool,
    wanted_listing: Option<listing::Wanted>,
    /// When the oldest message that something went well was first seen.
    good_since: Option<Instant>,
    lanes: panels::lanes::LanesView,
    live_lanes: panels::live::LiveView,
    settings: settings::Settings,
    pictures: VecDeque<Arc<Picture>>,
    recent_place: Option<PathBuf>,
}

impl App {
    /// The welcome page. The list of recent files is kept at `recent_place`, or not at all.
    pub fn new(recent_place: Option<PathBuf>) -> App {
        let recent = recent_place
            .as_deref()
            .map(recent::load)
            .unwrap_or_default();
        let settings = recent_place
            .as_deref()
            .map(settings::load)
            .unwrap_or_default();
        let form = Form::new(
            settings.collect.clone(),
            collecting::folder(recent_place.as_deref()),
        );
        let collect = Collecting {
            form,
            ..Collecting::default()
        };
        App {
            state: State {
                recent,
                collect,
                ..State::default()
            },
            canvas: Canvas::default(),
            dialogs: Dialogs::default(),
            pool: Pool::new(),
            wake: Arc::new(|| ()),
            attached: false,
            was_typing: false,
            tasks: Tasks::default(),
            new_fonts: Vec::new(),
            files: files::none(),
            asked_for_welcome: false,
            wanted_listing: None,
            good_since: None,
            lanes: panels::lanes::LanesView::default(),
            live_lanes: panels::live::LiveView::default(),
            settings,
            pictures: VecDeque::new(),
            recent_place,
        }
    }

    /// Sets fonts and colours of `ctx` and lets jobs wake it. Called by the first [`App::draw`] at the latest.
    pub fn attach(&mut self, ctx: &egui::Context) {
        if !self.attached {
            self.attached = true;
            style::install(ctx);
            // Sizes have bounds here, and are kept.
            ctx.options_mut(|options| {
                options.zoom_with_keyboard = false;
                options.input_options.scroll_zoom_speed = 1.0 / canvas::navigation::WHEEL;
            });
            self.apply_settings(ctx);
            let ctx = ctx.clone();
            self.wake = Arc::new(move || ctx.request_repaint());
            self.check_recent();
        }
    }

    /// What is shown.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Opens the first file; the others are offered as recent.
    pub fn open_all(&mut self, files: Vec<PathBuf>) {
        let mut files = files.into_iter();
        if let Some(path) = files.next() {
            self.look(paths::Request {
                path,
                others: files.collect(),
                ..paths::Request::default()
            });
        }
    }

    /// Draws one frame into `ui`, after taking in the results of jobs and before carrying out requests.
    pub fn draw(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        self.attach(&ctx);
        self.state.dark = ui.visuals().dark_mode;
        self.scale_text(&ctx);
        self.poll_tasks();
        if let Some(text) = self.state.copied.take() {
            ctx.copy_text(text);
        }
        if let Some(image) = self.state.copied_picture.take() {
            ctx.copy_image(image);
        }
        self.poll_files_written();
        self.prepare_list();
        self.prepare_welcome();
        self.prepare_preview();
        style::add_fonts(&ctx, std::mem::take(&mut self.new_fonts));
        self.forget_good_news(&ctx);
        self.poll_files(&ctx);
        self.go_on_playing(&ctx);
        let mut requests = Requests::new();
        self.poll_keys(&ctx, &mut requests);
        self.panels(ui, &mut requests);
        self.state.focus_filter = false;
        if let Some(palette) = &mut self.state.palette {
            palette.fresh = false;
        }
        if let Some(document) = &mut self.state.document {
            document.reveal = Reveal::default();
            document.marks.fresh = false;
            document.browser.scroll = false;
            if let Some(order) = &mut document.order {
                // What does not exist yet cannot be scrolled to.
                order.scroll &= order.replay.is_none();
            }
        }
        let changed = requests
            .iter()
            .any(|request| !matches!(request, command::Request::Focus(_)));
        let switches_theme = requests
            .iter()
            .any(|r| matches!(r, command::Request::Run(command::Command::SwitchTheme)));
        if changed {
            self.note_arrangement();
        }
        let hovered = self.handle_all(&ctx, requests);
        self.prepare_page();
        if changed {
            self.note_changes(ctx.text_edit_focused());
            let theme = switches_theme.then_some(if self.state.dark {
                egui::Theme::Light
            } else {
                egui::Theme::Dark
            });
            self.keep_settings(theme);
        }
        self.hover(&ctx, hovered);
        self.was_typing = ctx.text_edit_focused();
        end_tooltips(&ctx);
        if self.is_working() {
            ctx.request_repaint_after(PROGRESS_EVERY);
        }
    }

    /// Removes messages after a while, except problems.
    fn forget_good_news(&mut self, ctx: &egui::Context) {
        let any = self
            .state
            .banners
            .iter()
            .any(|banner| banner.tone != Tone::Problem);
        let since = *self.good_since.get_or_insert_with(Instant::now);
        if !any {
            self.good_since = None;
        } else if since.elapsed() >= GOOD_NEWS {
            self.state
                .banners
                .retain(|banner| banner.tone == Tone::Problem);
            self.good_since = None;
        } else {
            ctx.request_repaint_after(GOOD_NEWS - since.elapsed());
        }
    }

    fn poll_keys(&self, ctx: &egui::Context, requests: &mut Requests) {
        // A list or menu that is open takes Esc for itself.
        if self.dialogs.own_is_open() || egui::Popup::is_any_open(ctx) {
            return;
        }
        let typing = ctx.text_edit_focused();
        if let Some(at) = self.state.tour.filter(|_| !typing) {
            panels::tour::poll_keys(ctx, at, requests);
        }
        let over = self.state.help
            || self.state.open_log.is_some()
            || self.state.export.is_some()
            || self.state.lattice.open
            || self.state.palette.is_some();
        if !over && !typing {
            panels::levels::poll_keys(ctx);
            panels::lanes::poll_keys(ctx, &self.state, requests);
            poll_copy(ctx, requests);
        }
        let has_focus = ctx.memory(|memory| memory.focused().is_some());
        let focused = match (typing, has_focus) {
            (true, _) => Focused::Field,
            (false, true) => Focused::Widget,
            (false, false) => Focused::Nothing,
        };
        while let Some(command) = ctx.input_mut(|input| Command::pressed(input, focused)) {
            // What is typed after it in the same frame is for the field.
            if command == Command::FocusFilter {
                ctx.memory_mut(|memory| memory.request_focus(panels::anomalies::filter_id()));
                requests.push(command::Request::Run(command));
                break;
            }
            if !over
                || matches!(
                    command,
                    Command::Escape
                        | Command::Help
                        | Command::Quit
                        | Command::Palette
                        | Command::Lattice
                        | Command::CheckEveryLevel
                )
            {
                requests.push(command::Request::Run(command));
            }
        }
    }

    /// Waits for everything that is being written: the window is about to close.
    fn finish_writing(&mut self) {
        let started = Instant::now();
        while self.tasks.has(&EXPORT) && started.elapsed() < PATIENCE {
            self.poll_only(&EXPORT);
            std::thread::sleep(Duration::from_millis(2));
        }
        self.files.finish();
    }

    fn is_working(&self) -> bool {
        let state = &self.state;
        state
            .document
            .as_ref()
            .is_some_and(|document| document.is_busy() || document.drawing)
            || self.tasks.shows_progress()
            || self.files.is_busy()
            || self.dialogs.is_waiting()
    }

    fn hover(&mut self, ctx: &egui::Context, hovered: Option<Attention>) {
        if let Some(document) = &mut self.state.document
            && document.argument.hovered != hovered
        {
            document.argument.hovered = hovered;
            ctx.request_repaint();
        }
    }

    fn panels(&mut self, ui: &mut Ui, requests: &mut Requests) {
        let palette = Palette::of(ui);
        let bar = |fill, x, y| {
            Frame::new()
                .fill(fill)
                .inner_margin(Margin::symmetric(x, y))
        };
        let state = &self.state;
        let progress = self.tasks.progress(&load::LOAD);
        Panel::top("top bar")
            .exact_size(TITLE_ROW)
            .frame(bar(palette.bar, 12, 0))
            .show_separator_line(false)
            .show(ui, |ui| {
                panels::top_bar::top_bar_ui(ui, state, progress, requests);
            });
        self.body(ui, requests);
        self.overlays(ui, requests);
    }

    fn body(&mut self, ui: &mut Ui, requests: &mut Requests) {
        let palette = Palette::of(ui);
        let side = Frame::new()
            .fill(palette.panel)
            .inner_margin(Margin::same(style::MARGIN));
        let ground = Frame::new().fill(palette.ground);
        let state = &self.state;
        if state.cover == Some(Cover::Collect) {
            let waiting = self.dialogs.is_waiting();
            Panel::left("collect form")
                .default_size(360.0)
                .size_range(300.0..=480.0)
                .frame(side)
                .show(ui, |ui| {
                    panels::collect::form_ui(ui, &state.collect, waiting, requests);
                });
            let progress = self.tasks.progress(&collecting::COLLECT);
            egui::CentralPanel::default()
                .frame(side.fill(palette.ground))
                .show(ui, |ui| {
                    panels::collect::collect_ui(
                        ui,
                        &state.collect,
                        progress,
                        &mut self.live_lanes,
                        requests,
                    );
                });
            return;
        }
        if let Some(following) = state
            .following
            .as_ref()
            .filter(|_| state.cover == Some(Cover::Following))
        {
            Panel::left("following")
                .default_size(300.0)
                .size_range(240.0..=420.0)
                .frame(side)
                .show(ui, |ui| {
                    panels::following::state_ui(ui, following, requests);
                });
            egui::CentralPanel::default()
                .frame(side.fill(palette.ground))
                .show(ui, |ui| {
                    panels::following::following_ui(ui, following, &mut self.live_lanes, requests);
                });
            return;
        }
        if let Some(batch) = state.batch.as_ref().filter(|_| state.show_batch) {
            egui::CentralPanel::default().frame(side).show(ui, |ui| {
                panels::batch::batch_ui(ui, batch, state.focus_filter, requests)
            });
            return;
        }
        let Some(document) = &state.document else {
            egui::CentralPanel::default()
                .frame(ground)
                .show(ui, |ui| panels::welcome::welcome_ui(ui, state, requests));
            return;
        };
        if let Some(why) = document
            .unreadable
            .as_ref()
            .filter(|_| document.phase == state::Phase::Failed && state.page != Page::Health)
        {
            let frame = side
                .fill(palette.ground)
                .inner_margin(Margin::symmetric(40, 0));
            egui::CentralPanel::default().frame(frame).show(ui, |ui| {
                panels::unreadable::unreadable_ui(ui, state, why, requests);
            });
            return;
        }
        // In a narrow window the middle keeps its share.
        let width = ui.ctx().content_rect().width();
        let widest = |usual: f32, least: f32, share: f32| {
            if width < NARROW {
                least.max(width * share)
            } else {
                usual
            }
        };
        // In a wide one the sides get more, too.
        let usual = |least: f32, share: f32, most: f32| (width * share).clamp(least, most);
        Panel::left(side_panel(ui.ctx(), "anomalies"))
            .default_size(usual(240.0, 0.187, 400.0))
            .size_range(200.0..=widest(520.0, 200.0, 0.25))
            .frame(side)
            .show(ui, |ui| {
                panels::anomalies::anomalies_ui(ui, state, document, requests);
            });
        if state.page == Page::Health {
            Panel::right(side_panel(ui.ctx(), "rules panel"))
                .default_size(usual(340.0, 0.17, 440.0))
                .size_range(250.0..=widest(620.0, 250.0, 0.27))
                .frame(side)
                .show(ui, |ui| {
                    panels::rules::rules_ui(ui, document, requests);
                });
        } else if state.page.shows_argument(width >= NARROW) {
            Panel::right(side_panel(ui.ctx(), "argument"))
                .default_size(usual(290.0, 0.225, 460.0))
                .size_range(240.0..=widest(620.0, 240.0, 0.29))
                .frame(side)
                .show(ui, |ui| {
                    panels::argument::argument_ui(ui, state, document, requests);
                });
        }
        let header = Frame::new()
            .fill(palette.ground)
            .inner_margin(Margin::symmetric(14, 0));
        let canvas = &mut self.canvas;
        let lanes = &mut self.lanes;
        egui::CentralPanel::default().frame(ground).show(ui, |ui| {
            Panel::top("header")
                .exact_size(30.0)
                .frame(header)
                .show_separator_line(false)
                .show(ui, |ui| {
                    panels::graph::header_ui(ui, state, document, requests);
                });
            if let Some(run) = document
                .argument
                .run
                .as_ref()
                .filter(|_| state.page == Page::Graph)
            {
                Panel::bottom("show me").frame(side).show(ui, |ui| {
                    panels::replay::replay_ui(ui, document, run, requests)
                });
            } else if state.page == Page::Graph
                && !state.preferences.no_map
                && ui.available_height() >= MAP_FROM
            {
                map_ui(ui, document, side, requests);
            }
            let inner = if state.page.is_drawing() {
                Margin::ZERO
            } else {
                Margin::same(style::MARGIN)
            };
            let frame = Frame::new()
                .fill(palette.ground)
                .inner_margin(inner)
                .stroke(Stroke::NONE);
            let shown = pages::PageContent {
                state,
                document,
                canvas,
                lanes,
            };
            egui::CentralPanel::default()
                .frame(frame)
                .show(ui, |ui| pages::page_ui(ui, shown, requests));
        });
    }

    fn overlays(&mut self, ui: &mut Ui, requests: &mut Requests) {
        panels::banners::banners_ui(ui, &self.state, requests);
        if let Some(document) = self
            .state
            .document
            .as_ref()
            .filter(|_| self.state.lattice.open)
        {
            panels::lattice::lattice_ui(ui, document, &self.state.lattice, requests);
        }
        if self.state.help {
            panels::help::help_ui(ui, requests);
        }
        panels::marks::editor_ui(ui, &self.state, requests);
        if let Some(at) = self.state.tour {
            panels::tour::tour_ui(ui, at, requests);
        }
        if let Some(palette) = &self.state.palette {
            panels::palette::palette_ui(ui, palette, requests);
        }
        let waiting = self.dialogs.is_waiting();
        if let Some(form) = &mut self.state.open_log {
            panels::open_log::open_log_ui(ui, form, requests);
        }
        if let Some(form) = &mut self.state.export
            && !self.dialogs.own_is_open()
        {
            panels::export_form::export_ui(
                ui,
                form,
                self.state.document.as_ref(),
                waiting,
                requests,
            );
        } else if waiting {
            panels::export_form::waiting_ui(ui, requests);
        }
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.finish_writing();
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.draw(ui);
    }

    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        self.finish_writing();
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}

/// The name under which the width of a side panel is kept: another one where text is larger or the window narrow, so that a
/// width that had to shrink comes back.
pub(crate) fn side_panel(ctx: &egui::Context, name: &str) -> egui::Id {
    let size = (ctx.zoom_factor() * 100.0).round() as u32;
    egui::Id::new((name, size, ctx.content_rect().width() < NARROW))
}

/// What copies text copies the picture where no text is selected: egui gives no key for it.
fn poll_copy(ctx: &egui::Context, requests: &mut Requests) {
    let is_asked = ctx.input(|input| input.events.contains(&egui::Event::Copy));
    let selection = ctx.plugin::<egui::text_selection::LabelSelectionState>();
    if is_asked && !selection.lock().has_selection() {
        requests.push(command::Request::Run(Command::CopyPicture));
    }
}

/// The map of the history below the graph: pulled up, it becomes the timeline.
fn map_ui(ui: &mut Ui, document: &state::Document, frame: Frame, requests: &mut Requests) {
    let (high, from, low) = MAP;
    let is_high = ui.ctx().content_rect().height() >= from;
    let height = if is_high { high } else { low };
    let id = egui::Id::new(("map", is_high));
    let shown = Panel::bottom(id)
        .resizable(true)
        .default_size(height)
        .size_range(height..=height + 2.0 * PULLED)
        .frame(frame.inner_margin(Margin::symmetric(style::MARGIN, 4)))
        .show(ui, |ui| panels::minimap::where_ui(ui, document, requests));
    let pulled = shown.response.rect.height() - height;
    if pulled > 8.0 && ui.input(|input| input.pointer.any_released()) {
        if pulled >= PULLED {
            requests.push(command::Request::Run(Command::Show(Page::Lanes)));
        }
        ui.ctx()
            .data_mut(|data| data.remove::<egui::containers::panel::PanelState>(id));
    }
}

/// Draws once more when a dialog has opened: in its first frame, tooltips of what is below it are still shown.
fn end_tooltips(ctx: &egui::Context) {
    let (now, id) = (
        ctx.memory(|memory| memory.top_modal_layer()),
        egui::Id::new("dialog of the last frame"),
    );
    let last: Option<egui::LayerId> = ctx.data(|data| data.get_temp(id)).flatten();
    if now != last {
        ctx.data_mut(|data| data.insert_temp(id, now));
        ctx.request_repaint();
    }
}

#[cfg(test)]
mod tests {
    use super::cause;

    #[test]
    fn causes_do_not_name_source_files() {
        let text = "winit EventLoopError: os error at /a/b/linux/mod.rs:788: Failed to open connection to X server";
        assert_eq!(cause(text), "Failed to open connection to X server");
        assert_eq!(
            cause("no config matching the template"),
            "no config matching the template"
        );
    }
}
