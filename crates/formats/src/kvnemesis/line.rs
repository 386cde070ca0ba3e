//! What a line of the text says.

use std::num::ParseIntError;

/// A key; in the order of the store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    /// `tk(5)`, or `/Table/100/"0000000000000005"`, as results name it.
    Number(u64),
    /// Any other, as it is written.
    Text(String),
}

impl Key {
    fn of(text: &str) -> Option<Key> {
        if let Some(number) = text
            .strip_prefix("tk(")
            .and_then(|rest| rest.strip_suffix(')'))
        {
            return number.parse().ok().map(Key::Number);
        }
        let (table, rest) = text.split_once('"')?;
        let inside = rest.strip_suffix('"')?;
        let is_table = table.is_empty() || table.starts_with('/');
        // Escaped keys may have another order than their texts.
        if !is_table || inside.contains(['"', '\\']) {
            return None;
        }
        let number: Result<u64, ParseIntError> = u64::from_str_radix(inside, 16);
        match number {
            Ok(number) if !table.is_empty() && format!("{number:016x}") == inside => {
                Some(Key::Number(number))
            }
            _ => Some(Key::Text(text.to_owned())),
        }
    }

    /// As the text names it.
    pub(super) fn name(&self) -> String {
        match self {
            Key::Number(number) => format!("tk({number})"),
            Key::Text(text) => text.clone(),
        }
    }
}

/// An access to data. Nothing is the absent value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Access {
    Get(Key, Option<String>),
    Put(Key, String),
    Del(Key),
    /// All keys from the first up to the second, and what was there.
    Scan(Key, Key, Vec<(Key, String)>),
    /// A read without a result.
    Nothing,
}

/// How something ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Fine,
    Failed,
    /// It may have taken effect.
    Unclear,
}

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// `db0.Txn(ctx, func(…`
    Transaction,
    /// `})`
    EndOfFunction(End),
    /// `{`
    Block,
    /// `}`
    EndOfBlock,
    /// `db0.Run(ctx, b)`; in a transaction that says how it ended itself.
    Run(End),
    /// Whether it is of the database, not of a transaction or a batch.
    Access(Access, End, bool),
    /// `g.GoCtx(func(…`, around the steps of a worker.
    Function,
    /// A transaction at another level than serializable.
    Weaker,
    /// It concerns no data.
    Aside,
    /// It says nothing.
    Frame,
}

