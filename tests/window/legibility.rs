//! Whatever the window shows is legible and inside it: on every page, in every dialog, in all sizes of window and text.
#![cfg(feature = "window")]

use crate::window;

use egui::{Key, Modifiers, Pos2, Rect, Shape, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::NodeT as _;
use isoscope::app::App;
use isoscope::app::page::About;
use isoscope::app::state::Page;
use window::{FRACTURED, Window, document, open, press, says, themes, wait, window_of, write};

/// No text is smaller than this, in points.
const SMALLEST: f32 = 11.0;

/// A long fork of two sessions that write and two that read, among a few other transactions.
const LONG_FORK: &str = "a: [w x 1] [w x 2, w u 7]\nb: [w y 1] [w y 2]\nc: [r x 1, r y 0] [r x 1, r y 0, w z 1]\n\
                         d: [r y 1, r x 0] [r u 7, r z 1]\n";

/// Sizes of windows in points: the smallest there is, and those of common screens at the scales 1, 1.5 and 2. With the
/// largest text, a window of 1024 × 700 or more has at least the room of the first.
const WINDOWS: [(f32, f32, f32); 7] = [
    (760.0, 480.0, 1.0),
    (1024.0, 700.0, 1.0),
    (1280.0, 800.0, 1.5),
    (853.0, 533.0, 1.5),
    (1280.0, 720.0, 2.0),
    (2560.0, 1440.0, 1.5),
    (3840.0, 2160.0, 1.0),
];

/// Goes through everything that can be seen of a history, and says what it is.
fn every_view(window: &mut Window, see: &mut impl FnMut(&mut Window, &str)) {
    for row in Page::table() {
        press(window, row.keys[0].logical_key);
        wait(window, "the page", |window| {
            let is_there = document(window).view(row.page).is_some();
            !document(window).drawing
                && (row.about == About::History || is_there || !draws(row.page))
        });
        window.run_steps(8);
        see(window, row.name);
    }
    press(window, Key::Num1);
    for (name, keys, modifiers) in [
        ("all levels", Key::L, Modifiers::SHIFT),
        ("replay", Key::Y, Modifiers::NONE),
        ("component", Key::Q, Modifiers::NONE),
        // What lies over it does not hide a graph that can be moved sideways.
        ("help", Key::Questionmark, Modifiers::NONE),
        ("palette", Key::P, Modifiers::COMMAND),
        ("export", Key::E, Modifiers::COMMAND),
        ("collect", Key::N, Modifiers::COMMAND),
    ] {
        window.key_press_modifiers(modifiers, keys);
        window.run_steps(12);
        see(window, name);
        // The same keys close what is no dialog.
        if modifiers == Modifiers::COMMAND || name == "help" {
            press(window, Key::Escape)
        } else {
            window.key_press_modifiers(modifiers, keys)
        }
        window.run_steps(6);
    }
}

fn draws(page: Page) -> bool {
    matches!(page, Page::Graph | Page::Lanes | Page::Key)
}

/// The sizes of the fonts of all texts, with the texts.
fn texts(shape: &Shape, found: &mut Vec<(f32, String)>) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| texts(shape, found)),
        Shape::Text(text) => {
            let job = &text.galley.job;
            let sizes = job
                .sections
                .iter()
                .filter(|section| !section.byte_range.is_empty());
            found.extend(sizes.map(|section| (section.format.font_id.size, job.text.clone())));
        }
        _ => {}
    }
}

fn too_small(window: &Window) -> Vec<(f32, String)> {
    let mut found = Vec::new();
    window
        .output()
        .shapes
        .iter()
        .for_each(|clipped| texts(&clipped.shape, &mut found));
    assert!(!found.is_empty());
    found.retain(|(size, _)| *size < SMALLEST);
    found.truncate(5);
    found
}

#[test]
fn no_text_is_smaller_than_eleven_points() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (text, size) in [
        (FRACTURED, (1024.0, 700.0)),
        (LONG_FORK, (760.0, 480.0)),
        (LONG_FORK, (2560.0, 1440.0)),
    ] {
        let mut window = window_of(size.into(), 1.0, egui::Theme::Dark);
        window.run_steps(3);
        assert_eq!(too_small(&window), [], "welcome page");
        open(&mut window, write(folder.path(), "history.txt", text));
        every_view(&mut window, &mut |window, name| {
            assert_eq!(too_small(window), [], "{name} in {size:?}");
        });
        press(&mut window, Key::Num1);
        // However far away a picture is.
        for _ in 0..12 {
            press(&mut window, Key::Minus);
            assert_eq!(too_small(&window), [], "zoomed out in {size:?}");
        }
    }
}

/// Buttons and fields beyond a side of the window; pages and lists can be scrolled up and down, dialogs cannot.
fn outside(window: &Window, size: Pos2) -> Vec<(String, Rect)> {
    let inside = Rect::from_min_max(Pos2::ZERO, size).expand(1.0);
    let scale = window.ctx.pixels_per_point();
    let at = |x: f64, y: f64| Pos2::new(x as f32 / scale, y as f32 / scale);
    let mut found = Vec::new();
    let mut open = vec![window.root().accesskit_node()];
    while let Some(node) = open.pop() {
        open.extend(node.children());
        let role = format!("{:?}", node.role());
        let is_control =
            ["Button", "TextInput", "CheckBox", "RadioButton", "ComboBox"].contains(&role.as_str());
        let Some(area) = node.bounding_box().filter(|_| is_control) else {
            continue;
        };
        let area = Rect::from_min_max(at(area.x0, area.y0), at(area.x1, area.y1));
        let name = node.label().unwrap_or_default();
        let is_fixed = [
            "Export path",
            "Plain text",
            "Cancel",
            "Close",
            "Find anything",
        ]
        .contains(&name.as_str());
        // The lattice scrolls sideways, too.
        let scrolls = name.starts_with("In the lattice, ");
        if (!scrolls && !inside.x_range().contains_range(area.x_range()))
            || (is_fixed && !inside.contains_rect(area))
        {
            found.push((name, area));
        }
    }
    found.truncate(6);
    found
}

