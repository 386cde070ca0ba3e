//! The linked views of the window: each shows the same selection, and what is pinned in one is pinned in all.
#![cfg(feature = "window")]

use crate::{common, window};

use egui_kittest::kittest::Queryable as _;
use isoscope::app::state::{Attention, Page, Phase};
use isoscope::app::versions::Wanted;
use isoscope::checkers::Level;
use window::{
    FRACTURED, Window, choose, click, document, is_settled, opened, press, says, themes, wait,
};

fn on_page(text: &str, theme: egui::Theme, key: egui::Key) -> (Window, tempfile::TempDir) {
    let (mut window, folder) = opened(text, theme);
    press(&mut window, key);
    (window, folder)
}

#[test]
fn lanes_show_every_transaction_of_the_anomaly_and_pin_it_everywhere() {
    for theme in themes() {
        let (mut window, _folder) = on_page(FRACTURED, theme, egui::Key::Num2);
        wait(&mut window, "the lanes", |window| {
            document(window).timeline.is_some()
        });
        assert_eq!(window.state().state().page, Page::Lanes);
        let picture = document(&window)
            .current_picture()
            .expect("a picture")
            .clone();
        let example = &picture.argument.counterexample;
        for t in example.history.transactions() {
            let name = format!("Lane bar {}", example.history.transaction_name(t));
            // Of the anomaly, and among all sessions below.
            assert_eq!(window.query_all_by_label(&name).count(), 2, "{name}");
        }
        let first = example
            .history
            .transactions()
            .next()
            .expect("it has transactions");
        let name = format!("Lane bar {}", example.history.transaction_name(first));
        let mut bars = window.query_all_by_label(&name);
        let own = bars.next().expect("of the anomaly").rect();
        let title = own.center_top() + egui::vec2(0.0, 4.0);
        drop(bars);
        click(&mut window, title);
        assert_eq!(
            document(&window).argument.pinned,
            Some(Attention::Transaction(first))
        );
        press(&mut window, egui::Key::Escape);
        assert_eq!(document(&window).argument.pinned, None);
        wait(&mut window, "all transactions", |window| {
            says(window, "Lane bar b2")
        });
    }
}

#[test]
fn a_transaction_outside_the_anomaly_can_be_pinned_too() {
    let (mut window, _folder) = on_page(FRACTURED, egui::Theme::Dark, egui::Key::Num2);
    wait(&mut window, "the lanes", |window| {
        document(window).timeline.is_some()
    });
    let at = window.get_by_label("Lane bar b2").rect().center();
    click(&mut window, at);
    assert!(
        matches!(
            document(&window).argument.pinned,
            Some(Attention::Elsewhere(_))
        ),
        "{:?}",
        document(&window).argument.pinned
    );
    assert_eq!(document(&window).attended().len(), 1);
}

#[test]
fn lanes_versions_and_matrix_are_exported_as_they_are_seen() {
    for (key, page, words) in [
        (egui::Key::Num2, Page::Lanes, ">order<"),
        (egui::Key::Num3, Page::Key, "versions of key x"),
        (egui::Key::Num4, Page::Matrix, ">row → column<"),
    ] {
        let (mut window, _folder) = on_page(FRACTURED, egui::Theme::Dark, key);
        wait(&mut window, "the page", |window| {
            document(window).view(page).is_some()
        });
        window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::E);
        window.run_steps(4);
        let form = window
            .state()
            .state()
            .export
            .clone()
            .expect("the dialog is open");
        assert_eq!(form.view, page);
        window.get_by_label("Export").click();
        window.run_steps(2);
        wait(&mut window, "the file", |_| {
            std::path::Path::new(&form.path).is_file()
        });
        let svg = std::fs::read_to_string(&form.path).expect("it was written");
        assert!(svg.contains(words), "{svg}");
        let picture = document(&window)
            .current_picture()
            .expect("a picture")
            .clone();
        let history = &picture.argument.counterexample.history;
        assert!(
            history
                .transactions()
                .all(|t| svg.contains(&format!(">{}<", history.transaction_name(t)))),
            "{svg}"
        );
    }
}

/// Two sessions with times.
const TIMED: &str =
    "a: [w x 1]@0..10 [w x 2]@1000..1010\nb: [r x 2]@2000..2010 [r x 1]@2020..2030\n";

