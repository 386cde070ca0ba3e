//! Drives the window without a display: files in, clicks and keys, and what a screen reader would be told.
#![cfg(feature = "window")]

use crate::window;

use egui_kittest::kittest::{NodeT as _, Queryable as _};
use isoscope::app::state::{Attention, Page, Phase, Tone};
use isoscope::checkers::{Level, Pattern, Verdict};
use isoscope::fonts;
use isoscope::health::Kind;
use isoscope::history::{InitialRule, UnknownRule};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use window::{
    CLEAN, Dropped, FRACTURED, Window, click, document, open, opened, press, says, wait, window,
    write,
};

#[test]
fn the_welcome_page_offers_to_open_a_file() {
    for theme in [egui::Theme::Dark, egui::Theme::Light] {
        let mut window = window(theme);
        window.run_steps(2);
        window.get_by_label("Open a history file");
        window.get_by_label_contains("See which isolation anomalies");
    }
}

#[test]
fn a_history_is_checked_listed_drawn_and_explained() {
    let (window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    for level in [
        Level::CutIsolation,
        Level::ReadAtomic,
        Level::Serializability,
    ] {
        let result = document(&window)
            .results
            .levels
            .iter()
            .find(|(l, _)| *l == level)
            .and_then(|(_, result)| result.as_ref());
        let word = result
            .map(|result| result.verdict.word())
            .expect("the level was checked");
        window.get_by_label(&format!("Level {level}: {word}"));
    }
    assert!(
        document(&window)
            .results
            .levels
            .iter()
            .any(|(_, result)| matches!(result, Some(r) if r.verdict == Verdict::Violated))
    );
    let picture = document(&window)
        .current_picture()
        .expect("the first anomaly is drawn")
        .clone();
    for card in &picture.sketch.diagram.cards {
        window.get_by_label_contains(&format!("Transaction {}, {}", card.title, card.status));
    }
    for arrow in &picture.sketch.diagram.arrows {
        let title = |card: usize| &picture.sketch.diagram.cards[card].title;
        let name = format!(
            "Edge {} from {} to {}",
            arrow.text(),
            title(arrow.from),
            title(arrow.to)
        );
        assert!(window.query_all_by_label(&name).count() >= 1, "{name}");
    }
    window.get_by_label(&picture.argument.explanation.title);
    for place in 1..=picture.argument.explanation.steps.len() {
        window.get_by_label_contains(&format!("Step {place}: "));
    }
}

#[test]
fn names_of_any_script_are_shown_with_installed_fonts() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/names.json");
    let mut window = window(egui::Theme::Dark);
    open(&mut window, path);
    let history = document(&window).history.clone().expect("it was read");
    let found = fonts::fallback(fonts::lacking(history.texts()));
    for face in &found.faces {
        let is_there = window
            .ctx
            .fonts(|fonts| fonts.definitions().font_data.contains_key(&face.name));
        assert!(is_there, "{} is not added", face.name);
    }
    let said = window
        .state()
        .state()
        .banners
        .iter()
        .map(|banner| banner.text.clone())
        .next();
    assert_eq!(said, fonts::advice(&found.missing));
    assert!(says(&window, "键名字"));
}

#[test]
fn a_clean_history_holds_every_level() {
    let (window, _folder) = opened(CLEAN, egui::Theme::Dark);
    for level in Level::WITHOUT_TIMES {
        window.get_by_label(&format!("Level {level}: satisfied"));
    }
    assert!(document(&window).selected.is_none());
    assert!(says(&window, "every level asked for holds"));
}

#[test]
fn keys_go_through_anomalies_and_round_again() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    let n = document(&window).tree.order().len();
    let first = document(&window).selected;
    let mut seen = vec![first];
    for _ in 1..n {
        press(&mut window, egui::Key::N);
        seen.push(document(&window).selected);
    }
    let distinct: std::collections::BTreeSet<_> = seen.iter().flatten().collect();
    assert_eq!(distinct.len(), n, "every listed anomaly is passed once");
    press(&mut window, egui::Key::N);
    assert_eq!(document(&window).selected, first);
    press(&mut window, egui::Key::P);
    assert_eq!(
        document(&window).selected,
        *seen.last().expect("there is an anomaly")
    );
    wait(&mut window, "the picture", |window| {
        document(window).current_picture().is_some()
    });
}

