//! Ten tasks of a user, by keyboard alone and by mouse alone: how many actions each takes.
//!
//! An action is a key or a combination of keys, a word typed, a click, or a drop of files.
#![cfg(feature = "window")]

use crate::window;

use egui_kittest::kittest::Queryable as _;
use isoscope::app::state::Page;
use isoscope::app::vocabulary::Attention;
use std::sync::Arc;
use window::{CLEAN, Window, document, says, wait, window, write};

const CONTROL: egui::Modifiers = egui::Modifiers::COMMAND;
const SHIFT: egui::Modifiers = egui::Modifiers::SHIFT;
const NONE: egui::Modifiers = egui::Modifiers::NONE;

/// A user who counts what is done.
struct User {
    window: Window,
    folder: tempfile::TempDir,
    actions: usize,
}

impl User {
    /// With this history open.
    fn with(text: &str) -> User {
        let mut user = User {
            window: window(egui::Theme::Dark),
            folder: tempfile::tempdir().expect("a folder"),
            actions: 0,
        };
        user.window.run_steps(2);
        user.drop(&[("history.txt", text)]);
        user.settle();
        user.actions = 0;
        user
    }

    fn drop(&mut self, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = write(self.folder.path(), name, text);
            self.window
                .input_mut()
                .dropped_files
                .push(Arc::new(window::Dropped(path)));
        }
        self.actions += 1;
        self.window.run_steps(3);
    }

    fn settle(&mut self) {
        wait(&mut self.window, "the check", window::is_settled);
    }

    fn key(&mut self, modifiers: egui::Modifiers, key: egui::Key) {
        self.actions += 1;
        self.window.key_press_modifiers(modifiers, key);
        self.window.run_steps(4);
    }

    fn type_text(&mut self, text: &str) {
        self.actions += 1;
        self.window.event(egui::Event::Text(text.to_owned()));
        self.window.run_steps(4);
    }

    /// Clicks what a screen reader calls this, at its middle.
    fn click(&mut self, label: &str) {
        let at = self.window.get_by_label(label).rect().center();
        self.actions += 1;
        window::click(&mut self.window, at);
    }

    fn click_role(&mut self, role: egui::accesskit::Role, label: &str) {
        let at = self.window.get_by_role_and_label(role, label).rect();
        self.actions += 1;
        window::click(&mut self.window, at.center());
    }

    fn click_containing(&mut self, part: &str) {
        let at = self
            .window
            .get_all_by_label_contains(part)
            .next()
            .expect("it is in sight")
            .rect()
            .center();
        self.actions += 1;
        window::click(&mut self.window, at);
    }

    /// How many actions the task took, before the next one.
    fn took(&mut self) -> usize {
        std::mem::take(&mut self.actions)
    }

    fn pattern(&self) -> String {
        document(&self.window)
            .selected
            .expect("an anomaly is selected")
            .pattern
            .to_string()
    }
}

/// A fractured read with an intermediate read next to it, and a value that no transaction wrote.
const THREE: &str = "a: [w x 1, w z 1] [w x 2, w y 1]\nb: [r y 1, r x 1] [r z 1]\nc: [r q 7]\n";

/// Two fractured reads, of four and of three transactions.
const SIZES: &str = "a: [w p 1] [w p 2, w q 1]\nb: [r q 1, w s 1]\nc: [r s 1, r p 1]\nd: [w x 1] [w x 2, w y 1]\ne: [r y 1, r x 1]\n";

#[test]
fn a_file_is_opened_and_its_smallest_anomaly_is_seen() {
    let mut user = User::with(THREE);
    user.drop(&[("other.txt", SIZES)]);
    user.settle();
    assert_eq!(user.took(), 1);
    // Of two of one class, the smaller one: three transactions, not four.
    assert!(
        document(&user.window).current_picture().is_some(),
        "it is drawn"
    );
    let smallest = document(&user.window)
        .catalogue
        .as_ref()
        .and_then(|catalogue| {
            catalogue
                .findings
                .violations
                .iter()
                .map(|violation| (violation.transactions.len(), violation.id))
                .min()
        });
    assert_eq!(document(&user.window).selected, smallest.map(|(_, id)| id));
}

#[test]
fn the_next_class_is_one_key_or_one_click_away() {
    let mut user = User::with(THREE);
    let first = user.pattern();
    user.key(SHIFT, egui::Key::N);
    assert_eq!(user.took(), 1);
    let second = user.pattern();
    assert_ne!(first, second);
    user.key(SHIFT, egui::Key::P);
    user.took();
    assert_eq!(user.pattern(), first);
    user.click_containing("A value was read that no transaction had written");
    assert_eq!(user.took(), 1);
    assert_ne!(user.pattern(), first);
}

