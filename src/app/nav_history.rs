//! The views the user has visited: back and forward, as in a web browser.

use super::page::Page;
use super::vocabulary::Attention;
use crate::checkers::ViolationId;
use crate::history::{OperationId, TransactionId};

/// Maximum number of places remembered.
const MAX: usize = 200;

/// A view of the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViewPlace {
    pub page: Page,
    /// The anomaly.
    pub selected: Option<ViolationId>,
    /// What was pinned in it.
    pub pinned: Option<Attention>,
    /// The transaction and operation of the history browser, while that is the page.
    pub browsed: Option<(TransactionId, Option<OperationId>)>,
}

/// The places, oldest first, and which of them is the present one.
#[derive(Clone, Debug, Default)]
pub struct Places {
    list: Vec<ViewPlace>,
    now: usize,
}

impl Places {
    /// Records the current place. Going elsewhere discards what was ahead.
    pub fn visit(&mut self, place: ViewPlace) {
        match self.list.get_mut(self.now) {
            Some(now) if *now == place => return,
            // Going through steps or cards of one picture is one place that changes, not many.
            Some(now)
                if (now.page, now.selected, now.browsed)
                    == (place.page, place.selected, place.browsed) =>
            {
                *now = place;
                return;
            }
            _ => {}
        }
        self.list.truncate(self.now + 1);
        self.list.push(place);
        if self.list.len() > MAX {
            self.list.remove(0);
        }
        self.now = self.list.len() - 1;
    }

    /// Goes one place back (forward, if `step` is positive), if there is one.
    pub fn go(&mut self, step: isize) -> Option<ViewPlace> {
        let next = self.now.checked_add_signed(step)?;
        let place = *self.list.get(next)?;
        self.now = next;
        Some(place)
    }

    /// Whether there is a place in that direction.
    pub fn can_go(&self, step: isize) -> bool {
        self.now
            .checked_add_signed(step)
            .is_some_and(|next| next < self.list.len())
    }

    /// Forgets everything: another history is open.
    pub fn clear(&mut self) {
        *self = Places::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(page: Page) -> ViewPlace {
        ViewPlace {
            page,
            ..ViewPlace::default()
        }
    }

    #[test]
    fn back_and_forward_until_one_goes_elsewhere() {
        let mut places = Places::default();
        assert_eq!(places.go(-1), None);
        [Page::Graph, Page::Matrix, Page::Matrix, Page::Key]
            .into_iter()
            .for_each(|page| places.visit(place(page)));
        assert_eq!(places.go(-1), Some(place(Page::Matrix)));
        assert_eq!(places.go(-1), Some(place(Page::Graph)));
        assert!(!places.can_go(-1));
        assert_eq!(places.go(1), Some(place(Page::Matrix)));
        places.visit(place(Page::Lanes));
        assert!(!places.can_go(1));
        assert_eq!(places.go(-1), Some(place(Page::Matrix)));
    }
}
