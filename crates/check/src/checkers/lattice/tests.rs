use super::*;
use std::collections::BTreeSet;

#[test]
fn the_table_has_every_level_once_with_names_that_lead_to_it() {
    assert_eq!(levels().len(), 55);
    let codes: BTreeSet<&str> = levels().iter().map(|level| level.code()).collect();
    assert_eq!(codes.len(), levels().len());
    let mut keywords = BTreeSet::new();
    for level in levels() {
        for name in [
            level.code().to_lowercase(),
            level.long_name().to_uppercase(),
        ] {
            assert_eq!(named(&name), Ok(*level), "{name}");
        }
        for keyword in level.row().elle {
            assert!(keywords.insert(*keyword), "{keyword} is two levels");
            assert_eq!(named(&format!(":{keyword}")), Ok(*level), "{keyword}");
        }
        assert!(level.code().ends_with(level.base().code), "{level}");
    }
}

#[test]
fn codes_and_long_names_of_levels_that_count_sessions_keep_their_meaning() {
    for level in Level::ALL {
        for name in [level.code(), level.long_name()]
            .into_iter()
            .chain(level.row().also.iter().copied())
        {
            assert_eq!(named(name), Ok(level), "{name}");
        }
    }
    for (name, code) in [
        ("snapshot-isolation", "SI"),
        (":snapshot-isolation", "P-SI"),
        ("s-si", "SI"),
        ("r-ser", "SSER"),
        ("session-serializability", "SER"),
        ("strong-snapshot-isolation", "R-SI"),
        ("plain-causal", "P-TCC"),
        (":PL-2+", "P-PSI"),
        ("update-serializability", "P-PL3U"),
        ("read-committed", "RC"),
        (":read-committed", "P-PL2"),
    ] {
        assert_eq!(named(name).expect("a level").code(), code, "{name}");
    }
    for name in [
        "",
        ":",
        "foo",
        ":foo",
        "s-ci",
        "s-p-si",
        "plain-",
        "strong-read-your-writes",
    ] {
        assert!(named(name).is_err(), "{name}");
    }
}

#[test]
fn the_lattice_has_every_level_once() {
    let of_lattice: BTreeSet<&str> = levels().iter().map(|level| level.code()).collect();
    assert_eq!(
        (of_lattice.len(), levels().len()),
        (Level::EVERY.len(), Level::EVERY.len())
    );
}

#[test]
fn promises_name_levels_of_the_table() {
    let names: BTreeSet<String> = PROMISES.iter().map(Promise::name).collect();
    assert_eq!(names.len(), PROMISES.len());
    for promise in PROMISES {
        assert!(
            promise
                .level()
                .is_none_or(|code| Level::with_code(code).is_some()),
            "{promise:?}"
        );
    }
}

#[test]
fn a_description_of_what_was_tested_names_promises() {
    let names = |text: &str| {
        let found = Promise::described(text);
        found.into_iter().map(Promise::name).collect::<Vec<_>>()
    };
    for (text, name) in [
        (
            "PostgreSQL 15.18 (Debian) at repeatable-read",
            "postgresql repeatable read",
        ),
        (
            "Postgres 17, REPEATABLE READ, one primary and one standby",
            "postgresql-standby repeatable read",
        ),
        (
            "MariaDB Galera 10.7, REPEATABLE READ",
            "galera repeatable read",
        ),
        ("TiDB v8.5 at READ COMMITTED", "tidb read committed"),
        (
            "mongo, transaction in a causal session",
            "mongodb transaction causal session",
        ),
    ] {
        assert_eq!(names(text), [name], "{text}");
    }
    let of_sqlite = ["sqlite serializable", "sqlite read uncommitted"];
    assert_eq!(names("SQLite 3.46"), of_sqlite);
    assert!(names("a store of our own, serializable").is_empty());
}
