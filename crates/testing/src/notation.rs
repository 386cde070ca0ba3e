//! Random small histories in our own notation, of all that the notation can say: registers and lists, values that repeat,
//! times, outcomes, set-ups declared and not. A store that runs one transaction after the other made them, with a little
//! trouble here and there.

use fastrand::Rng;
use std::fmt::Write;

/// What may occur.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Every transaction is a single read, write or compare-and-set of a register.
    pub light: bool,
    /// The second key holds lists.
    pub lists: bool,
    /// Values may be written again.
    pub repeated: bool,
    /// Who has times.
    pub times: Times,
    /// Some transactions write nothing but initial values first.
    pub zeros: bool,
    /// Some transaction is declared to set up the initial state.
    pub declared: bool,
}

/// Who has times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    Nobody,
    Everybody,
    Some,
    /// Who sets up, did not commit, or has bad luck.
    Few,
}

impl Style {
    /// Any style.
    pub fn of(rng: &mut Rng) -> Style {
        let light = rng.u8(0..3) == 0;
        Style {
            light,
            lists: !light && rng.u8(0..3) == 0,
            repeated: rng.bool(),
            times: [
                Times::Nobody,
                Times::Everybody,
                Times::Everybody,
                Times::Some,
                Times::Few,
            ][rng.usize(0..5)],
            zeros: rng.u8(0..3) == 0,
            declared: rng.u8(0..6) == 0,
        }
    }
}

/// A history of at most six transactions.
pub fn random(style: Style, rng: &mut Rng) -> String {
    let mut maker = Maker {
        style,
        rng,
        versions: [vec![0], vec![0]],
        lists: Vec::new(),
        next: 1,
        clock: 0,
    };
    let mut sessions: Vec<Vec<String>> = vec![Vec::new(); maker.rng.usize(1..=3)];
    if style.zeros {
        maker.zeros(&mut sessions);
    }
    if style.declared {
        let transaction = maker.declared();
        let session = maker.rng.usize(0..sessions.len());
        sessions[session].insert(0, transaction);
    }
    let most = if style.repeated || style.zeros { 4 } else { 5 };
    for _ in 0..maker.rng.usize(1..=most) {
        let session = maker.rng.usize(0..sessions.len());
        let transaction = maker.transaction();
        sessions[session].push(transaction);
    }
    let mut text = String::new();
    for (name, transactions) in ["a", "b", "c", "d", "e"].iter().zip(&sessions) {
        let _ = writeln!(text, "{name}: {}", transactions.join(" "));
    }
    text
}

struct Maker<'r> {
    style: Style,
    rng: &'r mut Rng,
    /// By register: what was written, the newest last.
    versions: [Vec<u64>; 2],
    /// The elements of the list, the newest last.
    lists: Vec<u64>,
    next: u64,
    clock: i64,
}

