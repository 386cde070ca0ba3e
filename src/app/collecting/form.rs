//! The form for a run: a word for each field, parsed when the run begins.

use super::address::{Address, Secret};
use super::order::{Order, Purpose};
use super::servers::{self, Server};
use crate::checkers::Level;
use crate::collect::{self, ClientOptions, DATABASES, Database, FaultForm, FaultPlan};
use crate::generate::{FAULTS, Injection, Kind, Model, Workload};
use crate::hunt::Target;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Name of the store models in the list of databases.
pub const STORE: &str = "Store in memory";
/// The word of a field that is on.
pub const YES: &str = "yes";
/// The word of a field that is off.
pub const NO: &str = "no";
/// How long a client tries to reconnect to a database.
const PATIENCE: Duration = Duration::from_secs(2);
/// What is expected where a time is not understood.
const SECONDS: &str = "expected a number of seconds";
/// Rounds of a hunt if neither their number nor a time is given.
const ROUNDS: u64 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// Kind of workload.
    Workload,
    /// Number of sessions.
    Sessions,
    /// Transactions of each session.
    Transactions,
    /// Operations of each transaction.
    Operations,
    /// Number of keys.
    Keys,
    ReadShare,
    /// Share of writes behind a read of the key.
    UpdateShare,
    /// How often each key is touched.
    Distribution,
    /// Seed of the random numbers.
    Seed,
    /// The database, or a store model.
    Database,
    Address,
    /// Its isolation level.
    Isolation,
    /// What goes wrong, in a store model or with a database.
    Faults,
    /// Seconds between two faults of a database.
    Every,
    /// Seconds that a fault of a database lasts.
    Lasting,
    /// How often an aborted transaction is tried again.
    Retries,
    /// The level to check.
    Level,
    /// Where to record.
    File,
    /// Time limit.
    Seconds,
    /// Maximum number of rounds of a hunt.
    Rounds,
    /// Keep histories of rounds without violation.
    Keep,
    /// Open a history with a violation when the run is over.
    OpenViolated,
}

/// Everything constant about a field.
#[derive(Debug)]
pub struct FieldRow {
    pub field: Field,
    /// Its name, in the window and among the settings.
    pub name: &'static str,
    /// Its initial value.
    pub default: &'static str,
    /// What it means.
    pub about: &'static str,
}

#[rustfmt::skip]
static ROWS: [FieldRow; 22] = [
    FieldRow { field: Field::Workload, name: "Workload", default: "general", about: "What kind of transactions clients run" },
    FieldRow { field: Field::Sessions, name: "Sessions", default: "10", about: "Clients, each with a connection and a thread" },
    FieldRow { field: Field::Transactions, name: "Transactions", default: "100", about: "Transactions of each session" },
    FieldRow { field: Field::Operations, name: "Operations", default: "8", about: "Operations of each transaction: a number, or a range such as 5..20" },
    FieldRow { field: Field::Keys, name: "Keys", default: "100", about: "Distinct keys; users, items or warehouses of an application" },
    FieldRow { field: Field::ReadShare, name: "Read share", default: "0.5", about: "Share of reads among the operations, 0 to 1" },
    FieldRow { field: Field::UpdateShare, name: "Update share", default: "0", about: "Share of the writes before which the key is read, 0 to 1" },
    FieldRow { field: Field::Distribution, name: "Distribution", default: "uniform", about: "How often each key is touched; zipf:EXPONENT can be typed" },
    FieldRow { field: Field::Seed, name: "Seed", default: "1", about: "The same seed is the same workload" },
    FieldRow { field: Field::Database, name: "Database", default: "SQLite", about: "Where the workload runs" },
    FieldRow { field: Field::Address, name: "Address", default: "", about: "Tables or keys named isoscope are replaced there" },
    FieldRow { field: Field::Isolation, name: "Isolation", default: "", about: "Isolation level of the run" },
    FieldRow { field: Field::Faults, name: "Faults", default: "", about: "What goes wrong while the workload runs" },
    FieldRow { field: Field::Every, name: "Every", default: "5", about: "Seconds from the end of a fault to the beginning of the next" },
    FieldRow { field: Field::Lasting, name: "For", default: "2", about: "Seconds that a fault lasts" },
    FieldRow { field: Field::Retries, name: "Retries", default: "0", about: "How many times an aborted transaction is retried, with other values" },
    FieldRow { field: Field::Level, name: "Check", default: "as promised", about: "The level that is checked while the history grows, and in each round of a hunt" },
    FieldRow { field: Field::File, name: "Record to", default: "", about: "Where the history is recorded; a file that is there is never overwritten" },
    FieldRow { field: Field::Seconds, name: "Seconds", default: "", about: "After this a run ends, and in a hunt no round begins" },
    FieldRow { field: Field::Rounds, name: "Rounds", default: "", about: "Rounds of a hunt, each with the next seed; 10, or as many as the seconds allow" },
    FieldRow { field: Field::Keep, name: "Keep all histories", default: NO, about: "Keep also the histories of rounds without violation" },
    FieldRow { field: Field::OpenViolated, name: "Open when violated", default: YES, about: "Open the history at its violation as soon as the run is over" },
];