#[test]
fn keys_go_through_the_argument_and_esc_releases_it() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    press(&mut window, egui::Key::J);
    assert_eq!(document(&window).argument.pinned, Some(Attention::Step(0)));
    press(&mut window, egui::Key::J);
    assert_eq!(document(&window).argument.pinned, Some(Attention::Step(1)));
    press(&mut window, egui::Key::K);
    assert_eq!(document(&window).argument.pinned, Some(Attention::Step(0)));
    press(&mut window, egui::Key::Escape);
    assert_eq!(document(&window).argument.pinned, None);
}

#[test]
fn a_click_on_a_card_or_an_edge_pins_it() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    let picture = document(&window)
        .current_picture()
        .expect("a picture")
        .clone();
    let card = &picture.sketch.diagram.cards[0];
    let corner = window
        .get_by_label_contains(&format!("Transaction {}, ", card.title))
        .rect()
        .min;
    click(&mut window, corner + egui::vec2(6.0, 6.0));
    assert_eq!(
        document(&window).argument.pinned,
        Some(Attention::Transaction(card.transaction))
    );
    if let Some(arrow) = picture.sketch.diagram.arrows.first() {
        let title = |card: usize| &picture.sketch.diagram.cards[card].title;
        let name = format!(
            "Edge {} from {} to {}",
            arrow.text(),
            title(arrow.from),
            title(arrow.to)
        );
        let at = window
            .get_all_by_label(&name)
            .next()
            .expect("the edge is named")
            .rect()
            .center();
        click(&mut window, at);
        assert_eq!(
            document(&window).argument.pinned,
            Some(Attention::Edge(arrow.edge))
        );
        window.get_by_label("Why is this edge here?");
    }
}

#[test]
fn a_card_moves_by_the_way_of_the_pointer_and_not_at_a_click() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    let picture = document(&window)
        .current_picture()
        .expect("a picture")
        .clone();
    let name = format!("Transaction {}, ", picture.sketch.diagram.cards[0].title);
    let before = window.get_by_label_contains(&name).rect();
    click(&mut window, before.min + egui::vec2(6.0, 6.0));
    assert_eq!(
        window.get_by_label_contains(&name).rect(),
        before,
        "a click leaves it where it is"
    );
    let grip = before.min + egui::vec2(8.0, 8.0);
    window.hover_at(grip);
    window.step();
    window.drag_at(grip);
    window.step();
    for step in 1..=5 {
        window.hover_at(grip + egui::vec2(8.0, 6.0) * step as f32);
        window.step();
    }
    window.drop_at(grip + egui::vec2(40.0, 30.0));
    window.run_steps(4);
    let after = window.get_by_label_contains(&name).rect();
    let way = after.min - before.min;
    assert!(
        (way - egui::vec2(40.0, 30.0)).length() < 8.0,
        "moved by {way:?}"
    );
}

#[test]
fn nothing_is_repainted_when_nothing_happens() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    window.remove_cursor();
    wait(&mut window, "raw lines", |window| {
        document(window).raw.of == document(window).selected
    });
    window.run_steps(30);
    let delay = window
        .output()
        .viewport_output
        .values()
        .map(|viewport| viewport.repaint_delay)
        .min();
    assert!(
        delay.is_some_and(|delay| delay > Duration::from_secs(1)),
        "{delay:?}"
    );
}

#[test]
fn the_filter_narrows_the_list() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    let all = document(&window).tree.order().len();
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::F);
    window.run_steps(3);
    window
        .get_by_label("Filter anomalies")
        .type_text("no such thing");
    window.run_steps(3);
    assert_eq!(document(&window).tree.order().len(), 0);
    window.get_by_label_contains("No anomalies match the filter; ");
    press(&mut window, egui::Key::Escape);
    press(&mut window, egui::Key::Escape);
    assert_eq!(document(&window).tree.filter(), "");
    assert_eq!(document(&window).tree.order().len(), all);
}

