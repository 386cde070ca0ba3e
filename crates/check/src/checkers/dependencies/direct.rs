//! Reads that miss a version of a transaction on which their own depends by one edge.

use super::versions::{Versions, Wrong};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Index, NONE, Node};

/// Most versions after the one that was read that are looked at for all reads together, in proportion to all reads, before
/// what was found is put to use.
const PATIENCE: usize = 64;

/// Whose versions the transaction at hand reads, and which keys it writes.
struct Marks {
    mark: u32,
    source: Vec<u32>,
    written: Vec<u32>,
}

/// For each read the first version after the one that it returned whose writer precedes the reader by session order, a read,
/// if `overwriting` an overwritten version, and if `in_time` real time. O(reads × versions in between × keys that these write).
pub(super) fn directly_missed(
    index: &Index,
    versions: &Versions,
    (overwriting, in_time): (bool, bool),
    position: impl Fn(Node) -> u32,
    control: &Control,
) -> Result<Vec<Wrong>, Interrupt> {
    let n = index.n_nodes();
    let mut marks = Marks {
        mark: 0,
        source: vec![0; n],
        written: vec![0; index.n_keys()],
    };
    let (mut wrong, mut looked) = (Vec::new(), 0);
    for reader in 0..n as Node {
        control.tick(reader as usize)?;
        marks.set(index, reader);
        for read in index.reads_of(reader) {
            let mut newer = versions.next(index, read);
            while newer != NONE && newer != reader && position(newer) < position(reader) {
                looked += 1;
                if marks.precedes(index, newer, reader, overwriting)
                    || in_time && index.ended_before(newer, reader)
                {
                    let older = index.writer_of_read(read);
                    wrong.push(Wrong {
                        reader,
                        older,
                        newer,
                        path: vec![(newer, reader)],
                    });
                    break;
                }
                newer = versions.after(index, newer, index.read_key[read]);
            }
        }
        if !wrong.is_empty() && looked > PATIENCE * index.read_key.len() {
            break;
        }
    }
    Ok(wrong)
}

impl Marks {
    fn set(&mut self, index: &Index, reader: Node) {
        self.mark += 1;
        for &writer in index.read_writer[index.reads_of(reader)]
            .iter()
            .filter(|&&writer| writer != NONE)
        {
            self.source[writer as usize] = self.mark;
        }
        for &key in &index.write_key[index.writes_of(reader)] {
            self.written[key as usize] = self.mark;
        }
    }

    /// Whether an edge of D leads from one transaction before the reader to the reader.
    fn precedes(&self, index: &Index, newer: Node, reader: Node, overwriting: bool) -> bool {
        let overwrites = || {
            index.write_key[index.writes_of(newer)]
                .iter()
                .any(|&key| self.written[key as usize] == self.mark)
        };
        index.session[newer as usize] == index.session[reader as usize]
            || self.source[newer as usize] == self.mark
            || overwriting && overwrites()
    }
}
