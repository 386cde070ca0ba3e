//! The table of databases.

use super::CollectError;
use super::address::without_password;
use super::driver::{Driver, Isolation};

/// Opens a database at an isolation level.
pub type OpenFunction =
    fn(url: &str, isolation: &'static Isolation) -> Result<Box<dyn Driver>, CollectError>;

/// A row of the table of databases.
#[derive(Debug)]
pub struct Database {
    /// Its name.
    pub name: &'static str,
    /// What its addresses begin with.
    pub schemes: &'static [&'static str],
    /// What an address looks like.
    pub example: &'static str,
    /// Its levels, strongest first.
    pub isolations: &'static [Isolation],
    /// The driver; none if the program was built without it.
    pub open: Option<OpenFunction>,
}

const fn level(name: &'static str, promises: &'static str) -> Isolation {
    Isolation {
        name,
        promises: Some(promises),
    }
}

/// All databases, first the one that needs no installation.
pub const DATABASES: &[Database] = &[
    Database {
        name: "SQLite",
        schemes: &["sqlite"],
        example: "sqlite or sqlite:FILE",
        isolations: &[level("serializable", "SER"), level("immediate", "SER")],
        #[cfg(feature = "sqlite")]
        open: Some(super::sqlite::open),
        #[cfg(not(feature = "sqlite"))]
        open: None,
    },
    Database {
        name: "PostgreSQL",
        schemes: &["postgres", "postgresql", "cockroachdb", "yugabytedb"],
        example: "postgres://USER@HOST:5432/DATABASE",
        isolations: &[
            level("serializable", "SER"),
            level("repeatable-read", "SI"),
            level("read-committed", "RC"),
        ],
        #[cfg(feature = "postgres")]
        open: Some(super::postgres::open),
        #[cfg(not(feature = "postgres"))]
        open: None,
    },
    Database {
        name: "MySQL or MariaDB",
        schemes: &["mysql", "mariadb"],
        example: "mysql://USER@HOST:3306/DATABASE",
        isolations: &[
            level("serializable", "SER"),
            level("repeatable-read", "PC"),
            level("read-committed", "RC"),
            Isolation {
                name: "read-uncommitted",
                promises: None,
            },
        ],
        #[cfg(feature = "mysql")]
        open: Some(super::mysql::open),
        #[cfg(not(feature = "mysql"))]
        open: None,
    },
    Database {
        name: "Redis",
        schemes: &["redis", "rediss", "redis+unix"],
        example: "redis://HOST:6379",
        isolations: &[level("serializable", "SER"), level("read-committed", "RC")],
        #[cfg(feature = "redis")]
        open: Some(super::redis::open),
        #[cfg(not(feature = "redis"))]
        open: None,
    },
];

/// The database of an address.
pub fn database(url: &str) -> Result<&'static Database, CollectError> {
    let scheme = url.split(':').next().unwrap_or_default();
    let fits = |row: &&Database| {
        row.schemes
            .iter()
            .any(|known| known.eq_ignore_ascii_case(scheme))
    };
    DATABASES
        .iter()
        .find(fits)
        .ok_or_else(|| CollectError::UnknownDatabase {
            url: without_password(url),
            known: DATABASES
                .iter()
                .map(|row| row.example)
                .collect::<Vec<_>>()
                .join(", "),
        })
}

impl Database {
    /// The level of this name, in any case; the strongest if none is given.
    pub fn isolation(&self, name: Option<&str>) -> Result<&'static Isolation, CollectError> {
        let isolations = self.isolations;
        let Some(name) = name else {
            return Ok(&isolations[0]);
        };
        isolations
            .iter()
            .find(|isolation| isolation.name.eq_ignore_ascii_case(name))
            .ok_or_else(|| CollectError::UnknownIsolation {
                database: self.name,
                name: name.to_owned(),
                known: self
                    .isolations
                    .iter()
                    .map(|isolation| isolation.name)
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }

    /// Opens a driver at one of its levels.
    pub fn open(
        &self,
        url: &str,
        isolation: &'static Isolation,
    ) -> Result<Box<dyn Driver>, CollectError> {
        let open = self.open.ok_or(CollectError::NotBuilt(self.name))?;
        open(url, isolation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_databases() {
        let name = |url| database(url).map(|row| row.name);
        assert_eq!(name("sqlite"), Ok("SQLite"));
        assert_eq!(
            name("cockroachdb://root@localhost:26257/x"),
            Ok("PostgreSQL")
        );
        assert_eq!(name("MariaDB://u:p@h/d"), Ok("MySQL or MariaDB"));
        let error = name("oracle://me:secret@host")
            .expect_err("not there")
            .to_string();
        assert!(
            error.contains("oracle://me@host") && error.contains("sqlite:FILE"),
            "{error}"
        );
    }

    #[test]
    fn isolation_levels_have_names_in_any_case_and_the_strongest_is_the_default() {
        for row in DATABASES {
            assert_eq!(
                row.isolation(None).map(|level| level.name),
                Ok("serializable"),
                "{}",
                row.name
            );
            for level in row.isolations {
                assert_eq!(
                    row.isolation(Some(&level.name.to_uppercase()))
                        .map(|l| l.name),
                    Ok(level.name)
                );
            }
        }
        let error = DATABASES[0]
            .isolation(Some("chaos"))
            .map(|level| level.name);
        let message = error.map_err(|error| error.to_string());
        assert_eq!(
            message,
            Err("SQLite has no isolation level `chaos` here, expected one of serializable, immediate".into())
        );
    }
}
