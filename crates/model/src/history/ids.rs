//! Dense 32-bit ids: places in the arrays of a [`History`](super::History).

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id of place `index`. Panics beyond 2³² − 2 places, which the builder refuses earlier.
            #[inline]
            pub fn new(index: usize) -> $name {
                assert!(index < u32::MAX as usize, "more than 2^32 - 2 places");
                $name(index as u32)
            }

            /// The place this id names.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A session: a client's sequence of transactions.
    SessionId
);
id!(
    /// A transaction. Ids are dense and ordered by (session, position in the session).
    TransactionId
);
id!(
    /// An operation. Ids are dense and ordered by (transaction, position in the transaction).
    OperationId
);
id!(
    /// A key (an object, a register).
    KeyId
);

impl TransactionId {
    /// ⊥, the transaction that wrote the initial version of every key before all others. It has no place in the arrays
    /// of a history: never call [`TransactionId::index`] on it.
    pub const INITIAL: TransactionId = TransactionId(u32::MAX);

    /// Whether this is ⊥.
    #[inline]
    pub fn is_initial(self) -> bool {
        self == TransactionId::INITIAL
    }
}

/// A value as recorded. Numbers represent themselves; other values are interned by the builder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub u64);

impl Value {
    /// Read results only: the version before the history (`nil`, `null`, `==?`).
    pub const INITIAL: Value = Value(u64::MAX);
    /// Read results only: the file does not say what was read. Such reads constrain nothing.
    pub const UNRECORDED: Value = Value(u64::MAX - 1);
    /// Of a row: that it is not there. Written by a delete, and the initial version of a row that is not set up.
    pub const ABSENT: Value = Value(u64::MAX - 2);
    /// Of the rows of a scan only: one that it did not list, so any version that does not match its predicate.
    pub const UNLISTED: Value = Value(u64::MAX - 3);
    /// Of the rows of a scan only: one of which it listed only the key, so any version that matches.
    pub const LISTED: Value = Value(u64::MAX - 4);
    /// Of the rows of a scan only: one that it listed again or that does not match, which no version explains.
    pub const TWICE: Value = Value(u64::MAX - 5);
    /// Largest number that represents itself.
    pub const MAX_NUMBER: u64 = u64::MAX - 6;

    /// Whether this is a value that was recorded, and none of the constants above.
    #[inline]
    pub fn is_known(self) -> bool {
        self.0 <= Value::MAX_NUMBER
    }

    /// Whether this is what a scan says of a row without a value: several versions explain it, or none does.
    #[inline]
    pub fn is_of_scan(self) -> bool {
        matches!(self, Value::UNLISTED | Value::LISTED | Value::TWICE)
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Value::INITIAL => f.write_str("Value(initial)"),
            Value::UNRECORDED => f.write_str("Value(unrecorded)"),
            Value::ABSENT => f.write_str("Value(absent)"),
            Value::UNLISTED => f.write_str("Value(unlisted)"),
            Value::LISTED => f.write_str("Value(listed)"),
            Value::TWICE => f.write_str("Value(twice)"),
            Value(number) => write!(f, "Value({number})"),
        }
    }
}
