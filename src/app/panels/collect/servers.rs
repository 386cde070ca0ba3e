//! The servers of a database, and what breaks while a workload runs on them.

use super::form::{Fields, NAME, edit_ui};
use crate::app::collecting::address::{Address, Secret};
use crate::app::collecting::form::Field;
use crate::app::collecting::servers::Server;
use crate::app::command::Request;
use crate::app::style;
use crate::collect::{FaultForm, FaultKind};
use egui::{Align, ComboBox, Layout, TextEdit, Ui, WidgetInfo, WidgetType, vec2};

/// Width of the names of servers and faults.
const SHORT: f32 = 84.0;
/// Width of the button that removes a fault, and what is around it.
const REMOVAL: f32 = 96.0;
/// How far the second line of a server is moved to the right.
const INDENT: f32 = 48.0;

impl Fields<'_> {
    /// The address of the only server, or a table of servers; and their password.
    pub(super) fn servers_ui(&mut self, ui: &mut Ui) {
        let Some(database) = self.form.database() else {
            return;
        };
        let is_file = database.schemes.contains(&"sqlite");
        let hint = if is_file {
            "a temporary file, or sqlite:FILE"
        } else {
            database.example
        };
        let mut servers = self.form.servers().to_vec();
        if servers.is_empty() {
            servers.push(Server::default());
        }
        let before = servers.clone();
        if servers.len() == 1 {
            self.only_server_ui(ui, hint);
        } else {
            self.line_ui(ui, Field::Address, |_, ui| {
                style::note(ui, "of each server, with its name in the history");
            });
            let mut removed = None;
            for (place, server) in servers.iter_mut().enumerate() {
                self.server_ui(ui, (place, hint), server, &mut removed);
            }
            if let Some(place) = removed {
                servers.remove(place);
            }
        }
        ui.horizontal(|ui| {
            ui.add_space(NAME + 8.0);
            let add = ui.small_button("Add a server").on_hover_text(
                "Sessions are spread over the servers, and the history says where each ran: replicas and clusters",
            );
            if add.clicked() {
                servers.push(Server::default());
            }
        });
        if servers != before {
            self.requests.push(Request::SetServers(servers));
        }
        if !is_file {
            self.password_ui(ui);
        }
    }

    fn only_server_ui(&mut self, ui: &mut Ui, hint: &str) {
        self.line_ui(ui, Field::Address, |this, ui| {
            let mut word = this.form.word(Field::Address).to_owned();
            let width = ui.available_width() - 8.0;
            let response = edit_ui(
                ui,
                "Address",
                TextEdit::singleline(&mut word).hint_text(hint),
                width,
            )
            .on_hover_text(Field::Address.row().about);
            if response.changed() {
                this.set(Field::Address, word);
            }
            if response.lost_focus() {
                this.requests.push(Request::HidePasswords);
            }
        });
    }

    /// A row of the table of servers.
    fn server_ui(
        &mut self,
        ui: &mut Ui,
        (place, hint): (usize, &str),
        server: &mut Server,
        removed: &mut Option<usize>,
    ) {
        let n = place + 1;
        ui.horizontal(|ui| {
            let name = TextEdit::singleline(&mut server.name).hint_text(format!("n{n}"));
            edit_ui(ui, &format!("Name of server {n}"), name, SHORT)
                .on_hover_text("Its name in the history");
            let mut address = server.address.shown().to_owned();
            let width = ui.available_width() - 8.0;
            let field = TextEdit::singleline(&mut address).hint_text(hint);
            let response = edit_ui(ui, &format!("Address of server {n}"), field, width);
            if response.lost_focus() {
                self.requests.push(Request::HidePasswords);
            }
            if response.on_hover_text(Field::Address.row().about).changed() {
                server.address = Address::typed(address);
            }
        });
        ui.horizontal(|ui| {
            ui.add_space(INDENT);
            let reads = ui.checkbox(&mut server.read_only, "read-only");
            reads.widget_info(|| {
                WidgetInfo::labeled(
                    WidgetType::Checkbox,
                    true,
                    format!("Server {n} is read-only"),
                )
            });
            reads.on_hover_text("Its sessions only read: a standby");
            let sessions = TextEdit::singleline(&mut server.sessions).hint_text("any");
            edit_ui(ui, &format!("Sessions of server {n}"), sessions, 34.0)
                .on_hover_text("How many sessions use it; the others share the rest in turn");
            ui.label("sessions");
            if removal_ui(ui, &format!("Remove server {n}")) {
                *removed = Some(place);
            }
        });
    }

    fn password_ui(&mut self, ui: &mut Ui) {
        if self.form.hides_password() {
            style::note(
                ui,
                "The password in it is used and not shown. Re-enter it if you edit the address.",
            );
            return;
        }
        ui.horizontal(|ui| {
            ui.allocate_ui_with_layout(
                vec2(NAME, 24.0),
                Layout::left_to_right(Align::Center),
                |ui| {
                    ui.set_min_width(NAME);
                    ui.label("Password")
                        .on_hover_text("Kept while this window is open and nowhere else");
                },
            );
            let mut text = self.form.password().reveal().to_owned();
            let width = ui.available_width() - 8.0;
            let field = TextEdit::singleline(&mut text)
                .password(true)
                .hint_text("none");
            if edit_ui(ui, "Password", field, width).changed() {
                self.requests.push(Request::SetPassword(Secret::new(text)));
            }
        });
    }

    /// A table of what breaks while the workload runs, and when.
    pub(super) fn breaks_ui(&mut self, ui: &mut Ui) {
        let before = self.form.breaks();
        let mut breaks = before.to_vec();
        self.line_ui(ui, Field::Faults, |_, ui| {
            ui.menu_button("Add a fault…", |ui| {
                for kind in FaultKind::offered() {
                    let response = ui.button(format!("{}: {}", kind.name(), kind.about()));
                    let name = format!("Fault {}", kind.name());
                    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &name));
                    if response.clicked() {
                        breaks.push(FaultForm {
                            kind,
                            ..FaultForm::default()
                        });
                        ui.close();
                    }
                }
            })
            .response
            .on_hover_text(Field::Faults.row().about);
        });
        let mut removed = None;
        for (place, fault) in breaks.iter_mut().enumerate() {
            if break_ui(ui, place, fault) {
                removed = Some(place);
            }
        }
        if let Some(place) = removed {
            breaks.remove(place);
        }
        if breaks != before {
            self.requests.push(Request::SetBreaks(breaks));
        }
        for field in [Field::Every, Field::Lasting] {
            self.text_ui(ui, field, "seconds");
        }
    }
}

