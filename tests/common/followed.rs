//! Following small histories, compared with the checkers after each transaction.

use isoscope::checkers::{self, Level, Verdict};
use isoscope::control::Control;
use isoscope::follow::{
    Answer, Assembly, Event, FOLLOWED, Follower, Names, Options, REPLAYED, Record, Replay, event_of,
};
use isoscope::history::{Origin, Outcome};

/// A history as it arrives.
pub(crate) struct Arrival {
    pub(crate) names: Names,
    pub(crate) records: Vec<Record>,
    pub(crate) sessions: usize,
}

/// The verdicts of the checkers on these records.
pub(crate) fn off_line<'a>(
    names: &Names,
    records: impl Iterator<Item = &'a Record>,
) -> Vec<(Level, bool)> {
    let mut assembly = Assembly::new(Origin::default(), names);
    records.for_each(|record| assembly.add(record, |_| true));
    let history = assembly.finish().expect("a small history");
    let options = checkers::Options {
        levels: FOLLOWED.to_vec(),
        max_instances: 0,
        counts: false,
    };
    let findings = checkers::check(&history, &options, &Control::new(), &|_| {});
    let verdict = |level: Level| match &findings.level(level)?.verdict {
        Verdict::Satisfied(_) => Some((level, true)),
        Verdict::Violated => Some((level, false)),
        // Without times.
        Verdict::Undecided(_) if level.counts_real_time() => None,
        Verdict::Undecided(why) => panic!("{level} is undecided: {why}"),
    };
    FOLLOWED.into_iter().filter_map(verdict).collect()
}

pub(crate) fn delivered(follower: &Follower, records: &[Record]) -> Vec<Record> {
    let waiting = follower.waiting();
    let is_delivered =
        |(place, _): &(usize, &Record)| waiting.binary_search(&(*place as u64 + 1)).is_err();
    records
        .iter()
        .enumerate()
        .filter(is_delivered)
        .map(|(_, record)| record.clone())
        .collect()
}

/// Compares answers with verdicts.
pub(crate) fn compare(
    follower: &Follower,
    expected: &[(Level, bool)],
    is_lossless: bool,
    at: usize,
) -> Result<(), String> {
    for (level, answer) in follower.answers() {
        let Some((_, is_satisfied)) = expected.iter().find(|(other, _)| *other == level) else {
            assert!(level.counts_real_time());
            continue;
        };
        let fits = match &answer {
            Answer::Holds => *is_satisfied,
            Answer::Violated => !is_satisfied,
            Answer::ExceptFor(n) => !is_lossless && *n > 0,
            // Real time alone, with a file that has no times: then a weaker level may be violated all the same.
            Answer::Unknown(why) => level.counts_real_time() && why == "no times are recorded",
        };
        if !fits {
            return Err(format!(
                "after {at}: {level} is said to be {answer:?}, satisfied off-line: {is_satisfied}"
            ));
        }
    }
    Ok(())
}

/// Follows a history to its end and compares after each transaction. Without loss, no answer is left open.
pub(crate) fn follow(
    arrival: &Arrival,
    options: Options,
    is_lossless: bool,
) -> Result<Follower, String> {
    let mut follower = Follower::new(options);
    let kept = REPLAYED[arrival.records.len() % REPLAYED.len()];
    follower.keep_order(kept);
    let mut order = Vec::new();
    for (place, record) in arrival.records.iter().enumerate() {
        let to_come: Option<Vec<_>> = arrival.records[place..]
            .iter()
            .map(|record| record.interval)
            .collect();
        let begun =
            to_come.and_then(|intervals| intervals.iter().map(|interval| interval.start).min());
        follower.take(
            Record {
                begun,
                ..record.clone()
            },
            &arrival.names,
        );
        order.extend(follower.take_order());
        if follower.ended().is_some() {
            return Ok(follower);
        }
        let part = delivered(&follower, &arrival.records[..=place]);
        let verdicts = off_line(&arrival.names, part.iter());
        compare(&follower, &verdicts, is_lossless, place + 1).or_else(|error| {
            // A transaction whose wait was given up may have read from one that still waits, and one that waits may show
            // that one of unknown outcome committed.
            let so_far = &arrival.records[..=place];
            let has_unknown = so_far
                .iter()
                .any(|record| record.outcome == Outcome::Unknown);
            let whole = off_line(&arrival.names, so_far.iter());
            let is_cut = follower.answers()[0].1 == Answer::Violated && !whole[0].1;
            // Then what is judged lies between the delivered part and the whole.
            let is_violated =
                |level: Level| follower.answers().contains(&(level, Answer::Violated));
            let between = verdicts
                .iter()
                .zip(&whole)
                .map(|(part, all)| if is_violated(part.0) { *all } else { *part });
            let between: Vec<(Level, bool)> = between.collect();
            let fits = (!is_lossless && is_cut)
                || (has_unknown && compare(&follower, &between, is_lossless, 0).is_ok());
            if fits { Ok(()) } else { Err(error) }
        })?;
    }
    follower.finish(&arrival.names);
    if follower.ended().is_some() {
        return Ok(follower);
    }
    order.extend(follower.take_order());
    compare(
        &follower,
        &off_line(&arrival.names, arrival.records.iter()),
        is_lossless,
        arrival.records.len() + 1,
    )?;
    if let Some(rest) = follower.rest_of_order(kept) {
        order.extend(rest);
        let differing = replay(kept, &arrival.records, &order)?;
        if is_lossless && differing > 0 {
            return Err(format!(
                "the order of {kept} does not explain {differing} reads: {order:?}"
            ));
        }
    }
    Ok(follower)
}

/// Replays an order: how many reads it does not explain.
pub(crate) fn replay(level: Level, records: &[Record], order: &[Event]) -> Result<usize, String> {
    let mut replay = Replay::new(level);
    records
        .iter()
        .try_for_each(|record| replay.take(record.clone()))?;
    let written: Vec<String> = order.iter().map(Event::to_string).collect();
    for line in written {
        let event = event_of(&line)?.ok_or("an event")?;
        replay
            .run(event)
            .map_err(|error| format!("{error} in {order:?}"))?;
    }
    replay.finish()?;
    Ok(replay.differing().len())
}

pub(crate) fn in_order(arrival: &Arrival) -> String {
    let text = |record: &Record| {
        let operations: Vec<String> = record
            .operations
            .iter()
            .map(|o| {
                format!(
                    "{:?} {} {} {:?}",
                    o.kind,
                    arrival.names.keys.name(o.key),
                    o.value,
                    o.list
                )
            })
            .collect();
        format!(
            "{}: {} {:?}\n",
            arrival.names.sessions.name(record.session),
            operations.join(", "),
            record.outcome
        )
    };
    arrival.records.iter().map(text).collect()
}
