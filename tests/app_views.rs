//! The linked views of the window: each shows the same selection, and what is pinned in one is pinned in all.

mod window;

use egui_kittest::kittest::Queryable as _;
use isoscope::app::state::{Attention, Page};
use isoscope::checkers::Level;
use window::{FRACTURED, Window, click, document, opened, press, says, themes, wait};

fn on_page(text: &str, theme: egui::Theme, key: egui::Key) -> (Window, tempfile::TempDir) {
    let (mut window, folder) = opened(text, theme);
    press(&mut window, key);
    (window, folder)
}

#[test]
fn lanes_show_every_transaction_of_the_anomaly_and_pin_it_everywhere() {
    for theme in themes() {
        let (mut window, _folder) = on_page(FRACTURED, theme, egui::Key::Num2);
        wait(&mut window, "the lanes", |window| document(window).timeline.is_some());
        assert_eq!(window.state().state().page, Page::Lanes);
        let picture = document(&window).current_picture().expect("a picture").clone();
        let example = &picture.argument.counterexample;
        for t in example.history.transactions() {
            window.get_by_label(&format!("Lane bar {}", example.history.transaction_name(t)));
        }
        let first = example.history.transactions().next().expect("it has transactions");
        let name = format!("Lane bar {}", example.history.transaction_name(first));
        let at = window.get_by_label(&name).rect().center();
        click(&mut window, at);
        assert_eq!(document(&window).pinned, Some(Attention::Transaction(first)));
        press(&mut window, egui::Key::Escape);
        assert_eq!(document(&window).pinned, None);
        window.get_by_label("All sessions").click();
        window.run_steps(3);
        assert!(says(&window, "Lane bar b2"), "a transaction that has no part in it");
    }
}

#[test]
fn a_transaction_outside_the_anomaly_can_be_pinned_too() {
    let (mut window, _folder) = on_page(FRACTURED, egui::Theme::Dark, egui::Key::Num2);
    wait(&mut window, "the lanes", |window| document(window).timeline.is_some());
    window.get_by_label("All sessions").click();
    window.run_steps(3);
    let at = window.get_by_label("Lane bar b2").rect().center();
    click(&mut window, at);
    assert!(matches!(document(&window).pinned, Some(Attention::Elsewhere(_))), "{:?}", document(&window).pinned);
    assert_eq!(document(&window).attended().len(), 1);
}

/// Two sessions with times.
const TIMED: &str = "a: [w x 1]@0..10 [w x 2]@1000..1010\nb: [r x 2]@2000..2010 [r x 1]@2020..2030\n";

#[test]
fn time_is_true_or_bent() {
    let (mut window, _folder) = on_page(TIMED, egui::Theme::Light, egui::Key::Num2);
    wait(&mut window, "the lanes", |window| document(window).timeline.is_some());
    assert!(document(&window).timeline.as_ref().is_some_and(|timeline| timeline.clock.is_some()));
    assert!(!window.state().state().true_time);
    press(&mut window, egui::Key::T);
    assert!(window.state().state().true_time);
    window.get_by_label("True time");
}

#[test]
fn the_versions_of_a_key_stand_in_order_with_their_readers() {
    for theme in themes() {
        let (mut window, _folder) = on_page(FRACTURED, theme, egui::Key::Num3);
        let chain = |window: &Window| document(window).key.as_ref().and_then(|view| view.chain.clone());
        wait(&mut window, "the versions", |window| chain(window).is_some());
        window.get_by_label("Version 1 of a1, read by b1");
        window.get_by_label("Version 2 of a2, read by nobody").click();
        window.run_steps(4);
        assert_eq!(document(&window).attended().len(), 1);
        window.get_by_label("Name of a key").focus();
        window.run_steps(2);
        window.get_by_label("Name of a key").type_text("z");
        window.run_steps(2);
        press(&mut window, egui::Key::Enter);
        wait(&mut window, "the other key", |window| says(window, "Key z in the order"));
        window.get_by_label("Name of a key").focus();
        window.run_steps(2);
        window.get_by_label("Name of a key").type_text("zzz");
        window.run_steps(2);
        press(&mut window, egui::Key::Enter);
        wait(&mut window, "the answer", |window| says(window, "There is no key called"));
    }
}

#[test]
fn the_matrix_has_a_cell_for_every_edge() {
    for theme in themes() {
        let (mut window, _folder) = on_page(FRACTURED, theme, egui::Key::Num4);
        let picture = document(&window).current_picture().expect("a picture").clone();
        let edges = &picture.argument.counterexample.violation.edges;
        let name = |t: isoscope::history::TransactionId| match t.is_initial() {
            true => "initial".to_owned(),
            false => picture.argument.counterexample.history.transaction_name(t),
        };
        for edge in edges {
            let ends = format!("from {} to {}", name(edge.from), name(edge.to));
            assert!(window.query_all_by_label_contains(&ends).next().is_some(), "{ends}");
        }
        let ends = format!("from {} to {}", name(edges[0].from), name(edges[0].to));
        let cell = window.query_all_by_label_contains(&ends).next().expect("just seen").rect().center();
        click(&mut window, cell);
        assert!(matches!(document(&window).pinned, Some(Attention::Edge(_))));
        window.get_by_label("Its root cause").click();
        window.run_steps(4);
        assert!(document(&window).group.as_ref().is_some_and(|group| !group.cells.is_empty()));
    }
}

#[test]
fn back_and_forward_go_where_one_has_looked() {
    let (mut window, _folder) = opened(&format!("{FRACTURED}c: [r q 7]\n"), egui::Theme::Dark);
    let first = document(&window).selected;
    press(&mut window, egui::Key::N);
    wait(&mut window, "the picture", |window| !document(window).drawing);
    let second = document(&window).selected;
    assert_ne!(first, second);
    press(&mut window, egui::Key::Num5);
    let alt = |window: &mut Window, key| {
        window.key_press_modifiers(egui::Modifiers::ALT, key);
        window.run_steps(4);
    };
    alt(&mut window, egui::Key::ArrowLeft);
    assert_eq!((window.state().state().page, document(&window).selected), (Page::Graph, second));
    alt(&mut window, egui::Key::ArrowLeft);
    assert_eq!(document(&window).selected, first);
    alt(&mut window, egui::Key::ArrowRight);
    alt(&mut window, egui::Key::ArrowRight);
    assert_eq!((window.state().state().page, document(&window).selected), (Page::Text, second));
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
        let place = window.state().state().palette.as_ref().and_then(|p| p.found.iter().position(|f| f.name == what));
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
    wait(&mut window, "the versions", |window| says(window, "Key y in the order"));
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::P);
    window.run_steps(3);
    press(&mut window, egui::Key::Escape);
    assert!(window.state().state().palette.is_none(), "Esc closes it");
}

#[test]
fn a_broken_level_leads_to_its_smallest_anomaly() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    window.get_by_label(&format!("Level {}: violated", Level::ReadAtomic)).click();
    window.run_steps(4);
    wait(&mut window, "the picture", |window| !document(window).drawing);
    let selected = document(&window).selected.expect("something breaks it");
    let catalogue = document(&window).catalogue.clone().expect("it was checked");
    assert!(catalogue.violation(selected).is_some_and(|violation| violation.levels.contains(Level::ReadAtomic)));
    window.get_by_label(&format!("Level {}: not asked for", Level::StrictSerializability));
}