/// A row of the table of faults. Whether it is to be removed.
fn break_ui(ui: &mut Ui, place: usize, fault: &mut FaultForm) -> bool {
    let n = place + 1;
    let removed = ui
        .horizontal(|ui| {
            let combo = ComboBox::from_id_salt(("kind of fault", place))
                .width(SHORT)
                .selected_text(fault.kind.name());
            let response = combo.show_ui(ui, |ui| {
                for kind in FaultKind::offered() {
                    ui.selectable_value(
                        &mut fault.kind,
                        kind,
                        format!("{}: {}", kind.name(), kind.about()),
                    );
                }
            });
            let said = format!("Kind of fault {n}: {}", fault.kind.name());
            response
                .response
                .widget_info(|| WidgetInfo::labeled(WidgetType::ComboBox, true, &said));
            response.response.on_hover_text(fault.kind.about());
            let width = ui.available_width() - REMOVAL;
            let name = TextEdit::singleline(&mut fault.name).hint_text(fault.kind.names());
            edit_ui(ui, &format!("Name of fault {n}"), name, width);
            removal_ui(ui, &format!("Remove fault {n}"))
        })
        .inner;
    line_ui(
        ui,
        &format!("Target of fault {n}"),
        &mut fault.target,
        fault.kind.takes(),
    );
    if fault.kind == FaultKind::Command {
        let heal = fault.heal.get_or_insert_default();
        line_ui(
            ui,
            &format!("Remedy of fault {n}"),
            heal,
            "command that heals it",
        );
    }
    removed
}

/// A field as wide as the form, below the name of its fault.
fn line_ui(ui: &mut Ui, name: &str, word: &mut String, hint: &str) {
    ui.horizontal(|ui| {
        ui.add_space(SHORT + 22.0);
        let width = ui.available_width() - 8.0;
        edit_ui(ui, name, TextEdit::singleline(word).hint_text(hint), width).on_hover_text(hint);
    });
}

fn removal_ui(ui: &mut Ui, name: &str) -> bool {
    let button = ui.small_button("Remove");
    button.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, name));
    button.clicked()
}
