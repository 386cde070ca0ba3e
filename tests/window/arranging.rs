//! What the user arranges around a history: grouping, notes, what is drawn, what-if, projects, links, folders.
#![cfg(feature = "window")]

use crate::window;

use egui_kittest::kittest::{NodeT as _, Queryable as _};
use isoscope::app::App;
use isoscope::app::grouping::GroupBy;
use isoscope::app::state::{Page, Phase};
use isoscope::checkers::{Level, Verdict};
use std::path::{Path, PathBuf};
use window::{
    CLEAN, FRACTURED, Window, choose, click, document, open, opened, press, says, themes, wait,
    window, write,
};

/// The menu of the list.
const LIST: &str = "How the list is grouped";

/// A fractured read, and a value that no transaction wrote.
const TWO: &str = "a: [w x 1, w z 1] [w x 2, w y 1]\nb: [r y 1, r x 1] [r z 1]\nc: [r q 7]\n";

fn command(window: &mut Window, key: egui::Key) {
    window.key_press_modifiers(egui::Modifiers::COMMAND, key);
    window.run_steps(4);
}

fn filter(window: &mut Window, text: &str) {
    command(window, egui::Key::F);
    window.get_by_label("Filter anomalies").type_text(text);
    window.run_steps(3);
    // The first anomaly that is left is drawn, unless it already was.
    wait(window, "the picture", |window| !document(window).drawing);
}

#[test]
fn anomalies_are_grouped_by_cause_component_key_and_session() {
    for theme in themes() {
        let (mut window, _folder) = opened(TWO, theme);
        let n = document(&window).tree.order().len();
        for by in [
            GroupBy::Pattern,
            GroupBy::Component,
            GroupBy::Key,
            GroupBy::Session,
        ] {
            choose(&mut window, LIST, &format!("Group by {}", by.word()));
            assert_eq!(
                (
                    document(&window).tree.by(),
                    document(&window).tree.order().len()
                ),
                (by, n)
            );
        }
        assert!(says(&window, "sessions a, b") && says(&window, "session c"));
        press(&mut window, egui::Key::G);
        assert_eq!(
            document(&window).tree.by(),
            GroupBy::Cause,
            "around the end"
        );
    }
}

#[test]
fn every_counted_instance_can_be_listed_and_found() {
    let text = include_str!("../../sample_histories/web-shop.txt");
    let pattern = isoscope::checkers::Pattern::ConflictCM;
    let listed = |window: &Window| {
        let findings = &document(window)
            .catalogue
            .as_ref()
            .expect("checked")
            .findings;
        (
            findings
                .violations
                .iter()
                .filter(|v| v.id.pattern == pattern)
                .count() as u64,
            findings.patterns[&pattern],
        )
    };
    let (mut window, _folder) = opened(text, egui::Theme::Dark);
    let (before, counted) = listed(&window);
    assert!(before < counted, "one for each cause");
    // One that is not listed, by its name.
    filter(&mut window, &format!("TAP-n/{counted}"));
    window.key_press(egui::Key::Enter);
    wait(&mut window, "the last instance", |window| {
        document(window)
            .selected
            .is_some_and(|selected| u64::from(selected.ordinal) == counted)
    });
    assert_eq!(listed(&window).0, before + 1);
    // All others.
    window.get_by_label("×").click();
    window.run_steps(4);
    choose(&mut window, LIST, "Group by pattern");
    window
        .get_by_label_contains(&format!("List {} more", counted - before - 1))
        .click();
    wait(&mut window, "all instances", |window| {
        listed(window).0 == counted
    });
    assert_eq!(listed(&window).0, counted);
    let catalogue = document(&window).catalogue.clone().expect("checked");
    let causes: std::collections::BTreeSet<u32> = catalogue
        .findings
        .violations
        .iter()
        .filter(|v| v.id.pattern == pattern)
        .map(|v| v.group)
        .collect();
    assert_eq!(
        causes.len() as u64,
        before,
        "no instance has a cause of its own that was not listed at first"
    );
}