#[test]
fn time_is_true_or_bent() {
    let (mut window, _folder) = on_page(TIMED, egui::Theme::Light, egui::Key::Num2);
    wait(&mut window, "the lanes", |window| {
        document(window).timeline.is_some()
    });
    assert!(
        document(&window)
            .timeline
            .as_ref()
            .is_some_and(|timeline| timeline.clock.is_some())
    );
    assert!(!window.state().state().preferences.true_time);
    press(&mut window, egui::Key::T);
    assert!(window.state().state().preferences.true_time);
    window.get_by_label("True time");
}

#[test]
fn the_map_below_the_graph_is_hidden_and_becomes_the_timeline() {
    for theme in themes() {
        let (mut window, _folder) = opened(FRACTURED, theme);
        let has_map = |window: &Window| says(window, "Map of the history");
        wait(&mut window, "the map", has_map);
        window.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::S);
        window.run_steps(3);
        assert!(!has_map(&window) && window.state().state().preferences.no_map);
        window.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::S);
        wait(&mut window, "the map", has_map);
        // Pulled up, it becomes the timeline.
        let heading = window.get_by_label("Where in the history").rect();
        let edge = heading.center_top() - egui::vec2(0.0, 6.0);
        window.hover_at(edge);
        window.step();
        window.drag_at(edge);
        window.step();
        window.hover_at(edge - egui::vec2(0.0, 120.0));
        window.step();
        window.drop_at(edge - egui::vec2(0.0, 120.0));
        window.run_steps(4);
        assert_eq!(window.state().state().page, Page::Lanes);
    }
}

#[test]
fn the_map_of_the_history_selects_anomalies_and_scrolls() {
    // Two anomalies: at the beginning of one session, and at the end.
    let clean: String = (2..200).map(|n| format!(" [w k{n} 1]")).collect();
    let text = format!("a: [r x 7]{clean} [r y 8]\n");
    for theme in themes() {
        let (mut window, _folder) = opened(&text, theme);
        let transaction = |window: &Window| {
            let (history, t) = (
                document(window).history.clone(),
                document(window).browser.transaction,
            );
            history
                .zip(t)
                .map(|(history, t)| history.transaction_name(t))
                .expect("one is chosen")
        };
        // One key from the anomaly to its place.
        window.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::H);
        window.run_steps(3);
        assert_eq!(
            (window.state().state().page, transaction(&window).as_str()),
            (Page::Browser, "a1")
        );
        wait(&mut window, "the map", |window| {
            document(window).overview.map.is_some()
        });
        let map = window
            .get_by_label("Map of the history")
            .rect()
            .shrink2(egui::vec2(10.0, 2.0));
        let first = document(&window).selected;
        click(&mut window, map.right_top() + egui::vec2(-2.0, 4.0));
        wait(&mut window, "the other anomaly", |window| {
            document(window).selected != first
        });
        window.run_steps(3);
        assert_eq!(
            (window.state().state().page, transaction(&window).as_str()),
            (Page::Browser, "a200")
        );
        assert!(says(&window, "a200 1 operation"), "it is scrolled to");
        click(&mut window, map.center());
        let number: usize = transaction(&window)
            .trim_start_matches('a')
            .parse()
            .expect("a number");
        assert!((95..106).contains(&number), "{number}");
        assert!(says(&window, &format!("a{number} 1 operation")));
        press(&mut window, egui::Key::Num1);
        wait(&mut window, "the picture", |window| {
            !document(window).drawing
        });
        window.get_by_label("Where in the history").click();
        window.run_steps(3);
        assert_eq!(
            (window.state().state().page, transaction(&window).as_str()),
            (Page::Browser, "a200")
        );
    }
}

#[test]
fn the_brush_of_the_map_moves_and_zooms_the_lanes() {
    let text: String = (0..4)
        .map(|s| format!("s{s}:{}\n", format!(" [w k{s} 1]").repeat(100)))
        .collect();
    let (mut window, _folder) = on_page(&text, egui::Theme::Dark, egui::Key::Num2);
    wait(&mut window, "the map", |window| {
        document(window).overview.map.is_some()
    });
    window.run_steps(3);
    let map = window
        .get_by_label("Map of the history")
        .rect()
        .shrink2(egui::vec2(10.0, 2.0));
    let has_first = |window: &Window| window.query_by_label("Lane bar s3#1").is_some();
    assert!(has_first(&window));
    // The right end of the brush to the middle, then all of it to the right.
    for (from, to) in [
        (map.right_center() - egui::vec2(2.0, 0.0), map.center()),
        (map.center() - egui::vec2(80.0, 0.0), map.right_center()),
    ] {
        window.hover_at(from);
        window.step();
        window.drag_at(from);
        window.step();
        window.hover_at(to);
        window.run_steps(2);
        window.drop_at(to);
        window.run_steps(3);
    }
    assert!(
        !has_first(&window) && says(&window, "Lane bar s3#100"),
        "it shows the end"
    );
}

