//! Prefetching: fetches items scattered over a large array a stretch at a time.
//!
//! A loop that does much with each item it fetches waits for memory once per item. A loop that only fetches has many
//! requests in flight at once.

use std::ops::Range;

/// Items fetched at a time.
const STRETCH: usize = if cfg!(test) { 3 } else { 512 };

/// Items by place, for the current stretch of places.
pub(super) struct Ahead<T> {
    begin: usize,
    things: Vec<T>,
}

impl<T> Ahead<T> {
    pub(super) fn new() -> Ahead<T> {
        Ahead {
            begin: 0,
            things: Vec::with_capacity(STRETCH),
        }
    }
}

impl<T: Copy> Ahead<T> {
    /// The item at `place`, which must not decrease from call to call and is before `end`. `fetch` gets the items of a
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
