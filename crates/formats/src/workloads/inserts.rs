//! Inserts of one of two rows of a key, where neither is there: `g2`, `adya`.

use super::exchange::requests;
use super::{Exchange, Items, Meaning, Refusal, Workload};
use crate::operations::Tree;

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