#[test]
fn bookmarks_and_notes_are_kept_found_and_taken_back() {
    let (mut window, _folder) = opened(TWO, egui::Theme::Dark);
    let n = document(&window).tree.order().len();
    press(&mut window, egui::Key::M);
    assert_eq!(document(&window).notes.len(), 1);
    press(&mut window, egui::Key::I);
    window.get_by_label("Note").type_text("seen before");
    window.run_steps(3);
    assert_eq!(
        document(&window)
            .notes
            .values()
            .map(|note| note.text.as_str())
            .collect::<Vec<_>>(),
        ["seen before"]
    );
    press(&mut window, egui::Key::Escape);
    window.get_by_label("Only 1 bookmarked").click();
    window.run_steps(3);
    assert_eq!(document(&window).tree.order().len(), 1);
    assert!(n > 1);
    // The filter, the note, then the bookmark are taken back.
    command(&mut window, egui::Key::Z);
    assert_eq!(document(&window).tree.order().len(), n);
    command(&mut window, egui::Key::Z);
    assert!(
        document(&window)
            .notes
            .values()
            .all(|note| note.text.is_empty())
    );
    command(&mut window, egui::Key::Z);
    assert!(document(&window).notes.is_empty());
    command(&mut window, egui::Key::Y);
    assert!(document(&window).notes.values().any(|note| note.bookmarked));
}

#[test]
fn a_misspelt_filter_finds_what_is_similar() {
    let (mut window, _folder) = opened(TWO, egui::Theme::Light);
    filter(&mut window, "thinair");
    assert!(
        document(&window).tree.order().len() == 1,
        "the name of the pattern in one word"
    );
    press(&mut window, egui::Key::Escape);
    press(&mut window, egui::Key::Escape);
    filter(&mut window, "thin-aur");
    assert!(document(&window).tree.is_similar());
    assert_eq!(document(&window).tree.order().len(), 1);
    assert!(says(&window, "No exact match"));
}

#[test]
fn what_if_says_what_only_these_and_without_these_would_break() {
    for theme in themes() {
        let (mut window, _folder) = opened(TWO, theme);
        // Find the fractured read, whose transactions are a1, a2 and b1.
        while document(&window)
            .current_picture()
            .is_none_or(|p| p.argument.counterexample.history.n_transactions() < 2)
        {
            press(&mut window, egui::Key::N);
            wait(&mut window, "the picture", |window| {
                !document(window).drawing
            });
        }
        press(&mut window, egui::Key::O);
        wait(&mut window, "the answer", |window| {
            document(window)
                .parts
                .asked
                .first()
                .is_some_and(|w| w.sum.is_some())
        });
        let verdict = |window: &Window, level: Level| {
            let what_if = document(window)
                .parts
                .asked
                .first()
                .cloned()
                .expect("it was asked");
            what_if
                .levels
                .iter()
                .find(|(other, _)| *other == level)
                .and_then(|(_, verdict)| verdict.clone())
        };
        assert_eq!(verdict(&window, Level::ReadAtomic), Some(Verdict::Violated));
        assert_eq!(document(&window).parts.asked[0].transactions.len(), 3);
        press(&mut window, egui::Key::W);
        wait(&mut window, "the answer", |window| {
            document(window)
                .parts
                .asked
                .first()
                .is_some_and(|w| w.sum.is_some())
        });
        // Without them only the value that nobody wrote is left.
        assert_eq!(
            document(&window).parts.asked[0]
                .sum
                .map(|sum| sum.anomalies),
            Some(1)
        );
        assert!(says(&window, "whole history: RA violated") && says(&window, "without a1 a2 b1: "));
    }
}

