//! The first line of a recording of IsoScope: which database it was, which workload ran, and how to run it again.

use super::Input;
use isoscope_model::history::visible;

/// What begins it, behind the sign of a comment.
pub const RECORDED: &str = "isoscope: ";
/// What precedes the settings of the run in it, arguments of the command line.
pub const AGAIN: &str = "; again: ";
/// What precedes what clients did otherwise than usual, and the faults, likewise.
pub const OPTIONS: &str = "; options ";
/// What precedes the workload.
const WORKLOAD: &str = "; workload ";
/// What precedes the names of the faults.
const FAULTS: &str = ", faults ";
/// What a database is called that is reached through a driver program.
const PROGRAM: &str = "driver program";

/// What the description of a recording says, as `what: words`; nothing for other files.
pub(super) fn about(input: &Input<'_>) -> Vec<String> {
    let described = || {
        let line = input
            .bytes()
            .strip_prefix(b"; ")?
            .strip_prefix(RECORDED.as_bytes())?;
        let line = line.split(|&byte| byte == b'\n').next()?;
        described(std::str::from_utf8(line).ok()?, input.name())
    };
    described().unwrap_or_default()
}

fn described(line: &str, path: &str) -> Option<Vec<String>> {
    let (rest, settings) = line.rsplit_once(AGAIN)?;
    let (rest, workload) = rest.rsplit_once(WORKLOAD)?;
    let isolation = settings.strip_prefix("--isolation ")?.split(' ').next()?;
    let (version, place) = rest.split_once(&format!(" at {isolation}, "))?;
    let (place, faults) = place.split_once(FAULTS).unwrap_or((place, ""));
    let (product, servers) = place.split_once(" on ").unwrap_or_default();
    // A store in memory has no servers.
    let faults = place.strip_prefix("faults ").unwrap_or(faults);
    let (workload, options) = workload.split_once(OPTIONS).unwrap_or((workload, ""));
    let known = [
        ("version", version),
        ("isolation", isolation),
        ("servers", servers),
        ("faults", faults),
    ];
    let known = known
        .into_iter()
        .chain([("workload", workload)])
        .filter(|(_, words)| !words.is_empty());
    let mut about: Vec<String> = known
        .map(|(what, words)| format!("{what}: {words}"))
        .collect();
    if !servers.is_empty() {
        let option = if product == PROGRAM { "--exec" } else { "--db" };
        let servers: Vec<String> = servers
            .split(" and ")
            .map(|server| format!(" {option} {}", quoted(server)))
            .collect();
        let again = format!(
            "again: isoscope reproduce {}{} {options}",
            quoted(path),
            servers.concat()
        );
        about.push(again.trim_end().to_owned());
    }
    Some(about.iter().map(|line| visible(line)).collect())
}

/// One word for a shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=,@+".contains(&byte);
    if word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_of_a_recording_says_how_to_run_it_again() {
        let line = "; isoscope: PostgreSQL 15.18 (Debian) at repeatable-read, PostgreSQL on a=postgres://me@h/test and \
                    b=postgres:host=/tmp port=1,read-only, faults pause-b; workload mini, seed 3, 2 sessions; options --pause b=7 --every 5 --for 2; again: \
                    --isolation repeatable-read --workload mini\n{}\n";
        let expected = [
            "version: PostgreSQL 15.18 (Debian)",
            "isolation: repeatable-read",
            "servers: a=postgres://me@h/test and b=postgres:host=/tmp port=1,read-only",
            "faults: pause-b",
            "workload: mini, seed 3, 2 sessions",
            "again: isoscope reproduce seed-3.edn --db a=postgres://me@h/test --db 'b=postgres:host=/tmp port=1,read-only' \
             --pause b=7 --every 5 --for 2",
        ];
        assert_eq!(about(&Input::new("seed-3.edn", line.as_bytes())), expected);
        for other in [
            "",
            "; isoscope: x",
            "{:index 0}\n; isoscope: a at b, c; workload d; again: --isolation b",
        ] {
            assert!(
                about(&Input::new("a.edn", other.as_bytes())).is_empty(),
                "{other}"
            );
        }
    }

    #[test]
    fn words_for_a_shell_are_quoted() {
        assert_eq!(
            ["a=b", "it's", "$(x)"].map(quoted),
            ["a=b", r"'it'\''s'", "'$(x)'"]
        );
    }
}
