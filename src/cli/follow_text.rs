//! What a follower says, in words.

use super::output::{Output, Paint};
use crate::checkers::Level;
use crate::control::Control;
use crate::formats::{self, Input, Request};
use crate::history::{counted, visible};
use crate::report::{
    AwaitedVersion, FollowedEnd, FollowedLevel, FoundViolation, Progress, VerdictWord, grouped,
};

/// How far it is, in one line.
pub(super) fn progress(progress: &Progress) -> String {
    let mut text = format!(
        "line {} · {} delivered",
        grouped(u64::from(progress.lines)),
        grouped(progress.delivered)
    );
    if progress.open > 0 {
        text += &format!(" · {} open", grouped(progress.open as u64));
    }
    if progress.waiting > 0 {
        let why = progress
            .waits_for
            .as_ref()
            .map(|why| format!(" ({})", waits_for(why)))
            .unwrap_or_default();
        text += &format!(" · {} waiting{why}", grouped(progress.waiting as u64));
    }
    text += &format!(" · {} remembered", grouped(progress.remembered as u64));
    for (word, verdict) in [
        ("holds", VerdictWord::Satisfied),
        ("violated", VerdictWord::Violated),
        ("undecided", VerdictWord::Undecided),
    ] {
        let levels = progress
            .levels
            .iter()
            .filter(|level| level.verdict == verdict);
        let codes: Vec<&str> = levels.map(|level| level.level.as_str()).collect();
        if !codes.is_empty() {
            text += &format!(" · {word}: {}", codes.join(" "));
        }
    }
    visible(&text)
}

/// What the oldest transaction that waits needs.
fn waits_for(
    AwaitedVersion {
        line,
        session,
        key,
        value,
        writer_waits,
    }: &AwaitedVersion,
) -> String {
    let state = if *writer_waits {
        "whose writer waits, too"
    } else {
        "which no transaction that ended wrote"
    };
    format!("line {line} of session {session} read {key} = {value}, {state}")
}

/// One violation.
pub(super) fn violation(violation: &FoundViolation, out: &Output) -> String {
    let mut text = format!(
        "{} {}  line {}, session {}{}: {}\n",
        out.paint(Paint::Bad, "violated"),
        violation.levels.join(", "),
        grouped(u64::from(violation.line)),
        visible(&violation.session),
        violation
            .delay_seconds
            .map_or(String::new(), |seconds| format!(
                ", {} after it was recorded",
                time(seconds)
            )),
        violation.title
    );
    text += &match (violation.summary.is_empty(), violation.forgotten) {
        (false, _) => format!("  {}\n", violation.summary),
        (true, true) => {
            "  It read a version that all sessions have passed; isoscope check shows the evidence.\n".to_owned()
        }
        (true, false) => "  isoscope check shows the evidence.\n".to_owned(),
    };
    let lines = violation
        .history
        .as_ref()
        .and_then(|history| in_notation(&history.to_string()));
    text + &lines
        .iter()
        .flat_map(|lines| lines.lines())
        .map(|line| format!("    {line}\n"))
        .collect::<String>()
}

/// A short time.
pub(super) fn time(seconds: f64) -> String {
    if seconds < 1.0 {
        format!("{:.0} ms", 1000.0 * seconds)
    } else {
        format!("{seconds:.1} s")
    }
}

/// A comment in front of a counterexample with lists.
const ABOUT_LISTS: &[u8] = b"# lists show only the elements that are appended here\n";

/// A history in JSON, in our notation.
fn in_notation(json: &str) -> Option<String> {
    let request = Request {
        format: Some("json"),
        rules: None,
    };
    let history = formats::read(
        &Input::new("counterexample", json.as_bytes()),
        request,
        &Control::new(),
    )
    .ok()?;
    let mut bytes = if history.lists().is_empty() {
        Vec::new()
    } else {
        ABOUT_LISTS.to_vec()
    };
    formats::write(&history, "text", &mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}

/// The answers at the end, and what they rest on.
pub(super) fn end(end: &FollowedEnd, out: &Output) -> String {
    let facts = format!(
        "{} · {} settled",
        counted(end.delivered as usize, "transaction"),
        grouped(end.settled)
    );
    let heading = out.paint(Paint::Strong, &visible(&end.path));
    let mut text = format!("\n{heading}  {}\n\n", out.paint(Paint::Faint, &facts));
    for FollowedLevel {
        level,
        verdict,
        left_out,
        reason,
    } in &end.levels
    {
        let reason = reason.as_ref().map(|why| format!("  ({why})"));
        let left_out = left_out.map(|n| {
            let reads = if n == 1 {
                "1 read that is"
            } else {
                &format!("{} reads that are", grouped(n))
            };
            format!("  (satisfied but for {reads} left out: older than the horizon, or ambiguous)")
        });
        let name = Level::with_code(level).map_or("", Level::long_name);
        text += &format!(
            "  {level:4}  {}  {}{}\n",
            out.paint(Paint::of(*verdict), &format!("{:9}", verdict.word())),
            out.paint(Paint::Faint, name),
            reason.or(left_out).unwrap_or_default()
        );
    }
    let assumed = out.paint(Paint::Faint, "Assumed:");
    text + &end
        .assumptions
        .iter()
        .map(|assumption| format!("\n{assumed} {assumption}\n"))
        .collect::<String>()
}