#[test]
fn the_versions_of_a_key_stand_in_order_with_their_readers() {
    for theme in themes() {
        let (mut window, _folder) = on_page(FRACTURED, theme, egui::Key::Num3);
        let chain = |window: &Window| {
            document(window)
                .key
                .as_ref()
                .and_then(|view| view.chain.clone())
        };
        wait(&mut window, "the versions", |window| {
            chain(window).is_some()
        });
        window.get_by_label("Version 1 of a1, read by b1");
        window.get_by_label("Version 2 of a2, never read").click();
        window.run_steps(4);
        assert_eq!(document(&window).attended().len(), 1);
        window.get_by_label("Name of a key").focus();
        window.run_steps(2);
        window.get_by_label("Name of a key").type_text("z");
        window.run_steps(2);
        press(&mut window, egui::Key::Enter);
        wait(&mut window, "the other key", |window| {
            says(window, "Versions of key z, in inferred order")
        });
        window.get_by_label("Name of a key").focus();
        window.run_steps(2);
        window.get_by_label("Name of a key").type_text("zzz");
        window.run_steps(2);
        press(&mut window, egui::Key::Enter);
        wait(&mut window, "the answer", |window| {
            says(window, "There is no key called")
        });
    }
}

#[test]
fn the_matrix_has_a_cell_for_every_edge() {
    for theme in themes() {
        let (mut window, _folder) = on_page(FRACTURED, theme, egui::Key::Num4);
        let picture = document(&window)
            .current_picture()
            .expect("a picture")
            .clone();
        let edges = &picture.argument.counterexample.violation.edges;
        let name = |t: isoscope::history::TransactionId| {
            if t.is_initial() {
                "initial".to_owned()
            } else {
                picture.argument.counterexample.history.transaction_name(t)
            }
        };
        for edge in edges {
            let ends = format!("from {} to {}", name(edge.from), name(edge.to));
            assert!(
                window.query_all_by_label_contains(&ends).next().is_some(),
                "{ends}"
            );
        }
        let ends = format!("from {} to {}", name(edges[0].from), name(edges[0].to));
        let cell = window
            .query_all_by_label_contains(&ends)
            .next()
            .expect("just seen")
            .rect()
            .center();
        click(&mut window, cell);
        assert!(matches!(
            document(&window).argument.pinned,
            Some(Attention::Edge(_))
        ));
        press(&mut window, egui::Key::Q);
        wait(&mut window, "the group", |window| {
            document(window).component.graph.is_some()
        });
        assert!(
            document(&window)
                .component
                .graph
                .as_ref()
                .is_some_and(|group| !group.table.cells.is_empty())
        );
    }
}

#[test]
fn back_and_forward_go_where_one_has_looked() {
    let (mut window, _folder) = opened(&format!("{FRACTURED}c: [r q 7]\n"), egui::Theme::Dark);
    let first = document(&window).selected;
    press(&mut window, egui::Key::N);
    wait(&mut window, "the picture", |window| {
        !document(window).drawing
    });
    let second = document(&window).selected;
    assert_ne!(first, second);
    press(&mut window, egui::Key::Num4);
    let alt = |window: &mut Window, key| {
        window.key_press_modifiers(egui::Modifiers::ALT, key);
        window.run_steps(4);
    };
    alt(&mut window, egui::Key::ArrowLeft);
    assert_eq!(
        (window.state().state().page, document(&window).selected),
        (Page::Graph, second)
    );
    alt(&mut window, egui::Key::ArrowLeft);
    assert_eq!(document(&window).selected, first);
    alt(&mut window, egui::Key::ArrowRight);
    alt(&mut window, egui::Key::ArrowRight);
    assert_eq!(
        (window.state().state().page, document(&window).selected),
        (Page::Matrix, second)
    );
}