/// The parts of a text between commas outside of quotes and brackets, up to the bracket that closes it, and what follows.
fn parts(text: &str) -> Option<(Vec<&str>, &str)> {
    let (mut parts, mut begin, mut depth, mut is_quoted) = (Vec::new(), 0, 0u32, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'(' | b'[' => depth += 1,
            b')' | b']' if depth > 0 => depth -= 1,
            b')' | b']' => {
                parts.push(text[begin..at].trim());
                return Some((parts, &text[at + 1..]));
            }
            b',' if depth == 0 => {
                parts.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    None
}

/// The result behind an operation: its values, and how it ended. Without one it may not have ended.
fn result(text: &str) -> Option<(Vec<&str>, End)> {
    let text = text.trim();
    if text.is_empty() {
        return Some((Vec::new(), End::Unclear));
    }
    let text = text.strip_prefix("//")?.trim_start();
    let text = match text.strip_prefix('@') {
        Some(stamped) => stamped.split_once(' ')?.1,
        None => text,
    };
    let is_nil = |word: &str| matches!(word, "nil" | "<nil>");
    if let Some((mut values, rest)) = text.strip_prefix('(').and_then(parts)
        && values.last().is_some_and(|word| is_nil(word))
    {
        values.pop();
        return rest.is_empty().then_some((values, End::Fine));
    }
    let end = match text.split(' ').next().is_some_and(is_nil) {
        true => End::Fine,
        false if text.contains("ambiguous") => End::Unclear,
        false => End::Failed,
    };
    Some((Vec::new(), end))
}

/// A value; nothing for the absent one.
fn value(text: &str) -> Option<String> {
    if matches!(text, "nil" | "<nil>") {
        return None;
    }
    let number = text
        .strip_prefix("sv(")
        .and_then(|rest| rest.strip_suffix(')'));
    let quoted = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    Some(match (number, quoted) {
        (Some(number), _) => format!("v{number}"),
        (None, Some(inside)) => inside.to_owned(),
        (None, None) => text.to_owned(),
    })
}

/// What a line is; none if that is not understood.
pub(super) fn line(text: &str) -> Option<Line> {
    match text {
        "" | "return nil" | "return errors.New(\"rollback\")" => return Some(Line::Frame),
        "{" => return Some(Line::Block),
        "}" => return Some(Line::EndOfBlock),
        _ if text.starts_with("//") || text.starts_with("b := &") => return Some(Line::Frame),
        _ if text.starts_with("g := ") || text.starts_with("require.") => return Some(Line::Frame),
        _ if text.starts_with("g.GoCtx(func(") => return Some(Line::Function),
        _ => {}
    }
    if let Some(rest) = text.strip_prefix("})") {
        return Some(Line::EndOfFunction(result(rest)?.1));
    }
    let (called, rest) = text.split_once('(')?;
    let (receiver, method) = called.split_once('.')?;
    if method == "Txn" && is_database(receiver) && rest.starts_with("ctx, func(") {
        return Some(Line::Transaction);
    }
    let (mut arguments, rest) = parts(rest)?;
    if arguments.first() == Some(&"ctx") {
        arguments.remove(0);
    }
    for argument in &mut arguments {
        *argument = argument.split(" /*").next().unwrap_or_default();
    }
    if is_aside(receiver, method) {
        return Some(Line::Aside);
    }
    let (values, end) = result(rest)?;
    match method {
        "SetIsoLevel" if arguments != ["isolation.Serializable"] => Some(Line::Weaker),
        "SetIsoLevel"
        | "SetBufferedWritesEnabled"
        | "CreateSavepoint"
        | "ReleaseSavepoint"
        | "CommitInBatch" => Some(Line::Frame),
        "Run" => Some(Line::Run(end)),
        _ => {
            let access = access(method, &arguments, &values, end)?;
            Some(Line::Access(access, end, is_database(receiver)))
        }
    }
}

pub(super) fn is_database(receiver: &str) -> bool {
    let number = receiver.strip_prefix("db");
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether such a call moves ranges or changes settings.
fn is_aside(receiver: &str, method: &str) -> bool {
    let words = ["Admin", "TransferLease", "Barrier"];
    receiver == "env" || is_database(receiver) && words.iter().any(|word| method.starts_with(word))
}

fn access(method: &str, arguments: &[&str], values: &[&str], end: End) -> Option<Access> {
    // How rows are locked does not change what a read returns, unless it skips some of them.
    let method = method
        .strip_suffix("GuaranteedDurability")
        .unwrap_or(method);
    let read = method
        .strip_suffix("ForUpdate")
        .or(method.strip_suffix("ForShare"));
    let has_result = end == End::Fine;
    match (read.unwrap_or(method), arguments) {
        ("Get", [key]) => {
            let key = Key::of(key)?;
            match values {
                [one] => Some(Access::Get(key, value(one))),
                [] if !has_result => Some(Access::Nothing),
                _ => None,
            }
        }
        ("Put", [key, one]) if read.is_none() => Some(Access::Put(Key::of(key)?, value(one)?)),
        ("Del", [key]) if read.is_none() => Some(Access::Del(Key::of(key)?)),
        ("Scan" | "ReverseScan", [from, to] | [from, to, "0"]) => {
            let (from, to) = (Key::of(from)?, Key::of(to)?);
            if !has_result && values.is_empty() {
                return Some(Access::Nothing);
            }
            let listed = match values {
                [one] => one.strip_prefix('[').and_then(parts),
                _ => None,
            };
            let rows = match &listed {
                Some((rows, "")) if rows[..] == [""] => &[],
                Some((rows, "")) => &rows[..],
                _ => values,
            };
            let row = |row: &&str| {
                let (key, one) = row.rsplit_once(':')?;
                let key = Key::of(key).filter(|key| (&from..&to).contains(&key))?;
                Some((key, value(one)?))
            };
            let rows = rows.iter().map(row).collect::<Option<_>>()?;
            Some(Access::Scan(from, to, rows))
        }
        _ => None,
    }
}
