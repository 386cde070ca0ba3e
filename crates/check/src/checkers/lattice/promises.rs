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
    /// Where that is said.
    pub source: &'static str,
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

    /// The promises that a description of what was tested names, such as "PostgreSQL 15.18 at REPEATABLE READ, one primary
    /// and one standby": the one of its product and setting, or all of its product where it names no setting.
    pub fn described(text: &str) -> Vec<&'static Promise> {
        let said = words(text);
        let has = |name: &str| words(name).iter().all(|word| said.contains(word));
        let most = |of: &[&'static Promise], length: fn(&Promise) -> usize| {
            let most = of.iter().map(|promise| length(promise)).max();
            let of_most = of
                .iter()
                .copied()
                .filter(|promise| Some(length(promise)) == most);
            of_most.collect::<Vec<&'static Promise>>()
        };
        let of_product: Vec<&'static Promise> = PROMISES
            .iter()
            .filter(|promise| has(promise.product))
            .collect();
        let of_setting: Vec<&'static Promise> = of_product
            .iter()
            .copied()
            .filter(|promise| has(promise.setting))
            .collect();
        let names_setting = !of_setting.is_empty();
        let all = if names_setting {
            of_setting
        } else {
            of_product
        };
        let mut named = most(&all, |promise| words(promise.product).len());
        // Galera is a kind of MariaDB, and later in the list.
        if let Some(product) = named.last().map(|promise| promise.product) {
            named.retain(|promise| promise.product == product);
        }
        match names_setting {
            true => most(&named, |promise| words(promise.setting).len()),
            false => named,
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

/// The words of a name or description, in lower case; products by their usual names.
fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let all = text.split(|c: char| !c.is_alphanumeric() && c != ':');
    let usual = |word: &str| match word {
        "postgres" => "postgresql".to_owned(),
        "cockroach" => "cockroachdb".to_owned(),
        "yugabyte" => "yugabytedb".to_owned(),
        "mongo" => "mongodb".to_owned(),
        "scylla" => "scylladb".to_owned(),
        other => other.to_owned(),
    };
    all.filter(|word| !word.is_empty()).map(usual).collect()
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    source: &'static str,
) -> Promise {
    Promise {
        product,
        setting,
        claim: Claim::Level(level),
        note,
        source,
    }
}

const fn nothing(
    product: &'static str,
    setting: &'static str,
    note: &'static str,
    source: &'static str,
) -> Promise {
    Promise {
        product,
        setting,
        claim: Claim::Nothing,
        note,
        source,
    }
}

