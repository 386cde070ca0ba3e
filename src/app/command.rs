//! Every action of the window: name, explanation and keys in one table.
//!
//! Menus, shortcuts, the help sheet and the hints in the status bar are built from the table, so they cannot disagree.
//! Actions that carry a value (select this violation, open that file) are [`Request`]s: panels only push requests, and
//! the app carries them out between frames.

use super::grouping::GroupBy;
use super::notes::Note;
use super::page::Page;
use super::page::PageRow;
use crate::checkers::{Level, ViolationId};
use crate::export::{ExportKind, Part};
use crate::history::{KeyId, OperationId, SessionId, TransactionId};
use crate::relations::{EdgeIndex, Relation};
use egui::{Key, KeyboardShortcut, Modifiers};
use std::path::PathBuf;
use std::sync::LazyLock;

/// Where a command is in the menus and the help sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// File menu.
    File,
    /// Changes, undo and redo.
    Edit,
    /// Moving through anomalies and arguments.
    Go,
    /// What is shown and how.
    View,
    /// Other checkers, recordings, and files that grow.
    Tools,
    /// Help menu.
    Help,
}

impl Group {
    /// All groups, in menu order.
    pub const ALL: [Group; 6] = [
        Group::File,
        Group::Edit,
        Group::Go,
        Group::View,
        Group::Tools,
        Group::Help,
    ];

    /// Title of the menu.
    pub fn title(self) -> &'static str {
        match self {
            Group::File => "File",
            Group::Edit => "Edit",
            Group::Go => "Go",
            Group::View => "View",
            Group::Tools => "Tools",
            Group::Help => "Help",
        }
    }
}

/// Everything constant about a command.
#[derive(Clone, Copy, Debug)]
pub struct CommandRow {
    pub command: Command,
    /// The menu it belongs to.
    pub group: Group,
    /// Its name; ends with `…` if the command needs more input.
    pub name: &'static str,
    /// What it does.
    pub tooltip: &'static str,
    /// Keys that trigger it; the first is the one shown.
    pub keys: &'static [KeyboardShortcut],
    /// Whether there is a line above it in its menu.
    pub line_above: bool,
    /// Whether it only makes sense while a history is open.
    pub needs_history: bool,
}

impl CommandRow {
    const fn line_above(self) -> CommandRow {
        CommandRow {
            line_above: true,
            ..self
        }
    }

    const fn without_history(self) -> CommandRow {
        CommandRow {
            needs_history: false,
            ..self
        }
    }
}

const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

const fn with_control(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

const fn with_shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::SHIFT, key)
}

const fn with_alt(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::ALT, key)
}

const fn with_control_and_shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), key)
}

/// Makes the commands and their rows. A row is `Variant = Group, name, [keys], flags => tooltip`.
macro_rules! commands {
    (before_pages { $($before:tt)* } after_pages { $($after:tt)* }) => {
        commands! { enum $($before)* $($after)* }
        commands! { rows BEFORE_PAGES $($before)* }
        commands! { rows AFTER_PAGES $($after)* }
    };
    (enum $($variant:ident = $group:ident, $name:literal, $keys:tt $(, $flag:ident)* => $tooltip:literal;)*) => {
        /// An action without a value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Command {
            /// Show a page in the middle of the window.
            Show(Page),
            $(#[doc = concat!($tooltip, ".")] $variant,)*
        }
    };
    (rows $rows:ident
     $($variant:ident = $group:ident, $name:literal, $keys:tt $(, $flag:ident)* => $tooltip:literal;)*) => {
        const $rows: &[CommandRow] = &[$(
            CommandRow {
                command: Command::$variant,
                group: Group::$group,
                name: $name,
                tooltip: $tooltip,
                keys: &$keys,
                line_above: false,
                needs_history: true,
            }
            $(.$flag())*,
        )*];
    };
}