#[test]
fn evidence_folds_and_opens() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    let drawn = |window: &Window| {
        document(window)
            .current_picture()
            .map_or(0, |picture| picture.drawn.len())
    };
    let before = drawn(&window);
    press(&mut window, egui::Key::E);
    wait(&mut window, "the folded picture", |window| {
        !document(window).drawing
    });
    let after = drawn(&window);
    press(&mut window, egui::Key::E);
    wait(&mut window, "the opened picture", |window| {
        !document(window).drawing
    });
    assert_ne!(before, after);
    assert_eq!(drawn(&window), before);
}

#[test]
fn the_theme_changes_and_the_help_sheet_opens() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    assert!(window.state().state().dark);
    press(&mut window, egui::Key::D);
    assert!(!window.state().state().dark);
    press(&mut window, egui::Key::Questionmark);
    assert!(window.state().state().help && says(&window, "Keys and legend"));
    press(&mut window, egui::Key::Escape);
    assert!(!window.state().state().help);
}

#[test]
fn pages_and_layouts_change_by_key() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    press(&mut window, egui::Key::Num6);
    assert_eq!(window.state().state().page, Page::Browser);
    window.get_by_label_contains("Order of sessions");
    press(&mut window, egui::Key::Num4);
    assert_eq!(window.state().state().page, Page::Matrix);
    press(&mut window, egui::Key::L);
    wait(&mut window, "the layered picture", |window| {
        !document(window).drawing
    });
    assert_eq!(window.state().state().page, Page::Graph);
    let picture = document(&window).current_picture().expect("a picture");
    assert_eq!(picture.kind, isoscope::app::picture::LayoutKind::Layered);
}

#[test]
fn raw_lines_come_from_the_file() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    wait(&mut window, "raw lines", |window| {
        document(window).raw.of == document(window).selected
    });
    let raw = &document(&window).raw;
    assert_eq!(raw.error, None);
    assert!(!raw.lines.is_empty());
    let lines: Vec<&str> = FRACTURED.lines().collect();
    assert!(
        raw.lines
            .iter()
            .all(|(_, line, text)| lines[*line as usize - 1] == text)
    );
}

#[test]
fn a_bad_file_is_said_plainly_until_dismissed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, contents) in [("bad.txt", "a: [w x 1\nb: [\n"), ("empty.txt", "")] {
        let mut window = window(egui::Theme::Light);
        let path = write(folder.path(), name, contents);
        window.state_mut().open_all(vec![path]);
        wait(&mut window, "the message", |window| {
            !window.state().state().banners.is_empty()
        });
        assert!(
            window.state().state().banners[0].text.contains(name),
            "{:?}",
            window.state().state().banners
        );
        window.run_steps(20);
        assert!(says(&window, name));
        assert!(
            window.query_by_label("Dismiss").is_none(),
            "the page says it"
        );
        press(&mut window, egui::Key::Num8);
        window.get_by_label("Dismiss").click();
        window.run_steps(3);
        assert!(window.state().state().banners.is_empty());
    }
    let mut window = window(egui::Theme::Dark);
    window
        .state_mut()
        .open_all(vec![folder.path().join("missing.txt")]);
    wait(&mut window, "the message", |window| {
        !window.state().state().banners.is_empty()
    });
    assert!(
        window.state().state().banners[0]
            .text
            .contains("missing.txt")
    );
}

#[test]
fn a_dropped_file_is_opened() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = write(folder.path(), "dropped.txt", CLEAN);
    let mut window = window(egui::Theme::Dark);
    window.run_steps(2);
    window
        .input_mut()
        .dropped_files
        .push(Arc::new(Dropped(path)));
    wait(&mut window, "a look at it", |window| {
        window.state().state().document.is_some()
    });
    wait(&mut window, "the check", |window| {
        document(window).phase == Phase::Done
    });
    assert_eq!(document(&window).title, "dropped.txt");
}

