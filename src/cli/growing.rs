//! The arguments of `isoscope check --follow`.

use clap::Args;
use std::path::PathBuf;

/// How to follow.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "A history that grows")]
pub(super) struct FollowArguments {
    /// Check the history while it is written: go on with what is appended, show each violation as soon as it is decided,
    /// and how far it is every second. Takes one PATH in text, elle-edn (as `collect` records) or plume; ends with standard
    /// input, with Ctrl-C or as --until-idle says
    #[arg(long, conflicts_with_all = ["claim", "output", "witness", "count_by", "instances", "shards", "junit", "sarif", "time_limit", "memory_limit"])]
    pub(super) follow: bool,
    /// Settle what is older than N transactions, whether or not something may still refer to it; `none`: keep all that may
    /// matter
    #[arg(long, value_name = "N", default_value = "10000", requires = "follow", value_parser = horizon)]
    pub(super) horizon: Option<Horizon>,
    /// There are exactly N sessions, and none ends before the history does: then most of the past can be settled without
    /// a horizon
    #[arg(long, value_name = "N", requires = "follow", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) sessions: Option<u32>,
    /// Write the order that satisfies the strongest of PC, SI and SER asked for to this file, as it is found; `isoscope
    /// verify --order` replays it
    #[arg(long, value_name = "OUT", requires = "follow")]
    pub(super) order: Option<PathBuf>,
    /// Keep in this file what is needed to go on: if it is there, following goes on where it was written. It is written
    /// as often as --checkpoint-every says, and at the end
    #[arg(long, value_name = "CHECKPOINT", requires = "follow")]
    pub(super) checkpoint: Option<PathBuf>,
    /// Seconds between two checkpoints
    #[arg(long, value_name = "SECS", default_value_t = 30.0, requires = "checkpoint", value_parser = super::values::seconds)]
    pub(super) checkpoint_every: f64,
    /// End when the file has not grown for this many seconds
    #[arg(long, value_name = "SECS", requires = "follow", value_parser = super::values::seconds)]
    pub(super) until_idle: Option<f64>,
}

/// A number of transactions, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Horizon(pub(super) Option<u64>);

fn horizon(text: &str) -> Result<Horizon, String> {
    match text {
        "none" => Ok(Horizon(None)),
        _ => text
            .parse()
            .map(|n| Horizon(Some(n)))
            .map_err(|_| "expected a number of transactions, or none".to_owned()),
    }
}
