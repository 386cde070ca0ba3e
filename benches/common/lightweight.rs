//! Lightweight transactions: single reads, writes, compare-and-sets and inserts, with times.

use std::io::{self, BufWriter, Write};

/// Time between two operations of the store.
const STEP: i64 = 10;
/// Of ten operations: reads, successful swaps, failed swaps that say what they found, failed swaps that do not. The
/// rest are writes.
const SHARES: [u8; 4] = [4, 3, 1, 1];

/// A linearizable history: a store does one thing after the other, while `sessions` clients each wait for one answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lightweight {
    pub(crate) seed: u64,
    pub(crate) sessions: u64,
    pub(crate) transactions: u64,
    pub(crate) keys: u64,
    /// Values that are written again and again to each key; 0 for one more each time.
    pub(crate) values: u64,
}

impl Lightweight {
    /// Writes the history in IsoScope's own notation, a line for each transaction, in the order of what the store did.
    pub(crate) fn write_text(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        let mut random = fastrand::Rng::with_seed(self.seed);
        let mut current = vec![0u64; self.keys as usize];
        let mut free_from = vec![i64::MIN; self.sessions as usize];
        // Clients are free again before their turn comes round, more or less.
        let span = (STEP * self.sessions as i64 / 4).max(2);
        for n in 0..self.transactions as i64 {
            let moment = n * STEP;
            let first = random.u64(..self.sessions);
            let turns = (0..self.sessions).map(|turn| (first + turn) % self.sessions);
            let Some(session) = turns.into_iter().find(|&s| free_from[s as usize] <= moment) else {
                continue;
            };
            let start = (moment - random.i64(0..span)).max(free_from[session as usize]);
            let end = moment + random.i64(0..span);
            free_from[session as usize] = end + 1;
            let key = random.u64(..self.keys);
            let there = &mut current[key as usize];
            let mut dice = random.u8(0..10);
            let kind = SHARES.iter().position(|share| {
                let hit = dice < *share;
                dice = dice.saturating_sub(*share);
                hit
            });
            let value = if *there == 0 {
                "init".to_owned()
            } else {
                there.to_string()
            };
            let mut next = |there: u64| {
                if self.values == 0 {
                    there + 1
                } else {
                    random.u64(1..=self.values)
                }
            };
            match kind {
                Some(0 | 2) => write!(out, "{session}: [r {key} {value}]")?,
                Some(1) => {
                    *there = next(*there);
                    write!(out, "{session}: [r {key} {value}, w {key} {there}]")?;
                }
                Some(_) => write!(
                    out,
                    "{session}: [n {key} {}]",
                    if *there > 1 { *there - 1 } else { *there + 1 }
                )?,
                None => {
                    *there = next(*there);
                    write!(out, "{session}: [w {key} {there}]")?;
                }
            }
            writeln!(out, "@{start}..{end}")?;
        }
        out.flush()
    }
}
