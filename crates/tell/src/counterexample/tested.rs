//! What was tested, and whether what is promised there allows a counterexample.

use super::Counterexample;
use super::orders::Orders;
use super::sentences::counted;
use isoscope_check::checkers::lattice::{Claim, ClaimedLevel, Promise, claimed};
use isoscope_check::checkers::{CountedOrder, Level, Verdict};
use isoscope_model::history::{History, TESTED, visible_line};

/// Where neither the file nor the user says it.
pub const NOT_RECORDED: &str = "Tested: not recorded.";

/// What was tested: product, version, level set, nodes, as far as that is known; and what is promised there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tested {
    /// In words; empty if that is not known.
    said: String,
    /// What the product promises: at its setting, or else at each of its settings.
    promises: Vec<&'static Promise>,
    /// The levels that the test itself expects.
    claimed: Vec<ClaimedLevel>,
}

impl Tested {
    /// What a file and those next to it say. O(lines that they say).
    pub fn of(history: &History) -> Tested {
        let about = &history.origin().about;
        let of = |what: &str| {
            about
                .iter()
                .find_map(|line| line.strip_prefix(what)?.strip_prefix(": "))
        };
        let said = match of(TESTED) {
            Some(said) => said.to_owned(),
            None => recorded(history, of),
        };
        Tested {
            promises: Promise::described(&said),
            claimed: claimed(about),
            said,
        }
    }

    /// The same in these words, unless they are empty.
    #[must_use]
    pub fn in_words(self, said: &str) -> Tested {
        match said.trim() {
            "" => self,
            said => Tested {
                promises: Promise::described(said),
                said: visible_line(said),
                ..self
            },
        }
    }

    /// The same with this promise to judge by.
    #[must_use]
    pub fn promising(self, promise: Option<&'static Promise>) -> Tested {
        let Some(promise) = promise else { return self };
        let said = match self.said.is_empty() {
            true => at(promise.product, promise.setting),
            false => self.said,
        };
        Tested {
            promises: vec![promise],
            said,
            ..self
        }
    }

    /// "Tested: PostgreSQL 15.18 at REPEATABLE READ, which promises snapshot isolation in real time: this is a bug."
    pub(super) fn line(
        &self,
        example: &Counterexample,
        orders: &Orders,
        (is_doubtful, has_simpler): (bool, bool),
    ) -> String {
        let judge = Judge {
            example,
            orders,
            is_doubtful,
            has_simpler,
        };
        let said = match self.said.as_str() {
            "" if self.claimed.is_empty() => return NOT_RECORDED.to_owned(),
            "" => "a database that the file does not name",
            said => said,
        };
        let judged = match (self.promises.as_slice(), self.claimed.as_slice()) {
            ([promise], _) => judge.of_promise(promise),
            ([], []) => ".".to_owned(),
            ([], claimed) => judge.of_claims(claimed),
            (several, _) => judge.of_settings(several),
        };
        format!("Tested: {said}{judged}")
    }

    /// What else is to be known of what is promised, a sentence; none where nothing is.
    pub(super) fn note(&self) -> Option<String> {
        let [promise] = self.promises.as_slice() else {
            return None;
        };
        let source = promise.source;
        Some(match promise.note {
            "" => format!("That promise: {source}."),
            note => format!("That promise: {note} ({source})."),
        })
    }
}

/// What a recording, or the files next to a history, say of what was tested.
fn recorded<'a>(history: &History, of: impl Fn(&str) -> Option<&'a str>) -> String {
    let has_letters = |text: &str| text.starts_with(|c: char| c.is_alphabetic());
    // "PostgreSQL 15.18 (Debian 15.18-0) on x86_64, compiled by gcc": what it was built with is another matter.
    let version = of("version").and_then(|version| version.split([',', '(']).next());
    let version = version.and_then(|version| version.split(" on ").next());
    let product = match (version.map(str::trim), of("database"), of("test")) {
        (Some(version), ..) if has_letters(version) => version.to_owned(),
        (Some(version), Some(database), _) => format!("{database} {version}"),
        (Some(version), None, Some(test)) => format!("{test}, version {version}"),
        (None, Some(database), _) => database.to_owned(),
        (None, None, Some(test)) => format!("the Jepsen test {test}"),
        _ => return String::new(),
    };
    let isolation = of("isolation").map(|level| level.trim_start_matches(':'));
    let product = match isolation {
        Some(level) if !level.is_empty() => at(&product, level),
        _ => product,
    };
    // A name such as "standby" says what is promised there.
    let nodes: Vec<String> = history
        .cluster()
        .nodes()
        .map(|node| visible_line(&node))
        .collect();
    match nodes.len() {
        0 | 1 => product,
        2..=4 => format!(
            "{product}, nodes {}",
            String::from(super::sentences::Words::list(&nodes))
        ),
        n => format!("{product}, {}", counted(n, "node")),
    }
}

