//! How often each key is accessed.

use std::fmt;
use std::str::FromStr;

/// How often each key is chosen. Keys are numbered by rank: key 0 is among the most frequent ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Each equally likely.
    Uniform,
    /// The key of rank r with weight 1 / r to the power of this exponent.
    Zipf(f64),
    /// A fifth of the keys gets four fifths of the operations.
    Hotspot,
    /// Weights fall exponentially, with a mean at a tenth of the keys.
    Exponential,
    /// Each transaction mostly accesses the keys of the ones just before it: long chains of reads.
    Latest,
}

/// Default exponent: that of the Yahoo! Cloud Serving Benchmark.
const ZIPF_EXPONENT: f64 = 0.99;
const HOT_KEYS: f64 = 0.2;
const HOT_OPERATIONS: f64 = 0.8;
const EXPONENTIAL_MEAN: f64 = 0.1;

impl Distribution {
    /// A sampler of `n` keys, at least one. O(n) for Zipf, else O(1).
    pub fn sampler(self, n: u64) -> Sampler {
        let cumulative = match self {
            Distribution::Zipf(exponent) => {
                let mut sum = 0.0;
                let weights = (1..=n).map(|rank| (rank as f64).powf(-exponent));
                weights
                    .map(|weight| {
                        sum += weight;
                        sum
                    })
                    .collect()
            }
            _ => Vec::new(),
        };
        Sampler {
            distribution: self,
            n,
            cumulative,
        }
    }
}

/// Draws keys.
#[derive(Clone, Debug)]
pub struct Sampler {
    distribution: Distribution,
    n: u64,
    /// By key, for Zipf: the weights up to and with it.
    cumulative: Vec<f64>,
}

impl Sampler {
    /// The next key of the transaction of this number. O(log n) for Zipf, else O(1).
    pub fn draw(&self, transaction: u64, random: &mut fastrand::Rng) -> u64 {
        match self.distribution {
            Distribution::Uniform => random.u64(..self.n),
            Distribution::Zipf(_) => {
                let total = self.cumulative.last().copied().unwrap_or_default();
                let at = random.f64() * total;
                (self.cumulative.partition_point(|sum| *sum <= at) as u64).min(self.n - 1)
            }
            Distribution::Hotspot => {
                let hot = ((self.n as f64 * HOT_KEYS) as u64).max(1);
                if random.f64() < HOT_OPERATIONS || hot == self.n {
                    random.u64(..hot)
                } else {
                    random.u64(hot..self.n)
                }
            }
            Distribution::Exponential => {
                // 1 - u is in (0, 1], so the logarithm is finite. Places beyond the last key wrap around.
                let place = -(1.0 - random.f64()).ln() * EXPONENTIAL_MEAN;
                ((place.fract() * self.n as f64) as u64).min(self.n - 1)
            }
            // How far back: each step is half as likely as the one before.
            Distribution::Latest => {
                transaction.saturating_sub(u64::from(random.u64(..).trailing_zeros())) % self.n
            }
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distribution::Uniform => f.write_str("uniform"),
            Distribution::Zipf(exponent) => write!(f, "zipf:{exponent}"),
            Distribution::Hotspot => f.write_str("hotspot"),
            Distribution::Exponential => f.write_str("exponential"),
            Distribution::Latest => f.write_str("latest"),
        }
    }
}

impl FromStr for Distribution {
    type Err = String;

    fn from_str(text: &str) -> Result<Distribution, String> {
        let (name, parameter) = match text.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (text, None),
        };
        match (name, parameter) {
            ("uniform", None) => Ok(Distribution::Uniform),
            ("hotspot", None) => Ok(Distribution::Hotspot),
            ("exponential", None) => Ok(Distribution::Exponential),
            ("latest", None) => Ok(Distribution::Latest),
            ("zipf", None) => Ok(Distribution::Zipf(ZIPF_EXPONENT)),
            ("zipf", Some(exponent)) => match exponent.parse() {
                Ok(exponent) if (0.0..=10.0).contains(&exponent) => {
                    Ok(Distribution::Zipf(exponent))
                }
                _ => Err(format!("`{exponent}` is not an exponent from 0 to 10")),
            },
            _ => Err(format!(
                "unknown distribution `{text}`, expected uniform, zipf, zipf:EXPONENT, hotspot, exponential or latest"
            )),
        }
    }
}
