//! One request as the file has it.

use super::fields::{flag, int, list, part, positive, text, value};
use crate::operations::{Fields, Tree, shown};
use isoscope_model::history::Outcome;

/// What a request does with keys.
pub(super) enum Step {
    Put {
        key: String,
        value: String,
    },
    /// Whether there was something to delete, if that is known.
    Delete {
        key: String,
        found: Option<bool>,
    },
    Range {
        start: String,
        end: String,
        found: Vec<Seen>,
        /// Whether a limit left out what follows.
        is_cut: bool,
    },
    /// The key has this revision, 0 for none.
    Is {
        key: String,
        revision: u64,
    },
    /// The key has another one.
    IsNot {
        key: String,
        revision: u64,
    },
}

/// A key that a range returned.
pub(super) struct Seen {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) revision: u64,
}

/// A request that took effect or may have.
pub(super) struct Request {
    pub(super) client: i64,
    /// The file and the line.
    pub(super) place: (usize, u32),
    pub(super) start: i64,
    /// None if it is not known when it ended.
    pub(super) end: Option<i64>,
    pub(super) outcome: Outcome,
    /// The revision of what it wrote.
    pub(super) revision: Option<u64>,
    pub(super) steps: Vec<Step>,
    /// What it did instead if its conditions did not hold, where that is not known.
    pub(super) otherwise: Vec<Step>,
}

/// What is left out, and how often.
#[derive(Default)]
pub(super) struct LeftOut {
    /// Ranges of old revisions.
    pub(super) stale: u32,
    /// Requests that the server refused.
    pub(super) refused: u32,
    /// Ranges without an answer.
    pub(super) unanswered: u32,
    /// Requests about leases, compaction and the like.
    pub(super) others: u32,
    /// Conditions of which it is not known what they read.
    pub(super) conditions: u32,
    /// Keys with a lease, each time it was put.
    pub(super) leased: std::collections::BTreeSet<String>,
}

/// What came back.
enum Answer {
    Known,
    Refused,
    /// It took effect, perhaps at this revision.
    Persisted(Option<u64>),
    None,
}

impl Request {
    /// The request in these fields; none if it says nothing about keys.
    pub(super) fn of(
        fields: Fields<'_>,
        place: (usize, u32),
        left_out: &mut LeftOut,
    ) -> Result<Option<Request>, String> {
        let entry = Tree::Map(fields.into());
        let (input, output) = (part(&entry, "Input")?, part(&entry, "Output")?);
        let client = int(&entry, "ClientId")?.ok_or("expected a `ClientId`, found none")?;
        let start = int(&entry, "Call")?.ok_or("expected a `Call`, found none")?;
        let mut request = Request {
            client,
            place,
            start,
            end: None,
            outcome: Outcome::Committed,
            revision: int(output, "Revision")?.and_then(positive),
            steps: Vec::new(),
            otherwise: Vec::new(),
        };
        let answer = answer(output)?;
        if let Answer::Known = answer {
            let end = int(&entry, "Return")?;
            let end = end.ok_or("expected a `Return`, found none")?;
            if end < start {
                return Err(format!(
                    "this request ends, at {end}, before it begins, at {start}"
                ));
            }
            request.end = Some(end);
        }
        match input.field("Type").and_then(Tree::word) {
            Some("range") => {
                let range = part(input, "Range")?;
                let is_stale = int(range, "Revision")?.is_some_and(|revision| revision != 0)
                    || int(output, "Revision")? == Some(-1);
                let count = match answer {
                    Answer::Known if is_stale => &mut left_out.stale,
                    Answer::Known => {
                        request
                            .steps
                            .push(Step::range(range, part(output, "Range")?)?);
                        return Ok(Some(request));
                    }
                    Answer::Refused => &mut left_out.refused,
                    Answer::Persisted(_) | Answer::None => &mut left_out.unanswered,
                };
                *count = count.saturating_add(1);
                Ok(None)
            }
            Some("txn") => {
                let took = request.transaction(part(input, "Txn")?, output, answer, left_out)?;
                Ok(took.then_some(request))
            }
            Some("leaseGrant" | "leaseRevoke" | "compact" | "defragment") => {
                left_out.others = left_out.others.saturating_add(1);
                Ok(None)
            }
            _ => Err(format!(
                "expected a `Type` of request, range or txn, found `{}`",
                shown(input.field("Type").unwrap_or(&Tree::Nil))
            )),
        }
    }

