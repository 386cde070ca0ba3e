//! Going through a counterexample in the window: its story, its cases, and what stays in
//! its picture by choice.
#![cfg(feature = "window")]

use crate::window;

use egui::Theme;
use egui_kittest::kittest::Queryable as _;
use isoscope::app::picture::Picture;
use isoscope::app::replaying::Story;
use isoscope::app::state::{Attention, Page, Stage};
use isoscope::counterexample::replay::ReplayScene;
use isoscope::diagram::Emphasis;
use std::sync::Arc;
use window::{FRACTURED, Window, choose, click, document, opened, press, says, themes, wait};

/// Whichever of two writers of x came first, a cycle closes.
const CASES: &str = include_str!("../../sample_histories/case-split.txt");

fn picture(window: &Window) -> Arc<Picture> {
    document(window)
        .current_picture()
        .expect("a picture")
        .clone()
}

fn drawn(window: &mut Window) {
    wait(window, "the picture", |window| !document(window).drawing);
}

fn edges_named(window: &Window) -> usize {
    window.query_all_by_label_contains("Edge ").count()
}

/// Presses what has this name, where others may have it as a part of theirs.
fn push(window: &mut Window, name: &str) {
    window.get_by_label(name).click();
    window.run_steps(4);
    drawn(window);
}

#[test]
fn orders_that_were_ruled_out_are_drawn_on_demand() {
    for theme in themes() {
        let (mut window, _folder) = opened(FRACTURED, theme);
        let rejected = |window: &Window| {
            let diagram = &picture(window).sketch.diagram;
            diagram
                .arrows
                .iter()
                .filter(|arrow| arrow.emphasis == Emphasis::Rejected)
                .count()
        };
        assert_eq!(rejected(&window), 0);
        press(&mut window, egui::Key::A);
        drawn(&mut window);
        assert!(
            rejected(&window) >= 2,
            "the order and what would have followed"
        );
        let index = picture(&window).argument.interpretation.alternatives[0].edge;
        let arrow = picture(&window)
            .sketch
            .diagram
            .arrows
            .iter()
            .find(|a| a.edge == index)
            .expect("drawn")
            .clone();
        let at = window
            .get_by_label_contains(&format!("Edge {} from", arrow.text()))
            .rect()
            .center();
        click(&mut window, at);
        assert_eq!(
            document(&window).argument.pinned,
            Some(Attention::Edge(index))
        );
        assert!(says(&window, "This order was ruled out."));
        choose(&mut window, "Layout", "Orders ruled out");
        drawn(&mut window);
        assert_eq!(rejected(&window), 0);
    }
}

#[test]
fn cases_are_gone_through_one_after_another() {
    for theme in themes() {
        let (mut window, _folder) = opened(CASES, theme);
        let tree = picture(&window)
            .argument
            .cases
            .clone()
            .expect("no single cycle explains it");
        for place in tree.in_order(0).into_iter().skip(1) {
            press(&mut window, egui::Key::Period);
            drawn(&mut window);
            assert_eq!(document(&window).argument.stage, Stage::Case(place));
            assert_eq!(
                document(&window).argument.pinned,
                Some(Attention::Case(place))
            );
            let violation = &picture(&window).argument.counterexample.violation;
            let all = tree.edges_of(violation, place);
            assert!(
                all.iter().all(|edge| picture(&window).drawn.contains(edge)),
                "its edges are drawn"
            );
        }
        press(&mut window, egui::Key::Comma);
        assert_eq!(document(&window).argument.stage, Stage::Case(1));
        let second = window.get_by_label_contains("Case 2: ").rect().center();
        click(&mut window, second);
        assert_eq!(document(&window).argument.stage, Stage::Case(2));
        push(&mut window, "Previous case");
        assert_eq!(document(&window).argument.stage, Stage::Case(1));
        push(&mut window, "Next case");
        assert_eq!(document(&window).argument.stage, Stage::Case(2));
        press(&mut window, egui::Key::Escape);
        press(&mut window, egui::Key::Escape);
        assert_eq!(document(&window).argument.stage, Stage::Argument);
    }
}

#[test]
fn what_one_cycle_explains_has_no_cases() {
    let (mut window, _folder) = opened(FRACTURED, egui::Theme::Dark);
    press(&mut window, egui::Key::Period);
    assert_eq!(document(&window).argument.stage, Stage::Argument);
    assert!(says(&window, "there are no cases"));
    assert_eq!(window.state().state().page, Page::Graph);
}

/// The scenes of the chosen anomaly's story, once they are made.
fn told(window: &mut Window) -> Vec<ReplayScene> {
    wait(window, "the story", |window| story(window).is_some());
    story(window).expect("just seen").scenes.clone()
}

