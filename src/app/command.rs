//! Every action of the window: name, explanation and keys in one table.
//!
//! Menus, shortcuts, the help sheet and the hints in the status bar are built from the table, so they cannot disagree.
//! Actions that carry a value (select this violation, open that file) are [`Request`]s: panels only push requests, and
//! the app carries them out between frames.

use super::grouping::GroupBy;
use super::notes::Note;
use super::page::PageRow;
use super::vocabulary::Page;
use crate::checkers::{Level, ViolationId};
use crate::export::{ExportKind, Part};
use crate::history::{KeyId, OperationId, SessionId, TransactionId};
use crate::relations::{EdgeIndex, Relation};
use egui::{Key, KeyboardShortcut, Modifiers};
use std::path::PathBuf;
use std::sync::LazyLock;

/// An action without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Choose a history file.
    Open,
    /// Choose a folder of histories.
    OpenFolder,
    /// Compare the open history with another.
    CompareWith,
    /// Read the open file again.
    Reload,
    /// Back to the welcome page.
    Close,
    /// Save the picture, the report or the argument.
    Export,
    /// Write everything about the anomaly for an issue tracker.
    Report,
    /// Copy the argument to the clipboard.
    CopyMarkdown,
    /// Close the window.
    Quit,
    /// Undo the last change.
    Undo,
    /// Redo the change that was undone.
    Redo,
    /// Write the project file next to the history.
    SaveProject,
    /// Copy a link to the current view to the clipboard.
    CopyLink,
    /// Bookmark the anomaly.
    Bookmark,
    /// Write a note on the anomaly.
    EditNote,
    /// Mark a transaction or a stretch of the history.
    Mark,
    /// Go to the next mark.
    NextMark,
    /// Go to the previous mark.
    PreviousMark,
    /// Group the list by something else.
    GroupBy,
    /// List more instances of the selected anomaly's pattern.
    ListMore,
    /// Select the pinned transaction for a what-if.
    Choose,
    /// Check only the selected transactions.
    CheckOnly,
    /// Check all but the selected transactions.
    CheckWithout,
    /// Leave the pinned transaction out of the picture.
    Hide,
    /// Put all transactions back into the picture.
    ShowHidden,
    /// Stop work, close what is open, release the selection: whichever applies first.
    Escape,
    /// Select the next listed anomaly.
    NextAnomaly,
    /// Select the previous listed anomaly.
    PreviousAnomaly,
    /// Select the smallest anomaly of the next class.
    NextClass,
    /// Select the smallest anomaly of the previous class.
    PreviousClass,
    /// Next step of the argument.
    NextStep,
    /// Previous step of the argument.
    PreviousStep,
    /// Go back to the previous view.
    Back,
    /// Go forward again.
    Forward,
    /// Find a command, an anomaly, a transaction or a key by its name.
    Palette,
    /// Show the next layer of the interpretation.
    NextLayer,
    /// Show the previous layer.
    PreviousLayer,
    /// Play layers or steps one after another, or pause.
    Play,
    /// Open the next case of the case tree.
    NextCase,
    /// Open the previous case.
    PreviousCase,
    /// Step through the operations of the counterexample.
    Replay,
    /// Draw the orders that were ruled out.
    Alternatives,
    /// Keep the pinned part in the picture.
    Keep,
    /// Draw a session as one card.
    FoldSession,
    /// Switch between the anomaly and its whole component.
    SwitchScope,
    /// Show or fold the evidence behind inferred edges.
    ExpandEvidence,
    /// Focus the anomaly filter.
    FocusFilter,
    /// Show everything.
    Fit,
    /// Zoom in.
    ZoomIn,
    /// Zoom out.
    ZoomOut,
    /// Switch between session columns and layers.
    SwitchLayout,
    /// Show or hide the pane below the graph.
    Details,
    /// Show where in the whole history the anomaly is.
    Locate,
    /// Show or hide the lattice of levels.
    Lattice,
    /// Check against every level of the lattice.
    CheckEveryLevel,
    /// A page in the middle of the window.
    Show(Page),
    /// Run the selected checkers.
    RunCheckers,
    /// The table of the open folder.
    ShowBatch,
    /// The page that makes a history with a workload.
    ShowCollect,
    /// Run the workload once.
    RunWorkload,
    /// Run it with other seeds until a violation appears.
    Hunt,
    /// Run it at every isolation level.
    CompareLevels,
    /// Open the recorded history.
    OpenCollected,
    /// Follow the open file, or show what is followed.
    Follow,
    /// Pause the lanes of what grows, or go on.
    HoldLanes,
    /// Open the first anomaly of what grows.
    OpenFound,
    /// Save the table of rounds.
    WriteRounds,
    /// Switch between true and compressed time.
    SwitchTime,
    /// Switch between dark and light.
    SwitchTheme,
    /// Larger text and controls.
    LargerText,
    /// Smaller text and controls.
    SmallerText,
    /// Text and controls of the usual size.
    UsualText,
    /// A tour of five steps.
    Tour,
    /// The help sheet with the keys.
    Help,
}

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
    /// Help menu.
    Help,
}

