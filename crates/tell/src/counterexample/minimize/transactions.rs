//! Delta debugging over transactions.

use super::Round;
use super::cutter::{Answer, Cutter, ViolatingPart};
use crate::counterexample::Minimality;
use isoscope_model::control::Interrupt;

impl Cutter<'_> {
    /// Removes transactions until no single one can be removed.
    pub(super) fn reduce(&self, mut found: ViolatingPart) -> (ViolatingPart, Minimality) {
        if self.remove_sessions(&mut found).is_err() {
            return (found, Minimality::Reduced);
        }
        let mut n_parts = 2;
        loop {
            let n = found.keep.len();
            if n <= 1 {
                // Without its only transaction the history is empty, which satisfies every level.
                return (found, Minimality::Irreducible);
            }
            n_parts = n_parts.min(n);
            let mut round = Round::default();
            match self.remove_part(&mut found, n_parts, &mut round) {
                Err(_) => return (found, Minimality::Reduced),
                Ok(true) => n_parts = (n_parts - 1).max(2),
                Ok(false) if n_parts < n => n_parts *= 2,
                Ok(false) => return (found, round.minimality()),
            }
        }
    }

    /// Tries to remove whole sessions, one after the other.
    fn remove_sessions(&self, found: &mut ViolatingPart) -> Result<(), Interrupt> {
        let mut sessions: Vec<_> = found
            .keep
            .iter()
            .map(|&t| self.history.session_of(t))
            .collect();
        sessions.dedup();
        if sessions.len() == found.keep.len() {
            // Single transactions are tried anyway.
            return Ok(());
        }
        for session in sessions {
            self.control.check()?;
            let rest: Vec<_> = found
                .keep
                .iter()
                .copied()
                .filter(|&t| self.history.session_of(t) != session)
                .collect();
            if let Answer::Violated(smaller) = self.ask(&rest) {
                *found = *smaller;
            }
        }
        Ok(())
    }

    /// Tries to remove one of `n_parts` equal parts, each in turn; says whether one is gone.
    fn remove_part(
        &self,
        found: &mut ViolatingPart,
        n_parts: usize,
        round: &mut Round,
    ) -> Result<bool, Interrupt> {
        for part in 0..n_parts {
            let keep = &found.keep;
            let removed = keep.len() * part / n_parts..keep.len() * (part + 1) / n_parts;
            let rest: Vec<_> = keep[..removed.start]
                .iter()
                .chain(&keep[removed.end..])
                .copied()
                .collect();
            if self.take(self.ask(&rest), found, round)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
