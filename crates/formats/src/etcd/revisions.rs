//! Which revisions puts have whose answers are not known.

use super::request::{Request, Step};
use isoscope_model::history::Outcome;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// A file, a line there, and what is wrong.
pub(super) type Refusal = ((usize, u32), String);

/// Gives the requests without a revision those that something shows. Errors where it may be that of more than one.
pub(super) fn resolve(requests: &mut [Request]) -> Result<(), Refusal> {
    let mut waiting: FxHashMap<(&str, Option<&str>), Vec<usize>> = FxHashMap::default();
    let mut written: FxHashSet<(&str, u64)> = FxHashSet::default();
    for (place, request) in requests.iter().enumerate() {
        let all = request.steps.iter().chain(&request.otherwise);
        for (key, value) in all.filter_map(Step::put) {
            match request.revision {
                Some(revision) => drop(written.insert((key, revision))),
                // By value, and by key alone where the value was not seen.
                None => [Some(value), None].into_iter().for_each(|value| {
                    let places = waiting.entry((key, value)).or_default();
                    if places.last() != Some(&place) {
                        places.push(place);
                    }
                }),
            }
        }
    }
    if waiting.is_empty() {
        return Ok(());
    }
    // What was seen of revisions that no known request wrote.
    type Sight<'s> = (Option<&'s str>, (usize, u32));
    let mut seen: BTreeMap<(&str, u64), Sight<'_>> = BTreeMap::new();
    // A condition of a request without an answer shows nothing.
    let answered = |request: &&Request| request.outcome == Outcome::Committed;
    for request in requests.iter().filter(answered) {
        let mut see = |key, revision, value: Option<_>| {
            if revision > 0 && !written.contains(&(key, revision)) {
                let known = seen
                    .entry((key, revision))
                    .or_insert((value, request.place));
                known.0 = known.0.or(value);
            }
        };
        for step in &request.steps {
            match step {
                Step::Range { found, .. } => found
                    .iter()
                    .for_each(|seen| see(&seen.key, seen.revision, Some(&*seen.value))),
                Step::Is { key, revision } => see(key, *revision, None),
                _ => {}
            }
        }
    }
    let mut found: Vec<(usize, u64, bool)> = Vec::new();
    for ((key, revision), (value, place)) in seen {
        let places = waiting.get(&(key, value)).map_or(&[][..], Vec::as_slice);
        match places {
            [] => {}
            [one] => {
                let is = |step: &Step| {
                    let put = step.put();
                    put.is_some_and(|(other, put)| {
                        other == key && value.is_none_or(|value| value == put)
                    })
                };
                let is_otherwise = !requests[*one].steps.iter().any(is);
                found.push((*one, revision, is_otherwise));
            }
            [_, _, ..] => {
                let message = format!(
                    "revision {revision} may be that of any of {} requests that ended without an answer; which one wrote it \
                     is not known",
                    places.len()
                );
                return Err((place, message));
            }
        }
    }
    for (place, revision, is_otherwise) in found {
        let request = &mut requests[place];
        if request.revision.is_some() {
            // It wrote once.
            continue;
        }
        request.revision = Some(revision);
        if is_otherwise {
            request.steps = std::mem::take(&mut request.otherwise);
        }
    }
    Ok(())
}

/// Leaves out conditions of requests without an answer on revisions that another such request may have written. How many.
pub(super) fn forget_conditions(requests: &mut [Request]) -> usize {
    let puts = |request: &Request| {
        let puts = request.steps.iter().filter_map(Step::put);
        puts.map(|(key, _)| key.to_owned()).collect::<Vec<_>>()
    };
    let (mut unknown, mut written) = (FxHashSet::default(), FxHashSet::default());
    for request in requests.iter() {
        match request.revision {
            None => unknown.extend(puts(request)),
            Some(revision) => written.extend(puts(request).into_iter().map(|key| (key, revision))),
        }
    }
    let mut n = 0;
    let unanswered = requests
        .iter_mut()
        .filter(|request| request.outcome == Outcome::Unknown);
    for request in unanswered {
        request.steps.retain(|step| {
            let Step::Is { key, revision } = step else {
                return true;
            };
            let may_be_any = *revision > 0
                && unknown.contains(key)
                && !written.contains(&(key.clone(), *revision));
            n += usize::from(may_be_any);
            !may_be_any
        });
    }
    n
}
