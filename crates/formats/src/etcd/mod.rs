//! Reports of etcd's robustness tests (etcd-io/etcd: tests/robustness/model/types.go, report/client.go).
//!
//! ```json
//! {"ClientId": 1, "Input": {"Type": "txn", "Txn": {"Conditions": [{"Key": "a", "ExpectedRevision": 2}],
//!  "OperationsOnSuccess": [{"Type": "put-operation", "Put": {"Key": "a", "Value": {"Value": "2"}}}]}}, "Call": 30,
//!  "Output": {"Txn": {"Failure": false, "Results": [{}]}, "Revision": 3}, "Return": 40}
//! {"ClientId": 1, "Input": {"Type": "range", "Range": {"Start": "a", "End": "", "Limit": 0, "Revision": 0}}, "Call": 50,
//!  "Output": {"Range": {"KVs": [{"Key": "a", "Value": {"Value": "2"}, "ModRevision": 3}], "Count": 1}, "Revision": 3},
//!  "Return": 60}
//! ```
//!
//! A report is a folder of `client-N/operations.json`; one such file, or all of them one after the other, can be read, too. Each
//! request is a transaction, each client identifier a session. They are understood as follows:
//!
//! - The value of a key is the revision at which it was written, which no two requests share. A put writes the revision of
//!   its answer; a range reads `ModRevision`. A range that does not have a key of the file reads that it is absent, unless
//!   the limit left it out.
//! - A condition that held reads its `ExpectedRevision`, 0 for an absent key; a single one that failed reads another one. Of several
//!   that failed it is not known which did, and one about a version says nothing about a revision.
//! - A delete writes that the key is absent, or, where it deleted nothing, reads it.
//! - A request that ended with an `Error` may have taken effect; one that is `Persisted` has, if it has no condition.
//!   The revision of such a put is known if a range returns its value.
//! - Keys of a lease may vanish at any time, so that such a key is absent is not read. Ranges of old revisions need not be
//!   up to date, and are left out.
//! - Watches, in `watch.json`, are not read, nor are leases, compaction and defragmentation.

mod fields;
mod history;
mod request;
mod revisions;

use crate::error::ReadError;
use crate::operations::read_by;
use crate::porcupine::has_typed_input;
use crate::{FilePart, Format, Input, Likelihood, Problem};
use history::Report;
use isoscope_model::control::Control;
use isoscope_model::history::History;
use std::path::{Path, PathBuf};

/// The row of the table.
pub const FORMAT: Format = Format {
    name: "etcd-robustness",
    aliases: &["etcd-report"],
    extensions: &["json"],
    part_name: Some(is_part),
    sniff,
    read,
    write: None,
};

/// The name of the file of a client.
const FILE: &str = "operations.json";

/// The files of the clients of a report in this folder, and their names.
pub(crate) fn files_in(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let clients = entries.filter_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path().join(FILE);
        (is_client(&name) && path.is_file()).then(|| (format!("{name}/{FILE}"), path))
    });
    clients.collect()
}

/// Whether this is the name of a client's file within a report.
fn is_part(name: &str) -> bool {
    let mut names = name.split('/');
    names.next().is_some_and(is_client) && names.next() == Some(FILE) && names.next().is_none()
}

/// Whether a folder of this name is that of a client.
fn is_client(name: &str) -> bool {
    let number = name.strip_prefix("client-");
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

fn sniff(input: &Input<'_>) -> Likelihood {
    let is_report = |bytes: &[u8]| has_typed_input(crate::head_of(bytes)) == Some(true);
    let is_file = |part: &&FilePart<'_>| part.name.ends_with(FILE) && !part.bytes.is_empty();
    let found = match input.parts() {
        [] => is_report(input.bytes()),
        parts => parts
            .iter()
            .find(is_file)
            .is_some_and(|part| is_report(part.bytes)),
    };
    if found {
        Likelihood::Certain
    } else {
        Likelihood::No
    }
}

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    control.phase("reading", input.len() as u64);
    let mut report = Report::default();
    if input.parts().is_empty() {
        requests(input, input.bytes(), 0, &mut report, control)?;
        if is_of_one_client(input.name()) {
            let remark = "This is the file of one client: what others wrote is not in it. The folder of the report has all.";
            report.remarks.push(remark.to_owned());
        }
    }
    for (part, FilePart { name, bytes }) in input.parts().iter().enumerate() {
        let taken = requests(input, bytes, part, &mut report, control);
        taken.map_err(|error| error.in_part(name))?;
    }
    if report.is_empty() {
        return Err(ReadError::whole(FORMAT.name, Problem::Empty));
    }
    report.history(input, control)
}

/// Whether a path is that of a file in the folder of a client.
fn is_of_one_client(path: &str) -> bool {
    let mut names = path.rsplit(['/', '\\']);
    names.next() == Some(FILE) && names.next().is_some_and(is_client)
}

/// Takes the requests of a file.
fn requests<'a>(
    input: &Input<'a>,
    bytes: &'a [u8],
    part: usize,
    report: &mut Report,
    control: &Control,
) -> Result<(), ReadError> {
    let bytes = crate::without_mark(bytes);
    let by = &mut |_: &mut _, fields, line| report.take(fields, (part, line));
    read_by::<true>(input, FORMAT.name, bytes, control, by).map(drop)
}

#[cfg(test)]
mod tests;