impl Group {
    /// All groups, in menu order.
    pub const ALL: [Group; 5] = [Group::File, Group::Edit, Group::Go, Group::View, Group::Help];

    /// Title of the menu.
    pub fn title(self) -> &'static str {
        match self {
            Group::File => "File",
            Group::Edit => "Edit",
            Group::Go => "Go",
            Group::View => "View",
            Group::Help => "Help",
        }
    }
}

/// Everything constant about a command.
#[derive(Clone, Copy, Debug)]
pub struct CommandRow {
    /// The command.
    pub command: Command,
    /// The menu it belongs to.
    pub group: Group,
    /// Its name; ends with `…` if the command needs more input.
    pub name: &'static str,
    /// What it does.
    pub tooltip: &'static str,
    /// Keys that trigger it; the first is the one shown.
    pub keys: &'static [KeyboardShortcut],
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

/// The rows before those of the pages, in menu order.
#[rustfmt::skip]
const BEFORE_PAGES: [CommandRow; 60] = [
    CommandRow { command: Command::Open, group: Group::File, name: "Open…", tooltip: "Choose a history file", keys: &[with_control(Key::O)] },
    CommandRow { command: Command::OpenFolder, group: Group::File, name: "Open a folder…", tooltip: "Choose a folder: one history in several files, or several histories", keys: &[with_control_and_shift(Key::O)] },
    CommandRow { command: Command::CompareWith, group: Group::File, name: "Compare with…", tooltip: "Choose another history, such as one before or after a fix, and see what differs: verdicts, counts, and which anomalies went and came", keys: &[with_control(Key::D)] },
    CommandRow { command: Command::Reload, group: Group::File, name: "Reload", tooltip: "Read the open file again", keys: &[with_control(Key::R), plain(Key::F5)] },
    CommandRow { command: Command::Close, group: Group::File, name: "Close", tooltip: "Back to the welcome page", keys: &[with_control(Key::W)] },
    CommandRow { command: Command::Export, group: Group::File, name: "Export…", tooltip: "Save the picture or the argument as a file", keys: &[with_control(Key::E)] },
    CommandRow { command: Command::Report, group: Group::File, name: "Write report", tooltip: "Write a page, pictures, files and scripts for an issue tracker into a folder next to the history", keys: &[with_control_and_shift(Key::E)] },
    CommandRow { command: Command::CopyMarkdown, group: Group::File, name: "Copy as Markdown", tooltip: "Put the argument on the clipboard, ready for an issue tracker", keys: &[with_control(Key::M)] },
    CommandRow { command: Command::SaveProject, group: Group::File, name: "Save project", tooltip: "Keep notes, filter, layout and evidence in a file next to the history", keys: &[with_control(Key::S)] },
    CommandRow { command: Command::CopyLink, group: Group::File, name: "Copy link", tooltip: "Put a link to this anomaly and view on the clipboard, to be opened with isoscope", keys: &[with_control(Key::L)] },
    CommandRow { command: Command::RunWorkload, group: Group::File, name: "Run and record", tooltip: "Run the workload of the Collect page once, record it, and check it while it grows", keys: &[with_control(Key::Enter)] },
    CommandRow { command: Command::Hunt, group: Group::File, name: "Hunt", tooltip: "Run the workload of the Collect page with one seed after the other until a violation appears", keys: &[with_control_and_shift(Key::H)] },
    CommandRow { command: Command::CompareLevels, group: Group::File, name: "Compare levels", tooltip: "Run the workload of the Collect page at every isolation level of the database", keys: &[with_control_and_shift(Key::L)] },
    CommandRow { command: Command::OpenCollected, group: Group::File, name: "Open recording", tooltip: "Open what the Collect page recorded last, at its violation if there is one", keys: &[with_control_and_shift(Key::N)] },
    CommandRow { command: Command::WriteRounds, group: Group::File, name: "Save rounds as CSV", tooltip: "Write the table of the Collect page next to its histories", keys: &[with_control_and_shift(Key::S)] },
    CommandRow { command: Command::Quit, group: Group::File, name: "Quit", tooltip: "Close the window", keys: &[with_control(Key::Q)] },
    CommandRow { command: Command::Undo, group: Group::Edit, name: "Undo", tooltip: "Take back the last change of filter, grouping, notes, marks, what is chosen or what is drawn", keys: &[with_control(Key::Z)] },
    CommandRow { command: Command::Redo, group: Group::Edit, name: "Redo", tooltip: "Do again what was taken back", keys: &[with_control_and_shift(Key::Z), with_control(Key::Y)] },
    CommandRow { command: Command::Bookmark, group: Group::Edit, name: "Bookmark", tooltip: "Mark the selected anomaly, or take the mark away; is:bookmarked filters by it", keys: &[plain(Key::M)] },
    CommandRow { command: Command::EditNote, group: Group::Edit, name: "Write a note", tooltip: "Write something about the selected anomaly", keys: &[plain(Key::I)] },
    CommandRow { command: Command::Mark, group: Group::Edit, name: "Mark in the history", tooltip: "Mark the transaction, the span from the first to the last of those chosen, or what is in view on Lanes", keys: &[with_shift(Key::M)] },
    CommandRow { command: Command::ListMore, group: Group::Edit, name: "List more instances", tooltip: "List the next instances of this pattern, which were counted but not listed; an id such as TAP-n/40 in the filter and Enter show a single one", keys: &[with_control_and_shift(Key::M)] },
    CommandRow { command: Command::GroupBy, group: Group::Edit, name: "Group by…", tooltip: "List anomalies by pattern, root cause, component, key or sessions, in turn; in a folder, histories that look alike as one", keys: &[plain(Key::G)] },
    CommandRow { command: Command::Choose, group: Group::Edit, name: "Select for what-if", tooltip: "Choose the pinned transaction for a what-if, or take it out again", keys: &[plain(Key::X)] },
    CommandRow { command: Command::CheckOnly, group: Group::Edit, name: "Only these", tooltip: "Check only the chosen transactions, else those of the anomaly", keys: &[plain(Key::O)] },
    CommandRow { command: Command::CheckWithout, group: Group::Edit, name: "Without these", tooltip: "Check the history without the chosen transactions, else without what is pinned", keys: &[plain(Key::W)] },
    CommandRow { command: Command::Hide, group: Group::Edit, name: "Hide", tooltip: "Leave the pinned edge, operation or transaction out of the picture and of exports", keys: &[plain(Key::H)] },
    CommandRow { command: Command::ShowHidden, group: Group::Edit, name: "Show hidden", tooltip: "Put everything that was left out back into the picture", keys: &[plain(Key::U)] },
    CommandRow { command: Command::Keep, group: Group::Edit, name: "Keep in picture", tooltip: "Keep the pinned edge, operation or transaction in the picture and in exports while evidence is folded, or no longer", keys: &[plain(Key::S)] },
    CommandRow { command: Command::FoldSession, group: Group::Edit, name: "Fold session", tooltip: "Draw all transactions of the pinned one's session as one card, or each by itself again; all sessions where nothing is pinned", keys: &[plain(Key::Z)] },
    CommandRow { command: Command::NextAnomaly, group: Group::Go, name: "Next anomaly", tooltip: "Select the next anomaly of the list", keys: &[plain(Key::N)] },
    CommandRow { command: Command::PreviousAnomaly, group: Group::Go, name: "Previous anomaly", tooltip: "Select the anomaly before", keys: &[plain(Key::P)] },
    CommandRow { command: Command::NextClass, group: Group::Go, name: "Next class", tooltip: "Select the first anomaly of the next pattern in the list", keys: &[with_shift(Key::N)] },
    CommandRow { command: Command::PreviousClass, group: Group::Go, name: "Previous class", tooltip: "Select the first anomaly of the pattern before", keys: &[with_shift(Key::P)] },
    CommandRow { command: Command::NextStep, group: Group::Go, name: "Next step", tooltip: "Go one step further in the argument, or in what is replayed", keys: &[plain(Key::J), plain(Key::ArrowDown)] },
    CommandRow { command: Command::PreviousStep, group: Group::Go, name: "Previous step", tooltip: "Go one step back in the argument, or in what is replayed", keys: &[plain(Key::K), plain(Key::ArrowUp)] },
    CommandRow { command: Command::NextLayer, group: Group::Go, name: "Next layer", tooltip: "Show how the argument comes about: one layer further", keys: &[plain(Key::CloseBracket), plain(Key::ArrowRight)] },
    CommandRow { command: Command::PreviousLayer, group: Group::Go, name: "Previous layer", tooltip: "Show how the argument comes about: one layer back", keys: &[plain(Key::OpenBracket), plain(Key::ArrowLeft)] },
    CommandRow { command: Command::Play, group: Group::Go, name: "Play or pause", tooltip: "Play automatically: through the steps of a replay, else through the layers", keys: &[plain(Key::V)] },
    CommandRow { command: Command::NextCase, group: Group::Go, name: "Next case", tooltip: "Open the next case, where it takes several to explain the anomaly", keys: &[plain(Key::Period)] },
    CommandRow { command: Command::PreviousCase, group: Group::Go, name: "Previous case", tooltip: "Open the case before", keys: &[plain(Key::Comma)] },
    CommandRow { command: Command::Replay, group: Group::Go, name: "Replay", tooltip: "Step through the operations of the anomaly with the state of its keys, or stop that", keys: &[plain(Key::Y)] },
    CommandRow { command: Command::Back, group: Group::Go, name: "Back", tooltip: "Back to where you looked before", keys: &[with_alt(Key::ArrowLeft)] },
    CommandRow { command: Command::Forward, group: Group::Go, name: "Forward", tooltip: "Forward to where you looked after that", keys: &[with_alt(Key::ArrowRight)] },
    CommandRow { command: Command::NextMark, group: Group::Go, name: "Next mark", tooltip: "Show the next marked place of the history", keys: &[with_shift(Key::J)] },
    CommandRow { command: Command::PreviousMark, group: Group::Go, name: "Previous mark", tooltip: "Show the previous marked place of the history", keys: &[with_shift(Key::K)] },
    CommandRow { command: Command::Locate, group: Group::Go, name: "Show in the history", tooltip: "Go to the place of the pinned transaction, or of the anomaly, in the whole history", keys: &[with_shift(Key::H)] },
    CommandRow { command: Command::Palette, group: Group::Go, name: "Find anything…", tooltip: "Find a command, an anomaly, a transaction or a key by its name", keys: &[with_control(Key::P), with_control(Key::K)] },
    CommandRow { command: Command::ExpandEvidence, group: Group::Go, name: "Expand evidence", tooltip: "Show or fold the evidence behind the selected inferred edge, or behind all of them", keys: &[plain(Key::E)] },
    CommandRow { command: Command::FocusFilter, group: Group::Go, name: "Filter anomalies", tooltip: "Type into the filter of the anomaly list", keys: &[with_control(Key::F), plain(Key::Slash)] },
    CommandRow { command: Command::Escape, group: Group::Go, name: "Cancel, deselect", tooltip: "Stop running work, close what is open, release the selection", keys: &[plain(Key::Escape)] },
    CommandRow { command: Command::Fit, group: Group::View, name: "Fit", tooltip: "Show the whole graph", keys: &[plain(Key::F), plain(Key::Num0)] },
    CommandRow { command: Command::ZoomIn, group: Group::View, name: "Zoom in", tooltip: "Show the graph larger", keys: &[plain(Key::Plus), plain(Key::Equals)] },
    CommandRow { command: Command::ZoomOut, group: Group::View, name: "Zoom out", tooltip: "Show the graph smaller", keys: &[plain(Key::Minus)] },
    CommandRow { command: Command::Alternatives, group: Group::View, name: "Orders ruled out", tooltip: "Draw the orders that were ruled out, with what would have followed from them", keys: &[plain(Key::A)] },
    CommandRow { command: Command::SwitchScope, group: Group::View, name: "Anomaly or component", tooltip: "Draw the chosen anomaly, or all listed ones that share transactions with it, in graph and matrix", keys: &[plain(Key::Q)] },
    CommandRow { command: Command::SwitchLayout, group: Group::View, name: "Switch layout", tooltip: "Draw the graph in session columns or in layers", keys: &[plain(Key::L)] },
    CommandRow { command: Command::Details, group: Group::View, name: "Sessions and versions", tooltip: "Show the anomaly over time and the versions of its key below the graph, or hide them", keys: &[with_shift(Key::S)] },
    CommandRow { command: Command::Lattice, group: Group::View, name: "All levels", tooltip: "Show what is known of every level below the strip, or hide it", keys: &[with_shift(Key::L)] },
    CommandRow { command: Command::CheckEveryLevel, group: Group::Edit, name: "Check all levels", tooltip: "Check the history against every level of the lattice, which may take much longer", keys: &[with_shift(Key::C)] },
];

/// Those after the pages.
#[rustfmt::skip]
const AFTER_PAGES: [CommandRow; 13] = [
    CommandRow { command: Command::RunCheckers, group: Group::Edit, name: "Run checkers", tooltip: "Let the chosen checkers run, one after the other", keys: &[plain(Key::R)] },
    CommandRow { command: Command::ShowBatch, group: Group::View, name: "Folder", tooltip: "The table of the histories in the open folder", keys: &[plain(Key::B)] },
    CommandRow { command: Command::ShowCollect, group: Group::View, name: "Collect", tooltip: "Run a workload on a database, record it as a history and check it", keys: &[with_control(Key::N)] },
    CommandRow { command: Command::Follow, group: Group::View, name: "Follow", tooltip: "Follow the open file while it grows, with the lanes at its end and the verdicts so far; or back to the history", keys: &[with_control(Key::T)] },
    CommandRow { command: Command::HoldLanes, group: Group::View, name: "Pause live lanes", tooltip: "Pause the lanes of what is recorded or followed, or go on at their right edge; nothing else is paused", keys: &[plain(Key::Space)] },
    CommandRow { command: Command::OpenFound, group: Group::Go, name: "Open the first live anomaly", tooltip: "Draw the first anomaly of what is recorded or followed, which goes on meanwhile", keys: &[with_control_and_shift(Key::F)] },
    CommandRow { command: Command::SwitchTime, group: Group::View, name: "True or compressed time", tooltip: "Draw lanes by the clock, or with idle stretches cut short", keys: &[plain(Key::T)] },
    CommandRow { command: Command::SwitchTheme, group: Group::View, name: "Dark or light", tooltip: "Change between the dark and the light theme", keys: &[plain(Key::D)] },
    CommandRow { command: Command::LargerText, group: Group::View, name: "Larger text", tooltip: "Make all text and controls larger, as far as the window has room for them", keys: &[with_control(Key::Plus), with_control(Key::Equals)] },
    CommandRow { command: Command::SmallerText, group: Group::View, name: "Smaller text", tooltip: "Make all text and controls smaller again", keys: &[with_control(Key::Minus)] },
    CommandRow { command: Command::UsualText, group: Group::View, name: "Default text size", tooltip: "Text and controls as large as at first", keys: &[with_control(Key::Num0)] },
    CommandRow { command: Command::Tour, group: Group::Help, name: "Tour", tooltip: "Five steps through a small history: what is where", keys: &[plain(Key::F2)] },
    CommandRow { command: Command::Help, group: Group::Help, name: "Keys and legend", tooltip: "Show what the keys and the lines mean", keys: &[plain(Key::Questionmark), plain(Key::F1)] },
];

static ROWS: LazyLock<Vec<CommandRow>> = LazyLock::new(|| {
    let of_page = |row: &'static PageRow| CommandRow {
        command: Command::Show(row.page),
        group: Group::View,
        name: row.name,
        tooltip: row.tooltip,
        keys: &row.keys,
    };
    let pages = Page::table().iter().map(of_page);
    BEFORE_PAGES.into_iter().chain(pages).chain(AFTER_PAGES).collect()
});

