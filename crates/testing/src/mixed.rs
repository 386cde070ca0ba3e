//! Random small histories of all that the text notation can say: registers and lists side by side, values and elements
//! that repeat, unknown and aborted transactions, initial versions of every kind, times, transactions that set the state
//! up. Most come out of a serial run with a few stale reads, so some levels hold and others do not.

use fastrand::Rng;
use isoscope_formats::Input;
use isoscope_model::control::Control;
use isoscope_model::history::History;

/// What may occur.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mix {
    /// Keys that hold lists.
    pub lists: bool,
    /// Values and elements are written more than once.
    pub repeated: bool,
    /// 0 is written like any other value.
    pub zeros: bool,
    /// Transactions that aborted.
    pub aborted: bool,
    /// Transactions of unknown outcome.
    pub unknown: bool,
    /// Reads of which nothing was recorded, or only a value that was not there.
    pub vague: bool,
    /// Transactions have times.
    pub times: bool,
    /// A transaction may be marked as the set-up.
    pub set_up: bool,
    /// Transactions without operations and sessions without transactions.
    pub empty: bool,
    /// Which value is initial by itself is said: none, 0, or another number.
    pub initial: bool,
    /// Keys, values and sessions have names that are no numbers.
    pub names: bool,
    /// Most groups of sessions that share no key.
    pub groups: usize,
}

impl Mix {
    /// Some of all, by chance.
    pub fn any(rng: &mut Rng) -> Mix {
        let mut some = |of: u8| rng.u8(0..of) == 0;
        Mix {
            lists: some(3),
            repeated: some(3),
            zeros: some(2),
            aborted: some(3),
            unknown: some(4),
            vague: some(10),
            times: some(6),
            set_up: some(6),
            empty: some(8),
            initial: some(2),
            names: some(6),
            groups: if some(3) { 2 } else { 1 },
        }
    }
}

/// A key of the simulated store.
struct Key {
    name: String,
    is_list: bool,
    /// By age: what was written to a register, or the elements of a list.
    versions: Vec<u64>,
}

/// The history of this seed, in IsoScope's notation.
pub fn text(mix: &Mix, seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let mut text = String::new();
    let initial = if mix.initial {
        ["initial: none\n", "", "initial: 2\n"][rng.usize(0..3)]
    } else {
        ""
    };
    text.push_str(initial);
    let mut sessions: Vec<(String, String)> = Vec::new();
    let mut next = 1;
    for group in 0..rng.usize(1..=mix.groups.max(1)) {
        one_group(mix, group, &mut next, &mut sessions, &mut rng);
    }
    if mix.empty && rng.bool() {
        sessions.push(("7".to_owned(), String::new()));
    }
    for (name, transactions) in sessions {
        text.push_str(&format!("{name}:{transactions}\n"));
    }
    text
}

/// The history of this seed.
pub fn history(mix: &Mix, seed: u64) -> History {
    let text = text(mix, seed);
    isoscope_formats::read(
        &Input::new("", text.as_bytes()),
        Some("text"),
        &Control::new(),
    )
    .expect(&text)
}

fn one_group(
    mix: &Mix,
    group: usize,
    next: &mut u64,
    sessions: &mut Vec<(String, String)>,
    rng: &mut Rng,
) {
    let first = sessions.len();
    for session in 0..rng.usize(1..=3) {
        let letter = if mix.names { "s" } else { "" };
        sessions.push((format!("{letter}{}{session}", group + 1), String::new()));
    }
    let letter = if mix.names { "k" } else { "" };
    let mut keys: Vec<Key> = (0..rng.usize(1..=3))
        .map(|key| Key {
            name: format!("{letter}{}{key}", group + 1),
            is_list: mix.lists && rng.bool(),
            versions: Vec::new(),
        })
        .collect();
    let mut clock = 0;
    if mix.set_up && rng.bool() {
        let writes: Vec<String> = keys
            .iter_mut()
            .map(|key| {
                let value = rng.u64(0..3);
                key.versions.push(value);
                format!("w {} {}", key.name, value_name(mix, value))
            })
            .collect();
        sessions[first]
            .1
            .push_str(&format!(" [{}]*", writes.join(", ")));
    }
    for _ in 0..rng.usize(2..=5) {
        let session = rng.usize(first..sessions.len());
        let mark = match rng.u8(0..8) {
            0 if mix.aborted => "!",
            1 | 2 if mix.unknown => "?",
            _ => "",
        };
        let takes_effect = mark.is_empty() || mark == "?" && rng.bool();
        let before: Vec<usize> = keys.iter().map(|key| key.versions.len()).collect();
        let fewest = usize::from(!mix.empty);
        let operations: Vec<String> = (0..rng.usize(fewest..=3))
            .map(|_| operation(mix, &mut keys, next, rng))
            .collect();
        if !takes_effect {
            keys.iter_mut()
                .zip(before)
                .for_each(|(key, len)| key.versions.truncate(len));
        }
        let times = if mix.times {
            let start = clock - rng.i64(0..4);
            clock += rng.i64(1..6);
            format!("@{start}..{}", clock)
        } else {
            String::new()
        };
        sessions[session]
            .1
            .push_str(&format!(" [{}]{mark}{times}", operations.join(", ")));
    }
}

fn value_name(mix: &Mix, value: u64) -> String {
    if mix.names && value % 3 == 1 {
        format!("v{value}")
    } else {
        value.to_string()
    }
}

fn operation(mix: &Mix, keys: &mut [Key], next: &mut u64, rng: &mut Rng) -> String {
    let place = rng.usize(0..keys.len());
    let key = &mut keys[place];
    let name = key.name.clone();
    if rng.bool() {
        let value = match rng.u8(0..3) {
            0 if mix.zeros => 0,
            1 if mix.repeated => rng.u64(1..4),
            _ => {
                *next += 1;
                *next
            }
        };
        // The same element again is something that only histories of repeated elements have.
        let value = if key.is_list && !mix.repeated && key.versions.contains(&value) {
            *next + 100
        } else {
            value
        };
        key.versions.push(value);
        return format!(
            "{} {name} {}",
            if key.is_list { "a" } else { "w" },
            value_name(mix, value)
        );
    }
    if mix.vague && !key.is_list && rng.u8(0..4) == 0 {
        return if rng.bool() {
            format!("r {name} ?")
        } else {
            format!("n {name} 3")
        };
    }
    // A few reads are stale.
    let seen = if rng.u8(0..4) == 0 {
        rng.usize(0..=key.versions.len())
    } else {
        key.versions.len()
    };
    if key.is_list {
        let elements: Vec<String> = key.versions[..seen]
            .iter()
            .map(|&value| value_name(mix, value))
            .collect();
        return format!("r {name} [{}]", elements.join(" "));
    }
    match key.versions[..seen].last() {
        Some(&value) => format!("r {name} {}", value_name(mix, value)),
        None if rng.bool() => format!("r {name} init"),
        None => format!(
            "r {name} {}",
            [0, 2][usize::from(mix.initial && rng.u8(0..3) == 0)]
        ),
    }
}
