//! Going through a counterexample in the window: the layers of its argument, its cases, its operations, and what stays in
//! its picture by choice.
#![cfg(feature = "window")]

use crate::window;

use egui_kittest::kittest::Queryable as _;
use isoscope::app::picture::{Picture, Scope};
use isoscope::app::state::{Attention, Page, Stage};
use isoscope::counterexample::LayerKind;
use isoscope::counterexample::replay::Expected;
use isoscope::diagram::Emphasis;
use std::sync::Arc;
use window::{FRACTURED, Window, click, document, opened, press, says, themes, wait};

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
fn layers_come_one_after_another_and_nothing_moves() {
    for theme in themes() {
        let (mut window, _folder) = opened(FRACTURED, theme);
        let layers = picture(&window).argument.interpretation.layers.clone();
        assert_eq!(layers[0].kind, LayerKind::Recover);
        assert!(layers.len() >= 3, "{layers:?}");
        let (mut sketches, mut edges) = (Vec::new(), Vec::new());
        for (place, layer) in layers.iter().enumerate() {
            press(&mut window, egui::Key::CloseBracket);
            drawn(&mut window);
            assert_eq!(document(&window).argument.stage, Stage::Layer(place));
            assert_eq!(picture(&window).shows.scope, Scope::Layers);
            assert!(
                says(&window, layer.kind.meaning()) && says(&window, &layer.caption),
                "{}",
                layer.caption
            );
            sketches.push(Arc::clone(&picture(&window).sketch));
            edges.push(edges_named(&window));
        }
        assert!(
            sketches
                .windows(2)
                .all(|pair| Arc::ptr_eq(&pair[0], &pair[1])),
            "all layers are parts of one picture"
        );
        let shown: Vec<usize> = (0..layers.len())
            .map(|place| {
                picture(&window)
                    .argument
                    .interpretation
                    .shown(place)
                    .edges
                    .len()
            })
            .collect();
        assert_eq!(edges, shown, "what is not there yet has no name");
        // It ends at the last layer; back leads to the one before, Esc to the argument.
        press(&mut window, egui::Key::ArrowRight);
        assert_eq!(
            document(&window).argument.stage,
            Stage::Layer(layers.len() - 1)
        );
        press(&mut window, egui::Key::OpenBracket);
        assert_eq!(
            document(&window).argument.stage,
            Stage::Layer(layers.len() - 2)
        );
        press(&mut window, egui::Key::Escape);
        drawn(&mut window);
        assert_eq!(
            (
                document(&window).argument.stage,
                picture(&window).shows.scope
            ),
            (Stage::Argument, Scope::Argument)
        );
    }
}

#[test]
fn layers_are_chosen_by_the_pointer() {
    for theme in themes() {
        let (mut window, _folder) = opened(FRACTURED, theme);
        push(&mut window, "Layer evidence");
        assert_eq!(document(&window).argument.stage, Stage::Layer(1));
        push(&mut window, "Next layer");
        assert_eq!(document(&window).argument.stage, Stage::Layer(2));
        push(&mut window, "Previous layer");
        assert_eq!(document(&window).argument.stage, Stage::Layer(1));
        push(&mut window, "Whole argument");
        assert_eq!(document(&window).argument.stage, Stage::Argument);
    }
}

