//! The whole history: sessions, the transactions of one, the operations of one. Only visible lines are made.

use super::minimap::minimap_ui;
use super::{on_command, paint_ground};
use crate::app::command::{Command, Request, Requests};
use crate::app::listing::{MOST, SortBy, Wanted};
use crate::app::page::Page;
use crate::app::state::{Document, State};
use crate::app::style::{self, GAP, Palette, ROW, counted};
use crate::app::tree::toggle_word;
use crate::diagram::layout::{MAX_TITLE_COLUMNS, shortened};
use crate::diagram::text_size::{ADVANCE, elide};
use crate::formats::fields;
use crate::history::{History, OperationId, OperationKind, Outcome, SessionId, TransactionId};
use crate::relations::Source;
use crate::report::grouped;
use egui::text::LayoutJob;
use egui::{Align2, FontId, Id, ScrollArea, Sense, TextFormat, Ui, WidgetInfo, WidgetType, vec2};

/// Where the first and the last transaction in view are kept for the next frame.
const SEEN: &str = "transactions in view";

pub(crate) fn browser_ui(ui: &mut Ui, state: &State, document: &Document, requests: &mut Requests) {
    let Some(history) = &document.history else {
        style::note(ui, "Reading…");
        return;
    };
    if history.n_sessions() == 0 {
        style::note(ui, "The history is empty.");
        return;
    }
    super::failed_ui(ui, document, Page::Browser);
    map_ui(ui, state, document, requests);
    super::marks::marks_ui(ui, document, requests);
    let height = ui.available_height() - 48.0;
    let widths = [0.24, 0.34, 0.42].map(|share| (ui.available_width() - 2.0 * GAP) * share);
    ui.horizontal_top(|ui| {
        column_ui(ui, widths[0], height, |ui| {
            sessions_ui(ui, history, document, requests)
        });
        column_ui(ui, widths[1], height, |ui| {
            transactions_ui(ui, history, document, requests)
        });
        column_ui(ui, widths[2], height, |ui| {
            operations_ui(ui, history, document, requests)
        });
    });
    if let Some((operation, text)) = &document.browser.operation {
        let palette = Palette::of(ui);
        let spot = history
            .spot_of(*operation)
            .map(|spot| spot.text(history.origin()));
        let text = match (spot, text) {
            (None, _) => format!(
                "{}: not read from a line of a file",
                history.operation_text(*operation)
            ),
            (Some(spot), Some(text)) => format!("{spot}: {text}"),
            (Some(spot), None) => format!("{spot}…"),
        };
        let font = FontId::monospace(style::CODE);
        let mut job = LayoutJob::single_section(text, TextFormat::simple(font, palette.strong));
        job.wrap = super::raw_lines::wrapping(ui);
        ui.label(job);
        let fields = document.browser.operation.as_ref();
        let fields = fields
            .and_then(|(_, text)| text.as_deref())
            .map(fields::fields_in);
        if let Some(fields) = fields.filter(|fields| !fields.is_empty()) {
            style::note(ui, fields::in_words(&fields));
        }
        links_ui(ui, history, document, *operation, requests);
    } else {
        style::note(
            ui,
            "Click an operation for its line in the file, and for who wrote, read or replaced its version.",
        );
    }
}

/// The map of the history; its brush is over the transactions listed in view, and dragging it scrolls them.
fn map_ui(ui: &mut Ui, state: &State, document: &Document, requests: &mut Requests) {
    let seen = ui.data(|data| data.get_temp::<(TransactionId, TransactionId)>(Id::new(SEEN)));
    let axis = document
        .timeline
        .as_ref()
        .map(|timeline| timeline.axis(state.preferences.true_time));
    let visible = axis
        .zip(seen)
        .and_then(|(axis, (a, b))| Some((axis.span(a)?, axis.span(b)?)));
    let visible = visible.map(|(a, b)| (a.from.min(b.from), a.to.max(b.to)));
    let wanted = minimap_ui(ui, document, visible, requests);
    let (Some((from, to)), Some(axis)) = (wanted, axis) else {
        return;
    };
    let mut first = None;
    let middle = (from + to) / 2.0;
    axis.visible(
        document.browser.session.index(),
        middle,
        axis.length,
        axis.length,
        |t, _, _| {
            first.get_or_insert(t);
        },
    );
    requests.extend(first.map(Request::ScrollTo));
}

