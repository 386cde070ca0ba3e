//! In which order a file holds the transactions.

use std::fmt;
use std::str::FromStr;

/// The order of the transactions in a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileOrder {
    /// As they happened, which is an order that explains a serial history.
    Happened,
    /// Session by session, as each client would write its own log: nothing can be guessed from the order.
    Session,
}

impl fmt::Display for FileOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileOrder::Happened => "happened",
            FileOrder::Session => "session",
        })
    }
}

impl FromStr for FileOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<FileOrder, String> {
        match text {
            "happened" => Ok(FileOrder::Happened),
            "session" => Ok(FileOrder::Session),
            _ => Err(format!(
                "unknown order `{text}`, expected happened or session"
            )),
        }
    }
}
