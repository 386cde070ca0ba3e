//! The argument in words, as `isoscope explain` prints it.

use crate::app::command::{Command, Request, Requests};
use crate::app::state::Document;
use crate::app::style;
use egui::{FontId, Label, RichText, ScrollArea, TextStyle, Ui, WidgetInfo, WidgetType};

pub(crate) fn text_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
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
            requests.push(Request::Copy(picture.argument.text.clone()));
        }
    });
    ScrollArea::vertical()
        .id_salt("text")
        .auto_shrink(false)
        .show(ui, |ui| {
            let text = &picture.argument.text;
            let font: FontId = TextStyle::Monospace.resolve(ui.style());
            let letter = ui.fonts_mut(|fonts| fonts.glyph_width(&font, 'm'));
            let shown = wrapped(text, (ui.available_width() / letter) as usize);
            let response = ui.add(
                Label::new(RichText::new(shown).monospace())
                    .wrap()
                    .selectable(true),
            );
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, text));
        });
}

/// A text whose long lines go on below where their own text begins: behind their indentation, and behind a number.
fn wrapped(text: &str, columns: usize) -> String {
    text.lines()
        .map(|line| wrapped_line(line, columns))
        .collect::<Vec<_>>()
        .join("\n")
}

fn wrapped_line(line: &str, columns: usize) -> String {
    let rest = line.trim_start_matches(' ');
    let numbered = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = numbered.len() < rest.len() && numbered.starts_with("  ");
    let start = if is_numbered {
        numbered.trim_start_matches(' ')
    } else {
        rest
    };
    let indent = line.chars().count() - start.chars().count();
    // Where there is hardly any room, lines are wrapped as usual.
    if line.chars().count() <= columns || columns < indent + 20 {
        return line.to_owned();
    }
    let mut lines = vec![line[..line.len() - start.len()].to_owned()];
    let mut width = indent;
    for word in start.split(' ') {
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
    use super::wrapped;

    #[test]
    fn long_lines_go_on_below_their_text() {
        let text =
            "Rule\n   4  Read atomic: a transaction sees all or nothing\n    w(x) = 1    line 7";
        let expected = "Rule\n   4  Read atomic: a transaction\n      sees all or nothing\n    w(x) = 1    line 7";
        assert_eq!(wrapped(text, 34), expected);
        assert_eq!(wrapped(text, 12), text, "no room for an indentation");
        assert_eq!(
            wrapped("one two three four five six", 26),
            "one two three four five\nsix"
        );
    }
}
