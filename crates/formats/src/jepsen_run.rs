//! The folder that Jepsen keeps of a run: `store/NAME/TIME` with `history.edn`, `results.edn`, `jepsen.log` and others.
//!
//! Only the history is read as one. What the other files say about the test and about Jepsen's own verdict is passed
//! on in words; where they are missing or cannot be understood, nothing is said.

use super::elle::Scanner;
use isoscope_model::history::{self, LEVEL_CLAIMED};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The history of a run.
const HISTORY: &str = "history.edn";
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
const OF_TEST: [(&str, &str); 8] = [
    ("name", "test"),
    ("version", "version"),
    ("db", "database"),
    ("nodes", "nodes"),
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

/// The history in this folder, if it is a run.
pub(super) fn history_in(folder: &Path) -> Option<PathBuf> {
    let history = folder.join(HISTORY);
    let is_run = history.is_file() && SIGNS.iter().any(|name| folder.join(name).is_file());
    is_run.then_some(history)
}

/// Whether a file accompanies a history of Jepsen, perhaps one that was never written.
pub(super) fn accompanies(path: &Path) -> bool {
    let named = path
        .file_name()
        .is_some_and(|name| SIGNS.iter().any(|sign| name == *sign));
    named && path.with_file_name("jepsen.log").is_file()
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
    let mut about = Vec::new();
    if let Some(text) = beginning(&folder.join("test.edn")) {
        fields(&text, false, &mut |name, value| {
            about.extend(
                OF_TEST
                    .iter()
                    .find(|(field, _)| *field == name)
                    .map(|(_, what)| said(what, value)),
            );
        });
    }
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
    if let Some(text) = beginning(&folder.join("results.edn")) {
        fields(&text, true, &mut |name, value| {
            about.extend(
                OF_RESULTS
                    .iter()
                    .find(|(field, _)| *field == name)
                    .map(|(_, what)| said(what, value)),
            );
        });
        fields(&text, false, &mut |name, value| {
            about.extend((name == "valid?").then(|| said("valid by Jepsen", value)));
        });
    }
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
fn fields(text: &[u8], deep: bool, each: &mut dyn FnMut(&str, &str)) {
    let mut scan = Scanner::<false>::new("", text);
    if scan.blanks().is_ok() && scan.peek() == Some(b'{') {
        // What cannot be understood is not shown.
        let _: Option<()> = map(&mut scan, if deep { DEEPEST } else { 0 }, each);
    }
}

/// The fields of a map and of those within it, `deep` levels down.
fn map(scan: &mut Scanner<'_, false>, deep: u32, each: &mut dyn FnMut(&str, &str)) -> Option<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_files_say_is_shown_in_words() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let run = folder.path().join("append").join("20260101T0000");
        std::fs::create_dir_all(&run).expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(run.join(name), text).expect("a file");
        write(
            HISTORY,
            "{:type :ok, :process 0, :f :txn, :value [[:r x nil]]}\n",
        );
        assert_eq!(history_in(&run), None);
        write("jepsen.log", "INFO");
        assert_eq!(history_in(&run), Some(run.join(HISTORY)));
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
}