#[test]
fn esc_cancels_a_long_check() {
    // Writers of one key without any order between them: thousands of transactions keep the search busy for a while.
    let mut text = String::new();
    for session in 0..60 {
        text.push_str(&format!("s{session}:"));
        for t in 0..400 {
            let value = session * 400 + t + 1;
            let other = (value * 7919) % 24_000 + 1;
            text.push_str(&format!(
                " [r k{} {other}, w k{} {value}]",
                other % 3,
                value % 3
            ));
        }
        text.push('\n');
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut window = window(egui::Theme::Dark);
    window
        .state_mut()
        .open_all(vec![write(folder.path(), "long.txt", &text)]);
    wait(&mut window, "the beginning", |window| {
        window.state().state().document.is_some()
    });
    press(&mut window, egui::Key::Escape);
    let asked = Instant::now();
    wait(&mut window, "the end", |window| !document(window).is_busy());
    assert!(
        asked.elapsed() < Duration::from_secs(20),
        "cancelling took {:?}",
        asked.elapsed()
    );
    assert!(matches!(
        document(&window).phase,
        Phase::Cancelled | Phase::Done
    ));
}

#[test]
fn an_export_is_written_and_said() {
    let (mut window, folder) = opened(FRACTURED, egui::Theme::Dark);
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::E);
    window.run_steps(4);
    let path = window
        .state()
        .state()
        .export
        .as_ref()
        .map(|form| PathBuf::from(&form.path))
        .expect("the dialog is open");
    assert_eq!(path.parent(), Some(folder.path()));
    window.get_by_label("Export").click();
    window.run_steps(2);
    wait(&mut window, "the file", |window| {
        !window.state().state().banners.is_empty()
    });
    assert!(
        window.state().state().banners[0].tone == Tone::Done,
        "{:?}",
        window.state().state().banners
    );
    let svg = std::fs::read_to_string(&path).expect("the file was written");
    assert!(svg.contains("<svg"));
}

#[test]
fn hidden_relations_are_not_drawn() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    let picture = document(&window)
        .current_picture()
        .expect("a picture")
        .clone();
    let Some(arrow) = picture.sketch.diagram.arrows.first() else {
        panic!("the picture has edges")
    };
    let name = format!("Show {} {}", arrow.relation.code(), arrow.relation.name());
    let edges = |window: &Window| {
        window
            .query_all_by_label_contains(&format!("Edge {} ", arrow.text()))
            .count()
    };
    assert!(edges(&window) > 0);
    window.get_by_label(&name).click();
    window.run_steps(4);
    assert_eq!(edges(&window), 0);
}

#[test]
fn the_anomaly_of_the_history_is_named() {
    let (window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    let catalogue = document(&window)
        .catalogue
        .as_ref()
        .expect("it was checked");
    let fractured =
        |pattern: &Pattern| matches!(pattern, Pattern::FracturedReadCO | Pattern::NonMonoReadCO);
    assert!(
        catalogue.findings.patterns.keys().any(fractured),
        "{:?}",
        catalogue.findings.patterns
    );
}

#[test]
fn every_sample_opens_from_the_welcome_page() {
    for place in 0..isoscope::app::samples::ALL.len() {
        let mut window = window(egui::Theme::Dark);
        window.set_size(egui::vec2(1280.0, 2000.0));
        window.run_steps(2);
        let title = isoscope::app::samples::title(place);
        let all = format!("All {} samples", isoscope::app::samples::ALL.len());
        window.get_by_label(&all).click();
        window.run_steps(3);
        window
            .get_by_label_contains(&format!("Sample {title}: "))
            .click();
        window.run_steps(2);
        wait(&mut window, &title, |window| {
            window
                .state()
                .state()
                .document
                .as_ref()
                .is_some_and(|d| !d.is_busy())
        });
        assert_eq!(
            (document(&window).phase, &window.state().state().banners[..]),
            (Phase::Done, &[][..]),
            "{title}"
        );
        wait(&mut window, &title, |window| !document(window).drawing);
        assert_eq!(
            document(&window).selected.is_some(),
            document(&window).current_picture().is_some(),
            "{title}"
        );
    }
}

/// Session b reads x = 5, which nobody wrote, after it has seen x = 9.
const UNWRITTEN: &str = "a: [w x 9] [w y 1]\nb: [r x 9] [r x 5] [r x 9]\n";

#[test]
fn the_health_page_says_what_is_wrong_and_leads_to_the_operations() {
    for theme in [egui::Theme::Dark, egui::Theme::Light] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut window = window(theme);
        open(&mut window, write(folder.path(), "history.txt", UNWRITTEN));
        let health = document(&window)
            .trust
            .health
            .clone()
            .expect("it was examined");
        let finding = health.finding(Kind::ThinAir).expect("nobody wrote it");
        // The list of anomalies and the bar on top say so on every page.
        assert!(says(&window, "History health 1 warning") && says(&window, Kind::ThinAir.title()));
        window.get_by_label("History health 1 warning").click();
        window.run_steps(4);
        assert_eq!(window.state().state().page, Page::Health);
        window.get_by_label_contains("Finding holds: Unique values");
        window.get_by_label_contains("Finding does not hold: Times");
        assert!(says(
            &window,
            "No assumptions were needed to read this file."
        ));
        window
            .get_by_label_contains("Finding warning: Reads out of thin air")
            .click();
        window.run_steps(4);
        window.get_by_label("Show b2  r(x) = 5 line 2").click();
        window.run_steps(4);
        assert_eq!(window.state().state().page, Page::Browser);
        assert_eq!(
            document(&window).browser.transaction,
            finding.transactions.first().copied()
        );
        wait(&mut window, "the raw line", |window| {
            matches!(&document(window).browser.operation, Some((_, Some(_))))
        });
        assert_eq!(
            document(&window)
                .browser
                .operation
                .as_ref()
                .map(|(o, _)| *o),
            finding.operations.first().copied()
        );
    }
}

