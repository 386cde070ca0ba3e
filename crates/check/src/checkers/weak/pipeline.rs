//! Computes an order and its replay at the same time.
//!
//! A linear extension is found one transaction after another, which cannot be parallelized, and a replay follows an
//! order. So the replay runs behind the order as that grows; when the order is complete, what the replay has not
//! reached yet is cut into pieces for all threads.

use super::base_order::{Piece, Previous, Replay, pieces};
use super::order::{Before, LinearOrder, Preference, linear_extension, linear_extension_told};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Index, Node};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What [`linear_extension`] finds, and its replay.
pub(super) fn order_and_replay(
    index: &Index,
    before: &Before,
    wish: Preference<'_>,
    control: &Control,
) -> Result<Option<(LinearOrder, Replay)>, Interrupt> {
    if pieces(index, index.n_nodes()).len() == 1 {
        let Some(order) = linear_extension(index, before, wish, control)? else {
            return Ok(None);
        };
        let replay = Replay::new(index, &order, control)?;
        return Ok(Some((order, replay)));
    }
    let previous = Previous::new(index);
    let belt = Channel::default();
    let lead = || -> Result<Option<(LinearOrder, Vec<Piece>)>, Interrupt> {
        let end = End(&belt);
        let order =
            linear_extension_told(index, before, wish, control, &mut |nodes| belt.put(nodes))?;
        let Some(order) = order else { return Ok(None) };
        let n_left = belt.take_back(rayon::current_num_threads());
        // Nothing more comes: the next stage need not wait for the work done here.
        drop(end);
        let rest = &order.nodes[order.nodes.len() - n_left..];
        let replayed = pieces(index, n_left)
            .into_par_iter()
            .with_max_len(1)
            .map(|nodes| {
                control.check()?;
                let mut piece = Piece::new(index, false);
                piece.replay(index, &rest[nodes], &previous);
                Ok(piece)
            });
        let replayed = replayed.collect::<Result<Vec<_>, Interrupt>>()?;
        Ok(Some((order, replayed)))
    };
    let follow = || -> Result<Piece, Interrupt> {
        let mut piece = Piece::new(index, true);
        while let Some(nodes) = belt.take() {
            control.check()?;
            piece.replay(index, &nodes, &previous);
        }
        Ok(piece)
    };
    let (made, front) = rayon::join(lead, follow);
    let Some((order, rest)) = made? else {
        return Ok(None);
    };
    let replayed = std::iter::once(front?).chain(rest).collect();
    let replay = Replay::joined(index, replayed, previous, control)?;
    Ok(Some((order, replay)))
}

/// Stretches of an order on their way from its producer to its replay.
#[derive(Default)]
struct Channel {
    state: Mutex<ChannelState>,
    changed: Condvar,
}

#[derive(Default)]
struct ChannelState {
    waiting: VecDeque<Vec<Node>>,
    /// Nothing more comes.
    is_ended: bool,
}

/// Ends a belt, also when the order is given up.
struct End<'a>(&'a Channel);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.state().is_ended = true;
        self.0.changed.notify_all();
    }
}

impl Channel {
    fn state(&self) -> MutexGuard<'_, ChannelState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, nodes: &[Node]) {
        self.state().waiting.push_back(nodes.to_vec());
        self.changed.notify_one();
    }

    /// The next stretch; waits for it. `None` at the end.
    fn take(&self) -> Option<Vec<Node>> {
        let mut state = self.state();
        loop {
            if let Some(nodes) = state.waiting.pop_front() {
                return Some(nodes);
            }
            if state.is_ended {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Leaves one of `n_shares` of the waiting stretches, at the front, and takes back the rest; returns how many nodes
    /// that is.
    fn take_back(&self, n_shares: usize) -> usize {
        let mut state = self.state();
        let kept = state.waiting.len().div_ceil(n_shares);
        state.waiting.drain(kept..).map(|nodes| nodes.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::tiny;
    use super::*;
    use isoscope_model::relations::Slot;
    use isoscope_testing as common;

    #[test]
    fn a_replay_that_runs_behind_its_order_says_the_same() {
        let control = Control::new();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(3)
            .build()
            .expect("threads");
        let (mut compared, mut cyclic) = (0, 0);
        for seed in 0..2000 {
            let index = common::index(&tiny(&mut fastrand::Rng::with_seed(seed)).history());
            let before = Before::default();
            let abreast =
                pool.install(|| order_and_replay(&index, &before, Preference::FirstCome, &control));
            let alone = linear_extension(&index, &before, Preference::FirstCome, &control)
                .expect("not stopped");
            let Some((order, replay)) = abreast.expect("not stopped") else {
                assert!(alone.is_none(), "seed {seed}");
                cyclic += 1;
                continue;
            };
            let alone = alone.expect("a cycle would be found by both");
            assert_eq!(order.nodes, alone.nodes, "seed {seed}");
            let expected = Replay::new(&index, &alone, &control).expect("not stopped");
            for slot in 0..index.slot_node.len() as Slot {
                assert_eq!(
                    replay.previous.of(slot),
                    expected.previous.of(slot),
                    "seed {seed}"
                );
            }
            assert_eq!(
                replay.parts(1).concat(),
                expected.parts(1).concat(),
                "seed {seed}"
            );
            compared += usize::from(pool.install(|| pieces(&index, index.n_nodes()).len()) > 1);
        }
        assert!(
            compared > 200 && cyclic > 50,
            "{compared} compared, {cyclic} cyclic"
        );
    }

    #[test]
    fn who_follows_is_let_go_when_the_order_is_given_up() {
        let control = Control::new();
        control.stop();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(3)
            .build()
            .expect("threads");
        for seed in 0..50 {
            let index = common::index(&tiny(&mut fastrand::Rng::with_seed(seed)).history());
            let made = pool.install(|| {
                order_and_replay(&index, &Before::default(), Preference::FirstCome, &control)
            });
            // Where no thread can come first there is nothing to interrupt.
            assert!(
                index.n_nodes() == 0 || !matches!(made, Ok(Some(_))),
                "seed {seed}"
            );
        }
    }
}
