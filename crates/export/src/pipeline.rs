//! Verdicts for test pipelines: JUnit XML, where each level of a history is a test case, and SARIF 2.1.0 for code
//! scanning, where each anomaly is a result with its line in the history.

use isoscope_check::checkers::{Level, Pattern};
use isoscope_tell::report::{Document, LevelEntry, Report, VerdictWord, ViolationEntry};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// Maximum number of anomalies reported of each history, in the order of the list.
const MOST: usize = 20;

/// What a pipeline learns about one history.
#[derive(Clone, Debug)]
pub struct Tested {
    path: String,
    /// The verdicts, or why there are none.
    levels: Result<Vec<LevelEntry>, String>,
    /// The listed anomalies that contain no simpler one, at most [`MOST`].
    found: Vec<ReportedViolation>,
    /// Whether there was anything to test.
    tested: bool,
}

#[derive(Clone, Debug)]
struct ReportedViolation {
    id: String,
    pattern: Pattern,
    levels: Vec<Level>,
    title: String,
    text: String,
    line: Option<u32>,
}

impl Tested {
    /// Keeps of a report what pipelines show; nothing where another shard has the history. O(listed anomalies).
    pub fn new(document: &Document) -> Option<Tested> {
        match document {
            Document::Report(report) => Some(Tested::of_report(report)),
            Document::Failure(failure) => {
                let path = failure.history.path.clone();
                Some(Tested {
                    path,
                    levels: Err(failure.error.message.clone()),
                    found: Vec::new(),
                    tested: true,
                })
            }
            Document::Elsewhere(_) => None,
        }
    }

    fn of_report(report: &Report) -> Tested {
        let roots = report
            .violations
            .iter()
            .filter(|violation| violation.contains.is_none());
        Tested {
            path: report.history.path.clone(),
            levels: Ok(report.levels.clone()),
            found: roots.take(MOST).map(ReportedViolation::new).collect(),
            tested: report.tested,
        }
    }
}

impl ReportedViolation {
    fn new(violation: &ViolationEntry) -> ReportedViolation {
        let (title, text) = match &violation.claim {
            Some(claim) => (claim.title.clone(), claim.text.clone()),
            None => (violation.name.clone(), String::new()),
        };
        // What the headline is about, else what the argument begins with.
        let of_claim = violation.claim.iter().flat_map(|claim| claim.operations());
        let operations = of_claim.chain(
            violation
                .statements
                .iter()
                .flat_map(|statement| &statement.operations),
        );
        let is_of_lines = |place: &Option<String>| {
            place
                .as_deref()
                .is_some_and(|place| place.starts_with("line "))
        };
        let line = operations
            .filter(|o| is_of_lines(&o.place))
            .find_map(|o| o.line);
        ReportedViolation {
            id: violation.id.clone(),
            pattern: violation.pattern,
            levels: violation.levels.clone(),
            title,
            text,
            line,
        }
    }
}

/// A test suite for each history with a test case for each level: failed where it is violated, skipped where it is
/// undecided or where nothing was tested. A history that cannot be read is an error. Errors: never, but for lack of memory.
pub fn junit(tested: &[Tested]) -> Result<String, quick_junit::SerializeError> {
    let mut report = quick_junit::Report::new("IsoScope");
    for history in tested {
        let mut suite = TestSuite::new(history.path.as_str());
        match &history.levels {
            Ok(levels) => suite.add_test_cases(levels.iter().map(|level| case(history, level))),
            Err(message) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
                status.set_message(message.as_str()).set_type("unreadable");
                let mut case = TestCase::new("read the history", status);
                case.set_classname(history.path.as_str());
                suite.add_test_case(case)
            }
        };
        report.add_test_suite(suite);
    }
    report.to_string()
}

fn case(history: &Tested, level: &LevelEntry) -> TestCase {
    let status = match level.verdict {
        VerdictWord::Satisfied if history.tested => TestCaseStatus::success(),
        VerdictWord::Satisfied => {
            let mut status = TestCaseStatus::skipped();
            status.set_message("nothing was tested");
            status
        }
        VerdictWord::Violated => {
            let found: Vec<&ReportedViolation> = history
                .found
                .iter()
                .filter(|found| found.levels.contains(&level.level))
                .collect();
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(match found.first() {
                Some(first) => format!("{} is violated: {}", level.level, first.title),
                None => format!("{} is violated", level.level),
            });
            status.set_type(found.first().map_or("violated", |first| first.pattern.id()));
            let mut text = String::new();
            for ReportedViolation {
                id,
                title,
                text: summary,
                ..
            } in found
            {
                let _ = writeln!(text, "{id}  {title}\n  {summary}");
            }
            status.set_description(text);
            status
        }
        VerdictWord::Undecided => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(format!(
                "undecided: {}",
                level.reason.as_deref().unwrap_or("not known")
            ));
            status
        }
    };
    let mut case = TestCase::new(level.level.code(), status);
    case.set_classname(history.path.as_str());
    case.set_time(Duration::try_from_secs_f64(level.seconds).unwrap_or_default());
    case
}

/// One run whose rules are the patterns found and whose results are the anomalies; what is undecided or unreadable is a
/// notification.
pub fn sarif(tested: &[Tested]) -> Value {
    let mut rules: BTreeMap<&str, Pattern> = BTreeMap::new();
    let (mut results, mut notifications) = (Vec::new(), Vec::new());
    let mut is_read = true;
    for history in tested {
        let note = |level: &str, text: String| json!({ "level": level, "message": { "text": text }, "locations": [location(&history.path, None)] });
        match &history.levels {
            Err(message) => {
                is_read = false;
                notifications.push(note("error", message.clone()));
            }
            Ok(levels) => {
                let untested =
                    (!history.tested).then(|| note("warning", "nothing was tested".to_owned()));
                notifications.extend(untested);
                let open = levels
                    .iter()
                    .filter(|level| level.verdict == VerdictWord::Undecided);
                notifications.extend(open.map(|level| {
                    let reason = level.reason.as_deref().unwrap_or("not known");
                    note("warning", format!("{} is undecided: {reason}", level.level))
                }));
            }
        }
        for found in &history.found {
            let codes: Vec<&str> = found.levels.iter().map(|level| level.code()).collect();
            rules.insert(found.pattern.id(), found.pattern);
            results.push(json!({
                "ruleId": found.pattern,
                "level": "error",
                "message": { "text": format!("{}. {} Violates {}.", found.title, found.text, codes.join(", ")) },
                "locations": [location(&history.path, found.line)],
                "properties": { "id": found.id, "levels": found.levels },
            }));
        }
    }
    let rule = |pattern: Pattern| {
        let row = pattern.row();
        json!({
            "id": row.id,
            "name": row.name,
            "shortDescription": { "text": row.title },
            "fullDescription": { "text": row.meaning },
        })
    };
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "IsoScope",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.into_values().map(rule).collect::<Vec<_>>(),
            } },
            "invocations": [{ "executionSuccessful": is_read, "toolExecutionNotifications": notifications }],
            "results": results,
        }],
    })
}

fn location(path: &str, line: Option<u32>) -> Value {
    let artifact = json!({ "uri": uri(path) });
    match line {
        Some(line) => {
            json!({ "physicalLocation": { "artifactLocation": artifact, "region": { "startLine": line } } })
        }
        None => json!({ "physicalLocation": { "artifactLocation": artifact } }),
    }
}

/// A path as a reference (RFC 3986), relative if it is.
fn uri(path: &str) -> String {
    let mut uri = if path.starts_with('/') {
        "file://".to_owned()
    } else {
        String::new()
    };
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}
