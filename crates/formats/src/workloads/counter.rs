//! A counter: amounts are added, and reads return the sum.

use super::exchange::{answers, requests, some_answer};
use super::facts::{Facts, MOST_SHOWN, Seen, order};
use super::linear::{Linearity, Model};
use super::{Exchange, Items, Meaning, Refusal, Workload};
use crate::operations::Tree;
use isoscope_model::history::{Answer, Outcome};

const NO_LEVELS: Option<&str> = Some("a read of a counter does not say which additions it saw");

/// Additions are not negative, so that each read has a lower and an upper bound.
pub(super) const COUNTER: Workload = Workload {
    name: "counter",
    must: &["add"],
    may: &["read"],
    fits: |exchanges| are_numbers(exchanges) && !has_final_sums(exchanges),
    keyed: true,
    meaning: Meaning::Items(items),
    facts: bounds,
    no_levels: NO_LEVELS,
    assumes: "A counter is 0 at first.",
};

/// Additions may be negative; only reads that are marked `:final?` are compared.
pub(super) const PN_COUNTER: Workload = Workload {
    name: "pn-counter",
    must: &["add"],
    may: &["read"],
    fits: |exchanges| are_numbers(exchanges) && has_final_sums(exchanges),
    keyed: true,
    meaning: Meaning::Items(items),
    facts: sums,
    no_levels: NO_LEVELS,
    assumes: "A counter is 0 at first.",
};

/// The same without a read that says anything: a set, unless that is said.
pub(super) const WITHOUT_READS: Workload = Workload {
    fits: |exchanges| {
        requests(exchanges, "add", |value| value.integer().is_some())
            && answers(exchanges, "read", |value| value.is_nil())
    },
    ..COUNTER
};

fn are_numbers(exchanges: &[Exchange<'_, '_>]) -> bool {
    requests(exchanges, "add", |value| value.integer().is_some())
        && some_answer(exchanges, "read", |value| value.integer().is_some())
        && answers(exchanges, "read", |value| {
            value.integer().is_some() || value.is_nil()
        })
}

fn is_final(exchange: &Exchange<'_, '_>) -> bool {
    exchange
        .operation
        .field("final?")
        .is_some_and(|value| value.text() == "true")
}

fn has_final_sums(exchanges: &[Exchange<'_, '_>]) -> bool {
    let is_negative = |exchange: &Exchange<'_, '_>| exchange.word == "add" && amount(exchange) < 0;
    exchanges
        .iter()
        .any(|exchange| is_final(exchange) || is_negative(exchange))
}

/// What an addition adds.
fn amount(exchange: &Exchange<'_, '_>) -> i128 {
    i128::from(exchange.asked().integer().unwrap_or_default())
}

/// What a picture shows: amounts, and sums that were read.
fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    let only = super::name("counter");
    for exchange in exchanges {
        let key = exchange.key.unwrap_or(&only);
        items.begin(exchange);
        match exchange.got() {
            _ if exchange.word == "add" => {
                items.write(key, &Tree::Name(format!("{:+}", amount(exchange)).into()));
            }
            Some(read) => items.read(key, read),
            None => {}
        }
    }
    Ok(())
}

/// Sums of amounts by the moment at which they count.
struct Sums(Vec<(i64, i128)>);

impl Sums {
    fn new(moments: impl Iterator<Item = (i64, i128)>) -> Sums {
        let mut moments: Vec<(i64, i128)> = moments.collect();
        moments.sort_unstable_by_key(|(moment, _)| *moment);
        let mut sum = 0;
        for (_, amount) in &mut moments {
            sum += *amount;
            *amount = sum;
        }
        Sums(moments)
    }

    /// The sum of what counts before a moment.
    fn before(&self, moment: i64) -> i128 {
        let n = self.0.partition_point(|(other, _)| *other < moment);
        n.checked_sub(1).map_or(0, |last| self.0[last].1)
    }
}

/// By ends of reads: the greatest value that had been read by then, and the call that read it.
fn greatest(exchanges: &[Exchange<'_, '_>]) -> Vec<(i64, i128, usize)> {
    let reads = exchanges.iter().filter(|exchange| exchange.word == "read");
    let value = |read: &Exchange<'_, '_>| {
        let value = read.got().and_then(Tree::integer)?;
        Some((read.end?, i128::from(value), read.call))
    };
    let mut seen: Vec<(i64, i128, usize)> = reads.filter_map(value).collect();
    seen.sort_unstable();
    for at in 1..seen.len() {
        let (_, value, call) = seen[at - 1];
        if value > seen[at].1 {
            (seen[at].1, seen[at].2) = (value, call);
        }
    }
    seen
}

