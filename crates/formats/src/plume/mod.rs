//! The text of Plume, PolySI, IsoVista and AWDIT's `plume`: one operation per line.
//!
//! ```text
//! history = { line }                                   lines end with LF or CR LF; blank lines are skipped
//! line    = ("r" | "w") "(" key "," value "," session "," transaction ")"
//!
//! w(1,1,0,0)        session 0, transaction 0 writes key 1 := 1
//! r(1,1,1,1)        session 1, transaction 1 reads key 1 = 1
//! w(2,7,0,-1)       session 0, some aborted transaction wrote key 2 := 7
//! ```
//!
//! The dialects differ (dracoooooo/Plume, amnore/PolySI and hengxin/IsoVista: TextHistoryLoader.java;
//! lassemoldrup/AWDIT: src/formats.rs); this reader takes them all:
//!
//! - Keys are numbers up to 2⁶⁴ − 1, values up to 2⁶⁴ − 3, sessions and transactions signed 64-bit numbers.
//! - Transaction numbers are global. The lines of one transaction need not be adjacent; the order of a session is the
//!   order in which its transactions first appear. A transaction with lines in two sessions is an error.
//! - Transaction -1 is not one transaction but represents all aborted ones, whose identity is lost. Each run of its
//!   lines in a session, up to the next line of another transaction of that session, becomes one aborted transaction.
//!   Reads are kept as well as writes.
//! - PolySI writes its initial transaction as number -1 of session -1: that one is not aborted. Like every explicit
//!   initial transaction it is kept as an ordinary transaction.
//! - Other negative transaction numbers are ordinary transactions.
//! - 0 is the initial value of every key that no transaction writes 0 to.
//!
//! The sessions of the history are in the order of their numbers. The file is cut into pieces at line ends; pieces are
//! read in parallel (`lines`) and joined in the order of the file, so the result does not depend on the number of
//! threads. The writer is in `write`.

mod lines;
mod write;

use super::{Format, Input, Likelihood, Place, Problem, ReadError};
use isoscope_model::control::Control;
use isoscope_model::history::{
    Builder, Draft, History, KeyId, NumberTable, OperationRun, Outcome, SessionId, Value,
};
use lines::{DraftRun, Piece};
use rayon::prelude::*;
use std::sync::Mutex;

/// The row of the table.
pub const FORMAT: Format = Format::file(
    "plume",
    &["plume-text", "polysi", "isovista"],
    &["txt", "plume"],
    sniff,
    read,
    write::write,
);

/// How many of the first lines are examined.
const SNIFFED_LINES: usize = 8;

fn sniff(input: &Input<'_>) -> Likelihood {
    let begins = |line: &[u8]| {
        let rest = line.strip_prefix(b"r(").or(line.strip_prefix(b"w("));
        rest.is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_digit))
    };
    let mut lines = input.head_lines().take(SNIFFED_LINES);
    match (lines.next().is_some_and(begins), lines.any(begins)) {
        (true, _) => Likelihood::Likely,
        // Something precedes the operations: the reader reports best what it is.
        (false, true) => Likelihood::Perhaps,
        (false, false) => Likelihood::No,
    }
}

/// Minimum and maximum bytes per piece: enough to be worth a task, large enough to make joining cheap.
const PIECE: (usize, usize) = (1 << 18, 1 << 23);

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let bytes = super::without_mark(input.bytes());
    control.phase("reading", bytes.len() as u64);
    let mut joined = Joined::new(Builder::new(input.origin(FORMAT.name)));
    let mut rest = bytes;
    // Waves keep the memory for pieces not yet joined small, and end the reading of garbage early. One wave is joined
    // while the next is parsed.
    let wave = 2 * rayon::current_num_threads();
    let piece_len = (bytes.len() / 1024).clamp(PIECE.0, PIECE.1);
    // Pieces are reused: fresh memory costs as much as parsing into it.
    let spare: Mutex<Vec<Piece>> = Mutex::default();
    let mut next_wave = || -> Vec<Result<Piece, lines::Bad>> {
        let mut pieces = Vec::with_capacity(wave);
        while pieces.len() < wave && !rest.is_empty() {
            pieces.push(split_piece(&mut rest, piece_len));
        }
        let parse = |piece: &&[u8]| {
            let used = spare
                .lock()
                .ok()
                .and_then(|mut spare| spare.pop())
                .unwrap_or_default();
            lines::parse(piece, used, control)
        };
        pieces.par_iter().map(parse).collect()
    };
    let mut parsed = next_wave();
    while !parsed.is_empty() {
        let (appended, next) = rayon::join(
            || joined.append_all(parsed, bytes.len(), &spare),
            &mut next_wave,
        );
        appended?;
        parsed = next;
    }
    control
        .check()
        .map_err(|interrupt| ReadError::whole(FORMAT.name, interrupt))?;
    joined.finish()
}

/// Cuts the next piece off the front of `rest`: whole lines, about `len` bytes.
fn split_piece<'a>(rest: &mut &'a [u8], len: usize) -> &'a [u8] {
    let from = rest.len().min(len);
    let end = memchr::memchr(b'\n', &rest[from..]).map_or(rest.len(), |newline| from + newline + 1);
    let (piece, behind) = rest.split_at(end);
    *rest = behind;
    piece
}

/// What is known about a session while pieces are joined.
struct JoinedSession {
    number: i64,
    id: SessionId,
    /// The aborted transaction that further lines of transaction -1 belong to.
    aborted: Option<Draft>,
}

