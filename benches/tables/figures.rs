//! The figures: a parameter of the workload and the values it takes.

use crate::common::Workload;
use std::str::FromStr;

/// What a figure varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    Transactions,
    Operations,
    Sessions,
    Keys,
    ReadShare,
    UpdateShare,
    StaleShare,
    Distribution,
    View,
    Order,
    Shape,
}

use Parameter::*;

impl Parameter {
    pub(crate) const ALL: [Parameter; 11] = [
        Transactions,
        Operations,
        Sessions,
        Keys,
        ReadShare,
        UpdateShare,
        StaleShare,
        Distribution,
        View,
        Order,
        Shape,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Transactions => "transactions",
            Operations => "operations",
            Sessions => "sessions",
            Keys => "keys",
            ReadShare => "read-share",
            UpdateShare => "update-share",
            StaleShare => "stale-share",
            Distribution => "distribution",
            View => "view",
            Order => "order",
            Shape => "shape",
        }
    }

    /// The values of a figure where none are given.
    fn usual_values(self) -> Vec<String> {
        let values: &[&str] = match self {
            Transactions => &["1000", "3000", "10000", "30000", "100000"],
            Operations => &["5", "10", "20", "50", "100"],
            Sessions => &["5", "20", "50", "100", "300", "1000"],
            Keys => &["100", "1000", "10000", "100000"],
            ReadShare => &["0.05", "0.25", "0.5", "0.75", "0.95"],
            UpdateShare => &["0", "0.5", "0.9", "1"],
            StaleShare => &["0", "0.001", "0.01", "0.1"],
            Distribution => &["uniform", "zipf", "hotspot", "exponential", "latest"],
            View => &["serial", "lag:10", "lag:100", "lag:1000"],
            Order => &["happened", "session"],
            Shape => {
                return crate::common::Shape::ALL
                    .iter()
                    .map(ToString::to_string)
                    .collect();
            }
        };
        values.iter().map(|&value| value.to_owned()).collect()
    }

    /// `base` with this value of the parameter.
    fn set(self, base: Workload, text: &str) -> Result<Workload, String> {
        fn parse<T: FromStr>(text: &str, is_good: impl Fn(&T) -> bool) -> Result<T, String> {
            text.parse()
                .ok()
                .filter(is_good)
                .ok_or_else(|| format!("`{text}` is not a value of the parameter"))
        }
        let share = |text| parse(text, |share| (0.0..=1.0).contains(share));
        Ok(match self {
            Transactions => Workload {
                transactions: parse(text, |_| true)?,
                ..base
            },
            Operations => Workload {
                operations: parse(text, |_| true)?,
                ..base
            },
            Sessions => Workload {
                sessions: parse(text, |_| true)?,
                ..base
            },
            Keys => Workload {
                keys: parse(text, |&keys| keys > 0)?,
                ..base
            },
            ReadShare => Workload {
                read_share: share(text)?,
                ..base
            },
            UpdateShare => Workload {
                update_share: share(text)?,
                ..base
            },
            StaleShare => Workload {
                stale_share: share(text)?,
                ..base
            },
            Distribution => Workload {
                distribution: text.parse()?,
                ..base
            },
            View => Workload {
                view: text.parse()?,
                ..base
            },
            Order => Workload {
                order: text.parse()?,
                ..base
            },
            Shape => text.parse::<crate::common::Shape>()?.of(base),
        })
    }
}

/// A parameter and its values, as in `sessions=10,100`.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) parameter: Parameter,
    pub(crate) values: Vec<String>,
}

impl Figure {
    /// By row: the value and the workload.
    pub(crate) fn rows(&self, base: Workload) -> impl Iterator<Item = (&str, Workload)> {
        self.values.iter().map(move |value| {
            let workload = self
                .parameter
                .set(base, value)
                .expect("the value was tried when the figure was parsed");
            (value.as_str(), workload)
        })
    }
}

impl FromStr for Figure {
    type Err = String;

    fn from_str(text: &str) -> Result<Figure, String> {
        let (name, values) = match text.split_once('=') {
            Some((name, values)) => (name, Some(values)),
            None => (text, None),
        };
        let parameter = Parameter::ALL
            .into_iter()
            .find(|parameter| parameter.name() == name)
            .ok_or_else(|| {
                let names: Vec<&str> = Parameter::ALL.into_iter().map(Parameter::name).collect();
                format!(
                    "unknown parameter `{name}`, expected one of {}",
                    names.join(", ")
                )
            })?;
        let values = match values {
            Some(values) => values.split(',').map(str::to_owned).collect(),
            None => parameter.usual_values(),
        };
        for value in &values {
            parameter.set(Workload::default(), value)?;
        }
        Ok(Figure { parameter, values })
    }
}