#[test]
fn the_palette_finds_commands_anomalies_transactions_and_keys() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Light);
    let find = |window: &mut Window, text: &str, what: &str| {
        window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::P);
        window.run_steps(3);
        window.get_by_label("Find anything").type_text(text);
        window.run_steps(3);
        wait(window, what, |window| says(window, &format!("Do {what}")));
        let place = window
            .state()
            .state()
            .palette
            .as_ref()
            .and_then(|p| p.found.iter().position(|f| f.name == what));
        for _ in 0..place.expect("it is listed") {
            press(window, egui::Key::ArrowDown);
        }
        press(window, egui::Key::Enter);
        assert!(window.state().state().palette.is_none(), "Enter closes it");
    };
    find(&mut window, "matrix", "Matrix");
    assert_eq!(window.state().state().page, Page::Matrix);
    find(&mut window, "b2", "b2");
    assert_eq!(window.state().state().page, Page::Browser);
    find(&mut window, "key y", "key y");
    assert_eq!(window.state().state().page, Page::Key);
    wait(&mut window, "the versions", |window| {
        says(window, "Versions of key y, in inferred order")
    });
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::P);
    window.run_steps(3);
    press(&mut window, egui::Key::Escape);
    assert!(window.state().state().palette.is_none(), "Esc closes it");
}

#[test]
fn a_broken_level_leads_to_its_smallest_anomaly() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    window
        .get_by_label(&format!("Level {}: violated", Level::ReadAtomic))
        .click();
    window.run_steps(4);
    wait(&mut window, "the picture", |window| {
        !document(window).drawing
    });
    let selected = document(&window).selected.expect("something breaks it");
    let catalogue = document(&window).catalogue.clone().expect("it was checked");
    assert!(
        catalogue
            .violation(selected)
            .is_some_and(|violation| violation.levels.contains(Level::ReadAtomic))
    );
    // Those in real time were not asked for, as the history has no times.
    assert!(!says(&window, "Level SSER") && !says(&window, "Level LIN"));
}

#[test]
fn the_history_is_sorted_searched_and_linked() {
    for theme in themes() {
        let (mut window, _folder) = on_page(FRACTURED, theme, egui::Key::Num6);
        let listing = |window: &Window| document(window).browser.listing.clone();
        choose(
            &mut window,
            "Order of transactions",
            "Sort transactions by size",
        );
        wait(&mut window, "the listing", |window| {
            listing(window).is_some()
        });
        window.get_by_label("Search transactions").focus();
        window.run_steps(2);
        window.get_by_label("Search transactions").type_text("w(y)");
        window.run_steps(3);
        wait(&mut window, "the listing", |window| {
            listing(window).is_some_and(|listing| listing.transactions.len() == 1)
        });
        press(&mut window, egui::Key::Escape);
        window.get_by_label_contains("a2 a · 2 operations").click();
        window.run_steps(3);
        window.get_by_label_contains("w(y) = 1").click();
        window.run_steps(3);
        wait(&mut window, "the readers", |window| {
            says(window, "read by b1")
        });
        window.get_by_label("read by b1").click();
        window.run_steps(3);
        let transaction = document(&window)
            .browser
            .transaction
            .expect("one is chosen");
        let history = document(&window).history.clone().expect("it is read");
        assert_eq!(history.transaction_name(transaction), "b1");
        wait(&mut window, "the writer", |window| {
            says(window, "reads from a2")
        });
        window.get_by_label("reads from a2").click();
        window.run_steps(3);
        let transaction = document(&window)
            .browser
            .transaction
            .expect("one is chosen");
        assert_eq!(history.transaction_name(transaction), "a2");
    }
}

#[test]
fn the_history_follows_the_anomalies_that_keys_lead_to() {
    let (mut window, _folder) = on_page(
        &format!("{FRACTURED}c: [r q 7]\n"),
        egui::Theme::Dark,
        egui::Key::Num6,
    );
    let first = document(&window).selected;
    for key in [egui::Key::N, egui::Key::P] {
        let before = document(&window).selected;
        press(&mut window, key);
        wait(&mut window, "the picture", |window| {
            !document(window).drawing
        });
        let (now, catalogue) = (
            document(&window).selected,
            document(&window).catalogue.clone().expect("findings"),
        );
        assert_ne!(now, before);
        assert_eq!(window.state().state().page, Page::Browser);
        let violation = now
            .and_then(|id| catalogue.violation(id))
            .expect("it is listed");
        let shown = document(&window)
            .browser
            .transaction
            .expect("one is chosen");
        assert!(
            violation.transactions.contains(&shown),
            "{shown:?} is not of {now:?}"
        );
    }
    assert_eq!(document(&window).selected, first);
    press(&mut window, egui::Key::Num8);
    press(&mut window, egui::Key::N);
    assert_eq!(
        window.state().state().page,
        Page::Graph,
        "Health has no place for an anomaly"
    );
}

