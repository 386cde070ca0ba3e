//! What a verdict comes to, without its evidence: for tables of many checks, whose witnesses would fill the memory.

use super::style::Palette;
use crate::checkers::Verdict;
use egui::Color32;

/// A verdict without its evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// The level is satisfied.
    Holds,
    /// It is violated.
    Broken,
    /// It is not known.
    Open,
}

impl Conclusion {
    /// As reports say it.
    pub fn word(self) -> &'static str {
        match self {
            Conclusion::Holds => "satisfied",
            Conclusion::Broken => "violated",
            Conclusion::Open => "undecided",
        }
    }

    /// What a verdict comes to.
    pub fn of(verdict: &Verdict) -> Conclusion {
        match verdict {
            Verdict::Satisfied(_) => Conclusion::Holds,
            Verdict::Violated => Conclusion::Broken,
            Verdict::Undecided(_) => Conclusion::Open,
        }
    }
}

impl Palette {
    /// Colour that stands for what a verdict comes to.
    pub fn conclusion(&self, conclusion: Conclusion) -> Color32 {
        match conclusion {
            Conclusion::Holds => self.good,
            Conclusion::Broken => self.bad,
            Conclusion::Open => self.caution,
        }
    }
}