#[test]
fn cards_are_chosen_with_shift_and_by_a_box() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    let picture = document(&window)
        .current_picture()
        .expect("a picture")
        .clone();
    let card = |window: &Window, at: usize| {
        let title = &picture.sketch.diagram.cards[at].title;
        window
            .get_by_label_contains(&format!("Transaction {title}, "))
            .rect()
    };
    window.event(egui::Event::ModifiersChanged(egui::Modifiers::SHIFT));
    let at = card(&window, 0).min + egui::vec2(6.0, 6.0);
    click(&mut window, at);
    assert_eq!(document(&window).parts.chosen.len(), 1);
    let all = (0..picture.sketch.diagram.cards.len())
        .map(|at| card(&window, at))
        .reduce(|a, b| a.union(b));
    let all = all.expect("there are cards").expand(4.0);
    window.hover_at(all.min);
    window.step();
    window.drag_at(all.min);
    window.step();
    for part in [0.3, 0.6, 1.0] {
        window.hover_at(all.min + (all.max - all.min) * part);
        window.step();
    }
    window.drop_at(all.max);
    window.run_steps(3);
    window.event(egui::Event::ModifiersChanged(egui::Modifiers::NONE));
    assert_eq!(
        document(&window).parts.chosen.len(),
        picture.sketch.diagram.cards.len()
    );
    press(&mut window, egui::Key::Escape);
    assert!(document(&window).parts.chosen.is_empty());
}

#[test]
fn a_transaction_is_hidden_shown_again_and_undo_knows() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    let cards = |window: &Window| {
        document(window)
            .current_picture()
            .map_or(0, |p| p.sketch.diagram.cards.len())
    };
    let n = cards(&window);
    let picture = document(&window)
        .current_picture()
        .expect("a picture")
        .clone();
    let title = &picture.sketch.diagram.cards[0].title;
    let at = window
        .get_by_label_contains(&format!("Transaction {title}, "))
        .rect()
        .min
        + egui::vec2(6.0, 6.0);
    click(&mut window, at);
    press(&mut window, egui::Key::H);
    wait(&mut window, "the picture", |window| {
        !document(window).drawing
    });
    assert_eq!(cards(&window), n - 1);
    window.get_by_label_contains(&format!("hidden: {title}"));
    press(&mut window, egui::Key::U);
    wait(&mut window, "the picture", |window| {
        !document(window).drawing
    });
    assert_eq!(cards(&window), n);
    command(&mut window, egui::Key::Z);
    wait(&mut window, "the picture", |window| {
        !document(window).drawing
    });
    assert_eq!(cards(&window), n - 1);
}

#[test]
fn a_project_keeps_notes_filter_grouping_and_place() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = write(folder.path(), "two.txt", TWO);
    let mut first = window(egui::Theme::Dark);
    open(&mut first, path.clone());
    press(&mut first, egui::Key::N);
    wait(&mut first, "the picture", |window| {
        !document(window).drawing
    });
    press(&mut first, egui::Key::M);
    press(&mut first, egui::Key::G);
    press(&mut first, egui::Key::Num4);
    let selected = document(&first).selected;
    command(&mut first, egui::Key::S);
    wait(&mut first, "the project file", |window| {
        says(window, "Project saved")
    });
    let project = folder.path().join("two.txt.isoscope");
    assert!(project.is_file());
    for file in [project, path] {
        let mut again = window(egui::Theme::Light);
        open(&mut again, file);
        assert_eq!(document(&again).selected, selected);
        assert_eq!(document(&again).tree.by(), GroupBy::Pattern);
        assert!(document(&again).notes.values().any(|note| note.bookmarked));
        assert_eq!(again.state().state().page, Page::Matrix);
    }
    let damaged = write(folder.path(), "bad.isoscope", "{");
    let mut bad = window(egui::Theme::Dark);
    bad.state_mut().open_all(vec![damaged]);
    wait(&mut bad, "the message", |window| {
        !window.state().state().banners.is_empty()
    });
    assert!(says(&bad, "no project file"));
}

#[test]
fn a_link_opens_an_anomaly_and_a_view() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = write(folder.path(), "two.txt", TWO);
    let link = |fragment: &str| PathBuf::from(format!("{}#{fragment}", path.display()));
    let mut window = window(egui::Theme::Dark);
    open(&mut window, link("TAP-a/1&view=lanes"));
    assert_eq!(
        document(&window).selected.map(|id| id.to_string()),
        Some("TAP-a/1".to_owned())
    );
    assert_eq!(window.state().state().page, Page::Lanes);
    open(&mut window, link("TAP-m/9"));
    assert!(says(&window, "There is no anomaly TAP-m/9"));
    open(&mut window, link("view=nowhere"));
    assert!(says(&window, "is no view"));
}