#[test]
fn the_history_scrolls_to_what_was_found_elsewhere_and_not_for_a_click() {
    let text: String = (0..300).map(|n| format!("a: [w x {}]\n", n + 1)).collect();
    let (mut window, _folder) = on_page(&text, egui::Theme::Dark, egui::Key::Num6);
    let top = |window: &Window, name: &str| {
        Some(
            window
                .query_all_by_label_contains(name)
                .next()?
                .rect()
                .top(),
        )
    };
    assert!(top(&window, "a200 ").is_none(), "it is far below");
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::P);
    window.run_steps(3);
    window.get_by_label("Find anything").type_text("a200");
    window.run_steps(3);
    wait(&mut window, "it is found", |window| says(window, "Do a200"));
    press(&mut window, egui::Key::Enter);
    wait(&mut window, "the row", |window| {
        top(window, "a200 ").is_some()
    });
    let before = top(&window, "a203 ");
    window
        .query_all_by_label_contains("a203 ")
        .next()
        .expect("it is near")
        .click();
    window.run_steps(4);
    let chosen = document(&window)
        .browser
        .transaction
        .expect("one is chosen");
    let history = document(&window).history.clone().expect("a history");
    assert_eq!(
        (
            history.transaction_name(chosen).as_str(),
            top(&window, "a203 ")
        ),
        ("a203", before)
    );
}

#[test]
fn the_versions_are_of_a_key_of_the_anomaly_that_is_shown() {
    let text = std::fs::read_to_string(common::repository("sample_histories/web-shop.txt"))
        .expect("a sample");
    let (mut window, _folder) = on_page(&text, egui::Theme::Dark, egui::Key::Num3);
    for n in 0..60 {
        // Also the next class, whose first anomaly a simpler one may explain.
        let modifiers = if n % 2 == 0 {
            egui::Modifiers::SHIFT
        } else {
            egui::Modifiers::NONE
        };
        window.key_press_modifiers(modifiers, egui::Key::N);
        window.run_steps(4);
        wait(&mut window, "the picture", is_settled);
        let document = document(&window);
        assert_eq!(
            document.shown(),
            document.selected,
            "a row is drawn as itself"
        );
        let key = document.key.as_ref().expect("there is a key");
        assert_eq!(key.of, document.shown());
        assert!(
            matches!(key.wanted, Wanted::Key(key) if document.keys().contains(&key)),
            "{:?}",
            key.wanted
        );
    }
}

#[test]
fn checkers_run_side_by_side_and_are_written_down() {
    for theme in themes() {
        let (mut window, folder) = on_page(FRACTURED, theme, egui::Key::C);
        assert_eq!(window.state().state().page, Page::Checkers);
        wait(&mut window, "who can run", |window| {
            document(window).comparison.obstacles.is_some()
        });
        window.get_by_label("be-sat here: can run");
        // FRACTURED writes keys without reading them, and has no times.
        window.get_by_label_contains("mtc here: cannot run: not mini-transactions: ");
        window.get_by_label("vl-lwt here: cannot run: no timestamps");
        window.get_by_label("be-sat").click();
        window.run_steps(2);
        press(&mut window, egui::Key::R);
        wait(&mut window, "the checkers", |window| {
            document(window).comparison.runs.len() == 3
                && document(window).comparison.running.is_none()
        });
        for checker in ["fast", "plume", "be-sat"] {
            window.get_by_label_contains(&format!("{checker} on RA: violated"));
            window.get_by_label_contains(&format!("{checker} took "));
        }
        assert!(says(&window, "All checkers that reached a verdict agree."));
        window.get_by_label_contains("Plot of times; fast index: ");
        window.get_by_label("Plot of memory");
        window.get_by_label("Plot of processor time");
        assert_eq!(
            window.query_all_by_label_contains("fast spent ").count(),
            4,
            "a number for each stage"
        );
        for ending in ["CSV", "SVG"] {
            window.get_by_label(&format!("Save as {ending}")).click();
            let name = format!("history-checkers.{}", ending.to_lowercase());
            wait(&mut window, "the file", |window| says(window, &name));
        }
        let csv = std::fs::read_to_string(folder.path().join("history-checkers.csv"))
            .expect("it was written");
        assert!(csv.lines().count() > 8 && csv.contains("be-sat,RA,violated"));
        assert!(folder.path().join("history-checkers.svg").is_file());
    }
}

