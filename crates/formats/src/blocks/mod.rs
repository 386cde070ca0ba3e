//! The file that Jepsen keeps of a test since 0.3, `test.jepsen`, and the one before it, `test.fressian`.
//!
//! ```text
//! file   = "JEPSEN" version:u32 index:u64 block*    version 0 or 1; the index is 0 until the first checkpoint
//! block  = length:u64 checksum:u32 type:u16 0:u8*14 data
//! index  = root:u32 (block:u32 place:u64)*          type 1: the block of the test, and where the current blocks are
//! value  = fressian                                 type 2
//! map    = rest:u32 fressian                        type 3: some fields, and the block of the others or 0
//! stream = fressian*                                type 4
//! vector = count:u64 (first:u64 block:u32)*         type 5: elements in blocks, and the number of the first one of each
//! ```
//!
//! Numbers are big endian. The length of a block counts its header; the checksum is the CRC-32 of the data and then of the
//! header, with zeros for the checksum. Blocks are only ever appended, with a new index after them, so that a run that was
//! interrupted has all up to its last checkpoint; blocks that the current index does not name are of the past. The test is
//! a map whose `:history` and `:results` are references to blocks of their own. Version 0 has the history in one value,
//! version 1 in a vector of streams. (`jepsen.store.format`; the type field of a header is longer than described there.)
//! `test.fressian` is the map of the test alone, with everything in it.
//!
//! Operations are those of `history.edn` beside it, except that a key of `jepsen.independent` is told from other vectors of
//! two. The line of an operation is its number in the history, from 1: its line in the `history.edn` that Jepsen writes.

mod file;
mod fressian;

use crate::operations::{Operations, Tree};
use crate::{Format, Input, Likelihood, Problem, ReadError, elle, jepsen_run, workloads};
use file::{Blocks, MAGIC, Piece, field, reference};
use fressian::Fressian;
use isoscope_model::control::Control;
use isoscope_model::history::{Builder, History, cut};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// The row of the table.
pub const FORMAT: Format = Format {
    name: "jepsen-blocks",
    aliases: &["test.jepsen", "test.fressian"],
    extensions: &["jepsen", "fressian"],
    part_name: None,
    sniff,
    read,
    write: None,
};

/// Errors are rare and large: values are faster to hand over without them.
type Result<T> = std::result::Result<T, Box<ReadError>>;

/// Bytes of a block of results that are looked at.
const LOOKED_AT: usize = 1 << 20;
/// Operations of which there are trees at the same time, where they need not all be kept.
const AT_ONCE: u32 = 1024;
/// Longest message about an operation, in characters.
const SHOWN: usize = 200;
/// Longest text of an operation, in characters.
const LONGEST: usize = 1 << 16;

fn sniff(input: &Input<'_>) -> Likelihood {
    match input.head() {
        head if head.starts_with(MAGIC) => Likelihood::Certain,
        // A map, the list of its fields, and a keyword, perhaps for the cache.
        [0xC0, 0xE4..=0xEE, 0xCA | 0xCD, ..] => Likelihood::Likely,
        _ => Likelihood::No,
    }
}

/// Whether a file begins like one of these.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    sniff(&Input::new("", bytes)) > Likelihood::No
}

/// What a file holds.
struct Test<'a> {
    fields: Vec<(Tree<'static>, Tree<'static>)>,
    results: Option<Tree<'static>>,
    history: Option<Kept<'a>>,
}

/// Where operations are.
enum Kept<'a> {
    /// In a block, or in several that it names.
    Blocks(Blocks<'a>, u32),
    Trees(Vec<Tree<'static>>),
}

impl<'a> Kept<'a> {
    /// Operations that are together.
    fn pieces(self) -> Result<Pieces<'a>> {
        Ok(match self {
            Kept::Blocks(blocks, id) => Pieces::Blocks(blocks.pieces(id)?),
            Kept::Trees(trees) => Pieces::Trees(trees),
        })
    }
}