/// Where a read got its version from, or who read a version and what replaced it.
fn links_ui(
    ui: &mut Ui,
    history: &History,
    document: &Document,
    operation: OperationId,
    requests: &mut Requests,
) {
    let Some(resolution) = &document.results.resolution else {
        return;
    };
    let key = history.operation(operation).key;
    let mut links: Vec<(String, TransactionId, Option<OperationId>)> = Vec::new();
    let name = |t: TransactionId| history.transaction_name(t);
    let mut note = String::new();
    match history.operation(operation).kind {
        OperationKind::Read => match resolution.source(operation) {
            Source::Transaction { writer, write, .. } | Source::Aborted { writer, write } => {
                links.push((format!("reads from {}", name(writer)), writer, Some(write)));
            }
            Source::Own | Source::OwnOverwritten { .. } | Source::Future { .. } => {
                note = "reads its own transaction's version".to_owned();
            }
            Source::Initial { .. } => note = "reads the initial version".to_owned(),
            Source::ThinAir => note = "no transaction wrote what it reads".to_owned(),
            Source::Ambiguous => {
                let candidates = resolution.candidates(operation);
                let writers = candidates.iter().filter_map(|s| s.writer());
                for writer in writers.filter(|t| !t.is_initial()).take(4) {
                    links.push((format!("may read from {}", name(writer)), writer, None));
                }
            }
            Source::Unrecorded => note = "what it read was not recorded".to_owned(),
            Source::Outside => note = "takes no part: its transaction aborted".to_owned(),
        },
        OperationKind::Write => {
            let chain = document
                .key
                .as_ref()
                .and_then(|view| view.chain.as_ref())
                .filter(|chain| chain.key == key);
            let place = chain.and_then(|chain| chain.place_of(operation));
            if let Some((chain, place)) = chain.zip(place) {
                let readers = &chain.rows[place].readers;
                for (reader, read) in readers.iter().take(4) {
                    links.push((format!("read by {}", name(*reader)), *reader, Some(*read)));
                }
                if readers.is_empty() {
                    note = "never read".to_owned();
                }
                if let Some(next) = chain.rows.get(place + 1) {
                    links.push((
                        format!("overwritten by {}", name(next.writer)),
                        next.writer,
                        next.write,
                    ));
                }
            }
        }
    }
    ui.horizontal(|ui| {
        style::note(ui, note);
        for (text, transaction, operation) in links {
            if ui.link(&text).clicked() {
                requests.push(Request::Browse(transaction));
                requests.extend(operation.map(Request::ShowOperation));
            }
        }
        if ui
            .link(format!(
                "versions of key {}",
                elide(&history.key_name(key), MAX_TITLE_COLUMNS)
            ))
            .clicked()
        {
            requests.push(Request::ShowKey(key));
        }
    });
}

/// Buttons that sort a column.
fn sort_ui(ui: &mut Ui, column: &str, now: SortBy, choices: &[(SortBy, &str)]) -> Option<SortBy> {
    let mut chosen = None;
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        let menu = ui.menu_button("▾", |ui| {
            for (by, name) in choices {
                let name = format!("Sort {column} by {name}");
                if ui.radio(now == *by, name).clicked() {
                    chosen = Some(*by);
                    ui.close();
                }
            }
        });
        let name = format!("Order of {column}");
        menu.response
            .widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &name));
        menu.response.on_hover_text(name);
    });
    chosen
}

pub(super) fn column_ui(ui: &mut Ui, width: f32, height: f32, contents: impl FnOnce(&mut Ui)) {
    ui.allocate_ui_with_layout(
        vec2(width, height),
        egui::Layout::top_down(egui::Align::Min),
        |ui| {
            ui.set_width(width);
            ui.set_height(height);
            ui.spacing_mut().item_spacing.y = 2.0;
            contents(ui);
        },
    );
}

/// The heading of a column and what is next to it: of the same height in all columns.
pub(super) fn heading_ui(ui: &mut Ui, text: &str, next: impl FnOnce(&mut Ui)) {
    let strong = Palette::of(ui).strong;
    let size = vec2(ui.available_width(), 26.0);
    ui.allocate_ui_with_layout(
        size,
        egui::Layout::left_to_right(egui::Align::Center),
        |ui| {
            ui.set_min_height(size.y);
            ui.add_space(8.0);
            style::bold_line(ui, text, style::BODY, strong);
            next(ui);
        },
    );
}

/// A virtual list: `line` draws the line of a place.
pub(super) fn list_ui(
    ui: &mut Ui,
    name: &str,
    n: usize,
    scroll_to: Option<usize>,
    line: impl FnMut(&mut Ui, usize),
) {
    tall_list_ui(ui, name, (n, ROW), scroll_to, line);
}

