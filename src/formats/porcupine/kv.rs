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
//! An append puts its string behind the string that is there, a put replaces it; every string is empty at first.
//!
//! **As reads and writes of a register.** If no two strings written to a key are the same or begin alike, a result splits
//! into the strings it consists of in one way, and its last one names the version: a get reads that, a put or an append
//! writes its string. An append also reads the string before its own, or the initial version in front of all, where some
//! get shows which that is; where none does, nobody reads what it made, so it does not matter. Then the strings are
//! linearizable if and only if the registers are: in an order of the registers each shown string stands directly behind
//! the one it was appended to, so the whole result is what stands there; the other way round is plain. A result that
//! no order of the writes could have left behind, alone or beside the results before it, is a value that nobody wrote:
//! one that holds something else, a string twice, or a put behind something. Where strings are the same or begin alike,
//! the file is refused.

use crate::control::Control;
use crate::formats::elle::calls::{self, Call, Clock, Event, Stage};
use crate::formats::elle::{Scanner, Token, content_of};
use crate::formats::error::escape;
use crate::formats::{Format, Input, Likelihood, Problem, ReadError, name};
use crate::history::{Builder, Draft, History, OperationKind, Outcome, Value};
use memchr::memmem;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The row of the table.
pub const FORMAT: Format = Format {
    name: "porcupine-kv",
    aliases: &[],
    about: "Porcupine's store of strings: {:process 0, :type :ok, :f :append, :key \"0\", :value \"x\"}",
    extensions: &["txt"],
    part_name: None,
    sniff,
    read,
    write: None,
};

/// Operations between two looks at the control.
const OPERATIONS_PER_CHECK: usize = 1024;

fn sniff(input: &Input<'_>) -> Likelihood {
    let Some(line) = input.head_lines().next() else { return Likelihood::No };
    let has = |word: &[u8]| memmem::find(line, word).is_some();
    let stores = [&b":f :get"[..], b":f :put", b":f :append"].iter().any(|word| has(word));
    match line.starts_with(b"{") && has(b":key \"") && stores {
        true => Likelihood::Certain,
        false => Likelihood::No,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Get,
    Put,
    Append,
}

struct Content<'a> {
    action: Action,
    /// Place among the keys.
    key: usize,
    string: Option<Cow<'a, str>>,
}

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let bytes = crate::formats::without_mark(input.bytes());
    control.phase("reading", bytes.len() as u64);
    let mut reader = Reader { scan: Scanner::new(FORMAT.name, bytes), keys: Vec::new(), places: FxHashMap::default() };
    let mut events = Vec::new();
    let mut reported = 0;
    loop {
        reader.scan.blanks()?;
        if reader.scan.peek().is_none() {
            break;
        }
        if events.len().is_multiple_of(OPERATIONS_PER_CHECK) {
            control.advance((reader.scan.at() - reported) as u64);
            reported = reader.scan.at();
            control.check().map_err(|interrupt| ReadError::whole(FORMAT.name, interrupt))?;
        }
        let place = u32::try_from(events.len()).unwrap_or(u32::MAX);
        let event = reader.operation(place)?;
        events.push(event);
    }
    if events.is_empty() {
        return Err(ReadError::whole(FORMAT.name, Problem::Empty));
    }
    let calls = calls::pair(&events);
    let mut stores = Stores::of(&events, &calls, reader.keys)?;
    let results = stores.results(&events, &calls);
    let mut builder = Builder::new(input.origin(FORMAT.name));
    builder.assume(
        "A string is known by the last part appended to it or put there; an append reads the part before its own, where \
         some get shows which that is.",
    );
    let intervals = calls::intervals(&events, &calls, &Clock::Order(String::new()));
    for (number, ((call, interval), result)) in calls.iter().zip(intervals).zip(results).enumerate() {
        let session = call.session(&mut builder);
        let draft = builder.transaction(session, call.outcome(&events));
        builder.set_interval(draft, interval);
        stores.emit(&mut builder, draft, (number, call), &events, result);
    }
    builder.sort_sessions();
    builder.finish().map_err(|error| ReadError::whole(FORMAT.name, error))
}

struct Reader<'a> {
    scan: Scanner<'a, false>,
    keys: Vec<Cow<'a, str>>,
    places: FxHashMap<Cow<'a, str>, usize>,
}

