//! Every listed anomaly as a picture: it can be read, and it says what it has to say.

use crate::common;

use emath::Pos2;
use isoscope::checkers::{self, Violation};
use isoscope::control::Control;
use isoscope::counterexample::{explain, minimize};
use isoscope::diagram::Emphasis;
use isoscope::diagram::layout::{LayoutStyle, Problem, label_text, place_text, problems, row_text};
use isoscope::diagram::scene::Shape;
use isoscope::diagram::text_size::{columns, prose_width, width};
use isoscope::export::{ComposeOptions, ExportKind, Picture, compose, export, page};
use isoscope::fonts;
use isoscope::formats;
use isoscope::history::History;
use resvg::usvg::{self, fontdb};
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Anomalies of one pattern that are drawn of one file.
const OF_A_PATTERN: usize = 3;
/// Larger files take long to make small.
const SMALL: u64 = 24_000;

/// Of lines side by side, in units of the page: 6 at the scale of the smallest text.
const LEAST_DISTANCE: f32 = 5.2;

#[test]
fn every_anomaly_of_the_samples_can_be_read() {
    let folder = common::repository("sample_histories");
    check(&files(&folder, u64::MAX), usize::MAX, 40);
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn anomalies_of_real_histories_can_be_read() {
    let corpus = common::corpus();
    let files: Vec<PathBuf> = [
        "plume-text",
        "plume-text/reproduce",
        "plume-text/bugs",
        "elle",
        "elle/anomalies",
        "awdit-test",
    ]
    .iter()
    .flat_map(|folder| files(&corpus.join(folder), SMALL))
    .collect();
    check(&files, OF_A_PATTERN, 60);
}

/// Sessions, keys and values in Arabic, Hebrew, Chinese, Japanese, Korean and emoji, and of 40 to 60 characters.
#[test]
fn names_of_any_script_and_length_can_be_read() {
    let path = common::repository("tests/data/names.json");
    check(std::slice::from_ref(&path), usize::MAX, 5);
    let history = formats::open(&path, None, &Control::new()).expect("a history");
    let fallback = fonts::fallback(fonts::lacking(history.texts()));
    if let Some(advice) = fonts::advice(&fallback.missing) {
        println!("skipped in part: {advice}");
    }
    let advance = |c: char| {
        let installed = fallback
            .faces
            .iter()
            .filter_map(|face| FontRef::from_index(&face.data, face.index).ok());
        let mut fonts = fonts::BUNDLED
            .iter()
            .filter_map(|data| FontRef::new(data).ok())
            .chain(installed);
        fonts.find_map(|font| {
            let glyph = font.charmap().map(c)?;
            font.glyph_metrics(Size::new(1.0), LocationRef::default())
                .advance_width(glyph)
        })
    };
    for name in history.texts() {
        let set: f32 = name.chars().filter_map(advance).sum();
        assert!(
            set <= width(name, 1.0) * 1.03,
            "{name} is {set} em wide, not {}",
            width(name, 1.0)
        );
    }
}

/// Draws the anomalies of these files, at most `most` of a pattern of one file. There are at least `least`.
fn check(files: &[PathBuf], most: usize, least: usize) {
    let mut found = Vec::new();
    let n: usize = files
        .iter()
        .map(|path| check_file(path, most, &mut found))
        .sum();
    println!("{n} anomalies");
    assert!(
        found.is_empty(),
        "{} faults:\n{}",
        found.len(),
        found.join("\n")
    );
    assert!(n >= least, "only {n} anomalies");
}

/// The files of a folder with at most this many bytes.
fn files(folder: &Path, most: u64) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let is_small = |path: &PathBuf| {
        path.metadata()
            .is_ok_and(|data| data.is_file() && data.len() <= most)
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(is_small)
        .collect();
    files.sort();
    files
}

/// Draws the anomalies of a file, at most `most` of a pattern, and says how many.
fn check_file(path: &Path, most: usize, found: &mut Vec<String>) -> usize {
    let control = Control::new();
    // Documents, and what is not transactional.
    let Ok(history) = formats::open(path, None, &control) else {
        return 0;
    };
    let findings = checkers::check(&history, &checkers::Options::default(), &control, &|_| ());
    let file = path
        .file_name()
        .expect("a file")
        .to_string_lossy()
        .into_owned();
    let chosen = findings
        .violations
        .iter()
        .filter(|violation| violation.id.ordinal as usize <= most);
    chosen
        .map(|violation| check_violation(&history, violation, &file, found))
        .count()
}

fn check_violation(history: &History, violation: &Violation, file: &str, found: &mut Vec<String>) {
    let example = minimize(history, violation, &Control::new());
    let explanation = explain(&example);
    for layout in [LayoutStyle::Auto, LayoutStyle::Lanes, LayoutStyle::Layered] {
        let options = ComposeOptions {
            layout,
            ..ComposeOptions::default()
        };
        let picture = compose(&example, &explanation, history, &options);
        let name = format!("{file} {} {layout:?}", violation.id);
        if let Some(folder) =
            std::env::var_os("ISOSCOPE_PICTURES").filter(|_| layout == LayoutStyle::Auto)
        {
            let bytes = export(ExportKind::Png, &picture).expect("PNG");
            let path = Path::new(&folder).join(format!("{}.png", name.replace([' ', '/'], "-")));
            std::fs::write(&path, bytes)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        found.extend(
            faults(&picture, layout)
                .into_iter()
                .map(|fault| format!("{name}: {fault}")),
        );
        if layout == LayoutStyle::Auto {
            found.extend(
                text_faults(&picture)
                    .into_iter()
                    .map(|fault| format!("{name}: {fault}")),
            );
        }
    }
}

/// What is wrong with a picture.
fn faults(picture: &Picture, layout: LayoutStyle) -> Vec<String> {
    let page = page(picture);
    let mut faults = Vec::new();
    let mut demand = |is_so: bool, what: String| faults.extend((!is_so).then_some(what));
    demand(
        page.bounds.width() <= 1000.0,
        format!("{} units wide", page.bounds.width()),
    );
    let texts: Vec<(&str, f32)> = page
        .marks
        .iter()
        .filter_map(|mark| match &mark.shape {
            Shape::Text { text, size, .. } => Some((text.as_str(), *size)),
            _ => None,
        })
        .collect();
    for mark in page.marks.iter().filter(|mark| mark.role.is_prose()) {
        if let Shape::Text {
            at,
            size,
            bold,
            text,
            ..
        } = &mark.shape
        {
            demand(
                at.x + prose_width(text, *size, *bold) <= 970.5,
                format!("too long a line: {text}"),
            );
        }
    }
    let says = |wanted: &str| texts.iter().any(|(text, _)| *text == wanted);
    let least = texts
        .iter()
        .map(|text| text.1)
        .fold(f32::INFINITY, f32::min);
    demand(least >= 10.99, format!("text of {least} units"));
    let diagram = &picture.diagram;
    for row in diagram.cards.iter().flat_map(|card| &card.rows) {
        demand(says(&row_text(row)), format!("no row {}", row.text));
        demand(
            row.place.is_empty() || says(&place_text(row)),
            format!("no place {}", row.place),
        );
    }
    for arrow in &diagram.arrows {
        let is_keyed = arrow.from_row.is_some() || arrow.to_row.is_some();
        let has_key = columns(&arrow.label) > arrow.relation.code().len();
        demand(!is_keyed || has_key, format!("{} has no key", arrow.label));
        demand(
            says(&label_text(arrow)),
            format!("no label {}", arrow.label),
        );
        let is_told = picture
            .steps
            .iter()
            .any(|step| step.edges.contains(&arrow.edge));
        demand(
            !is_told || !arrow.numbers.is_empty(),
            format!("{} has no number", arrow.label),
        );
    }
    if diagram
        .arrows
        .iter()
        .any(|arrow| arrow.emphasis == Emphasis::Cycle)
    {
        for (place, card) in diagram.cards.iter().enumerate() {
            let touches = diagram
                .arrows
                .iter()
                .any(|arrow| arrow.from == place || arrow.to == place);
            demand(touches, format!("{} is not connected", card.title));
        }
    }
    if layout != LayoutStyle::Layered {
        near_parallels(picture)
            .into_iter()
            .for_each(|fault| demand(false, fault));
    }
    // In layers lines are curves that nothing keeps from others.
    let is_wrong = |problem: &&Problem| match problem {
        Problem::LooseEnd(_) => false,
        Problem::LabelsOverlap(..) | Problem::LabelOnLine(_) | Problem::ThroughCard(..) => {
            layout != LayoutStyle::Layered
        }
        _ => true,
    };
    for problem in problems(diagram, &picture.layout).iter().filter(is_wrong) {
        demand(false, format!("{problem:?}"));
    }
    faults
}

/// Fonts that a viewer of an SVG may have: the bundled ones, and the widest of the usual ones where they are installed.
static VIEWERS: LazyLock<Vec<(&str, usvg::Options<'static>)>> = LazyLock::new(|| {
    let mut bundled = fontdb::Database::new();
    bundled.load_font_data(epaint_default_fonts::HACK_REGULAR.to_vec());
    bundled.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
    let mut wide = fontdb::Database::new();
    wide.load_system_fonts();
    let is_wide = |face: &fontdb::FaceInfo| {
        ["DejaVu Sans", "DejaVu Sans Mono"].contains(&face.families[0].0.as_str())
    };
    let others: Vec<fontdb::ID> = wide
        .faces()
        .filter(|face| !is_wide(face))
        .map(|face| face.id)
        .collect();
    others.into_iter().for_each(|id| wide.remove_face(id));
    let mut viewers = vec![("Ubuntu", "Hack", bundled)];
    if wide.is_empty() {
        println!("skipped: DejaVu Sans is not installed")
    } else {
        viewers.push(("DejaVu Sans", "DejaVu Sans Mono", wide))
    }
    let options = |(sans, mono, mut fonts): (&'static str, &str, fontdb::Database)| {
        fonts.set_sans_serif_family(sans);
        fonts.set_serif_family(sans);
        fonts.set_monospace_family(mono);
        let alone = usvg::FontResolver {
            select_fallback: Box::new(|_, _, _| None),
            ..Default::default()
        };
        (
            sans,
            usvg::Options {
                fontdb: fonts.into(),
                font_resolver: alone,
                ..Default::default()
            },
        )
    };
    viewers.into_iter().map(options).collect()
});

/// Texts that leave the page, or run into another on their line, whichever of these fonts a viewer has.
fn text_faults(picture: &Picture) -> Vec<String> {
    let svg = export(ExportKind::Svg, picture).expect("SVG");
    let mut faults = Vec::new();
    for (viewer, options) in VIEWERS.iter() {
        let tree = usvg::Tree::from_data(&svg, options).expect("the SVG is read");
        let mut boxes = Vec::new();
        texts(tree.root(), &mut boxes);
        for (place, (text, area)) in boxes.iter().enumerate() {
            if area.left() < 0.0 || area.right() > 1000.0 {
                faults.push(format!(
                    "{viewer}: `{text}` is at {} to {}",
                    area.left(),
                    area.right()
                ));
            }
            for (other, rest) in &boxes[..place] {
                let is_one_line = (area.top() - rest.top()).abs() < 1.0
                    && (area.bottom() - rest.bottom()).abs() < 1.0;
                if is_one_line
                    && area.left() < rest.right() - 0.5
                    && rest.left() < area.right() - 0.5
                {
                    faults.push(format!("{viewer}: `{text}` and `{other}` overlap"));
                }
            }
        }
    }
    faults
}

/// The texts of an SVG, and where each is.
fn texts(group: &usvg::Group, found: &mut Vec<(String, usvg::Rect)>) {
    for node in group.children() {
        match node {
            usvg::Node::Group(group) => texts(group, found),
            usvg::Node::Text(text) => {
                let words = text.chunks().iter().map(|chunk| chunk.text()).collect();
                found.push((words, text.abs_bounding_box()));
            }
            _ => {}
        }
    }
}

/// Level and upright pieces of different arrows that run side by side too near each other.
fn near_parallels(picture: &Picture) -> Vec<String> {
    let scale = (940.0 / picture.layout.bounds.width()).min(1.0);
    let lines: Vec<Vec<Pos2>> = picture
        .layout
        .routes
        .iter()
        .map(|route| route.path.flatten(1))
        .collect();
    let mut found = Vec::new();
    for (i, a) in lines.iter().enumerate() {
        for (j, b) in lines.iter().enumerate().skip(i + 1) {
            for (v, w) in a.windows(2).flat_map(|v| b.windows(2).map(move |w| (v, w))) {
                let level = side_by_side(
                    [v[0].y, v[1].y, v[0].x, v[1].x],
                    [w[0].y, w[1].y, w[0].x, w[1].x],
                );
                let upright = side_by_side(
                    [v[0].x, v[1].x, v[0].y, v[1].y],
                    [w[0].x, w[1].x, w[0].y, w[1].y],
                );
                if let Some(distance) = level
                    .or(upright)
                    .filter(|distance| distance * scale < LEAST_DISTANCE)
                {
                    found.push(format!("arrows {i} and {j} are {distance} apart"));
                }
            }
        }
    }
    found
}

/// The distance of two pieces on axes `[axis, axis, from, to]`, if they share more than a corner.
fn side_by_side(a: [f32; 4], b: [f32; 4]) -> Option<f32> {
    let shared = a[2].max(a[3]).min(b[2].max(b[3])) - a[2].min(a[3]).max(b[2].min(b[3]));
    (a[0] == a[1] && b[0] == b[1] && shared > 8.0).then(|| (a[0] - b[0]).abs())
}
