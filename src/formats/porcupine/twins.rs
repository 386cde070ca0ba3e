//! Strings that were written more than once to a key: which of the writes a result shows.
//!
//! A result is a chain: a put, or the initial empty string, followed by its appends in order. Results with a common
//! prefix share the beginning of their chains, so all results of a key are the branches of a tree, and each place of
//! the tree was made by a different write. Where several writes have the string of a place, real time determines which
//! it was: a write began before any result that shows it ended, writes further up a chain did not begin after those
//! further down ended, and an append to a chain that ended before a result began is in it unless some put may have come
//! between. A search finds what fits. If several choices fit, the right one is unknown.

use crate::history::Interval;
use rustc_hash::FxHashMap;

/// Maximum number of steps of the search on one key, and of places of its tree.
const STEPS: u32 = 200_000;
const PLACES: usize = 4_000;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Get,
    Put,
    Append,
}

/// A write to the key.
pub(super) struct Write {
    pub(super) action: Action,
    pub(super) interval: Interval,
    /// Whether it is known to have happened.
    pub(super) is_certain: bool,
}

/// A result that splits into strings that were written.
pub(super) struct Get {
    /// The strings in their order, as places among the groups of writes of one string.
    pub(super) strings: Vec<usize>,
    pub(super) interval: Interval,
}

/// Two writes of one string, one of which a result shows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Undecided(pub(super) usize, pub(super) usize);

/// A place of the tree.
struct TreeNode {
    parent: Option<usize>,
    string: usize,
    /// When the first result that shows it ended.
    shown: i64,
    /// The writes that may have made it.
    candidates: Vec<usize>,
}

/// By result: the writes that it shows, one for each of its strings. Where no choice fits real time, one that does not.
///
/// # Errors
/// Two choices that both fit.
pub(super) fn assign(writes: &[Write], groups: &[Vec<usize>], gets: &[Get]) -> Result<Vec<Vec<usize>>, Undecided> {
    let mut tree = Tree { writes, groups, gets, places: Vec::new(), paths: Vec::new() };
    tree.grow()?;
    let chosen = tree.search()?;
    Ok(tree.paths.iter().map(|path| path.iter().map(|&place| chosen[place]).collect()).collect())
}

struct Tree<'a> {
    writes: &'a [Write],
    groups: &'a [Vec<usize>],
    gets: &'a [Get],
    places: Vec<TreeNode>,
    /// By result: its places.
    paths: Vec<Vec<usize>>,
}