#[test]
fn a_file_that_changes_is_read_again() {
    let (mut window, folder) = opened(CLEAN, egui::Theme::Dark);
    assert!(document(&window).selected.is_none());
    press(&mut window, egui::Key::Num6);
    write(folder.path(), "history.txt", TWO);
    wait(&mut window, "the change", |window| {
        says(window, "The file has changed") && document(window).phase == Phase::Done
    });
    assert!(document(&window).selected.is_some());
    assert_eq!(
        window.state().state().page,
        Page::Browser,
        "one stays where one looks"
    );
}

#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

#[test]
fn a_folder_becomes_a_table_and_one_bad_file_does_not_stop_it() {
    for theme in themes() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in [
            ("clean.txt", CLEAN),
            ("two.txt", TWO),
            ("bad.txt", "a: [w x"),
            ("last.txt", FRACTURED),
        ] {
            write(folder.path(), name, text);
        }
        let mut window = window(theme);
        window.run_steps(2);
        window
            .input_mut()
            .dropped_files
            .push(std::sync::Arc::new(Dropped(folder.path().to_owned())));
        window.step();
        wait(&mut window, "the folder", |window| {
            window
                .state()
                .state()
                .batch
                .as_ref()
                .is_some_and(|batch| batch.done)
        });
        window.get_by_label_contains("History clean.txt: nothing violated");
        window.get_by_label_contains("History bad.txt: failed");
        window.get_by_label_contains("History two.txt: RC violated");
        window.get_by_label("Sort by Causes").click();
        window.run_steps(3);
        window.event(egui::Event::ModifiersChanged(egui::Modifiers::SHIFT));
        window.get_by_label_contains("History clean.txt").click();
        window.run_steps(3);
        window.get_by_label_contains("History two.txt").click();
        window.run_steps(3);
        window.event(egui::Event::ModifiersChanged(egui::Modifiers::NONE));
        window.get_by_label_contains("Open before: clean.txt, nothing violated");
        window.get_by_label_contains("Open after: two.txt, RC violated");
        wait(&mut window, "the shapes", |window| {
            window
                .state()
                .state()
                .batch
                .as_ref()
                .is_some_and(|batch| batch.keys.is_some())
        });
        assert!(
            window
                .query_all_by_label_contains(": new, 0 before, 1 after")
                .count()
                >= 2,
            "by class and by shape"
        );
        assert!(!says(&window, ": gone"));
        press(&mut window, egui::Key::Escape);
        window.get_by_label("Filter histories").focus();
        window.run_steps(2);
        window
            .get_by_label("Filter histories")
            .type_text("ra:violated");
        window.run_steps(3);
        assert!(!says(&window, "History clean.txt") && says(&window, "History last.txt"));
        window.get_by_label_contains("History last.txt").click();
        window.run_steps(2);
        wait(&mut window, "the check", |window| {
            window
                .state()
                .state()
                .document
                .as_ref()
                .is_some_and(|document| document.phase == Phase::Done)
        });
        assert_eq!(document(&window).title, "last.txt");
        press(&mut window, egui::Key::B);
        assert!(window.state().state().show_batch, "back to the table");
    }
}

#[test]
fn statistics_are_drawn() {
    for theme in themes() {
        let (mut window, _folder) = opened(TWO, theme);
        press(&mut window, egui::Key::Num9);
        wait(&mut window, "the figures", |window| {
            document(window).statistics.figures.is_some()
        });
        for plot in ["Access skew", "Transaction sizes", "Anomaly positions"] {
            window.get_by_label_contains(&format!("Plot {plot}"));
        }
        // It would be a flat line.
        assert!(says(&window, "Abort rate") && says(&window, "No transaction aborted."));
    }
}

#[test]
fn settings_are_kept_from_one_start_to_the_next() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let recent = folder.path().join("state").join("recent.txt");
    let start = || {
        egui_kittest::Harness::builder()
            .with_size([1280.0, 800.0])
            .build_ui_state(
                |ui, app: &mut App| app.draw(ui),
                App::new(Some(recent.clone())),
            )
    };
    let mut first = start();
    first.run_steps(2);
    let dark = first.state().state().dark;
    press(&mut first, egui::Key::D);
    first.run_steps(3);
    assert_ne!(first.state().state().dark, dark);
    // On quitting, what is not written yet is waited for.
    drop(first);
    let mut second = start();
    second.run_steps(3);
    assert_ne!(second.state().state().dark, dark);
}

