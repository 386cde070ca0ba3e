//! Jepsen's log of one etcd register.
//!
//! ```text
//! INFO  jepsen.util - 3  :invoke  :write  4
//! INFO  jepsen.util - 0  :invoke  :cas  [4 1]
//! INFO  jepsen.util - 3  :ok  :write  4
//! INFO  jepsen.util - 0  :fail  :cas  [4 1]
//! INFO  jepsen.util - 1  :info  :read  :timed-out
//! ```
//!
//! After the prefix, separated by tabs (blanks here): process, stage, function (`:read`, `:write`, `:cas`), value. The
//! register is initially `nil`. A failed compare-and-set read something other than its old value; `:info`, like a
//! missing completion, leaves open whether the operation took effect. Lines without the prefix, and those of processes
//! that are not integers, are skipped, as in Porcupine.

use crate::elle::calls::{Clock, Event};
use crate::elle::{self, Reader, Scanner, Token};
use crate::watch::Watch;
use crate::{Format, Input, Likelihood, Problem, ReadError};
use isoscope_model::control::Control;
use isoscope_model::history::{Builder, FailedCasRule, History, Suggestions};
use memchr::memmem;

/// The row of the table.
pub const FORMAT: Format = Format {
    name: "porcupine-etcd",
    aliases: &["porcupine-log", "jepsen-log"],
    extensions: &["log"],
    part_name: None,
    sniff,
    read,
    write: None,
};

/// The text directly before every operation; other text may precede it.
const PREFIX: &[u8] = b"jepsen.util - ";

fn sniff(input: &Input<'_>) -> Likelihood {
    let operation = |line: &[u8]| {
        let words = memmem::find(line, PREFIX).map(|at| &line[at + PREFIX.len()..])?;
        let process = words.iter().take_while(|b| b.is_ascii_digit()).count();
        (process > 0 && words[process..].starts_with(b"\t:")).then_some(())
    };
    if input.head_lines().any(|line| operation(line).is_some()) {
        return Likelihood::Certain;
    }
    if memmem::find(input.head(), b"jepsen.util").is_some() {
        Likelihood::Perhaps
    } else {
        Likelihood::No
    }
}

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let bytes = crate::without_mark(input.bytes());
    control.phase("reading", bytes.len() as u64);
    let mut reader = Reader::new(Scanner::<false>::new(FORMAT.name, bytes));
    let watch = Watch::new(FORMAT.name, control, 0);
    let (mut start, mut number, mut passed) = (0, 0u64, 0u64);
    while start < bytes.len() {
        watch.at(start)?;
        number += 1;
        let end =
            memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        let line = &bytes[start..end];
        match memmem::find(line, PREFIX) {
            Some(at) => {
                reader
                    .scan
                    .move_to(&bytes[..end], start + at + PREFIX.len(), number, start);
                operation(&mut reader)?;
            }
            None => passed += u64::from(!line.trim_ascii().is_empty()),
        }
        start = end + 1;
    }
    let mut log = reader.log;
    if log.events.is_empty() && log.others.0 == 0 {
        let expected = "operations like `INFO  jepsen.util - 0 :invoke :read nil`";
        let problem = Problem::Expected {
            expected,
            found: "none".to_owned(),
        };
        return Err(ReadError::whole(FORMAT.name, problem));
    }
    if passed > 0 {
        log.remarks.push(format!(
            "Lines that are no operations: {passed}, passed over."
        ));
    }
    let mut builder = Builder::new(input.origin(FORMAT.name));
    builder.suggest(Suggestions {
        failed_cas: FailedCasRule::Observed,
        ..Suggestions::default()
    });
    elle::history(log, builder, FORMAT.name, |_| Clock::Order(String::new()))
}

