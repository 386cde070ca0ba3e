//! Building the lines of the anomaly list.

use super::super::filter::{self, Term};
use super::super::grouping::{AnomalyGroups, GroupBy};
use super::super::notes::Notes;
use super::super::tasks::{Failure, Task};
use super::{Branch, Catalogue, Entry, ListLine};
use crate::checkers::{Level, Pattern, ViolationId};
use crate::control::{Control, Interrupt};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Entries between two checks of the control.
const STRIDE: usize = 4096;
/// No index.
const NONE: u32 = u32::MAX;

/// What to list, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The text of the filter.
    pub filter: String,
    /// What the list is grouped by.
    pub by: GroupBy,
    /// Levels and patterns within groupings that are folded.
    pub folded: BTreeSet<Branch>,
    /// Other lines that are open.
    pub opened: BTreeSet<Branch>,
    /// Anomalies whose picture shows a simpler one, as far as the catalogue does not say it.
    pub shown_as: BTreeMap<ViolationId, ViolationId>,
}

impl Wanted {
    /// Levels are open from the start; patterns and groups once the user opens them or selects something inside.
    pub fn is_open(&self, branch: Branch) -> bool {
        match branch {
            Branch::Level(_) | Branch::HeapPattern(..) => !self.folded.contains(&branch),
            _ => self.opened.contains(&branch),
        }
    }

    /// The simpler anomaly that explains an entry.
    pub fn simpler(&self, entry: &Entry) -> Option<ViolationId> {
        self.shown_as.get(&entry.id).copied().or(entry.simpler)
    }

    /// The place of the simplest anomaly that explains the entry at a place; none where that is itself.
    pub fn root(&self, place: usize, catalogue: &Catalogue) -> Option<usize> {
        let mut root = place;
        while let Some(simpler) = self
            .simpler(&catalogue.entries[root])
            .and_then(|id| catalogue.place(id))
            .filter(|simpler| *simpler != place && *simpler != root)
        {
            root = simpler;
        }
        (root != place).then_some(root)
    }

    /// The pattern that the filter names, and nothing else.
    pub fn pattern(&self) -> Option<Pattern> {
        Pattern::parse(self.filter.trim())
    }

    /// Whether the filter uses what the user wrote about anomalies.
    pub fn asks_for_notes(&self) -> bool {
        filter::words(&self.filter)
            .iter()
            .any(|word| matches!(Term::parse(word), Term::Own(_)))
    }
}

/// The lines built from a catalogue.
#[derive(Debug, Default)]
pub struct Made {
    /// The catalogue; none before there is anything to list.
    pub catalogue: Option<Arc<Catalogue>>,
    /// Nothing matches the filter exactly; similar entries are listed.
    pub is_similar: bool,
    /// How many causes the list has.
    pub n_causes: usize,
    /// Top to bottom.
    pub lines: Vec<ListLine>,
    /// Indices of the entries that pass the filter, in the order of the list, open or not.
    pub order: Vec<usize>,
    /// By position: whether a simpler anomaly explains it and the line above such instances is closed.
    folded: Vec<bool>,
    /// By entry: its index in `order`, or [`NONE`].
    positions: Vec<u32>,
    /// By entry: its line, or [`NONE`].
    line_of: Vec<u32>,
}

/// Building the lines.
pub(in crate::app) static MAKE: Task<Arc<Made>> = Task {
    end: |app, _| {
        let Some(document) = &mut app.state.document else {
            return;
        };
        document.tree.give_up();
    },
    ..Task::new(
        "list",
        Failure::Message("The anomalies could not be listed"),
        |app, made| {
            let Some(document) = &mut app.state.document else {
                return;
            };
            document.reveal.selected |= document.tree.settle(made);
            app.follow_filter();
        },
    )
};

