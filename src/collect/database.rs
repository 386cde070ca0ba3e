//! The table of databases.

use super::CollectError;
use super::driver::Driver;

/// An isolation level of a database.
#[derive(Clone, Copy, Debug)]
pub struct Isolation {
    /// Its name on the command line.
    pub name: &'static str,
    /// The code of the strongest level that it is documented to satisfy, if that level can be checked.
    pub promises: Option<&'static str>,
}

/// Opens a database at an isolation level.
pub type OpenFunction = fn(url: &str, isolation: &'static Isolation) -> Result<Box<dyn Driver>, CollectError>;

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
    Isolation { name, promises: Some(promises) }
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
        isolations: &[level("serializable", "SER"), level("repeatable-read", "SI"), level("read-committed", "RC")],
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
            Isolation { name: "read-uncommitted", promises: None },
        ],
        #[cfg(feature = "mysql")]
        open: Some(super::mysql::open),
        #[cfg(not(feature = "mysql"))]
        open: None,
    },
    Database {
        name: "Redis",
        schemes: &["redis", "redis+unix"],
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
    let fits = |row: &&Database| row.schemes.iter().any(|known| known.eq_ignore_ascii_case(scheme));
    DATABASES.iter().find(fits).ok_or_else(|| CollectError::UnknownDatabase {
        url: without_password(url),
        known: DATABASES.iter().map(|row| row.example).collect::<Vec<_>>().join(", "),
    })
}

impl Database {
    /// The level of this name, in any case; the strongest if none is given.
    pub fn isolation(&self, name: Option<&str>) -> Result<&'static Isolation, CollectError> {
        let isolations = self.isolations;
        let Some(name) = name else { return Ok(&isolations[0]) };
        isolations.iter().find(|isolation| isolation.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            CollectError::UnknownIsolation {
                database: self.name,
                name: name.to_owned(),
                known: self.isolations.iter().map(|isolation| isolation.name).collect::<Vec<_>>().join(", "),
            }
        })
    }

    /// Opens a driver at one of its levels.
    pub fn open(&self, url: &str, isolation: &'static Isolation) -> Result<Box<dyn Driver>, CollectError> {
        let open = self.open.ok_or(CollectError::NotBuilt(self.name))?;
        open(url, isolation)
    }
}

/// An address without its password, for display and recording.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        // Possibly settings like those of libpq.
        return hidden(url, &[' ']);
    };
    let rest = hidden(rest, &['&', '#']);
    match rest.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{host}")
        }
        None => format!("{scheme}://{rest}"),
    }
}

/// Settings without the values of passwords. A value ends at one of `ends`, or where its quotes do.
fn hidden(settings: &str, ends: &[char]) -> String {
    const NAME: &str = "password=";
    let mut shown = String::with_capacity(settings.len());
    let mut rest = settings;
    while let Some(at) = rest.find(NAME) {
        let (before, value) = rest.split_at(at + NAME.len());
        shown.push_str(before);
        shown.push('…');
        let quoted = value.strip_prefix('\'').map(|value| {
            let mut escaped = false;
            let end = value.find(|c| {
                let ends = c == '\'' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            end.map_or("", |end| &value[end + 1..])
        });
        rest = quoted.unwrap_or_else(|| value.find(ends).map_or("", |end| &value[end..]));
    }
    shown + rest
}

/// The address with the scheme that the client crate knows.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) fn with_scheme(url: &str, scheme: &str) -> String {
    match url.split_once(':') {
        Some((_, rest)) => format!("{scheme}:{rest}"),
        None => format!("{scheme}://"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_databases_and_hide_passwords() {
        let name = |url| database(url).map(|row| row.name);
        assert_eq!(name("sqlite"), Ok("SQLite"));
        assert_eq!(name("cockroachdb://root@localhost:26257/x"), Ok("PostgreSQL"));
        assert_eq!(name("MariaDB://u:p@h/d"), Ok("MySQL or MariaDB"));
        let error = name("oracle://me:secret@host").expect_err("not there").to_string();
        assert!(error.contains("oracle://me@host") && error.contains("sqlite:FILE"), "{error}");
        assert_eq!(without_password("postgres:host=h password=p user=u"), "postgres:host=h password=… user=u");
        assert_eq!(without_password("redis://:p@h:1"), "redis://@h:1");
        assert_eq!(without_password("postgres:password='a b\\' c' user=u"), "postgres:password=… user=u");
        assert_eq!(without_password("postgres://h/d?password=p&user=u"), "postgres://h/d?password=…&user=u");
    }

    #[test]
    fn isolation_levels_have_names_in_any_case_and_the_strongest_is_the_default() {
        for row in DATABASES {
            assert_eq!(row.isolation(None).map(|level| level.name), Ok("serializable"), "{}", row.name);
            for level in row.isolations {
                assert_eq!(row.isolation(Some(&level.name.to_uppercase())).map(|l| l.name), Ok(level.name));
            }
        }
        let error = DATABASES[0].isolation(Some("chaos")).map(|level| level.name);
        let message = error.map_err(|error| error.to_string());
        assert_eq!(
            message,
            Err("SQLite has no isolation level `chaos` here, expected one of serializable, immediate".into())
        );
    }
}