/// Money that was taken from one account and is in no other.
const BANK: &str = "{:process 0, :type :ok, :f :read, :value {0 5, 1 5}}\n\
    {:process 0, :type :ok, :f :transfer, :value {:from 0, :to 1, :amount 2}}\n\
    {:process 1, :type :ok, :f :read, :value {0 3, 1 5}}\n";

#[test]
fn what_the_rules_of_a_workload_find_is_drawn_and_leads_to_the_transaction() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut window = window(egui::Theme::Dark);
    open(&mut window, write(folder.path(), "bank.edn", BANK));
    assert!(says(&window, "Workload bank"));
    assert!(!says(&window, "No anomaly: every level asked for holds."));
    let history = document(&window).history.clone().expect("it was read");
    let fact = &history.workload().expect("a bank").facts[0];
    let finding = "wrong total: money vanished: the balances sum to 8, not 10, as if only the debit of \u{201c}transfer 2 from 0 to 1\u{201d} had been seen";
    window.get_by_label(finding).click();
    wait(&mut window, "the finding's picture", |window| {
        let finding = document(window).finding.as_ref();
        finding.is_some_and(|finding| finding.picture.is_some())
    });
    assert_eq!(window.state().state().page, Page::Graph);
    let read = "S1#1 (session 1, line 3): read → total 8 (0: 3, 1: 5)";
    window.get_by_label(read).click();
    window.run_steps(4);
    assert_eq!(window.state().state().page, Page::Browser);
    assert_eq!(
        document(&window).browser.transaction,
        fact.calls.last().map(|call| call.transaction)
    );
}

#[test]
fn a_clean_history_is_told_to_be_trustworthy() {
    let (mut window, _folder) = opened(CLEAN, egui::Theme::Dark);
    press(&mut window, egui::Key::Num8);
    assert!(says(&window, "Nothing casts doubt on the verdicts."));
    assert!(!says(&window, "History health"));
}

/// Reads again by the rules of the form.
fn read_again(window: &mut Window) {
    window.get_by_label("Read again").click();
    window.run_steps(2);
    wait(window, "the check", |window| !document(window).is_busy());
    wait(window, "the picture", |window| !document(window).drawing);
}