impl Maker<'_> {
    fn one_in(&mut self, n: u8) -> bool {
        self.rng.u8(0..n) == 0
    }

    /// Writes of 0 to the registers at the beginning of sessions.
    fn zeros(&mut self, sessions: &mut Vec<Vec<String>>) {
        let keys: &[&str] = if self.style.lists {
            &["x"]
        } else {
            &["x", "y"]
        };
        let together = !self.style.light && self.rng.bool();
        let mut transactions: Vec<String> = if together {
            vec![
                keys.iter()
                    .map(|key| format!("w {key} 0"))
                    .collect::<Vec<_>>()
                    .join(", "),
            ]
        } else {
            keys.iter().map(|key| format!("w {key} 0")).collect()
        };
        transactions.iter_mut().for_each(|operations| {
            let times = self.times(false);
            *operations = format!("[{operations}]{times}");
        });
        if self.rng.bool() {
            sessions.insert(0, transactions)
        } else {
            for transaction in transactions {
                let session = self.rng.usize(0..sessions.len());
                sessions[session].insert(0, transaction);
            }
        }
    }

    fn declared(&mut self) -> String {
        let value = self.fresh();
        self.versions[0] = vec![value];
        let times = self.times(false);
        format!("[w x {value}]*{times}")
    }

    fn fresh(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    fn value(&mut self, key: usize) -> u64 {
        if self.style.repeated && self.one_in(3) {
            return self.versions[key][self.rng.usize(0..self.versions[key].len())];
        }
        self.fresh()
    }

    /// The times of the next transaction, whether it committed for sure.
    fn times(&mut self, is_plain: bool) -> String {
        let has_some = match self.style.times {
            Times::Nobody => false,
            Times::Everybody => true,
            Times::Some => self.rng.bool(),
            Times::Few => !is_plain || self.one_in(12),
        };
        self.clock += 5;
        let start = self.clock - self.rng.i64(0..9);
        let end = start + self.rng.i64(0..9);
        if has_some {
            format!("@{start}..{end}")
        } else {
            String::new()
        }
    }

    fn transaction(&mut self) -> String {
        let mut operations: Vec<String> = Vec::new();
        // What it wrote, by register, and appended.
        let (mut own, mut appended): ([Option<u64>; 2], Vec<u64>) = ([None; 2], Vec::new());
        let key = self.rng.usize(0..2);
        if self.style.light {
            let name = ["x", "y"][key];
            let form = self.rng.u8(0..7);
            if form < 4 {
                let read = self.seen(key);
                operations.push(format!("r {name} {read}"));
            }
            if form > 1 && form < 6 {
                let value = self.value(key);
                operations.push(format!("w {name} {value}"));
                own[key] = Some(value);
            }
            if form == 6 {
                let value = self.versions[key][self.rng.usize(0..self.versions[key].len())];
                operations.push(format!("n {name} {value}"));
            }
        } else {
            for _ in 0..self.rng.usize(1..=3) {
                let key = self.rng.usize(0..2);
                let operation = if self.style.lists && key == 1 {
                    self.of_list(&mut appended)
                } else {
                    self.of_register(key, &mut own)
                };
                operations.push(operation);
            }
        }
        let (mark, counts) = match self.rng.u8(0..14) {
            0 => ("!", false),
            1 => ("?", true),
            2 => ("?", false),
            _ => ("", true),
        };
        if counts {
            own.into_iter()
                .enumerate()
                .for_each(|(key, value)| self.versions[key].extend(value));
            self.lists.extend(appended);
        }
        let times = self.times(mark.is_empty());
        format!("[{}]{mark}{times}", operations.join(", "))
    }

    /// What a read of a register returns: mostly the newest value.
    fn seen(&mut self, key: usize) -> String {
        let newest = *self.versions[key].last().expect("the initial one");
        let value = match self.rng.u8(0..8) {
            0 => self.versions[key][self.rng.usize(0..self.versions[key].len())],
            _ => newest,
        };
        if self.one_in(40) {
            "77".to_owned()
        } else {
            value.to_string()
        }
    }

    fn of_register(&mut self, key: usize, own: &mut [Option<u64>; 2]) -> String {
        let name = ["x", "y"][key];
        if self.rng.bool() {
            let value = self.value(key);
            own[key] = Some(value);
            return format!("w {name} {value}");
        }
        let wrong = self.one_in(12);
        match own[key].filter(|_| !wrong) {
            Some(value) => format!("r {name} {value}"),
            None => format!("r {name} {}", self.seen(key)),
        }
    }

    fn of_list(&mut self, appended: &mut Vec<u64>) -> String {
        if self.rng.bool() {
            let repeats = self.style.repeated && self.one_in(3) && !self.lists.is_empty();
            let element = if repeats {
                self.lists[self.rng.usize(0..self.lists.len())]
            } else {
                self.fresh()
            };
            appended.push(element);
            return format!("a y {element}");
        }
        let mut list = self.lists.clone();
        if self.one_in(5) {
            list.truncate(self.rng.usize(0..=list.len()));
        }
        list.extend(appended.iter());
        let elements: Vec<String> = list.iter().map(u64::to_string).collect();
        format!("r y [{}]", elements.join(" "))
    }
}
