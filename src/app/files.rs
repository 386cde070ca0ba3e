//! Writing files off the frame, one after another, each whole or not at all.

use super::App;
use super::vocabulary::{Banner, Tone};
use crate::export::chart::{self, Chart};
use crate::files;
use crate::jobs::Queue;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result of writing a file, for the user. Some files have no message.
pub type Said = Option<Banner>;

/// The queue of files to write.
pub type Files = Queue<Said>;

/// An empty queue.
pub fn none() -> Files {
    Queue::new("files")
}

/// Writes a file, whole or not at all ([`files::write_file`]). The folder must exist. Errors: one line that names the file.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), String> {
    files::write_file(path, |file| Ok::<(), anyhow::Error>(file.write_all(bytes)?))
        .map_err(|error| error.to_string())
}

impl App {
    /// Writes a file and reports `done` when it is written, or what went wrong.
    pub(super) fn write_file(&mut self, path: PathBuf, text: String, done: &str) {
        let done = format!("{done}: {}", path.display());
        self.files.push(Arc::clone(&self.wake), move || {
            match write_whole(&path, text.as_bytes()) {
                Ok(()) => Some(Banner {
                    text: done,
                    tone: Tone::Done,
                }),
                Err(error) => Some(Banner {
                    text: error,
                    tone: Tone::Problem,
                }),
            }
        });
    }

    /// Writes a chart next to the open history, or where the Collect page records to.
    pub(super) fn save_chart(&mut self, chart: &Chart) {
        let words = chart.title.to_lowercase();
        let words: Vec<&str> = words
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let name = format!("{}.svg", words.join("-"));
        let path = match self
            .state
            .document
            .as_ref()
            .filter(|_| !self.state.is_covered())
        {
            Some(document) => document.file_beside(&name),
            None => {
                let recorded = self.state.collect.form.file().unwrap_or_default();
                recorded
                    .parent()
                    .map(Path::to_owned)
                    .unwrap_or_default()
                    .join(format!("collect-{name}"))
            }
        };
        self.write_file(path, chart::svg(std::slice::from_ref(chart)), "Written");
    }

    /// Writes a file for convenience, in a folder that is created if needed. Failing to write it does not matter.
    pub(super) fn write_quietly(&mut self, path: PathBuf, text: String) {
        self.files.push(Arc::clone(&self.wake), move || {
            let made = path.parent().map(std::fs::create_dir_all);
            drop(made.map(|_| write_whole(&path, text.as_bytes())));
            None
        });
    }

    /// Says how files went.
    pub(super) fn poll_files_written(&mut self) {
        for said in self.files.poll() {
            match said {
                Ok(Some(banner)) => self.state.tell(banner.tone, banner.text),
                Ok(None) => {}
                Err(text) => self.state.tell(
                    Tone::Problem,
                    format!("A file could not be written: {text}"),
                ),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_be_written_is_there_when_the_window_is_gone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("new").join("settings.json");
        let mut app = App::new(None);
        for n in 0..30 {
            app.write_quietly(path.clone(), format!("{n}"));
        }
        drop(app);
        let text = std::fs::read_to_string(&path).expect("it was written");
        assert_eq!(text, "29", "the last one wins");
        let n = std::fs::read_dir(path.parent().expect("it has a folder"))
            .expect("it is a folder")
            .count();
        assert_eq!(n, 1, "nothing half-written is left");
    }

    #[test]
    fn what_cannot_be_written_is_said() {
        let mut app = App::new(None);
        app.write_file(
            PathBuf::from("/no/such/folder/x.csv"),
            String::new(),
            "Written",
        );
        app.files.finish();
        app.poll_files_written();
        assert!(
            app.state.banners[0].tone == Tone::Problem
                && app.state.banners[0].text.contains("x.csv"),
            "{:?}",
            app.state.banners
        );
    }
}
