//! `[:r x [1 2]]`, `[:w x 1]`, `[:append x 1]`.

use crate::elle::{Atom, Atoms};
use crate::operations::Tree;

/// What a micro-operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    /// To a register.
    Write,
    /// To a list.
    Append,
}

/// What was read or written.
#[derive(Debug)]
pub(super) enum Payload {
    Nothing,
    One(Atom),
    List(Vec<Atom>),
}

/// `[:r x [1 2]]`.
#[derive(Debug)]
pub(super) struct Micro {
    pub(super) access: Access,
    pub(super) key: Atom,
    pub(super) payload: Payload,
}

impl Micro {
    /// What it reads or writes.
    pub(super) fn values(&self) -> &[Atom] {
        match &self.payload {
            Payload::Nothing => &[],
            Payload::One(one) => std::slice::from_ref(one),
            Payload::List(all) => all,
        }
    }

    /// Whether its key holds a list, as far as it tells.
    pub(super) fn is_list(&self) -> Option<bool> {
        match (self.access, &self.payload) {
            (Access::Append, _) | (_, Payload::List(_)) => Some(true),
            (Access::Read, Payload::Nothing) => None,
            _ => Some(false),
        }
    }

    /// The micro-operation that a value of EDN is, if it is one that is understood.
    pub(super) fn of(tree: &Tree<'_>, atoms: &mut Atoms<'_>) -> Option<Micro> {
        let Tree::List(parts) = tree else { return None };
        let (word, key, value) = match &parts[..] {
            [word, key] => (word.word()?, key, &Tree::Nil),
            [word, key, value] => (word.word()?, key, value),
            _ => return None,
        };
        let (access, payload) = match (word, value) {
            ("r" | "read", Tree::Nil) => (Access::Read, Payload::Nothing),
            ("r" | "read", Tree::List(all)) if all.iter().all(Tree::is_single) => {
                let all = all.iter().map(|one| atoms.of_tree(one)).collect();
                (Access::Read, Payload::List(all))
            }
            _ if !value.is_single() => return None,
            ("r" | "read", one) => (Access::Read, Payload::One(atoms.of_tree(one))),
            ("w" | "write", one) => (Access::Write, Payload::One(atoms.of_tree(one))),
            ("append", one) => (Access::Append, Payload::One(atoms.of_tree(one))),
            _ => return None,
        };
        let key = Some(key).filter(|key| !key.is_nil())?;
        let key = atoms.of_tree(key);
        Some(Micro {
            access,
            key,
            payload,
        })
    }
}
