//! Lists as they are written.
//!
//! Nearly every list that is read from a key begins with, or is the beginning of, the list read before it, and is written
//! in the same way. So its text is compared with a text that is known, and only what follows is taken apart.

use super::atom::Atom;
use isoscope_model::history::{Prefix, Stems};

/// All lists of a file; those of one key share their elements.
#[derive(Default)]
pub(super) struct Lists<'a> {
    stems: Stems<Atom>,
    /// By stem.
    texts: Vec<Text<'a>>,
}

/// The text of the first elements of a stem.
#[derive(Default)]
struct Text<'a> {
    bytes: &'a [u8],
    /// Where each element ends, the last one at the end of the text.
    ends: Vec<u32>,
    /// Whether these are all elements.
    is_whole: bool,
}

/// A list whose text begins like a known one.
#[derive(Clone, Copy)]
pub(super) struct Begun {
    stem: u32,
    /// Elements that are known.
    pub(super) length: usize,
    /// Bytes that are known.
    pub(super) n_bytes: usize,
}

impl<'a> Lists<'a> {
    /// What is known of a list of a key that is written in front of `rest` and ends with `close`. There is either more
    /// to come of it, or it ends there. O(bytes of the list).
    #[inline]
    pub(super) fn begun(&self, key: u32, rest: &[u8], close: u8) -> Option<Begun> {
        self.stems.latest(key).find_map(|stem| {
            let Text {
                bytes,
                ends,
                is_whole,
            } = &self.texts[stem as usize];
            let n_bytes = n_common(bytes, rest);
            let next = *rest.get(n_bytes)?;
            let is_all = n_bytes == bytes.len();
            let length = if is_all {
                ends.len()
            } else {
                ends.binary_search(&(n_bytes as u32)).ok()? + 1
            };
            let goes_on = is_all && *is_whole && matches!(next, b' ' | b',');
            (length > 0 && (next == close || goes_on)).then_some(Begun {
                stem,
                length,
                n_bytes,
            })
        })
    }

    /// Keeps a list that had begun and went on with these elements. `text` is all of it without the brackets, and in it
    /// the new elements end at `ends`; no text if it cannot be compared with others.
    pub(super) fn go_on(
        &mut self,
        key: u32,
        begun: Begun,
        new: &[Atom],
        text: Option<&'a [u8]>,
        ends: &[u32],
    ) -> Prefix {
        let prefix = self
            .stems
            .extend(key, begun.stem, begun.length + new.len(), new);
        if !new.is_empty() {
            let known = &mut self.texts[begun.stem as usize];
            known.is_whole = text.is_some();
            if let Some(bytes) = text {
                known.bytes = bytes;
                known.ends.extend_from_slice(ends);
            }
        }
        prefix
    }

    /// Keeps a list; the last two as for [`go_on`](Self::go_on).
    pub(super) fn keep(
        &mut self,
        key: u32,
        list: &[Atom],
        text: Option<&'a [u8]>,
        ends: &[u32],
    ) -> Prefix {
        let prefix = self.stems.keep(key, list);
        self.texts
            .resize_with(self.stems.lists().len(), Text::default);
        let known = &mut self.texts[prefix.stem as usize];
        if let Some(bytes) = text.filter(|_| ends.len() > known.ends.len()) {
            *known = Text {
                bytes,
                ends: ends.to_vec(),
                is_whole: false,
            };
        }
        known.is_whole = known.ends.len() == self.stems.lists()[prefix.stem as usize].len();
        prefix
    }

    /// Number of stems.
    pub(super) fn n_stems(&self) -> usize {
        self.texts.len()
    }

    /// The elements of a stem.
    pub(super) fn stem(&self, stem: u32) -> &[Atom] {
        &self.stems.lists()[stem as usize]
    }

    /// The elements of a list.
    pub(super) fn of(&self, list: Prefix) -> &[Atom] {
        self.stems.of(list)
    }
}

/// How many bytes two texts have in common at the beginning.
#[inline]
fn n_common(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 32;
    let steps = a
        .chunks_exact(STEP)
        .zip(b.chunks_exact(STEP))
        .take_while(|(a, b)| a == b)
        .count()
        * STEP;
    steps
        + a[steps..]
            .iter()
            .zip(&b[steps..])
            .take_while(|(a, b)| a == b)
            .count()
}
