//! Inserts of one of two rows of a key, where neither is there: `g2`, `adya`.

use super::exchange::requests;
use super::facts::{Facts, Seen};
use super::{Exchange, Items, Meaning, Refusal, Workload};
use crate::operations::Tree;
use isoscope_model::history::Answer;

/// Each insert that succeeded read both rows of its key as absent and wrote one: two of them are write skew.
pub(super) const INSERTS: Workload = Workload {
    name: "g2",
    must: &["insert"],
    may: &[],
    fits: |exchanges| {
        requests(exchanges, "insert", |value| match value.elements() {
            Some([one, other]) => one.is_nil() != other.is_nil(),
            _ => false,
        })
    },
    keyed: true,
    meaning: Meaning::Items(items),
    facts,
    no_levels: None,
    assumes: "An insert that succeeded has read both rows of its key, and neither was there.",
};

fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    for exchange in exchanges {
        let rows = [super::name("a"), super::name("b")].map(|row| exchange.named(&row));
        items.begin(exchange);
        if exchange.is_committed() {
            rows.iter().for_each(|row| items.read(row, &Tree::Nil));
        }
        let given = exchange.asked().elements().unwrap_or_default();
        for (row, value) in rows.iter().zip(given).filter(|(_, value)| !value.is_nil()) {
            items.write(row, value);
        }
    }
    Ok(())
}

/// Two inserts of a key that succeeded.
fn facts(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    let both: Vec<usize> = exchanges
        .iter()
        .filter(|exchange| exchange.is_committed())
        .map(|exchange| exchange.call)
        .collect();
    facts.answer("g2", Answer::valid_if(both.len() < 2));
    let row = |exchange: &Exchange<'_, '_>| {
        exchange
            .asked()
            .elements()
            .and_then(|rows| rows.iter().position(|row| !row.is_nil()))
    };
    let mut rows = exchanges
        .iter()
        .filter(|exchange| exchange.is_committed())
        .map(row);
    let first = rows.next();
    let one_row = rows.all(|row| Some(row) == first);
    if both.len() > 1 {
        let key = exchanges[0]
            .key
            .map_or_else(String::new, |key| key.text().into_owned());
        facts.add(
            exchanges,
            Seen {
                name: "both inserted",
                statement: match one_row {
                    true => "a row was inserted twice".to_owned(),
                    false => "both rows were inserted".to_owned(),
                },
                about: vec![key],
                calls: both,
                counts: true,
            },
        );
    }
}