/// One line after the prefix.
fn operation(reader: &mut Reader<'_, false>) -> Result<(), ReadError> {
    let line = reader.scan.line();
    reader.scan.blanks()?;
    let process = match reader.scan.token("a process")? {
        Token::Number(number) => i64::try_from(number).ok(),
        Token::Keyword(name) | Token::Text(name) | Token::Name(name) => {
            reader.pass_over(name);
            return Ok(());
        }
        Token::Nil => None,
    };
    let Some(process) = process else {
        return reader.scan.fail("a process of at most 63 bits");
    };
    reader.scan.blanks()?;
    let stage = reader.stage()?;
    reader.scan.blanks()?;
    let mark = reader.scan.mark();
    let token = reader.scan.token(":read, :write or :cas")?;
    let function = reader
        .scan
        .word(token)
        .filter(|word| matches!(*word, "read" | "write" | "cas"));
    if function.is_none() {
        reader.scan.back_to(mark);
        return reader.scan.fail(":read, :write or :cas");
    }
    reader.scan.blanks()?;
    let shape = reader.value()?;
    reader.scan.blanks()?;
    if reader.scan.peek().is_some() {
        return reader.scan.fail("the end of the line");
    }
    let content = reader.content(function, shape, line, 0, false)?;
    let place = reader.log.n_operations();
    reader.log.events.push(Event {
        process: Some(process),
        stage,
        time: None,
        place,
        line,
        content,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use isoscope_model::history::{
        Interval, OperationId, Outcome, SessionId, TransactionId, Value,
    };

    fn parse(text: &str) -> Result<History, String> {
        super::read(&Input::new("", text.as_bytes()), &Control::new())
            .map_err(|error| error.to_string())
    }

    fn line(text: &str) -> String {
        format!(
            "INFO  jepsen.util - {}\n",
            text.replace(' ', "\t").replace("_", " ")
        )
    }

    #[test]
    fn each_operation_is_a_transaction() {
        let lines = [
            "0 :invoke :read nil",
            "1 :invoke :write 4",
            "0 :ok :read nil",
            ":nemesis :info :start nil",
            "1 :ok :write 4",
            "0 :invoke :cas [4_1]",
            "1 :invoke :cas [4_2]",
            "0 :ok :cas [4_1]",
            "1 :fail :cas [4_2]",
            "0 :invoke :write 7",
            "2 :invoke :read nil",
            "2 :fail :read :timed-out",
            "0 :info :write :timed-out",
            "3 :invoke :cas [7_9]",
            "1 :invoke :read nil",
            "1 :ok :read 1",
        ];
        let text: String = "2014 started\r\n".to_owned() + &lines.map(line).concat();
        // What a failed compare-and-set means is for rules to say.
        let history = parse(&text).expect("valid");
        let shown: Vec<String> = history
            .transactions()
            .map(|t| {
                let operations: Vec<_> = history
                    .operations_of(t)
                    .map(|o| history.operation_text(o))
                    .collect();
                format!(
                    "{} {:?} {}",
                    history.transaction_name(t),
                    history.outcome(t),
                    operations.join(", ")
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                "S0#1 Committed r(register) = initial",
                "S0#2 Committed r(register) = 4, w(register) = 1",
                "S0#3 Unknown w(register) = 7",
                "S1#1 Committed w(register) = 4",
                "S1#2 Aborted r(register) ≠ 4",
                "S1#3 Committed r(register) = 1",
                "S2#1 Aborted ",
                "S3#1 Unknown r(register) = 7, w(register) = 9",
            ]
        );
        assert_eq!(
            history.interval(TransactionId(0)),
            Some(Interval { start: 0, end: 2 })
        );
        assert_eq!(
            history.interval(TransactionId(2)),
            Some(Interval { start: 9, end: 15 })
        );
        assert_eq!(history.line_of(OperationId(1)), 9);
        assert_eq!(history.values()[0], Value::INITIAL);
        assert_eq!(history.session_name(SessionId(3)), "3");
        assert_eq!(history.outcome(TransactionId(4)), Outcome::Aborted);
        assert_eq!(
            history.assumptions(),
            [
                "Lines that are no operations: 1, passed over.".to_owned(),
                "Operations of processes that are no clients, such as `:nemesis`: 1; no verdict depends on them."
                    .to_owned(),
                "Invocations without completion: 1, their outcome is unknown.".to_owned(),
            ]
        );
    }

    #[test]
    fn errors_say_where_and_what() {
        let cases = [
            (
                "0 :start :read nil",
                "line 1, column 23: expected :invoke, :ok, :fail or :info, found `:start\\t:read\\tnil`",
            ),
            (
                "0 :ok :enqueue 1",
                "line 1, column 27: expected :read, :write or :cas, found `:enqueue\\t1`",
            ),
            (
                "0 :ok :read",
                "line 1, column 32: expected a value, found the end of the file",
            ),
            (
                "0 :ok :read 1 2",
                "line 1, column 35: expected the end of the line, found `2`",
            ),
            (
                "0 :ok :read [1",
                "line 1, column 35: expected `]`, found the end of the file",
            ),
            (
                "0 :ok :write nil",
                "line 1: expected a value to write, found none",
            ),
            (
                "0 :ok :read #{1}",
                "line 1: not a transactional workload: the value of this `read` is a set; expected micro-operations like \
                 [[:r x 1]]",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(
                parse(&line(text)).map(|_| ()),
                Err(message.to_owned()),
                "{text}"
            );
        }
        let none = "expected operations like `INFO  jepsen.util - 0 :invoke :read nil`, found none";
        assert_eq!(parse("started\n").map(|_| ()), Err(none.to_owned()));
    }
}