impl Command {
    /// The table, in menu order.
    pub fn table() -> &'static [CommandRow] {
        &ROWS
    }

    /// Its row in the table.
    pub fn row(self) -> &'static CommandRow {
        ROWS.iter().find(|row| row.command == self).unwrap_or(&ROWS[0])
    }

    /// The key shown for it: `Ctrl+O`, `n`, `Esc`.
    pub fn key_text(self) -> String {
        self.row().keys.first().map(key_text).unwrap_or_default()
    }

    /// Whether it only makes sense while a history is open.
    pub fn needs_history(self) -> bool {
        !matches!(
            self,
            Command::Open
                | Command::OpenFolder
                | Command::GroupBy
                | Command::Quit
                | Command::SwitchTheme
                | Command::LargerText
                | Command::SmallerText
                | Command::UsualText
                | Command::Help
                | Command::Palette
                | Command::Tour
                | Command::ShowBatch
                | Command::ShowCollect
                | Command::Follow
                | Command::HoldLanes
                | Command::OpenFound
                | Command::RunWorkload
                | Command::Hunt
                | Command::CompareLevels
                | Command::OpenCollected
                | Command::WriteRounds
                | Command::NextStep
                | Command::PreviousStep
                | Command::Escape
        )
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
            ROWS.iter().find(|row| row.keys.iter().filter(usable).filter(has).any(|keys| consume(input, keys)))
        };
        hit(true, input).or_else(|| hit(false, input)).map(|row| row.command)
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
        egui::Event::Key { key, modifiers, pressed: true, .. } => {
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
            let control = if cfg!(target_os = "macos") { "Cmd" } else { "Ctrl" };
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
    /// Show this layer of the interpretation, or the argument as a whole.
    ShowLayer(Option<usize>),
    /// Show this case, by its index in the tree of cases.
    ShowCase(usize),
    /// Open or fold the cases inside this one.
    ToggleCase(usize),
    /// Go to this step of the replay.
    ReplayStep(usize),
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
    /// Show this transaction in the history browser.
    Browse(TransactionId),
    /// Scroll the history browser to this transaction.
    ScrollTo(TransactionId),
    /// Show this violation on the current page.
    SelectHere(ViolationId),
    /// Show the order that explains every read at this satisfied level.
    ShowOrder(Level),
    /// Show the smallest anomaly that breaks this level.
    SelectLevel(Level),
    /// Say what the level with this code means, in the lattice.
    ExplainLevel(&'static str),
    /// What was promised, as a place among all promises.
    ChoosePromise(Option<usize>),
    /// Show the versions of this key on their page.
    ShowKey(KeyId),
    /// Show them where versions are shown now.
    ChooseKey(KeyId),
    /// Show the versions of the key of this name, if it exists.
    FindKey(String),
    /// Show the transaction in the lanes.
    ShowInLanes(TransactionId),
    /// The pane below the graph has this height, in points.
    DetailsHeight(u16),
    /// Show lanes for all sessions, or only for those of the anomaly.
    AllLanes(bool),
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
    /// Write an export.
    WriteExport(ExportKind, PathBuf),
    /// Open the system's dialog for the path of an export.
    ChooseExportPath(ExportKind),
    /// Use the dialog drawn by this program.
    UseOwnDialog,
    /// Dismiss the message at this index.
    Dismiss(usize),
    /// Stop the visible work, whatever else is open or being typed.
    Stop,
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
                assert_eq!(earlier, None, "{} means {:?} too", key_text(keys), row.command);
            }
        }
        assert!(owners.len() >= Command::table().len());
    }

    #[test]
    fn every_command_has_one_row_and_every_row_a_key() {
        for row in Command::table() {
            assert_eq!(row.command.row().name, row.name);
            assert!(!row.keys.is_empty() && !row.tooltip.is_empty() && !row.tooltip.ends_with('.'), "{}", row.name);
        }
    }

    #[test]
    fn shift_makes_another_command_of_a_key() {
        let pressed = |modifiers: Modifiers| {
            let mut input = egui::InputState::default();
            input.modifiers = modifiers;
            let event = egui::Event::Key { key: Key::O, physical_key: None, pressed: true, repeat: false, modifiers };
            input.events.push(event);
            Command::pressed(&mut input, Focused::Nothing)
        };
        assert_eq!(pressed(Modifiers::COMMAND), Some(Command::Open));
        assert_eq!(pressed(Modifiers::COMMAND | Modifiers::SHIFT), Some(Command::OpenFolder));
        assert_eq!(pressed(Modifiers::NONE), Some(Command::CheckOnly));
        // Shift is released by the end of the frame.
        let mut input = egui::InputState::default();
        let (key, modifiers) = (Key::O, Modifiers::COMMAND | Modifiers::SHIFT);
        input.events.push(egui::Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers });
        assert_eq!(Command::pressed(&mut input, Focused::Nothing), Some(Command::OpenFolder));
        assert_eq!(pressed(Modifiers::ALT), None);
        let (key, modifiers) = (Key::Plus, Modifiers::COMMAND | Modifiers::SHIFT);
        input.events.push(egui::Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers });
        assert_eq!(Command::pressed(&mut input, Focused::Nothing), Some(Command::LargerText));
    }

    #[test]
    fn the_space_bar_belongs_to_what_has_the_focus() {
        let pressed = |focused: Focused| {
            let mut input = egui::InputState::default();
            let (key, modifiers) = (Key::Space, Modifiers::NONE);
            input.events.push(egui::Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers });
            Command::pressed(&mut input, focused)
        };
        assert_eq!(pressed(Focused::Nothing), Some(Command::HoldLanes));
        assert_eq!([Focused::Widget, Focused::Field].map(pressed), [None, None]);
    }

    #[test]
    fn keys_are_written_as_people_type_them() {
        assert_eq!(Command::NextAnomaly.key_text(), "n");
        assert_eq!(Command::Open.key_text(), if cfg!(target_os = "macos") { "Cmd+O" } else { "Ctrl+O" });
        assert_eq!(Command::OpenFolder.key_text().replace("Cmd", "Ctrl"), "Ctrl+Shift+O");
        assert_eq!(Command::Escape.key_text(), "Esc");
    }
}
