//! A test suite that checks the history it has just recorded.
//!
//! Two clients increment a counter, both from its initial value. So snapshot isolation does not hold: the program says
//! why and ends with exit code 1.

use isoscope::levels::Level;
use isoscope::recorder::{Recorder, Transaction, check_holds};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let recorder = Recorder::with_initial_value(0);
    let (mut one, mut two) = (recorder.session(1), recorder.session(2));
    let mut increments = [one.begin(), two.begin()];
    for (increment, result) in increments.iter_mut().zip(1..) {
        increment.read("counter", 0);
        increment.write("counter", result);
    }
    increments.into_iter().for_each(Transaction::commit);
    Ok(check_holds(&recorder.history()?, Level::SnapshotIsolation)?)
}
