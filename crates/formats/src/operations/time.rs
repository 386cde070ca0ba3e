//! Times of whole calls: integers in any unit, or seconds with a fraction.

use super::{Tree, shown};

/// Nanoseconds in a second.
const SECOND: i64 = 1_000_000_000;

/// A time as a field says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Time {
    /// As if it were in seconds.
    nanoseconds: i128,
    pub(super) is_fraction: bool,
}

impl Time {
    /// The time that a field says.
    pub(crate) fn of(time: Option<Tree<'_>>) -> Result<Option<Time>, String> {
        let Some(tree) = time else { return Ok(None) };
        let whole = tree.integer().map(|time| Time {
            nanoseconds: i128::from(time) * i128::from(SECOND),
            is_fraction: false,
        });
        let found = || {
            let found = shown(&tree);
            format!("expected a time, an integer of 64 bits or seconds like 12.5, found `{found}`")
        };
        let time = whole.or_else(|| Time::with_fraction(tree.word()?));
        time.map(Some).ok_or_else(found)
    }

    /// Seconds as decimals, of which those beyond nanoseconds do not count: that keeps the order.
    fn with_fraction(text: &str) -> Option<Time> {
        let (whole, fraction) = text.split_once('.')?;
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !are_digits(whole) || !are_digits(fraction) {
            return None;
        }
        let nine = fraction.chars().chain("000000000".chars()).take(9);
        let nanoseconds: i64 = nine.collect::<String>().parse().ok()?;
        let all = whole.parse::<i64>().ok()?.checked_mul(SECOND)?;
        Some(Time {
            nanoseconds: i128::from(all.checked_add(nanoseconds)?),
            is_fraction: true,
        })
    }

    /// In nanoseconds where it is a fraction, else as it is.
    pub(crate) fn number(self) -> i64 {
        let unit = if self.is_fraction {
            1
        } else {
            i128::from(SECOND)
        };
        i64::try_from(self.nanoseconds / unit).unwrap_or(i64::MAX)
    }

    /// As a field says it.
    pub(crate) fn tree(self) -> Tree<'static> {
        let (number, second) = (self.number(), SECOND.unsigned_abs());
        match u64::try_from(number) {
            Ok(number) if self.is_fraction => {
                let (whole, rest) = (number / second, number % second);
                Tree::Name(format!("{whole}.{rest:09}").into())
            }
            Ok(number) => Tree::Number(number),
            Err(_) => Tree::Name(number.to_string().into()),
        }
    }
}

/// Seconds in nanoseconds, where they fit.
pub(super) fn in_nanoseconds(seconds: i64) -> Result<i64, String> {
    let scaled = seconds.checked_mul(SECOND);
    scaled.ok_or_else(|| {
        format!("the time {seconds} is too large: others are seconds with a fraction")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &'static str) -> Result<(i64, bool), String> {
        let time = Time::of(Some(Tree::Name(text.into())))?.expect("a time");
        assert_eq!(Time::of(Some(time.tree())), Ok(Some(time)));
        Ok((time.number(), time.is_fraction))
    }

    #[test]
    fn times_are_integers_or_seconds() {
        assert_eq!(number("-5"), Ok((-5, false)));
        assert_eq!(number("12.5"), Ok((12_500_000_000, true)));
        assert_eq!(number("0.0000000019"), Ok((1, true)));
        assert_eq!(number("9223372036.854775807"), Ok((i64::MAX, true)));
        for wrong in [
            "9223372036.854775808",
            "1e5",
            "-0.5",
            ".5",
            "1.5.2",
            "2026-01-02",
        ] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
        assert!(in_nanoseconds(i64::MAX).is_err());
    }
}