fn story(window: &Window) -> Option<Arc<Story>> {
    document(window).argument.run.as_ref()?.story.clone()
}

fn scene(window: &Window) -> Option<usize> {
    document(window)
        .argument
        .run
        .as_ref()
        .map(|view| view.scene)
}

fn is_playing(window: &Window) -> bool {
    document(window).argument.playing.is_some()
}

#[test]
fn a_story_goes_scene_by_scene_and_nothing_moves() {
    for theme in themes() {
        let (mut window, _folder) = opened(FRACTURED, theme);
        let (sketch, whole) = (Arc::clone(&picture(&window).sketch), edges_named(&window));
        press(&mut window, egui::Key::Y);
        let scenes = told(&mut window);
        press(&mut window, egui::Key::Space);
        assert!(scenes.len() >= 3 && !is_playing(&window), "{scenes:?}");
        let mut edges = Vec::new();
        for (place, of_story) in scenes.iter().enumerate() {
            assert_eq!(scene(&window), Some(place));
            assert!(says(&window, &of_story.caption), "{}", of_story.caption);
            edges.push(edges_named(&window));
            press(&mut window, egui::Key::ArrowRight);
        }
        assert!(
            edges.is_sorted() && edges[0] < whole,
            "what comes later has no name: {edges:?}"
        );
        assert_eq!(edges.last(), Some(&whole));
        assert!(Arc::ptr_eq(&picture(&window).sketch, &sketch));
        let last = scenes.len() - 1;
        assert_eq!(scene(&window), Some(last), "it ends at the last");
        press(&mut window, egui::Key::OpenBracket);
        assert_eq!(scene(&window), Some(last - 1));
        press(&mut window, egui::Key::Escape);
        assert!(scene(&window).is_none());
    }
}

#[test]
fn scenes_are_chosen_by_the_pointer() {
    for theme in themes() {
        let (mut window, _folder) = opened(FRACTURED, theme);
        push(&mut window, "Show me");
        told(&mut window);
        push(&mut window, "Scene 2");
        assert_eq!((scene(&window), is_playing(&window)), (Some(1), false));
        push(&mut window, "Next step");
        assert_eq!(scene(&window), Some(2));
        push(&mut window, "Previous step");
        assert_eq!(scene(&window), Some(1));
        push(&mut window, "End this");
        assert!(scene(&window).is_none());
    }
}

#[test]
fn a_story_goes_on_by_itself_and_follows_the_chosen_anomaly() {
    for theme in themes() {
        let (mut window, _folder) = opened(&format!("{FRACTURED}c: [r q 7]\n"), theme);
        press(&mut window, egui::Key::V);
        let last = told(&mut window).len() - 1;
        wait(&mut window, "the second scene", |window| {
            scene(window) == Some(1)
        });
        push(&mut window, "Play or pause");
        window.run_steps(60);
        assert_eq!((scene(&window), is_playing(&window)), (Some(1), false));
        press(&mut window, egui::Key::Space);
        wait(&mut window, "the end", |window| !is_playing(window));
        assert_eq!(scene(&window), Some(last));
        // From the end it begins again; a step by hand stops it.
        press(&mut window, egui::Key::V);
        assert_eq!((scene(&window), is_playing(&window)), (Some(0), true));
        press(&mut window, egui::Key::J);
        assert_eq!((scene(&window), is_playing(&window)), (Some(1), false));
        let first = document(&window).selected;
        press(&mut window, egui::Key::N);
        drawn(&mut window);
        wait(&mut window, "the other story", |window| {
            let view = document(window).argument.run.as_ref();
            view.is_some_and(|view| view.of != first && view.story.is_some())
        });
        assert_eq!(scene(&window), Some(0));
    }
}

#[test]
fn a_story_says_what_should_have_happened() {
    let last = |scenes: &[ReplayScene]| {
        let is_wrong = |scene: &&ReplayScene| scene.wrong.is_some();
        scenes
            .iter()
            .find(is_wrong)
            .map(|scene| scene.caption.clone())
    };
    // The second write is one that snapshot isolation refuses.
    let (mut window, _folder) = opened("a: [r x 0, w x 1]\nb: [r x 0, w x 2]\n", Theme::Dark);
    press(&mut window, egui::Key::Y);
    let caption = last(&told(&mut window)).expect("one is refused");
    assert!(caption.ends_with("would have refused that."), "{caption}");
    // A fractured read: what was read is not what should have been.
    let text = "a: [w x 1] [w x 2, w y 1]\nb: [r y 1, r x 1]\n";
    let (mut window, _folder) = opened(text, Theme::Dark);
    press(&mut window, egui::Key::Y);
    let caption = last(&told(&mut window)).expect("one read is wrong");
    assert_eq!(caption, "b1 read x = 1. It should have returned 2.");
}

