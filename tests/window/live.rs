//! A file that grows while it is open: followed, not read again, with its last transactions as lanes and what is found
//! drawn at once.
#![cfg(feature = "window")]

use crate::window;

use egui_kittest::kittest::Queryable as _;
use isoscope::app::command::Command;
use isoscope::app::following::Following;
use isoscope::app::state::{Phase, Source};
use isoscope::checkers::Level;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use window::{
    CLEAN, FRACTURED, PATIENCE, Window, document, opened, press, says, themes, wait, write,
};

/// Another update of what [`CLEAN`] left, without anything wrong.
const MORE: &str = "a: [r x 2, w x 3]\nb: [r x 3]\nc: [r x 3, w x 4]\n";

/// Both read version 4 and replace it.
const LOST: &str = "a: [r x 4, w x 5]\nb: [r x 4, w x 6]\n";

fn append(folder: &Path, text: &str) {
    let mut file = std::fs::File::options()
        .append(true)
        .open(folder.join("history.txt"))
        .expect("it is there");
    file.write_all(text.as_bytes()).expect("it can be written");
}

fn run(window: &mut Window, command: Command) {
    let keys = command.row().keys[0];
    window.key_press_modifiers(keys.modifiers, keys.logical_key);
    window.run_steps(4);
}

fn following(window: &Window) -> Option<&Following> {
    window.state().state().following.as_ref()
}

fn arrived(window: &Window) -> u64 {
    following(window)
        .and_then(|following| following.live.newest())
        .map_or(0, |newest| newest.status.arrived)
}

/// A window with the page of a file that has grown.
fn grown(theme: egui::Theme) -> (Window, tempfile::TempDir) {
    let (mut window, folder) = opened(CLEAN, theme);
    append(folder.path(), MORE);
    wait(&mut window, "the follower", |window| arrived(window) == 6);
    (window, folder)
}

#[test]
fn a_file_that_grows_is_followed_and_not_read_again() {
    for theme in themes() {
        let (mut window, folder) = grown(theme);
        assert!(says(&window, "Following this file"));
        let history = document(&window).history.clone().expect("it was read");
        run(&mut window, Command::Follow);
        assert!(
            says(&window, "The last 6 of 6")
                && says(&window, "Lane bar c1")
                && says(&window, "satisfied")
        );
        append(folder.path(), "c: [r x 4]\n");
        wait(&mut window, "what is appended", |window| {
            says(window, "Lane bar c2")
        });
        // Longer than it takes to notice that a file no longer changes.
        let start = std::time::Instant::now();
        wait(&mut window, "some seconds", |_| {
            start.elapsed().as_secs_f32() > 2.5
        });
        let now = document(&window)
            .history
            .as_ref()
            .expect("it is still there");
        assert!(Arc::ptr_eq(&history, now), "it was not read again");
        run(&mut window, Command::Follow);
        assert!(
            !says(&window, "Lane bar c2")
                && following(&window).is_some_and(|following| following.goes_on)
        );
    }
}

#[test]
fn lanes_are_paused_while_the_file_grows_on() {
    for theme in themes() {
        let (mut window, folder) = grown(theme);
        run(&mut window, Command::Follow);
        press(&mut window, egui::Key::Space);
        assert!(says(&window, "Paused, 0 newer"));
        append(folder.path(), "a: [r x 4]\nb: [r x 4]\n");
        wait(&mut window, "what is newer", |window| {
            says(window, "Paused, 2 newer")
        });
        assert!(
            !says(&window, "Lane bar b3") && says(&window, "Lane bar c1"),
            "the lanes stay as they were"
        );
        window.get_by_label("Pause").click();
        window.run_steps(4);
        assert!(says(&window, "The last 8 of 8") && says(&window, "Lane bar b3"));
    }
}

#[test]
fn the_first_anomaly_is_drawn_while_the_file_grows_on() {
    for theme in themes() {
        let (mut window, folder) = grown(theme);
        run(&mut window, Command::Follow);
        append(folder.path(), LOST);
        wait(&mut window, "the anomaly", |window| {
            says(window, "Draw SI, SER violated")
        });
        assert!(says(&window, "Line 7: ") && says(&window, "Followed: SI violated"));
        run(&mut window, Command::OpenFound);
        wait(&mut window, "its picture", |window| {
            document(window).phase == Phase::Done && document(window).current_picture().is_some()
        });
        assert!(
            matches!(document(&window).source, Source::Part(_))
                && !window.state().state().is_covered()
        );
        let picture = document(&window).current_picture().expect("it is drawn");
        let violated = picture.argument.counterexample.level;
        assert_eq!(violated, Level::SnapshotIsolation);
        wait(&mut window, "its lines", |window| {
            document(window)
                .raw
                .lines
                .iter()
                .any(|(_, number, text)| *number == 7 && text.contains("r x 4, w x 6"))
        });
        let before = arrived(&window);
        append(folder.path(), "c: [r x 4]\n");
        wait(&mut window, "more of the file", |window| {
            arrived(window) > before
        });
        run(&mut window, Command::Follow);
        assert!(says(&window, "The last 9 of 9"));
    }
}

#[test]
fn a_file_that_is_replaced_is_read_again_and_no_longer_followed() {
    let (mut window, folder) = grown(egui::Theme::Dark);
    write(folder.path(), "history.txt", FRACTURED);
    wait(&mut window, "the change", |window| {
        says(window, "The file has changed") && document(window).phase == Phase::Done
    });
    assert!(document(&window).selected.is_some() && following(&window).is_none());
}

#[test]
fn following_is_stopped_and_what_is_known_stays() {
    let (mut window, folder) = grown(egui::Theme::Light);
    run(&mut window, Command::Follow);
    window.get_by_label("Stop following").click();
    window.run_steps(4);
    assert!(says(&window, "No longer followed") && says(&window, "The last 6 of 6"));
    append(folder.path(), LOST);
    let start = std::time::Instant::now();
    wait(&mut window, "some time", |_| {
        start.elapsed().as_secs_f32() > 1.0
    });
    assert_eq!(arrived(&window), 6);
    press(&mut window, egui::Key::Escape);
    assert!(!window.state().state().is_covered());
    // It is followed again from its beginning.
    run(&mut window, Command::Follow);
    wait(&mut window, "the rest", |window| arrived(window) == 8);
    assert!(start.elapsed() < PATIENCE);
}

#[test]
fn nothing_is_drawn_while_nothing_comes() {
    let (mut window, _folder) = grown(egui::Theme::Dark);
    run(&mut window, Command::Follow);
    let newest =
        |window: &Window| following(window).and_then(|following| following.live.newest().cloned());
    let start = std::time::Instant::now();
    // The speed falls to zero first.
    wait(&mut window, "rest", |_| start.elapsed().as_secs_f32() > 3.0);
    let before = newest(&window).expect("there is one");
    assert_eq!(before.per_second, 0.0);
    wait(&mut window, "more rest", |_| {
        start.elapsed().as_secs_f32() > 5.0
    });
    assert!(
        Arc::ptr_eq(&before, &newest(&window).expect("there is one")),
        "no snapshot was sent"
    );
}
