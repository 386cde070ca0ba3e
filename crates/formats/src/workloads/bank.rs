//! Accounts between which money is transferred, and reads of all balances.

use super::exchange::{answers, requests, some_answer};
use super::facts::{Facts, Seen, order};
use super::linear::Model;
use super::{Exchange, Items, Meaning, Refusal, Workload, plain};
use crate::operations::Tree;
use isoscope_model::history::{Answer, Linear, Outcome};
use isoscope_model::levels::Level;
use std::collections::{BTreeMap, BTreeSet};

/// What a transfer reads is not in the log, so that only the totals of reads say something.
pub(super) const BANK: Workload = Workload {
    name: "bank",
    must: &["transfer", "read"],
    may: &[],
    fits: |exchanges| {
        let is_map = |value: &Tree<'_>| {
            let is_balance = |value: &Tree<'_>| value.is_nil() || value.integer().is_some();
            let fields = value.fields();
            fields.is_some_and(|fields| fields.iter().all(|(_, value)| is_balance(value)))
        };
        some_answer(exchanges, "read", is_map)
            && answers(exchanges, "read", |value| value.is_nil() || is_map(value))
            && requests(exchanges, "transfer", |value| {
                let is_there = |name| value.field(name).is_some_and(|value| !value.is_nil());
                is_there("from") && is_there("to") && amount(value).is_some()
            })
    },
    keyed: false,
    meaning: Meaning::Items(items),
    facts,
    no_levels: Some("a transfer does not say which balances it read"),
    assumes: "Transfers keep the total, which the first read of all balances has.",
};

/// What a transfer moves.
fn amount(transfer: &Tree<'_>) -> Option<i64> {
    transfer.field("amount").and_then(Tree::integer)
}

/// What a picture shows: balances that were read, and amounts that were moved.
fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    for exchange in exchanges {
        items.begin(exchange);
        if exchange.word == "read" {
            let fields = exchange.got().and_then(Tree::fields).unwrap_or_default();
            fields
                .iter()
                .for_each(|(account, balance)| items.read(&plain(account), balance));
            continue;
        }
        let field = |name| exchange.asked().field(name);
        let amount = field("amount").map(Tree::text).unwrap_or_default();
        for (account, sign) in [(field("from"), '-'), (field("to"), '+')] {
            if let Some(account) = account {
                items.write(
                    &plain(account),
                    &Tree::Name(format!("{sign}{amount}").into()),
                );
            }
        }
    }
    Ok(())
}

/// The balances of a read.
fn balances(read: &Exchange<'_, '_>) -> Option<BTreeMap<String, Option<i64>>> {
    let fields = read.got()?.fields()?.iter();
    Some(
        fields
            .map(|(account, balance)| (plain(account).text().into_owned(), balance.integer()))
            .collect(),
    )
}

/// "read → total 10 (0: 5, 1: 5)", "transfer 2 from 0 to 1".
fn in_words(exchange: &Exchange<'_, '_>) -> Option<String> {
    const MOST: usize = 6;
    if exchange.word == "transfer" {
        let field = |name| exchange.asked().field(name).map(Tree::in_words);
        let (from, to) = (field("from")?, field("to")?);
        return Some(format!("transfer {} from {from} to {to}", field("amount")?));
    }
    let balances = balances(exchange)?;
    let total: i128 = balances
        .values()
        .flatten()
        .map(|balance| i128::from(*balance))
        .sum();
    let shown = balances.iter().take(MOST).map(|(account, balance)| {
        let balance = balance.map_or_else(|| "nothing".to_owned(), |balance| balance.to_string());
        format!("{account}: {balance}")
    });
    let more = if balances.len() > MOST { ", …" } else { "" };
    let shown: Vec<String> = shown.collect();
    Some(format!("read → total {total} ({}{more})", shown.join(", ")))
}

/// Most calls before a read among which transfers are shown.
const MOST_TRANSFERS: usize = 10;

/// Most findings that are guessed about.
const MOST_GUESSES: usize = 20;