/// The place of an edge that is evidence and no part of the cycle.
fn evidence(window: &Window) -> usize {
    let picture = picture(window);
    let arrow = picture
        .sketch
        .diagram
        .arrows
        .iter()
        .find(|arrow| arrow.emphasis == Emphasis::Evidence);
    arrow.expect("the contradiction rests on something").edge
}

fn pin_edge(window: &mut Window, edge: usize) {
    let picture = picture(window);
    let diagram = &picture.sketch.diagram;
    let arrow = diagram
        .arrows
        .iter()
        .find(|arrow| arrow.edge == edge)
        .expect("it is drawn");
    let (from, to) = (
        &diagram.cards[arrow.from].title,
        &diagram.cards[arrow.to].title,
    );
    let at = window
        .get_by_label(&format!("Edge {} from {from} to {to}", arrow.text()))
        .rect()
        .center();
    click(window, at);
    assert_eq!(
        document(window).argument.pinned,
        Some(Attention::Edge(edge))
    );
}

/// Writes an export by the dialog and gives its text.
fn exported(window: &mut Window) -> String {
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::E);
    window.run_steps(4);
    let path = window
        .state()
        .state()
        .export
        .as_ref()
        .map(|form| form.path.clone())
        .expect("the dialog is open");
    let _ = std::fs::remove_file(&path);
    window.get_by_label("Export").click();
    window.run_steps(2);
    wait(window, "the file", |_| {
        std::path::Path::new(&path).is_file()
    });
    std::fs::read_to_string(&path).expect("it was written")
}

fn arrows_in(svg: &str) -> usize {
    // The legend has lines of its own, outside of all groups.
    let groups = svg
        .split("<g class=\"dependency\"")
        .skip(1)
        .filter_map(|group| group.split("</g>").next());
    groups
        .filter(|group| group.contains("class=\"edge "))
        .count()
}

#[test]
fn kept_evidence_stays_when_the_rest_is_folded_and_in_exports() {
    for theme in themes() {
        let (mut window, folder) = opened(FRACTURED, theme);
        let edge = evidence(&window);
        pin_edge(&mut window, edge);
        press(&mut window, egui::Key::S);
        drawn(&mut window);
        assert!(says(&window, "kept: "));
        press(&mut window, egui::Key::Escape);
        press(&mut window, egui::Key::E);
        drawn(&mut window);
        let kept = picture(&window);
        assert!(
            kept.drawn.contains(&edge) && kept.expanded.is_empty(),
            "{:?}",
            kept.drawn
        );
        let cycle = kept
            .argument
            .counterexample
            .violation
            .proof
            .cycle_edges()
            .len();
        assert_eq!(kept.drawn.len(), cycle + 1);
        assert_eq!(
            arrows_in(&exported(&mut window)),
            kept.sketch.diagram.arrows.len()
        );
        // A report draws what was kept as well, and nothing else beside the contradiction.
        let shift = egui::Modifiers::COMMAND | egui::Modifiers::SHIFT;
        window.key_press_modifiers(shift, egui::Key::E);
        window.run_steps(3);
        let id = document(&window)
            .selected
            .expect("chosen")
            .to_string()
            .replace('/', "-");
        let report = folder.path().join(format!("history-{id}-report"));
        wait(&mut window, "the report", |_| {
            report.join("report.html").is_file()
        });
        let svg = std::fs::read_to_string(report.join("picture.svg")).expect("it has a picture");
        assert_eq!(arrows_in(&svg), kept.sketch.diagram.arrows.len());
        // A click on the words keeps nothing any more.
        let at = window
            .query_all_by_label_contains("kept: ")
            .next()
            .expect("on the picture")
            .rect()
            .center();
        click(&mut window, at);
        drawn(&mut window);
        assert_eq!(picture(&window).drawn.len(), cycle);
    }
}

