//! Writing a history so that reading it back gives the same verdicts.
//!
//! A writer refuses what its format cannot express, but a file can also mean something other than intended: a written 0
//! may be an ordinary version here and the initial one there. So the output is read back, by the default rules, and
//! compared ([`losses`]); nothing that changes a verdict leaves this module. Where the format is narrower than the
//! history, the history is rewritten first ([`Fit`]), as little as possible, and the result says so.

use super::operations::{Notation, Transcript};
use super::{
    FilePart, Input, OpenError, Request, WriteError, Writer, container, fields, has_known_size,
    losses, open_copied, read, writer,
};
use isoscope_model::control::Control;
use isoscope_model::history::{History, NameTable, Rules, TransactionId, ValueRule};
use std::io;
use std::path::Path;

/// How sessions, transactions, keys and values are named in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// As in the history.
    Kept,
    /// By numbers, with a table of what they represent.
    Numbers,
}

/// A history in a format, known to have the same meaning.
#[derive(Debug)]
pub struct Converted {
    /// Names and contents of the files of a folder; one unnamed file for a single-file format.
    pub files: Vec<(String, Vec<u8>)>,
    /// What another program reads.
    pub history: History,
    /// What the format cannot express, and what was written instead where that matters: phrases that continue "… cannot
    /// say".
    pub words: Vec<String>,
    /// What the numbers represent, where names became numbers.
    pub names: Option<NameTable>,
}

impl Converted {
    /// The bytes, for a single-file format.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self.files.as_slice() {
            [(name, bytes)] if name.is_empty() => Some(bytes),
            _ => None,
        }
    }

    /// Writes the file, or a tar archive of the folder.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        match self.bytes() {
            Some(bytes) => out.write_all(bytes),
            None => container::write_tar(&self.files, out),
        }
    }
}

/// Why a history cannot be written in a format without a change of verdicts.
#[derive(Debug, thiserror::Error)]
#[error("{why}{}", if *.renumbering_helps { " (--renumber writes numbers in place of names)" } else { "" })]
pub struct ConversionError {
    /// The obstacle.
    pub why: Obstacle,
    /// Whether the names are the only obstacle.
    pub renumbering_helps: bool,
}

/// The obstacle to a conversion.
#[derive(Debug, thiserror::Error)]
pub enum Obstacle {
    /// The format cannot express something.
    #[error(transparent)]
    Unsayable(#[from] WriteError),
    /// What was written cannot be read.
    #[error("what was written as {format} cannot be read back: {message}")]
    Unreadable {
        /// The format.
        format: &'static str,
        /// What the reader says.
        message: String,
    },
    /// What was written means something else.
    #[error("the format {format} cannot hold this history: {what}")]
    Changed {
        /// The format.
        format: &'static str,
        /// The first difference.
        what: String,
    },
}

/// A rewriting of a history that keeps its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// Setup transactions become the initial versions.
    SetUpAsInitial,
    /// Transactions without operations are left out.
    NoEmptyTransactions,
    /// Values are renamed so that 0 is the initial one, and no other.
    ZeroInitial,
}

impl Fit {
    const ALL: [Fit; 3] = [
        Fit::SetUpAsInitial,
        Fit::NoEmptyTransactions,
        Fit::ZeroInitial,
    ];

    /// The rewritten history and a phrase for each difference; `None` where nothing changes.
    fn apply(self, history: &History) -> Option<(History, Vec<String>)> {
        match self {
            Fit::SetUpAsInitial => {
                let fitted = history.with_set_up_as_initial()?;
                let names: Vec<String> = history
                    .set_up()
                    .iter()
                    .map(|&t| history.transaction_name(t))
                    .collect();
                let phrase = match names.as_slice() {
                    [one] => format!(
                        "that {one} sets up the initial state: what it wrote is written as initial"
                    ),
                    [one, ..] => format!(
                        "that {one} and {} more set up the initial state: what they wrote is written as initial",
                        names.len() - 1
                    ),
                    [] => return None,
                };
                Some((fitted, vec![phrase]))
            }
            Fit::NoEmptyTransactions => {
                let fitted = history.without_empty_transactions()?;
                let mut phrases = Vec::new();
                match history.n_transactions() - fitted.n_transactions() {
                    0 => {}
                    1 => phrases.push("transactions without operations: 1 is left out".to_owned()),
                    n => phrases.push(format!("transactions without operations: {n} are left out")),
                }
                if history
                    .sessions()
                    .any(|s| history.transactions_of(s).len() == 0)
                {
                    phrases.push("sessions without transactions".to_owned());
                }
                Some((fitted, phrases))
            }
            Fit::ZeroInitial => {
                let (fitted, renamed) = history.with_zero_initial()?;
                let phrase = |value: &isoscope_model::history::NewValue| match value.new {
                    0 => format!(
                        "that {} is the initial value: it is written as 0",
                        value.old
                    ),
                    new => format!(
                        "that {} is a value like others: it is written as {new}",
                        value.old
                    ),
                };
                Some((fitted, renamed.iter().map(phrase).collect()))
            }
        }
    }
}

