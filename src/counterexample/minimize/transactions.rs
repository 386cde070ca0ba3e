//! Delta debugging over transactions.

use super::Round;
use super::cutter::{Answer, Cutter, ViolatingPart};
use crate::control::Interrupt;
use crate::counterexample::Minimality;
use crate::history::TransactionId;

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
            match self.remove_part(&found.keep, n_parts, &mut round) {
                Err(_) => return (found, Minimality::Reduced),
                Ok(Some(smaller)) => {
                    found = smaller;
                    n_parts = (n_parts - 1).max(2);
                }
                Ok(None) if n_parts < n => n_parts *= 2,
                Ok(None) => return (found, round.minimality()),
            }
        }
    }

    /// Tries to remove whole sessions, one after the other.
    fn remove_sessions(&self, found: &mut ViolatingPart) -> Result<(), Interrupt> {
        let mut sessions: Vec<_> = found.keep.iter().map(|&t| self.history.session_of(t)).collect();
        sessions.dedup();
        if sessions.len() == found.keep.len() {
            // Single transactions are tried anyway.
            return Ok(());
        }
        for session in sessions {
            self.control.check()?;
            let rest: Vec<_> = found.keep.iter().copied().filter(|&t| self.history.session_of(t) != session).collect();
            if let Answer::Violated(smaller) = self.ask(&rest) {
                *found = *smaller;
            }
        }
        Ok(())
    }

    /// Tries to remove each of `n_parts` equal parts.
    fn remove_part(
        &self,
        keep: &[TransactionId],
        n_parts: usize,
        round: &mut Round,
    ) -> Result<Option<ViolatingPart>, Interrupt> {
        for part in 0..n_parts {
            let removed = keep.len() * part / n_parts..keep.len() * (part + 1) / n_parts;
            let rest: Vec<_> = keep[..removed.start].iter().chain(&keep[removed.end..]).copied().collect();
            let answer = self.ask(&rest);
            // An interrupted check says nothing.
            self.control.check()?;
            match answer {
                Answer::Violated(smaller) => return Ok(Some(*smaller)),
                Answer::ByAnotherPattern => round.another_pattern = true,
                Answer::Unusable => round.unusable = true,
                Answer::No => {}
            }
        }
        Ok(None)
    }
}
