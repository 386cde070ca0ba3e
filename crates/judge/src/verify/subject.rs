//! What a violation of a report is about.

use super::resolution::Resolution;
use crate::report::ViolationEntry;
use isoscope_model::history::{History, TransactionId};
use isoscope_model::levels::Level;

/// A violation with the history that it is about.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) history: &'a History,
    pub(super) resolution: &'a Resolution<'a>,
    pub(super) violation: &'a ViolationEntry,
    /// Those that it names, by place.
    pub(super) transactions: &'a [TransactionId],
    /// Codes of the levels that it must contradict.
    pub(super) levels: &'a [Level],
}
