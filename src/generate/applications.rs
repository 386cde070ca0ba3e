//! Applications in key-value form: C-Twitter and RUBiS as in Cobra (Tan et al. 2020, section 6) and PolySI (section 5.1),
//! TPC-C after clause 2 of its specification (revision 5.11).
//!
//! A row is a key, an index that transactions read and change is a key as well. What a transaction touches is settled
//! before it runs, as for all workloads here; identifiers that a database would hand out are made by the client.

use super::plan::{Key, Step};
use super::workload::Client;

/// Reads a key and writes it.
fn update(steps: &mut Vec<Step>, key: Key) {
    steps.extend([Step::Read(key), Step::Write(key)]);
}

/// Half of the transactions show a timeline, the others tweet or follow.
pub(super) fn twitter(client: &mut Client) -> Vec<Step> {
    let user = client.draw();
    let mut steps = vec![Step::Read(Key::of("user", user))];
    match client.random.u8(0..100) {
        0..50 => {
            steps.push(Step::Read(Key::of("follows", user)));
            for _ in 0..client.random.u8(1..=6) {
                let followed = client.draw();
                steps.push(Step::Read(Key::of("timeline", followed)));
            }
        }
        50..80 => {
            let tweet = client.fresh();
            steps.push(Step::Write(Key::of("tweet", tweet)));
            update(&mut steps, Key::of("timeline", user));
        }
        80..95 => update(&mut steps, Key::of("follows", user)),
        _ => steps.push(Step::Write(Key::of("user", user))),
    }
    steps
}

/// Users look at items and bid for them, sell, comment and rate each other.
pub(super) fn rubis(client: &mut Client) -> Vec<Step> {
    let (user, item) = (client.draw(), client.draw());
    let (user_key, item_key) = (Key::of("user", user), Key::of("item", item));
    let mut steps = Vec::new();
    match client.random.u8(0..100) {
        // Looks at an item and its bids.
        0..40 => steps.extend([item_key, Key::of("bids", item), Key::of("rating", user)].map(Step::Read)),
        // Bids.
        40..70 => {
            steps.extend([user_key, item_key].map(Step::Read));
            update(&mut steps, Key::of("bids", item));
            let bid = client.fresh();
            steps.push(Step::Write(Key::of("bid", bid)));
        }
        // Buys at once.
        70..80 => {
            steps.push(Step::Read(user_key));
            update(&mut steps, item_key);
        }
        // Offers an item.
        80..90 => {
            steps.push(Step::Read(user_key));
            steps.extend([item_key, Key::of("bids", item)].map(Step::Write));
        }
        // Comments on another user.
        90..97 => {
            let about = client.draw();
            let comment = client.fresh();
            steps.extend([Step::Read(user_key), Step::Write(Key::of("comment", comment))]);
            update(&mut steps, Key::of("rating", about));
        }
        // Registers.
        _ => steps.push(Step::Write(user_key)),
    }
    steps
}

/// Districts of a warehouse.
const DISTRICTS: u64 = 10;
/// Customers of a district; the specification has 3,000.
const CUSTOMERS: u64 = 30;
/// Items; the specification has 100,000.
const ITEMS: u64 = 1000;

/// The five transactions in their shares: 45 % new orders, 43 % payments, 4 % each of the others.
pub(super) fn tpcc(client: &mut Client) -> Vec<Step> {
    let warehouse = client.draw();
    let district = warehouse * DISTRICTS + client.random.u64(..DISTRICTS);
    let customer = district * CUSTOMERS + client.random.u64(..CUSTOMERS);
    match client.random.u8(0..100) {
        0..45 => new_order(client, warehouse, district, customer),
        45..88 => payment(client, warehouse, district, customer),
        88..92 => {
            ["customer", "last-order", "order-line"].into_iter().map(|t| Step::Read(Key::of(t, customer))).collect()
        }
        92..96 => delivery(client, warehouse),
        _ => {
            let mut steps = vec![Step::Read(Key::of("district", district))];
            steps.extend((0..10).map(|_| Step::Read(stock(client, warehouse))));
            steps
        }
    }
}

fn stock(client: &mut Client, warehouse: u64) -> Key {
    Key::of("stock", warehouse * ITEMS + client.random.u64(..ITEMS))
}

fn new_order(client: &mut Client, warehouse: u64, district: u64, customer: u64) -> Vec<Step> {
    let mut steps = vec![Step::Read(Key::of("warehouse", warehouse)), Step::Read(Key::of("customer", customer))];
    update(&mut steps, Key::of("district", district));
    let order = client.fresh();
    steps.push(Step::Write(Key::of("order", order)));
    update(&mut steps, Key::of("new-orders", district));
    for _ in 0..client.random.u8(5..=15) {
        let stock = stock(client, warehouse);
        steps.push(Step::Read(Key::of("item", Key::number(stock.0).0 % ITEMS)));
        update(&mut steps, stock);
    }
    steps.extend([Key::of("order-line", customer), Key::of("last-order", customer)].map(Step::Write));
    steps
}

fn payment(client: &mut Client, warehouse: u64, district: u64, customer: u64) -> Vec<Step> {
    let mut steps = Vec::new();
    for (table, number) in [("warehouse", warehouse), ("district", district), ("customer", customer)] {
        update(&mut steps, Key::of(table, number));
    }
    let payment = client.fresh();
    steps.push(Step::Write(Key::of("history", payment)));
    steps
}

/// Delivers the oldest new order of each district.
fn delivery(client: &mut Client, warehouse: u64) -> Vec<Step> {
    let mut steps = Vec::new();
    for district in warehouse * DISTRICTS..(warehouse + 1) * DISTRICTS {
        let customer = district * CUSTOMERS + client.random.u64(..CUSTOMERS);
        update(&mut steps, Key::of("new-orders", district));
        steps.push(Step::Read(Key::of("last-order", customer)));
        update(&mut steps, Key::of("customer", customer));
    }
    steps
}
