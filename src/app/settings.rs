//! What the window stores between starts: theme, layout and the like. A small JSON file.

use super::App;
use super::arrangement::{layout_of, layout_word};
use super::collecting::COLLECT;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the user prefers of how things are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// Size of text and controls, in percent of the usual one; 0 is the usual one.
    pub text_size: u16,
    /// Lanes use true time, without shortening idle stretches.
    pub true_time: bool,
    /// The map below the graph is hidden.
    pub no_map: bool,
    /// The command that opens the log of a server at a moment.
    pub open_log: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// `dark` or `light`; the system's choice if neither.
    pub theme: String,
    /// `sessions` or `layers`.
    pub layout: String,
    /// What the user prefers.
    #[serde(flatten)]
    pub preferences: Preferences,
    /// The fields of the Collect page when something was last run, without passwords.
    pub collect: BTreeMap<String, String>,
}

/// The settings file, next to the list of recent files.
fn place(recent: &Path) -> PathBuf {
    recent.with_file_name("settings.json")
}

/// Reads the settings; the defaults if there is no such file or it is damaged. Called before the first frame, which
/// needs them.
pub fn load(recent: &Path) -> Settings {
    let text = std::fs::read_to_string(place(recent)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

impl App {
    /// Restores the window as it was left.
    pub(super) fn apply_settings(&mut self, ctx: &egui::Context) {
        let settings = self.settings.clone();
        match settings.theme.as_str() {
            "dark" => ctx.set_theme(egui::Theme::Dark),
            "light" => ctx.set_theme(egui::Theme::Light),
            _ => {}
        }
        self.state.layout = layout_of(&settings.layout);
        self.state.preferences = settings.preferences;
    }

    /// Saves the settings if they have changed.
    pub(super) fn keep_settings(&mut self, theme: Option<egui::Theme>) {
        let theme = theme.map_or_else(
            || self.settings.theme.clone(),
            |theme| match theme {
                egui::Theme::Dark => "dark".to_owned(),
                egui::Theme::Light => "light".to_owned(),
            },
        );
        let now = Settings {
            theme,
            layout: layout_word(self.state.layout).to_owned(),
            preferences: self.state.preferences.clone(),
            // What is being typed is not saved, only what was used.
            collect: if self.tasks.has(&COLLECT) {
                self.state.collect.form.kept()
            } else {
                self.settings.collect.clone()
            },
        };
        if now == self.settings {
            return;
        }
        self.settings = now;
        if let (Some(recent), Ok(text)) = (
            &self.recent_place,
            serde_json::to_string_pretty(&self.settings),
        ) {
            self.write_quietly(place(recent), text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_is_a_first_start() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let recent = folder.path().join("recent.txt");
        assert_eq!(load(&recent), Settings::default());
        std::fs::write(place(&recent), "{oops").expect("the folder is writable");
        assert_eq!(load(&recent), Settings::default());
        std::fs::write(place(&recent), "{\"theme\": \"light\"}").expect("the folder is writable");
        assert_eq!(load(&recent).theme, "light");
    }
}