impl Made {
    /// Filters, groups and flattens. O(entries · log entries), as long as few letters of the filter are wrong.
    pub fn new(
        wanted: &Wanted,
        catalogue: Arc<Catalogue>,
        notes: &Notes,
        control: &Control,
    ) -> Result<Made, Interrupt> {
        let terms: Vec<Term> = filter::words(&wanted.filter)
            .iter()
            .map(|word| Term::parse(word))
            .collect();
        let own = |entry: &Entry, word: &str| {
            notes
                .get(&entry.identity)
                .is_some_and(|note| note.answers(word))
        };
        let passing = |fits: &dyn Fn(&Term, &Entry) -> bool| -> Result<Vec<usize>, Interrupt> {
            let mut places = Vec::new();
            for (place, entry) in catalogue.entries.iter().enumerate() {
                if place % STRIDE == 0 {
                    control.check()?;
                }
                if terms.iter().all(|term| fits(term, entry)) {
                    places.push(place);
                }
            }
            Ok(places)
        };
        let mut places =
            passing(&|term, entry| term.matches(&entry.search, |word| own(entry, word)))?;
        let is_similar = places.is_empty() && !terms.is_empty();
        if is_similar {
            places = passing(&|term, entry| {
                term.is_like(&entry.search, &entry.title, |word| own(entry, word))
            })?;
        }
        let mut making = Making {
            wanted,
            catalogue: &catalogue,
            control,
            lines: Vec::new(),
            order: Vec::new(),
            folded: Vec::new(),
        };
        let causes = making.causes(&places);
        let n_causes = causes.len();
        match catalogue.groupings(wanted.by) {
            Some(groupings) => making.push_heaps(groupings, &places)?,
            None if wanted.by == GroupBy::Cause => {
                making.push_causes(causes)?;
                making.push_unlisted(terms.is_empty());
            }
            None => making.push_levels(&places, terms.is_empty())?,
        }
        let Making {
            lines,
            order,
            mut folded,
            ..
        } = making;
        folded.resize(order.len(), false);
        let mut positions = vec![NONE; catalogue.entries.len()];
        order
            .iter()
            .zip(0..)
            .for_each(|(&entry, position)| positions[entry] = position);
        let mut line_of = vec![NONE; catalogue.entries.len()];
        for (line, place) in lines.iter().zip(0..) {
            if let ListLine::Instance { entry, .. } | ListLine::Cause { entry } = line {
                line_of[*entry] = place;
            }
        }
        Ok(Made {
            catalogue: Some(catalogue),
            is_similar,
            n_causes,
            lines,
            order,
            folded,
            positions,
            line_of,
        })
    }

    /// The line of an instance, if it passes the filter and its branches are open. O(log entries).
    pub fn line_of(&self, id: ViolationId) -> Option<usize> {
        self.place_in(&self.line_of, id)
    }

    /// Position of an instance among those that pass the filter, from 0. O(log entries).
    pub fn position(&self, id: ViolationId) -> Option<usize> {
        self.place_in(&self.positions, id)
    }

    fn place_in(&self, places: &[u32], id: ViolationId) -> Option<usize> {
        let entry = self.catalogue.as_ref()?.place(id)?;
        places
            .get(entry)
            .filter(|place| **place != NONE)
            .map(|place| *place as usize)
    }

    /// Whether the instance at a position is one that a simpler anomaly explains, and folded away.
    pub fn is_folded(&self, position: usize) -> bool {
        self.folded.get(position).is_some_and(|folded| *folded)
    }

    /// The instance at a position.
    pub fn at(&self, position: usize) -> Option<ViolationId> {
        let entry = *self.order.get(position)?;
        self.catalogue
            .as_ref()
            .and_then(|catalogue| catalogue.entries.get(entry))
            .map(|entry| entry.id)
    }
}

/// Lines being built.
struct Making<'a> {
    wanted: &'a Wanted,
    catalogue: &'a Catalogue,
    control: &'a Control,
    lines: Vec<ListLine>,
    order: Vec<usize>,
    folded: Vec<bool>,
}

/// A cause: the place of its simplest anomaly, whether that passes the filter, and the other anomalies that do.
struct Cause {
    root: usize,
    is_listed: bool,
    others: Vec<usize>,
}