/// Writes a history in the format called `format`, unchanged if possible, else rewritten with the same meaning.
///
/// # Errors
/// The obstacle, where no rewriting keeps the meaning.
pub fn convert(
    history: &History,
    format: &str,
    naming: Naming,
    control: &Control,
) -> Result<Converted, ConversionError> {
    let failed = |why: Obstacle, renumbering_helps: bool| ConversionError {
        why,
        renumbering_helps,
    };
    let writer = writer(format).map_err(|error| failed(error.into(), false))?;
    super::refuse_other_data(history, format).map_err(|error| failed(error.into(), false))?;
    super::refuse_rows(history, format).map_err(|error| failed(error.into(), false))?;
    let format = super::format(format).map_or("", |format| format.name);
    let target = Target {
        format,
        writer,
        control,
    };
    match naming {
        Naming::Numbers if !history.scans().is_empty() => Err(failed(
            WriteError::CannotSay {
                format: target.format,
                what: "scans with other names: predicates compare names".to_owned(),
            }
            .into(),
            false,
        )),
        Naming::Numbers => {
            let (renumbered, names) = history.renumbered();
            let converted = target.fit(&renumbered).map_err(|why| failed(why, false))?;
            Ok(Converted {
                names: Some(names),
                ..converted
            })
        }
        Naming::Kept => target.fit(history).map_err(|why| {
            let helps = !is_interrupted(control) && target.fit(&history.renumbered().0).is_ok();
            failed(why, helps)
        }),
    }
}

/// Why a log cannot be copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// It cannot be read again.
    #[error(transparent)]
    Unreadable(#[from] OpenError),
    /// Another notation cannot say the same.
    #[error(transparent)]
    Obstacle(#[from] Obstacle),
}

/// Copies the log that a history was read from into another notation of logs, entry by entry, with fields that mean nothing to the
/// verdict. `None` where that says no more than [`convert`] does, or the file or the format is no log.
///
/// # Errors
/// The copy would mean something else.
pub fn copy(
    path: &Path,
    request: Request<'_>,
    history: &History,
    format: &str,
    control: &Control,
) -> Result<Option<Converted>, CopyError> {
    const LOOKED_AT: usize = 100;
    let all = [Notation::Edn, Notation::Json, Notation::Table];
    let Some(notation) = all.into_iter().find(|one| one.format() == format) else {
        return Ok(None);
    };
    let first: Vec<TransactionId> = history.transactions().take(LOOKED_AT).collect();
    let has_fields = || {
        let all = fields::of(history, &first, control);
        let mut names = all.values().flatten().map(|(name, _)| name);
        names.any(|name| name != fields::WALL_CLOCK)
    };
    let says_more = notation == Notation::Table || history.workload().is_some() || has_fields();
    if !has_known_size(path) || !says_more {
        return Ok(None);
    }
    let transcript = Transcript::default();
    open_copied(path, request, Some(&transcript), control)?;
    let Some(text) = transcript.written(notation) else {
        return Ok(None);
    };
    let changed = |what: String| Obstacle::Changed {
        format: notation.format(),
        what,
    };
    let request = Request {
        format: Some(notation.format()),
        ..request
    };
    let again = read(&Input::new("", text.as_bytes()), request, control);
    let again = again.map_err(|error| Obstacle::Unreadable {
        format: notation.format(),
        message: error.to_string(),
    })?;
    let words = losses(history, &again).map_err(changed)?;
    let said = |history: &History| {
        let workload = history.workload()?;
        Some((workload.name, workload.like_jepsen.clone(), workload.ids()))
    };
    if said(history) != said(&again) {
        let what = "what the rules of its workload say becomes something else".to_owned();
        return Err(changed(what).into());
    }
    Ok(Some(Converted {
        files: vec![(String::new(), text.into_bytes())],
        history: again,
        words,
        names: None,
    }))
}

fn is_interrupted(control: &Control) -> bool {
    control.check().is_err()
}

/// The target of a conversion.
struct Target<'a> {
    format: &'static str,
    writer: Writer,
    control: &'a Control,
}

