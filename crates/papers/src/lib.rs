#![doc = include_str!("../README.md")]

mod ask;
mod be_sat;
mod be_search;
mod c4;
mod check;
mod choice;
mod commit;
mod fit;
mod order;
mod plume;
mod polysi;
mod published;
mod search;
mod strong;
mod tree_clock;
mod vectors;
mod view;
mod vl_lwt;

pub use check::{check, check_resolved};
pub use choice::{Choice, Counting, RcRule};
pub use fit::obstacle;

use isoscope_check::checkers::{Cause, Instances};
use isoscope_model::control::Control;
use isoscope_model::history::History;
use isoscope_model::relations::{Index, Resolution};

/// One history, prepared.
struct Input<'a> {
    history: &'a History,
    resolution: &'a Resolution,
    index: &'a Index,
    /// TAP-a to f and j.
    reads: Instances,
}

/// `what` would take more than the allowed number of bytes.
fn too_large(what: &'static str, bytes: u64, allowed: u64) -> Cause {
    Cause::TooLarge {
        what,
        megabytes: bytes >> 20,
        allowed: allowed >> 20,
    }
}

/// How many bytes may be allocated at once: what is left of the user's memory limit; without one `unlimited`, as the
/// algorithms as published take memory quadratic in the history or worse, which should end in an error message and not
/// in a crash.
fn most_at_once(unlimited: u64, control: &Control) -> u64 {
    let spare = control
        .spare_memory()
        .map_or(unlimited, |spare| spare as u64);
    if control.limits_memory() {
        spare
    } else {
        spare.min(unlimited)
    }
}

/// As `most_at_once`, for what grows gradually: if the user set a memory limit the control ends the work.
fn most_in_time(unlimited: u64, control: &Control) -> u64 {
    if control.limits_memory() {
        u64::MAX
    } else {
        unlimited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_that_the_user_set_counts() {
        let (free, tight) = (Control::new(), Control::new().with_memory_limit(1));
        let wide = Control::new().with_memory_limit(usize::MAX);
        assert_eq!([most_at_once(7, &free), most_in_time(7, &free)], [7, 7]);
        assert_eq!(
            [most_at_once(7, &tight), most_in_time(7, &tight)],
            [0, u64::MAX]
        );
        assert!(most_at_once(7, &wide) > 1 << 40);
    }
}