#[test]
fn layers_go_on_by_themselves_until_the_last_or_a_pause() {
    for theme in themes() {
        let (mut window, _folder) = opened(FRACTURED, theme);
        let last = picture(&window).argument.interpretation.layers.len() - 1;
        press(&mut window, egui::Key::V);
        assert_eq!(document(&window).argument.stage, Stage::Layer(0));
        wait(&mut window, "the second layer", |window| {
            document(window).argument.stage == Stage::Layer(1)
        });
        push(&mut window, "Play or pause");
        assert_eq!(document(&window).argument.playing, None);
        window.run_steps(80);
        assert_eq!(
            document(&window).argument.stage,
            Stage::Layer(1),
            "it waits"
        );
        press(&mut window, egui::Key::V);
        wait(&mut window, "the end", |window| {
            document(window).argument.playing.is_none()
        });
        assert_eq!(document(&window).argument.stage, Stage::Layer(last));
        // From the end it begins again; a step by hand stops it.
        press(&mut window, egui::Key::V);
        assert_eq!(document(&window).argument.stage, Stage::Layer(0));
        press(&mut window, egui::Key::CloseBracket);
        assert_eq!(
            (
                document(&window).argument.stage,
                document(&window).argument.playing
            ),
            (Stage::Layer(1), None)
        );
    }
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
        push(&mut window, "Orders ruled out");
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

/// The run of the chosen anomaly, once it is made.
fn replayed(window: &mut Window) -> Arc<isoscope::counterexample::replay::ReplayRun> {
    wait(window, "the replay", |window| {
        document(window)
            .argument
            .run
            .as_ref()
            .is_some_and(|view| view.run.is_some())
    });
    document(window)
        .argument
        .run
        .as_ref()
        .and_then(|view| view.run.clone())
        .expect("just seen")
}

fn step(window: &Window) -> Option<usize> {
    document(window).argument.run.as_ref().map(|view| view.step)
}

#[test]
fn a_replay_goes_through_the_operations_with_the_state_of_the_keys() {
    for theme in themes() {
        let (mut window, _folder) = opened("a: [r x 0, w x 1]\nb: [r x 0, w x 2]\n", theme);
        press(&mut window, egui::Key::Y);
        let run = replayed(&mut window);
        let example = picture(&window).argument.counterexample.clone();
        assert_eq!(
            run.steps.len(),
            example.history.n_operations() + 2,
            "every operation, and two ends"
        );
        for (place, of_run) in run.steps.iter().enumerate() {
            assert_eq!(step(&window), Some(place));
            assert!(
                says(
                    &window,
                    &format!("Replay step {} of {}", place + 1, run.steps.len())
                ) && says(&window, &of_run.text)
            );
            for (key, when) in of_run
                .before
                .iter()
                .zip(&of_run.after)
                .flat_map(|(b, a)| [(b, "before"), (a, "after")])
            {
                let name = example.history.key_name(key.key);
                assert!(
                    says(&window, &format!("Key {name} {when}: {}", key.text)),
                    "{place} {when}"
                );
            }
            // The same transaction has attention in the graph and in the lanes.
            let whole = example.renaming.old_transaction(of_run.transaction);
            assert_eq!(document(&window).attended(), [whole]);
            press(&mut window, egui::Key::J);
        }
        assert_eq!(
            step(&window),
            Some(run.steps.len() - 1),
            "it ends at the last"
        );
        press(&mut window, egui::Key::K);
        assert_eq!(step(&window), Some(run.steps.len() - 2));
        press(&mut window, egui::Key::Num2);
        wait(&mut window, "the lanes", |window| {
            document(window).timeline.is_some()
        });
        assert!(says(&window, "Replay step "), "it goes on under the lanes");
        press(&mut window, egui::Key::Y);
        assert!(document(&window).argument.run.is_none());
    }
}

#[test]
fn a_replay_says_what_the_claimed_level_would_have_given() {
    for theme in themes() {
        // The second write is one that snapshot isolation refuses.
        let (mut window, _folder) = opened("a: [r x 0, w x 1]\nb: [r x 0, w x 2]\n", theme);
        push(&mut window, "Replay");
        let run = replayed(&mut window);
        let place = run
            .steps
            .iter()
            .position(|step| step.expected == Some(Expected::Refused))
            .expect("one is refused");
        window.set_size(egui::vec2(1280.0, 1200.0));
        window.run_steps(3);
        let line = format!(
            "{}  {}",
            place + 1,
            run.steps[place].text.trim_end_matches('.')
        );
        window.get_by_label_contains(&line).scroll_to_me();
        window.run_steps(4);
        window.get_by_label_contains(&line).click();
        window.run_steps(4);
        assert_eq!(step(&window), Some(place));
        assert!(says(&window, "this write is refused"));
        assert!(says(
            &window,
            "A single-copy database could return just these operations at READ COMMITTED"
        ));
        push(&mut window, "Previous step");
        assert_eq!(step(&window), Some(place - 1));
        push(&mut window, "Next step");
        assert_eq!(step(&window), Some(place));
        push(&mut window, "Close the replay");
        assert!(document(&window).argument.run.is_none());
        // A fractured read: what was read is not what should have been.
        let (mut window, _folder) = opened("a: [w x 1] [w x 2, w y 1]\nb: [r y 1, r x 1]\n", theme);
        press(&mut window, egui::Key::Y);
        replayed(&mut window);
        wait(&mut window, "the odd read", |window| {
            if !says(window, "but it saw 1") {
                window.key_press(egui::Key::J);
            }
            says(window, "would return 2, but it saw 1")
        });
    }
}

#[test]
fn a_replay_goes_on_by_itself_and_follows_the_chosen_anomaly() {
    for theme in themes() {
        let (mut window, _folder) = opened(&format!("{FRACTURED}c: [r q 7]\n"), theme);
        press(&mut window, egui::Key::Y);
        let run = replayed(&mut window);
        press(&mut window, egui::Key::V);
        wait(&mut window, "the second step", |window| {
            step(window) == Some(1)
        });
        push(&mut window, "Play or pause");
        window.run_steps(60);
        assert_eq!(
            (step(&window), document(&window).argument.playing),
            (Some(1), None)
        );
        press(&mut window, egui::Key::V);
        wait(&mut window, "the end", |window| {
            document(window).argument.playing.is_none()
        });
        assert_eq!(step(&window), Some(run.steps.len() - 1));
        let first = document(&window).selected;
        press(&mut window, egui::Key::N);
        drawn(&mut window);
        wait(&mut window, "the other replay", |window| {
            document(window)
                .argument
                .run
                .as_ref()
                .is_some_and(|view| view.of != first && view.run.is_some())
        });
        assert_eq!(step(&window), Some(0));
    }
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
        window.set_size(egui::vec2(1280.0, 2400.0));
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