impl Target<'_> {
    /// The history with as few fits as possible.
    fn fit(&self, history: &History) -> Result<Converted, Obstacle> {
        let mut sets: Vec<u32> = (0..1 << Fit::ALL.len()).collect();
        sets.sort_by_key(|set| set.count_ones());
        let mut obstacle = None;
        for set in sets {
            let mut fitted = std::borrow::Cow::Borrowed(history);
            let mut words = Vec::new();
            let chosen = || {
                Fit::ALL
                    .iter()
                    .enumerate()
                    .filter(|(n, _)| set >> n & 1 == 1)
                    .map(|(_, fit)| *fit)
            };
            let applied = chosen().all(|fit| match fit.apply(&fitted) {
                Some((other, phrases)) => {
                    fitted = std::borrow::Cow::Owned(other);
                    words.extend(phrases);
                    true
                }
                None => false,
            });
            if !applied {
                continue;
            }
            match self.written(&fitted) {
                Ok(converted) => {
                    words.extend(converted.words);
                    words.dedup();
                    return Ok(Converted { words, ..converted });
                }
                // The attempt with the most fits shows the obstacle that none of them removes.
                Err(why) => obstacle = Some(why),
            }
        }
        Err(obstacle.unwrap_or_else(|| self.changed("it cannot be written".to_owned())))
    }

    fn changed(&self, what: String) -> Obstacle {
        Obstacle::Changed {
            format: self.format,
            what,
        }
    }

    /// The history unchanged.
    fn written(&self, history: &History) -> Result<Converted, Obstacle> {
        let plain = history.with_plain_initial_reads();
        let files = match self.writer {
            Writer::File(write) => {
                let mut bytes = Vec::new();
                write(&plain, &mut bytes)?;
                vec![(String::new(), bytes)]
            }
            Writer::Folder(files) => files(&plain)?,
        };
        let again = self.read_back(&files)?;
        let words = losses(history, &again).map_err(|what| self.changed(what))?;
        Ok(Converted {
            files,
            history: again,
            words,
            names: None,
        })
    }

    /// What another program will read: by the default rules.
    fn read_back(&self, files: &[(String, Vec<u8>)]) -> Result<History, Obstacle> {
        // Values that are the same as text were distinguished before, or are one by now.
        let rules = Rules {
            values: ValueRule::Exact,
            ..Rules::default()
        };
        let request = Request {
            format: Some(self.format),
            rules: Some(&rules),
        };
        let read = |input: &Input<'_>| read(input, request, self.control);
        let history = match files {
            [(name, bytes)] if name.is_empty() => read(&Input::new("", bytes)),
            _ => {
                let parts: Vec<FilePart<'_>> = files
                    .iter()
                    .map(|(name, bytes)| FilePart { name, bytes })
                    .collect();
                read(&Input::folder("", &parts))
            }
        };
        history.map_err(|error| Obstacle::Unreadable {
            format: self.format,
            message: error.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isoscope_model::history::{Builder, Interval, OperationKind, Origin, Outcome, Value};

    #[test]
    fn a_transaction_that_ends_before_it_begins_is_written_in_no_format() {
        let mut builder = Builder::new(Origin::default());
        let session = builder.session_name("a");
        let draft = builder.transaction(session, Outcome::Committed);
        builder.set_interval(draft, Interval { start: 2, end: 1 });
        let key = builder.key_number(1);
        builder.operation(draft, OperationKind::Write, key, Value(1), 0);
        let history = builder.finish().expect("a small history");
        let refused = |format: &str| match convert(&history, format, Naming::Kept, &Control::new())
        {
            Err(error) => error.to_string(),
            Ok(_) => panic!("written as {format}"),
        };
        for format in ["elle-edn", "elle-json", "timekiller"] {
            assert_eq!(
                refused(format),
                format!("the format {format} cannot express that a1 ended before it began")
            );
        }
        for format in ["text", "json"] {
            let begin = format!("what was written as {format} cannot be read back: line ");
            assert!(refused(format).starts_with(&begin), "{}", refused(format));
        }
    }
}
