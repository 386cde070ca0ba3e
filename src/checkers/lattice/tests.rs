use super::*;
use std::collections::BTreeSet;

#[test]
fn the_table_has_every_level_once_with_names_that_lead_to_it() {
    assert_eq!(levels().len(), 51);
    let codes: BTreeSet<&str> = levels().iter().map(|level| level.code.as_str()).collect();
    assert_eq!(codes.len(), levels().len());
    let mut keywords = BTreeSet::new();
    for level in levels() {
        for name in [level.code.to_lowercase(), level.name.to_uppercase()] {
            assert_eq!(named(&name).expect("a level").code, level.code, "{name}");
        }
        for keyword in level.elle {
            assert!(keywords.insert(*keyword), "{keyword} is two levels");
            let found = named(&format!(":{keyword}")).expect("a level");
            assert_eq!(found.code, level.code, "{keyword}");
        }
        assert!(BASES.iter().any(|base| base.code == level.base.code), "{}", level.code);
    }
}

#[test]
fn codes_and_long_names_of_levels_that_count_sessions_keep_their_meaning() {
    for level in Level::ALL {
        for name in [level.code(), level.long_name()].into_iter().chain(level.row().also.iter().copied()) {
            assert_eq!(named(name).expect("a level").decided(), Ok(level), "{name}");
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
        assert_eq!(named(name).expect("a level").code, code, "{name}");
    }
    for name in ["", ":", "foo", ":foo", "s-ci", "s-p-si", "plain-", "strong-read-your-writes"] {
        assert!(named(name).is_err(), "{name}");
    }
}

#[test]
fn what_is_not_decided_is_refused_in_one_line() {
    let open = levels().iter().filter(|level| level.decided.is_none());
    for level in open {
        let refused = named(&level.code).expect("a level").decided().expect_err("not decided");
        assert!(refused.starts_with(&level.code) && !refused.contains('\n'), "{refused}");
    }
}

#[test]
fn the_levels_that_are_decided_imply_what_the_lattice_says() {
    let decided = || levels().iter().filter_map(|level| Some((level, level.decided?)));
    assert_eq!(decided().count(), Level::EVERY.len());
    for (stronger, known) in decided() {
        for (weaker, other) in decided() {
            assert_eq!(known.implies(other), stronger.implies(weaker), "{known} and {other}");
        }
    }
}

#[test]
fn promises_name_levels_of_the_table() {
    let names: BTreeSet<String> = PROMISES.iter().map(Promise::name).collect();
    assert_eq!(names.len(), PROMISES.len());
    for promise in PROMISES {
        assert!(promise.level().is_none_or(|code| level(code).is_some()), "{promise:?}");
    }
}