/// Texts that are cut at a side of their panel. Pictures and tables that can be moved sideways may be.
fn cut(window: &Window) -> Vec<(String, Rect, Rect)> {
    let mut found = Vec::new();
    for clipped in &window.output().shapes {
        let Shape::Text(text) = &clipped.shape else {
            continue;
        };
        let (area, clip) = (text.visual_bounding_rect(), clipped.clip_rect);
        let is_seen = area.is_finite() && area.intersect(clip).is_positive() && text.angle == 0.0;
        if is_seen && !clip.x_range().expand(2.0).contains_range(area.x_range()) {
            found.push((text.galley.job.text.clone(), area, clip));
        }
    }
    found.truncate(6);
    found
}

trait Contains {
    fn contains_range(self, other: Self) -> bool;
}

impl Contains for egui::Rangef {
    fn contains_range(self, other: Self) -> bool {
        self.contains(other.min) && self.contains(other.max)
    }
}

#[test]
fn nothing_is_outside_the_window_or_cut() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut found = Vec::new();
    for (place, (width, height, scale)) in WINDOWS.into_iter().enumerate() {
        let mut window = window_of(vec2(width, height), scale, themes()[place % 2]);
        window.run_steps(3);
        let mut look = |window: &Window, name: &str| {
            let here = format!("{name} in {width} x {height}");
            let outside = outside(window, Pos2::new(width, height));
            found.extend(
                outside
                    .into_iter()
                    .map(|(text, area)| format!("{here}: {text} at {area}")),
            );
            // All levels lie over a graph.
            let moving = "Graph, replay, component, Timeline, Versions, Matrix, all levels";
            let moves_sideways = moving.split(", ").any(|moving| moving == name);
            let cut = if moves_sideways {
                Vec::new()
            } else {
                cut(window)
            };
            found.extend(
                cut.into_iter()
                    .map(|(text, area, clip)| format!("{here}: {text} at {area} cut by {clip}")),
            );
        };
        look(&window, "welcome page");
        open(&mut window, write(folder.path(), "history.txt", FRACTURED));
        every_view(&mut window, &mut |window, name| look(window, name));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// What a screen reader says, from the first to the last.
fn spoken(window: &Window) -> Vec<String> {
    let (mut all, mut open) = (Vec::new(), vec![window.root().accesskit_node()]);
    while let Some(node) = open.pop() {
        let children: Vec<_> = node.children().collect();
        open.extend(children.into_iter().rev());
        all.extend(node.label().or_else(|| node.value()));
    }
    all
}

#[test]
fn a_screen_reader_gets_the_parts_of_the_window_in_their_order() {
    let (mut window, _folder) = window::opened(FRACTURED, egui::Theme::Dark);
    window.run_steps(4);
    let spoken = spoken(&window);
    let picture = document(&window).current_picture().expect("a picture");
    let explanation = &picture.argument.explanation;
    let parts = [
        "Level RA: violated".to_owned(),
        format!("{} ", explanation.title),
        explanation.title.clone(),
        "Step 1: ".to_owned(),
        format!("Step {}: ", explanation.steps.len()),
        "Where in the history".to_owned(),
    ];
    let mut from = 0;
    for part in parts {
        let rest = spoken[from..].iter();
        let found = rest.clone().position(|text| text.starts_with(&part));
        from += 1 + found.unwrap_or_else(|| panic!("{part} after {:?}", &spoken[..from]));
    }
}

#[test]
fn the_size_of_text_is_chosen_by_keys_and_kept() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let recent = folder.path().join("recent.txt");
    let start = || {
        let app = App::new(Some(recent.clone()));
        let builder = Harness::builder().with_size([2560.0, 1440.0]);
        let mut window = builder.build_ui_state(|ui, app: &mut App| app.draw(ui), app);
        window.run_steps(3);
        window
    };
    let mut window = start();
    for (key, factor) in [
        (Key::Plus, 1.1),
        (Key::Plus, 1.25),
        (Key::Minus, 1.1),
        (Key::Num0, 1.0),
        (Key::Plus, 1.1),
    ] {
        window.key_press_modifiers(Modifiers::COMMAND, key);
        window.run_steps(3);
        assert!(
            (window.ctx.zoom_factor() - factor).abs() < 1e-3,
            "{key:?}: {}",
            window.ctx.zoom_factor()
        );
    }
    // Closing waits for what is being written.
    drop(window);
    assert!((start().ctx.zoom_factor() - 1.1).abs() < 1e-3);
}

#[test]
fn a_page_with_room_shows_more_about_the_anomaly() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (size, has_all) in [((1280.0, 480.0), false), ((1280.0, 800.0), true)] {
        let mut window = window_of(size.into(), 1.0, egui::Theme::Light);
        open(&mut window, write(folder.path(), "history.txt", FRACTURED));
        press(&mut window, Key::Num2);
        wait(&mut window, "all sessions", |window| {
            !has_all || says(window, "Sessions on a time axis")
        });
        assert_eq!(says(&window, "Sessions on a time axis"), has_all);
        assert!(says(&window, "The anomaly over time"));
    }
}
