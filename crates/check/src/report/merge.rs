//! Reports of several shards joined into one report for each history.

use super::build::is_usual_or_among;
use super::join::join;
use super::{
    Counts, Dealt, Document, Elsewhere, LevelEntry, OrderEntry, PartEntry, PromiseEntry, Report,
    Timings, VerdictWord,
};
use crate::checkers::lattice::{PROMISES, Promise, strongest};
use crate::checkers::{Level, Pattern};
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
/// A level is violated if a shard says so, satisfied if the shards together say so for every component, else undecided;
/// where shards are missing the reason names them. Violations and counts are those of the shard that knows the most
/// violated levels, which looked for them in the whole history. Seconds are added up.
///
/// # Errors
/// Reports on one history that differ in the history, the levels requested or the number of shards, and a shard that
/// appears twice.
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
    let is_spread = |report: &Report| {
        report
            .part
            .as_ref()
            .is_some_and(|part| part.of == Dealt::Components)
    };
    match (reports.pop(), elsewhere) {
        (Some(report), _) if is_spread(&report) => {
            reports.push(report);
            Shards::new(reports)?
                .merged()
                .map(|report| Document::Report(Box::new(report)))
        }
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
        .map(|level| undecided(level, reason.clone(), 0.0))
        .collect();
    Elsewhere {
        levels,
        ..elsewhere
    }
}

fn undecided(level: &str, reason: String, seconds: f64) -> LevelEntry {
    LevelEntry {
        level: level.to_owned(),
        verdict: VerdictWord::Undecided,
        checker: "fast".to_owned(),
        seconds,
        reason: Some(reason),
        assuming: None,
        witness: None,
        snapshots: None,
        orders: None,
        sources: None,
    }
}

/// The reports on one history spread over shards.
struct Shards {
    /// By shard, ascending, with what they are about.
    reports: Vec<(PartEntry, Report)>,
    n_components: usize,
}

impl Shards {
    fn new(reports: Vec<Report>) -> Result<Shards, String> {
        let mut parts: Vec<(PartEntry, Report)> = Vec::new();
        for mut report in reports {
            let part = report
                .part
                .take()
                .ok_or("there are reports on all of it and on shares of it")?;
            parts.push((part, report));
        }
        parts.sort_by_key(|(part, _)| part.shard);
        let known = parts
            .iter()
            .filter_map(|(part, _)| part.components)
            .find(|&n| n > 0)
            .unwrap_or(0);
        for pair in parts.windows(2) {
            let [(a, of_a), (b, of_b)] = pair else {
                continue;
            };
            if a.shard == b.shard {
                return Err(format!("shard {} comes twice", a.shard));
            }
            if (a.shards, a.of, &a.levels) != (b.shards, b.of, &b.levels)
                || of_a.rules != of_b.rules
            {
                return Err(format!(
                    "shards {} and {} were asked for different things",
                    a.shard, b.shard
                ));
            }
            if of_a.history != of_b.history {
                return Err(format!(
                    "shards {} and {} read different histories",
                    a.shard, b.shard
                ));
            }
        }
        for (part, _) in &parts {
            let n_components = part.components.unwrap_or(0);
            let mine = part.mine.as_deref().unwrap_or_default();
            if part.shard >= part.shards
                || (n_components != 0 && n_components != known)
                || mine.iter().any(|&c| c >= known)
            {
                return Err(format!("shard {} does not fit to the others", part.shard));
            }
        }
        Ok(Shards {
            reports: parts,
            n_components: known,
        })
    }

