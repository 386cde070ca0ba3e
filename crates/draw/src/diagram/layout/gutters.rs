//! The vertical pieces of edges between two lanes: their order, and how they share columns.
//!
//! Order: neighbours are swapped while that saves crossings. Columns: each piece takes the leftmost column right of all
//! earlier pieces that it overlaps, by the left-edge rule of channel routing (Hashimoto & Stevens 1971).

/// A vertical piece.
#[derive(Clone, Debug)]
pub(super) struct Vertical {
    /// The arrow it belongs to.
    pub arrow: usize,
    /// Its number among the arrow's pieces.
    pub hop: usize,
    /// Heights at which it meets a horizontal piece, and whether that comes from the left.
    pub leads: [(f32, bool); 2],
}

/// Pieces closer than this do not share a column.
const CLEARANCE: f32 = 9.0;

impl Vertical {
    fn top(&self) -> f32 {
        self.leads[0].0.min(self.leads[1].0)
    }

    fn bottom(&self) -> f32 {
        self.leads[0].0.max(self.leads[1].0)
    }

    fn overlaps(&self, other: &Vertical) -> bool {
        self.top() < other.bottom() + CLEARANCE && other.top() < self.bottom() + CLEARANCE
    }

    /// How many leads of the two cross the other when `self` is left of `other`.
    fn crossings_left_of(&self, other: &Vertical) -> usize {
        let hits = |piece: &Vertical, y: f32| piece.top() < y && y < piece.bottom();
        let mine = self
            .leads
            .iter()
            .filter(|(y, from_left)| !from_left && hits(other, *y))
            .count();
        mine + other
            .leads
            .iter()
            .filter(|(y, from_left)| *from_left && hits(self, *y))
            .count()
    }

    /// 0 for pieces with both leads on the left, 1 for those that change sides, 2 for both on the right.
    fn kind(&self) -> usize {
        self.leads
            .iter()
            .filter(|(_, from_left)| !from_left)
            .count()
    }
}

/// By piece: its column, from the left; and the number of columns. O(pieces²) per pass of swaps.
pub(super) fn columns(pieces: &[Vertical]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&pieces[a], &pieces[b]);
        let length = |p: &Vertical| {
            if p.kind() == 2 {
                p.top() - p.bottom()
            } else {
                p.bottom() - p.top()
            }
        };
        let by_length = if a.kind() == 1 {
            std::cmp::Ordering::Equal
        } else {
            length(a).total_cmp(&length(b))
        };
        a.kind()
            .cmp(&b.kind())
            .then(by_length)
            .then(a.arrow.cmp(&b.arrow))
            .then(a.hop.cmp(&b.hop))
    });
    for _ in 0..40 {
        let mut improved = false;
        for i in 1..order.len() {
            let (left, right) = (&pieces[order[i - 1]], &pieces[order[i]]);
            if right.crossings_left_of(left) < left.crossings_left_of(right) {
                order.swap(i - 1, i);
                improved = true;
            }
        }
        if !improved {
            break;
        }
    }
    let mut column = vec![0; pieces.len()];
    let mut n = 0;
    for (i, &piece) in order.iter().enumerate() {
        let earlier = order[..i]
            .iter()
            .filter(|&&other| pieces[other].overlaps(&pieces[piece]));
        column[piece] = earlier.map(|&other| column[other] + 1).max().unwrap_or(0);
        n = n.max(column[piece] + 1);
    }
    // Pieces that belong to the right side move as close to it as those right of them allow.
    for (i, &piece) in order.iter().enumerate().rev() {
        if pieces[piece].kind() == 2 {
            let later = order[i + 1..]
                .iter()
                .filter(|&&other| pieces[other].overlaps(&pieces[piece]));
            column[piece] = later.map(|&other| column[other] - 1).min().unwrap_or(n - 1);
        }
    }
    (column, n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn across(arrow: usize, from: f32, to: f32) -> Vertical {
        Vertical {
            arrow,
            hop: 0,
            leads: [(from, true), (to, false)],
        }
    }

    #[test]
    fn parallel_edges_nest_without_crossing() {
        let pieces = [across(0, 0.0, 100.0), across(1, 30.0, 130.0)];
        let (column, n) = columns(&pieces);
        assert_eq!((column, n), (vec![1, 0], 2));
    }

    #[test]
    fn pieces_far_from_each_other_share_a_column() {
        let (column, n) = columns(&[across(0, 0.0, 40.0), across(1, 60.0, 90.0)]);
        assert_eq!((column, n), (vec![0, 0], 1));
        assert_eq!(columns(&[]).1, 0);
    }
}
