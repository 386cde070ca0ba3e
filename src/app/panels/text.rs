//! The argument in words, as `isoscope explain` prints it.

use crate::app::command::{Command, Request, Requests};
use crate::app::state::Document;
use crate::app::style;
use crate::counterexample::narrate::Line;
use egui::{FontId, Label, RichText, ScrollArea, TextStyle, Ui, WidgetInfo, WidgetType};

pub(crate) fn text_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    if let Some(finding) = &document.finding {
        super::command_button_ui(ui, Command::CopyMarkdown, requests);
        let text = RichText::new(finding.told.plain_text()).monospace();
        ui.add(Label::new(text).wrap().selectable(true));
        return;
    }
    let Some(picture) = &document.picture else {
        style::note(
            ui,
            super::awaited(document, "Select an anomaly to read about it."),
        );
        return;
    };
    ui.horizontal(|ui| {
        super::command_button_ui(ui, Command::CopyMarkdown, requests);
        if ui
            .button("Copy text")
            .on_hover_text("Put this text on the clipboard")
            .clicked()
        {
            requests.push(Request::Copy(picture.argument.text()));
        }
    });
    ScrollArea::vertical()
        .id_salt("text")
        .auto_shrink(false)
        .show(ui, |ui| {
            let font: FontId = TextStyle::Monospace.resolve(ui.style());
            let letter = ui.fonts_mut(|fonts| fonts.glyph_width(&font, 'm'));
            let columns = (ui.available_width() / letter) as usize;
            let lines = picture.argument.lines.iter();
            let shown: Vec<String> = lines.map(|line| wrapped(line, columns)).collect();
            let response = ui.add(
                Label::new(RichText::new(shown.join("\n")).monospace())
                    .wrap()
                    .selectable(true),
            );
            let text = || picture.argument.text();
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, text()));
        });
}

/// A line whose words, where they are too long, go on below where they begin.
fn wrapped(line: &Line, columns: usize) -> String {
    let indent = line.lead.chars().count();
    // Where there is hardly any room, lines are wrapped as usual.
    if indent + line.words.chars().count() <= columns || columns < indent + 20 {
        return format!("{}{}", line.lead, line.words);
    }
    let mut lines = vec![line.lead.clone()];
    let mut width = indent;
    for word in line.words.split(' ') {
        let n = word.chars().count();
        if width > indent && width + 1 + n > columns {
            lines.push(" ".repeat(indent));
            width = indent;
        }
        if let Some(last) = lines.last_mut() {
            if width > indent {
                last.push(' ');
                width += 1;
            }
            last.push_str(word);
        }
        width += n;
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_go_on_below_their_text() {
        let wrapped = |lead: &str, words: &str, columns| {
            let (lead, words) = (lead.to_owned(), words.to_owned());
            wrapped(&Line { lead, words }, columns)
        };
        let rule = "Read atomic: a transaction sees all or nothing";
        assert_eq!(
            wrapped("   4  ", rule, 34),
            "   4  Read atomic: a transaction\n      sees all or nothing"
        );
        assert_eq!(
            wrapped("    ", "w(x) = 1    line 7", 34),
            "    w(x) = 1    line 7"
        );
        let no_room = wrapped("   4  ", rule, 12);
        assert_eq!(no_room, format!("   4  {rule}"));
        assert_eq!(
            wrapped("", "one two three four five six", 26),
            "one two three four five\nsix"
        );
    }
}