// In menu order.
commands! {
    before_pages {
        Open = File, "Open…", [with_control(Key::O)], without_history => "Choose a history file";
        OpenFolder = File, "Open a folder…", [with_control_and_shift(Key::O)], without_history => "Choose a folder: one history in several files, or several histories";
        CompareWith = File, "Compare with…", [with_control(Key::D)] => "Choose another history, such as one before or after a fix, and see what differs: verdicts, counts, and which anomalies went and came";
        Reload = File, "Reload", [with_control(Key::R), plain(Key::F5)], line_above => "Read the open file again";
        Close = File, "Close", [with_control(Key::W)] => "Back to the welcome page";
        Export = File, "Export…", [with_control(Key::E)], line_above => "Save the picture or the argument as a file";
        Report = File, "Write report", [with_control_and_shift(Key::E)] => "Write a page, pictures, files and scripts for an issue tracker into a folder next to the history";
        CopyPicture = File, "Copy picture", [with_control(Key::C)] => "Put the picture on the clipboard, as an image";
        CopyMarkdown = File, "Copy as Markdown", [with_control(Key::M)] => "Put the argument on the clipboard, ready for an issue tracker";
        CopyText = File, "Copy as text", [with_control_and_shift(Key::C)] => "Put the argument on the clipboard as plain text";
        SaveProject = File, "Save project", [with_control(Key::S)], line_above => "Keep notes, filter, layout and evidence in a file next to the history";
        CopyLink = File, "Copy link", [with_control(Key::L)] => "Put a link to this anomaly and view on the clipboard, to be opened with isoscope";
        RunWorkload = Tools, "Run and record", [with_control(Key::Enter)], line_above, without_history => "Run the workload of the Collect page once, record it, and check it while it grows";
        Hunt = Tools, "Hunt", [with_control_and_shift(Key::H)], without_history => "Run the workload of the Collect page with one seed after the other until a violation appears";
        CompareLevels = Tools, "Compare levels", [with_control_and_shift(Key::L)], without_history => "Run the workload of the Collect page at every isolation level of the database";
        OpenCollected = Tools, "Open recording", [with_control_and_shift(Key::N)], without_history => "Open what the Collect page recorded last, at its violation if there is one";
        WriteRounds = Tools, "Save rounds as CSV", [with_control_and_shift(Key::S)], without_history => "Write the table of the Collect page next to its histories";
        Quit = File, "Quit", [with_control(Key::Q)], line_above, without_history => "Close the window";
        Undo = Edit, "Undo", [with_control(Key::Z)] => "Undo the last change of filter, grouping, notes, marks, what is chosen or what is drawn";
        Redo = Edit, "Redo", [with_control_and_shift(Key::Z), with_control(Key::Y)] => "Redo the last change that was undone";
        Bookmark = Edit, "Bookmark", [plain(Key::M)], line_above => "Mark the selected anomaly, or take the mark away; is:bookmarked filters by it";
        EditTested = Edit, "Say what was tested", [with_shift(Key::I)] => "Product, version, isolation level and nodes: every picture and text then says whether it is a bug there";
        EditNote = Edit, "Write a note", [plain(Key::I)] => "Write something about the selected anomaly";
        Mark = Edit, "Mark in the history", [with_shift(Key::M)] => "Mark the transaction, the span from the first to the last of those chosen, or what is in view on the timeline";
        ListMore = Edit, "List more instances", [with_control_and_shift(Key::M)], line_above => "List the next instances of this pattern, which were counted but not listed; an id such as TAP-n/40 in the filter and Enter show a single one";
        GroupBy = Edit, "Group by…", [plain(Key::G)], without_history => "List anomalies by pattern, root cause, component, key or sessions, in turn; in a folder, histories that look alike as one";
        Choose = Edit, "Select for what-if", [plain(Key::X)], line_above => "Choose the pinned transaction for a what-if, or take it out again";
        CheckOnly = Edit, "Only these", [plain(Key::O)] => "Check only the chosen transactions, else those of the anomaly";
        CheckWithout = Edit, "Without these", [plain(Key::W)] => "Check the history without the chosen transactions, else without what is pinned";
        Hide = Edit, "Hide", [plain(Key::H)], line_above => "Leave the pinned edge, operation or transaction out of the picture and of exports";
        ShowHidden = Edit, "Show hidden", [plain(Key::U)] => "Put everything that was left out back into the picture";
        Keep = Edit, "Keep in picture", [plain(Key::S)] => "Keep the pinned edge, operation or transaction in the picture and in exports while evidence is folded, or no longer";
        FoldSession = Edit, "Fold session", [plain(Key::Z)] => "Draw all transactions of the pinned one's session as one card, or each by itself again; all sessions where nothing is pinned";
        NextAnomaly = Go, "Next anomaly", [plain(Key::N), plain(Key::ArrowDown)] => "Select the next anomaly of the list";
        PreviousAnomaly = Go, "Previous anomaly", [plain(Key::P), plain(Key::ArrowUp)] => "Select the anomaly before";
        NextClass = Go, "Next class", [with_shift(Key::N)] => "Select the first anomaly of the next pattern in the list";
        PreviousClass = Go, "Previous class", [with_shift(Key::P)] => "Select the first anomaly of the pattern before";
        NextStep = Go, "Next step", [plain(Key::J), plain(Key::ArrowRight), plain(Key::CloseBracket)], line_above, without_history => "Go one step further in the argument, in an order, or in what is shown";
        PreviousStep = Go, "Previous step", [plain(Key::K), plain(Key::ArrowLeft), plain(Key::OpenBracket)], without_history => "Go one step back in the argument, in an order, or in what is shown";
        Play = Go, "Play or pause", [plain(Key::V)] => "Show by itself how the anomaly comes about, scene by scene, or pause";
        NextCase = Go, "Next case", [plain(Key::Period)] => "Open the next case, where it takes several to explain the anomaly";
        PreviousCase = Go, "Previous case", [plain(Key::Comma)] => "Open the case before";
        Replay = Go, "Show me", [plain(Key::Y)] => "Show how the anomaly comes about: what happened in order, until a read that is impossible; or end that";
        Back = Go, "Back", [with_alt(Key::ArrowLeft)], line_above => "Go back to the previous view";
        Forward = Go, "Forward", [with_alt(Key::ArrowRight)] => "Go forward to the next view";
        NextMark = Go, "Next mark", [with_shift(Key::J)], line_above => "Show the next marked place of the history";
        PreviousMark = Go, "Previous mark", [with_shift(Key::K)] => "Show the previous marked place of the history";
        Locate = Go, "Show in the history", [with_shift(Key::H)] => "Go to the place of the pinned transaction, or of the anomaly, in the whole history";
        OpenLog = Tools, "Open the log…", [with_shift(Key::O)] => "Open the log of the server at the moment of the selected transaction, by a command of yours";
        Palette = Go, "Find anything…", [with_control(Key::P), with_control(Key::K)], line_above, without_history => "Find a command, an anomaly, a transaction or a key by its name";
        ExpandEvidence = Go, "Expand evidence", [plain(Key::E)] => "Show or fold the evidence behind the selected inferred edge, or behind all of them";
        FocusFilter = Go, "Filter anomalies", [with_control(Key::F), plain(Key::Slash)] => "Type into the filter of the anomaly list";
        Escape = Go, "Cancel, deselect", [plain(Key::Escape)], without_history => "Stop running work, close what is open, release the selection";
        Fit = View, "Fit", [plain(Key::F), plain(Key::Num0)] => "Show the whole graph";
        ZoomIn = View, "Zoom in", [plain(Key::Plus), plain(Key::Equals)] => "Show the graph larger";
        ZoomOut = View, "Zoom out", [plain(Key::Minus)] => "Show the graph smaller";
        Alternatives = View, "Orders ruled out", [plain(Key::A)], line_above => "Draw the orders that were ruled out, with what would have followed from them";
        SwitchScope = View, "Anomaly or component", [plain(Key::Q)] => "Draw the chosen anomaly, or all listed ones that share transactions with it, in graph and matrix";
        SwitchLayout = View, "Switch layout", [plain(Key::L)] => "Draw the graph in session columns or in layers";
        WhereMap = View, "Where in the history", [with_shift(Key::S)], line_above => "Show the map of the history below the graph, or hide it";
        Lattice = View, "All levels", [with_shift(Key::L)] => "Show what is known of every level, or hide it";
        CheckEveryLevel = Tools, "Check all levels", [with_shift(Key::C)], line_above => "Check the history against every level of the lattice, which may take much longer";
    }
    after_pages {
        RunCheckers = Tools, "Run checkers", [plain(Key::R)] => "Let the chosen checkers run, one after the other";
        ShowBatch = View, "Folder", [plain(Key::B)], line_above, without_history => "The table of the histories in the open folder";
        ShowCollect = Tools, "Collect", [with_control(Key::N)], without_history => "Run a workload on a database, record it as a history and check it";
        Follow = Tools, "Follow", [with_control(Key::T)], without_history => "Follow the open file while it grows, with the lanes at its end and the verdicts so far; or back to the history";
        HoldLanes = Tools, "Pause", [plain(Key::Space)], without_history => "Pause what is shown, or go on: the story of an anomaly, or the lanes of what is recorded or followed";
        OpenFound = Tools, "Open the first live anomaly", [with_control_and_shift(Key::F)], without_history => "Draw the first anomaly of what is recorded or followed, which goes on meanwhile";
        SwitchTime = View, "Next time axis", [plain(Key::T)] => "Draw lanes by the clock, with idle stretches cut short, or by a number that the log has for each transaction";
        SwitchTheme = View, "Dark or light", [plain(Key::D)], without_history => "Change between the dark and the light theme";
        LargerText = View, "Larger text", [with_control(Key::Plus), with_control(Key::Equals)], without_history => "Make all text and controls larger, as far as the window has room for them";
        SmallerText = View, "Smaller text", [with_control(Key::Minus)], without_history => "Make all text and controls smaller again";
        UsualText = View, "Default text size", [with_control(Key::Num0)], without_history => "Text and controls as large as at first";
        Tour = Help, "Tour", [plain(Key::F2)], without_history => "Five steps through a small history: what is where";
        Help = Help, "Keys and legend", [plain(Key::Questionmark), plain(Key::F1)], without_history => "Show what the keys and the lines mean";
    }
}

