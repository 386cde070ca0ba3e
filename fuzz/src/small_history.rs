//! From bytes to a small history in IsoScope's own notation: every input is one, and like inputs are like histories.

use std::fmt::Write;

/// Most operations of a history: beyond that a history shows nothing new and takes longer.
const MOST_OPERATIONS: usize = 24;

/// Most sessions.
const SESSIONS: usize = 4;

/// Registers and lists, each with a few values, so that values repeat now and then.
const KEYS: [(&str, bool); 4] = [("x", false), ("y", false), ("l", true), ("m", true)];

/// The history that the bytes describe. One byte is an operation, some bytes take a second one: a list that was read.
pub fn text(bytes: &[u8]) -> String {
    let mut sessions = vec![String::new(); SESSIONS];
    let mut transaction: Vec<String> = Vec::new();
    let mut clock = 0;
    let mut n_operations = 0;
    let mut bytes = bytes.iter().copied();
    let with_times = bytes.next().is_some_and(|byte| byte & 1 == 1);
    while n_operations < MOST_OPERATIONS {
        let Some(byte) = bytes.next() else { break };
        if byte & 3 == 3 {
            end(
                &mut sessions,
                &mut transaction,
                byte,
                with_times.then_some(&mut clock),
            );
            continue;
        }
        n_operations += 1;
        let (key, is_list) = KEYS[usize::from(byte >> 2 & 3)];
        let value = (byte >> 4 & 7) + 1;
        transaction.push(match (byte & 3, is_list) {
            (0, false) => format!("w {key} {value}"),
            (0, true) => format!("a {key} {value}"),
            (_, false) if value == 8 => format!("r {key} init"),
            (_, false) => format!("r {key} {value}"),
            (_, true) => format!("r {key} [{}]", list(bytes.next().unwrap_or(0))),
        });
    }
    end(
        &mut sessions,
        &mut transaction,
        0,
        with_times.then_some(&mut clock),
    );
    let mut text = String::new();
    for (number, transactions) in sessions
        .iter()
        .enumerate()
        .filter(|(_, transactions)| !transactions.is_empty())
    {
        let _ = writeln!(text, "s{number}:{transactions}");
    }
    text
}

/// Ends a transaction: the byte says whose it was, how it ended and how long it took.
fn end(sessions: &mut [String], transaction: &mut Vec<String>, byte: u8, clock: Option<&mut u32>) {
    if transaction.is_empty() {
        return;
    }
    let session = &mut sessions[usize::from(byte >> 2) % SESSIONS];
    let outcome = match byte >> 4 & 7 {
        0 => "?",
        1 => "!",
        _ => "",
    };
    let _ = write!(session, " [{}]{outcome}", transaction.join(", "));
    if let Some(clock) = clock {
        let begin = *clock;
        *clock += 2;
        let _ = write!(session, "@{begin}..{}", *clock + u32::from(byte >> 7) * 3);
    }
    transaction.clear();
}

/// Up to three elements.
fn list(byte: u8) -> String {
    let elements = [byte & 3, byte >> 2 & 3, byte >> 4 & 3];
    let shown = elements
        .iter()
        .take_while(|element| **element > 0)
        .map(|element| element.to_string());
    shown.collect::<Vec<_>>().join(" ")
}
