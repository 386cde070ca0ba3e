//! Text → the transactions of its first explanation.

use super::FORMAT;
use super::micro::Micro;
use crate::elle::{Atoms, Scanner};
use crate::error::escape;
use crate::operations::{Stage, Tree};
use crate::watch::Watch;
use crate::{Input, Problem, ReadError};
use isoscope_model::control::Control;
use isoscope_model::history::{Interval, Outcome, cut};
use rustc_hash::{FxHashMap, FxHashSet};

/// The line before the transactions of an explanation.
pub(super) const LET: &[u8] = b"Let:";

/// A transaction of the text.
pub(super) struct Quoted<'a> {
    pub(super) name: &'a str,
    /// The line on which it begins.
    pub(super) line: u32,
    pub(super) outcome: Outcome,
    pub(super) process: Option<i64>,
    index: Option<i64>,
    time: Option<i64>,
    pub(super) micros: Vec<Micro>,
}

/// *T1 completed at index 5, 0.1 seconds before the invocation of T2, at index 7*
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Moments<'a> {
    pub(super) ended: (&'a str, i64),
    pub(super) began: (&'a str, i64),
}

/// The first explanation of a text.
pub(super) struct Block<'a> {
    pub(super) quoted: Vec<Quoted<'a>>,
    /// Places among them, in the order of each process if that is known.
    pub(super) order: Vec<usize>,
    pub(super) is_ordered: bool,
    moments: Vec<Moments<'a>>,
    /// How many explanations there are.
    pub(super) n_blocks: u64,
}

/// When transactions ran.
pub(super) struct Ran {
    /// Those of the text, in its order.
    pub(super) of: Vec<Interval>,
    /// From before all to after all.
    pub(super) whole: Interval,
}

impl Block<'_> {
    /// Puts the transactions in order, by a field that all of them have, each another.
    fn put_in_order(&mut self) {
        let quoted = &self.quoted;
        self.order = (0..quoted.len()).collect();
        let fields: [fn(&Quoted<'_>) -> Option<i64>; 2] = [|one| one.index, |one| one.time];
        for field in fields {
            let different: FxHashSet<i64> = quoted.iter().filter_map(field).collect();
            if different.len() == quoted.len() {
                self.order.sort_by_key(|&place| field(&quoted[place]));
                self.is_ordered = true;
                return;
            }
        }
    }

    /// When transactions ran, as far as sentences say; none if there is no such sentence. An unknown beginning is before
    /// all known moments, an unknown end after them. Of two moments for one, the one that says less counts.
    pub(super) fn intervals(&self) -> Option<Ran> {
        let places: FxHashMap<&str, usize> =
            (self.quoted.iter().map(|one| one.name)).zip(0..).collect();
        let mut known: Vec<(Option<i64>, Option<i64>)> = vec![(None, None); self.quoted.len()];
        let mut all = Vec::new();
        for Moments { ended, began } in &self.moments {
            let (Some(&one), Some(&other)) = (places.get(ended.0), places.get(began.0)) else {
                continue;
            };
            let end = &mut known[one].1;
            *end = Some(end.map_or(ended.1, |end| end.max(ended.1)));
            let start = &mut known[other].0;
            *start = Some(start.map_or(began.1, |start| start.min(began.1)));
            all.extend([ended.1, began.1]);
        }
        let (first, last) = (all.iter().min()?, all.iter().max()?);
        let whole = Interval {
            start: first.saturating_sub(1),
            end: last.saturating_add(1),
        };
        let interval = |(start, end): (Option<i64>, Option<i64>)| {
            let (start, end) = (start.unwrap_or(whole.start), end.unwrap_or(whole.end));
            match start <= end {
                true => Interval { start, end },
                false => whole,
            }
        };
        let of = known.into_iter().map(interval).collect();
        Some(Ran { of, whole })
    }
}

/// An error of a line.
pub(super) fn refuse(line: u32, message: String) -> ReadError {
    ReadError::at(FORMAT.name, u64::from(line), 0, Problem::Other(message))
}

/// The name of the transaction that a line defines, and where its map begins.
pub(super) fn definition(line: &[u8]) -> Option<(&str, usize)> {
    let digits = line.strip_prefix(b"T")?.iter();
    let length = 1 + digits.take_while(|byte| byte.is_ascii_digit()).count();
    let name = std::str::from_utf8(&line[..length]).ok()?;
    let map = line[length..].strip_prefix(b" = ")?;
    let is_map = matches!(map, [b'{' | b'#', ..]);
    (length > 1 && is_map).then_some((name, length + b" = ".len()))
}

/// The moments that a line gives.
pub(super) fn moments(line: &[u8]) -> Option<Moments<'_>> {
    let number = |text: &str| {
        let text = text.strip_prefix("index ").unwrap_or(text);
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        text[..digits].parse::<i64>().ok()
    };
    let (before, after) = std::str::from_utf8(line)
        .ok()?
        .split_once(" completed at ")?;
    let ended = before.rsplit(' ').next()?;
    let (_, other) = after.split_once(" before the invocation of ")?;
    let (began, at) = other.split_once(", at ")?;
    Some(Moments {
        ended: (ended, number(after)?),
        began: (began, number(at)?),
    })
}