static ROWS: LazyLock<Vec<CommandRow>> = LazyLock::new(|| {
    let of_page = |row: &'static PageRow| CommandRow {
        command: Command::Show(row.page),
        group: match row.page {
            Page::Checkers => Group::Tools,
            _ => Group::View,
        },
        name: row.name,
        tooltip: row.tooltip,
        keys: &row.keys,
        line_above: row.page == Page::Graph,
        needs_history: true,
    };
    let pages = Page::table().iter().map(of_page);
    BEFORE_PAGES
        .iter()
        .copied()
        .chain(pages)
        .chain(AFTER_PAGES.iter().copied())
        .collect()
});

impl Command {
    /// The table, in menu order.
    pub fn table() -> &'static [CommandRow] {
        &ROWS
    }

    /// Its row in the table.
    pub fn row(self) -> &'static CommandRow {
        ROWS.iter()
            .find(|row| row.command == self)
            .unwrap_or(&ROWS[0])
    }

    /// The key shown for it: `Ctrl+O`, `n`, `Esc`.
    pub fn key_text(self) -> String {
        self.row().keys.first().map(key_text).unwrap_or_default()
    }

    /// The command whose keys were pressed in this frame; consumes them, unless they belong to what has the focus.
    pub fn pressed(input: &mut egui::InputState, focused: Focused) -> Option<Command> {
        let usable = |keys: &&KeyboardShortcut| match focused {
            Focused::Nothing => true,
            Focused::Widget => keys.logical_key != Key::Space,
            Focused::Field => !belongs_to_field(keys),
        };
        // Those with Shift come first: when a key is pressed and released within one frame, only its event still knows
        // about Shift, and a shortcut without Shift would take it.
        let hit = |shift: bool, input: &mut egui::InputState| {
            let has = |keys: &&KeyboardShortcut| keys.modifiers.shift == shift;
            ROWS.iter().find(|row| {
                row.keys
                    .iter()
                    .filter(usable)
                    .filter(has)
                    .any(|keys| consume(input, keys))
            })
        };
        hit(true, input)
            .or_else(|| hit(false, input))
            .map(|row| row.command)
    }
}

