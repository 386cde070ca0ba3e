//! Operations whose values are trees → [`Log`].

use super::log::{Content, Log, MicroOperation, Payload, Verb};
use crate::operations::{Event, Operation, Operations, Stage, Tree};

/// The log of operations that are transactions of micro-operations. `keyed`: values are pairs of a key and these; a name of
/// a key is then a pair, too.
pub(crate) fn log_of<'a>(operations: Operations<'a>, keyed: bool) -> Log<'a> {
    log_by(operations, |log, event| {
        let (outer, value) = match event.content.value.pair_or_more() {
            Some((key, [value])) if keyed => (Some(key), value),
            _ => (None, &event.content.value),
        };
        for micro in value.elements().into_iter().flatten() {
            log.take(micro, outer, event.line);
        }
        value.is_nil()
    })
}

/// A micro-operation that has a line of its own.
pub(crate) struct RowOperation<'a> {
    /// `r`, `w` or `append`.
    pub(crate) word: &'static str,
    pub(crate) key: Tree<'a>,
    pub(crate) value: Tree<'a>,
    pub(crate) line: u32,
}

/// The log of operations that are transactions: the value of each is its place among those.
pub(crate) fn log_of_rows<'a>(
    operations: Operations<'a>,
    transactions: &[Vec<RowOperation<'_>>],
) -> Log<'a> {
    log_by(operations, |log, event| {
        let place = event.content.value.integer();
        let is_answer = event.stage != Stage::Invoke;
        let rows = place
            .filter(|_| is_answer)
            .and_then(|at| transactions.get(usize::try_from(at).ok()?));
        for row in rows.into_iter().flatten() {
            log.operation((Some(row.word), &row.key, &row.value), None, row.line);
        }
        !is_answer
    })
}

/// The log of operations of which this function takes the micro-operations. It returns whether there is nothing to take.
fn log_by<'a>(
    operations: Operations<'a>,
    mut take: impl FnMut(&mut Log<'a>, &Event<Operation<'a>>) -> bool,
) -> Log<'a> {
    let mut log = Log {
        around: operations.around,
        ..Log::default()
    };
    for event in operations.events {
        let begin = log.operations.len();
        let is_nothing = take(&mut log, &event);
        let content = match is_nothing {
            true => Content::Nothing,
            false => Content::Transaction {
                begin,
                end: log.operations.len(),
            },
        };
        let Event {
            process,
            stage,
            time,
            place,
            line,
            ..
        } = event;
        log.events.push(Event {
            process,
            stage,
            time,
            place,
            line,
            content,
        });
    }
    log
}

/// Whether all operations are transactions of micro-operations on registers and lists. Those with keys around them are
/// not, nor those that read sets.
pub(crate) fn are_transactions(operations: &Operations<'_>) -> bool {
    let is_micro = |tree: &Tree<'_>| match tree {
        Tree::List(parts) => match &parts[..] {
            [word, _]
            | [
                word,
                _,
                Tree::Nil | Tree::Number(_) | Tree::Name(_) | Tree::List(_),
            ] => {
                matches!(word.word(), Some("r" | "w" | "append" | "read" | "write"))
            }
            _ => false,
        },
        _ => false,
    };
    operations.events.iter().all(|event| {
        let is_named = matches!(&*event.content.function, "" | "txn");
        match &event.content.value {
            Tree::Nil => is_named,
            Tree::List(all) => (is_named || !all.is_empty()) && all.iter().all(is_micro),
            _ => false,
        }
    })
}

impl Log<'_> {
    /// Takes a micro-operation; anything else is left out.
    fn take(&mut self, micro: &Tree<'_>, outer: Option<&Tree<'_>>, line: u32) {
        let micro = match micro.elements() {
            Some([word, key]) => (word.word(), key, &Tree::Nil),
            Some([word, key, value]) => (word.word(), key, value),
            _ => return,
        };
        self.operation(micro, outer, line);
    }

    /// Takes a word, a key and a value.
    fn operation(
        &mut self,
        (word, key, value): (Option<&str>, &Tree<'_>, &Tree<'_>),
        outer: Option<&Tree<'_>>,
        line: u32,
    ) {
        let verb = match word {
            Some("r" | "read") => Verb::Read,
            Some("w" | "write") => Verb::Write,
            Some("append") => Verb::Append,
            _ => return,
        };
        let key = match outer {
            Some(outer) => self
                .atoms
                .of_tree(&Tree::List([outer.clone(), key.clone()].into())),
            None => self.atoms.of_tree(key),
        };
        let key = self.key_place(key);
        let payload = match value {
            Tree::Nil => Payload::Nothing,
            Tree::List(elements) if verb == Verb::Read => {
                let elements: Vec<_> = elements.iter().map(|one| self.atoms.of_tree(one)).collect();
                Payload::List(self.lists.keep(key, &elements, None, &[]))
            }
            value => Payload::One(self.atoms.of_tree(value)),
        };
        self.operations.push(MicroOperation {
            verb,
            key,
            payload,
            line,
        });
    }
}
