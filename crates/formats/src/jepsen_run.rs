//! The folder that Jepsen keeps of a run: `store/NAME/TIME` with `history.edn`, `results.edn`, `jepsen.log` and others.
//!
//! Only the history is read as one. What the other files say about the test and about Jepsen's own verdict is passed
//! on in words; where they are missing or cannot be understood, nothing is said.

use super::elle::Scanner;
use super::operations::Tree;
use super::{blocks, container};
use isoscope_model::control::Control;
use isoscope_model::history::{self, LEVEL_CLAIMED};
use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The history of a run, in any of these.
const HISTORIES: [&str; 3] = ["history.edn", BLOCKS, "history.txt"];
/// The whole test.
const BLOCKS: &str = "test.jepsen";
/// Files of which a run has at least one.
const SIGNS: [&str; 7] = [
    "results.edn",
    "jepsen.log",
    "history.txt",
    "test.jepsen",
    "test.fressian",
    "test.edn",
    "timeline.html",
];
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

/// Why the folder of a run cannot be opened.
pub(super) const NOT_KEPT: &str = "the history of this run was not kept";
/// Why a verdict alone is no history.
pub(super) const VERDICT: &str = "Jepsen's verdict on a run; the operations are in history.edn, history.txt or test.jepsen \
                                  beside it";

/// The history in this folder, if it is a run.
pub(super) fn history_in(folder: &Path) -> Option<PathBuf> {
    let history = HISTORIES
        .iter()
        .find(|name| keeps_history(&folder.join(name)))?;
    let is_other = |name: &&&str| *name != history;
    let is_run = SIGNS
        .iter()
        .filter(is_other)
        .any(|name| folder.join(name).is_file());
    is_run.then(|| folder.join(history))
}

/// Whether a file is there and is not the test of a run that ended before there was a history.
fn keeps_history(path: &Path) -> bool {
    let is_test = path.ends_with(BLOCKS);
    let is_kept = |bytes: container::Bytes| blocks::keeps_history(&bytes);
    path.is_file()
        && (!is_test || container::read_file(path, &Control::new()).map_or(true, is_kept))
}

/// Whether a folder is a run without a history.
pub(super) fn is_without_history(folder: &Path) -> bool {
    let is_there = |name: &&str| folder.join(name).is_file();
    SIGNS.iter().any(is_there)
        && !HISTORIES
            .iter()
            .any(|name| keeps_history(&folder.join(name)))
}

/// Whether a file accompanies a history of Jepsen, perhaps one that was never written.
pub(super) fn accompanies(path: &Path) -> bool {
    let named = path
        .file_name()
        .is_some_and(|name| SIGNS.iter().any(|sign| name == *sign));
    let is_logged = || path.with_file_name("jepsen.log").is_file();
    let is_empty = || path.ends_with(BLOCKS) && !keeps_history(path);
    named && (is_logged() || is_empty() || is_verdict_at(path))
}

/// Whether a text is what Jepsen says about a run.
pub(super) fn is_verdict(text: &[u8]) -> bool {
    let (mut has_verdict, mut is_operation) = (false, false);
    let mut scan = Scanner::<false>::new("", text);
    // A text that is cut off has the names up to there.
    let _: Option<()> = (|| {
        scan.blanks().ok()?;
        let close = (scan.peek() == Some(b'{')).then(|| scan.open())??;
        let mut first = true;
        while scan.more(close, &mut first).ok()? {
            let name = scan.field().ok()?;
            has_verdict |= name == Some("valid?");
            is_operation |= name == Some("type");
            scan.skip().ok()?;
        }
        Some(())
    })();
    has_verdict && !is_operation
}

fn is_verdict_at(path: &Path) -> bool {
    let is_text = path.extension().is_some_and(|ending| ending == "edn") && path.is_file();
    let read = || container::read_file(path, &Control::new());
    is_text && read().is_ok_and(|text| is_verdict(&text))
}

/// What is opened at a path: for what Jepsen says about a run, the run.
pub(super) fn opened(path: &Path) -> Cow<'_, Path> {
    match path.parent() {
        Some(folder) if history_in(folder).is_some() && is_verdict_at(path) => {
            Cow::Owned(folder.to_owned())
        }
        _ => Cow::Borrowed(path),
    }
}

/// Whether a link leads to the last or the running test of a store.
pub(super) fn is_link_to_run(path: &Path) -> bool {
    path.is_symlink()
        && path
            .file_name()
            .is_some_and(|name| name == "latest" || name == "current")
}