#[test]
fn rules_are_chosen_and_the_history_read_again() {
    let (mut window, _folder) = opened(UNWRITTEN, egui::Theme::Dark);
    let verdict = |window: &Window| {
        let levels = &document(window).results.levels;
        let result = levels
            .iter()
            .find(|(level, _)| *level == Level::CutIsolation)
            .and_then(|(_, result)| result.clone());
        result.map(|result| result.verdict.word())
    };
    assert_eq!(verdict(&window), Some("satisfied"));
    let violated = |window: &Window| {
        let levels = &document(window).results.levels;
        levels.iter().any(|(_, result)| {
            result
                .as_ref()
                .is_some_and(|result| result.verdict == Verdict::Violated)
        })
    };
    assert!(violated(&window));
    press(&mut window, egui::Key::Num8);
    window
        .get_by_label("Choose --initial any-unwritten")
        .click();
    window.run_steps(3);
    window.get_by_label("Rule initial: any-unwritten");
    assert_eq!(
        document(&window).form.read_by.initial,
        InitialRule::Format,
        "nothing is read before it is asked for"
    );
    read_again(&mut window);
    assert_eq!(window.state().state().page, Page::Health);
    assert_eq!(
        document(&window).form.read_by.initial,
        InitialRule::AnyUnwritten
    );
    assert_eq!(
        document(&window)
            .trust
            .health
            .as_ref()
            .and_then(|health| health.finding(Kind::ThinAir)),
        None
    );
    assert_eq!(document(&window).assumptions().len(), 1);
    window.get_by_label_contains("Assumed: For 1 key");
    assert_eq!(
        document(&window).form.rules().as_ref(),
        Ok(&document(&window).form.read_by)
    );
    // Reading the file again keeps the rules.
    window.key_press(egui::Key::F5);
    window.run_steps(2);
    wait(&mut window, "the check", |window| {
        !document(window).is_busy()
    });
    assert_eq!(
        document(&window).form.read_by.initial,
        InitialRule::AnyUnwritten
    );
}

#[test]
fn rules_are_chosen_from_lists_and_bad_words_are_told() {
    let (mut window, _folder) = opened("a: [w x 1]?\nb: [r x 1]\n", egui::Theme::Dark);
    press(&mut window, egui::Key::Num8);
    window.get_by_label("Rule unknown: observed").click();
    window.run_steps(4);
    window
        .get_by_label("aborted: like those known to have aborted")
        .click();
    window.run_steps(4);
    window.get_by_label("Rule unknown: aborted");
    read_again(&mut window);
    assert_eq!(document(&window).form.read_by.unknown, UnknownRule::Aborted);
    assert!(
        document(&window).selected.is_some(),
        "the read is one of aborted data now"
    );
    window.get_by_label("Rule init: auto").click();
    window.run_steps(4);
    window.get_by_label_contains("txn=: these").click();
    window.run_steps(4);
    window.get_by_label("Read again").click();
    window.run_steps(4);
    assert!(
        document(&window)
            .form
            .error
            .as_ref()
            .is_some_and(|text| text.contains("--init"))
    );
    assert_eq!(document(&window).phase, Phase::Done, "the history stays");
    window.get_by_label("Value of rule init").focus();
    window.run_steps(2);
    window
        .get_by_label("Value of rule init")
        .type_text("nobody");
    window.run_steps(4);
    read_again(&mut window);
    assert_eq!(document(&window).phase, Phase::Failed);
    assert!(says(&window, "there is no such transaction"));
    window.get_by_label("Value of rule init");
}

#[test]
fn a_folder_without_histories_is_said_plainly() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut window = window(egui::Theme::Light);
    window.state_mut().open_all(vec![folder.path().to_owned()]);
    wait(&mut window, "the message", |window| {
        !window.state().state().banners.is_empty()
    });
    let state = window.state().state();
    assert!(
        state.banners[0].tone == Tone::Problem
            && state.banners[0].text.contains("no history in this folder"),
        "{:?}",
        state.banners
    );
    assert!(state.document.is_none() && state.looking.is_none());
}

/// Something dropped that is no file here.
#[derive(Debug)]
struct DroppedBytes(Vec<u8>);

impl egui::DroppedFile for DroppedBytes {
    fn path(&self) -> &Path {
        Path::new("packed.txt.gz")
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        Ok(self.0.clone())
    }
}