/// Operations that are together.
enum Pieces<'a> {
    Blocks(Vec<Piece<'a>>),
    Trees(Vec<Tree<'static>>),
}

impl<'a> Test<'a> {
    /// The test of a file; nothing if the run ended before its first checkpoint.
    fn of(bytes: &'a [u8], control: &'a Control) -> Result<Option<Test<'a>>> {
        if !bytes.starts_with(MAGIC) {
            let Tree::Map(fields) = Fressian::new(bytes, 0, control).value()? else {
                let message = "expected a test: a map with a `:history`".to_owned();
                return Err(ReadError::at_byte(FORMAT.name, 0, Problem::Other(message)).into());
            };
            let mut fields = fields.into_vec();
            let mut take = |name: &str| {
                let place = fields
                    .iter()
                    .position(|(field, _)| field.word() == Some(name))?;
                Some(fields.swap_remove(place).1)
            };
            let (history, results) = (take("history"), take("results"));
            let history = history.and_then(|history| match history {
                Tree::List(operations) => Some(Kept::Trees(operations.into_vec())),
                _ => None,
            });
            return Ok(Some(Test {
                fields,
                results,
                history,
            }));
        }
        let Some(blocks) = Blocks::of(bytes, control)? else {
            return Ok(None);
        };
        let fields = blocks.test()?;
        let results = field(&fields, "results").filter(|results| !results.is_nil());
        let results = results.map(|results| match reference(results) {
            // They are only told: where they cannot be read, nothing is.
            Some(id) => Tree::Map(blocks.map(id, LOOKED_AT).unwrap_or_default().into()),
            None => results.clone(),
        });
        let history = match field(&fields, "history") {
            None | Some(Tree::Nil) => None,
            Some(history) => match (reference(history), history) {
                (None, Tree::List(operations)) => Some(Kept::Trees(operations.to_vec())),
                (Some(id), _) => Some(Kept::Blocks(blocks, id)),
                (None, _) => None,
            },
        };
        Ok(Some(Test {
            fields,
            results,
            history,
        }))
    }
}

/// The fields of the test and of its results, as far as they can be read, but for its history.
pub(super) fn described(bytes: &[u8]) -> Option<(Tree<'static>, Tree<'static>)> {
    let control = Control::new();
    let test = Test::of(bytes, &control).ok()??;
    Some((
        Tree::Map(test.fields.into()),
        test.results.unwrap_or(Tree::Nil),
    ))
}

/// Whether there is a history in a file, or something wrong with it.
pub(super) fn keeps_history(bytes: &[u8]) -> bool {
    match Test::of(bytes, &Control::new()) {
        Ok(test) => test.is_some_and(|test| test.history.is_some()),
        Err(_) => true,
    }
}

fn read(input: &Input<'_>, control: &Control) -> std::result::Result<History, ReadError> {
    history(input, control).map_err(|error| *error)
}

fn history(input: &Input<'_>, control: &Control) -> Result<History> {
    let refuse = |message: &str| {
        let problem = Problem::Other(message.to_owned());
        Err(ReadError::whole(FORMAT.name, problem).into())
    };
    control.phase("reading", input.bytes().len() as u64);
    let Some(test) = Test::of(input.bytes(), control)? else {
        return refuse("the run ended before its first checkpoint: it has no history");
    };
    let Some(kept) = test.history else {
        return refuse("this test has no `:history`: the run ended before it was kept");
    };
    let remark = test.results.is_none().then(|| {
        "Jepsen did not judge this run: operations after its last checkpoint may be missing."
            .to_owned()
    });
    let pieces = kept.pieces()?;
    let as_transactions = match input.transcript {
        Some(_) => None,
        None => transactions(input, &pieces, control),
    };
    let history = match as_transactions {
        Some(mut log) => {
            log.around.remarks.extend(remark);
            let mut builder = Builder::new(input.origin(FORMAT.name));
            builder.suggest(elle::suggestions());
            elle::history(log, builder, FORMAT.name)
        }
        None => {
            let mut operations = operations(input, pieces, control)?;
            operations.around.remarks.extend(remark);
            workloads::history(operations, input, FORMAT.name, elle::suggestions(), control)
        }
    };
    let (test, results) = (
        Tree::Map(test.fields.into()),
        test.results.unwrap_or(Tree::Nil),
    );
    Ok(history?.annotated(jepsen_run::said_by(&test, &results)))
}

