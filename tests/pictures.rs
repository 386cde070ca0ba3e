//! Every listed anomaly as a picture: it can be read, and it says what it has to say.

mod common;

use emath::Pos2;
use isoscope::checkers::{self, Violation};
use isoscope::control::Control;
use isoscope::counterexample::{explain, minimize};
use isoscope::diagram::Emphasis;
use isoscope::diagram::layout::{LayoutStyle, Problem, label_text, problems, row_text};
use isoscope::diagram::scene::Shape;
use isoscope::diagram::text_size::columns;
use isoscope::export::{ComposeOptions, ExportKind, Picture, compose, export, page};
use isoscope::formats;
use isoscope::history::History;
use std::path::{Path, PathBuf};

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
fn anomalies_of_real_histories_can_be_read() {
    let Some(corpus) = common::corpus() else {
        println!("skipped: no corpus");
        return;
    };
    let files: Vec<PathBuf> =
        ["plume-text", "plume-text/reproduce", "plume-text/bugs", "elle", "elle/anomalies", "awdit-test"]
            .iter()
            .flat_map(|folder| files(&corpus.join(folder), SMALL))
            .collect();
    check(&files, OF_A_PATTERN, 60);
}

/// Draws the anomalies of these files, at most `most` of a pattern of one file. There are at least `least`.
fn check(files: &[PathBuf], most: usize, least: usize) {
    let mut found = Vec::new();
    let n: usize = files.iter().map(|path| check_file(path, most, &mut found)).sum();
    println!("{n} anomalies");
    assert!(found.is_empty(), "{} faults:\n{}", found.len(), found.join("\n"));
    assert!(n >= least, "only {n} anomalies");
}

/// The files of a folder with at most this many bytes.
fn files(folder: &Path, most: u64) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_small = |path: &PathBuf| path.metadata().is_ok_and(|data| data.is_file() && data.len() <= most);
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_small).collect();
    files.sort();
    files
}

/// Draws the anomalies of a file, at most `most` of a pattern, and says how many.
fn check_file(path: &Path, most: usize, found: &mut Vec<String>) -> usize {
    let control = Control::new();
    // Documents, and what is not transactional.
    let Ok(history) = formats::open(path, None, &control) else { return 0 };
    let findings = checkers::check(&history, &checkers::Options::default(), &control, &|_| ());
    let file = path.file_name().expect("a file").to_string_lossy().into_owned();
    let chosen = findings.violations.iter().filter(|violation| violation.id.ordinal as usize <= most);
    chosen.map(|violation| check_violation(&history, violation, &file, found)).count()
}

fn check_violation(history: &History, violation: &Violation, file: &str, found: &mut Vec<String>) {
    let example = minimize(history, violation, &Control::new());
    let explanation = explain(&example);
    for layout in [LayoutStyle::Auto, LayoutStyle::Lanes, LayoutStyle::Layered] {
        let options = ComposeOptions { layout, ..ComposeOptions::default() };
        let picture = compose(&example, &explanation, history, &options);
        let name = format!("{file} {} {layout:?}", violation.id);
        if let Some(folder) = std::env::var_os("ISOSCOPE_PICTURES").filter(|_| layout == LayoutStyle::Auto) {
            let bytes = export(ExportKind::Png, &picture).expect("PNG");
            let path = Path::new(&folder).join(format!("{}.png", name.replace([' ', '/'], "-")));
            std::fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        found.extend(faults(&picture, layout).into_iter().map(|fault| format!("{name}: {fault}")));
    }
}

/// What is wrong with a picture.
fn faults(picture: &Picture, layout: LayoutStyle) -> Vec<String> {
    let page = page(picture);
    let mut faults = Vec::new();
    let mut demand = |is_so: bool, what: String| faults.extend((!is_so).then_some(what));
    demand(page.bounds.width() <= 1000.0, format!("{} units wide", page.bounds.width()));
    let texts: Vec<(&str, f32)> = page
        .marks
        .iter()
        .filter_map(|mark| match &mark.shape {
            Shape::Text { text, size, .. } => Some((text.as_str(), *size)),
            _ => None,
        })
        .collect();
    let says = |wanted: &str| texts.iter().any(|(text, _)| *text == wanted);
    let least = texts.iter().map(|text| text.1).fold(f32::INFINITY, f32::min);
    demand(least >= 10.99, format!("text of {least} units"));
    let diagram = &picture.diagram;
    for row in diagram.cards.iter().flat_map(|card| &card.rows) {
        demand(says(&row_text(row)), format!("no row {}", row.text));
        demand(row.place.is_empty() || says(&row.place), format!("no place {}", row.place));
    }
    for arrow in &diagram.arrows {
        let is_keyed = arrow.from_row.is_some() || arrow.to_row.is_some();
        let has_key = columns(&arrow.label) > arrow.relation.code().len();
        demand(!is_keyed || has_key, format!("{} has no key", arrow.label));
        demand(says(&label_text(arrow)), format!("no label {}", arrow.label));
        let is_told = picture.steps.iter().any(|step| step.edges.contains(&arrow.edge));
        demand(!is_told || arrow.number.is_some(), format!("{} has no number", arrow.label));
    }
    if diagram.arrows.iter().any(|arrow| arrow.emphasis == Emphasis::Cycle) {
        for (place, card) in diagram.cards.iter().enumerate() {
            let touches = diagram.arrows.iter().any(|arrow| arrow.from == place || arrow.to == place);
            demand(touches, format!("{} is not connected", card.title));
        }
    }
    if layout != LayoutStyle::Layered {
        near_parallels(picture).into_iter().for_each(|fault| demand(false, fault));
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

/// Level and upright pieces of different arrows that run side by side too near each other.
fn near_parallels(picture: &Picture) -> Vec<String> {
    let scale = (940.0 / picture.layout.bounds.width()).min(1.0);
    let lines: Vec<Vec<Pos2>> = picture.layout.routes.iter().map(|route| route.path.flatten(1)).collect();
    let mut found = Vec::new();
    for (i, a) in lines.iter().enumerate() {
        for (j, b) in lines.iter().enumerate().skip(i + 1) {
            for (v, w) in a.windows(2).flat_map(|v| b.windows(2).map(move |w| (v, w))) {
                let level = side_by_side([v[0].y, v[1].y, v[0].x, v[1].x], [w[0].y, w[1].y, w[0].x, w[1].x]);
                let upright = side_by_side([v[0].x, v[1].x, v[0].y, v[1].y], [w[0].x, w[1].x, w[0].y, w[1].y]);
                if let Some(distance) = level.or(upright).filter(|distance| distance * scale < LEAST_DISTANCE) {
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
