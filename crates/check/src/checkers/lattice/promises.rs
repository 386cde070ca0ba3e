//! What products promise, as levels: a claim to check a recording against, not a finding about the product.

use super::named;
use crate::checkers::{Level, LevelResult, Verdict};
use isoscope_model::history::LEVEL_CLAIMED;

/// A setting of a product, and the level it promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promise {
    /// The product, lower case as typed.
    pub product: &'static str,
    /// The setting, lower case as typed.
    pub setting: &'static str,
    /// What is promised.
    pub claim: Claim,
    /// What else to know about it: a sentence without a full stop.
    pub note: &'static str,
}

/// What is promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// A level, by code.
    Level(&'static str),
    /// No level at all.
    Nothing,
}

impl Promise {
    /// The code of the level.
    pub fn level(&self) -> Option<&'static str> {
        match self.claim {
            Claim::Level(code) => Some(code),
            Claim::Nothing => None,
        }
    }

    /// "postgresql repeatable read", as typed after `--claim`.
    pub fn name(&self) -> String {
        format!("{} {}", self.product, self.setting)
    }

    /// The promise with a name, in any case and with any spaces.
    ///
    /// # Errors
    /// One line that says what is known, or that nothing is promised.
    pub fn named(text: &str) -> Result<&'static Promise, String> {
        let wanted = text
            .split_whitespace()
            .collect::<Vec<&str>>()
            .join(" ")
            .to_lowercase();
        let Some(found) = PROMISES.iter().find(|promise| promise.name() == wanted) else {
            let product = wanted.split(' ').next().unwrap_or_default();
            let settings: Vec<String> = PROMISES
                .iter()
                .filter(|promise| promise.product == product)
                .map(Promise::name)
                .collect();
            return Err(if settings.is_empty() {
                format!("nothing is known of `{text}`; `--claim help` lists products and settings")
            } else {
                format!(
                    "nothing is known of `{text}`, but of {}",
                    settings.join(", ")
                )
            });
        };
        match found.claim {
            Claim::Level(_) => Ok(found),
            Claim::Nothing => Err(format!("{wanted} promises no level")),
        }
    }

    /// The level whose verdict tells whether it is kept.
    pub fn asked(&self) -> Option<Level> {
        self.level().and_then(Level::with_code)
    }

    /// Whether verdicts show that it is kept, or broken; `None` if they show neither.
    pub fn is_kept<'r>(&self, verdicts: impl IntoIterator<Item = &'r LevelResult>) -> Option<bool> {
        self.is_kept_by(verdicts.into_iter().filter_map(decided))
    }

    /// As `is_kept`, given whether levels hold.
    pub fn is_kept_by(&self, verdicts: impl IntoIterator<Item = (Level, bool)>) -> Option<bool> {
        let promised = self.asked()?;
        let shows = |(known, holds): &(Level, bool)| {
            if *holds {
                known.implies(promised)
            } else {
                promised.implies(*known)
            }
        };
        verdicts.into_iter().find(shows).map(|(_, holds)| holds)
    }
}

/// Whether a level holds, if that is decided.
fn decided(result: &LevelResult) -> Option<(Level, bool)> {
    match result.verdict {
        Verdict::Satisfied(_) => Some((result.level, true)),
        Verdict::Violated => Some((result.level, false)),
        Verdict::Undecided(_) => None,
    }
}

/// A level that the files next to a history say the database claims.
#[derive(Clone, Debug)]
pub struct ClaimedLevel {
    /// Elle's keyword for it, with its colon.
    pub keyword: String,
    /// The level.
    pub level: Level,
}

/// The levels claimed in what accompanying files say, in lines like `level claimed: [:snapshot-isolation]`
/// ([`Origin::about`](isoscope_model::history::Origin::about)), each once.
pub fn claimed(about: &[String]) -> Vec<ClaimedLevel> {
    let mut found: Vec<ClaimedLevel> = Vec::new();
    for line in about
        .iter()
        .filter_map(|line| line.strip_prefix(LEVEL_CLAIMED)?.strip_prefix(": "))
    {
        for word in
            line.split(|c: char| !(c.is_alphanumeric() || matches!(c, ':' | '-' | '+' | '.')))
        {
            if let Some(named) = word
                .starts_with(':')
                .then(|| named(word))
                .and_then(Result::ok)
                && found.iter().all(|known| known.level != named)
            {
                found.push(ClaimedLevel {
                    keyword: word.to_owned(),
                    level: named,
                });
            }
        }
    }
    found
}