#[test]
fn checkers_are_swept_over_generated_histories() {
    for theme in themes() {
        let (mut window, folder) = on_page(FRACTURED, theme, egui::Key::C);
        window.get_by_label("Sweep").click();
        window.run_steps(3);
        assert!(says(&window, "a history is generated for each value"));
        let type_into = |window: &mut Window, field: &str, text: &str| {
            window.get_by_label(field).focus();
            window.run_steps(2);
            window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::A);
            window.get_by_label(field).type_text(text);
            window.run_steps(3);
            press(window, egui::Key::Escape);
        };
        let type_values =
            |window: &mut Window, text: &str| type_into(window, "Values of the sweep", text);
        type_values(&mut window, "two");
        press(&mut window, egui::Key::R);
        assert!(says(&window, "`two` is no value"));
        type_values(&mut window, "2, 5");
        assert!(
            !says(&window, "is no value"),
            "a new plan has no trouble yet"
        );
        press(&mut window, egui::Key::R);
        wait(&mut window, "the sweep", |window| {
            let comparison = &document(window).comparison;
            comparison.sweep.points.len() == 4 && comparison.running.is_none()
        });
        window.run_steps(2);
        for (checker, value) in [("fast", 2), ("fast", 5), ("plume", 2), ("plume", 5)] {
            window.get_by_label_contains(&format!("{checker} at {value}: "));
        }
        window.get_by_label("Plot of the sweep: Time to check");
        window.get_by_label("Plot of the sweep: Most memory");
        for ending in ["CSV", "SVG"] {
            window.get_by_label(&format!("Save as {ending}")).click();
            let name = format!("history-sweep.{}", ending.to_lowercase());
            wait(&mut window, "the file", |window| says(window, &name));
        }
        let csv = std::fs::read_to_string(folder.path().join("history-sweep.csv"))
            .expect("it was written");
        assert!(
            csv.contains("transactions of a session,5,") && csv.contains(",plume,RA,satisfied,"),
            "{csv}"
        );
        assert!(folder.path().join("history-sweep.svg").is_file());
        type_into(&mut window, "Levels of the sweep", "RA, P-PSI");
        press(&mut window, egui::Key::R);
        wait(&mut window, "the sweep at other levels", |window| {
            let comparison = &document(window).comparison;
            comparison.sweep.points.len() == 4 && comparison.running.is_none()
        });
        let csv = document(&window).comparison.sweep.csv();
        assert!(
            csv.contains(",fast,P-PSI,satisfied,") && csv.contains(",plume,RA,satisfied,"),
            "{csv}"
        );
        assert!(!csv.contains("TCC"), "{csv}");
        window.get_by_label("This history").click();
        window.run_steps(3);
        assert!(
            says(&window, "let them run on this history"),
            "what ran on generated histories is not about this one"
        );
    }
}

#[test]
fn a_line_under_the_pointer_lights_its_transactions_in_other_views() {
    let (mut window, _folder) = on_page(
        &format!("{FRACTURED}c: [r q 7]\n"),
        egui::Theme::Dark,
        egui::Key::Num2,
    );
    wait(&mut window, "the lanes", |window| {
        document(window).timeline.is_some()
    });
    let catalogue = document(&window).catalogue.clone().expect("it was checked");
    let selected = document(&window).selected;
    press(&mut window, egui::Key::N);
    press(&mut window, egui::Key::P);
    let other = catalogue
        .entries
        .iter()
        .find(|entry| Some(entry.id) != selected)
        .expect("there are two");
    let history = document(&window).history.clone().expect("it was read");
    let violation = catalogue.violation(other.id).expect("it is listed");
    let title = isoscope::counterexample::title(&history, violation);
    let at = window
        .query_all_by_label_contains(&title)
        .next()
        .expect("its line is open")
        .rect()
        .center();
    window.hover_at(at);
    window.run_steps(3);
    assert_eq!(
        document(&window).argument.hovered,
        Some(Attention::Anomaly(other.id))
    );
    assert_eq!(
        document(&window).attended(),
        catalogue
            .violation(other.id)
            .expect("it is listed")
            .transactions
    );
}

#[test]
fn the_welcome_page_teaches_and_a_tour_goes_through_five_steps() {
    for theme in themes() {
        let mut window = window::window(theme);
        window.run_steps(2);
        assert!(says(&window, "it ran earlier in the same session"));
        window.get_by_label("Tour").click();
        window.run_steps(3);
        for stop in &isoscope::app::tour::STOPS {
            wait(&mut window, stop.title, |window| says(window, stop.title));
            let on = if stop.title == "What if" {
                "Finish"
            } else {
                "Next"
            };
            window.get_by_label(on).click();
            window.run_steps(3);
        }
        assert_eq!(window.state().state().tour, None);
    }
}