/// What has the keyboard focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focused {
    /// Nothing: all keys are commands.
    Nothing,
    /// A button or the like, which the space bar presses.
    Widget,
    /// A text field, to which plain keys belong, except Esc.
    Field,
}

/// Whether a text field with the keyboard focus uses some keys itself: letters, moving by a word, deleting one, undo.
fn belongs_to_field(keys: &KeyboardShortcut) -> bool {
    match (keys.modifiers.command, keys.modifiers.alt) {
        (true, _) => matches!(keys.logical_key, Key::W | Key::K | Key::Z | Key::Y),
        (false, true) => matches!(keys.logical_key, Key::ArrowLeft | Key::ArrowRight),
        (false, false) => keys.logical_key != Key::Escape,
    }
}

/// Like `InputState::consume_shortcut`, but one press at a time: a key that was pressed twice within a frame counts
/// twice. A plain key does not match with Alt, nor one with Ctrl with Shift.
fn consume(input: &mut egui::InputState, keys: &KeyboardShortcut) -> bool {
    let hit = |event: &egui::Event| match event {
        egui::Event::Key {
            key,
            modifiers,
            pressed: true,
            ..
        } => {
            let other = match keys.modifiers.command {
                // Many keyboards have + above another character.
                true => modifiers.shift && !keys.modifiers.shift && keys.logical_key != Key::Plus,
                false => modifiers.alt && !keys.modifiers.alt,
            };
            *key == keys.logical_key && !other && modifiers.matches_logically(keys.modifiers)
        }
        _ => false,
    };
    let place = input.events.iter().position(hit);
    place.map(|place| input.events.remove(place)).is_some()
}

