//! How configurations came about, of which only what they do not share is kept apart.

/// Before the first operation.
pub(super) const ROOT: u32 = u32::MAX;

/// What took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// The operation at this place.
    Place(u32),
    /// An optional one of this kind.
    Kind(u32),
}

/// Something that took effect, and what did before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The entry before it, or [`ROOT`].
    pub(super) parent: u32,
    /// The event at which it took effect.
    pub(super) at: u32,
    pub(super) taken: Taken,
}

/// A tree of entries. What all configurations have in common is moved out of it now and then: a list that only grows.
#[derive(Debug)]
pub(super) struct Log {
    entries: Vec<Entry>,
    /// What all configurations have in common, in order.
    common: Vec<(u32, Taken)>,
    /// How many entries there may be before they are looked through.
    most: usize,
}

impl Default for Log {
    fn default() -> Log {
        Log {
            entries: Vec::new(),
            common: Vec::new(),
            most: Log::FEW,
        }
    }
}

impl Log {
    /// Fewer entries than this are left as they are.
    const FEW: usize = 1 << 14;

    pub(super) fn push(&mut self, entry: Entry) -> u32 {
        self.entries.push(entry);
        self.entries.len() as u32 - 1
    }

    /// Removes what led nowhere, and what all have in common, if there is much; changes the `ends` accordingly. O(1)
    /// amortised per entry.
    pub(super) fn tidy<'a>(&mut self, ends: impl Iterator<Item = &'a mut u32>) {
        if self.entries.len() < self.most {
            return;
        }
        let ends: Vec<&mut u32> = ends.collect();
        let trunk = ends
            .first()
            .map_or_else(Vec::new, |first| self.path(**first));
        let mut height = vec![0; self.entries.len()];
        (1..)
            .zip(&trunk)
            .for_each(|(above, &entry)| height[entry as usize] = above);
        let mut is_needed = vec![false; self.entries.len()];
        let mut shared = trunk.len();
        for end in &ends {
            let mut at = **end;
            while at != ROOT && height[at as usize] == 0 && !is_needed[at as usize] {
                is_needed[at as usize] = true;
                at = self.entries[at as usize].parent;
            }
            if at == ROOT || height[at as usize] > 0 {
                shared = shared.min(if at == ROOT { 0 } else { height[at as usize] });
            }
        }
        trunk[shared..]
            .iter()
            .for_each(|&entry| is_needed[entry as usize] = true);
        let common: Vec<(u32, Taken)> = trunk[..shared]
            .iter()
            .map(|&entry| self.taken(entry))
            .collect();
        self.common.extend(common);
        // Parents come before their children.
        let mut number = vec![ROOT; self.entries.len()];
        let mut kept: Vec<Entry> = Vec::new();
        for (at, entry) in self
            .entries
            .iter()
            .enumerate()
            .filter(|(at, _)| is_needed[*at])
        {
            number[at] = kept.len() as u32;
            let parent = if entry.parent == ROOT {
                ROOT
            } else {
                number[entry.parent as usize]
            };
            kept.push(Entry { parent, ..*entry });
        }
        for end in ends.into_iter().filter(|end| **end != ROOT) {
            *end = number[*end as usize];
        }
        self.most = Log::FEW.max(2 * kept.len());
        self.entries = kept;
    }

    fn taken(&self, entry: u32) -> (u32, Taken) {
        let Entry { at, taken, .. } = self.entries[entry as usize];
        (at, taken)
    }

    /// The entries up to one, first to last.
    fn path(&self, end: u32) -> Vec<u32> {
        let parent = |&entry: &u32| {
            Some(self.entries[entry as usize].parent).filter(|&parent| parent != ROOT)
        };
        let mut path: Vec<u32> =
            std::iter::successors(Some(end).filter(|&end| end != ROOT), parent).collect();
        path.reverse();
        path
    }

    /// All that took effect up to an end, with the events at which it did.
    pub(super) fn up_to(&self, end: u32) -> Vec<(u32, Taken)> {
        self.common
            .iter()
            .copied()
            .chain(self.path(end).into_iter().map(|entry| self.taken(entry)))
            .collect()
    }
}
