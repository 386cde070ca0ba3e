//! What is constant about each page: one row per page, in the order of the tabs. What a page needs and how it is drawn is
//! in `pages`.

use super::vocabulary::Page;
use egui::{Key, KeyboardShortcut, Modifiers};

/// What a page is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The selected anomaly, whose argument is shown next to it.
    Anomaly,
    /// The same, drawn: it takes the whole middle of the window, and the replay is shown below it.
    Drawing,
    /// The whole history.
    History,
}

/// Everything constant about a page.
#[derive(Debug)]
pub struct PageRow {
    /// The page.
    pub page: Page,
    /// Its name, on its tab and in the menu.
    pub name: &'static str,
    /// What it shows.
    pub tooltip: &'static str,
    /// The keys that show it.
    pub keys: [KeyboardShortcut; 1],
    /// Its word in links and project files.
    pub word: &'static str,
    /// What it is about.
    pub about: About,
}

const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

#[rustfmt::skip]
static ROWS: [PageRow; 10] = [
    PageRow { page: Page::Graph, name: "Graph", keys: [plain(Key::Num1)], word: "graph", about: About::Drawing, tooltip: "The dependency graph of the selected anomaly" },
    PageRow { page: Page::Lanes, name: "Lanes", keys: [plain(Key::Num2)], word: "lanes", about: About::Drawing, tooltip: "The sessions on a time axis" },
    PageRow { page: Page::Key, name: "Key", keys: [plain(Key::Num3)], word: "key", about: About::Anomaly, tooltip: "The versions of a key in order, with their readers" },
    PageRow { page: Page::Matrix, name: "Matrix", keys: [plain(Key::Num4)], word: "matrix", about: About::Anomaly, tooltip: "Who depends on whom, as a table" },
    PageRow { page: Page::Text, name: "Text", keys: [plain(Key::Num5)], word: "text", about: About::Anomaly, tooltip: "The argument in words, ready to copy" },
    PageRow { page: Page::Browser, name: "History", keys: [plain(Key::Num6)], word: "history", about: About::History, tooltip: "All sessions, transactions and operations" },
    PageRow { page: Page::Order, name: "Order", keys: [plain(Key::Num7)], word: "order", about: About::History, tooltip: "An order that explains every read, step by step, of the strongest level that holds" },
    PageRow { page: Page::Health, name: "Health", keys: [plain(Key::Num8)], word: "health", about: About::History, tooltip: "Whether the history can be trusted, and by which rules it is read" },
    PageRow { page: Page::Statistics, name: "Statistics", keys: [plain(Key::Num9)], word: "statistics", about: About::History, tooltip: "Access skew, transaction sizes, abort rate and where anomalies lie" },
    PageRow { page: Page::Checkers, name: "Checkers", keys: [plain(Key::C)], word: "checkers", about: About::History, tooltip: "Several checkers on this history, or a sweep over generated ones of growing size: what each says, its time and memory" },
];

impl Page {
    /// The rows of all pages, in the order of the tabs.
    pub fn table() -> &'static [PageRow] {
        &ROWS
    }

    /// Its row in the table.
    pub fn row(self) -> &'static PageRow {
        ROWS.iter().find(|row| row.page == self).unwrap_or(&ROWS[0])
    }

    /// The page for a word in a link or a project file.
    pub fn with_word(word: &str) -> Option<Page> {
        ROWS.iter().find(|row| row.word == word).map(|row| row.page)
    }

    /// Whether it is about the selected anomaly and shows its argument.
    pub fn is_about_anomaly(self) -> bool {
        self.row().about != About::History
    }

    /// Whether it draws the selected anomaly.
    pub fn is_drawing(self) -> bool {
        self.row().about == About::Drawing
    }
}