/// A read lies between the sum of what had been added before it began and of what had begun to be added before it ended.
fn bounds(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    let additions = || exchanges.iter().filter(|exchange| exchange.word == "add");
    let sure = additions().filter(|addition| addition.is_committed());
    let ended = Sums::new(sure.filter_map(|addition| Some((addition.end?, amount(addition)))));
    let possible = additions().filter(|addition| addition.outcome != Outcome::Aborted);
    let begun = Sums::new(possible.map(|addition| (addition.begin, amount(addition))));
    let seen = greatest(exchanges);
    let mut is_valid = true;
    for read in exchanges.iter().filter(|exchange| exchange.word == "read") {
        let Some(got) = read.got().and_then(Tree::integer).map(i128::from) else {
            continue;
        };
        let (least, most) = (
            ended.before(read.begin),
            begun.before(read.end.unwrap_or(i64::MAX)),
        );
        if (least..=most).contains(&got) {
            continue;
        }
        is_valid = false;
        // What had to count, or what could.
        let is_low = got < least;
        let is_counted = |addition: &&Exchange<'_, '_>| match is_low {
            true => addition.is_committed() && addition.end.is_some_and(|end| end < read.begin),
            false => read.end.is_none_or(|end| addition.begin < end),
        };
        let latest = exchanges.iter().filter(|exchange| exchange.word == "add");
        let counted = latest.filter(is_counted).rev().map(|one| one.call);
        // A read that had seen more says it at once.
        let at = seen.partition_point(|(end, ..)| *end < read.begin);
        let earlier = at.checked_sub(1).map(|last| seen[last]);
        let earlier = earlier.filter(|(_, value, _)| is_low && *value > got);
        let (name, statement, shown) = match earlier {
            Some((_, value, _)) => (
                "too low",
                format!(
                    "{got} was read after {value} had been read: additions of {least} in all had ended before"
                ),
                1,
            ),
            None if is_low => (
                "too low",
                format!("{got} was read, though additions of {least} in all had ended before"),
                MOST_SHOWN - 1,
            ),
            None => (
                "too high",
                format!("{got} was read, though at most {most} can have been added by then"),
                MOST_SHOWN - 1,
            ),
        };
        let calls = counted.take(shown).chain([read.call]);
        let calls = calls.chain(earlier.map(|(.., call)| call)).collect();
        facts.add(
            exchanges,
            Seen::new(name, vec![got.to_string()], statement, calls),
        );
    }
    let is_read = some_answer(exchanges, "read", |value| !value.is_nil());
    facts.answer(
        "counter",
        match is_read {
            true => Answer::valid_if(is_valid),
            false => Answer::Unknown,
        },
    );
    order::<Sum>(exchanges, "a counter", is_valid, facts);
}

/// A counter as a data type.
struct Sum;

impl Model for Sum {
    type State = i128;

    const LONGEST: usize = usize::MAX;

    fn changes(exchange: &Exchange<'_, '_>) -> bool {
        exchange.word == "add"
    }

    fn step(sum: &i128, exchange: &Exchange<'_, '_>) -> Option<i128> {
        match exchange.word {
            "add" => Some(sum + amount(exchange)),
            _ => match exchange.got().and_then(Tree::integer) {
                Some(got) => (i128::from(got) == *sum).then_some(*sum),
                None => Some(*sum),
            },
        }
    }

    fn decide(exchanges: &[&Exchange<'_, '_>]) -> Option<Linearity> {
        super::ones::decide(exchanges)
    }
}

/// Most additions without an answer whose sums are tried.
const MOST_SUMS: usize = 1 << 16;

/// A final read is the sum of what was added, and of some of what had no answer.
fn sums(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    order::<Sum>(exchanges, "a counter", false, facts);
    let additions = || exchanges.iter().filter(|exchange| exchange.word == "add");
    let sure: i128 = additions()
        .filter(|addition| addition.is_committed())
        .map(amount)
        .sum();
    let mut possible = std::collections::BTreeSet::from([sure]);
    for open in additions().filter(|addition| addition.outcome == Outcome::Unknown) {
        let with: Vec<i128> = possible.iter().map(|sum| sum + amount(open)).collect();
        possible.extend(with);
        if possible.len() > MOST_SUMS {
            facts.answer("pn-counter", Answer::Unknown);
            return;
        }
    }
    let mut is_valid = true;
    for read in exchanges.iter().filter(|exchange| is_final(exchange)) {
        let Some(got) = read.got().and_then(Tree::integer).map(i128::from) else {
            continue;
        };
        if possible.contains(&got) {
            continue;
        }
        is_valid = false;
        let would_do: Vec<String> = possible.iter().take(10).map(i128::to_string).collect();
        facts.add(
            exchanges,
            Seen {
                name: "no sum",
                about: vec![got.to_string()],
                statement: format!("no sum explains {got}; {} would do", would_do.join(" or ")),
                calls: vec![read.call],
                counts: true,
            },
        );
    }
    facts.answer("pn-counter", Answer::valid_if(is_valid));
}
