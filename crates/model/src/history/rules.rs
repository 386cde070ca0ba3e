//! How to interpret what a file leaves open: each choice has a name, a default, and a sentence that says what it did.
//!
//! Readers record what is in the file; [`History::with_rules`](super::History::with_rules) settles the rest, once, before
//! anything is inferred. So nothing behind it needs to know which choice was made, but for those that can only be made
//! while reads are resolved (duplicate values, transactions of unknown outcome, set-up transactions found by themselves).

use super::words;

words! {
    /// What a statement that failed inside a committed transaction means.
    #[derive(Default)]
    FailedRule by word {
        /// As the database behaves, if the file names it; else as `Drop`.
        #[default]
        Auto = "auto",
        /// The statement did nothing, the rest of the transaction committed.
        Drop = "drop",
        /// The whole transaction was rolled back (PostgreSQL, CockroachDB: COMMIT of a failed transaction succeeds).
        Abort = "abort",
        /// Everything up to the last failure was rolled back, and what follows ran outside of any transaction, each
        /// statement on its own (MySQL, MariaDB, Galera after a deadlock).
        Split = "split",
    }
}

words! {
    /// What a compare-and-set means of which the file only says that it failed.
    #[derive(Default)]
    FailedCasRule by word {
        /// As the format means it; where it does not say, as it is recorded.
        #[default]
        Format = "format",
        /// The comparison failed: the key had another value.
        Observed = "observed",
        /// It did not happen, for whatever reason.
        Dropped = "dropped",
    }
}

words! {
    /// What a transaction of unknown outcome counts as.
    #[derive(Default)]
    UnknownRule by word {
        /// Committed if a committed transaction read from it, else left out. Exact for every level.
        #[default]
        Observed = "observed",
        /// Aborted: its readers read aborted data.
        Aborted = "aborted",
        /// Committed.
        Committed = "committed",
    }
}

words! {
    /// Whose version a read returned if several transactions wrote its value.
    #[derive(Default)]
    DuplicateRule by word {
        /// Any of them: a level is satisfied if one choice satisfies it.
        #[default]
        Any = "any",
        /// The last one in the history, as most checkers assume.
        Last = "last",
    }
}

words! {
    /// What a list that was read shows.
    #[derive(Default)]
    ListRule by word {
        /// The order of all its elements; lists of a key must be prefixes of each other.
        #[default]
        Exact = "exact",
        /// Its last element only, as a register.
        Last = "last",
        /// The order of its elements, but lists of a key need not be prefixes of each other (stores that merge lists).
        Merge = "merge",
    }
}

words! {
    /// When two values are the same.
    #[derive(Default)]
    ValueRule by word {
        /// Where they are written alike. A history is refused in which reads return values that were written only if both
        /// are taken as text.
        #[default]
        Auto = "auto",
        /// Where they are written alike.
        Exact = "exact",
        /// Where they are the same as text: 5 and "5".
        Text = "text",
    }
}

words! {
    /// Whether recorded times count.
    #[derive(Default)]
    TimeRule by word {
        /// They do, at the levels that involve real time.
        #[default]
        Use = "use",
        /// They do not.
        Ignore = "ignore",
    }
}

/// Which values, read without having been written, are the initial version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum InitialRule {
    /// As the format says.
    #[default]
    Format,
    /// Only "nothing" (nil, null, …): every number is a value like others.
    Nothing,
    /// For each key one value that no transaction wrote.
    AnyUnwritten,
    /// This value, unless a transaction writes it.
    Value(String),
}

impl InitialRule {
    /// The word for it on the command line and in reports.
    pub fn word(&self) -> &str {
        match self {
            InitialRule::Format => "format",
            InitialRule::Nothing => "nothing",
            InitialRule::AnyUnwritten => "any-unwritten",
            InitialRule::Value(value) => value,
        }
    }
}

impl std::str::FromStr for InitialRule {
    type Err = String;

    fn from_str(text: &str) -> Result<InitialRule, String> {
        Ok(match text.to_ascii_lowercase().as_str() {
            "" => return Err("expected format, nothing, any-unwritten or a value".to_owned()),
            "format" => InitialRule::Format,
            "nothing" => InitialRule::Nothing,
            "any-unwritten" => InitialRule::AnyUnwritten,
            _ => InitialRule::Value(text.to_owned()),
        })
    }
}

/// Which transactions set up the initial state and count as part of ⊥.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum SetUpRule {
    /// Those the file declares, else those that write nothing but the initial value before everything else.
    #[default]
    Auto,
    /// None: all are ordinary transactions.
    Never,
    /// These, by name.
    Transactions(Vec<String>),
}

impl SetUpRule {
    /// The words for it on the command line and in reports.
    pub fn words(&self) -> String {
        match self {
            SetUpRule::Auto => "auto".to_owned(),
            SetUpRule::Never => "none".to_owned(),
            SetUpRule::Transactions(names) => format!("txn={}", names.join(",")),
        }
    }
}

