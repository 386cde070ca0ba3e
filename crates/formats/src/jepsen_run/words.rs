//! What a test says about itself, and what Jepsen found.

use super::BLOCKS;
use crate::elle::Scanner;
use crate::operations::Tree;
use crate::{blocks, container};
use isoscope_model::control::Control;
use isoscope_model::history::{self, LEVEL_CLAIMED};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes of a file that are looked at.
const LOOKED_AT: u64 = 1 << 20;
/// Longest value that is shown, in characters.
const SHOWN: usize = 200;

/// Deepest map that is looked into.
const DEEPEST: u32 = 16;

/// Fields of `test.edn` that are shown.
const OF_TEST: [(&str, &str); 11] = [
    ("name", "test"),
    ("version", "version"),
    ("db", "database"),
    ("nodes", "nodes"),
    ("start-time", "started"),
    ("argv", "arguments"),
    ("concurrency", "concurrency"),
    ("isolation", "isolation"),
    ("consistency-model", LEVEL_CLAIMED),
    ("expected-consistency-model", LEVEL_CLAIMED),
    ("consistency-models", LEVEL_CLAIMED),
];
/// Fields of `results.edn` that are shown, at any depth.
const OF_RESULTS: [(&str, &str); 3] = [
    ("anomaly-types", "anomalies by Jepsen"),
    ("not", "violated by Jepsen"),
    ("also-not", "also violated by Jepsen"),
];

/// What the files next to the history say, as `what: words`.
pub(crate) fn about(folder: &Path) -> Vec<String> {
    let texts = ["test.edn", "results.edn"].map(|name| beginning(&folder.join(name)));
    let blocks = || container::read_file(&folder.join(BLOCKS), &Control::new()).ok();
    let kept = match texts {
        [Some(_), Some(_)] => None,
        _ => blocks().and_then(|bytes| blocks::described(&bytes)),
    };
    let [test, results] = &texts;
    let told = |text: &Option<Vec<u8>>, tree: Option<&Tree<'_>>, deep, each: Each<'_>| match (
        text, tree,
    ) {
        (Some(text), _) => fields(text, deep, each),
        (None, Some(tree)) => fields_of(tree, deep, each),
        (None, None) => {}
    };
    let (test_kept, results_kept) = kept.as_ref().map(|(test, results)| (test, results)).unzip();
    let mut about = in_words(
        &|deep, each| told(test, test_kept, deep, each),
        &|deep, each| told(results, results_kept, deep, each),
    );
    if !about.iter().any(|line| line.starts_with("test: ")) {
        let name = folder
            .parent()
            .and_then(Path::file_name)
            .map(|name| name.to_string_lossy().into_owned());
        about.splice(
            0..0,
            name.filter(|name| !name.is_empty())
                .map(|name| said("test", &name)),
        );
    }
    about
}

/// What a test and its results say, as `what: words`.
pub(crate) fn said_by(test: &Tree<'_>, results: &Tree<'_>) -> Vec<String> {
    in_words(&|deep, each| fields_of(test, deep, each), &|deep, each| {
        fields_of(results, deep, each)
    })
}

/// What takes the names and values of fields.
type Each<'e> = &'e mut dyn FnMut(&str, &str);
/// What gives the names and values of a map, deep or not.
type Fields<'f> = &'f dyn Fn(bool, Each<'_>);

fn in_words(test: Fields<'_>, results: Fields<'_>) -> Vec<String> {
    let mut about = Vec::new();
    let mut add = |fields: Fields<'_>, deep, known: &[(&str, &str)]| {
        fields(deep, &mut |name, value| {
            let known = known.iter().find(|(field, _)| *field == name);
            about.extend(known.map(|(_, what)| said(what, value)));
        });
    };
    add(test, false, &OF_TEST);
    add(results, true, &OF_RESULTS);
    add(results, false, &[("valid?", "valid by Jepsen")]);
    about
}

fn said(what: &str, value: &str) -> String {
    format!(
        "{what}: {}",
        history::visible_line(&history::cut(value.trim_matches('"'), SHOWN))
    )
}

/// The first part of a file as text.
fn beginning(path: &Path) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)
        .ok()?
        .take(LOOKED_AT)
        .read_to_end(&mut text)
        .ok()?;
    Some(text)
}

/// Calls `each` with the names and values of the map that a text holds; `deep`: also of maps within it. Stops where the
/// text cannot be understood.
fn fields(text: &[u8], deep: bool, each: Each<'_>) {
    let mut scan = Scanner::<false>::new("", text);
    if scan.blanks().is_ok() && scan.peek() == Some(b'{') {
        // What cannot be understood is not shown.
        let _: Option<()> = map(&mut scan, if deep { DEEPEST } else { 0 }, each);
    }
}

/// The fields of a map and of those within it, `deep` levels down.
fn map(scan: &mut Scanner<'_, false>, deep: u32, each: Each<'_>) -> Option<()> {
    let close = scan.open()?;
    let mut first = true;
    while scan.more(close, &mut first).ok()? {
        let name = scan.tree().ok()?;
        scan.blanks().ok()?;
        if deep > 0 && scan.peek() == Some(b'{') && name.word() != Some("anomalies") {
            map(scan, deep - 1, each)?;
            continue;
        }
        let value = scan.tree().ok()?;
        each(name.text().trim_start_matches(':'), &value.text());
    }
    Some(())
}

/// As `fields`, of a map.
fn fields_of(tree: &Tree<'_>, deep: bool, each: Each<'_>) {
    for (name, value) in tree.fields().into_iter().flatten() {
        match value {
            Tree::Map(_) if deep && name.word() != Some("anomalies") => {
                fields_of(value, deep, each)
            }
            value => each(name.text().trim_start_matches(':'), &value.text()),
        }
    }
}