/// A list with `n` lines of a given height.
pub(super) fn tall_list_ui(
    ui: &mut Ui,
    name: &str,
    (n, height): (usize, f32),
    scroll_to: Option<usize>,
    mut line: impl FnMut(&mut Ui, usize),
) {
    ui.spacing_mut().item_spacing.y = 0.0;
    let mut area = ScrollArea::vertical().id_salt(name).auto_shrink(false);
    if let Some(place) = scroll_to {
        area = area
            .vertical_scroll_offset((place as f32 * height - ui.available_height() * 0.4).max(0.0));
    }
    area.show_rows(ui, height, n, |ui, range| {
        range.for_each(|place| line(ui, place))
    });
}

/// A line of a list. Returns whether it was clicked.
pub(super) fn line_ui(
    ui: &mut Ui,
    (text, value_at): (&str, usize),
    end: &str,
    mono: bool,
    selected: bool,
    colour: egui::Color32,
) -> bool {
    let palette = Palette::of(ui);
    let (area, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    response.widget_info(|| {
        WidgetInfo::selected(
            WidgetType::SelectableLabel,
            true,
            selected,
            format!("{text} {end}"),
        )
    });
    let painter = ui.painter().with_clip_rect(area.intersect(ui.clip_rect()));
    paint_ground(&painter, area, selected, &response, &palette);
    let font = if mono {
        FontId::monospace(style::CODE)
    } else {
        FontId::proportional(style::BODY)
    };
    let small = FontId::proportional(style::SMALL);
    let end = painter.text(
        area.right_center() - vec2(8.0, 0.0),
        Align2::RIGHT_CENTER,
        elide(end, 32),
        small,
        palette.weak,
    );
    let room = (end.left() - area.left() - 16.0) / (ADVANCE * font.size);
    let (shown, _) = shortened(text, value_at, room as usize);
    painter.text(
        area.left_center() + vec2(8.0, 0.0),
        Align2::LEFT_CENTER,
        &shown,
        font,
        colour,
    );
    let response = if shown == text {
        response
    } else {
        response.on_hover_text(text)
    };
    response.clicked()
}

fn sessions_ui(ui: &mut Ui, history: &History, document: &Document, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let wanted = &document.browser.wanted;
    heading_ui(ui, &counted(history.n_sessions(), "session"), |ui| {
        let choices = [(SortBy::Order, "order"), (SortBy::Size, "size")];
        if let Some(sessions) = sort_ui(ui, "sessions", wanted.sessions, &choices) {
            requests.push(Request::ArrangeBrowser(Wanted {
                sessions,
                ..wanted.clone()
            }));
        }
    });
    let sorted = document
        .browser
        .listing
        .as_ref()
        .map(|listing| &listing.sessions);
    let place = document.browser.session.index();
    // Lookup for only when it is to be shown: there may be millions.
    let place_in =
        |sorted: &Vec<SessionId>| sorted.iter().position(|s| *s == document.browser.session);
    let scroll = document
        .browser
        .scroll
        .then(|| sorted.and_then(place_in).unwrap_or(place));
    list_ui(ui, "sessions", history.n_sessions(), scroll, |ui, place| {
        let session = sorted
            .and_then(|sorted| sorted.get(place).copied())
            .unwrap_or(SessionId::new(place));
        let end = grouped(history.transactions_of(session).len() as u64);
        let text = history.session_and_node(session).to_string();
        let selected = session == document.browser.session;
        if line_ui(ui, (&text, text.len()), &end, false, selected, palette.text)
            && let Some(first) = history.transactions_of(session).next()
        {
            requests.push(Request::BrowseHere(first));
        }
    });
}

fn transactions_ui(ui: &mut Ui, history: &History, document: &Document, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let session = document.browser.session;
    if session.index() >= history.n_sessions() {
        return;
    }
    let is_search = !document.browser.wanted.text.is_empty();
    let listing = document.browser.listing.as_ref();
    let listing = listing.filter(|listing| {
        if is_search {
            !listing.wanted.text.is_empty()
        } else {
            listing.wanted.text.is_empty() && listing.wanted.session == session
        }
    });
    let n = listing.map_or(history.transactions_of(session).len(), |listing| {
        listing.transactions.len()
    });
    let first = history.transactions_of(session).next();
    let wanted = &document.browser.wanted;
    heading_ui(ui, &counted(n, "transaction"), |ui| {
        let choices = [
            (SortBy::Order, "order"),
            (SortBy::Size, "size"),
            (SortBy::Outcome, "outcome"),
        ];
        if let Some(transactions) = sort_ui(ui, "transactions", wanted.transactions, &choices) {
            requests.push(Request::ArrangeBrowser(Wanted {
                transactions,
                ..wanted.clone()
            }));
        }
    });
    let mut text = wanted.text.clone();
    let field = egui::TextEdit::singleline(&mut text)
        .hint_text("search all sessions: T295, w(x)")
        .desired_width(f32::INFINITY);
    let response = ui.add(field.margin(egui::Margin::symmetric(8, 4)));
    response.widget_info(|| WidgetInfo::labeled(WidgetType::TextEdit, true, "Search transactions"));
    if text != wanted.text {
        requests.push(Request::ArrangeBrowser(Wanted {
            text,
            ..wanted.clone()
        }));
    }
    if is_search && n == MOST {
        style::note(
            ui,
            format!("The first {} are listed.", grouped(MOST as u64)),
        );
    }
    let attended = document.attended();
    let chosen = document.browser.transaction;
    let place_of = |t| match listing {
        Some(listing) => listing.transactions.iter().position(|other| *other == t),
        None => Some(history.position_of(t)),
    };
    let scroll = chosen
        .filter(|_| document.browser.scroll)
        .and_then(place_of);
    let mut seen = None;
    list_ui(
        ui,
        &format!("transactions {}", session.index()),
        n,
        scroll,
        |ui, place| {
            let Some(first) = first else { return };
            let listed = listing.map(|listing| listing.transactions[place]);
            let transaction = listed.unwrap_or(TransactionId::new(first.index() + place));
            seen = Some((seen.map_or(transaction, |(first, _)| first), transaction));
            let outcome = match history.outcome(transaction) {
                Outcome::Committed => "",
                Outcome::Aborted => "aborted · ",
                Outcome::Unknown => "unknown · ",
            };
            let whose = if is_search {
                format!(
                    "{} · ",
                    history.session_name(history.session_of(transaction))
                )
            } else {
                String::new()
            };
            let number = document.number_of(transaction);
            let number = number.map_or_else(String::new, |number| format!("{number} · "));
            let end = format!(
                "{whose}{outcome}{number}{}",
                counted(history.operation_range(transaction).len(), "operation")
            );
            let colour = if outcome.is_empty() {
                palette.text
            } else {
                palette.caution
            };
            let colour = if attended.contains(&transaction) {
                palette.accent
            } else {
                colour
            };
            let selected = chosen == Some(transaction);
            let name = history.transaction_name(transaction);
            if line_ui(ui, (&name, name.len()), &end, true, selected, colour) {
                requests.push(Request::BrowseHere(transaction));
            }
        },
    );
    ui.data_mut(|data| match seen {
        Some(seen) => drop(data.insert_temp::<(TransactionId, TransactionId)>(Id::new(SEEN), seen)),
        None => data.remove::<(TransactionId, TransactionId)>(Id::new(SEEN)),
    });
}

fn operations_ui(ui: &mut Ui, history: &History, document: &Document, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let Some(transaction) = document
        .browser
        .transaction
        .filter(|t| t.index() < history.n_transactions())
    else {
        style::note(ui, "Choose a transaction.");
        return;
    };
    let range = history.operation_range(transaction);
    let name = elide(&history.transaction_name(transaction), MAX_TITLE_COLUMNS);
    let title = if ui.available_width() < 280.0 {
        name
    } else {
        format!("{name}: {}", counted(range.len(), "operation"))
    };
    heading_ui(ui, &title, |ui| {
        let word = format!("txn:{}", history.transaction_name(transaction));
        if ui
            .small_button("Its anomalies")
            .on_hover_text("List only anomalies with this transaction")
            .clicked()
        {
            requests.push(Request::Filter(toggle_word("", &word)));
        }
        on_command(ui.small_button("Mark"), Command::Mark, requests);
    });
    let chosen = document
        .browser
        .operation
        .as_ref()
        .map(|(operation, _)| *operation);
    let scroll =
        chosen.filter(|operation| document.browser.scroll && range.contains(&operation.index()));
    let scroll = scroll.map(|operation| operation.index() - range.start);
    list_ui(
        ui,
        &format!("operations {}", transaction.index()),
        range.len(),
        scroll,
        |ui, place| {
            let operation = crate::history::OperationId::new(range.start + place);
            let end = history
                .spot_of(operation)
                .map_or_else(String::new, |spot| spot.text(history.origin()));
            let colour = match history.operation(operation).kind {
                OperationKind::Write => palette.strong,
                OperationKind::Read => palette.text,
            };
            let (head, value) = history.operation_parts(operation);
            let text = format!("{head}{value}");
            if line_ui(
                ui,
                (&text, head.len()),
                &end,
                true,
                chosen == Some(operation),
                colour,
            ) {
                requests.push(Request::ShowOperation(operation));
            }
        },
    );
}
