//! `isoscope levels`: the lattice of levels, or one of them: what it promises, who promises it, what it implies.

use super::output::{Output, Paint, write_file};
use super::{ExitCode, LevelsArguments};
use crate::checkers::Level;
use crate::checkers::lattice::{Order, Promise, levels, named, promise, promised_by};
use crate::export::lattice;
use serde_json::{Value as Json, json};

pub(super) fn run(arguments: &LevelsArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let one = arguments
        .level
        .as_deref()
        .map(named)
        .transpose()
        .map_err(anyhow::Error::msg)?;
    if let Some(output) = &arguments.output {
        let picture = match output.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => lattice::svg(),
            Some("dot") => lattice::dot(),
            _ => anyhow::bail!(
                "{}: the file extension chooses what to draw, expected svg or dot",
                output.display()
            ),
        };
        write_file(output, out, |file| Ok(file.write_all(picture.as_bytes())?))?;
        return Ok(ExitCode::Satisfied);
    }
    let text = match (one, arguments.json) {
        (Some(one), true) => data(one).to_string() + "\n",
        (None, true) => {
            Json::Array(levels().iter().copied().map(data).collect()).to_string() + "\n"
        }
        (Some(one), false) => about(one, out),
        (None, false) => table(out),
    };
    out.text(&text);
    Ok(ExitCode::Satisfied)
}

fn codes<'l>(some: impl IntoIterator<Item = &'l Level>) -> Vec<&'static str> {
    some.into_iter().map(|level| level.code()).collect()
}

/// All that a level implies but itself.
fn implied(level: Level) -> Vec<&'static str> {
    codes(
        levels()
            .iter()
            .filter(|other| **other != level && level.implies(**other)),
    )
}

fn implied_by(level: Level) -> Vec<&'static str> {
    codes(
        levels()
            .iter()
            .filter(|other| **other != level && other.implies(level)),
    )
}

fn data(level: Level) -> Json {
    let promised = promised_by(level)
        .map(|promise| json!({ "product": promise.product, "setting": promise.setting, "note": promise.note }));
    json!({
        "code": level.code(),
        "name": level.long_name(),
        "base": level.base().code,
        "order": level.row().order.word(),
        "decided": true,
        "elle": level.row().elle.iter().map(|keyword| format!(":{keyword}")).collect::<Vec<String>>(),
        "known_as": level.base().known_as,
        "promise": promise(level),
        "implies": codes(level.row().implies),
        "implies_all": implied(level),
        "broken_by": level.base().broken_by,
        "promised_by": promised.collect::<Vec<Json>>(),
    })
}

/// All levels, a line each, by order.
fn table(out: &Output) -> String {
    let mut text = String::new();
    for order in [
        Order::Plain,
        Order::Session,
        Order::RealTime,
        Order::KeyRealTime,
        Order::CommitRealTime,
    ] {
        text += &format!(
            "{}: {}\n",
            out.paint(Paint::Strong, order.word()),
            order.adds()
        );
        for level in levels().iter().filter(|level| level.row().order == order) {
            let weaker = codes(level.row().implies).join(", ");
            let weaker = if weaker.is_empty() {
                String::new()
            } else {
                format!("implies {weaker}")
            };
            text += &format!(
                "  {:7}  {:40}  {}\n",
                level.code(),
                level.long_name(),
                out.paint(Paint::Faint, &weaker)
            );
        }
        text.push('\n');
    }
    text + "`isoscope levels SI` says more about a level, `isoscope levels -o levels.svg` draws them all\n"
}

/// One level in full.
fn about(level: Level, out: &Output) -> String {
    let mut text = format!(
        "{}  {}\n{}\n",
        out.paint(Paint::Strong, level.code()),
        level.long_name(),
        promise(level)
    );
    let mut line = |what: &str, said: String| {
        if !said.is_empty() {
            text += &format!("  {:12}  {said}\n", out.paint(Paint::Faint, what));
        }
    };
    let keywords: Vec<String> = level
        .row()
        .elle
        .iter()
        .map(|keyword| format!(":{keyword}"))
        .collect();
    line("known as", level.base().known_as.to_owned());
    line("in Elle", keywords.join(" "));
    line("implies", implied(level).join(", "));
    line("implied by", implied_by(level).join(", "));
    line("broken by", level.base().broken_by.to_owned());
    for promise in promised_by(level) {
        line("promised by", promised(promise));
    }
    text + &same_word(level)
}

fn promised(promise: &Promise) -> String {
    let note = if promise.note.is_empty() {
        String::new()
    } else {
        format!(": {}", promise.note)
    };
    format!("{}{note}", promise.name())
}

/// Where a keyword and the same word without its colon are different levels.
fn same_word(level: Level) -> String {
    let others = level
        .row()
        .elle
        .iter()
        .filter_map(|keyword| Some((keyword, named(keyword).ok()?)));
    let mut different = others.filter(|(_, other)| *other != level);
    different
        .next()
        .map_or_else(String::new, |(keyword, other)| {
            format!(
                "\n:{keyword} with a colon, as in Elle, is {}; {keyword} without is {}.\n",
                level.code(),
                other.code()
            )
        })
}