#[test]
fn dropped_bytes_may_be_packed() {
    use std::io::Write as _;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed
        .write_all(CLEAN.as_bytes())
        .expect("memory is writable");
    let packed = packed.finish().expect("memory is writable");
    let mut window = window(egui::Theme::Dark);
    window.run_steps(2);
    window
        .input_mut()
        .dropped_files
        .push(Arc::new(DroppedBytes(packed)));
    wait(&mut window, "a look at it", |window| {
        window.state().state().document.is_some()
    });
    wait(&mut window, "the check", |window| {
        document(window).phase == Phase::Done
    });
    assert_eq!(
        document(&window)
            .history
            .as_ref()
            .map(|history| history.n_transactions()),
        Some(3)
    );
}

#[test]
fn the_order_of_a_level_that_holds_can_be_stepped_through() {
    let (mut window, _folder) =
        opened("a: [w x 1] [r x 2]\nb: [r x 1, w x 2]\n", egui::Theme::Dark);
    window
        .get_by_label(&format!("Level {}: satisfied", Level::SnapshotIsolation))
        .click();
    window.run_steps(2);
    let replay = |window: &Window| {
        document(window)
            .order
            .as_ref()
            .and_then(|order| order.replay.clone())
    };
    wait(&mut window, "the order", |window| replay(window).is_some());
    assert_eq!(window.state().state().page, Page::Order);
    assert_eq!(
        replay(&window).map(|replay| replay.n_steps()),
        Some(6),
        "three starts and three commits"
    );
    window.get_by_label(Level::Serializability.code()).click();
    wait(&mut window, "the other order", |window| {
        replay(window).is_some_and(|replay| replay.n_steps() == 3)
    });
    for step in [1, 2, 2] {
        press(&mut window, egui::Key::J);
        assert_eq!(
            document(&window).order.as_ref().map(|order| order.step),
            Some(step)
        );
    }
    assert!(
        says(&window, "reads the current version"),
        "the last step reads x"
    );
    press(&mut window, egui::Key::K);
    assert!(
        says(&window, "replaces 1 of"),
        "the second step overwrites the first version"
    );
    press(&mut window, egui::Key::Num1);
    assert_eq!(window.state().state().page, Page::Graph);
    press(&mut window, egui::Key::Num7);
    assert_eq!(window.state().state().page, Page::Order);
}

#[test]
fn there_is_no_order_where_no_level_holds() {
    let (mut window, _folder) = opened(
        "a: [r x 1, r x 2, r x 7]\nb: [w x 1]\nc: [w x 2]\n",
        egui::Theme::Dark,
    );
    press(&mut window, egui::Key::Num7);
    assert!(says(
        &window,
        "No level that was asked for is known to hold"
    ));
}

/// What has the keyboard focus, as a screen reader is told.
fn focused(window: &Window) -> Option<String> {
    let all = window.query_all_by(|node| node.is_focused());
    let mut labels = all.filter_map(|node| node.accesskit_node().label());
    labels.next()
}

#[test]
fn the_strip_is_one_stop_of_tab_and_its_arrows_go_from_level_to_level() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    let mut stops: Vec<String> = Vec::new();
    for _ in 0..12 {
        press(&mut window, egui::Key::Tab);
        stops.extend(focused(&window));
    }
    let is_level = |stop: &&String| stop.starts_with("Level ");
    assert_eq!(stops.iter().filter(is_level).count(), 1, "{stops:?}");
    let to_list = stops
        .iter()
        .position(|stop| stop.starts_with("A later read returned"));
    assert!(to_list.is_some_and(|n| n < 8), "{stops:?}");
    assert!(
        !stops.iter().any(|stop| stop.starts_with("b1 had read")),
        "an entry is one stop"
    );
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    for _ in 0..12 {
        press(&mut window, egui::Key::Tab);
        if focused(&window).is_some_and(|stop| stop.starts_with("Level ")) {
            break;
        }
    }
    for (key, level) in [
        (egui::Key::ArrowRight, "Level RA"),
        (egui::Key::ArrowRight, "Level TCC"),
        (egui::Key::ArrowLeft, "Level RA"),
    ] {
        press(&mut window, key);
        let stop = focused(&window);
        assert!(
            stop.as_ref().is_some_and(|stop| stop.starts_with(level)),
            "{stop:?}"
        );
    }
}