/// The word for checking what the database promises.
pub const PROMISED: &str = "as promised";

impl Field {
    pub fn table() -> &'static [FieldRow] {
        &ROWS
    }

    /// Its row in the table.
    pub fn row(self) -> &'static FieldRow {
        ROWS.iter()
            .find(|row| row.field == self)
            .unwrap_or(&ROWS[0])
    }
}

/// What is wrong, and with which field, if it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The field to show it at.
    pub field: Option<Field>,
    /// In one line.
    pub text: String,
}

/// The fields as filled in.
#[derive(Clone, Debug, Default)]
pub struct Form {
    /// By name of the field; those of a database by name and database. What is missing has its initial value.
    words: BTreeMap<String, String>,
    /// By database, its servers.
    servers: BTreeMap<String, Vec<Server>>,
    /// What breaks while a workload runs on a database. Commands may contain passwords, so it is not kept.
    breaks: Vec<FaultForm>,
    passwords: BTreeMap<String, Secret>,
    /// Where histories go by default.
    folder: PathBuf,
}

impl Form {
    /// Initial values, or as last used: `words` are what [`kept`](Form::kept) returned. Histories go to `folder`.
    pub fn new(words: BTreeMap<String, String>, folder: PathBuf) -> Form {
        let mut form = Form {
            folder,
            ..Form::default()
        };
        for (name, word) in words {
            match (
                name.strip_prefix("Servers of "),
                name.strip_prefix("Address of "),
            ) {
                (Some(database), _) => drop(
                    form.servers
                        .insert(database.to_owned(), servers::read(&word)),
                ),
                // As earlier versions kept it.
                (_, Some(database)) => drop(
                    form.servers
                        .insert(database.to_owned(), vec![Server::typed(word)]),
                ),
                _ => drop(form.words.insert(name, word)),
            }
        }
        form
    }

    /// What may be kept until the next start. It contains no password.
    pub fn kept(&self) -> BTreeMap<String, String> {
        let mut words = self.words.clone();
        words.remove(Field::File.row().name);
        for (database, servers) in &self.servers {
            words.insert(format!("Servers of {database}"), servers::kept(servers));
        }
        words
    }

    /// The text in a field.
    pub fn word(&self, field: Field) -> &str {
        if field == Field::Address {
            return self
                .servers()
                .first()
                .map_or("", |server| server.address.shown());
        }
        let word = self.words.get(&self.name(field)).map(String::as_str);
        match (word, field) {
            (None, Field::Isolation) => self.isolations().first().map_or("", |(name, _)| name),
            (word, _) => word.unwrap_or(field.row().default),
        }
    }

    /// Whether a field is on.
    pub fn is_on(&self, field: Field) -> bool {
        self.word(field) == YES
    }

    /// Fills in a field. An address of a database other than the selected one selects that database.
    pub fn set(&mut self, field: Field, word: String) {
        if field != Field::Address {
            self.words.insert(self.name(field), word);
            return;
        }
        let known = collect::database(&word).ok().filter(|_| word.contains(':'));
        if let Some(row) = known.filter(|row| {
            self.database()
                .is_some_and(|chosen| chosen.name != row.name)
        }) {
            self.set(Field::Database, row.name.to_owned());
        }
        let mut servers = self.servers().to_vec();
        match servers.first_mut() {
            Some(first) => first.address = Address::typed(word),
            None => servers.push(Server::typed(word)),
        }
        self.set_servers(servers);
    }

    /// The servers of the selected database; none before an address was filled in.
    pub fn servers(&self) -> &[Server] {
        self.servers
            .get(self.word(Field::Database))
            .map_or(&[], Vec::as_slice)
    }

    /// Sets the servers of the selected database.
    pub fn set_servers(&mut self, servers: Vec<Server>) {
        self.servers
            .insert(self.word(Field::Database).to_owned(), servers);
    }

    /// What breaks while a workload runs on a database.
    pub fn breaks(&self) -> &[FaultForm] {
        &self.breaks
    }

