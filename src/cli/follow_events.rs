//! What a follower says, as data.

use crate::audit;
use crate::follow::{Answer, Finding, Follower, Options, Status, Stream, WaitingFor};
use crate::formats;
use crate::report::{
    AnswerChange, AwaitedVersion, Followed, FollowedEnd, FollowedEvent, FollowedLevel,
    FoundViolation, Progress, VerdictWord, grouped,
};
use std::path::Path;

/// The answer at a level.
fn level((level, answer): &(crate::checkers::Level, Answer)) -> FollowedLevel {
    let (verdict, left_out, reason) = match answer {
        Answer::Holds => (VerdictWord::Satisfied, None, None),
        Answer::Violated => (VerdictWord::Violated, None, None),
        Answer::ExceptFor(n) => (VerdictWord::Undecided, Some(*n), None),
        Answer::Unknown(why) => (VerdictWord::Undecided, None, Some(why.clone())),
    };
    FollowedLevel {
        level: level.code().to_owned(),
        verdict,
        left_out,
        reason,
    }
}

/// The answers, weakest level first.
pub(super) fn levels(status: &Status) -> Vec<FollowedLevel> {
    status.answers.iter().map(level).collect()
}

/// How far it is.
pub(super) fn progress(status: &Status, stream: &Stream) -> Progress {
    Progress {
        lines: stream.lines(),
        delivered: status.delivered,
        open: stream.open(),
        waiting: status.waiting,
        waits_for: status.why.as_ref().map(|why| awaited(why, stream)),
        remembered: status.remembered,
        settled: status.settled,
        levels: levels(status),
    }
}

fn awaited(why: &WaitingFor, stream: &Stream) -> AwaitedVersion {
    let names = stream.names();
    AwaitedVersion {
        line: why.line,
        session: names.sessions.name(why.session).to_owned(),
        key: names.keys.name(why.key).to_owned(),
        value: why.value.to_string(),
        writer_waits: why.writer_waits,
    }
}

/// What was found since this was asked last, levels with the same evidence together.
pub(super) fn violations(follower: &mut Follower) -> Vec<FoundViolation> {
    let mut found = follower.take_findings();
    let mut violations = Vec::new();
    while !found.is_empty() {
        let first = found.remove(0);
        let same = |other: &Finding| {
            (&other.title, &other.summary, other.line) == (&first.title, &first.summary, first.line)
        };
        let mut levels = vec![first.level.code().to_owned()];
        levels.extend(
            found
                .iter()
                .filter(|other| same(other))
                .map(|other| other.level.code().to_owned()),
        );
        found.retain(|other| !same(other));
        violations.push(violation(first, levels));
    }
    violations
}

fn violation(finding: Finding, levels: Vec<String>) -> FoundViolation {
    let example = finding
        .example
        .as_ref()
        .map(|example| &example.counterexample);
    let pattern = example
        .map(|example| example.violation.id.pattern)
        .or(finding.pattern);
    let history = example.and_then(|example| {
        let mut bytes = Vec::new();
        formats::write(&example.history, "json", &mut bytes).ok()?;
        serde_json::from_slice(&bytes).ok()
    });
    FoundViolation {
        levels,
        line: finding.line,
        delay_seconds: None,
        pattern: pattern.map(|pattern| pattern.id().to_owned()),
        forgotten: finding.is_forgotten,
        violation: example.map(audit::entry),
        history,
        session: finding.session,
        title: finding.title,
        summary: finding.summary,
    }
}

/// The answers that are others than the last ones.
pub(super) fn changes(
    last: &[FollowedLevel],
    now: &[FollowedLevel],
    line: u32,
) -> Vec<AnswerChange> {
    let before = |code: &str| {
        let before = last.iter().find(|before| before.level == code);
        before.map_or((VerdictWord::Satisfied, &None), |before| {
            (before.verdict, &before.reason)
        })
    };
    let changed = now
        .iter()
        .filter(|answer| before(&answer.level) != (answer.verdict, &answer.reason));
    changed
        .map(|answer| AnswerChange {
            line,
            answer: answer.clone(),
        })
        .collect()
}

/// The last answers among what was said.
pub(super) fn last_answers(said: &[Followed]) -> Vec<FollowedLevel> {
    let mut last: Vec<FollowedLevel> = Vec::new();
    for followed in said {
        if let FollowedEvent::Answer(change) = &followed.event {
            last.retain(|before| before.level != change.answer.level);
            last.push(change.answer.clone());
        }
    }
    last
}

/// What is known at the end.
pub(super) fn end(
    path: &Path,
    follower: &Follower,
    stream: &Stream,
    options: &Options,
    error: Option<String>,
) -> FollowedEnd {
    let status = follower.status();
    let mut levels = levels(&status);
    // What could not be read may violate what holds so far.
    for level in levels
        .iter_mut()
        .filter(|level| error.is_some() && level.verdict == VerdictWord::Satisfied)
    {
        level.verdict = VerdictWord::Undecided;
        level.reason = Some("the history could not be read to its end".to_owned());
    }
    FollowedEnd {
        path: path.display().to_string(),
        lines: stream.lines(),
        delivered: status.delivered,
        settled: status.settled,
        levels,
        assumptions: assumptions(&status, options),
        stopped: follower.ended().map(str::to_owned),
        error,
    }
}

/// What the answers rest on.
fn assumptions(status: &Status, options: &Options) -> Vec<String> {
    let horizon = options.horizon.filter(|_| status.settled > 0).map(|horizon| {
        format!(
            "no transaction reads a version that was replaced more than {} transactions earlier. What contradicts that is \
             left out and counted.",
            grouped(horizon)
        )
    });
    let sessions = options
        .sessions
        .map(|sessions| format!("there are {sessions} sessions and no others."));
    horizon.into_iter().chain(sessions).collect()
}