impl Tree<'_> {
    /// Creates the places of all results. Chains that begin with different puts of the same string are different.
    fn grow(&mut self) -> Result<(), Undecided> {
        let mut place_of: FxHashMap<(Option<usize>, usize, usize), usize> = FxHashMap::default();
        for get in self.gets {
            let mut path: Vec<usize> = Vec::with_capacity(get.strings.len());
            for (n, &string) in get.strings.iter().enumerate() {
                let group = &self.groups[string];
                let candidates = match n {
                    0 => self.beginnings(group, get.interval)?,
                    _ => group.iter().copied().filter(|&w| self.writes[w].action == Action::Append).collect(),
                };
                let parent = path.last().copied();
                // For a chain that begins with a put, that put; all appends to the empty string are one place.
                let put = match candidates.as_slice() {
                    [one] if n == 0 && self.writes[*one].action == Action::Put => *one,
                    _ => usize::MAX,
                };
                let next = self.places.len();
                let place = *place_of.entry((parent, string, put)).or_insert(next);
                if place == next {
                    self.places.push(TreeNode { parent, string, shown: get.interval.end, candidates });
                }
                let shown = &mut self.places[place].shown;
                *shown = get.interval.end.min(*shown);
                path.push(place);
            }
            self.paths.push(path);
        }
        Ok(())
    }

    /// The writes that a result may begin with: one put, or the appends.
    fn beginnings(&self, group: &[usize], get: Interval) -> Result<Vec<usize>, Undecided> {
        let is_put = |w: &usize| self.writes[*w].action == Action::Put;
        let (puts, appends): (Vec<usize>, Vec<usize>) = group.iter().copied().partition(is_put);
        let all_puts = || self.writes.iter().filter(|write| write.action == Action::Put && write.is_certain);
        // A put that another put has certainly replaced before the get began is not there.
        let may_last = |put: &usize| {
            let interval = self.writes[*put].interval;
            let replaced = |other: &Write| other.interval.start > interval.end && other.interval.end < get.start;
            interval.start < get.end && !all_puts().any(replaced)
        };
        let lasting: Vec<usize> = puts.iter().copied().filter(may_last).collect();
        let from_nothing = !appends.is_empty() && !all_puts().any(|put| put.interval.end < get.start);
        match (lasting.as_slice(), from_nothing) {
            ([], true) => Ok(appends),
            ([put], false) => Ok(vec![*put]),
            ([one, two, ..], _) => Err(Undecided(*one, *two)),
            ([put], true) => Err(Undecided(*put, appends[0])),
            // Nothing fits, so it does not matter.
            ([], false) => Ok(puts.first().map_or(appends, |&put| vec![put])),
        }
    }

    /// A write for each place.
    fn search(&self) -> Result<Vec<usize>, Undecided> {
        if self.places.len() > PLACES
            && let Some([one, .., two]) = self.groups.iter().map(Vec::as_slice).find(|group| group.len() > 1)
        {
            return Err(Undecided(*one, *two));
        }
        let mut search = TwinSearch { tree: self, chosen: Vec::new(), found: None, steps: 0, in_time: true };
        search.go_on()?;
        if search.found.is_none() {
            search = TwinSearch { steps: 0, in_time: false, ..search };
            search.go_on()?;
        }
        // Fewer writes than places of a string: the result is impossible, and any write shows it.
        Ok(search.found.unwrap_or_else(|| self.places.iter().map(|place| place.candidates[0]).collect()))
    }

    fn ancestors(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.places[place].parent, |&at| self.places[at].parent)
    }
}

struct TwinSearch<'t> {
    tree: &'t Tree<'t>,
    /// By place, as far as chosen; parents come before their children.
    chosen: Vec<usize>,
    found: Option<Vec<usize>>,
    steps: u32,
    /// Whether only what fits real time counts.
    in_time: bool,
}

