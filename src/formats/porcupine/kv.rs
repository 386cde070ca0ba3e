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
//! another string. Where a string was written more than once, real time determines which of the writes a result shows
//! (`twins`); where it does not, and where one string is a prefix of another, the file is refused.

use crate::control::Control;
use crate::formats::elle::calls::{self, Call, Clock, Event, Stage};
use crate::formats::elle::{Scanner, Token, content_of};
use crate::formats::error::escape;
use crate::formats::porcupine::twins::{self, Action, Get, Undecided};
use crate::formats::{Format, Input, Likelihood, Problem, ReadError, name};
use crate::history::{Builder, Draft, History, Interval, OperationKind, Outcome, Value};
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

/// Operations between two checks of the control.
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
    let intervals = calls::intervals(&events, &calls, &Clock::Order(String::new()));
    let mut stores = Stores::of(&events, &calls, &intervals, reader.keys)?;
    let results = stores.results(&events, &calls, &intervals)?;
    let mut builder = Builder::new(input.origin(FORMAT.name));
    builder.times_are_events();
    builder.assume(
        "A string is known by the last part appended to it or put there; an append reads the part before its own, where \
         some get shows which that is.",
    );
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

/// A string put or appended somewhere.
struct Written<'e> {
    string: &'e str,
    action: Action,
    line: u32,
    interval: Interval,
    outcome: Outcome,
    /// Whether it is not the first write of its string to the key.
    is_again: bool,
    /// The string directly before it; unknown until a get shows it.
    before: Option<Before>,
}

/// The writes of one string to a key.
struct Group<'e> {
    string: &'e str,
    /// Places in [`Stores::written`], in the order of the file.
    places: Vec<usize>,
}

/// The predecessor of a string within a result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Beginning,
    /// A place among the written strings.
    Written(usize),
}

/// What a get returned.
#[derive(Clone, Copy)]
enum Shown {
    /// It is not a get, or its result is unknown.
    Nothing,
    Empty,
    /// A result that ends with this string.
    Last(usize),
    /// Something that cannot have been there.
    Impossible,
}