#[test]
fn a_transaction_is_found_in_three() {
    for by_key in [true, false] {
        let mut user = User::with(THREE);
        if by_key {
            user.key(CONTROL, egui::Key::P);
            user.type_text("b2");
            wait(&mut user.window, "what is found", |window| {
                says(window, "Do b2")
            });
            user.key(NONE, egui::Key::Enter);
        } else {
            user.click("Page History");
            user.click_containing("b 2");
            user.click_containing("b2 1 operation");
        }
        assert_eq!(user.took(), 3);
        let history = document(&user.window).history.clone().expect("it is read");
        let found = document(&user.window)
            .browser
            .transaction
            .map(|t| history.transaction_name(t));
        assert_eq!(found.as_deref(), Some("b2"));
    }
}

#[test]
fn an_edge_says_why_it_is_there() {
    for by_key in [true, false] {
        let mut user = User::with("a: [w x 1, w y 1]\nb: [r x 1] [r y 0]\n");
        if by_key {
            user.key(NONE, egui::Key::J)
        } else {
            user.click_containing("Edge WR")
        }
        assert_eq!(user.took(), 1);
        let pinned = document(&user.window).argument.pinned;
        assert!(
            matches!(pinned, Some(Attention::Step(_) | Attention::Edge(_))),
            "{pinned:?}"
        );
        assert!(
            says(&user.window, "reads") || says(&user.window, "read"),
            "the answer"
        );
    }
}

#[test]
fn a_file_takes_two_keys_or_three_clicks_and_a_report_one() {
    for by_key in [true, false] {
        let mut user = User::with(THREE);
        if by_key {
            user.key(CONTROL, egui::Key::E)
        } else {
            user.click("Share");
            user.click("Export…")
        }
        if by_key {
            user.key(NONE, egui::Key::Enter)
        } else {
            user.click("Export")
        }
        assert_eq!(user.took(), if by_key { 2 } else { 3 });
        let folder = user.folder.path().to_owned();
        let has = |ending: &str| {
            let mut names = std::fs::read_dir(&folder)
                .expect("it is there")
                .flatten()
                .map(|e| e.file_name());
            names.any(|name| name.to_string_lossy().ends_with(ending))
        };
        wait(&mut user.window, "the picture", |_| has(".svg"));
        if by_key {
            user.key(CONTROL.plus(SHIFT), egui::Key::E)
        } else {
            user.click("Report")
        }
        assert_eq!(user.took(), 1);
        wait(&mut user.window, "the report", |_| has("-report"));
    }
}

#[test]
fn two_histories_are_compared_by_one_drop() {
    let mut user = User::with(CLEAN);
    user.drop(&[("before.txt", THREE), ("after.txt", CLEAN)]);
    assert_eq!(user.took(), 1);
    wait(&mut user.window, "the comparison", |window| {
        says(window, "before.txt") && says(window, "after.txt")
    });
}

#[test]
fn two_histories_are_compared_by_three_keys() {
    let mut user = User::with(CLEAN);
    user.drop(&[("other.txt", THREE)]);
    user.settle();
    user.took();
    user.key(CONTROL, egui::Key::P);
    user.type_text("compare with history");
    user.key(NONE, egui::Key::Enter);
    assert_eq!(user.took(), 3);
    wait(&mut user.window, "the comparison", |window| {
        says(window, "other.txt") && says(window, "history.txt")
    });
    assert!(says(&user.window, "Compared"));
}

#[test]
fn a_transaction_is_marked_and_found_again_in_three() {
    for by_key in [true, false] {
        let mut user = User::with(THREE);
        if by_key {
            user.window.key_press(egui::Key::J);
            user.window.run_steps(4);
            user.key(SHIFT, egui::Key::M);
            user.key(NONE, egui::Key::Escape);
            user.key(SHIFT, egui::Key::J);
        } else {
            user.click("Page History");
            user.click("Mark");
            let name = document(&user.window)
                .history
                .as_ref()
                .map(|h| h.transaction_name(isoscope::history::TransactionId::new(0)));
            // The mark, not the heading of the operations.
            let name = name.expect("it is read");
            user.click_role(egui::accesskit::Role::Button, &name);
        }
        assert_eq!(user.took(), 3);
        assert_eq!(
            (
                user.window.state().state().page,
                document(&user.window).marks.at
            ),
            (Page::Browser, Some(0))
        );
    }
}

#[test]
fn why_a_level_holds_is_one_away() {
    for by_key in [true, false] {
        let mut user = User::with(CLEAN);
        // A clean history opens on its order; from elsewhere it is one away, too.
        user.window.key_press(egui::Key::Num8);
        user.window.run_steps(4);
        if by_key {
            user.key(NONE, egui::Key::Num7)
        } else {
            user.click("Level SER: satisfied")
        }
        assert_eq!(
            (user.took(), user.window.state().state().page),
            (1, Page::Order)
        );
        wait(&mut user.window, "the order", |window| {
            says(window, "Independently verified")
        });
    }
}

#[test]
fn the_place_of_an_anomaly_is_one_away() {
    for by_key in [true, false] {
        let mut user = User::with(THREE);
        if by_key {
            user.key(SHIFT, egui::Key::H)
        } else {
            user.click("Where in the history")
        }
        assert_eq!(
            (user.took(), user.window.state().state().page),
            (1, Page::Browser)
        );
        assert!(document(&user.window).browser.transaction.is_some());
    }
}