impl TwinSearch<'_> {
    fn go_on(&mut self) -> Result<(), Undecided> {
        let tree = self.tree;
        let place = self.chosen.len();
        if place == tree.places.len() {
            if self.in_time && !self.is_complete() {
                return Ok(());
            }
            return match &self.found {
                None => {
                    self.found = Some(self.chosen.clone());
                    Ok(())
                }
                // Without real time one choice is as good as another.
                Some(_) if !self.in_time => Ok(()),
                Some(other) => {
                    let differing = other.iter().zip(&self.chosen).find(|(a, b)| a != b);
                    differing.map_or(Ok(()), |(&one, &two)| Err(Undecided(one, two)))
                }
            };
        }
        for &write in &tree.places[place].candidates {
            self.steps += 1;
            if self.steps > STEPS {
                let group = &tree.groups[tree.places[place].string];
                return Err(Undecided(group[0], group[group.len() - 1]));
            }
            if !self.in_time && self.found.is_some() {
                return Ok(());
            }
            if !self.chosen.contains(&write) && self.fits(place, write) {
                self.chosen.push(write);
                self.go_on()?;
                self.chosen.pop();
            }
        }
        Ok(())
    }

    /// Whether a write may have come after those further up the chain, and before a result showed it.
    fn fits(&self, place: usize, write: usize) -> bool {
        let own = &self.tree.writes[write];
        let TreeNode { string, shown, .. } = self.tree.places[place];
        if self.in_time && own.interval.start >= shown {
            return false;
        }
        self.tree.ancestors(place).all(|above| {
            let is_twin = self.tree.places[above].string == string;
            let other = self.tree.writes[self.chosen[above]].interval;
            // Even where nothing fits real time, writes of one string keep their order.
            (!self.in_time && !is_twin) || own.interval.end >= other.start
        })
    }

    /// Whether every result has everything certainly appended to its chain before its get began.
    fn is_complete(&self) -> bool {
        let (tree, writes) = (self.tree, self.tree.writes);
        tree.gets.iter().zip(&tree.paths).all(|(get, path)| {
            let begin = path.first().map(|&place| self.chosen[place]).filter(|&w| writes[w].action == Action::Put);
            let begin_interval = begin.map(|put| writes[put].interval);
            let may_come_between = |(w, put): (usize, &Write)| {
                put.action == Action::Put
                    && Some(w) != begin
                    && put.interval.start < get.interval.end
                    && begin_interval.is_none_or(|begin| put.interval.end > begin.start)
            };
            if writes.iter().enumerate().any(may_come_between) {
                return true;
            }
            let is_missing = |w: usize| {
                let write = &writes[w];
                write.action == Action::Append
                    && write.is_certain
                    && write.interval.end < get.interval.start
                    && begin_interval.is_none_or(|begin| write.interval.start > begin.end)
                    && !path.iter().any(|&place| self.chosen[place] == w)
            };
            !tree.groups.iter().filter(|group| group.len() > 1).flatten().any(|&w| is_missing(w))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(action: Action, start: i64, end: i64) -> Write {
        Write { action, interval: Interval { start, end }, is_certain: true }
    }

    fn get(strings: &[usize], start: i64, end: i64) -> Get {
        Get { strings: strings.to_vec(), interval: Interval { start, end } }
    }

    #[test]
    fn without_puts_strings_stand_in_the_order_of_their_writes() {
        let writes = [(0, 1), (2, 3), (4, 5)].map(|(start, end)| write(Action::Append, start, end));
        let groups = [vec![0, 2], vec![1]];
        let gets = [get(&[0, 1, 0], 8, 9), get(&[0, 1], 3, 6)];
        assert_eq!(assign(&writes, &groups, &gets), Ok(vec![vec![0, 1, 2], vec![0, 1]]));
        // Shown only late: what was appended first cannot be missing.
        assert_eq!(assign(&writes, &groups, &[get(&[0], 2, 9)]), Ok(vec![vec![0]]));
    }

    #[test]
    fn a_put_in_between_hides_the_earlier_write() {
        let writes = [write(Action::Append, 0, 1), write(Action::Put, 2, 3), write(Action::Append, 4, 5)];
        let groups = [vec![0, 2], vec![1]];
        assert_eq!(assign(&writes, &groups, &[get(&[1, 0], 6, 7)]), Ok(vec![vec![1, 2]]));
        // The put may have come before or after the first append.
        let writes = [write(Action::Append, 0, 3), write(Action::Put, 1, 5), write(Action::Append, 4, 9)];
        assert_eq!(assign(&writes, &groups, &[get(&[1, 0], 6, 8)]), Err(Undecided(0, 2)));
    }

    #[test]
    fn a_put_is_the_last_one_that_may_be_there() {
        let writes = [write(Action::Put, 0, 1), write(Action::Put, 2, 3)];
        let groups = [vec![0, 1]];
        assert_eq!(assign(&writes, &groups, &[get(&[0], 4, 5)]), Ok(vec![vec![1]]));
        assert_eq!(assign(&writes, &groups, &[get(&[0], 0, 1), get(&[0], 4, 5)]), Ok(vec![vec![0], vec![1]]));
    }

    #[test]
    fn what_fits_no_time_keeps_the_order_of_twins() {
        let writes = [(0, 1), (4, 5)].map(|(start, end)| write(Action::Append, start, end));
        let groups = [vec![0, 1]];
        // Both before the second was appended.
        assert_eq!(assign(&writes, &groups, &[get(&[0, 0], 2, 3)]), Ok(vec![vec![0, 1]]));
        // More than there are.
        let three = assign(&writes, &groups, &[get(&[0, 0, 0], 6, 7)]).expect("impossible whichever is taken");
        assert_eq!(three[0].len(), 3);
    }
}
