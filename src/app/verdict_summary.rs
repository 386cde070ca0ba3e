//! Verdicts without their evidence: for tables of many checks, whose witnesses would fill the memory.

use super::style::Palette;
use crate::checkers::{Level, Verdict};
use crate::follow::Answer;
use egui::Color32;

/// A verdict without its evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// The level is satisfied.
    Holds,
    /// It is violated.
    Broken,
    /// It is undecided.
    Open,
}

impl Conclusion {
    /// The word used in reports.
    pub fn word(self) -> &'static str {
        match self {
            Conclusion::Holds => "satisfied",
            Conclusion::Broken => "violated",
            Conclusion::Open => "undecided",
        }
    }

    /// The conclusion of a verdict.
    pub fn of(verdict: &Verdict) -> Conclusion {
        match verdict {
            Verdict::Satisfied(_) => Conclusion::Holds,
            Verdict::Violated => Conclusion::Broken,
            Verdict::Undecided(_) => Conclusion::Open,
        }
    }

    /// The conclusion of an answer that may change.
    pub fn so_far(answer: &Answer) -> Conclusion {
        match answer {
            Answer::Holds => Conclusion::Holds,
            Answer::Violated => Conclusion::Broken,
            Answer::ExceptFor(_) | Answer::Unknown(_) => Conclusion::Open,
        }
    }
}

/// `SER satisfied, SI violated`.
pub fn in_words(levels: &[(Level, Conclusion)]) -> String {
    let words: Vec<String> = levels
        .iter()
        .map(|(level, conclusion)| format!("{level} {}", conclusion.word()))
        .collect();
    words.join(", ")
}

impl Palette {
    /// Colour of a conclusion.
    pub fn conclusion(&self, conclusion: Conclusion) -> Color32 {
        match conclusion {
            Conclusion::Holds => self.good,
            Conclusion::Broken => self.bad,
            Conclusion::Open => self.caution,
        }
    }
}
