//! Words that all findings use.

use isoscope_model::history::{self, History, TransactionId, grouped};

/// `1 read`, `1,000 reads`.
pub(super) fn counted(number: u64, thing: &str) -> String {
    history::counted(number as usize, thing)
}

/// The singular or plural word.
pub(super) fn by_number<'a>(number: u64, one: &'a str, more: &'a str) -> &'a str {
    if number == 1 { one } else { more }
}

/// Names of the first few transactions of `number`.
pub(super) fn names(history: &History, transactions: &[TransactionId], number: u64) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = transactions
        .iter()
        .take(SHOWN)
        .map(|&t| history.transaction_name(t))
        .collect();
    match number.saturating_sub(shown.len() as u64) {
        0 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), grouped(more)),
    }
}

/// A share in percent, rounded so that only everything is 100 and only nothing is 0.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 || part == 0 {
        return "0 %".to_owned();
    }
    if part >= whole {
        return "100 %".to_owned();
    }
    let share = (part as f64 / whole as f64 * 1000.0)
        .round()
        .clamp(1.0, 999.0)
        / 10.0;
    format!("{share} %")
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn only_all_is_everything_and_only_nothing_is_nothing() {
        assert_eq!(
            [(0, 9), (1, 100_000), (1, 3), (99_999, 100_000), (9, 9)]
                .map(|(part, whole)| percent(part, whole)),
            ["0 %", "0.1 %", "33.3 %", "99.9 %", "100 %"]
        );
    }
}