/// "PostgreSQL 15.18 at REPEATABLE READ".
fn at(product: &str, setting: &str) -> String {
    format!("{product} at {}", setting.replace('-', " ").to_uppercase())
}

/// Judges a counterexample by what was promised.
struct Judge<'a> {
    example: &'a Counterexample,
    orders: &'a Orders,
    is_doubtful: bool,
    /// A simpler anomaly has the same cause, which may not be allowed.
    has_simpler: bool,
}

impl Judge<'_> {
    /// Whether a promised level allows these transactions, if that is known.
    fn allows(&self, promised: Level) -> Option<bool> {
        let judged = self.example.verdicts.iter();
        let judged = judged.filter_map(|(level, verdict)| match verdict {
            Verdict::Satisfied(_) => Some((*level, true)),
            Verdict::Violated => Some((*level, false)),
            Verdict::Undecided(_) => None,
        });
        let held = self.orders.held.iter().map(|level| (level, true));
        let broken = self.orders.broken.iter().map(|level| (level, false));
        let mut all = held.chain(broken).chain(judged);
        let shows = |(known, holds): &(Level, bool)| match holds {
            true => known.implies(promised),
            false => promised.implies(*known),
        };
        all.find(shows).map(|(_, holds)| holds)
    }

    /// In words what a promised level says of this.
    fn word(&self, promised: Level) -> &'static str {
        match self.allows(promised) {
            Some(true) if self.has_simpler => "this alone is allowed",
            Some(true) => "this is allowed",
            Some(false) if self.is_doubtful => "this is a bug, unless the log is incomplete",
            Some(false) => "this is a bug",
            None if self
                .without_times(promised)
                .and_then(|level| self.allows(level))
                == Some(true) =>
            {
                "this is allowed, as far as a file without times can tell"
            }
            None if self.without_times(promised).is_some() => {
                "whether this is a bug depends on times, which the file does not have"
            }
            None => "whether that allows this was not decided",
        }
    }

    /// What is left of a level that counts real time where no times are known: the order of sessions, if all times count.
    fn without_times(&self, promised: Level) -> Option<Level> {
        match promised.row().order {
            _ if self.example.history.has_times() => None,
            CountedOrder::RealTime | CountedOrder::CommitRealTime | CountedOrder::KeyRealTime => {
                Level::with_code(promised.base().code)
            }
            _ => None,
        }
    }

    fn of_promise(&self, promise: &Promise) -> String {
        match promise.claim {
            Claim::Nothing => ", which promises no level: this is allowed.".to_owned(),
            Claim::Level(_) => match promise.asked() {
                Some(level) => {
                    let word = self.word(level);
                    format!(", which promises {}: {word}.", in_words(level))
                }
                None => ".".to_owned(),
            },
        }
    }

    /// "; the test expects serializability: this is a bug."
    fn of_claims(&self, claimed: &[ClaimedLevel]) -> String {
        let names: Vec<String> = claimed.iter().map(|claim| in_words(claim.level)).collect();
        // One that forbids it is enough; else one that is open.
        let of = |wanted| {
            claimed
                .iter()
                .find(|claim| self.allows(claim.level) == wanted)
        };
        let first = of(Some(false)).or_else(|| of(None)).or(claimed.first());
        let word = first.map_or("", |claim| self.word(claim.level));
        format!("; the test expects {}: {word}.", names.join(" and "))
    }

    /// ". It depends on the setting: a bug at “serializable”; allowed at “read committed”."
    fn of_settings(&self, promises: &[&'static Promise]) -> String {
        let of = |wanted: Option<bool>| -> Vec<String> {
            let judged = promises.iter().filter(|promise| {
                let allows = match promise.asked() {
                    Some(level) => self.allows(level),
                    None => Some(true),
                };
                allows == wanted
            });
            judged
                .map(|promise| format!("“{}”", promise.setting))
                .collect()
        };
        let list = |names: &[String]| -> String { super::sentences::Words::list(names).into() };
        match (of(Some(false)).as_slice(), of(Some(true)).as_slice()) {
            ([], []) => ".".to_owned(),
            (bug, []) => format!(". This is a bug at {}.", list(bug)),
            ([], allowed) => format!(". This is allowed at {}.", list(allowed)),
            (bug, allowed) => format!(
                ". It depends on the setting: a bug at {}; allowed at {}.",
                list(bug),
                list(allowed)
            ),
        }
    }
}

/// A level in words that need no table: "snapshot isolation in real time".
fn in_words(level: Level) -> String {
    let base = || level.base().name.replace('-', " ");
    match level.row().order {
        _ if level.is_of_reads() => level.spoken(),
        CountedOrder::Plain => format!("{} without session order", base()),
        CountedOrder::RealTime if level.code().starts_with("R-") => {
            format!("{} in real time", base())
        }
        CountedOrder::KeyRealTime => format!("{} in real time for each key", base()),
        CountedOrder::CommitRealTime => format!("{} with commits in real time", base()),
        CountedOrder::Session | CountedOrder::RealTime => level.spoken(),
    }
}