impl<'a> Reader<'a> {
    fn operation(&mut self, place: u32) -> Result<Event<Content<'a>>, ReadError> {
        let line = self.scan.line();
        let close = if self.scan.peek() == Some(b'{') { self.scan.open() } else { None };
        let Some(close) = close else { return self.scan.fail("an operation like {:process 0, :type :invoke, …}") };
        let (mut process, mut stage, mut action, mut key, mut string) = (None, None, None, None, None);
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
            (Some(stage), Some(action), Some(key)) => {
                Ok(Event { process, stage, time: None, place, line, content: Content { action, key, string } })
            }
            _ => self.scan.fail_line(line, "expected an operation with :type, :f and :key".to_owned()),
        }
    }

    fn key(&mut self, token: Token<'a>) -> Option<usize> {
        let Token::Text(text) = token else { return None };
        let text = content_of(text);
        if let Some(&place) = self.places.get(&*text) {
            return Some(place);
        }
        self.keys.push(text.clone());
        self.places.insert(text, self.keys.len() - 1);
        Some(self.keys.len() - 1)
    }
}

/// What was put or appended somewhere.
struct Written<'e> {
    string: &'e str,
    action: Action,
    line: u32,
    /// What stands directly before it; not known until a get shows it.
    before: Option<Before>,
    /// Number of the get that last showed it.
    shown_by: usize,
}

/// What stands before a string within a result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Beginning,
    /// A place among the written strings.
    Written(usize),
}

/// What a get returned.
#[derive(Clone, Copy)]
enum Shown {
    /// It is no get, or nobody knows.
    Nothing,
    Empty,
    /// A result that ends with this string.
    Last(usize),
    /// What cannot have been there.
    Impossible,
}

/// The strings written to all keys.
struct Stores<'e> {
    keys: Vec<Cow<'e, str>>,
    written: Vec<Written<'e>>,
    /// By key: places in `written`, in the order of the strings.
    sorted: Vec<Vec<usize>>,
    /// By call: its place in `written`.
    of_call: Vec<Option<usize>>,
}

/// What a call is about, and the string that it writes if it does.
fn subject<'e>(call: &Call, events: &'e [Event<Content<'_>>]) -> Option<(&'e Event<Content<'e>>, Option<&'e str>)> {
    let (invocation, completion) = call.ends(events);
    let event = invocation.or(completion)?;
    let string = event.content.string.as_ref().or(completion.and_then(|event| event.content.string.as_ref()));
    Some((event, string.map(|string| &**string)))
}

impl<'e> Stores<'e> {
    /// Collects what is written, and refuses what cannot be told apart.
    fn of(events: &'e [Event<Content<'e>>], calls: &[Call], keys: Vec<Cow<'e, str>>) -> Result<Stores<'e>, ReadError> {
        let mut stores =
            Stores { sorted: vec![Vec::new(); keys.len()], keys, written: Vec::new(), of_call: Vec::new() };
        for call in calls {
            let writes = subject(call, events).filter(|(event, _)| event.content.action != Action::Get);
            stores.of_call.push(writes.map(|_| stores.written.len()));
            let Some((&Event { line, content: Content { action, key, .. }, .. }, string)) = writes else { continue };
            let fail = |message: &str| Err(fail_line(line, message.to_owned()));
            match string {
                None => return fail("expected a string to write, found none"),
                Some("") => return fail("an empty string leaves no trace in a result: such files are not read"),
                Some(string) => {
                    stores.sorted[key].push(stores.written.len());
                    stores.written.push(Written { string, action, line, before: None, shown_by: 0 });
                }
            }
        }
        for places in &mut stores.sorted {
            places.sort_by_key(|&place| stores.written[place].string);
            // What begins like something else stands directly behind it, or behind another that does.
            for pair in places.windows(2) {
                let [one, other] = [pair[0], pair[1]].map(|place| &stores.written[place]);
                if other.string.starts_with(one.string) {
                    let string: String = other.string.chars().take(40).collect();
                    return Err(fail_line(
                        other.line,
                        format!(
                            "`{}` begins like what is written on line {}, so results do not tell which is there",
                            escape(&string),
                            one.line
                        ),
                    ));
                }
            }
        }
        Ok(stores)
    }