#[test]
fn what_is_left_out_is_counted_and_missing_in_exports() {
    for theme in themes() {
        let (mut window, _folder) = opened(FRACTURED, theme);
        let all = picture(&window).drawn.len();
        let edge = evidence(&window);
        pin_edge(&mut window, edge);
        press(&mut window, egui::Key::H);
        drawn(&mut window);
        assert_eq!(picture(&window).drawn.len(), all - 1);
        assert!(!picture(&window).drawn.contains(&edge) && says(&window, "hidden: "));
        let svg = exported(&mut window);
        assert_eq!(arrows_in(&svg), all - 1);
        assert!(
            svg.contains("left out by choice: + 1 other edge"),
            "the page says so"
        );
        window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::Z);
        window.run_steps(4);
        drawn(&mut window);
        assert_eq!(picture(&window).drawn.len(), all, "undone");
        // An operation goes into the others of its card.
        let card = picture(&window)
            .sketch
            .diagram
            .cards
            .iter()
            .find(|card| !card.rows.is_empty())
            .cloned();
        let card = card.expect("a card with rows");
        let part = isoscope::export::Part::Operation(card.rows[0].operation);
        let row = picture(&window).sketch.layout.cards.len();
        assert!(row > 0);
        let title = format!("Transaction {}, ", card.title);
        let at = window.get_by_label_contains(&title).rect();
        let folded = |window: &Window| {
            let picture = picture(window);
            let of = picture
                .sketch
                .diagram
                .cards
                .iter()
                .find(|other| other.transaction == card.transaction);
            of.map(|card| (card.rows.len(), card.folded))
        };
        // Rows stand under the title; the first that answers is pinned.
        let mut y = at.top() + 6.0;
        while document(&window).argument.pinned
            != Some(Attention::Operation(card.rows[0].operation))
            && y < at.bottom()
        {
            click(&mut window, egui::pos2(at.center().x, y));
            window.run_steps(2);
            y += 6.0;
        }
        press(&mut window, egui::Key::Num1);
        press(&mut window, egui::Key::H);
        drawn(&mut window);
        assert_eq!(
            folded(&window),
            Some((card.rows.len() - 1, card.folded + 1)),
            "{part}"
        );
        press(&mut window, egui::Key::U);
        drawn(&mut window);
        assert_eq!(folded(&window), Some((card.rows.len(), card.folded)));
    }
}

#[test]
fn choices_are_made_by_buttons_and_kept_in_the_project_file() {
    for theme in themes() {
        let (mut window, folder) = opened(FRACTURED, theme);
        // Buttons below the end of the panel cannot be clicked.
        window.set_size(egui::vec2(1280.0, 1400.0));
        window.run_steps(3);
        let edge = evidence(&window);
        pin_edge(&mut window, edge);
        push(&mut window, "Hide this edge");
        assert!(!picture(&window).drawn.contains(&edge));
        window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::S);
        wait(&mut window, "the project file", |window| {
            says(window, "Project saved")
        });
        let mut second = window::window(theme);
        window::open(&mut second, folder.path().join("history.txt"));
        drawn(&mut second);
        assert!(
            !picture(&second).drawn.contains(&edge),
            "the project file says so"
        );
        push(&mut window, "Take it back in");
        assert!(picture(&window).drawn.contains(&edge));
        push(&mut window, "Always show this edge");
        assert!(
            document(&window)
                .chosen_parts()
                .is_some_and(|picks| picks.kept.len() == 1)
        );
        push(&mut window, "Keep no longer");
        assert!(document(&window).chosen_parts().is_none());
    }
}

/// Repeated values: it is open who wrote what was read, and inside the first case that is open for another read.
const NESTED: &str = "a: [w x 1, w y 1, w x 1] [w y 1, w x 1]\nb: [r x 1, r y 0] [w y 1, r x 1]\nc: [w x 1, r y 1]\n";

#[test]
fn cases_inside_cases_open_branch_by_branch() {
    for theme in themes() {
        let (mut window, _folder) = opened(NESTED, theme);
        window.set_size(egui::vec2(1280.0, 3600.0));
        window.run_steps(3);
        let is_nested = |window: &Window| {
            let cases = picture(window).argument.cases.clone();
            cases.is_some_and(|tree| {
                tree.nodes
                    .iter()
                    .any(|node| node.label.to_string() == "1.1")
            })
        };
        let n = document(&window)
            .catalogue
            .as_ref()
            .map_or(0, |catalogue| catalogue.entries.len());
        for _ in 0..n {
            if is_nested(&window) {
                break;
            }
            press(&mut window, egui::Key::N);
            drawn(&mut window);
        }
        assert!(is_nested(&window), "one of {n} anomalies");
        assert!(
            says(&window, "Case 1: ") && !says(&window, "Case 1.1: "),
            "it is folded at first"
        );
        push(&mut window, "Open Case 1");
        assert!(says(&window, "Case 1.1: "));
        push(&mut window, "Fold Case 1");
        assert!(!says(&window, "Case 1.1: "));
        // Going on by keys opens what is on the way.
        let tree = picture(&window)
            .argument
            .cases
            .clone()
            .expect("it has cases");
        for place in tree.in_order(0).into_iter().skip(1) {
            press(&mut window, egui::Key::Period);
            drawn(&mut window);
            let picture = picture(&window);
            assert_eq!(document(&window).argument.stage, Stage::Case(place));
            assert!(says(
                &window,
                &format!("Case {}: ", tree.nodes[place].label)
            ));
            let all = tree.edges_of(&picture.argument.counterexample.violation, place);
            assert!(
                all.iter().all(|edge| picture.drawn.contains(edge)),
                "case {}",
                tree.nodes[place].label
            );
        }
    }
}
