//! The transactions of each kind of workload.

use super::applications;
use super::client::Client;
use super::plan::{Key, Step};
use super::workload::{Kind, Length};

impl Client {
    fn general(&mut self) -> Vec<Step> {
        let Length { least, most } = self.workload.operations;
        let n = self.random.u32(least..=most) as usize;
        let mut steps = Vec::with_capacity(n);
        while steps.len() < n {
            let (drawn, reads) = (self.draw(), self.reads());
            let is_own = self.workload.kind == Kind::DisjointWrites && !reads;
            let key = Key::number(if is_own { self.own(drawn) } else { drawn });
            match (reads, self.workload.has_lists()) {
                (true, true) => steps.push(Step::ReadList(key)),
                (false, true) => steps.push(Step::Append(key)),
                (true, false) => steps.push(Step::Read(key)),
                (false, false) => {
                    let updates =
                        steps.len() + 1 < n && self.random.f64() < self.workload.update_share;
                    steps.extend(updates.then_some(Step::Read(key)));
                    steps.push(Step::Write(key));
                }
            }
        }
        steps
    }

    fn mini(&mut self) -> Vec<Step> {
        let first = self.draw();
        let second = if self.random.bool() {
            self.draw()
        } else {
            first
        };
        let mut keys = vec![Key::number(first), Key::number(second)];
        keys.dedup();
        let mut steps: Vec<Step> = keys.iter().map(|&key| Step::Read(key)).collect();
        for key in keys {
            if !self.reads() {
                // A key is written right after its read or after all reads.
                let read = steps
                    .iter()
                    .position(|step| *step == Step::Read(key))
                    .unwrap_or_default();
                let at = if self.random.bool() {
                    read + 1
                } else {
                    steps.len()
                };
                steps.insert(at, Step::Write(key));
            }
        }
        steps
    }

    fn lightweight(&mut self) -> Vec<Step> {
        let key = Key::number(self.draw());
        if self.reads() {
            return vec![Step::Read(key)];
        }
        vec![match self.random.u8(0..10) {
            0..7 => Step::CompareAndSet(key),
            7..9 => Step::Insert(key),
            _ => Step::Write(key),
        }]
    }
}

impl Iterator for Client {
    type Item = Vec<Step>;

    /// The next transaction, which has at least one step.
    fn next(&mut self) -> Option<Vec<Step>> {
        if self.left() == 0 {
            return None;
        }
        self.begun += 1;
        Some(match self.workload.kind {
            Kind::General | Kind::DisjointWrites | Kind::ListAppend => self.general(),
            Kind::Mini => self.mini(),
            Kind::Lightweight => self.lightweight(),
            Kind::Twitter => applications::twitter(self),
            Kind::Rubis => applications::rubis(self),
            Kind::Tpcc => applications::tpcc(self),
        })
    }
}
