//! A balance that is credited, debited and read: each change answers with the new value.

use super::exchange::{answers, requests};
use super::{Exchange, Items, Meaning, Refusal, Workload, no_facts};
use crate::operations::Tree;

/// A change that answers with the new balance has read the old one.
pub(super) const BALANCE: Workload = Workload {
    name: "balance",
    must: &["credit", "debit"],
    may: &["read-balance"],
    fits: |exchanges| {
        let is_number = |value: &Tree<'_>| value.integer().is_some();
        ["credit", "debit"]
            .iter()
            .all(|word| requests(exchanges, word, is_number))
            && ["credit", "debit", "read-balance"]
                .iter()
                .all(|word| answers(exchanges, word, is_number))
    },
    keyed: true,
    meaning: Meaning::Items(items),
    facts: no_facts,
    no_levels: None,
    assumes: "A balance is 0 at first; `credit` and `debit` answer with the new one, so they have read it without their amount.",
};

fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    let only = super::name("balance");
    for exchange in exchanges {
        let (Some(got), Some(amount)) = (
            exchange.got().and_then(Tree::integer),
            exchange.asked().integer().or(Some(0)),
        ) else {
            continue;
        };
        let key = exchange.key.unwrap_or(&only);
        let before = match exchange.word {
            "credit" => got.checked_sub(amount),
            "debit" => got.checked_add(amount),
            _ => Some(got),
        };
        let Some(before) = before else {
            return Err((exchange.line, "the amount is too large".to_owned()));
        };
        items.begin(exchange);
        items.read(key, &balance(before));
        if exchange.word != "read-balance" {
            items.write(key, &balance(got));
        }
    }
    items.lack_answers(exchanges, |word| word != "read-balance");
    Ok(())
}

/// A balance as a value. The one at first is nothing.
fn balance(amount: i64) -> Tree<'static> {
    match amount {
        0 => Tree::Nil,
        _ => super::number(amount),
    }
}