    /// Sets what breaks while a workload runs on a database.
    pub fn set_breaks(&mut self, breaks: Vec<FaultForm>) {
        self.breaks = breaks;
    }

    pub fn hide_passwords(&mut self) {
        self.servers
            .values_mut()
            .flatten()
            .for_each(|server| server.address.hide());
    }

    /// Whether an address of the selected database has a hidden password.
    pub fn hides_password(&self) -> bool {
        self.servers().iter().any(|server| server.address.hides())
    }

    /// The password for the selected database.
    pub fn password(&self) -> Secret {
        self.passwords
            .get(self.word(Field::Database))
            .cloned()
            .unwrap_or_default()
    }

    /// Sets the password for the selected database.
    pub fn set_password(&mut self, password: Secret) {
        self.passwords
            .insert(self.word(Field::Database).to_owned(), password);
    }

    fn name(&self, field: Field) -> String {
        let name = field.row().name;
        match field {
            Field::Isolation => format!("{name} of {}", self.word(Field::Database)),
            _ => name.to_owned(),
        }
    }

    /// The selected database; none is a store model.
    pub fn database(&self) -> Option<&'static Database> {
        DATABASES
            .iter()
            .find(|row| row.name == self.word(Field::Database))
    }

    /// The available isolation levels, strongest first, with the codes of what each promises.
    pub fn isolations(&self) -> Vec<(&'static str, Option<&'static str>)> {
        match self.database() {
            Some(database) => database
                .isolations
                .iter()
                .map(|level| (level.name, level.promises))
                .collect(),
            None => Model::ALL
                .into_iter()
                .map(|model| (model.name(), Some(model.promises())))
                .collect(),
        }
    }

    /// What is promised at the selected isolation level.
    pub fn promise(&self) -> Option<Level> {
        let isolations = self.isolations();
        let chosen = isolations
            .iter()
            .find(|(name, _)| *name == self.word(Field::Isolation));
        chosen.and_then(|(_, promise)| promise.and_then(|code| code.parse().ok()))
    }

    /// Whether a field is relevant, given the values of others.
    pub fn asks_for(&self, field: Field) -> bool {
        let kind = self.word(Field::Workload).parse().unwrap_or(Kind::General);
        let is_application = matches!(kind, Kind::Twitter | Kind::Rubis | Kind::Tpcc);
        match field {
            Field::Operations => kind.has_length(),
            Field::ReadShare => !is_application,
            Field::UpdateShare => matches!(kind, Kind::General | Kind::DisjointWrites),
            Field::Address | Field::Retries => self.database().is_some(),
            Field::Every | Field::Lasting => self.database().is_some() && !self.breaks.is_empty(),
            _ => true,
        }
    }

    /// The selected faults, and how often each happens.
    pub fn faults(&self) -> Vec<Injection> {
        self.word(Field::Faults)
            .split(',')
            .filter_map(|word| word.trim().parse().ok())
            .collect()
    }

    /// The word for these faults.
    pub fn faults_word(faults: &[Injection]) -> String {
        faults
            .iter()
            .map(|i| format!("{}={}", i.fault.name, i.times))
            .collect::<Vec<_>>()
            .join(",")
    }

    /// The word with one more fault: the one at this index of the table.
    pub fn with_fault(&self, place: usize) -> String {
        let mut faults = self.faults();
        if let Some(fault) = FAULTS.get(place) {
            match faults
                .iter_mut()
                .find(|injection| injection.fault.name == fault.name)
            {
                Some(injection) => injection.times = injection.times.saturating_add(1),
                None => faults.push(Injection { fault, times: 1 }),
            }
        }
        Form::faults_word(&faults)
    }

    /// What clients do.
    pub fn workload(&self) -> Result<Workload, Trouble> {
        Ok(Workload {
            kind: self.parsed(Field::Workload)?,
            seed: self.parsed(Field::Seed)?,
            sessions: self.number(Field::Sessions, 1, 100_000)? as u32,
            transactions: self.number(Field::Transactions, 1, 1_000_000_000)?,
            operations: self.parsed(Field::Operations)?,
            keys: self.number(Field::Keys, 1, 1_000_000_000)?,
            distribution: self.parsed(Field::Distribution)?,
            read_share: self.share(Field::ReadShare)?,
            update_share: self.share(Field::UpdateShare)?,
        })
    }

    /// Everything a run needs, or what is wrong with a field.
    pub fn order(&self, purpose: Purpose) -> Result<Order, Trouble> {
        let isolation = self.word(Field::Isolation);
        let mut isolations: Vec<&'static str> = self
            .isolations()
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        if purpose != Purpose::Compare {
            isolations.retain(|name| *name == isolation);
        }
        let targets = isolations
            .into_iter()
            .map(|name| self.target(name))
            .collect::<Result<Vec<_>, _>>()?;
        let level = match self.word(Field::Level) {
            PROMISED => None,
            word => Some(word.parse().map_err(|text| at(Field::Level, text))?),
        };
        if purpose == Purpose::Hunt && level.is_none() && self.servers().len() > 1 {
            let text =
                "what is promised is for one server: choose what to check across all of them";
            return Err(at(Field::Level, text));
        }
        if purpose == Purpose::Hunt && level.is_none() && self.promise().is_none() {
            let text = format!("{isolation} promises no level that is checked here: choose one");
            return Err(at(Field::Level, text));
        }
        let seconds = match self.word(Field::Seconds).trim() {
            "" => None,
            _ => Some(self.number(Field::Seconds, 1, 1_000_000)?),
        };
        let rounds = match (self.word(Field::Rounds).trim(), seconds) {
            ("", None) => ROUNDS,
            ("", Some(_)) => u64::MAX,
            _ => self.number(Field::Rounds, 1, u64::MAX)?,
        };
        let file = self.word(Field::File).trim();
        Ok(Order {
            purpose,
            targets,
            workload: self.workload()?,
            level,
            file: (!file.is_empty()).then(|| PathBuf::from(file)),
            folder: self.folder.clone(),
            database: self.database().map_or("store", |row| row.schemes[0]),
            time: seconds.map(Duration::from_secs),
            rounds,
            keep: self.is_on(Field::Keep),
        })
    }

    /// Where a run would be recorded now, if everything is filled in.
    pub fn file(&self) -> Option<PathBuf> {
        let order = self.order(Purpose::Run).ok()?;
        Some(order.path(order.workload.seed, self.word(Field::Isolation)))
    }

    fn target(&self, isolation: &'static str) -> Result<Target, Trouble> {
        let Some(database) = self.database() else {
            let parse = |word: &str| {
                word.parse::<Injection>()
                    .map_err(|text| at(Field::Faults, text))
            };
            let words = self
                .word(Field::Faults)
                .split(',')
                .map(str::trim)
                .filter(|word| !word.is_empty());
            let model = isolation
                .parse()
                .map_err(|text| at(Field::Isolation, text))?;
            return Ok(Target::Store {
                model,
                faults: words.map(parse).collect::<Result<_, _>>()?,
            });
        };
        let servers = self.addresses(database)?;
        let retries = self.number(Field::Retries, 0, 1000)? as u32;
        let clients = ClientOptions {
            retries,
            patience: PATIENCE,
            ..ClientOptions::default()
        };
        let seconds = |field| {
            if self.breaks.is_empty() {
                Ok(Duration::ZERO)
            } else {
                self.parsed(field).and_then(|time| {
                    Duration::try_from_secs_f64(time).map_err(|_| at(field, SECONDS))
                })
            }
        };
        let (every, lasting) = (seconds(Field::Every)?, seconds(Field::Lasting)?);
        let faults = FaultPlan {
            forms: self.breaks.clone(),
            every,
            lasting,
        };
        Ok(Target::Database {
            servers,
            isolation: Some(isolation.to_owned()),
            clients,
            faults,
        })
    }

    /// The addresses of the servers.
    fn addresses(&self, database: &Database) -> Result<Vec<collect::Address>, Trouble> {
        let only = [Server::default()];
        let servers = if self.servers().is_empty() {
            &only
        } else {
            self.servers()
        };
        let is_file = database.schemes.contains(&"sqlite");
        let address = |server: &Server| {
            let address = server.address(&self.password(), if is_file { "sqlite" } else { "" });
            let address = address.map_err(|text| at(Field::Address, text))?;
            if address.url.is_empty() {
                return Err(at(
                    Field::Address,
                    format!("where is the database? {}", database.example),
                ));
            }
            match collect::database(&address.url) {
                Err(error) => Err(at(Field::Address, error)),
                Ok(row) if row.name != database.name => Err(at(
                    Field::Address,
                    format!("an address of {}, not of {}", row.name, database.name),
                )),
                Ok(_) => Ok(address),
            }
        };
        servers.iter().map(address).collect()
    }

    fn parsed<T: FromStr<Err: ToString>>(&self, field: Field) -> Result<T, Trouble> {
        // A hidden field cannot be corrected.
        let word = if self.asks_for(field) {
            self.word(field)
        } else {
            field.row().default
        };
        word.trim()
            .parse()
            .map_err(|error: T::Err| at(field, error.to_string()))
    }

    fn number(&self, field: Field, least: u64, most: u64) -> Result<u64, Trouble> {
        let number = self
            .parsed(field)
            .ok()
            .filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| {
            at(
                field,
                format!("expected a whole number of at least {least}"),
            )
        })
    }

    fn share(&self, field: Field) -> Result<f64, Trouble> {
        let share = self
            .parsed(field)
            .ok()
            .filter(|share| (0.0..=1.0).contains(share));
        share.ok_or_else(|| at(field, "expected a number from 0 to 1"))
    }
}

