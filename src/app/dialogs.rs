//! File dialogs: the system's if there is one, else one drawn by this program.
//!
//! A system dialog may never answer (its portal may die while it is open), so nothing waits for it: the answer comes
//! over a channel, and late answers are recognized by their number. `None` within half a second means that there is no
//! dialog on this system; then our own opens.

use super::dialog_look;
use crate::export::ExportKind;
use crate::jobs::{Job, Revision, Wake};
use egui_file_dialog::{DialogState, FileDialog, OpeningMode};
use rfd::FileHandle;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

/// A `None` faster than anyone can press Cancel.
const NO_DIALOG: Duration = Duration::from_millis(500);

/// Why a path is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A history to open.
    Open,
    /// A history to compare the open one with.
    CompareWith,
    OpenFolder,
    /// Where to write an export.
    Export(ExportKind),
    /// Where to record a history.
    Record,
}

impl Purpose {
    /// The title of its dialog.
    fn title(self) -> &'static str {
        match self {
            Purpose::Open => "Open a history",
            Purpose::CompareWith => "Compare with a history",
            Purpose::OpenFolder => "Open a folder of histories",
            Purpose::Export(_) => "Export to",
            Purpose::Record => "Record to",
        }
    }
}

/// The dialogs of the window.
pub struct Dialogs {
    revision: Revision,
    pending: Option<(Purpose, Job<Option<PathBuf>>)>,
    /// The folder and the name that the last dialog was opened with.
    suggestion: PathBuf,
    own: FileDialog,
    about: dialog_look::About,
    own_purpose: Option<Purpose>,
}

impl Default for Dialogs {
    fn default() -> Dialogs {
        let (revision, suggestion) = (Revision::default(), PathBuf::new());
        Dialogs {
            revision,
            pending: None,
            suggestion,
            own: dialog_look::dialog(),
            about: dialog_look::About::default(),
            own_purpose: None,
        }
    }
}

impl Dialogs {
    /// Opens the system's dialog; a second call leaves the first one unanswered.
    pub fn ask(&mut self, purpose: Purpose, suggestion: &Path, wake: Wake) {
        // The future is created here, on the thread of the window, as some systems require.
        let dialog = rfd::AsyncFileDialog::new();
        let mut name = suggestion
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let dialog = match suggestion
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            Some(folder) => dialog.set_directory(folder),
            None => dialog,
        };
        let number = self.revision.advance();
        let dialog = dialog.set_title(purpose.title());
        let answer: Pin<Box<dyn Future<Output = Option<FileHandle>> + Send>> = match purpose {
            Purpose::Open | Purpose::CompareWith => Box::pin(dialog.pick_file()),
            Purpose::OpenFolder => Box::pin(dialog.pick_folder()),
            Purpose::Record => Box::pin(dialog.set_file_name(name).save_file()),
            Purpose::Export(kind) => {
                if name.is_empty() {
                    name = format!("anomaly.{}", kind.extension());
                }
                Box::pin(dialog.set_file_name(name).save_file())
            }
        };
        let job = Job::start("dialog", number, wake, move |_, outbox| {
            outbox.send(pollster::block_on(answer).map(|file| file.path().to_owned()));
        });
        self.pending = Some((purpose, job));
        self.suggestion = suggestion.to_owned();
    }

    /// Whether a system dialog has not answered yet.
    pub fn is_waiting(&self) -> bool {
        self.pending.is_some()
    }

    /// Whether our own dialog is open.
    pub fn own_is_open(&self) -> bool {
        self.own_purpose.is_some()
    }

    /// Opens our own dialog instead of waiting any longer.
    pub fn use_own(&mut self) {
        if let Some((purpose, _)) = self.pending.take() {
            self.open_own(purpose);
        }
    }

    fn open_own(&mut self, purpose: Purpose) {
        self.own_purpose = Some(purpose);
        let config = self.own.config_mut();
        config.title = Some(purpose.title().to_owned());
        config.opening_mode = OpeningMode::LastPickedDir;
        if let Some(folder) = self.suggestion.parent().filter(|folder| folder.is_dir()) {
            config.initial_directory = folder.to_owned();
            config.opening_mode = OpeningMode::AlwaysInitialDir;
        }
        if let Some(name) = self.suggestion.file_name() {
            config.default_file_name = name.to_string_lossy().into_owned();
        }
        match purpose {
            Purpose::Open | Purpose::CompareWith => self.own.pick_file(),
            Purpose::OpenFolder => self.own.pick_directory(),
            Purpose::Export(_) | Purpose::Record => self.own.save_file(),
        }
    }

    /// Draws our own dialog if it is open, and returns a path that was selected in this frame.
    pub fn update(&mut self, ctx: &egui::Context) -> Option<(Purpose, PathBuf)> {
        if let Some(answer) = self.system_answer() {
            return Some(answer);
        }
        let purpose = self.own_purpose?;
        let opens = matches!(purpose, Purpose::Open | Purpose::CompareWith);
        if let Some(path) = dialog_look::searched(&self.own, ctx).filter(|_| opens) {
            self.own_purpose = None;
            return Some((purpose, path));
        }
        dialog_look::update(&mut self.own, &mut self.about, ctx);
        let path = self.own.take_picked();
        if path.is_some() || !matches!(self.own.state(), DialogState::Open) {
            self.own_purpose = None;
        }
        path.map(|path| (purpose, path))
    }

    fn system_answer(&mut self) -> Option<(Purpose, PathBuf)> {
        let (purpose, job) = self.pending.as_mut()?;
        let purpose = *purpose;
        let answer = job.poll().into_iter().next();
        if answer.is_none() && job.is_running() {
            return None;
        }
        let at_once = job.elapsed() < NO_DIALOG;
        self.pending = None;
        match answer {
            Some(Some(path)) => return Some((purpose, path)),
            Some(None) if !at_once => {}
            Some(None) | None => self.open_own(purpose),
        }
        None
    }
}
