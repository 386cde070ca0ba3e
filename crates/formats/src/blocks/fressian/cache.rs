//! Values that were put into the cache.

use super::{CACHED, Fressian};
use crate::ReadError;
use crate::blocks::{FORMAT, Result};
use crate::operations::Tree;

/// How much may be taken from the cache between two questions to the control.
const COPIED: usize = 1 << 20;

/// A value in the cache.
pub(super) struct Cached {
    /// Nothing if it is too large.
    tree: Option<Tree<'static>>,
    size: usize,
    /// The keyword with this name, once there was one.
    pub(super) keyword: Option<Tree<'static>>,
}

impl Fressian<'_> {
    /// The next value, which is put into the cache.
    pub(super) fn cached(&mut self) -> Result<Tree<'static>> {
        let place = self.cache.len();
        self.cache.push(Cached {
            tree: None,
            size: 0,
            keyword: None,
        });
        let tree = self.value()?;
        let size = size(&tree);
        // There is no place if the value began with the mark that empties the cache.
        if let Some(cached) = self.cache.get_mut(place).filter(|_| size <= CACHED) {
            (cached.tree, cached.size) = (Some(tree.clone()), size);
        }
        Ok(tree)
    }

    pub(super) fn taken_again(&mut self, place: usize) -> Result<Tree<'static>> {
        match self
            .cache
            .get(place)
            .map(|cached| (&cached.tree, cached.size))
        {
            Some((Some(tree), size)) => {
                self.copied += size;
                if self.copied > COPIED {
                    self.copied = 0;
                    let check = self.control.check();
                    check.map_err(|interrupt| ReadError::whole(FORMAT.name, interrupt))?;
                }
                Ok(tree.clone())
            }
            Some(_) => self.fail_before("a small value in the cache"),
            None => self.fail_before("a value that was put into the cache"),
        }
    }
}

/// Values and bytes of names.
fn size(tree: &Tree<'_>) -> usize {
    let all = |trees: &[Tree<'_>]| trees.iter().map(size).sum::<usize>();
    1 + match tree {
        Tree::Nil | Tree::Number(_) => 0,
        Tree::Name(name) => name.len(),
        Tree::List(trees) | Tree::Set(trees) => all(trees),
        Tree::Map(fields) => fields.iter().map(|(name, of)| size(name) + size(of)).sum(),
        Tree::Pair(both) => size(&both.0) + size(&both.1),
    }
}