/// Reads a text.
pub(super) fn read<'a>(
    input: &Input<'a>,
    atoms: &mut Atoms<'_>,
    control: &Control,
) -> Result<Block<'a>, ReadError> {
    let bytes = crate::without_mark(input.bytes());
    control.phase("reading", bytes.len() as u64);
    let watch = Watch::new(FORMAT.name, control, 0);
    let mut scan = Scanner::<false>::new(FORMAT.name, bytes);
    let (mut block, mut names) = (
        Block {
            quoted: Vec::new(),
            order: Vec::new(),
            is_ordered: false,
            moments: Vec::new(),
            n_blocks: 0,
        },
        FxHashSet::default(),
    );
    let (mut start, mut number) = (0, 1);
    while start < bytes.len() {
        watch.at(start)?;
        let rest = &bytes[start..];
        let mut end = start + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = bytes[start..end].trim_ascii();
        let begin = start + bytes[start..end].len() - bytes[start..end].trim_ascii_start().len();
        if line == LET {
            block.n_blocks += 1;
        } else if block.n_blocks == 1 {
            if let Some((name, map)) = definition(line) {
                scan.move_to(bytes, begin + map, number, start);
                let quoted = quoted(name, &mut scan, atoms)?;
                if !names.insert(name) {
                    return Err(refuse(quoted.line, format!("`{name}` is there twice")));
                }
                block.quoted.push(quoted);
                end = scan.at() + memchr::memchr(b'\n', scan.rest()).unwrap_or(scan.rest().len());
                number = u64::from(scan.line());
            } else {
                block.moments.extend(moments(line));
            }
        }
        (start, number) = (end + 1, number + 1);
    }
    if block.quoted.is_empty() {
        let problem = Problem::Expected {
            expected: "a line `Let:`, followed by transactions like `T1 = {:type :ok, …}`",
            found: "none".to_owned(),
        };
        return Err(ReadError::whole(FORMAT.name, problem));
    }
    block.put_in_order();
    Ok(block)
}

/// A transaction, from the beginning of its map to the end of the line on which that ends.
fn quoted<'a>(
    name: &'a str,
    scan: &mut Scanner<'a, false>,
    atoms: &mut Atoms<'_>,
) -> Result<Quoted<'a>, ReadError> {
    let line = scan.line();
    scan.blanks()?;
    if scan.peek() != Some(b'{') {
        return scan.fail("a map like {:type :ok, …}");
    }
    let map = scan.tree()?;
    let after = scan.rest().iter();
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r');
    scan.pass(after.take_while(is_blank).count());
    if !matches!(scan.peek(), None | Some(b'\n')) {
        return scan.fail("the end of the line");
    }
    let shown = |tree: &Tree<'_>| escape(&cut(&tree.text(), 40));
    let stage = map.field("type").unwrap_or(&Tree::Nil);
    let outcome = match stage.word().and_then(Stage::named) {
        Some(Stage::Ok) => Outcome::Committed,
        Some(Stage::Fail) => Outcome::Aborted,
        Some(Stage::Info) => Outcome::Unknown,
        Some(Stage::Invoke) | None => {
            let found = shown(stage);
            return Err(refuse(
                line,
                format!("expected the type ok, fail or info, found {found}"),
            ));
        }
    };
    let micros = match map.field("value") {
        None | Some(Tree::Nil) => Ok(Vec::new()),
        Some(Tree::List(all)) => all
            .iter()
            .map(|one| Micro::of(one, atoms).ok_or(one))
            .collect(),
        Some(other) => Err(other),
    };
    let micros = micros.map_err(|found| {
        let found = shown(found);
        refuse(
            line,
            format!(
                "expected micro-operations like `[[:r x [1 2]] [:append y 3]]`, found `{found}`"
            ),
        )
    })?;
    let integer = |name| map.field(name).and_then(Tree::integer);
    Ok(Quoted {
        name,
        line,
        outcome,
        process: integer("process"),
        index: integer("index"),
        time: integer("time"),
        micros,
    })
}