impl Making<'_> {
    /// The causes of the entries at `places`, weakest level first.
    fn causes(&self, places: &[usize]) -> Vec<Cause> {
        let mut causes: BTreeMap<usize, Cause> = BTreeMap::new();
        for &place in places {
            let root = self.wanted.root(place, self.catalogue);
            let cause = causes.entry(root.unwrap_or(place)).or_insert(Cause {
                root: root.unwrap_or(place),
                is_listed: false,
                others: Vec::new(),
            });
            match root {
                None => cause.is_listed = true,
                Some(_) => cause.others.push(place),
            }
        }
        let mut causes: Vec<Cause> = causes.into_values().collect();
        causes.sort_by_key(|cause| {
            let entry = &self.catalogue.entries[cause.root];
            let pattern = entry.id.pattern;
            // Reads without a writer most often tell of the log, and there may be many.
            let is_thin_air = pattern == Pattern::ThinAirRead;
            (
                is_thin_air,
                self.catalogue.level_of(pattern),
                pattern,
                entry.group,
                cause.root,
            )
        });
        causes
    }

    fn push_causes(&mut self, causes: Vec<Cause>) -> Result<(), Interrupt> {
        let pattern_of = |place: &usize| self.catalogue.entries[*place].id.pattern;
        for Cause {
            root,
            is_listed,
            mut others,
        } in causes
        {
            self.control.check()?;
            self.lines.push(ListLine::Cause { entry: root });
            self.lines.push(ListLine::Summary { entry: root });
            if is_listed {
                self.order.push(root);
            }
            if others.is_empty() {
                continue;
            }
            others.sort_by_key(|place| (pattern_of(place), *place));
            let branch = Branch::Cause(root as u32);
            // What a filter looks for is shown.
            let open = self.wanted.is_open(branch) || !is_listed;
            let patterns = others.chunk_by(|a, b| pattern_of(a) == pattern_of(b));
            let named: Vec<String> = patterns
                .map(|some| match (short(pattern_of(&some[0])), some.len()) {
                    (name, 1) => name,
                    (name, n) => format!("{name} {n}"),
                })
                .collect();
            self.lines.push(ListLine::Branch {
                branch,
                text: format!("also {}", named.join(", ")),
                count: others.len() as u64,
                open,
            });
            self.folded.resize(self.order.len(), false);
            self.order.extend(&others);
            self.folded.resize(self.order.len(), !open);
            for some in others
                .chunk_by(|a, b| pattern_of(a) == pattern_of(b))
                .filter(|_| open)
            {
                self.push_also(root, some);
            }
        }
        Ok(())
    }

    /// The instances of one more pattern of a cause, below a line of their own where they are several.
    fn push_also(&mut self, root: usize, some: &[usize]) {
        let pattern = self.catalogue.entries[some[0]].id.pattern;
        let branch = Branch::AlsoPattern(root as u32, pattern);
        let (several, open) = (some.len() > 1, self.wanted.is_open(branch));
        if several {
            self.lines.push(ListLine::Branch {
                branch,
                text: pattern_text(pattern, "  "),
                count: some.len() as u64,
                open,
            });
        }
        if !several || open {
            let depth = if several { 3 } else { 2 };
            let lines = some
                .iter()
                .map(|&entry| ListLine::Instance { entry, depth });
            self.lines.extend(lines);
        }
    }

    /// The patterns of which fewer instances are listed than counted: all, or the one that the filter names.
    fn push_unlisted(&mut self, whole: bool) {
        let named = self.wanted.pattern();
        let mut listed: BTreeMap<Pattern, u64> = BTreeMap::new();
        for entry in &self.catalogue.entries {
            *listed.entry(entry.id.pattern).or_default() += 1;
        }
        for (pattern, listed) in listed {
            let counted = self.catalogue.counted(pattern);
            if listed < counted && (whole || named == Some(pattern)) {
                self.lines.push(ListLine::More {
                    pattern,
                    listed,
                    counted,
                });
            }
        }
    }

    fn push_levels(&mut self, places: &[usize], whole: bool) -> Result<(), Interrupt> {
        let mut by_pattern: Vec<Vec<usize>> = vec![Vec::new(); Pattern::all().count()];
        places.iter().for_each(|&place| {
            by_pattern[self.catalogue.entries[place].id.pattern as usize].push(place)
        });
        Level::EVERY
            .into_iter()
            .try_for_each(|level| self.push_level(level, &by_pattern, whole))
    }

    fn push_heaps(&mut self, groupings: &AnomalyGroups, places: &[usize]) -> Result<(), Interrupt> {
        let catalogue = self.catalogue;
        for (heap, members) in groupings.filled(places) {
            self.control.check()?;
            let branch = Branch::AnomalyGroup(self.wanted.by, heap);
            let open = self.wanted.is_open(branch);
            let (text, count) = (groupings.name(heap).to_owned(), members.len() as u64);
            self.lines.push(ListLine::Branch {
                branch,
                text,
                count,
                open,
            });
            let pattern_of = |&place: &usize| catalogue.entries[place].id.pattern;
            for some in members.chunk_by(|a, b| pattern_of(a) == pattern_of(b)) {
                let pattern = pattern_of(&some[0]);
                let branch = Branch::HeapPattern(self.wanted.by, heap, pattern);
                let all = self.wanted.is_open(branch);
                if open {
                    let (text, count) = (pattern_text(pattern, "  "), some.len() as u64);
                    self.lines.push(ListLine::Branch {
                        branch,
                        text,
                        count,
                        open: all,
                    });
                }
                for &entry in some {
                    self.order.push(entry);
                    if open && all {
                        self.lines.push(ListLine::Instance { entry, depth: 2 });
                    }
                }
            }
        }
        Ok(())
    }

    fn push_level(
        &mut self,
        level: Level,
        by_pattern: &[Vec<usize>],
        whole: bool,
    ) -> Result<(), Interrupt> {
        let catalogue = self.catalogue;
        let counted = |pattern: Pattern| match whole {
            // What is listed may not be counted yet.
            true => catalogue
                .counted(pattern)
                .max(by_pattern[pattern as usize].len() as u64),
            false => by_pattern[pattern as usize].len() as u64,
        };
        let patterns =
            || Pattern::all().filter(|p| catalogue.level_of(*p) == level && counted(*p) > 0);
        let count: u64 = patterns().map(counted).sum();
        if count == 0 {
            return Ok(());
        }
        let branch = Branch::Level(level);
        let open = self.wanted.is_open(branch);
        let text = format!("{level}  {}", level.long_name().replace('-', " "));
        self.lines.push(ListLine::Branch {
            branch,
            text,
            count,
            open,
        });
        for pattern in patterns() {
            self.control.check()?;
            self.push_pattern(
                pattern,
                &by_pattern[pattern as usize],
                counted(pattern),
                open,
            );
        }
        Ok(())
    }

    fn push_pattern(&mut self, pattern: Pattern, places: &[usize], count: u64, is_visible: bool) {
        let catalogue = self.catalogue;
        let branch = Branch::Pattern(pattern);
        let open = self.wanted.is_open(branch);
        if is_visible {
            let text = pattern_text(pattern, "  ");
            self.lines.push(ListLine::Branch {
                branch,
                text,
                count,
                open,
            });
        }
        let is_visible = is_visible && open;
        let group_of = |&place: &usize| catalogue.entries[place].group;
        let is_root = |place: &usize| self.wanted.simpler(&catalogue.entries[*place]).is_none();
        let (mut roots, mut consequences): (Vec<usize>, Vec<usize>) =
            places.iter().partition(|place| is_root(place));
        roots.sort_by_key(group_of);
        consequences.sort_by_key(group_of);
        let groups: Vec<&[usize]> = roots.chunk_by(|a, b| group_of(a) == group_of(b)).collect();
        for group in &groups {
            self.push_group(pattern, group, groups.len() > 1, is_visible);
        }
        self.push_consequences(pattern, &consequences, is_visible);
        if is_visible && (places.len() as u64) < count {
            let listed = places.len() as u64;
            self.lines.push(ListLine::More {
                pattern,
                listed,
                counted: count,
            });
        }
    }

    fn push_group(&mut self, pattern: Pattern, group: &[usize], several: bool, is_visible: bool) {
        let catalogue = self.catalogue;
        let header = several && group.len() > 1;
        let branch = Branch::Group(pattern, catalogue.entries[group[0]].group);
        let open = !header || self.wanted.is_open(branch);
        if is_visible && header {
            let text = format!(
                "{} that share {}",
                group.len(),
                catalogue.entries[group[0]].label
            );
            self.lines.push(ListLine::Branch {
                branch,
                text,
                count: group.len() as u64,
                open,
            });
        }
        for &entry in group {
            self.order.push(entry);
            if is_visible && open {
                self.lines.push(ListLine::Instance {
                    entry,
                    depth: if header { 3 } else { 2 },
                });
            }
        }
    }

    fn push_consequences(&mut self, pattern: Pattern, places: &[usize], is_visible: bool) {
        if places.is_empty() {
            return;
        }
        let branch = Branch::Consequences(pattern);
        let open = self.wanted.is_open(branch);
        if is_visible {
            let text = "same cause as a simpler one".to_owned();
            self.lines.push(ListLine::Branch {
                branch,
                text,
                count: places.len() as u64,
                open,
            });
        }
        self.folded.resize(self.order.len(), false);
        self.order.extend(places);
        self.folded.resize(self.order.len(), !open);
        if is_visible && open {
            self.lines.extend(
                places
                    .iter()
                    .map(|&entry| ListLine::Instance { entry, depth: 3 }),
            );
        }
    }
}

/// The name of a pattern in the list.
pub fn pattern_text(pattern: Pattern, between: &str) -> String {
    let row = pattern.row();
    match pattern.letter() {
        Some(_) => format!("{}{between}{}", row.id, row.title),
        None => row.title.to_owned(),
    }
}

/// Its name among others: `TAP-i`, `lost update`.
pub fn short(pattern: Pattern) -> String {
    let row = pattern.row();
    match pattern.letter() {
        Some(_) => row.id.to_owned(),
        None => row.title.to_lowercase(),
    }
}