/// The log of a history in blocks whose operations are all transactions, read by several threads. `None` for any other,
/// and for every error, which the other way finds in order.
fn transactions<'a>(
    input: &Input<'a>,
    pieces: &Pieces<'_>,
    control: &Control,
) -> Option<elle::Log<'a>> {
    let Pieces::Blocks(pieces) = pieces else {
        return None;
    };
    let log = |piece: &Piece<'_>| {
        let (mut operations, mut n) = (Operations::of(input), 0);
        let mut logs = Vec::new();
        let taken = piece.each(control, &mut |tree| {
            n += 1;
            take(&mut operations, tree, n)?;
            if n == AT_ONCE {
                let all = std::mem::replace(&mut operations, Operations::of(input));
                let other = || ReadError::whole(FORMAT.name, Problem::Empty);
                logs.push((
                    log_of(all).ok_or_else(other)?,
                    std::mem::take(&mut n) as usize,
                ));
            }
            Ok(())
        });
        taken.ok()?;
        logs.push((log_of(operations)?, n as usize));
        let n = logs.iter().map(|(_, n)| n).sum();
        Some((elle::together(logs)?, n))
    };
    let logs: Option<Vec<_>> = pieces.par_iter().map(log).collect();
    elle::together(logs?)
}

/// The log of operations if they are all transactions.
fn log_of(mut operations: Operations<'_>) -> Option<elle::Log<'_>> {
    let workload = operations.workload();
    let may_be = workload.is_none_or(|name| name == "transactions");
    if !may_be || !elle::are_transactions(&operations) {
        return None;
    }
    operations.note_unread_fields();
    Some(elle::log_of(operations, false))
}

/// All operations of a history, read by several threads.
fn operations<'a>(
    input: &Input<'a>,
    pieces: Pieces<'_>,
    control: &Control,
) -> Result<Operations<'a>> {
    control.phase("reading", input.bytes().len() as u64);
    let mut operations = Operations::of(input);
    match pieces {
        Pieces::Trees(trees) => {
            let mut all = (1..).zip(trees);
            all.try_for_each(|(n, tree)| take(&mut operations, tree, n))?;
        }
        Pieces::Blocks(pieces) => {
            let part = |piece: &Piece<'_>| {
                let mut part = Operations::of(input);
                let before = piece.range.map_or(0, |(start, _)| start);
                let mut n = u32::try_from(before).unwrap_or(u32::MAX);
                piece.each(control, &mut |tree| {
                    n = n.saturating_add(1);
                    take(&mut part, tree, n)
                })?;
                Ok(part)
            };
            // The first error is that of the earliest operation.
            let parts: Vec<Result<_>> = pieces.par_iter().map(part).collect();
            for part in parts {
                operations.append(part?, 0);
            }
        }
    }
    Ok(operations)
}

/// Takes the operation with this number.
fn take(operations: &mut Operations<'_>, tree: Tree<'static>, n: u32) -> Result<()> {
    let taken = match tree {
        Tree::Map(fields) => operations.take(fields.into_vec(), n),
        other => Err(format!("expected an operation, found {}", other.text())),
    };
    taken.map_err(|message| {
        let message = Problem::Other(cut(&message, SHOWN));
        ReadError::at(FORMAT.name, u64::from(n), 0, message).into()
    })
}

/// The operations with these numbers as EDN, as far as they are there.
pub(super) fn texts(
    bytes: &[u8],
    numbers: &[u32],
    control: &Control,
) -> Result<FxHashMap<usize, String>> {
    let wanted: FxHashSet<usize> = numbers.iter().map(|&number| number as usize).collect();
    let mut found = FxHashMap::default();
    let mut note = |n: usize, tree: &Tree<'_>| {
        if wanted.contains(&n) {
            found.insert(n, cut(&tree.text(), LONGEST));
        }
    };
    let kept = Test::of(bytes, control)?.and_then(|test| test.history);
    match kept.map(Kept::pieces).transpose()? {
        None => {}
        Some(Pieces::Trees(trees)) => (1..).zip(&trees).for_each(|(n, tree)| note(n, tree)),
        Some(Pieces::Blocks(pieces)) => {
            let mut n = 0;
            for piece in pieces {
                let has = |(start, length): (usize, usize)| {
                    wanted.iter().any(|&n| n > start && n - start <= length)
                };
                if let Some(range) = piece.range.filter(|range| !has(*range)) {
                    n += range.1;
                    continue;
                }
                piece.each(control, &mut |tree| {
                    n += 1;
                    note(n, &tree);
                    Ok(())
                })?;
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
