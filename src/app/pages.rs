//! What each page needs and how it is drawn, in one place: the functions are in the files of the pages.

use super::canvas::Canvas;
use super::command::Requests;
use super::page::Page;
use super::panels::lanes::LanesView;
use super::state::{Document, State};
use super::{App, panels};
use egui::Ui;

/// What pages are drawn from.
pub(super) struct PageContent<'a> {
    pub(super) state: &'a State,
    pub(super) document: &'a Document,
    pub(super) canvas: &'a mut Canvas,
    pub(super) lanes: &'a mut LanesView,
}

/// Draws a page in the middle of the window.
pub(super) fn page_ui(ui: &mut Ui, shown: PageContent<'_>, requests: &mut Requests) {
    let PageContent {
        state,
        document,
        canvas,
        lanes,
    } = shown;
    match state.page {
        Page::Graph => panels::graph::graph_ui(ui, state, document, canvas, requests),
        Page::Lanes => panels::lanes::lanes_ui(ui, state, document, lanes, requests),
        Page::Key => panels::versions::key_page_ui(ui, state, document, lanes, requests),
        Page::Matrix => panels::matrix::matrix_ui(ui, state, document, requests),
        Page::Browser => panels::browser::browser_ui(ui, state, document, requests),
        Page::Health => panels::health::health_ui(ui, document, requests),
        Page::Order => panels::order::order_ui(ui, document, requests),
        Page::Checkers => panels::checker_comparison::comparison_ui(ui, document, requests),
        Page::Statistics => panels::statistics::statistics_ui(ui, document, requests),
    }
}

impl App {
    /// Asks for whatever the visible page needs.
    pub(super) fn ask_for_page(&mut self) {
        match self.state.page {
            Page::Lanes | Page::Key => {
                self.prepare_minimap();
                self.prepare_key();
            }
            Page::Graph => {
                self.prepare_group();
                self.prepare_minimap();
            }
            Page::Matrix => self.prepare_group(),
            Page::Statistics => self.prepare_statistics(),
            Page::Browser => {
                self.prepare_browser();
                self.prepare_minimap();
            }
            Page::Order => {
                self.prepare_order();
                self.prepare_sheet();
            }
            Page::Checkers => self.prepare_comparison(),
            Page::Health => {}
        }
    }
}
