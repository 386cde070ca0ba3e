//! Where operations were read, by their order in the history.

use std::ops::Range;

/// A number for each operation: its line. Operations of a transaction are usually on consecutive lines, or all on one, so
/// this takes less than a byte for each; at worst, four.
#[derive(Clone, Debug)]
pub(super) enum Lines {
    /// One for each.
    Each(Vec<u32>),
    /// Stretches of operations, ascending.
    Runs { n: usize, runs: Vec<LineRun> },
}

/// Operations whose lines follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineRun {
    /// The first operation.
    begin: u32,
    /// Its line.
    line: u32,
    /// By how much each of the following ones is further: 0 or 1.
    step: u8,
}

/// Runs pay off if there is at most one for so many operations.
const OPERATIONS_PER_RUN: usize = 4;

impl Lines {
    /// The line of the operation at a place. O(log runs).
    pub(super) fn get(&self, place: usize) -> u32 {
        match self {
            Lines::Each(lines) => lines[place],
            Lines::Runs { n, runs } => {
                assert!(place < *n, "no operation {place} of {n}");
                let run = runs[runs.partition_point(|run| run.begin as usize <= place) - 1];
                run.line_of(place)
            }
        }
    }
}

impl Lines {
    /// The lines of the operations at these places, one after the other. O(log runs) for the first, O(1) for each.
    pub(super) fn range(&self, places: Range<usize>) -> impl Iterator<Item = u32> {
        let mut at = match self {
            Lines::Each(_) => 0,
            Lines::Runs { runs, .. } => runs
                .partition_point(|run| run.begin as usize <= places.start)
                .saturating_sub(1),
        };
        places.map(move |place| match self {
            Lines::Each(lines) => lines[place],
            Lines::Runs { runs, .. } => {
                at += usize::from(
                    runs.get(at + 1)
                        .is_some_and(|next| next.begin as usize <= place),
                );
                runs[at].line_of(place)
            }
        })
    }
}

impl LineRun {
    fn line_of(self, place: usize) -> u32 {
        self.line + u32::from(self.step) * (place as u32 - self.begin)
    }
}

impl From<Vec<u32>> for Lines {
    fn from(lines: Vec<u32>) -> Lines {
        let mut runs: Vec<LineRun> = Vec::new();
        let mut begin = 0;
        while let Some(&line) = lines.get(begin) {
            if runs.len() * OPERATIONS_PER_RUN > lines.len() {
                return Lines::Each(lines);
            }
            let step = lines
                .get(begin + 1)
                .and_then(|next| next.checked_sub(line))
                .filter(|step| *step <= 1);
            let step = step.unwrap_or(0);
            runs.push(LineRun {
                begin: begin as u32,
                line,
                step: step as u8,
            });
            let follows = |pair: &[u32]| pair[0].checked_add(step) == Some(pair[1]);
            begin += lines[begin..]
                .array_windows::<2>()
                .take_while(|pair| follows(*pair))
                .count()
                + 1;
        }
        runs.shrink_to_fit();
        Lines::Runs {
            n: lines.len(),
            runs,
        }
    }
}

impl FromIterator<u32> for Lines {
    fn from_iter<T: IntoIterator<Item = u32>>(lines: T) -> Lines {
        lines.into_iter().collect::<Vec<u32>>().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_kept() {
        let mut random = fastrand::Rng::with_seed(5);
        let (mut packed, mut plain) = (0, 0);
        for round in 0..400 {
            let n = random.usize(0..60);
            let mut line = random.u32(0..5);
            let mut lines = Vec::new();
            for _ in 0..n {
                lines.push(line);
                line = match random.u32(0..if round % 2 == 0 { 20 } else { 4 }) {
                    0 => random.u32(0..100),
                    1 => u32::MAX,
                    _ => line.saturating_add(u32::from(round % 4 < 2)),
                };
            }
            let stored = Lines::from(lines.clone());
            assert_eq!(
                (0..n).map(|place| stored.get(place)).collect::<Vec<_>>(),
                lines
            );
            let begin = random.usize(0..=n);
            assert_eq!(stored.range(begin..n).collect::<Vec<_>>(), lines[begin..]);
            match stored {
                Lines::Each(_) => plain += 1,
                Lines::Runs { .. } => packed += 1,
            }
        }
        assert!(packed > 50 && plain > 50, "{packed} {plain}");
    }
}