#[test]
fn note_and_filter_are_found_from_every_page() {
    let (mut window, _folder) = opened(TWO, egui::Theme::Dark);
    for page in [
        egui::Key::Num6,
        egui::Key::Num7,
        egui::Key::Num8,
        egui::Key::Num9,
        egui::Key::C,
    ] {
        press(&mut window, page);
        press(&mut window, egui::Key::I);
        assert!(
            window.get_by_label("Note").accesskit_node().is_focused(),
            "{page:?}"
        );
        press(&mut window, egui::Key::Escape);
        press(&mut window, page);
        press(&mut window, egui::Key::Slash);
        assert!(
            window
                .get_by_label("Filter anomalies")
                .accesskit_node()
                .is_focused(),
            "{page:?}"
        );
        press(&mut window, egui::Key::Escape);
    }
    let (mut clean, _folder) = opened(CLEAN, egui::Theme::Light);
    press(&mut clean, egui::Key::I);
    assert!(says(&clean, "Select an anomaly first"));
}

#[test]
fn a_transaction_is_marked_and_found_again() {
    use isoscope::history::MarkPlace;
    let (mut window, folder) = opened(TWO, egui::Theme::Dark);
    press(&mut window, egui::Key::Num6);
    let t = document(&window).browser.transaction;
    let shift = |window: &mut Window, key| {
        window.key_press_modifiers(egui::Modifiers::SHIFT, key);
        window.run_steps(4);
    };
    window.get_by_label("Mark").click();
    window.run_steps(4);
    window
        .get_by_label("Text of the mark")
        .type_text("the lost write");
    window.run_steps(3);
    window.key_press(egui::Key::Enter);
    window.run_steps(3);
    let marks = |window: &Window| document(window).marks.all.clone();
    let history = document(&window).history.clone().expect("it is read");
    assert!(
        matches!(&marks(&window)[..], [mark] if mark.text == "the lost write" && mark.place.transaction(&history) == t)
    );
    assert_eq!(document(&window).marks.open, None, "Enter closes the field");
    // It is found from anywhere, by a key and by its text.
    press(&mut window, egui::Key::Num1);
    shift(&mut window, egui::Key::J);
    assert_eq!(
        (
            window.state().state().page,
            document(&window).browser.transaction
        ),
        (Page::Browser, t)
    );
    assert!(says(&window, "the lost write"));
    // A stretch, among all sessions: what is in view.
    press(&mut window, egui::Key::Num2);
    wait(&mut window, "the time axis", |window| {
        document(window).timeline.is_some()
    });
    press(&mut window, egui::Key::Escape);
    shift(&mut window, egui::Key::M);
    assert!(
        matches!(&marks(&window)[..], [_, mark] if matches!(mark.place, MarkPlace::Between(..))),
        "{:?}",
        marks(&window)
    );
    press(&mut window, egui::Key::Escape);
    // The project keeps both, and undo takes them back.
    command(&mut window, egui::Key::S);
    let project = folder.path().join("history.txt.isoscope");
    wait(&mut window, "the project file", |_| project.exists());
    assert!(
        std::fs::read_to_string(&project)
            .expect("it is there")
            .contains("the lost write")
    );
    command(&mut window, egui::Key::Z);
    assert_eq!(marks(&window).len(), 1);
    // A report of the command line lists what the project has.
    let page = folder.path().join("report.html");
    let history = folder.path().join("history.txt");
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_isoscope"))
        .args([
            std::ffi::OsStr::new("report"),
            history.as_os_str(),
            std::ffi::OsStr::new("-o"),
            page.as_os_str(),
        ])
        .output();
    assert!(out.is_ok_and(|_| page.exists()));
    let page = std::fs::read_to_string(page).expect("it is there");
    assert!(page.contains("Marks in the history") && page.contains("the lost write"));
}
