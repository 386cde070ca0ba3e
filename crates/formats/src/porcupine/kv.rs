//! Operations on a store of strings, in EDN.
//!
//! ```text
//! {:process 0, :type :invoke, :f :put, :key "9", :value "x 0 0 y"}
//! {:process 0, :type :ok, :f :put, :key "9", :value "x 0 0 y"}
//! {:process 1, :type :invoke, :f :append, :key "9", :value "x 1 0 y"}
//! {:process 1, :type :ok, :f :append, :key "9", :value "x 1 0 y"}
//! {:process 0, :type :invoke, :f :get, :key "9", :value nil}
//! {:process 0, :type :ok, :f :get, :key "9", :value "x 0 0 yx 1 0 y"}
//! ```
//!
//! An append adds its string to the end of the current string, a put replaces it; every string is initially empty.
//!
//! **As reads and writes of a register.** If no string written to a key equals or is a prefix of another, a result
//! splits into written strings in exactly one way, and the last one names the version: a get reads that, a put or an
//! append writes its string. An append also reads the string before its own, or the initial version if it is first,
//! where some get shows which that is; where none does, no operation reads what it made, so it does not matter. Then
//! the strings are linearizable if and only if the registers are: in an order of the registers each shown string
//! directly follows the one it was appended to, so the whole result is the current string; the converse is obvious. A
//! result that no order of the writes could have left behind, alone or together with the results before it, is a value
//! that no transaction wrote: one that contains something else, a string more often than it was written, or a put after
//! another string. Where a string was written more than once, an order that explains all results of the key tells which
//! of the writes each shows (`twins`). Where one string is a prefix of another, the file is refused.

mod calls;
mod stores;

use crate::elle::{Scanner, Token, content_of};
use crate::operations::{Event, Stage, pair};
use crate::porcupine::twins::Action;
use crate::watch::Watch;
use crate::{Format, Input, Likelihood, Problem, ReadError};
use calls::Log;
pub(super) use calls::history_of;
use isoscope_model::control::Control;
use isoscope_model::history::{Builder, History};
use memchr::memmem;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use stores::Stores;

/// The row of the table.
pub const FORMAT: Format = Format {
    name: "porcupine-kv",
    aliases: &[],
    extensions: &["txt"],
    part_name: None,
    sniff,
    read,
    write: None,
};

fn sniff(input: &Input<'_>) -> Likelihood {
    let Some(line) = input.head_lines().next() else {
        return Likelihood::No;
    };
    let has = |word: &[u8]| memmem::find(line, word).is_some();
    let stores = [&b":f :get"[..], b":f :put", b":f :append"]
        .iter()
        .any(|word| has(word));
    match line.starts_with(b"{") && has(b":key \"") && stores {
        true => Likelihood::Certain,
        false => Likelihood::No,
    }
}

struct Content<'a> {
    action: Action,
    /// Place among the keys.
    key: usize,
    string: Option<Cow<'a, str>>,
}

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let bytes = crate::without_mark(input.bytes());
    control.phase("reading", bytes.len() as u64);
    let mut reader = Reader {
        scan: Scanner::new(FORMAT.name, bytes),
        keys: Vec::new(),
        places: FxHashMap::default(),
    };
    let mut events = Vec::new();
    let watch = Watch::new(FORMAT.name, control, 0);
    loop {
        reader.scan.blanks()?;
        if reader.scan.peek().is_none() {
            break;
        }
        watch.at(reader.scan.at())?;
        let place = u32::try_from(events.len()).unwrap_or(u32::MAX);
        let event = reader.operation(place)?;
        events.push(event);
    }
    if events.is_empty() {
        return Err(ReadError::whole(FORMAT.name, Problem::Empty));
    }
    let calls = pair(&events);
    let mut builder = Builder::new(input.origin(FORMAT.name));
    builder.times_are_events();
    let log = Log {
        events,
        calls,
        keys: reader.keys,
        times: None,
        client_names: &[],
    };
    log.history(builder, FORMAT.name, control)
}

struct Reader<'a> {
    scan: Scanner<'a, false>,
    keys: Vec<Cow<'a, str>>,
    places: FxHashMap<Cow<'a, str>, usize>,
}

impl<'a> Reader<'a> {
    fn operation(&mut self, place: u32) -> Result<Event<Content<'a>>, ReadError> {
        let line = self.scan.line();
        let close = if self.scan.peek() == Some(b'{') {
            self.scan.open()
        } else {
            None
        };
        let Some(close) = close else {
            return self
                .scan
                .fail("an operation like {:process 0, :type :invoke, …}");
        };
        let (mut process, mut stage, mut action, mut key, mut string) =
            (None, None, None, None, None);
        let mut first = true;
        while self.scan.more(close, &mut first)? {
            let field = self.scan.field()?;
            if !matches!(field, Some("process" | "type" | "f" | "key" | "value")) {
                self.scan.skip()?;
                continue;
            }
            let mark = self.scan.mark();
            let token = self.scan.token("a value")?;
            let (known, expected) = match field {
                Some("process") => {
                    process = match token {
                        Token::Number(number) => i64::try_from(number).ok(),
                        _ => None,
                    };
                    (process.is_some(), "a process: an integer of 63 bits")
                }
                Some("type") => {
                    stage = self.scan.word(token).and_then(Stage::named);
                    (stage.is_some(), ":invoke, :ok, :fail or :info")
                }
                Some("f") => {
                    action = match self.scan.word(token) {
                        Some("get") => Some(Action::Get),
                        Some("put") => Some(Action::Put),
                        Some("append") => Some(Action::Append),
                        _ => None,
                    };
                    (action.is_some(), ":get, :put or :append")
                }
                Some("key") => {
                    key = self.key(token);
                    (key.is_some(), "a key: a string")
                }
                _ => {
                    string = match token {
                        Token::Text(text) => Some(content_of(text)),
                        _ => None,
                    };
                    (string.is_some() || token == Token::Nil, "nil or a string")
                }
            };
            if !known {
                self.scan.back_to(mark);
                return self.scan.fail(expected);
            }
        }
        match (stage, action, key) {
            (Some(stage), Some(action), Some(key)) => Ok(Event {
                process,
                stage,
                time: None,
                place,
                line,
                content: Content {
                    action,
                    key,
                    string,
                },
            }),
            _ => self.scan.fail_line(
                line,
                "expected an operation with :type, :f and :key".to_owned(),
            ),
        }
    }

    fn key(&mut self, token: Token<'a>) -> Option<usize> {
        let Token::Text(text) = token else {
            return None;
        };
        let text = content_of(text);
        if let Some(&place) = self.places.get(&*text) {
            return Some(place);
        }
        self.keys.push(text.clone());
        self.places.insert(text, self.keys.len() - 1);
        Some(self.keys.len() - 1)
    }
}

#[cfg(test)]
mod tests;
