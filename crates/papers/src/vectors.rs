//! Vector clocks (Fidge 1988, Mattern 1989; Plume, section 4.2): for every component of a relation, how far it has seen
//! every session.
//!
//! Entry s of the vector of a component is 1 + the position of the last transaction of session s that lies in the
//! component or before it, 0 for none. Transaction a precedes b in another component iff b's vector counts a. O((vertices +
//! edges) · sessions) time, 4 bytes per component and session.

use super::too_large;
use isoscope_check::checkers::Cause;
use isoscope_model::control::Control;
use isoscope_model::graph::{Components, Digraph};
use isoscope_model::relations::Index;

/// A vector for every component.
pub(super) struct Vectors {
    width: usize,
    rows: Vec<u32>,
}

impl Vectors {
    /// Computes the vectors along a topological order of the components. Fails if they would take more than `budget`
    /// bytes.
    pub(super) fn new(
        graph: &Digraph,
        components: &Components,
        index: &Index,
        budget: u64,
        control: &Control,
    ) -> Result<Vectors, Cause> {
        let width = index.n_sessions();
        let bytes = 4 * width as u64 * components.len() as u64;
        if bytes > budget {
            return Err(too_large("vector clocks", bytes, budget));
        }
        let mut rows = vec![0u32; width * components.len()];
        // An edge between two components leads from the larger number to the smaller one.
        for c in (0..components.len() as u32).rev() {
            control.tick(c as usize)?;
            let (later, this) = rows.split_at_mut(c as usize * width);
            let row = &mut this[..width];
            for &member in components.members(c) {
                mark(row, index, member);
            }
            for &member in components.members(c) {
                for &next in graph.successors(member) {
                    let d = components.component[next as usize] as usize;
                    if d != c as usize {
                        join(&mut later[d * width..][..width], row);
                    }
                }
            }
        }
        Ok(Vectors { width, rows })
    }

    /// How many transactions of a session lie in or before a component.
    #[inline]
    pub(super) fn count(&self, component: u32, session: u32) -> u32 {
        self.rows[component as usize * self.width + session as usize]
    }
}

/// Counts a transaction; ⊥, after the nodes, belongs to no session.
pub(super) fn mark(row: &mut [u32], index: &Index, vertex: u32) {
    if (vertex as usize) < index.n_nodes() {
        let entry = &mut row[index.session[vertex as usize] as usize];
        *entry = (*entry).max(index.position(vertex) + 1);
    }
}

/// The element-wise maximum.
pub(super) fn join(row: &mut [u32], other: &[u32]) {
    row.iter_mut()
        .zip(other)
        .for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
}