    fn merged(self) -> Result<Report, String> {
        let (first, _) = self.reports.first().ok_or("there is no report on it")?;
        let levels: Vec<LevelEntry> = first.levels.iter().map(|level| self.level(level)).collect();
        let timings = self.reports.iter().map(|(_, report)| &report.timings).fold(
            Timings::default(),
            |sum, timings| Timings {
                read: sum.read + timings.read,
                index: sum.index + timings.index,
                check: sum.check + timings.check,
            },
        );
        let n_violated = |report: &Report| {
            report
                .levels
                .iter()
                .filter(|l| l.verdict == VerdictWord::Violated)
                .count()
        };
        let most = self
            .reports
            .iter()
            .map(|(_, report)| n_violated(report))
            .max()
            .unwrap_or(0);
        let is_one = self.n_components < 2;
        let any_assumptions = self.reports.iter().map(|(_, report)| &report.assumptions);
        let any_assumptions = any_assumptions
            .into_iter()
            .find(|a| !a.is_empty())
            .cloned()
            .unwrap_or_default();
        let health = self.reports.iter().map(|(_, report)| report.health.clone());
        let health = health
            .into_iter()
            .find(|health| !health.is_empty())
            .unwrap_or_default();
        let cut = self
            .reports
            .iter()
            .find_map(|(_, report)| report.cut.clone());
        let tested = self.reports.iter().all(|(_, report)| report.tested);
        let knowing = self
            .reports
            .into_iter()
            .find(|(_, report)| n_violated(report) == most);
        let (_, mut report) = knowing.ok_or("there is no report on it")?;
        if !is_one {
            report.patterns = counts(&report.patterns, &levels);
        }
        // Some are about violations, so those of the shard that knows the most of them come first.
        let assumptions = if report.assumptions.is_empty() {
            any_assumptions
        } else {
            std::mem::take(&mut report.assumptions)
        };
        let promised = report
            .promised
            .take()
            .map(|promised| judged(promised, &levels));
        Ok(Report {
            part: None,
            levels,
            promised,
            timings,
            assumptions,
            cut,
            tested,
            health,
            ..report
        })
    }

    /// The verdict of all shards together on a level.
    fn level(&self, level: &str) -> LevelEntry {
        let is_spread = Level::with_code(level).is_some_and(|level| level.row().spreads)
            && self.n_components > 1;
        let entries: Vec<(&PartEntry, &LevelEntry)> = self
            .reports
            .iter()
            .filter(|(part, _)| is_spread || part.shard == 0)
            .filter_map(|(part, report)| {
                Some((
                    part,
                    report.levels.iter().find(|entry| entry.level == level)?,
                ))
            })
            .collect();
        let seconds = entries.iter().map(|(_, entry)| entry.seconds).sum();
        let is = |word: VerdictWord| {
            entries
                .iter()
                .map(|(_, entry)| *entry)
                .find(|entry| entry.verdict == word)
        };
        // SSER without times is violated where SER is, which any shard may find.
        let mut of_level = self
            .reports
            .iter()
            .flat_map(|(_, report)| &report.levels)
            .filter(|entry| entry.level == level);
        if let Some(violated) = of_level.find(|entry| entry.verdict == VerdictWord::Violated) {
            return LevelEntry {
                seconds,
                ..violated.clone()
            };
        }
        if let Some(missing) = self.missing(is_spread, &entries) {
            return undecided(level, missing, seconds);
        }
        if let Some(open) = is(VerdictWord::Undecided) {
            return LevelEntry {
                seconds,
                ..open.clone()
            };
        }
        let is_complete = !is_spread || self.n_undecided(&entries) == 0;
        match entries.first() {
            Some((_, first)) if is_complete && first.orders.is_some() => {
                joined(first, &entries, seconds)
            }
            Some((_, first)) if is_complete => LevelEntry {
                seconds,
                ..(*first).clone()
            },
            _ => undecided(
                level,
                "the shards do not say anything of it".to_owned(),
                seconds,
            ),
        }
    }

    /// Number of components on which no shard has a verdict.
    fn n_undecided(&self, entries: &[(&PartEntry, &LevelEntry)]) -> usize {
        let mut is_decided = vec![false; self.n_components];
        for component in entries
            .iter()
            .filter_map(|(part, _)| part.mine.as_ref())
            .flatten()
        {
            is_decided[*component] = true;
        }
        is_decided.iter().filter(|decided| !**decided).count()
    }

