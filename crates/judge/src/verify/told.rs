//! What a violation shows, and how much it may name.

use isoscope_model::history::{KeyId, OperationId, TransactionId};

/// An instance of a pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Scene {
    /// The key on which the contradiction shows.
    pub(super) key: Option<KeyId>,
    /// Its other names.
    pub(super) also: Vec<String>,
    /// Equal for the same instance; none where that is unknown.
    pub(super) identity: Option<String>,
    /// Reads that are wrong.
    pub(super) reads: Vec<OperationId>,
    /// For the letters h to n: the version that was read and the newer one, by writer.
    pub(super) versions: Option<(TransactionId, TransactionId)>,
}

/// What a violation shows, or why that does not match its name.
pub(super) type Told = Result<Scene, String>;

/// Whether a violation may name operations and transactions that its proof does not need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Surplus {
    Refused,
    Allowed,
}