/// By product. Readings of what the vendors document, weaker where published tests contradict it.
#[rustfmt::skip]
pub const PROMISES: &[Promise] = &[
    promise("postgresql", "read committed", "R-MSR", "for plain SELECTs, each of which sees all that had committed; SELECT FOR UPDATE and UPDATE re-read rows, so that one such statement may see rows of several moments", "PostgreSQL documentation, Transaction Isolation"),
    promise("postgresql", "repeatable read", "R-SI", "on one node", "PostgreSQL documentation, Transaction Isolation"),
    promise("postgresql", "serializable", "SSER", "serializability is documented; its proof still holds with real time", "PostgreSQL documentation, Transaction Isolation"),
    promise("postgresql-standby", "repeatable read", "PSI", "for a session that stays on one node; what standbys show is stale, and they may disagree on the order of commits", "Jepsen: Amazon RDS for PostgreSQL 17.4"),
    promise("rds-multi-az", "repeatable read", "P-PSI", "over all endpoints; called snapshot isolation, but Jepsen found long forks in 2025", "Jepsen: Amazon RDS for PostgreSQL 17.4"),
    promise("mysql", "read uncommitted", "R-PL1", "", "MySQL Reference Manual, Transaction Isolation Levels"),
    promise("mysql", "read committed", "R-MSR", "", "MySQL Reference Manual, Transaction Isolation Levels"),
    promise("mysql", "repeatable read", "R-PC", "for blind writes and snapshot reads; locking reads and updates see the newest rows, and transactions that use them may violate even cut isolation and read committed", "MySQL Reference Manual, Transaction Isolation Levels"),
    promise("mysql", "serializable", "SSER", "by two-phase locking", "MySQL Reference Manual, Transaction Isolation Levels"),
    promise("mariadb", "read uncommitted", "R-PL1", "", "MariaDB documentation, SET TRANSACTION"),
    promise("mariadb", "read committed", "R-MSR", "", "MariaDB documentation, SET TRANSACTION"),
    promise("mariadb", "repeatable read", "R-SI", "from 11.6.2 on, where innodb_snapshot_isolation is on; earlier versions: as MySQL", "MariaDB documentation, SET TRANSACTION"),
    promise("mariadb", "serializable", "SSER", "by two-phase locking", "MariaDB documentation, SET TRANSACTION"),
    promise("sqlite", "serializable", "SSER", "on one file", "sqlite.org, Isolation In SQLite"),
    promise("sqlite", "read uncommitted", "PL1", "with a shared cache", "sqlite.org, Isolation In SQLite"),
    promise("cockroachdb", "serializable", "K-SER", "no stale reads of a key; causal reverse is possible", "cockroachlabs.com/docs, Transactions"),
    promise("cockroachdb", "read committed", "P-MSR", "a snapshot per statement", "cockroachlabs.com/docs, Transactions"),
    promise("cockroachdb", "follower reads", "P-SER", "also AS OF SYSTEM TIME: stale by design", "cockroachlabs.com/docs, Transactions"),
    promise("yugabytedb", "serializable", "K-SER", "single rows are linearizable", "docs.yugabyte.com, Isolation levels"),
    promise("yugabytedb", "repeatable read", "K-SI", "", "docs.yugabyte.com, Isolation levels"),
    promise("yugabytedb", "read committed", "P-MSR", "if enabled; otherwise it falls back to snapshot isolation", "docs.yugabyte.com, Isolation levels"),
    promise("tidb", "repeatable read", "R-SI", "for snapshot reads; locking reads and updates of pessimistic transactions see the newest rows", "docs.pingcap.com, TiDB Transaction Isolation Levels"),
    promise("tidb", "read committed", "R-MSR", "in pessimistic transactions", "docs.pingcap.com, TiDB Transaction Isolation Levels"),
    promise("tidb", "stale read", "P-SER", "AS OF TIMESTAMP: stale by design, for transactions that only read", "docs.pingcap.com, Stale Read"),
    promise("ydb", "serializable", "P-SER", "the default", "ydb.tech/docs, Transactions"),
    promise("ydb", "snapshot read-write", "P-SI", "", "ydb.tech/docs, Transactions"),
    promise("ydb", "snapshot read-only", "R-PC", "sees all that was committed before it began", "ydb.tech/docs, Transactions"),
    promise("spanner", "serializable", "SSER", "called external consistency", "cloud.google.com/spanner/docs, Isolation levels"),
    promise("spanner", "repeatable read", "P-SI", "snapshot isolation; the order of commits is external", "cloud.google.com/spanner/docs, Isolation levels"),
    promise("spanner", "stale reads", "P-SER", "by exact or bounded staleness: stale by design, for transactions that only read", "cloud.google.com/spanner/docs, Timestamp bounds"),
    promise("foundationdb", "serializable", "SSER", "the default", "apple.github.io/foundationdb, Transaction Manifesto and Consistency"),
    promise("foundationdb", "snapshot reads", "R-PC", "reads marked as snapshot add no conflicts, so that updates can be lost", "apple.github.io/foundationdb, Developer Guide"),
    promise("fauna", "serialized", "SSER", "for transactions that write; those that only read are serializable", "Fauna documentation, Isolation levels"),
    promise("fauna", "snapshot", "P-SI", "indexes that are not serialized", "Fauna documentation, Isolation levels"),
    promise("dgraph", "snapshot isolation", "R-SI", "what commits before a transaction begins is seen by it", "dgraph.io, ACID Transactions"),
    promise("datomic", "serializable", "SER", "each peer sees a growing prefix of one log; within a transaction, operations count as simultaneous", "docs.datomic.com, ACID; Jepsen: Datomic Pro 1.0.7075"),
    promise("datomic", "sync", "SSER", "each read after d/sync", "docs.datomic.com, Client Synchronization; Jepsen: Datomic Pro 1.0.7075"),
    promise("tigerbeetle", "strict serializability", "SSER", "", "docs.tigerbeetle.com, Sessions; Jepsen: TigerBeetle 0.16.11"),
    promise("rqlite", "strong", "SSER", "each request is one transaction", "rqlite.io/docs, Read Consistency"),
    promise("rqlite", "linearizable", "SSER", "each request is one transaction", "rqlite.io/docs, Read Consistency"),
    promise("rqlite", "weak", "P-SER", "the default; after a change of leader a read may be stale for a moment", "rqlite.io/docs, Read Consistency"),
    promise("rqlite", "none", "P-SER", "reads of one node, stale by design", "rqlite.io/docs, Read Consistency"),
    promise("turso", "serializable", "SSER", "one connection writes at a time", "docs.turso.tech, Transactions"),
    promise("turso", "begin concurrent", "R-SI", "with journal_mode = mvcc", "docs.turso.tech, Concurrent Writes"),
    promise("duckdb", "snapshot isolation", "R-SI", "in one process", "duckdb.org/docs, Concurrency"),
    promise("scylladb", "lwt serial", "LIN", "of one partition, by lightweight transactions and reads at SERIAL", "docs.scylladb.com, Lightweight Transactions"),
    nothing("scylladb", "quorum", "reads and writes without LWT have no isolation across rows", "docs.scylladb.com, Consistency Levels"),
    promise("mongodb", "transaction causal session", "SI", "with read concern snapshot and write concern majority, in a causally consistent session", "MongoDB manual, Causal Consistency and Read and Write Concerns"),
    promise("mongodb", "transaction", "P-SI", "with read concern snapshot and write concern majority", "MongoDB manual, Causal Consistency and Read and Write Concerns"),
    promise("mongodb", "majority causal session", "TCC", "outside transactions, with read and write concern majority; all four session guarantees", "MongoDB manual, Causal Consistency and Read and Write Concerns"),
    promise("mongodb", "majority reads w:1", "MR", "in a causal session outside transactions; also writes-follow-reads", "MongoDB manual, Causal Consistency and Read and Write Concerns"),
    promise("mongodb", "local reads w:majority", "MW", "in a causal session outside transactions", "MongoDB manual, Causal Consistency and Read and Write Concerns"),
    nothing("mongodb", "local reads w:1", "in a causal session outside transactions", "MongoDB manual, Causal Consistency and Read and Write Concerns"),
    promise("redis", "multi watch", "SSER", "on one node", "redis.io, Transactions"),
    nothing("redis", "replicas", "nor across a failover", "redis.io, Replication"),
    promise("etcd", "default", "SSER", "for all calls on keys", "etcd.io/docs, KV API guarantees"),
    promise("etcd", "linearizable", "SSER", "the default of all calls on keys", "etcd.io/docs, KV API guarantees"),
    promise("etcd", "lock", "LIN", "one holder at a time, while no lease runs out", "etcd.io/docs, KV API guarantees"),
    promise("etcd", "serializable reads", "P-SER", "with --consistency=s reads may be stale", "etcd.io/docs, KV API guarantees"),
    promise("galera", "repeatable read", "P-SI", "documented as between serializable and repeatable read; in real time only with wsrep_sync_wait", "galeracluster.com, Isolation Levels"),
];