/// Of each read the first that applies: an unknown account, one without a balance, a wrong total, a balance below zero.
fn facts(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    facts.words = in_words;
    let reads: Vec<&Exchange<'_, '_>> = exchanges
        .iter()
        .filter(|exchange| exchange.word == "read" && balances(exchange).is_some())
        .collect();
    // The first that was answered with all balances says what the total is.
    let complete = |read: &&Exchange<'_, '_>| {
        let accounts = balances(read)?;
        accounts.values().all(Option::is_some).then_some(accounts)
    };
    let all = reads
        .iter()
        .filter_map(|read| Some((*read, complete(read)?)));
    let Some((first, accounts)) = all.min_by_key(|(read, _)| read.end.unwrap_or(i64::MAX)) else {
        facts.answer("bank", Answer::Unknown);
        facts.linear(Linear::Unknown);
        return;
    };
    let total = accounts
        .values()
        .flatten()
        .map(|balance| i128::from(*balance))
        .sum::<i128>();
    let (mut before, mut n_found, mut has_wrong_total) = (first, 0, false);
    for read in reads {
        let Some(balances) = balances(read) else {
            continue;
        };
        let unknown: Vec<&String> = balances
            .keys()
            .filter(|account| !accounts.contains_key(*account))
            .collect();
        let missing = balances.iter().find(|(_, balance)| balance.is_none());
        let sum = balances
            .values()
            .flatten()
            .map(|balance| i128::from(*balance))
            .sum::<i128>();
        let negative = balances
            .iter()
            .find(|(_, balance)| balance.is_some_and(|balance| balance < 0));
        let (name, about, statement) = if let Some(account) = unknown.first() {
            (
                "unknown account",
                (*account).clone(),
                format!("the account {account} is not one of the first read"),
            )
        } else if let Some((account, _)) = missing {
            (
                "no balance",
                account.clone(),
                format!("the account {account} has no balance"),
            )
        } else if sum != total {
            let what = if sum > total {
                "money appeared"
            } else {
                "money vanished"
            };
            (
                "wrong total",
                sum.to_string(),
                format!("{what}: the balances sum to {sum}, not {total}"),
            )
        } else if let Some((account, Some(balance))) = negative {
            (
                "negative",
                balance.to_string(),
                format!("the account {account} is below zero: {balance}"),
            )
        } else {
            before = read;
            continue;
        };
        // The last transfers before, which may have made the difference.
        let near = transfers_between(exchanges, before, read);
        let may_guess =
            name == "wrong total" && n_found < MOST_GUESSES && near.len() <= MOST_TRANSFERS;
        let guess = may_guess.then(|| half_seen(&near, before, read)).flatten();
        let statement = statement + &guess.unwrap_or_default();
        let between = near
            .iter()
            .take(MOST_TRANSFERS)
            .map(|transfer| transfer.call);
        n_found += 1;
        has_wrong_total |= name == "wrong total";
        let calls = between.chain([before.call, read.call]).collect();
        facts.add(exchanges, Seen::new(name, vec![about], statement, calls));
    }
    facts.answer("bank", Answer::valid_if(n_found == 0));
    let are_complete = are_complete(exchanges, &accounts);
    if are_complete && has_wrong_total {
        // What transfers leave as it is, a snapshot of them has.
        facts.linear(Linear::Broken(Level::PlainParallelSnapshotIsolation));
    }
    match are_complete {
        true => order::<Accounts>(exchanges, "a bank", n_found == 0, facts),
        false => facts.linear(Linear::Unknown),
    }
}

/// The transfers that ran between two reads or during one of them, the latest first, among the last calls before.
fn transfers_between<'e, 'c, 'a>(
    exchanges: &'e [Exchange<'c, 'a>],
    before: &Exchange<'_, '_>,
    read: &Exchange<'_, '_>,
) -> Vec<&'e Exchange<'c, 'a>> {
    const LOOKED_AT: usize = 64;
    let end = exchanges.partition_point(|exchange| exchange.call < before.call.max(read.call));
    let last = exchanges[..end].iter().rev().take(LOOKED_AT);
    let ran = last.filter(|exchange| {
        let may_have = exchange.word == "transfer" && exchange.outcome != Outcome::Aborted;
        may_have && exchange.end.is_none_or(|end| end > before.begin)
    });
    ran.collect()
}