/// The strings written to all keys.
struct Stores<'e> {
    keys: Vec<Cow<'e, str>>,
    written: Vec<Written<'e>>,
    /// By key: what was written, in the order of the strings.
    groups: Vec<Vec<Group<'e>>>,
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
    /// Collects the writes, and refuses those that cannot be distinguished.
    fn of(
        events: &'e [Event<Content<'e>>],
        calls: &[Call],
        intervals: &[Interval],
        keys: Vec<Cow<'e, str>>,
    ) -> Result<Stores<'e>, ReadError> {
        let mut places: Vec<Vec<usize>> = vec![Vec::new(); keys.len()];
        let mut stores = Stores { groups: Vec::new(), keys, written: Vec::new(), of_call: Vec::new() };
        for (call, &interval) in calls.iter().zip(intervals) {
            let writes = subject(call, events).filter(|(event, _)| event.content.action != Action::Get);
            stores.of_call.push(writes.map(|_| stores.written.len()));
            let Some((&Event { line, content: Content { action, key, .. }, .. }, string)) = writes else { continue };
            let fail = |message: &str| Err(fail_line(line, message.to_owned()));
            match string {
                None => return fail("expected a string to write, found none"),
                Some("") => return fail("an empty string leaves no trace in a result: such files are not read"),
                Some(string) => {
                    places[key].push(stores.written.len());
                    let outcome = call.outcome(events);
                    let written = Written { string, action, line, interval, outcome, is_again: false, before: None };
                    stores.written.push(written);
                }
            }
        }
        for mut places in places {
            places.sort_by_key(|&place| stores.written[place].string);
            let same = |one: &usize, other: &usize| stores.written[*one].string == stores.written[*other].string;
            let groups: Vec<Group<'_>> = places
                .chunk_by(same)
                .map(|chunk| Group { string: stores.written[chunk[0]].string, places: chunk.to_vec() })
                .collect();
            // A string that has another as a prefix sorts directly after it, or after another such string.
            for pair in groups.windows(2) {
                let [one, other] = pair else { continue };
                if other.string.starts_with(one.string) {
                    return Err(fail_line(
                        stores.written[other.places[0]].line,
                        format!(
                            "`{}` begins like what is written on line {}, so results do not tell which is there",
                            shortened(other.string),
                            stores.written[one.places[0]].line
                        ),
                    ));
                }
            }
            for &again in groups.iter().flat_map(|group| &group.places[1..]) {
                stores.written[again].is_again = true;
            }
            stores.groups.push(groups);
        }
        Ok(stores)
    }

    /// By call: what it returned. Learns from it the predecessor of each string.
    fn results(
        &mut self,
        events: &[Event<Content<'_>>],
        calls: &[Call],
        intervals: &[Interval],
    ) -> Result<Vec<Shown>, ReadError> {
        let mut shown = vec![Shown::Nothing; calls.len()];
        // By key: the calls that returned something possible, and what.
        let mut gets: Vec<(Vec<usize>, Vec<Get>)> = self.keys.iter().map(|_| Default::default()).collect();
        for (number, (call, &interval)) in calls.iter().zip(intervals).enumerate() {
            let (Outcome::Committed, (_, Some(completion))) = (call.outcome(events), call.ends(events)) else {
                continue;
            };
            if completion.content.action != Action::Get {
                continue;
            }
            let string = completion.content.string.as_deref().unwrap_or_default();
            match self.split(completion.content.key, string) {
                Some(strings) => {
                    let (numbers, gets) = &mut gets[completion.content.key];
                    numbers.push(number);
                    gets.push(Get { strings, interval });
                }
                None => shown[number] = Shown::Impossible,
            }
        }
        for (key, (numbers, gets)) in gets.into_iter().enumerate() {
            for (number, parts) in numbers.into_iter().zip(self.parts(key, &gets)?) {
                shown[number] = self.learn(&parts);
            }
        }
        Ok(shown)
    }

    /// By result: the writes whose strings it consists of.
    fn parts(&self, key: usize, gets: &[Get]) -> Result<Vec<Vec<usize>>, ReadError> {
        let groups = &self.groups[key];
        if groups.iter().all(|group| group.places.len() == 1) {
            let parts = |get: &Get| get.strings.iter().map(|&string| groups[string].places[0]).collect();
            return Ok(gets.iter().map(parts).collect());
        }
        let places: Vec<usize> = groups.iter().flat_map(|group| group.places.iter().copied()).collect();
        let writes: Vec<twins::Write> = places
            .iter()
            .map(|&place| {
                let Written { action, interval, outcome, .. } = self.written[place];
                twins::Write { action, interval, is_certain: outcome == Outcome::Committed }
            })
            .collect();
        let mut next = 0..places.len();
        let numbers: Vec<Vec<usize>> =
            groups.iter().map(|group| next.by_ref().take(group.places.len()).collect()).collect();
        match twins::assign(&writes, &numbers, gets) {
            Ok(chosen) => {
                Ok(chosen.into_iter().map(|parts| parts.into_iter().map(|write| places[write]).collect()).collect())
            }
            Err(Undecided(one, other)) => {
                let [one, other] = [one, other].map(|write| &self.written[places[write]]);
                let (first, last) = (one.line.min(other.line), one.line.max(other.line));
                Err(fail_line(
                    last,
                    format!(
                        "`{}` is written on line {first} as well, and neither results nor times tell which of the two is there",
                        shortened(other.string)
                    ),
                ))
            }
        }
    }

    /// Splits a result into written strings, as places among the groups of the key, if it consists only of them and
    /// none occurs more often than it was written. O(length log written).
    fn split(&self, key: usize, string: &str) -> Option<Vec<usize>> {
        let groups = &self.groups[key];
        let mut strings = Vec::new();
        let mut times: FxHashMap<usize, usize> = FxHashMap::default();
        let mut rest = string;
        while !rest.is_empty() {
            let at = groups.partition_point(|group| group.string <= rest).checked_sub(1)?;
            rest = rest.strip_prefix(groups[at].string)?;
            let count = times.entry(at).or_default();
            *count += 1;
            let is_append = |place: &usize| self.written[*place].action == Action::Append;
            if *count > groups[at].places.len() || !strings.is_empty() && !groups[at].places.iter().any(is_append) {
                return None;
            }
            strings.push(at);
        }
        Some(strings)
    }

    /// Records the predecessors, unless an earlier result contradicts them.
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

    /// The name of the version that a write made: its string, with its line unless it is the first write of that
    /// string.
    fn version(&self, place: usize) -> Cow<'e, str> {
        let written = &self.written[place];
        match written.is_again {
            true => Cow::Owned(format!("{} (line {})", written.string, written.line)),
            false => Cow::Borrowed(written.string),
        }
    }

    /// A name for a result that cannot have been there: itself, in quotes if something of this name was written.
    fn unwritten(&self, key: usize, string: &str) -> String {
        let written = |name: &str| {
            self.groups[key].iter().flat_map(|group| &group.places).any(|&place| self.version(place) == name)
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
        let value = |builder: &mut Builder, place: usize| name::value(builder, &self.version(place));
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

/// The beginning of a string, for messages.
fn shortened(string: &str) -> String {
    escape(&string.chars().take(40).collect::<String>())
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
                "S0#1 r(9) = initial",
                "S0#2 r(9) = initial, w(9) = <a>",
                "S0#3 r(9) = <b>",
                "S0#4 r(9) = <d>, w(9) = <e>",
                "S0#5 r(9) = <e>",
                "S1#1 r(9) = <a>, w(9) = <b>",
                "S2#1 w(9) = <c>",
                "S3#1 w(9) = <d>",
            ]
        );
    }

    #[test]
    fn the_same_string_again_is_another_version() {
        let calls = [
            "0 append 9 <a>",
            "1 append 9 <b>",
            "2 get 9 <a><b>",
            "0 append 9 <a>",
            "2 get 9 <a><b><a>",
            "1 put 9 <c>",
            "0 append 9 <a>",
            "2 get 9 <c><a>",
        ];
        let history = parse(&file(&calls)).expect("valid");
        assert_eq!(
            shown(&history),
            [
                "S0#1 r(9) = initial, w(9) = <a>",
                "S0#2 r(9) = <b>, w(9) = <a> (line 7)",
                "S0#3 r(9) = <c>, w(9) = <a> (line 13)",
                "S1#1 r(9) = <a>, w(9) = <b>",
                "S1#2 w(9) = <c>",
                "S2#1 r(9) = <b>",
                "S2#2 r(9) = <a> (line 7)",
                "S2#3 r(9) = <a> (line 13)",
            ]
        );
        // The put may have come before the first or between both.
        let mut text = String::new();
        for (process, stage, action, string) in [
            (0, "invoke", "append", "<a>"),
            (1, "invoke", "put", "<c>"),
            (0, "ok", "append", "<a>"),
            (0, "invoke", "append", "<a>"),
            (2, "invoke", "get", ""),
            (2, "ok", "get", "<c><a>"),
            (0, "ok", "append", "<a>"),
            (1, "ok", "put", "<c>"),
        ] {
            text += &format!("{{:process {process}, :type :{stage}, :f :{action}, :key \"9\", :value \"{string}\"}}\n");
        }
        assert_eq!(
            parse(&text).map(|_| ()),
            Err("line 4: `<a>` is written on line 1 as well, and neither results nor times tell which of the two is there"
                .to_owned())
        );
    }

    #[test]
    fn what_cannot_have_been_there_is_a_value_nobody_wrote() {
        for impossible in ["<a><x>", "<a><a>", "<b><a>", "<a><p>", "<a"] {
            let get = format!("0 get 9 {impossible}");
            let calls = ["0 append 9 <a>", "0 append 9 <b>", "0 append 8 <x>", "0 put 9 <p>", "1 get 9 <a><b>", &get];
            let history = parse(&file(&calls)).expect("valid");
            assert_eq!(shown(&history)[4], format!("S0#5 r(9) = {impossible}"));
        }
        let calls = ["0 append 9 <a>", "0 append 9 <b>", "1 get 9 <a><b>", "0 get 9 <b>"];
        assert_eq!(shown(&parse(&file(&calls)).expect("valid"))[2], "S0#3 r(9) = \"<b>\"");
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
