//! The web shop of `sample_histories/web-shop.txt`: twenty application servers, a key-value store with snapshot isolation,
//! and a few faults.
//!
//! The store keeps all versions. A transaction reads from a snapshot, which may be a few commits old but never misses a
//! commit of its own server; of two overlapping writers of a key the second is rolled back. Faults are steps of their own,
//! at fixed places, so the rest of the history is what a correct store would have produced.

use std::collections::BTreeMap;
use std::fmt::Write;

const SERVERS: usize = 20;
const TRANSACTIONS: usize = 1000;
const PRODUCTS: u64 = 40;
const CUSTOMERS: u64 = 30;

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every machine and with every version of everything.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// A product; a quarter of the products gets three quarters of the interest.
    fn product(&mut self) -> u64 {
        if self.below(4) > 0 {
            self.below(PRODUCTS / 4)
        } else {
            self.below(PRODUCTS)
        }
    }
}

/// A transaction that committed.
struct Commit {
    writes: Vec<(String, u64)>,
}

/// What a transaction sees: the first `upto` commits, without those hidden from it.
#[derive(Clone, Default)]
struct Snapshot {
    upto: usize,
    /// Commits whose writes of a key are missing from this view.
    hidden: Vec<(usize, String)>,
}

struct Shop {
    random: Random,
    log: Vec<Commit>,
    /// By server: commits that its next snapshot must contain.
    own: [usize; SERVERS],
    /// By key: how many versions were ever written, those of rolled back transactions included.
    versions: BTreeMap<String, u64>,
    orders: u64,
    transactions: usize,
    text: String,
}

/// A transaction at work.
struct Step<'a> {
    shop: &'a mut Shop,
    server: usize,
    snapshot: Snapshot,
    writes: Vec<(String, u64)>,
    operations: Vec<String>,
}

impl Shop {
    fn begin(&mut self, server: usize, snapshot: Snapshot) -> Step<'_> {
        Step {
            shop: self,
            server,
            snapshot,
            writes: Vec::new(),
            operations: Vec::new(),
        }
    }

    fn now(&self) -> Snapshot {
        Snapshot {
            upto: self.log.len(),
            hidden: Vec::new(),
        }
    }

    /// A snapshot that may lag behind, as a correct store may give it.
    fn recent(&mut self, server: usize) -> Snapshot {
        let lag = [0, 0, 1, 2, 4][self.random.below(5) as usize];
        Snapshot {
            upto: self.log.len().saturating_sub(lag).max(self.own[server]),
            hidden: Vec::new(),
        }
    }

    fn ordinary(&mut self) {
        let server = self.random.below(SERVERS as u64) as usize;
        let snapshot = self.recent(server);
        let (customer, kind) = (self.random.below(CUSTOMERS), self.random.below(100));
        let products: Vec<u64> = (0..3).map(|_| self.random.product()).collect();
        let (stock, price): (Vec<String>, Vec<String>) = products
            .iter()
            .map(|p| (format!("stock/{p}"), format!("price/{p}")))
            .unzip();
        let cart = format!("cart/{customer}");
        let mut step = self.begin(server, snapshot);
        match kind {
            0..30 => {
                for (stock, price) in stock.iter().zip(&price) {
                    step.read(price);
                    step.read(stock);
                }
            }
            30..60 => {
                step.read(&stock[0]);
                step.read(&price[0]);
                step.update(&cart);
            }
            60..85 => {
                step.read(&cart);
                step.update(&stock[0]);
                if products[1] != products[0] {
                    step.update(&stock[1]);
                }
                step.order();
                step.write(&cart);
            }
            85..93 => step.update(&stock[0]),
            _ => {
                step.update(&price[0]);
                if products[1] != products[0] {
                    step.update(&price[1]);
                }
            }
        }
        step.commit_unless_conflict();
    }
}

impl Step<'_> {
    /// The version of a key in the snapshot.
    fn seen(&self, key: &str) -> u64 {
        let hidden = |commit: usize| {
            self.snapshot
                .hidden
                .iter()
                .any(|(c, k)| *c == commit && k == key)
        };
        let visible = (0..self.snapshot.upto)
            .rev()
            .filter(|&commit| !hidden(commit));
        let mut versions = visible.flat_map(|commit| &self.shop.log[commit].writes);
        versions
            .find(|(written, _)| written == key)
            .map_or(0, |(_, version)| *version)
    }

    fn read(&mut self, key: &str) {
        let own = self
            .writes
            .iter()
            .find(|(written, _)| written == key)
            .map(|(_, version)| *version);
        let version = own.unwrap_or_else(|| self.seen(key));
        self.operations.push(format!("r {key} {version}"));
    }

    fn write(&mut self, key: &str) {
        let version = self.shop.versions.entry(key.to_owned()).or_default();
        *version += 1;
        self.operations.push(format!("w {key} {version}"));
        self.writes.push((key.to_owned(), *version));
    }

    fn update(&mut self, key: &str) {
        self.read(key);
        self.write(key);
    }

    /// Places a new order.
    fn order(&mut self) {
        self.shop.orders += 1;
        self.write(&format!("order/{}", self.shop.orders));
    }

    fn conflicts(&self) -> bool {
        let later = self.shop.log[self.snapshot.upto..]
            .iter()
            .flat_map(|commit| &commit.writes);
        later
            .into_iter()
            .any(|(key, _)| self.writes.iter().any(|(written, _)| written == key))
    }

    fn end(self, mark: &str) -> usize {
        let shop = self.shop;
        shop.transactions += 1;
        let _ = writeln!(
            shop.text,
            "web{:02}: [{}]{mark}",
            self.server + 1,
            self.operations.join(", ")
        );
        if mark.is_empty() {
            shop.log.push(Commit {
                writes: self.writes,
            });
            shop.own[self.server] = shop.log.len();
        }
        shop.log.len().saturating_sub(1)
    }

    /// Commits whatever happened meanwhile; the number of the commit.
    fn commit(self) -> usize {
        self.end("")
    }

    fn commit_unless_conflict(self) {
        let mark = if self.conflicts() { "!" } else { "" };
        self.end(mark);
    }
}