/// The half of a transfer that explains a read, with some of the others as a whole, in words: a guess, if there is only one.
fn half_seen(
    transfers: &[&Exchange<'_, '_>],
    before: &Exchange<'_, '_>,
    read: &Exchange<'_, '_>,
) -> Option<String> {
    let accounts: Vec<String> = balances(read)?.into_keys().collect();
    let place = |transfer: &Exchange<'_, '_>, name| {
        let account = plain(transfer.asked().field(name)?).text().into_owned();
        accounts.binary_search(&account).ok()
    };
    let moved = |transfer: &&Exchange<'_, '_>| {
        let (from, to) = (place(transfer, "from")?, place(transfer, "to")?);
        Some((from, to, amount(transfer.asked())?))
    };
    let [start, found] = [balances(before)?, balances(read)?];
    let start: Vec<i64> = start.into_values().collect::<Option<_>>()?;
    let found: Vec<i64> = found.into_values().collect::<Option<_>>()?;
    if start.len() != found.len() {
        return None;
    }
    let mut moves: Vec<(usize, usize, i64)> = transfers.iter().map(moved).collect::<Option<_>>()?;
    // Only the accounts of these transfers can have changed: there may be many others.
    let touched: BTreeSet<usize> = moves
        .iter()
        .flat_map(|(from, to, _)| [*from, *to])
        .collect();
    let is_other = |at: &usize| !touched.contains(at);
    if (0..start.len())
        .filter(is_other)
        .any(|at| start[at] != found[at])
    {
        return None;
    }
    let touched: Vec<usize> = touched.into_iter().collect();
    let [start, found] =
        [start, found].map(|all| touched.iter().map(|at| all[*at]).collect::<Vec<i64>>());
    for (from, to, _) in &mut moves {
        *from = touched.binary_search(from).ok()?;
        *to = touched.binary_search(to).ok()?;
    }
    let mut guesses = BTreeSet::new();
    for some in 0_u32..1 << moves.len() {
        let mut now = start.clone();
        let whole = (0..moves.len()).filter(|at| some >> at & 1 == 1);
        for (from, to, amount) in whole.map(|at| moves[at]) {
            now[from] = now[from].checked_sub(amount)?;
            now[to] = now[to].checked_add(amount)?;
        }
        for (at, (from, to, amount)) in moves.iter().enumerate() {
            if some >> at & 1 == 1 {
                continue;
            }
            for (half, account, change) in [("debit", *from, -amount), ("credit", *to, *amount)] {
                let mut only = now.clone();
                only[account] = only[account].checked_add(change)?;
                if only == found {
                    guesses.insert((half, at));
                }
            }
        }
    }
    let [(half, at)] = guesses.into_iter().collect::<Vec<_>>()[..] else {
        return None;
    };
    let which = in_words(transfers[at])?;
    Some(format!(
        ", as if only the {half} of \u{201c}{which}\u{201d} had been seen"
    ))
}

/// Whether all reads return these accounts, and transfers are between them: some banks drop empty accounts.
fn are_complete(exchanges: &[Exchange<'_, '_>], accounts: &BTreeMap<String, Option<i64>>) -> bool {
    exchanges.iter().all(|exchange| match exchange.word {
        "read" => balances(exchange).is_none_or(|read| read.keys().eq(accounts.keys())),
        _ => ["from", "to"].iter().all(|name| {
            let account = exchange.asked().field(name);
            account.is_some_and(|account| accounts.contains_key(&*plain(account).text()))
        }),
    })
}

/// Accounts as a data type. What they hold at first is known once a read has taken effect.
struct Accounts;

/// Amounts by account.
type Amounts = BTreeMap<String, i128>;

impl Model for Accounts {
    /// What transfers have changed, and what there was before them.
    type State = (Amounts, Option<Amounts>);

    const COST: usize = 16;

    fn changes(exchange: &Exchange<'_, '_>) -> bool {
        exchange.word == "transfer"
    }

    fn step((changes, first): &Self::State, exchange: &Exchange<'_, '_>) -> Option<Self::State> {
        let mut changes = changes.clone();
        if exchange.word == "transfer" {
            let field = |name| exchange.asked().field(name);
            let amount = i128::from(amount(exchange.asked())?);
            for (account, change) in [(field("from")?, -amount), (field("to")?, amount)] {
                *changes
                    .entry(plain(account).text().into_owned())
                    .or_default() += change;
            }
            return Some((changes, first.clone()));
        }
        let Some(read) = balances(exchange) else {
            return Some((changes, first.clone()));
        };
        let before = |(account, balance): (String, Option<i64>)| {
            let change = changes.get(&account).copied().unwrap_or_default();
            Some((account, i128::from(balance?) - change))
        };
        let before: Amounts = read.into_iter().map(before).collect::<Option<_>>()?;
        let is_same = first.as_ref().is_none_or(|first| *first == before);
        is_same.then_some((changes, Some(before)))
    }
}