    /// Takes the steps of a transaction; returns whether it may have taken effect.
    fn transaction(
        &mut self,
        txn: &Tree<'_>,
        output: &Tree<'_>,
        answer: Answer,
        left_out: &mut LeftOut,
    ) -> Result<bool, String> {
        let conditions = list(txn, "Conditions")?;
        let (success, failure) = (
            list(txn, "OperationsOnSuccess")?,
            list(txn, "OperationsOnFailure")?,
        );
        if let Answer::Refused = answer {
            left_out.refused = left_out.refused.saturating_add(1);
            return Ok(false);
        }
        if let Answer::Known = answer {
            let result = part(output, "Txn")?;
            let has_failed = flag(result, "Failure")?;
            self.conditions(conditions, has_failed, left_out)?;
            let branch = if has_failed { failure } else { success };
            let results = list(result, "Results")?;
            if results.len() != branch.len() {
                return Err(format!(
                    "expected {} results, one of each operation, found {}",
                    branch.len(),
                    results.len()
                ));
            }
            for (operation, result) in branch.iter().zip(results) {
                self.steps
                    .extend(Step::of(operation, Some(result), left_out)?);
            }
            let writes = |step: &Step| matches!(step, Step::Put { .. });
            if self.revision.is_none() && self.steps.iter().any(writes) {
                return Err("expected the `Revision` of what was put, found none".to_owned());
            }
            return Ok(true);
        }
        self.outcome = Outcome::Unknown;
        self.revision = None;
        if let Answer::Persisted(revision) = answer {
            self.revision = revision;
            if conditions.is_empty() {
                self.outcome = Outcome::Committed;
            }
        }
        self.conditions(conditions, false, left_out)?;
        for operation in success {
            self.steps.extend(Step::of(operation, None, left_out)?);
        }
        for operation in failure.iter().filter(|_| !conditions.is_empty()) {
            self.otherwise.extend(Step::of(operation, None, left_out)?);
        }
        Ok(true)
    }

    /// Takes what conditions read that all held or of which one failed.
    fn conditions(
        &mut self,
        conditions: &[Tree<'_>],
        failed: bool,
        left_out: &mut LeftOut,
    ) -> Result<(), String> {
        for condition in conditions {
            let key = text(condition, "Key")?;
            let revision = int(condition, "ExpectedRevision")?.unwrap_or_default();
            let revision = u64::try_from(revision)
                .map_err(|_| "expected an `ExpectedRevision` of 0 or more".to_owned())?;
            let is_version = int(condition, "ExpectedVersion")?.is_some_and(|version| version > 0);
            match (failed, is_version) {
                (false, false) => self.steps.push(Step::Is { key, revision }),
                (true, false) if conditions.len() == 1 && revision > 0 => {
                    self.steps.push(Step::IsNot { key, revision });
                }
                _ => left_out.conditions = left_out.conditions.saturating_add(1),
            }
        }
        Ok(())
    }
}

impl Step {
    /// What an operation of a transaction did; none for a range without an answer.
    fn of(
        operation: &Tree<'_>,
        result: Option<&Tree<'_>>,
        left_out: &mut LeftOut,
    ) -> Result<Option<Step>, String> {
        match operation.field("Type").and_then(Tree::word) {
            Some("put-operation") => {
                let put = part(operation, "Put")?;
                let key = text(put, "Key")?;
                if int(put, "LeaseID")?.is_some_and(|lease| lease != 0) {
                    left_out.leased.insert(key.clone());
                }
                let value = value(put);
                Ok(Some(Step::Put { key, value }))
            }
            Some("delete-operation") => {
                let key = text(part(operation, "Delete")?, "Key")?;
                let found = match result {
                    Some(result) => Some(int(result, "Deleted")?.is_some_and(|n| n != 0)),
                    None => None,
                };
                Ok(Some(Step::Delete { key, found }))
            }
            Some("range-operation") => {
                let range = part(operation, "Range")?;
                result.map(|result| Step::range(range, result)).transpose()
            }
            _ => Err(format!(
                "expected a put-operation, delete-operation or range-operation, found `{}`",
                shown(operation.field("Type").unwrap_or(&Tree::Nil))
            )),
        }
    }

    fn range(range: &Tree<'_>, result: &Tree<'_>) -> Result<Step, String> {
        let found = list(result, "KVs")?.iter().map(|seen| {
            let revision = int(seen, "ModRevision")?.and_then(positive);
            Ok(Seen {
                key: text(seen, "Key")?,
                value: value(seen),
                revision: revision.ok_or("expected a `ModRevision`, found none")?,
            })
        });
        let found = found.collect::<Result<Vec<Seen>, String>>()?;
        let count = int(result, "Count")?.unwrap_or_default();
        let end = range.field("End").and_then(Tree::word).unwrap_or_default();
        Ok(Step::Range {
            start: text(range, "Start")?,
            end: end.to_owned(),
            is_cut: usize::try_from(count).is_ok_and(|count| count > found.len()),
            found,
        })
    }

    /// The key and the value of a put.
    pub(super) fn put(&self) -> Option<(&str, &str)> {
        match self {
            Step::Put { key, value } => Some((key, value)),
            _ => None,
        }
    }
}

fn answer(output: &Tree<'_>) -> Result<Answer, String> {
    let says = |name: &str| {
        let said = output.field(name).filter(|said| !said.is_nil());
        said.is_some_and(|said| said.word() != Some(""))
    };
    Ok(if says("Error") {
        Answer::None
    } else if flag(output, "Persisted")? {
        Answer::Persisted(int(output, "PersistedRevision")?.and_then(positive))
    } else if flag(output, "PartialResponse")? {
        Answer::Persisted(int(output, "Revision")?.and_then(positive))
    } else if says("ClientError") {
        Answer::Refused
    } else {
        Answer::Known
    })
}
