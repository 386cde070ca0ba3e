//! The pages and what is constant about each, in one table. What a page needs and how it is drawn is in `pages`.

use egui::{Key, KeyboardShortcut, Modifiers};

/// What a page is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The selected anomaly, whose argument is shown next to it.
    Anomaly,
    /// The selected anomaly, drawn: it takes the whole middle of the window.
    Drawing,
    /// Transactions of the whole history, next to the argument.
    Transactions,
    /// The whole history.
    History,
}

/// Where a page is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    /// A tab of its own.
    Tab,
    /// In the menu after the tabs.
    More,
    /// In the menu of the window, and by its key.
    Menu,
}

/// Everything constant about a page.
#[derive(Debug)]
pub struct PageRow {
    pub page: Page,
    /// Its name, on its tab and in the menu.
    pub name: &'static str,
    /// What it shows.
    pub tooltip: &'static str,
    /// The keys that show it.
    pub keys: [KeyboardShortcut; 1],
    /// Its word in links and project files.
    pub word: &'static str,
    pub about: About,
    pub tab: Tab,
}

/// The pages and their rows, each from one line: its name, key, word and what it is about, and what it shows.
macro_rules! pages {
    ($($(#[$default:meta])? $page:ident = $name:literal, $key:ident, $word:literal, $about:ident, $tab:ident => $tooltip:literal;)*) => {
        /// A page in the middle of the window.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Page {
            $($(#[$default])? #[doc = concat!($tooltip, ".")] $page,)*
        }

        const ROWS: &[PageRow] = &[$(PageRow {
            page: Page::$page,
            name: $name,
            tooltip: $tooltip,
            keys: [KeyboardShortcut::new(Modifiers::NONE, Key::$key)],
            word: $word,
            about: About::$about,
            tab: Tab::$tab,
        },)*];
    };
}

// In the order of the tabs.
pages! {
    #[default]
    Graph = "Graph", Num1, "graph", Drawing, Tab => "The dependency graph of the selected anomaly";
    Lanes = "Timeline", Num2, "lanes", Drawing, Tab => "The sessions on a time axis";
    Key = "Versions", Num3, "key", Anomaly, Tab => "The versions of a key in order, with their readers";
    Matrix = "Matrix", Num4, "matrix", Anomaly, More => "Who depends on whom, as a table";
    Browser = "History", Num6, "history", Transactions, Tab => "All sessions, transactions and operations";
    Order = "Order", Num7, "order", History, More => "An order that explains every read, step by step, of the strongest level that holds";
    Health = "Health", Num8, "health", History, Tab => "Whether the history can be trusted, and by which rules it is read";
    Statistics = "Statistics", Num9, "statistics", History, More => "Access skew, transaction sizes, abort rate and where anomalies lie";
    Checkers = "Checkers", C, "checkers", History, Menu => "Several checkers on this history, or a sweep over generated ones of growing size: what each says, its time and memory";
}

impl Page {
    /// The rows of all pages, in the order of the tabs.
    pub fn table() -> &'static [PageRow] {
        ROWS
    }

    /// Its row in the table.
    pub fn row(self) -> &'static PageRow {
        ROWS.iter().find(|row| row.page == self).unwrap_or(&ROWS[0])
    }

    /// The page for a word in a link or a project file.
    pub fn with_word(word: &str) -> Option<Page> {
        ROWS.iter().find(|row| row.word == word).map(|row| row.page)
    }

    /// Whether it is about the selected anomaly.
    pub fn is_about_anomaly(self) -> bool {
        matches!(self.row().about, About::Anomaly | About::Drawing)
    }

    /// Whether the argument is shown next to it, in a window that is wide or not.
    pub fn shows_argument(self, is_wide: bool) -> bool {
        match self.row().about {
            About::Anomaly => true,
            About::Drawing => is_wide || self == Page::Graph,
            About::Transactions => is_wide,
            About::History => false,
        }
    }

    /// Whether it draws the selected anomaly.
    pub fn is_drawing(self) -> bool {
        self.row().about == About::Drawing
    }
}