impl std::str::FromStr for SetUpRule {
    type Err = String;

    fn from_str(text: &str) -> Result<SetUpRule, String> {
        match text.to_ascii_lowercase().as_str() {
            "auto" => return Ok(SetUpRule::Auto),
            "none" => return Ok(SetUpRule::Never),
            _ => {}
        }
        let names = text.strip_prefix("txn=").filter(|names| !names.is_empty());
        let names = names
            .ok_or("expected auto, none, or txn= and names of transactions with commas between")?;
        Ok(SetUpRule::Transactions(
            names
                .split(',')
                .map(|name| name.trim().to_owned())
                .collect(),
        ))
    }
}

/// All choices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rules {
    /// Which unwritten values are initial.
    pub initial: InitialRule,
    /// Which transactions set up the initial state.
    pub set_up: SetUpRule,
    /// What failed statements mean.
    pub failed: FailedRule,
    /// What failed compare-and-sets mean.
    pub failed_cas: FailedCasRule,
    /// What transactions of unknown outcome count as.
    pub unknown: UnknownRule,
    /// Which transaction wrote a value that several wrote.
    pub duplicates: DuplicateRule,
    /// What lists show.
    pub lists: ListRule,
    /// When two values are the same.
    pub values: ValueRule,
    /// Whether times count.
    pub times: TimeRule,
    /// What the words of a log mean. A file is read by it, so it counts only when a file is opened.
    pub vocabulary: Vocabulary,
}

/// What the words of a log mean, where they are not those that are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Vocabulary {
    /// The name of the workload.
    pub workload: Option<String>,
    /// Words of operations, each with a known one that means the same.
    pub words: Vec<(String, String)>,
    /// Names of fields, each with a known one that means the same.
    pub fields: Vec<(String, String)>,
    /// What a register holds that was read as nil.
    pub nil: NilRule,
    /// What an operation means that failed for want of time or of a connection.
    pub failed_timeouts: TimeoutRule,
}

words! {
    /// What an operation means of which the log says that it failed, with an error that speaks of a time-out or of a lost
    /// connection: a server may have done it nevertheless.
    #[derive(Default)]
    TimeoutRule by word {
        /// It did not happen, as the log says.
        #[default]
        Failed = "failed",
        /// It may have happened.
        Unknown = "unknown",
    }
}

words! {
    /// What a register holds that was read as nil.
    #[derive(Default)]
    NilRule by word {
        /// Nothing: it was never written, or was deleted.
        #[default]
        Absent = "absent",
        /// It is not known, as for Knossos: the read says nothing.
        Unknown = "unknown",
    }
}

impl Vocabulary {
    /// The known word for a word.
    pub fn word<'w>(&'w self, word: &'w str) -> &'w str {
        known(&self.words, word)
    }

    /// The known name of a field.
    pub fn field<'w>(&'w self, name: &'w str) -> &'w str {
        known(&self.fields, name)
    }
}

fn known<'w>(names: &'w [(String, String)], name: &'w str) -> &'w str {
    let found = names.iter().find(|(other, _)| other == name);
    found.map_or(name, |(_, known)| known)
}

impl Rules {
    /// Name of each rule with the word of its choice, in a fixed order: the names are those of the flags.
    pub fn words(&self) -> [(&'static str, String); 9] {
        [
            ("initial", self.initial.word().to_owned()),
            ("init", self.set_up.words()),
            ("failed", self.failed.word().to_owned()),
            ("failed-cas", self.failed_cas.word().to_owned()),
            ("unknown", self.unknown.word().to_owned()),
            ("duplicates", self.duplicates.word().to_owned()),
            ("lists", self.lists.word().to_owned()),
            ("values", self.values.word().to_owned()),
            ("times", self.times.word().to_owned()),
        ]
    }

    /// Makes one choice, by the name of its rule.
    pub fn set(&mut self, name: &str, word: &str) -> Result<(), String> {
        match name {
            "initial" => self.initial = word.parse()?,
            "init" => self.set_up = word.parse()?,
            "failed" => self.failed = word.parse()?,
            "failed-cas" => self.failed_cas = word.parse()?,
            "unknown" => self.unknown = word.parse()?,
            "duplicates" => self.duplicates = word.parse()?,
            "lists" => self.lists = word.parse()?,
            "values" => self.values = word.parse()?,
            "times" => self.times = word.parse()?,
            _ => return Err(format!("there is no rule `{name}`")),
        }
        Ok(())
    }
}

/// What a reader knows about the choices that fit its file: it replaces a rule left at its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestions {
    /// For [`FailedRule::Auto`].
    pub failed: FailedRule,
    /// For [`FailedCasRule::Format`].
    pub failed_cas: FailedCasRule,
    /// For [`InitialRule::Format`].
    pub initial: InitialRule,
    /// Whether such files sometimes have other values than those that were written: then a history in which none matches is
    /// refused.
    pub may_omit_values: bool,
    /// The reason for the suggestions: "the file names Galera".
    pub because: String,
}