fn at(field: Field, text: impl ToString) -> Trouble {
    Trouble {
        field: Some(field),
        text: text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(words: &[(Field, &str)]) -> Form {
        let mut form = Form::new(BTreeMap::new(), PathBuf::from("histories"));
        words
            .iter()
            .for_each(|(field, word)| form.set(*field, (*word).to_owned()));
        form
    }

    #[test]
    fn every_field_has_a_row_and_its_default_is_understood() {
        for row in Field::table() {
            assert!(
                std::ptr::eq(row.field.row(), row)
                    && !row.about.is_empty()
                    && !row.about.ends_with('.'),
                "{row:?}"
            );
        }
        let order = form(&[]).order(Purpose::Run).expect("nothing is missing");
        assert_eq!(
            format!("{:?}", order.workload),
            format!("{:?}", Workload::default())
        );
        assert_eq!(
            order.path(7, "immediate"),
            PathBuf::from("histories/sqlite-immediate-general-seed-7.edn")
        );
        assert_eq!(
            (order.targets.len(), order.rounds, order.level),
            (1, ROUNDS, None)
        );
        assert_eq!(
            form(&[])
                .order(Purpose::Compare)
                .map(|order| order.targets.len()),
            Ok(2)
        );
        let timed = form(&[(Field::Seconds, "60")])
            .order(Purpose::Hunt)
            .expect("nothing is missing");
        assert_eq!(
            (timed.rounds, timed.time),
            (u64::MAX, Some(Duration::from_secs(60)))
        );
    }

    #[test]
    fn what_is_wrong_is_said_of_its_field() {
        let error = |words: &[(Field, &str)], purpose| {
            form(words)
                .order(purpose)
                .map(|_| ())
                .expect_err("wrong")
                .field
        };
        for (field, word) in [
            (Field::Sessions, "0"),
            (Field::Transactions, "many"),
            (Field::Operations, "9..3"),
            (Field::ReadShare, "1.1"),
            (Field::Distribution, "odd"),
            (Field::Seed, "-1"),
            (Field::Seconds, "x"),
            (Field::Rounds, "0"),
            (Field::Retries, "-2"),
            (Field::Address, "oracle://h"),
        ] {
            assert_eq!(error(&[(field, word)], Purpose::Run), Some(field), "{word}");
        }
        let mysql = [(Field::Database, "MySQL or MariaDB")];
        assert_eq!(
            error(&mysql, Purpose::Run),
            Some(Field::Address),
            "it has no address yet"
        );
        let nothing = [
            mysql[0],
            (Field::Address, "mysql://h/d"),
            (Field::Isolation, "read-uncommitted"),
        ];
        assert!(
            form(&nothing).order(Purpose::Run).is_ok(),
            "it can be recorded"
        );
        assert_eq!(
            error(&nothing, Purpose::Hunt),
            Some(Field::Level),
            "but there is nothing to hunt for"
        );
    }

    #[test]
    fn each_database_keeps_its_address_and_its_level_and_no_password() {
        let mut form = form(&[
            (Field::Address, "sqlite:a.db"),
            (Field::Isolation, "immediate"),
            (Field::File, "x.edn"),
        ]);
        form.set(Field::Address, "postgres://me:secret@h/d".to_owned());
        assert_eq!(form.word(Field::Database), "PostgreSQL");
        assert_eq!(
            (form.word(Field::Isolation), form.promise()),
            ("serializable", Some(Level::Serializability))
        );
        form.set_password(Secret::new("other"));
        let kept = form.kept();
        assert!(
            kept.values()
                .all(|word| !word.contains("secret") && !word.contains("other")),
            "{kept:?}"
        );
        assert!(
            !kept.contains_key(Field::File.row().name),
            "what is there already is not recorded to again"
        );
        let mut again = Form::new(kept, PathBuf::new());
        assert_eq!(again.word(Field::Address), "postgres://me@h/d");
        again.set(Field::Database, "SQLite".to_owned());
        assert_eq!(
            (again.word(Field::Address), again.word(Field::Isolation)),
            ("sqlite:a.db", "immediate")
        );
    }
}