    /// The missing shards needed for a verdict on a level.
    fn missing(&self, is_spread: bool, entries: &[(&PartEntry, &LevelEntry)]) -> Option<String> {
        let shards = self.reports.first().map_or(0, |(part, _)| part.shards);
        let is_there = |shard: &usize| self.reports.iter().any(|(part, _)| part.shard == *shard);
        let missing: Vec<usize> = (0..shards).filter(|shard| !is_there(shard)).collect();
        if !is_spread {
            return missing
                .contains(&0)
                .then(|| format!("shard 0 of {shards} is missing"));
        }
        let open = self.n_undecided(entries);
        let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
        let who = match names.as_slice() {
            [] => return None,
            [one] => format!("shard {one} of {shards} is missing"),
            several => format!("shards {} of {shards} are missing", several.join(", ")),
        };
        (open > 0).then(|| {
            format!(
                "{who}, {open} of {} components are not decided",
                self.n_components
            )
        })
    }
}

/// The level is satisfied on all components: one order for them all.
fn joined(first: &LevelEntry, entries: &[(&PartEntry, &LevelEntry)], seconds: f64) -> LevelEntry {
    let mut orders: Vec<&OrderEntry> = entries
        .iter()
        .filter_map(|(_, entry)| entry.orders.as_ref())
        .flatten()
        .collect();
    orders.sort_by_key(|order| order.component);
    match join(&orders) {
        Some((witness, snapshots)) => LevelEntry {
            seconds,
            witness: Some(witness),
            snapshots,
            orders: None,
            ..first.clone()
        },
        None => undecided(
            &first.level,
            "the orders of the shards contradict each other".to_owned(),
            seconds,
        ),
    }
}

/// A promise, given the verdicts of all shards together. One that is not known any more is left as it was.
fn judged(entry: PromiseEntry, levels: &[LevelEntry]) -> PromiseEntry {
    let is_it =
        |promise: &&Promise| promise.product == entry.product && promise.setting == entry.setting;
    let Some(promise) = PROMISES.iter().find(is_it) else {
        return entry;
    };
    let known = levels.iter().filter_map(|level| {
        let holds = match level.verdict {
            VerdictWord::Satisfied => true,
            VerdictWord::Violated => false,
            VerdictWord::Undecided => return None,
        };
        Some((Level::with_code(&level.level)?, holds))
    });
    let known: Vec<(Level, bool)> = known.collect();
    let satisfied = known
        .iter()
        .filter(|(_, holds)| *holds)
        .map(|(level, _)| *level);
    let holds = strongest(satisfied)
        .into_iter()
        .map(|level| level.code().to_owned())
        .collect();
    PromiseEntry {
        kept: promise.is_kept_by(known),
        holds,
        ..entry
    }
}

/// The counts of a report, with 0 for patterns that the merged levels have been checked for.
fn counts(found: &Counts, levels: &[LevelEntry]) -> Counts {
    let decided = levels
        .iter()
        .filter(|entry| entry.verdict != VerdictWord::Undecided);
    let decided: Vec<Level> = decided
        .filter_map(|entry| entry.level.parse().ok())
        .collect();
    let entry = |pattern: Pattern| {
        let known = found
            .0
            .iter()
            .find(|(id, _)| id == pattern.id())
            .map(|(_, n)| *n);
        let of = pattern.row().level;
        let is_asked = is_usual_or_among(of, decided.iter().copied());
        let looked_for =
            !pattern.is_of_lists() && is_asked && decided.iter().any(|level| level.implies(of));
        let count = known.filter(|&n| n > 0).or(looked_for.then_some(0))?;
        Some((pattern.id().to_owned(), count))
    };
    Counts(Pattern::all().filter_map(entry).collect())
}
