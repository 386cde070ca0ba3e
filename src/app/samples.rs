//! The histories that come with the program.

/// A bundled history.
#[derive(Debug)]
pub struct Sample {
    /// Its file name.
    pub file: &'static str,
    /// What it shows, in a few words.
    pub about: &'static str,
    /// Its contents.
    pub text: &'static str,
}

/// A row of the table: a file of `sample_histories`, and what it shows.
macro_rules! sample {
    ($file:literal, $about:literal) => {
        Sample {
            file: $file,
            about: $about,
            text: include_str!(concat!("../../sample_histories/", $file)),
        }
    };
}

/// All of them: stories first, then an example for each pattern.
pub const ALL: &[Sample] = &[
    sample!("web-shop.txt", "twenty servers, about 1,000 transactions"),
    sample!("lost-update.json", "two deposits, one is gone"),
    sample!("write-skew.hist", "no doctor is left on call"),
    sample!(
        "write-skew-of-three.txt",
        "consistent snapshots, no serial order"
    ),
    sample!("read-only-anomaly.txt", "a report that fits no order"),
    sample!("long-fork.hist", "two readers, two orders"),
    sample!("snapshot-cycle.txt", "overlapping writers of one key"),
    sample!("case-split.txt", "a contradiction whichever came first"),
    sample!(
        "tap-a-thin-air-read.txt",
        "TAP-a: a value no transaction wrote"
    ),
    sample!(
        "tap-b-aborted-read.hist",
        "TAP-b: a value that was rolled back"
    ),
    sample!("tap-c-future-read.txt", "TAP-c: read before it was written"),
    sample!("tap-d-not-my-own-write.txt", "TAP-d: own write not found"),
    sample!(
        "tap-e-not-my-last-write.txt",
        "TAP-e: own last write not found"
    ),
    sample!(
        "tap-f-intermediate-read.hist",
        "TAP-f: a value overwritten before commit"
    ),
    sample!(
        "tap-g-cyclic-causal-order.txt",
        "TAP-g: effects before causes"
    ),
    sample!("tap-h-non-monotonic-read.txt", "TAP-h: back in time"),
    sample!(
        "tap-i-non-monotonic-read-commit-order.txt",
        "TAP-i: back in commit order"
    ),
    sample!(
        "tap-j-non-repeatable-read.txt",
        "TAP-j: one key, two versions"
    ),
    sample!("tap-k-fractured-read.txt", "TAP-k: half a transfer"),
    sample!(
        "tap-l-fractured-read-commit-order.txt",
        "TAP-l: each older than the other"
    ),
    sample!(
        "tap-m-causality-violation.txt",
        "TAP-m: the reply without the post"
    ),
    sample!(
        "tap-n-version-order-conflict.txt",
        "TAP-n: replicas in opposite orders"
    ),
    sample!("real-time-cycle.txt", "stale after the fact"),
    sample!("no-linear-order.txt", "a comparison that must not fail"),
    sample!("version-order-cycle.txt", "lists in opposite orders"),
    sample!("incompatible-order.txt", "one list, two orders"),
    sample!("duplicate-element.txt", "one append, twice in the list"),
    sample!("ok-lists.txt", "lists, every level satisfied"),
    sample!("ok-serial.txt", "satisfies every level"),
    sample!("ok-snapshot.txt", "old but consistent snapshots"),
];

/// One small history in each format that is text: the format's name, what it is, and the file.
pub const IN_FORMATS: &[(&str, &str, &str)] = &[
    (
        "text",
        "IsoScope's own notation, a line per session",
        include_str!("../../sample_histories/formats/text.txt"),
    ),
    (
        "plume",
        "Plume, PolySI, IsoVista: an operation per line, r(key,value,session,transaction)",
        include_str!("../../sample_histories/formats/plume.txt"),
    ),
    (
        "hist",
        "dbcop's notation, sessions separated by ---",
        include_str!("../../sample_histories/formats/hist.hist"),
    ),
    (
        "awdit",
        "AWDIT's notation, transactions separated by ---, sessions by ===",
        include_str!("../../sample_histories/formats/awdit.txt"),
    ),
    (
        "elle-edn",
        "Jepsen and Elle, EDN",
        include_str!("../../sample_histories/formats/elle-edn.edn"),
    ),
    (
        "elle-json",
        "elle-cli, JSON",
        include_str!("../../sample_histories/formats/elle-json.json"),
    ),
    (
        "json",
        "IsoScope's JSON, schema isoscope.history/1",
        include_str!("../../sample_histories/formats/json.json"),
    ),
    (
        "dbcop-json",
        "dbcop since 2026, JSON",
        include_str!("../../sample_histories/formats/dbcop-json.json"),
    ),
];

/// Name of the sample at a place, as its file name says it.
pub fn title(place: usize) -> String {
    let stem = ALL
        .get(place)
        .and_then(|sample| sample.file.split('.').next())
        .unwrap_or_default();
    let name = match stem.split_once('-') {
        Some(("tap", rest)) => rest.split_once('-').map_or(rest, |(_, name)| name),
        Some(("ok", name)) => name,
        _ => stem,
    };
    let mut words = name.replace('-', " ");
    for prefix in ["non", "real time", "read only", "thin air"] {
        // Compounds before a noun keep their hyphen.
        let hyphened = if prefix == "non" {
            "non-".to_owned()
        } else {
            prefix.replace(' ', "-") + " "
        };
        words = words.replace(&format!("{prefix} "), &hyphened);
    }
    let mut letters = words.chars().collect::<Vec<char>>();
    if let Some(first) = letters.first_mut() {
        *first = first.to_ascii_uppercase();
    }
    letters.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::formats::{Input, read};

    #[test]
    fn every_sample_can_be_read() {
        for (place, sample) in ALL.iter().enumerate() {
            let history = read(
                &Input::new(sample.file, sample.text.as_bytes()),
                None,
                &Control::new(),
            );
            assert!(
                history.is_ok_and(|history| history.n_transactions() > 0),
                "{}",
                sample.file
            );
            assert!(!title(place).is_empty() && !sample.about.is_empty());
        }
    }

    #[test]
    fn titles_are_words() {
        assert!(
            ALL.iter()
                .enumerate()
                .any(|(place, _)| title(place) == "Fractured read")
        );
        assert!(
            ALL.iter()
                .enumerate()
                .any(|(place, _)| title(place) == "Write skew")
        );
        for name in [
            "Non-monotonic read",
            "Non-repeatable read",
            "Real-time cycle",
            "Read-only anomaly",
            "Thin-air read",
        ] {
            assert!(
                ALL.iter()
                    .enumerate()
                    .any(|(place, _)| title(place) == name),
                "{name}"
            );
        }
    }
}
