//! Reports of several shards joined, one for each history.

use super::{Document, Elsewhere, LevelEntry, Report, VerdictWord};
use isoscope_model::levels::Level;
use rustc_hash::FxHashMap;

/// Reports that do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct MergeError {
    /// The history they are about.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// Joins the reports of shards, one document per history, in the order in which they are first named. Reports not from
/// a shard are unchanged.
///
/// A history whose shard is missing is undecided, with that as the reason.
///
/// # Errors
/// Several reports on one history.
pub fn merge(documents: Vec<Document>) -> Result<Vec<Document>, MergeError> {
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    let mut groups: Vec<(String, Vec<Document>)> = Vec::new();
    for document in documents {
        let path = document.path().to_owned();
        let place = *places.entry(path.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((path, Vec::new()));
        }
        groups[place].1.push(document);
    }
    let one = |(path, group): (String, Vec<Document>)| {
        one(group).map_err(|message| MergeError { path, message })
    };
    groups.into_iter().map(one).collect()
}

/// All documents on one history as one.
fn one(group: Vec<Document>) -> Result<Document, String> {
    let mut reports: Vec<Report> = Vec::new();
    let mut elsewhere = None;
    for document in group {
        match document {
            Document::Report(report) => reports.push(*report),
            Document::Elsewhere(other) => elsewhere = Some(other),
            failure @ Document::Failure(_) => return Ok(failure),
        }
    }
    match (reports.pop(), elsewhere) {
        (Some(report), _) if reports.is_empty() => Ok(Document::Report(Box::new(Report {
            part: None,
            ..report
        }))),
        (Some(_), _) => Err(format!(
            "there are {} whole reports on it",
            reports.len() + 1
        )),
        (None, Some(elsewhere)) => Ok(Document::Elsewhere(Box::new(unexamined(*elsewhere)))),
        (None, None) => Err("there is no report on it".to_owned()),
    }
}

/// A history whose shard is missing.
fn unexamined(elsewhere: Elsewhere) -> Elsewhere {
    let part = &elsewhere.part;
    let reason = format!("shard {} of {} is missing", part.shard, part.shards);
    let levels = part
        .levels
        .iter()
        .map(|&level| undecided(level, reason.clone()))
        .collect();
    Elsewhere {
        levels,
        ..elsewhere
    }
}

fn undecided(level: Level, reason: String) -> LevelEntry {
    LevelEntry {
        level,
        verdict: VerdictWord::Undecided,
        checker: "fast".to_owned(),
        seconds: 0.0,
        reason: Some(reason),
        assuming: None,
        witness: None,
        snapshots: None,
        sources: None,
    }
}
