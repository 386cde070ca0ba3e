//! A format of one's own: lines such as `client1 T7 read stock 3` are read into a history, whose verdicts are printed.
//!
//! `cargo run --example own_format < lines.txt`; without input it reads lines of its own, which contain a write skew.

use isoscope::audit;
use isoscope::checkers::{Level, Options};
use isoscope::control::Control;
use isoscope::history::{Builder, Draft, History, OperationKind, Origin, Outcome};
use std::collections::HashMap;
use std::io::{IsTerminal, Read};

const LINES: &str = "\
a T1 read x 0
b T2 read y 0
a T1 write y 1
b T2 write x 1
";

/// Reads lines of session, transaction, `read` or `write`, key and value. Errors: a line that is not so, with its number.
fn parse(text: &str) -> Result<History, String> {
    let mut builder = Builder::new(Origin::default());
    let zero = builder.value_number(0);
    builder.initial_value(zero);
    let mut drafts: HashMap<&str, Draft> = HashMap::new();
    for (line, number) in text.lines().zip(1..) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [session, name, verb, key, value] = words[..] else {
            return Err(format!(
                "line {number}: expected session, transaction, verb, key and value"
            ));
        };
        let kind = match verb {
            "read" => OperationKind::Read,
            "write" => OperationKind::Write,
            _ => {
                return Err(format!(
                    "line {number}: expected read or write, found {verb}"
                ));
            }
        };
        let value: u64 = value
            .parse()
            .map_err(|error| format!("line {number}: {value}: {error}"))?;
        let session = builder.session_name(session);
        let draft = *drafts.entry(name).or_insert_with(|| {
            let draft = builder.transaction(session, Outcome::Committed);
            builder.name_transaction(draft, name);
            draft
        });
        let (key, value) = (builder.key_name(key), builder.value_number(value));
        builder.operation(draft, kind, key, value, number);
    }
    builder.finish().map_err(|error| error.to_string())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    if !std::io::stdin().is_terminal() {
        std::io::stdin().read_to_string(&mut text)?;
    }
    let history = parse(if text.trim().is_empty() { LINES } else { &text })?;
    let options = Options {
        levels: Level::of(&history),
        ..Options::default()
    };
    let findings = audit::check(&history, &options, &Control::new(), &|_| {});
    for result in &findings.levels {
        println!("{:4} {}", result.level.code(), result.verdict.word());
    }
    Ok(())
}