#[test]
fn every_command_stands_in_a_menu_and_on_the_help_sheet() {
    use isoscope::app::command::{Command, Group};
    for theme in themes() {
        let (mut window, _folder) = opened(FRACTURED, theme);
        window.set_size(egui::vec2(1280.0, 2400.0));
        window.run_steps(2);
        for group in Group::ALL {
            choose(&mut window, "Menu", group.title());
            for row in Command::table().iter().filter(|row| row.group == group) {
                assert!(
                    says(&window, row.name),
                    "{} is not in the menu {}",
                    row.name,
                    group.title()
                );
            }
            press(&mut window, egui::Key::Escape);
        }
        press(&mut window, egui::Key::Questionmark);
        for row in Command::table() {
            assert!(
                says(&window, row.name),
                "{} is not on the help sheet",
                row.name
            );
        }
    }
}

#[test]
fn a_report_is_one_page_where_that_is_chosen_as_export() {
    let (mut window, folder) = opened(FRACTURED, egui::Theme::Dark);
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::E);
    window.run_steps(6);
    window.get_by_label("HTML page").click();
    window.run_steps(3);
    window.get_by_label("Export").click();
    window.run_steps(2);
    let written = |_: &Window| {
        let names = std::fs::read_dir(folder.path()).expect("it is there");
        let mut names = names.flatten().map(|entry| entry.path());
        names.find(|path| path.extension().is_some_and(|ending| ending == "html"))
    };
    wait(&mut window, "the page", |window| written(window).is_some());
    let page = std::fs::read_to_string(written(&window).expect("just seen")).expect("text");
    assert!(page.contains("<svg") && page.contains("Why this is a contradiction"));
}

#[test]
fn a_report_is_written_next_to_the_history() {
    let (mut window, folder) = opened(FRACTURED, egui::Theme::Dark);
    let shift = egui::Modifiers::COMMAND | egui::Modifiers::SHIFT;
    for name in ["", "-2"] {
        window.key_press_modifiers(shift, egui::Key::E);
        window.run_steps(3);
        let id = document(&window)
            .selected
            .expect("an anomaly is chosen")
            .to_string()
            .replace('/', "-");
        let report = folder.path().join(format!("history-{id}-report{name}"));
        wait(&mut window, "the report", |_| {
            report.join("report.html").is_file()
        });
        assert!(report.join("report.md").is_file() && report.join("picture.svg").is_file());
    }
}

/// A long fork: parallel snapshot isolation holds, prefix consistency does not.
const FORK: &str = "a: [w x 1]\nb: [w y 1]\nc: [r x 1, r y 0]\nd: [r y 1, r x 0]\n";

#[test]
fn the_lattice_says_what_is_known_of_every_level_and_whether_a_promise_is_kept() {
    for theme in themes() {
        let (mut window, _folder) = opened(FORK, theme);
        assert!(
            !says(&window, "In the lattice, P-PSI"),
            "the lattice is closed at first"
        );
        window.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::L);
        wait(&mut window, "other orders", |window| {
            !document(window).results.others.is_empty()
        });
        window.run_steps(4);
        window.get_by_label("In the lattice, P-PSI: holds, because PSI does");
        window.get_by_label("In the lattice, P-PC: violated");
        window.get_by_label("In the lattice, P-UA: holds, because PSI does");
        window.get_by_label("In the lattice, R-PSI: not checked");
        window.get_by_label("In the lattice, P-TCC: holds, because TCC does");
        window.get_by_label("In the lattice, SI: violated");
        window
            .get_by_label("In the lattice, R-SI: violated, because PC is")
            .click();
        window.run_steps(4);
        assert!(says(&window, "R-SI · strong snapshot isolation"));
        assert!(says(
            &window,
            "Promised by postgresql repeatable read, mariadb repeatable read"
        ));
        window.get_by_label("Smallest anomaly").click();
        window.run_steps(4);
        assert_eq!(
            document(&window).selected.map(|id| id.to_string()),
            Some("LongFork/1".to_owned())
        );
        window.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::C);
        wait(&mut window, "the check", |window| {
            let document = document(window);
            document.phase == Phase::Done
                && document
                    .results
                    .of(Level::PlainParallelSnapshotIsolation)
                    .is_some()
        });
        window.get_by_label("In the lattice, P-PSI: holds");
        window.get_by_label("In the lattice, P-PC: violated");
        window.get_by_label("In the lattice, R-PSI: left open");
        assert!(
            says(&window, "strongest known to hold: PSI"),
            "it has no times"
        );
        assert!(
            !document(&window).tree.lines().is_empty(),
            "the anomaly is still listed"
        );
        assert_eq!(
            document(&window).selected.map(|id| id.to_string()),
            Some("LongFork/1".to_owned())
        );
    }
}

