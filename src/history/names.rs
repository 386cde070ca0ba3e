//! Names of sessions, transactions, keys and values, kept once.

/// A table of names by dense id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// `n` things without names of their own: each is called by its number.
    Implicit(usize),
    /// Numbers, as most formats use.
    Numbers(Vec<u64>),
    /// Anything else.
    Strings(Vec<Box<str>>),
}

impl Names {
    /// Number of names.
    pub fn len(&self) -> usize {
        match self {
            Names::Implicit(n) => *n,
            Names::Numbers(numbers) => numbers.len(),
            Names::Strings(strings) => strings.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name at `index`.
    pub fn get(&self, index: usize) -> String {
        match self {
            Names::Implicit(_) => index.to_string(),
            Names::Numbers(numbers) => numbers[index].to_string(),
            Names::Strings(strings) => strings[index].to_string(),
        }
    }

    /// The names at `indices`, in that order.
    pub fn select(&self, indices: impl Iterator<Item = usize>) -> Names {
        match self {
            Names::Implicit(_) => Names::Strings(indices.map(|i| i.to_string().into()).collect()),
            Names::Numbers(numbers) => Names::Numbers(indices.map(|i| numbers[i]).collect()),
            Names::Strings(strings) => Names::Strings(indices.map(|i| strings[i].clone()).collect()),
        }
    }
}