    /// By call: what it returned. Learns from it what stands before each string.
    fn results(&mut self, events: &[Event<Content<'_>>], calls: &[Call]) -> Vec<Shown> {
        let mut parts = Vec::new();
        let mut number = 0;
        let mut result = |call: &Call| {
            let (Outcome::Committed, (_, Some(completion))) = (call.outcome(events), call.ends(events)) else {
                return Shown::Nothing;
            };
            if completion.content.action != Action::Get {
                return Shown::Nothing;
            }
            number += 1;
            let string = completion.content.string.as_deref().unwrap_or_default();
            match self.split(completion.content.key, string, number, &mut parts) {
                true => self.learn(&parts),
                false => Shown::Impossible,
            }
        };
        calls.iter().map(&mut result).collect()
    }

    /// Splits a result into what was written, if it is nothing but that and nothing twice. O(length log written).
    fn split(&mut self, key: usize, string: &str, get: usize, parts: &mut Vec<usize>) -> bool {
        parts.clear();
        let mut rest = string;
        while !rest.is_empty() {
            let places = &self.sorted[key];
            let behind = places.partition_point(|&place| self.written[place].string <= rest);
            let candidate = behind.checked_sub(1).map(|at| places[at]);
            let part = candidate.and_then(|place| Some((place, rest.strip_prefix(self.written[place].string)?)));
            let Some((place, left)) = part else { return false };
            let before = std::mem::replace(&mut self.written[place].shown_by, get);
            if before == get || (self.written[place].action == Action::Put && !parts.is_empty()) {
                return false;
            }
            parts.push(place);
            rest = left;
        }
        true
    }

    /// Notes what stands before what, unless an earlier result says otherwise.
    fn learn(&mut self, parts: &[usize]) -> Shown {
        let before = |n: usize| n.checked_sub(1).map_or(Before::Beginning, |before| Before::Written(parts[before]));
        let agree = |(n, &place): (usize, &usize)| self.written[place].before.is_none_or(|known| known == before(n));
        if !parts.iter().enumerate().all(agree) {
            return Shown::Impossible;
        }
        for (n, &place) in parts.iter().enumerate() {
            self.written[place].before = Some(before(n));
        }
        parts.last().map_or(Shown::Empty, |&last| Shown::Last(last))
    }

    /// A name for a result that cannot have been there: itself, in quotes if something of this name was written.
    fn unwritten(&self, key: usize, string: &str) -> String {
        let written = |name: &str| {
            let places = &self.sorted[key];
            places.binary_search_by_key(&name, |&place| self.written[place].string).is_ok()
        };
        let mut name = string.to_owned();
        while written(&name) {
            name = format!("\"{name}\"");
        }
        name
    }

    /// Adds the operations of a call.
    fn emit(
        &self,
        builder: &mut Builder,
        draft: Draft,
        call: (usize, &Call),
        events: &[Event<Content<'_>>],
        shown: Shown,
    ) {
        let (number, call) = call;
        let (invocation, completion) = call.ends(events);
        let Some(event) = completion.or(invocation) else { return };
        let (line, store) = (event.line, event.content.key);
        let key = |builder: &mut Builder| name::key(builder, &self.keys[store]);
        let value = |builder: &mut Builder, place: usize| name::value(builder, self.written[place].string);
        match (self.of_call[number], shown) {
            (Some(place), _) => {
                let before = match (self.written[place].action, self.written[place].before) {
                    (Action::Append, Some(Before::Beginning)) => Some(Value::INITIAL),
                    (Action::Append, Some(Before::Written(before))) => Some(value(builder, before)),
                    _ => None,
                };
                let key = key(builder);
                if let Some(before) = before {
                    builder.operation(draft, OperationKind::Read, key, before, line);
                }
                let written = value(builder, place);
                builder.operation(draft, OperationKind::Write, key, written, line);
            }
            (None, Shown::Nothing) => {}
            (None, shown) => {
                let key = key(builder);
                let value = match shown {
                    Shown::Last(place) => value(builder, place),
                    Shown::Impossible => {
                        let string = event.content.string.as_deref().unwrap_or_default();
                        name::value(builder, &self.unwritten(store, string))
                    }
                    Shown::Nothing | Shown::Empty => Value::INITIAL,
                };
                builder.operation(draft, OperationKind::Read, key, value, line);
            }
        }
    }
}

fn fail_line(line: u32, message: String) -> ReadError {
    ReadError::at(FORMAT.name, u64::from(line), 0, Problem::Other(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<History, String> {
        super::read(&Input::new("", text.as_bytes()), &Control::new()).map_err(|error| error.to_string())
    }

    /// `0 put k v` as an invocation and a completion; `?` after the process leaves the completion out.
    fn file(calls: &[&str]) -> String {
        let mut text = String::new();
        for call in calls {
            let words: Vec<&str> = call.split(' ').collect();
            let [process, action, key, string] = words[..] else { panic!("{call}") };
            let number = process.trim_end_matches('?');
            let mut line = |stage: &str, string: &str| {
                text +=
                    &format!("{{:process {number}, :type :{stage}, :f :{action}, :key \"{key}\", :value {string}}}\n");
            };
            let quoted = format!("\"{string}\"");
            line("invoke", if action == "get" { "nil" } else { &quoted });
            if number == process {
                line("ok", &quoted);
            }
        }
        text
    }

    fn shown(history: &History) -> Vec<String> {
        let text = |t| {
            let operations: Vec<_> = history.operations_of(t).map(|o| history.operation_text(o)).collect();
            format!("{} {}", history.transaction_name(t), operations.join(", "))
        };
        history.transactions().map(text).collect()
    }

    #[test]
    fn appends_read_what_they_are_appended_to() {
        let calls = [
            "0 get 9 ",
            "0 append 9 <a>",
            "1? append 9 <b>",
            "2 append 9 <c>",
            "0 get 9 <a><b>",
            "3 put 9 <d>",
            "0 append 9 <e>",
            "0 get 9 <d><e>",
        ];
        let history = parse(&file(&calls)).expect("valid");
        assert_eq!(
            shown(&history),
            [
                "0.1 r(9) = initial",
                "0.2 r(9) = initial, w(9) = <a>",
                "0.3 r(9) = <b>",
                "0.4 r(9) = <d>, w(9) = <e>",
                "0.5 r(9) = <e>",
                "1.1 r(9) = <a>, w(9) = <b>",
                "2.1 w(9) = <c>",
                "3.1 w(9) = <d>",
            ]
        );
    }

    #[test]
    fn what_cannot_have_been_there_is_a_value_nobody_wrote() {
        for impossible in ["<a><x>", "<a><a>", "<b><a>", "<a><p>", "<a"] {
            let get = format!("0 get 9 {impossible}");
            let calls = ["0 append 9 <a>", "0 append 9 <b>", "0 append 8 <x>", "0 put 9 <p>", "1 get 9 <a><b>", &get];
            let history = parse(&file(&calls)).expect("valid");
            assert_eq!(shown(&history)[4], format!("0.5 r(9) = {impossible}"));
        }
        let calls = ["0 append 9 <a>", "0 append 9 <b>", "1 get 9 <a><b>", "0 get 9 <b>"];
        assert_eq!(shown(&parse(&file(&calls)).expect("valid"))[2], "0.3 r(9) = \"<b>\"");
    }

    #[test]
    fn errors_say_where_and_what() {
        let cases = [
            (
                file(&["0 put 9 a", "0 append 9 ab"]),
                "line 3: `ab` begins like what is written on line 1, so results do not tell which is there",
            ),
            (file(&["0 append 9 "]), "line 1: an empty string leaves no trace in a result: such files are not read"),
            ("{:type :ok :f :put :key \"0\"}".to_owned(), "line 1: expected a string to write, found none"),
            ("{:type :ok :f :put}".to_owned(), "line 1: expected an operation with :type, :f and :key"),
            ("{:type :ok :f :cas}".to_owned(), "line 1, column 15: expected :get, :put or :append, found `:cas}`"),
            ("{:type :ok\n :key 0}".to_owned(), "line 2, column 7: expected a key: a string, found `0}`"),
            ("[]".to_owned(), "line 1: expected an operation like {:process 0, :type :invoke, …}, found `[]`"),
        ];
        for (text, message) in cases {
            assert_eq!(parse(&text).map(|_| ()), Err(message.to_owned()), "{text}");
        }
    }
}