/// The pieces read so far.
struct Joined {
    builder: Builder,
    n_lines: u64,
    n_bytes: usize,
    sessions: Vec<JoinedSession>,
    /// Places in `sessions` by number, as bits.
    session_of_number: NumberTable,
    /// Drafts by the number of the transaction, as bits.
    draft_of_number: NumberTable,
    /// By draft: place of the session in `sessions`, and the line on which the transaction began.
    begun: Vec<(u32, u32)>,
    guessed: bool,
}

impl Joined {
    fn new(builder: Builder) -> Joined {
        Joined {
            builder,
            n_lines: 0,
            n_bytes: 0,
            sessions: Vec::new(),
            session_of_number: NumberTable::default(),
            draft_of_number: NumberTable::default(),
            begun: Vec::new(),
            guessed: false,
        }
    }

    /// Appends the pieces of a wave of a file of `len` bytes and keeps their memory for the next.
    fn append_all(
        &mut self,
        pieces: Vec<Result<Piece, lines::Bad>>,
        len: usize,
        spare: &Mutex<Vec<Piece>>,
    ) -> Result<(), ReadError> {
        for piece in pieces {
            let piece = piece.map_err(|bad| {
                let line = self.n_lines + bad.line;
                let place = Place::Line {
                    line,
                    column: bad.column,
                };
                ReadError::new(FORMAT.name, place, bad.problem)
            })?;
            self.append(&piece)?;
            self.n_bytes += piece.n_bytes;
            if let Ok(mut spare) = spare.lock() {
                spare.push(piece);
            }
        }
        self.expect_more(len);
        Ok(())
    }

    /// After the first wave: guesses the number of operations in the rest of the file from those in its beginning.
    fn expect_more(&mut self, len: usize) {
        let left = len - self.n_bytes;
        if left == 0 || std::mem::replace(&mut self.guessed, true) {
            return;
        }
        let per_byte = self.builder.n_operations() as f64 / self.n_bytes.max(1) as f64;
        self.builder
            .reserve_operations((per_byte * left as f64 * 1.05) as usize);
    }

    fn append(&mut self, piece: &Piece) -> Result<(), ReadError> {
        let key_ids: Vec<KeyId> = piece
            .key_numbers
            .iter()
            .map(|&number| self.builder.key_number(number))
            .collect();
        let lines_before = u32::try_from(self.n_lines).unwrap_or(u32::MAX);
        for (n, run) in piece.runs.iter().enumerate() {
            let end = piece
                .runs
                .get(n + 1)
                .map_or(piece.kinds.len(), |next| next.begin as usize);
            let begin = run.begin as usize;
            let line = lines_before.saturating_add(piece.lines[begin]);
            let draft = self.draft(run, line)?;
            let run = OperationRun {
                kinds: &piece.kinds[begin..end],
                keys: &piece.keys[begin..end],
                values: &piece.values[begin..end],
                lines: &piece.lines[begin..end],
                key_ids: &key_ids,
                lines_before,
            };
            self.builder.operations(draft, run);
        }
        self.n_lines += piece.n_lines;
        Ok(())
    }

    /// The transaction that the lines of `run` belong to.
    fn draft(&mut self, run: &DraftRun, line: u32) -> Result<Draft, ReadError> {
        let place = self.session(run.session);
        if run.transaction == -1 && run.session != -1 {
            if let Some(draft) = self.sessions[place].aborted {
                return Ok(draft);
            }
            let draft = self.begin(place, Outcome::Aborted, line);
            self.sessions[place].aborted = Some(draft);
            return Ok(draft);
        }
        self.sessions[place].aborted = None;
        let next = self.builder.n_transactions() as u32;
        let draft = Draft(self.draft_of_number.place_or(run.transaction as u64, next));
        if draft.0 < next {
            let (earlier, earlier_line) = self.begun[draft.0 as usize];
            if earlier as usize != place {
                let problem = Problem::TwoSessions {
                    transaction: run.transaction,
                    session: run.session,
                    earlier: self.sessions[earlier as usize].number,
                    line: u64::from(earlier_line),
                };
                return Err(ReadError::at(FORMAT.name, u64::from(line), 0, problem));
            }
            return Ok(draft);
        }
        let draft = self.begin(place, Outcome::Committed, line);
        match u64::try_from(run.transaction) {
            Ok(number) => self.builder.number_transaction(draft, number),
            // PolySI's initial transaction gets no name: one name would turn all numbers into names.
            Err(_) if run.transaction == -1 => {}
            Err(_) => self
                .builder
                .name_transaction(draft, &format!("T{}", run.transaction)),
        }
        Ok(draft)
    }

    fn begin(&mut self, place: usize, outcome: Outcome, line: u32) -> Draft {
        self.begun.push((place as u32, line));
        self.builder.transaction(self.sessions[place].id, outcome)
    }

    /// Place of the session with this number in `sessions`.
    fn session(&mut self, number: i64) -> usize {
        let next = self.sessions.len() as u32;
        let place = self.session_of_number.place_or(number as u64, next);
        if place == next {
            let id = match u64::try_from(number) {
                Ok(number) => self.builder.session_number(number),
                Err(_) => self.builder.session_name(&number.to_string()),
            };
            self.sessions.push(JoinedSession {
                number,
                id,
                aborted: None,
            });
        }
        place as usize
    }

    fn finish(mut self) -> Result<History, ReadError> {
        if self.builder.n_operations() == 0 {
            return Err(ReadError::whole(FORMAT.name, Problem::Empty));
        }
        self.builder.initial_value(Value(0));
        self.builder.sort_sessions();
        // The tables are no longer needed, and sorting needs memory.
        let Joined { builder, .. } = self;
        builder
            .finish()
            .map_err(|error| ReadError::whole(FORMAT.name, error))
    }
}

#[cfg(test)]
mod tests;
