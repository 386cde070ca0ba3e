//! Lists that are kept once if they are prefixes of each other.

/// Stems of one key with which a list is compared: those that were met last.
const MOST_COMPARED: usize = 4;

/// In place of a stem.
const NONE: u32 = u32::MAX;

/// A list as it is kept: the first elements of a stem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// Which of the stems.
    pub stem: u32,
    /// Number of elements.
    pub length: u32,
}

/// Lists of keys in the making. Those of one key are prefixes of each other nearly always, so they share their elements:
/// a stem is the longest of some lists that are prefixes of it. A list that fits no stem begins one of its own. Keys are
/// dense numbers.
#[derive(Clone, Debug)]
pub struct Stems<T> {
    lists: Vec<Vec<T>>,
    /// By key: the stems that were met last, the latest first.
    latest: Vec<[u32; MOST_COMPARED]>,
}

impl<T> Default for Stems<T> {
    fn default() -> Stems<T> {
        Stems {
            lists: Vec::new(),
            latest: Vec::new(),
        }
    }
}

impl<T: Copy + PartialEq> Stems<T> {
    /// Keeps a list of a key. O(elements).
    pub fn keep(&mut self, key: u32, list: &[T]) -> Prefix {
        let fits = |stem: &u32| {
            self.lists[*stem as usize]
                .iter()
                .zip(list)
                .all(|(a, b)| a == b)
        };
        let found = self.latest(key).find(fits);
        let stem = found.unwrap_or_else(|| {
            self.lists.push(Vec::new());
            (self.lists.len() - 1) as u32
        });
        self.extend(key, stem, list.len(), list)
    }

    /// As `keep`, for a list that begins with the list `before` of the key, or is the beginning of it. O(elements that are
    /// not kept yet), unless the stem went on in another way.
    pub fn keep_after(&mut self, key: u32, before: Prefix, list: &[T]) -> Prefix {
        let (n_before, n_kept) = (
            before.length as usize,
            self.lists[before.stem as usize].len(),
        );
        if list.len() <= n_before || n_before == n_kept {
            self.extend(key, before.stem, list.len(), list)
        } else {
            self.keep(key, list)
        }
    }

    /// The stems of a key with which its next list is compared, the likeliest first.
    pub fn latest(&self, key: u32) -> impl Iterator<Item = u32> + use<T> {
        let latest = self
            .latest
            .get(key as usize)
            .copied()
            .unwrap_or([NONE; MOST_COMPARED]);
        latest.into_iter().take_while(|&stem| stem != NONE)
    }

    /// Keeps a list of `length` elements that fits a stem of its key: `last` are its last elements, at least those that
    /// the stem lacks.
    pub fn extend(&mut self, key: u32, stem: u32, length: usize, last: &[T]) -> Prefix {
        let list = &mut self.lists[stem as usize];
        if let Some(new) = length.checked_sub(list.len()) {
            list.extend_from_slice(&last[last.len() - new..]);
        }
        if self.latest.len() <= key as usize {
            self.latest.resize(key as usize + 1, [NONE; MOST_COMPARED]);
        }
        let latest = &mut self.latest[key as usize];
        if latest[0] != stem {
            let place = latest
                .iter()
                .position(|&other| other == stem)
                .unwrap_or(MOST_COMPARED - 1);
            latest[..=place].rotate_right(1);
            latest[0] = stem;
        }
        Prefix {
            stem,
            length: length as u32,
        }
    }

    /// All stems.
    pub fn lists(&self) -> &[Vec<T>] {
        &self.lists
    }

    /// All elements of all stems.
    pub fn elements_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.lists.iter_mut().flatten()
    }

    /// The elements of a list.
    pub fn of(&self, list: Prefix) -> &[T] {
        &self.lists[list.stem as usize][..list.length as usize]
    }

    pub(super) fn into_lists(self) -> Vec<Vec<T>> {
        self.lists
    }
}
