//! Numbers for people.

/// With thousands separators: `1,000,000`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 session`, `1,000 transactions`.
pub fn counted(number: usize, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{} {thing}s", grouped(number as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_three() {
        assert_eq!(
            [0, 12, 123, 1234, 1234567].map(grouped),
            ["0", "12", "123", "1,234", "1,234,567"]
        );
        assert_eq!(
            [1, 1000].map(|n| counted(n, "row")),
            ["1 row", "1,000 rows"]
        );
    }
}
