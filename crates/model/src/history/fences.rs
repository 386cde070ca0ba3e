//! How a recording says that its clients keep barriers.
//!
//! At a barrier each client writes a *fence* key of its own. Then one of them reads all fence keys and writes the number of
//! the barrier to the *barrier key*, which each client reads before it goes on; a client that goes on as a new session
//! begins there by reading it. These are transactions like all others, on keys that no workload uses. Comments say the
//! rest: one at the top names the keys, and one says when a session has ended.

use super::{History, TransactionId};

/// What the names of these keys begin with.
pub const FENCES: &str = "fence/";
/// The barrier key.
pub const BARRIER: &str = "fence/0";

const DECLARED: &str = "; barriers: key ";
const ENDED: (&str, &str) = ("; session ", " ended");

/// What a comment says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark<'a> {
    /// Clients keep barriers, whose numbers are written to this key.
    Barriers(&'a str),
    /// The session of this name has ended.
    Ended(&'a str),
}

impl<'a> Remark<'a> {
    /// What a line says; none if it is no such comment. O(line).
    pub fn of(line: &'a [u8]) -> Option<Remark<'a>> {
        let line = std::str::from_utf8(line.strip_prefix(b"; ").map(|_| line)?)
            .ok()?
            .trim_end();
        if let Some(rest) = line.strip_prefix(DECLARED) {
            return rest
                .split(',')
                .next()
                .filter(|key| !key.is_empty())
                .map(Remark::Barriers);
        }
        let session = line.strip_prefix(ENDED.0)?.strip_suffix(ENDED.1)?;
        (!session.is_empty()).then_some(Remark::Ended(session))
    }
}

/// The comment at the top of a recording of this many clients, without a line feed.
pub fn declaration(clients: u32) -> String {
    format!("{DECLARED}{BARRIER}, fences {FENCES}1 to {FENCES}{clients}")
}

/// The comment that says that a session has ended, without a line feed.
pub fn ended(session: u32) -> String {
    format!("{}{session}{}", ENDED.0, ENDED.1)
}

/// Number of transactions that access a fence or the barrier key, of any outcome. O(keys + operations).
pub fn n_fences(history: &History) -> usize {
    let is_fence: Vec<bool> = (0..history.n_keys())
        .map(|key| history.key_names().get(key).starts_with(FENCES))
        .collect();
    let accesses_one = |t: &TransactionId| {
        history.operations_of(*t).any(|o| {
            is_fence
                .get(history.operation(o).key.index())
                .copied()
                .unwrap_or(false)
        })
    };
    if is_fence.contains(&true) {
        history.transactions().filter(accesses_one).count()
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_read_as_they_are_written() {
        assert_eq!(
            Remark::of(declaration(7).as_bytes()),
            Some(Remark::Barriers(BARRIER))
        );
        assert_eq!(Remark::of(ended(12).as_bytes()), Some(Remark::Ended("12")));
        for other in [
            "",
            "; session  ended",
            "; session 7 ended early",
            "{:index 0}",
            "; isoscope: x",
            "session 7 ended",
        ] {
            assert_eq!(Remark::of(other.as_bytes()), None, "{other}");
        }
    }
}
