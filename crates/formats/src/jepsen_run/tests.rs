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
    let write = |name: &str, bytes: &[u8]| std::fs::write(run.join(name), bytes).expect("a file");
    let open = |path: &Path| crate::open(path, None, &Control::new());
    let listed =
        |path: &Path| crate::histories(&[path.to_owned()], &Control::new()).expect("not stopped");
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
        within: 0,
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
