//! Isolation settings as SQL names them.

use isoscope_check::checkers::Level;
use std::fmt;
use std::str::FromStr;

/// An isolation setting of SQL (ISO/IEC 9075-2), weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isolation {
    /// Reads may see uncommitted writes; PostgreSQL treats it as the next.
    ReadUncommitted,
    /// Each statement sees the writes committed before it.
    ReadCommitted,
    /// In PostgreSQL and its relatives: each transaction reads from a snapshot (SI).
    RepeatableRead,
    /// As if one after the other.
    Serializable,
}

impl Isolation {
    /// All settings, weakest first.
    pub const ALL: [Isolation; 4] = [
        Isolation::ReadUncommitted,
        Isolation::ReadCommitted,
        Isolation::RepeatableRead,
        Isolation::Serializable,
    ];

    /// As written in SQL.
    pub fn sql(self) -> &'static str {
        match self {
            Isolation::ReadUncommitted => "READ UNCOMMITTED",
            Isolation::ReadCommitted => "READ COMMITTED",
            Isolation::RepeatableRead => "REPEATABLE READ",
            Isolation::Serializable => "SERIALIZABLE",
        }
    }

    /// The weakest setting that PostgreSQL promises to be at least `level`. Levels without their own setting get the
    /// next stronger one.
    pub fn claiming(level: Level) -> Isolation {
        if level.is_serial() {
            Isolation::Serializable
        } else if level.implies(Level::CutIsolation) {
            Isolation::RepeatableRead
        } else {
            Isolation::ReadCommitted
        }
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sql())
    }
}

impl FromStr for Isolation {
    type Err = String;

    /// `REPEATABLE READ` in any case, with blanks, dashes or underscores; or a level's code or name, which denotes the
    /// setting [claiming](Isolation::claiming) it.
    fn from_str(text: &str) -> Result<Isolation, String> {
        let words = |text: &str| text.trim().to_ascii_lowercase().replace(['-', '_'], " ");
        let named = Isolation::ALL
            .into_iter()
            .find(|setting| words(setting.sql()) == words(text));
        let of_level = || text.parse().ok().map(Isolation::claiming);
        named.or_else(of_level).ok_or_else(|| {
            let names =
                Isolation::ALL.map(|setting| setting.sql().to_ascii_lowercase().replace(' ', "-"));
            format!(
                "unknown isolation setting `{text}`, expected one of {} or a level",
                names.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_levels_name_settings() {
        for setting in Isolation::ALL {
            assert_eq!(setting.sql().parse(), Ok(setting));
            assert_eq!(
                setting.sql().to_lowercase().replace(' ', "-").parse(),
                Ok(setting)
            );
        }
        assert_eq!("SI".parse(), Ok(Isolation::RepeatableRead));
        assert_eq!("serializability".parse(), Ok(Isolation::Serializable));
        assert!(
            "chaos"
                .parse::<Isolation>()
                .unwrap_err()
                .contains("read-committed")
        );
    }
}
