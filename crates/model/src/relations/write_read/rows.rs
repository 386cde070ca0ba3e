//! The join, for the rows of scans.
//!
//! A row that a scan did not list was read from a version that does not match, so every such version is a possible source
//! (and the initial one, if that does not match); a row of which it listed only the key from one that matches.

use super::join::Join;
use super::{OWN, Standing, UNRECORDED};
use crate::history::OperationId;

impl Join<'_> {
    /// The code of a read of a row by a scan that does not tell its value. `own` is the latest own write before it. O(writes of
    /// the key).
    pub(super) fn read_of_row(
        &mut self,
        operation: u32,
        transaction: u32,
        own: Option<u32>,
    ) -> u32 {
        let read = OperationId(operation);
        let explains = |at: u32| {
            let version = self.writes[at as usize].value;
            self.history.may_return(read, version)
        };
        if own.is_some_and(explains) {
            return OWN;
        }
        let may_be_initial = self.history.may_return_initial(read);
        let all = 0..self.writes.len() as u32;
        let of_another = |&at: &u32| {
            let writer = self.writes[at as usize].transaction;
            writer != transaction
                && self.standing[writer as usize] != Standing::Aborted
                && !self.is_overwritten(at)
        };
        // Whatever version was there, the scan would have said the same.
        if own.is_none() && may_be_initial && all.clone().filter(of_another).all(explains) {
            return UNRECORDED;
        }
        let chain: Vec<u32> = all.filter(|&at| explains(at)).collect();
        self.read_of_chain((operation, transaction), own, chain, may_be_initial)
    }
}
