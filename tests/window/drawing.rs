//! How the graph is drawn by choice: sessions folded into one card, cards put elsewhere, a whole component at once.
#![cfg(feature = "window")]

use crate::window;

use egui_kittest::kittest::Queryable as _;
use isoscope::app::picture::Picture;
use isoscope::app::state::{Attention, Page};
use std::sync::Arc;
use window::{FRACTURED, Window, choose, click, document, opened, press, says, themes, wait};

/// Two anomalies that share a transaction, and one by itself.
const CONNECTED: &str = "a: [w x 1, w z 1] [w x 2, w y 1] [w z 2, w u 1]\nb: [r y 1, r x 1]\nc: [r u 1, r z 1]\n\
                         d: [w p 1] [w p 2, w q 1]\ne: [r q 1] [r p 1]\n";

fn picture(window: &Window) -> Arc<Picture> {
    document(window)
        .current_picture()
        .expect("a picture")
        .clone()
}

fn drawn(window: &mut Window) {
    window.run_steps(4);
    wait(window, "the picture", |window| !document(window).drawing);
    window.run_steps(4);
}

fn n_cards(window: &Window) -> usize {
    picture(window).sketch.diagram.cards.len()
}

fn undo(window: &mut Window) {
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::Z);
    drawn(window);
}

/// The same history in a second window, after the project was saved.
fn reopened(window: &mut Window, folder: &tempfile::TempDir, theme: egui::Theme) -> Window {
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::S);
    window.run_steps(6);
    let history = folder.path().join("history.txt");
    let is_written =
        |_: &Window| std::fs::read_dir(folder.path()).is_ok_and(|files| files.count() > 1);
    wait(window, "the project file", is_written);
    window.run_steps(6);
    let mut second = window::window(theme);
    window::open(&mut second, history);
    drawn(&mut second);
    second
}

/// A write skew, which no order makes, and a session that does not see its own write, which its order makes.
#[test]
fn the_edge_that_makes_the_difference_is_marked_and_explained() {
    let own_write = "a: [w x 1] [w x 2] [r x 1]\n";
    let write_skew = "a: [r x 0, w y 1]\nb: [r y 0, w x 1]\n";
    for (text, n_marked) in [(own_write, 2), (write_skew, 0)] {
        let (mut window, _folder) = opened(text, themes()[0]);
        drawn(&mut window);
        let picture = picture(&window);
        assert_eq!(
            picture
                .sketch
                .diagram
                .arrows
                .iter()
                .filter(|arrow| arrow.is_decisive)
                .count(),
            n_marked,
            "{text}"
        );
        assert_eq!(
            says(&window, isoscope::export::ABOUT_DECISIVE),
            n_marked > 0,
            "{text}"
        );
        window.get_by_label("Details").click();
        window.run_steps(20);
        for words in [" in session order (", "Without session order, they satisfy"] {
            assert_eq!(says(&window, words), n_marked > 0, "{words}");
        }
    }
}

#[test]
fn sessions_fold_into_one_card_and_back() {
    for theme in themes() {
        let (mut window, folder) = opened(FRACTURED, theme);
        let all = n_cards(&window);
        let foldable = picture(&window).foldable.clone();
        assert!(!foldable.is_empty());
        // By key, for all sessions.
        press(&mut window, egui::Key::Z);
        drawn(&mut window);
        let folded = picture(&window);
        assert!(n_cards(&window) < all && says(&window, "folded: session "));
        let card = folded
            .sketch
            .diagram
            .cards
            .iter()
            .find(|card| !card.others.is_empty())
            .expect("a folded session");
        assert!(
            says(
                &window,
                &format!("Transaction {}, {}", card.title, card.status)
            ),
            "it has a name"
        );
        assert!(folded.drawn.iter().all(|edge| {
            let edge = &folded.edges()[*edge];
            folded.sketch.diagram.together_with(edge.from)
                != folded.sketch.diagram.together_with(edge.to)
        }));
        // What has attention lights the card that holds it.
        let inner = card.others[0];
        let look =
            isoscope::app::canvas::look::Lit::new(&folded, Some(Attention::Transaction(inner)));
        assert!(look.transactions.contains(&card.transaction));
        let second = reopened(&mut window, &folder, theme);
        assert_eq!(
            n_cards(&second),
            n_cards(&window),
            "the project file says so"
        );
        undo(&mut window);
        assert_eq!(n_cards(&window), all);
        // One session, by the card that is pinned, then by a double click.
        let unfolded = picture(&window);
        let history = &unfolded.argument.counterexample.history;
        let card = unfolded.sketch.diagram.cards.iter().find(|card| {
            !card.transaction.is_initial()
                && foldable.contains(&history.session_of(card.transaction))
        });
        let card = card.cloned().expect("a card of a session with several");
        let name = format!("Transaction {}, ", card.title);
        let corner = window.get_by_label_contains(&name).rect().min + egui::vec2(6.0, 6.0);
        click(&mut window, corner);
        press(&mut window, egui::Key::Z);
        drawn(&mut window);
        assert_eq!(picture(&window).shows.overrides.folded.len(), 1);
        // The chip unfolds.
        let chip = window
            .query_all_by_label_contains("folded: ")
            .next()
            .expect("on the picture")
            .rect()
            .center();
        click(&mut window, chip);
        drawn(&mut window);
        assert_eq!(n_cards(&window), all);
        choose(&mut window, "Layout", "Fold sessions");
        drawn(&mut window);
        assert_eq!(picture(&window).shows.overrides.folded, foldable);
    }
}