/// What the files next to the history say, as `what: words`.
pub(super) fn about(folder: &Path) -> Vec<String> {
    let texts = ["test.edn", "results.edn"].map(|name| beginning(&folder.join(name)));
    let blocks = || container::read_file(&folder.join(BLOCKS), &Control::new()).ok();
    let kept = match texts {
        [Some(_), _] => None,
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
pub(super) fn said_by(test: &Tree<'_>, results: &Tree<'_>) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ListedFile;
    use isoscope_model::history::{Origin, Spot, Unit};

    #[test]
    fn what_the_files_say_is_shown_in_words() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let run = folder.path().join("append").join("20260101T0000");
        std::fs::create_dir_all(&run).expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(run.join(name), text).expect("a file");
        write(
            "history.edn",
            "{:type :ok, :process 0, :f :txn, :value [[:r x nil]]}\n",
        );
        assert_eq!(history_in(&run), None);
        write("jepsen.log", "INFO");
        assert_eq!(history_in(&run), Some(run.join("history.edn")));
        assert_eq!(about(&run), ["test: append"]);
        write(
            "test.edn",
            "{:name \"postgres append\" :nodes [\"n1\" \"n2\"] :isolation :serializable :x #{1}}",
        );
        write(
            "results.edn",
            "{:perf {:valid? true}, :workload {:valid? false, :anomaly-types (:G-single-item), \
             :anomalies {:not 5}, :not #{:snapshot-isolation}}, :valid? false}",
        );
        assert_eq!(
            about(&run),
            [
                "test: postgres append",
                "nodes: [\"n1\" \"n2\"]",
                "isolation: :serializable",
                "anomalies by Jepsen: [:G-single-item]",
                "violated by Jepsen: #{:snapshot-isolation}",
                "valid by Jepsen: false",
            ]
        );
        write("results.edn", "{:valid? ");
        assert_eq!(about(&run).len(), 3);
    }

    #[test]
    fn the_history_is_the_first_that_was_kept() {
        let store = tempfile::tempdir().expect("a temporary folder");
        let run = store.path().join("append").join("20260101T0000");
        std::fs::create_dir_all(&run).expect("a folder");
        let write =
            |name: &str, bytes: &[u8]| std::fs::write(run.join(name), bytes).expect("a file");
        let open = |path: &Path| crate::open(path, None, &Control::new());
        let listed = |path: &Path| {
            crate::histories(&[path.to_owned()], &Control::new()).expect("not stopped")
        };
        let unusable = |path: &Path, message: &str| ListedFile::Unusable {
            path: path.to_owned(),
            message: message.to_owned(),
        };
        write("results.edn", b"{:stats {:type :ok}, :valid? false}");
        // The run ended before its first checkpoint.
        write(BLOCKS, b"JEPSEN\0\0\0\x01\0\0\0\0\0\0\0\0");
        assert_eq!(history_in(&run), None);
        assert_eq!(listed(&run), [unusable(&run, NOT_KEPT)]);
        let nothing = unusable(store.path(), "there is no history in this folder");
        assert_eq!(listed(store.path()), [nothing]);
        let error = open(&run).map(drop).expect_err("no history");
        assert_eq!(error.message(), NOT_KEPT);
        let error = open(&run.join("results.edn"))
            .map(drop)
            .expect_err("no history");
        assert_eq!(
            (error.message(), error.place()),
            (VERDICT.to_owned(), "file".to_owned())
        );

        write(
            "history.txt",
            b"0\t:invoke\t:read\tnil\n0\t:ok\t:read\tnil\n",
        );
        assert_eq!(history_in(&run), Some(run.join("history.txt")));
        assert_eq!(listed(store.path()), [ListedFile::History(run.clone())]);
        for path in [&run, &run.join("results.edn")] {
            let history = open(path).expect("valid");
            assert_eq!(history.origin().format, "jepsen-columns");
            assert_eq!(
                history.origin().about,
                ["test: append", "valid by Jepsen: false"]
            );
        }
        let spot = Spot {
            part: None,
            unit: Unit::Line,
            number: 2,
        };
        let results = run.join("results.edn");
        let shown = crate::raw_spots(&results, &Origin::default(), &[spot], &Control::new());
        assert_eq!(
            shown.expect("read")[0].as_deref().ok(),
            Some("0\t:ok\t:read\tnil")
        );

        // A damaged test is opened, and the damage reported.
        write(BLOCKS, b"JEPSEN\0\0\0\x01\0\0\0\0\0\0\0\x12");
        assert_eq!(history_in(&run), Some(run.join(BLOCKS)));
        assert!(open(&run).is_err());
        write(
            "history.edn",
            b"{:type :ok, :process 0, :f :txn, :value [[:r x nil]]}\n",
        );
        assert_eq!(history_in(&run), Some(run.join("history.edn")));
    }

    #[test]
    fn a_verdict_is_told_from_operations() {
        for verdict in [
            "{:valid? true}",
            " ; c\n{:a {:type :ok} :valid? :unknown",
            "{:valid? x",
        ] {
            assert!(is_verdict(verdict.as_bytes()), "{verdict}");
        }
        for other in [
            "{:type :ok :valid? true}",
            "[{:valid? true}]",
            "",
            "{:a {:valid? true}}",
        ] {
            assert!(!is_verdict(other.as_bytes()), "{other}");
        }
    }
}