/// The satisfied levels that no other satisfied one implies.
pub fn strongest_satisfied<'a>(verdicts: impl IntoIterator<Item = &'a LevelResult>) -> Vec<Level> {
    let satisfied = |result: &&LevelResult| matches!(result.verdict, Verdict::Satisfied(_));
    strongest(
        verdicts
            .into_iter()
            .filter(satisfied)
            .map(|result| result.level),
    )
}

/// The levels that no other of them implies.
pub fn strongest(levels: impl IntoIterator<Item = Level>) -> Vec<Level> {
    let levels: Vec<Level> = levels.into_iter().collect();
    let is_strongest = |level: &Level| {
        !levels
            .iter()
            .any(|other| other != level && other.implies(*level))
    };
    levels.iter().copied().filter(is_strongest).collect()
}

const fn promise(
    product: &'static str,
    setting: &'static str,
    level: &'static str,
    note: &'static str,
) -> Promise {
    Promise {
        product,
        setting,
        claim: Claim::Level(level),
        note,
    }
}

/// By product. Documented by the vendors unless the note says otherwise.
#[rustfmt::skip]
pub const PROMISES: &[Promise] = &[
    promise("postgresql", "read committed", "R-MSR", "for plain SELECTs, each of which sees all that had committed; SELECT FOR UPDATE and UPDATE re-read rows, so that within one such statement only R-PL2 is promised"),
    promise("postgresql", "repeatable read", "R-SI", "on one node"),
    promise("postgresql", "serializable", "SSER", "SER is documented; its proof still holds with real time, since real-time edges lead from a commit to a later start"),
    promise("postgresql-standby", "repeatable read", "PSI", "for a session that stays on one node; called snapshot isolation, but standbys show long forks, and they are stale"),
    promise("rds-multi-az", "repeatable read", "P-PSI", "over all endpoints; called snapshot isolation, but Jepsen found long forks in 2025"),
    promise("mysql", "read uncommitted", "R-PL1", ""),
    promise("mysql", "read committed", "R-MSR", ""),
    promise("mysql", "repeatable read", "R-PC", "for blind writes and snapshot reads; locking reads and updates see the newest rows, and transactions that use them may violate even CI and RC"),
    promise("mysql", "serializable", "SSER", "by two-phase locking"),
    promise("mariadb", "read uncommitted", "R-PL1", ""),
    promise("mariadb", "read committed", "R-MSR", ""),
    promise("mariadb", "repeatable read", "R-SI", "from 11.6.2 on, where innodb_snapshot_isolation is on; earlier versions: as MySQL"),
    promise("mariadb", "serializable", "SSER", "by two-phase locking"),
    promise("sqlite", "serializable", "SSER", "on one file"),
    promise("sqlite", "read uncommitted", "PL1", "with a shared cache"),
    promise("cockroachdb", "serializable", "K-SER", "no stale reads of a key; causal reverse is possible"),
    promise("cockroachdb", "read committed", "P-MSR", "a snapshot per statement"),
    promise("cockroachdb", "follower reads", "P-SER", "also AS OF SYSTEM TIME: stale by design"),
    promise("yugabytedb", "serializable", "K-SER", "single rows are linearizable"),
    promise("yugabytedb", "repeatable read", "K-SI", ""),
    promise("yugabytedb", "read committed", "P-MSR", "if enabled; otherwise it falls back to snapshot isolation"),
    promise("mongodb", "transaction causal session", "SI", "with read concern snapshot and write concern majority, in a causally consistent session"),
    promise("mongodb", "transaction", "P-SI", "with read concern snapshot and write concern majority"),
    promise("mongodb", "majority causal session", "TCC", "outside transactions, with read and write concern majority; all four session guarantees"),
    promise("mongodb", "majority reads w:1", "MR", "in a causal session outside transactions; also writes-follow-reads"),
    promise("mongodb", "local reads w:majority", "MW", "in a causal session outside transactions"),
    Promise { product: "mongodb", setting: "local reads w:1", claim: Claim::Nothing, note: "in a causal session outside transactions" },
    promise("redis", "multi watch", "SSER", "on one node"),
    Promise { product: "redis", setting: "replicas", claim: Claim::Nothing, note: "nor across a failover" },
    promise("etcd", "default", "SSER", "for all calls on keys"),
    promise("etcd", "lock", "LIN", "one holder at a time, while no lease runs out"),
    promise("etcd", "serializable reads", "P-SER", "with --consistency=s reads may be stale"),
    promise("galera", "repeatable read", "P-SI", "documented as between serializable and repeatable read; R-SI only with wsrep_sync_wait"),
];
