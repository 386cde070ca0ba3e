//! Looking ahead: what a loop needs from all over a large array, fetched a stretch at a time.
//!
//! A loop that does much with each thing that it fetches waits for memory once a thing. A loop that only fetches has many
//! requests under way at once.

use std::ops::Range;

/// Things fetched at a time.
const STRETCH: usize = if cfg!(test) { 3 } else { 512 };

/// Things by place, of the stretch of places in hand.
pub(super) struct Ahead<T> {
    begin: usize,
    things: Vec<T>,
}

impl<T> Ahead<T> {
    pub(super) fn new() -> Ahead<T> {
        Ahead { begin: 0, things: Vec::with_capacity(STRETCH) }
    }
}

impl<T: Copy> Ahead<T> {
    /// The thing at `place`, which must not descend from call to call and lies before `end`. `fetch` gets the things of a
    /// stretch of places.
    #[inline]
    pub(super) fn at<I: Iterator<Item = T>>(
        &mut self,
        place: usize,
        end: usize,
        fetch: impl FnOnce(Range<usize>) -> I,
    ) -> T {
        if place >= self.begin + self.things.len() {
            self.begin = place;
            self.things.clear();
            self.things.extend(fetch(place..end.min(place + STRETCH)));
        }
        self.things[place - self.begin]
    }
}