/// How a key combination is written: single letters in lower case, as they are typed.
pub fn key_text(keys: &KeyboardShortcut) -> String {
    let name = match keys.logical_key {
        Key::Escape => "Esc",
        Key::ArrowDown => "Down",
        Key::ArrowUp => "Up",
        Key::ArrowLeft => "Left",
        Key::ArrowRight => "Right",
        Key::Plus => "+",
        Key::Minus => "-",
        other => other.symbol_or_name(),
    };
    match keys.modifiers.command {
        true => {
            let control = if cfg!(target_os = "macos") {
                "Cmd"
            } else {
                "Ctrl"
            };
            let shift = if keys.modifiers.shift { "Shift+" } else { "" };
            format!("{control}+{shift}{name}")
        }
        false if keys.modifiers.alt => format!("Alt+{name}"),
        false if keys.modifiers.shift => format!("Shift+{name}"),
        false if name.chars().count() == 1 => name.to_lowercase(),
        false => name.to_owned(),
    }
}

/// A request from a panel to the app.
#[derive(Clone, Debug)]
pub enum Request {
    /// Something about the marks in the history.
    Marks(super::marks::Ask),
    /// An action of the table.
    Run(Command),
    /// Draw all lanes by this axis.
    Axis(super::axis::LanesAxis),
    /// Read and check this file.
    OpenFile(PathBuf),
    /// Compare the open history with this file.
    CompareWith(PathBuf),
    /// Read and check the bundled sample at this index of the table.
    OpenSample(usize),
    /// Show this violation.
    Select(ViolationId),
    /// Open or fold a line of the anomaly tree.
    Toggle(super::tree::Branch),
    /// Change the filter of the anomaly tree.
    Filter(String),
    /// Show or hide edges of a relation.
    ToggleRelation(Relation),
    /// Give the pointer's or the keyboard's attention to this part of the picture.
    Focus(super::vocabulary::Focus),
    /// Show or fold the evidence of one inferred edge.
    ToggleEvidence(EdgeIndex),
    /// Show this case, by its index in the tree of cases.
    ShowCase(usize),
    /// Open or fold the cases inside this one.
    ToggleCase(usize),
    /// Go to this scene of the story.
    ReplayStep(usize),
    /// Draw every transaction of a long cycle, or its middle as one card.
    WholeCycle(bool),
    /// Keep this part in the picture, or stop keeping it.
    Keep(Part),
    /// Leave this part out of the picture, or put it back.
    LeaveOut(Part),
    /// Clear the parts to keep.
    KeepNothing,
    /// Draw this session of the counterexample as one card, or unfold it.
    FoldSession(SessionId),
    /// The card of this transaction of the counterexample was dragged: this is its new upper left corner.
    MoveCard(TransactionId, egui::Pos2),
    /// Put all cards back where the layout placed them.
    PutCardsBack,
    /// Draw every session as one card, or each transaction separately.
    FoldSessions(bool),
    /// Draw the graph with this layout.
    Layout(super::picture::LayoutKind),
    /// Fill in this command, which opens logs.
    FillLogCommand(String),
    /// Run it.
    ConfirmLogCommand,
    /// Show what a rule of the workload sees: its place among all findings.
    ShowFinding(usize),
    /// Show this transaction in the history browser.
    Browse(TransactionId),
    /// Show this transaction, clicked in the lists of the history browser, which stay where they are.
    BrowseHere(TransactionId),
    /// Scroll the history browser to this transaction.
    ScrollTo(TransactionId),
    /// Show this violation on the current page.
    SelectHere(ViolationId),
    /// Show the order that explains every read at this satisfied level.
    ShowOrder(Level),
    /// Show the smallest anomaly that breaks this level.
    SelectLevel(Level),
    /// Say what this level means, in the lattice.
    ExplainLevel(Level),
    /// What was promised, as a place among all promises.
    ChoosePromise(Option<usize>),
    /// Show the versions of this key on their page.
    ShowKey(KeyId),
    /// Show the versions of the key of this name, if it exists.
    FindKey(String),
    /// Show the transaction in the lanes.
    ShowInLanes(TransactionId),
    /// Zoom the timeline by the first, and move it by the second of its width.
    FlyLanes(f32, f32),
    /// Switch the matrix between the anomaly and its whole component.
    WholeGroup(bool),
    /// Change the text in the palette.
    PaletteText(String),
    /// Group the list by this.
    GroupBy(GroupBy),
    /// List further instances of this pattern.
    ListMore(crate::checkers::Pattern),
    /// Show this instance, listed or not.
    ShowInstance(ViolationId),
    /// Set the note on the anomaly of this identity.
    SetNote(String, Note),
    /// What was tested.
    SetTested(String),
    /// Select these transactions of the whole history for a what-if; those already selected are deselected.
    Choose(Vec<TransactionId>),
    /// Add these to the selection for a what-if.
    ChooseMore(Vec<TransactionId>),
    /// Remove the answers about parts of the history.
    ClearWhatIf,
    /// Go to this step of the tour, or end it.
    Tour(Option<usize>),
    /// Clear the selection for a what-if.
    ChooseNone,
    /// Leave these transactions of the whole history out of the picture.
    Hide(Vec<TransactionId>),
    /// Show only the histories of the folder that contain these words.
    BatchFilter(String),
    /// Back from two compared histories to the table.
    EndComparison,
    /// List histories that look alike as one, or each by itself.
    GroupHistories,
    /// Sort the table of the folder.
    BatchSort(super::batch::Column),
    /// Include this checker, or exclude it.
    ToggleChecker(crate::checkers::Checker),
    /// Whether checkers run on generated histories instead of the open one.
    Sweep(bool),
    /// Write a chart as an SVG.
    SaveChart(Box<crate::export::chart::Chart>),
    /// What checkers run on when it is generated.
    PlanSweep(Box<super::sweep::Plan>),
    /// Fill in a field of the Collect page.
    FillIn(super::collecting::form::Field, String),
    /// Sets the servers of the selected database.
    SetServers(Vec<super::collecting::servers::Server>),
    /// Sets what breaks while a workload runs.
    SetBreaks(Vec<crate::collect::FaultForm>),
    /// Set the password for the selected database.
    SetPassword(super::collecting::address::Secret),
    /// Hide passwords in addresses.
    HidePasswords,
    /// Open the system's dialog for the file to record to.
    ChooseRecording,
    /// Stop the run of the Collect page.
    CancelCollecting,
    /// Show the file that is followed, or the open history.
    ShowFollowing(bool),
    /// Stop following the file; what is known stays.
    StopFollowing,
    /// Open what was found at this place of what grows.
    OpenFound(usize),
    /// Open the history of this round.
    OpenCollected(usize),
    /// Write the results of checkers: `csv` or `svg`.
    WriteComparison(&'static str),
    /// Sort and search the history browser.
    ArrangeBrowser(super::listing::Wanted),
    /// Compare this history of the folder with another one.
    Compare(usize),
    /// Move the selection in the palette down by so many entries, or up.
    PaletteMove(isize),
    /// Run the entry at this index of the palette, or the selected one.
    PaletteChoose(Option<usize>),
    /// Go to a step of the order shown.
    GoToStep(usize),
    /// Show this operation of the whole history: its raw line.
    ShowOperation(OperationId),
    /// List the operations of this finding, or stop listing them.
    OpenFinding(usize),
    /// Select a word for a rule, without reading again.
    SetRule(&'static str, String),
    /// Read the open history again by the selected rules.
    ReadAgain,
    WriteExport(ExportKind, PathBuf),
    /// Open the system's dialog for the path of an export.
    ChooseExportPath(ExportKind),
    /// Use the dialog drawn by this program.
    UseOwnDialog,
    /// Dismiss the message at this index.
    Dismiss(usize),
    /// Stop the visible work, whatever else is open or being typed.
    Stop,
    /// Write the report of the selected anomaly as one HTML file.
    WritePage(PathBuf),
    /// Show a folder in the system's file manager.
    ShowFolder(PathBuf),
    /// Copy text to the clipboard.
    Copy(String),
    /// Ask where to save the picture of the order shown.
    SaveOrder,
    /// Copy why its level holds to the clipboard.
    CopyOrder,
}

/// Where panels push their requests.
pub type Requests = Vec<Request>;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn no_two_commands_share_a_key() {
        let mut owners = BTreeMap::new();
        for row in Command::table() {
            for keys in row.keys {
                let earlier = owners.insert(key_text(keys), row.command);
                assert_eq!(
                    earlier,
                    None,
                    "{} means {:?} too",
                    key_text(keys),
                    row.command
                );
            }
        }
        assert!(owners.len() >= Command::table().len());
    }

    #[test]
    fn every_command_has_one_row_and_every_row_a_key() {
        for row in Command::table() {
            assert_eq!(row.command.row().name, row.name);
            assert!(
                !row.keys.is_empty() && !row.tooltip.is_empty() && !row.tooltip.ends_with('.'),
                "{}",
                row.name
            );
        }
    }

    #[test]
    fn shift_makes_another_command_of_a_key() {
        let pressed = |modifiers: Modifiers| {
            let mut input = egui::InputState::default();
            input.modifiers = modifiers;
            let event = egui::Event::Key {
                key: Key::O,
                physical_key: None,
                pressed: true,
                repeat: false,
                modifiers,
            };
            input.events.push(event);
            Command::pressed(&mut input, Focused::Nothing)
        };
        assert_eq!(pressed(Modifiers::COMMAND), Some(Command::Open));
        assert_eq!(
            pressed(Modifiers::COMMAND | Modifiers::SHIFT),
            Some(Command::OpenFolder)
        );
        assert_eq!(pressed(Modifiers::NONE), Some(Command::CheckOnly));
        // Shift is released by the end of the frame.
        let mut input = egui::InputState::default();
        let (key, modifiers) = (Key::O, Modifiers::COMMAND | Modifiers::SHIFT);
        input.events.push(egui::Event::Key {
            key,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers,
        });
        assert_eq!(
            Command::pressed(&mut input, Focused::Nothing),
            Some(Command::OpenFolder)
        );
        assert_eq!(pressed(Modifiers::ALT), None);
        let (key, modifiers) = (Key::Plus, Modifiers::COMMAND | Modifiers::SHIFT);
        input.events.push(egui::Event::Key {
            key,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers,
        });
        assert_eq!(
            Command::pressed(&mut input, Focused::Nothing),
            Some(Command::LargerText)
        );
    }

    #[test]
    fn the_space_bar_belongs_to_what_has_the_focus() {
        let pressed = |focused: Focused| {
            let mut input = egui::InputState::default();
            let (key, modifiers) = (Key::Space, Modifiers::NONE);
            input.events.push(egui::Event::Key {
                key,
                physical_key: None,
                pressed: true,
                repeat: false,
                modifiers,
            });
            Command::pressed(&mut input, focused)
        };
        assert_eq!(pressed(Focused::Nothing), Some(Command::HoldLanes));
        assert_eq!([Focused::Widget, Focused::Field].map(pressed), [None, None]);
    }

    #[test]
    fn keys_are_written_as_people_type_them() {
        assert_eq!(Command::NextAnomaly.key_text(), "n");
        assert_eq!(
            Command::Open.key_text(),
            if cfg!(target_os = "macos") {
                "Cmd+O"
            } else {
                "Ctrl+O"
            }
        );
        assert_eq!(
            Command::OpenFolder.key_text().replace("Cmd", "Ctrl"),
            "Ctrl+Shift+O"
        );
        assert_eq!(Command::Escape.key_text(), "Esc");
    }
}