#[test]
fn a_promise_is_framed_and_kept_or_broken() {
    let (mut window, _folder) = opened(FORK, egui::Theme::Light);
    choose(
        &mut window,
        "Promised by: choose a database",
        "postgresql repeatable read: R-SI",
    );
    assert!(says(&window, "postgresql repeatable read promises"));
    assert!(says(&window, "PC · bug"), "in the list");
    window.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::L);
    window.run_steps(4);
    window.get_by_label("In the lattice, R-SI: violated, because PC is, promised");
    assert!(says(&window, ": broken"), "in the title row");
}

#[test]
fn a_file_that_cannot_be_read_is_shown_around_the_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut window = window::window(egui::Theme::Dark);
    let path = window::write(
        folder.path(),
        "bad.txt",
        "a: [w x 1]\nb: [r x 1]\nc: [q x 1]\nd: [r x 1]\n",
    );
    window.state_mut().open_all(vec![path]);
    wait(&mut window, "the failure", |window| {
        window
            .state()
            .state()
            .document
            .as_ref()
            .is_some_and(|document| document.phase == Phase::Failed)
    });
    assert!(says(&window, "This file could not be read as a history"));
    assert!(says(&window, "c: [q x 1]") && says(&window, "line 3"));
    assert!(says(&window, "d: [r x 1]"), "what follows is shown, too");
    window.get_by_label("Rules for reading").click();
    window.run_steps(4);
    assert_eq!(window.state().state().page, Page::Health);
}

#[test]
fn a_history_without_an_anomaly_opens_on_the_order_that_explains_it() {
    let (window, _folder) = opened(window::CLEAN, egui::Theme::Light);
    assert_eq!(window.state().state().page, Page::Order);
    assert!(says(&window, "Independently verified"));
}

#[test]
fn an_order_is_saved_as_a_picture_and_copied_with_its_reasons() {
    let (mut window, _folder) = opened(window::CLEAN, egui::Theme::Dark);
    window.get_by_label("Save picture…").click();
    window.run_steps(4);
    let form = window
        .state()
        .state()
        .export
        .clone()
        .expect("the dialog is open");
    assert_eq!(form.view, Page::Order);
    assert!(
        says(&window, "Save this order") && !says(&window, "Mermaid"),
        "only what orders can be written as"
    );
    window.get_by_label("Export").click();
    window.run_steps(2);
    wait(&mut window, "the file", |_| {
        std::path::Path::new(&form.path).is_file()
    });
    let svg = std::fs::read_to_string(&form.path).expect("it was written");
    for words in [
        "Serializability (SER) holds",
        "independently verified",
        ">a1<",
        ">a2<",
        ">b1<",
        "WR x",
    ] {
        assert!(svg.contains(words), "{words}: {svg}");
    }
    window.get_by_label("Copy why it passes").click();
    wait(&mut window, "the text", |window| {
        let is_text = |command: &egui::OutputCommand| match command {
            egui::OutputCommand::CopyText(text) => text.contains("3. b1: r(x) = 2 from a2"),
            _ => false,
        };
        window.output().platform_output.commands.iter().any(is_text)
    });
    assert!(says(
        &window,
        "Why it passes is on the clipboard as Markdown"
    ));
}

#[test]
fn classes_are_stepped_through_and_opened_at_their_first_anomaly() {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/sample_histories/web-shop.txt");
    let text = std::fs::read_to_string(sample).expect("part of the repository");
    let (mut window, _folder) = opened(&text, egui::Theme::Dark);
    let selected = |window: &Window| document(window).selected.expect("one is selected");
    let first = selected(&window);
    let mut seen = vec![first.pattern];
    loop {
        window.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::N);
        window.run_steps(4);
        if selected(&window) == first {
            break;
        }
        assert!(
            !seen.contains(&selected(&window).pattern),
            "each class comes once"
        );
        seen.push(selected(&window).pattern);
    }
    assert!(seen.len() > 1, "{seen:?}");
    window.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::P);
    window.run_steps(4);
    assert_eq!(
        selected(&window).pattern,
        *seen.last().expect("there are some")
    );
}