fn drag(window: &mut Window, from: egui::Pos2, way: egui::Vec2) {
    window.hover_at(from);
    window.step();
    window.drag_at(from);
    window.step();
    for step in 1..=5 {
        window.hover_at(from + way * step as f32 / 5.0);
        window.step();
    }
    window.drop_at(from + way);
    drawn(window);
}

#[test]
fn a_card_put_elsewhere_stays_there_in_the_project_too_and_undo_puts_it_back() {
    for theme in themes() {
        let (mut window, folder) = opened(FRACTURED, theme);
        let card = picture(&window).sketch.diagram.cards[0].clone();
        let name = format!("Transaction {}, ", card.title);
        let before = picture(&window).sketch.layout.cards[0].rect.min;
        let on_screen = window.get_by_label_contains(&name).rect().min;
        let other = format!(
            "Transaction {}, ",
            picture(&window).sketch.diagram.cards[1].title
        );
        let other_on_screen = window.get_by_label_contains(&other).rect();
        drag(
            &mut window,
            on_screen + egui::vec2(8.0, 8.0),
            egui::vec2(40.0, 30.0),
        );
        let after = picture(&window).sketch.layout.cards[0].rect.min;
        assert!((after - before).length() > 20.0, "{before:?} to {after:?}");
        assert_eq!(
            window.get_by_label_contains(&other).rect(),
            other_on_screen,
            "nothing else moves on the screen"
        );
        assert!(says(&window, "moved: 1 card"));
        let second = reopened(&mut window, &folder, theme);
        assert_eq!(picture(&second).sketch.layout.cards[0].rect.min, after);
        undo(&mut window);
        assert_eq!(picture(&window).sketch.layout.cards[0].rect.min, before);
        assert!(!says(&window, "moved: "));
    }
}

#[test]
fn a_component_is_one_graph_in_which_one_goes_from_anomaly_to_anomaly() {
    for theme in themes() {
        let (mut window, _folder) = opened(CONNECTED, theme);
        wait(&mut window, "everything", |window| {
            document(window).complete
        });
        let first = document(&window).selected.expect("an anomaly");
        press(&mut window, egui::Key::Q);
        wait(&mut window, "the component", |window| {
            document(window).component.graph.is_some()
        });
        window.run_steps(4);
        let group = document(&window)
            .component
            .graph
            .clone()
            .expect("the component");
        let sketch = group.sketch.as_ref().expect("small enough for a graph");
        let catalogue = document(&window).catalogue.clone().expect("findings");
        let n_all = catalogue.findings.violations.len();
        assert!(group.n > 1 && group.n < n_all, "{} of {n_all}", group.n);
        assert_eq!(sketch.diagram.arrows.len(), group.edges.len());
        assert!(says(&window, &format!("{} anomalies", group.n)));
        // A click on an edge chooses the anomaly that it belongs to.
        let (edge, id) = group
            .edges
            .iter()
            .enumerate()
            .find(|(_, (_, id))| *id != first)
            .map(|(edge, (_, id))| (edge, *id))
            .expect("an edge of another anomaly");
        let arrow = sketch
            .diagram
            .arrows
            .iter()
            .find(|arrow| arrow.edge == edge)
            .expect("it is drawn");
        let title = |card: usize| sketch.diagram.cards[card].title.as_str();
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
        drawn(&mut window);
        assert_eq!(document(&window).selected, Some(id));
        let same = document(&window)
            .component
            .graph
            .clone()
            .expect("still there");
        assert!(
            Arc::ptr_eq(&group, &same),
            "the component is the same and not drawn again"
        );
        // Cards lead to the history, and back to the anomaly's own picture.
        let card = sketch.diagram.cards[0].clone();
        let corner = window
            .get_by_label_contains(&format!("Transaction {}, ", card.title))
            .rect()
            .min;
        click(&mut window, corner + egui::vec2(6.0, 6.0));
        assert_eq!(document(&window).attended(), [card.transaction]);
        press(&mut window, egui::Key::Num4);
        assert_eq!(window.state().state().page, Page::Matrix);
        assert!(
            says(&window, &format!("{} anomalies", group.n)),
            "the matrix is about the same"
        );
        press(&mut window, egui::Key::Num1);
        choose(&mut window, "Layout", "This anomaly");
        drawn(&mut window);
        assert!(!document(&window).component.whole && n_cards(&window) > 0);
    }
}

#[test]
fn the_component_of_an_anomaly_without_edges_has_its_transactions() {
    for theme in themes() {
        let (mut window, _folder) = opened("a: [r x 7]\n", theme);
        press(&mut window, egui::Key::Q);
        wait(&mut window, "the component", |window| {
            document(window).component.graph.is_some()
        });
        let group = document(&window)
            .component
            .graph
            .clone()
            .expect("the component");
        assert_eq!(
            (
                group.edges.len(),
                group
                    .sketch
                    .as_ref()
                    .map(|sketch| sketch.diagram.cards.len())
            ),
            (0, Some(1))
        );
        press(&mut window, egui::Key::Num4);
        window.run_steps(4);
        assert!(
            document(&window).failed.is_empty(),
            "{:?}",
            document(&window).failed
        );
    }
}
