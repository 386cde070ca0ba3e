//! How many instances have a level, a key, sessions or a root cause in common.

use super::{Tally, TallyRow};
use crate::checkers::{self, Findings, Page, Pattern, Violation, ViolationId};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, SessionId};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Instances generated at once.
const AT_ONCE: u64 = 100_000;

/// What instances are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TallyBy {
    /// The weakest level that an instance violates.
    Level,
    /// The key on which the contradiction shows.
    Key,
    /// The sessions involved.
    Session,
    /// The root cause, named after the first listed instance that has it.
    Cause,
}

impl TallyBy {
    /// Its name in requests: "key".
    pub fn word(self) -> &'static str {
        match self {
            TallyBy::Level => "level",
            TallyBy::Key => "key",
            TallyBy::Session => "session",
            TallyBy::Cause => "cause",
        }
    }
}

impl std::str::FromStr for TallyBy {
    type Err = String;

    fn from_str(word: &str) -> Result<TallyBy, String> {
        let all = [
            TallyBy::Level,
            TallyBy::Key,
            TallyBy::Session,
            TallyBy::Cause,
        ];
        let found = all.into_iter().find(|by| by.word() == word);
        found.ok_or_else(|| format!("`{word}` is none of level, key, session, cause"))
    }
}

/// Goes through all instances that were counted, listed or not, in batches; at most 2³² - 1 per pattern. Takes as
/// long as counting them for each 100,000 of a pattern.
pub fn tally(history: &History, findings: &Findings, by: TallyBy, control: &Control) -> Tally {
    control.phase("grouping instances", 0);
    let mut names = Names::new(history, findings, by);
    let mut rows: FxHashMap<String, TallyRow> = FxHashMap::default();
    let is_cut = count(history, findings, control, |violation| {
        let name = names.of(violation);
        let row = rows.entry(name).or_insert_with_key(|name| TallyRow {
            name: name.clone(),
            ..TallyRow::default()
        });
        row.instances += 1;
        *row.patterns
            .entry(violation.id.pattern.id().to_owned())
            .or_default() += 1;
    })
    .is_err()
        || findings.cut.is_some();
    let mut rows: Vec<TallyRow> = rows.into_values().collect();
    rows.sort_by(|a, b| {
        b.instances
            .cmp(&a.instances)
            .then_with(|| a.name.cmp(&b.name))
    });
    Tally {
        by: by.word().to_owned(),
        rows,
        is_cut,
    }
}

fn count(
    history: &History,
    findings: &Findings,
    control: &Control,
    mut each: impl FnMut(&Violation),
) -> Result<(), Interrupt> {
    for (&pattern, &counted) in &findings.patterns {
        for offset in (0..counted).step_by(AT_ONCE as usize) {
            control.check()?;
            let page = checkers::instances(
                history,
                findings,
                Page {
                    pattern,
                    offset,
                    limit: AT_ONCE,
                },
                control,
            )?;
            page.iter().for_each(&mut each);
        }
    }
    Ok(())
}

struct Names<'a> {
    history: &'a History,
    by: TallyBy,
    /// By pattern and group: the first listed instance.
    causes: FxHashMap<(Pattern, u32), ViolationId>,
}

impl<'a> Names<'a> {
    fn new(history: &'a History, findings: &Findings, by: TallyBy) -> Names<'a> {
        let mut causes = FxHashMap::default();
        for violation in &findings.violations {
            causes
                .entry((violation.id.pattern, violation.group))
                .or_insert(violation.id);
        }
        Names {
            history,
            by,
            causes,
        }
    }

    fn of(&mut self, violation: &Violation) -> String {
        match self.by {
            TallyBy::Level => violation
                .levels
                .weakest()
                .map_or("", |level| level.code())
                .to_owned(),
            TallyBy::Key => key_of(self.history, violation),
            TallyBy::Session => sessions_of(self.history, violation),
            TallyBy::Cause => match self.causes.get(&(violation.id.pattern, violation.group)) {
                Some(listed) => listed.to_string(),
                None => format!("other causes of {}", violation.id.pattern),
            },
        }
    }
}

/// The key on which a contradiction shows: "key 4", or "no key".
pub fn key_of(history: &History, violation: &Violation) -> String {
    let key = violation
        .key
        .or_else(|| violation.edges.iter().find_map(|edge| edge.key));
    key.map_or_else(
        || "no key".to_owned(),
        |key| format!("key {}", history.key_name(key)),
    )
}

/// The sessions involved in a contradiction: "session 1", "sessions 1, 2", or "no session".
pub fn sessions_of(history: &History, violation: &Violation) -> String {
    let own: BTreeSet<SessionId> = violation
        .transactions
        .iter()
        .filter(|t| !t.is_initial())
        .map(|t| history.session_of(*t))
        .collect();
    let names: Vec<String> = own
        .iter()
        .map(|session| history.session_name(*session))
        .collect();
    match &names[..] {
        [] => "no session".to_owned(),
        [one] => format!("session {one}"),
        several => format!("sessions {}", several.join(", ")),
    }
}