/// Faults, in the order in which they happen.
impl Shop {
    /// Two servers sell the same version of a product's stock; the store does not notice.
    fn lost_update(&mut self, servers: [usize; 2], product: u64) {
        let snapshot = self.now();
        for server in servers {
            let mut step = self.begin(server, snapshot.clone());
            step.update(&format!("stock/{product}"));
            step.order();
            step.commit();
        }
    }

    /// Two vouchers may not both be used; each server checks both and uses one. Snapshot isolation allows this.
    fn write_skew(&mut self, servers: [usize; 2], customer: u64) {
        let snapshot = self.now();
        let vouchers = ["summer", "winter"].map(|season| format!("voucher/{season}-{customer}"));
        for (place, server) in servers.into_iter().enumerate() {
            let mut step = self.begin(server, snapshot.clone());
            vouchers.iter().for_each(|voucher| step.read(voucher));
            step.write(&vouchers[place]);
            step.commit();
        }
    }

    /// Two restocks reach two replicas in opposite orders, and there is a reader at each.
    fn long_fork(&mut self, servers: [usize; 4], products: [u64; 2]) {
        let snapshot = self.now();
        let stock = products.map(|product| format!("stock/{product}"));
        let mut commits = [0; 2];
        for place in 0..2 {
            let mut step = self.begin(servers[place], snapshot.clone());
            step.update(&stock[place]);
            commits[place] = step.commit();
        }
        for place in 0..2 {
            let hidden = vec![(commits[1 - place], stock[1 - place].clone())];
            let upto = self.log.len();
            let mut step = self.begin(servers[2 + place], Snapshot { upto, hidden });
            stock.iter().for_each(|stock| step.read(stock));
            step.commit();
        }
    }

    /// A campaign changes two prices at once; a browser sees the new one of the second product only.
    fn fractured_read(&mut self, servers: [usize; 2], products: [u64; 2]) {
        let price = products.map(|product| format!("price/{product}"));
        let snapshot = self.now();
        let mut step = self.begin(servers[0], snapshot);
        price.iter().for_each(|price| step.update(price));
        let campaign = step.commit();
        let hidden = vec![(campaign, price[0].clone())];
        let upto = self.log.len();
        let mut step = self.begin(servers[1], Snapshot { upto, hidden });
        price.iter().for_each(|price| step.read(price));
        step.commit();
    }

    /// A question is put more clearly and answered; a server shows the answer and then, from a lagging replica, the old
    /// question.
    fn causality_violation(&mut self, servers: [usize; 3], product: u64) {
        let (question, answer) = (format!("question/{product}"), format!("answer/{product}"));
        let mut asked = 0;
        for _ in ["asked", "put more clearly"] {
            let snapshot = self.now();
            let mut step = self.begin(servers[0], snapshot);
            step.update(&question);
            asked = step.commit();
        }
        let snapshot = self.now();
        let mut step = self.begin(servers[1], snapshot);
        step.read(&question);
        step.write(&answer);
        step.commit();
        let upto = self.log.len();
        let mut step = self.begin(
            servers[2],
            Snapshot {
                upto,
                hidden: Vec::new(),
            },
        );
        step.read(&answer);
        step.commit();
        let mut step = self.begin(
            servers[2],
            Snapshot {
                upto,
                hidden: vec![(asked, question.clone())],
            },
        );
        step.read(&question);
        step.commit();
    }
}

/// The whole file.
pub fn web_shop() -> String {
    let mut shop = Shop {
        random: Random(0x5EED_0F5A_1E50),
        log: Vec::new(),
        own: [0; SERVERS],
        versions: BTreeMap::new(),
        orders: 0,
        transactions: 0,
        text: HEADER.to_owned(),
    };
    while shop.transactions < TRANSACTIONS {
        match shop.transactions {
            130 => shop.lost_update([3, 11], 2),
            275 => shop.write_skew([7, 16], 12),
            410 => shop.long_fork([0, 5, 9, 14], [21, 33]),
            545 => shop.fractured_read([18, 2], [6, 27]),
            680 => shop.causality_violation([12, 4, 19], 8),
            815 => shop.lost_update([6, 13], 5),
            900 => shop.fractured_read([1, 10], [3, 38]),
            _ => shop.ordinary(),
        }
    }
    shop.text
}

const HEADER: &str = "\
# A web shop of twenty servers on a key-value store that promises snapshot isolation. A line is a transaction, in the
# order in which they ended; `!` marks those that the store rolled back because of a conflicting update. Values are
# version numbers, 0 is the initial one.
#
# The store keeps its promise but for a few moments: updates of the same stock are lost, a restock is seen here and not
# there, a campaign's prices arrive one by one, and an answer is shown beside the old question. Once a customer uses two
# vouchers that exclude each other, which snapshot isolation allows.
";
