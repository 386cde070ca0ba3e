//! The page of a report: one file that loads nothing and in which nothing of a history acts, complete by itself; and in
//! a real browser, where one is installed, what one can do with it.
//!
//! With `ISOSCOPE_SHOTS` set to a folder, pictures of the pages and the printed ones are written there. `report-html.png`
//! is the one in `screenshots`.

use crate::common;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use common::repository;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A small one, one with evidence, a ring, cases, lists, operations with times: file and violation.
const ANOMALIES: [(&str, &str); 6] = [
    ("tap-a-thin-air-read.txt", "TAP-a/1"),
    ("web-shop.txt", "TAP-k/1"),
    ("write-skew-of-three.txt", "SERCycle/1"),
    ("case-split.txt", "SICycle/1"),
    ("version-order-cycle.txt", "VersionOrderCycle/1"),
    ("real-time-cycle.txt", "RealTimeCycle/1"),
];

/// What would act if it were not escaped: in HTML, in attributes, in XML, in scripts and styles, on lines of text.
const HOSTILE: [&str; 7] = [
    "</script><img src=x onerror=alert(1)>",
    "]]></svg></title><script>alert(2)</script>",
    "\" onmouseover=\"alert(3)\" x=\"",
    "' onfocus='alert(4)' autofocus tabindex='1",
    "\u{202e}txt.exe\u{2066}\u{200b}\u{0}\u{1b}[31m",
    "javascript:alert(5)</style><iframe srcdoc='<script>alert(6)</script>'>",
    "--></textarea></details></table><form action=x><input name=a></form>&lt;b&gt;",
];

/// A report in a folder of its own.
struct Report {
    _folder: TempDir,
    path: PathBuf,
    page: String,
}

impl Report {
    fn of(history: &Path, violation: &str) -> Report {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("report.html");
        let mut program = Command::new(env!("CARGO_BIN_EXE_isoscope"));
        program
            .arg("report")
            .arg(history)
            .args(["--violation", violation, "-o"])
            .arg(&path);
        let output = program.output().expect("the program starts");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let page = std::fs::read_to_string(&path).expect("UTF-8");
        Report {
            _folder: folder,
            path,
            page,
        }
    }

    fn of_sample((file, violation): (&str, &str)) -> Report {
        Report::of(&repository("sample_histories").join(file), violation)
    }

    /// A fractured read whose names and values are all hostile.
    fn hostile() -> Report {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let name = |n: usize| format!("{}{n}", HOSTILE[n % HOSTILE.len()]);
        let json = serde_json::json!({
            "schema": "isoscope.history/1",
            "sessions": [
                {"name": name(0), "transactions": [
                    {"id": name(1), "operations": [["w", name(2), 1], ["w", name(13), name(12)]]},
                    {"id": name(3), "operations": [["w", name(2), name(4)], ["w", name(5), name(6)]]}]},
                {"name": name(7), "transactions": [
                    {"id": name(8), "operations": [["r", name(2), 1], ["r", name(5), name(6)], ["w", name(9), name(10)]]}]},
            ],
        });
        let history = folder.path().join("history.json");
        std::fs::write(&history, json.to_string()).expect("the folder is writable");
        Report::of(&history, "TAP-k/1")
    }
}

/// What is between the first of each of these and the next of the other.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let from = text.find(begin).unwrap_or_else(|| panic!("no {begin}")) + begin.len();
    let length = text[from..]
        .find(end)
        .unwrap_or_else(|| panic!("no {end} behind {begin}"));
    &text[from..from + length]
}

/// The values of all attributes of this name.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let begin = format!(" {attribute}=\"");
    page.split(&begin)
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect()
}

/// The page without its script and its style.
fn markup(page: &str) -> String {
    let style = between(page, "<style>", "</style>");
    let script = between(page, "<script>", "</script>");
    page.replace(style, "").replace(script, "")
}

/// All tags, with their attributes.
fn tags(markup: &str) -> Vec<&str> {
    markup
        .split('<')
        .skip(1)
        .map(|rest| rest.split('>').next().unwrap_or_default())
        .collect()
}

fn assert_alone(page: &str) {
    let source = |content: &str| {
        format!(
            "'sha256-{}'",
            BASE64_STANDARD.encode(Sha256::digest(content))
        )
    };
    let (script, style) = (
        between(page, "<script>", "</script>"),
        between(page, "<style>", "</style>"),
    );
    let policy = between(
        page,
        "http-equiv=\"Content-Security-Policy\" content=\"",
        "\"",
    );
    let expected = format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        source(script),
        source(style)
    );
    assert_eq!(policy, expected);
    assert!(
        page.find("Content-Security-Policy") < page.find("<style>"),
        "the policy comes first"
    );
    for kind in ["<script", "<style"] {
        assert_eq!(page.matches(kind).count(), 1, "{kind}");
    }
    for way in [
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
        "Function(",
        "fetch(",
        "import",
    ] {
        assert!(!script.contains(way), "{way}");
    }
    for way in ["url(", "@import", "expression("] {
        assert!(!style.contains(way), "{way}");
    }
    let markup = markup(page);
    let loaders = [
        "img", "iframe", "object", "embed", "link", "base", "audio", "video", "input", "image",
        "use",
    ];
    for tag in tags(&markup) {
        let mut parts = tag.split_whitespace();
        let name = parts.next().unwrap_or_default();
        assert!(!loaders.contains(&name), "{tag}");
        for attribute in outside_of_quotes(tag)
            .split_whitespace()
            .filter_map(|part| part.split_once('='))
        {
            let (name, _) = attribute;
            assert!(
                !name.starts_with("on") && !["src", "style", "srcdoc", "action"].contains(&name),
                "{tag}"
            );
        }
    }
    assert!(
        values(&markup, "href")
            .iter()
            .all(|target| target.starts_with('#')),
        "links stay inside"
    );
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
}

/// A tag with empty values of its attributes.
fn outside_of_quotes(tag: &str) -> String {
    tag.split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
}

/// What a line names is in the picture, if it is drawn; every number on an arrow is a line; every link leads somewhere.
fn assert_linked(page: &str) {
    let markup = markup(page);
    let names = |attribute: &str| -> BTreeSet<String> {
        values(&markup, attribute)
            .iter()
            .flat_map(|all| all.split_whitespace())
            .map(str::to_owned)
            .collect()
    };
    let ids: Vec<&str> = values(&markup, "id");
    assert_eq!(
        ids.len(),
        ids.iter().collect::<BTreeSet<_>>().len(),
        "no id twice: {ids:?}"
    );
    let is_id = |id: &str| ids.contains(&id);
    assert!(names("data-arrows").is_subset(&names("data-arrow")));
    assert_eq!(
        names("data-arrows"),
        names("data-arrow"),
        "every arrow has a line"
    );
    for number in names("data-numbers").iter().chain(&names("data-from")) {
        assert!(is_id(&format!("line-{number}")), "{number}");
    }
    let drawn: BTreeSet<String> = names("data-card")
        .union(&names("data-row"))
        .cloned()
        .collect();
    assert!(
        names("data-ends").is_subset(&drawn),
        "arrows end on what is drawn"
    );
    for target in values(&markup, "href") {
        assert!(is_id(&target[1..]), "{target}");
    }
    for card in names("data-card").iter().filter(|name| *name != "t") {
        assert!(is_id(&format!("rows-{card}")), "{card}");
    }
}

#[test]
fn a_page_is_one_file_that_loads_nothing_and_runs_only_its_script() {
    for anomaly in ANOMALIES {
        let Report { page, .. } = Report::of_sample(anomaly);
        assert_alone(&page);
        assert_linked(&page);
        // What needs the script is hidden until it runs.
        assert!(
            page.contains("<div class=\"tools\"")
                && between(&page, "<div class=\"tools\"", ">").contains("hidden")
        );
    }
}

#[test]
fn all_operations_are_in_the_page_with_or_without_a_script() {
    let Report { page, .. } = Report::of_sample(("web-shop.txt", "TAP-k/1"));
    let all = between(&page, "<section class=\"operations\"", "</section>");
    assert_eq!(all.matches("<details").count(), 3);
    // 3 + 1, 1 + 3 and 2 operations.
    assert_eq!(
        between(&page, "<section class=\"operations\"", "</section>")
            .matches("<tr")
            .count(),
        3 + 10
    );
    assert_eq!(all.matches("<tr class=\"told\"").count(), 6);
    assert_eq!(page.matches("<li id=\"line-").count(), 6);
}

#[test]
fn hostile_names_stay_text() {
    let Report { page, .. } = Report::hostile();
    assert_alone(&page);
    assert_linked(&page);
    let markup = markup(&page);
    for raw in [
        "<img",
        "<iframe",
        "<form action",
        "</textarea",
        "]]></svg",
        "\" onmouseover",
        "<b>&lt;",
    ] {
        assert!(!markup.contains(raw), "{raw}");
    }
    for hidden in ['\u{202e}', '\u{200b}', '\u{0}', '\u{1b}'] {
        assert!(!page.contains(hidden), "{hidden:?}");
    }
    assert!(
        page.contains("&lt;img src=x onerror=alert(1)&gt;"),
        "it is there to be read"
    );
}

#[cfg(unix)]
mod in_a_browser {
    use super::*;
    use common::browser::{Browser, browser};
    use serde_json::{Value, json};

    /// The name of the first card that is not the initial state.
    const CARD: &str = "[data-card]:not([data-card='t']) > .card-title";

    /// The elements that a selector finds, as what an expression about `it` says of each.
    fn each(browser: &mut Browser, selector: &str, says: &str) -> Vec<String> {
        let all = browser.value(&format!(
            "[...document.querySelectorAll({})].map((it) => String({says}))",
            json!(selector)
        ));
        serde_json::from_value(all).expect("texts")
    }

    fn lit_arrows(browser: &mut Browser) -> BTreeSet<String> {
        each(browser, "[data-arrow].lit", "it.dataset.arrow")
            .into_iter()
            .collect()
    }

    fn lit_lines(browser: &mut Browser) -> Vec<String> {
        each(browser, ".line.lit", "it.id")
    }

    fn view(browser: &mut Browser) -> Vec<f64> {
        let all = browser.value("document.querySelector('.view svg').getAttribute('viewBox')");
        all.as_str()
            .expect("there is one")
            .split(' ')
            .map(|n| n.parse().expect("a number"))
            .collect()
    }

    fn keep(name: &str, bytes: &Value) {
        let bytes = BASE64_STANDARD
            .decode(bytes["data"].as_str().expect("data"))
            .expect("base64");
        assert!(bytes.len() > 5000, "{name} is empty");
        if let Some(folder) = std::env::var_os("ISOSCOPE_SHOTS") {
            std::fs::create_dir_all(&folder).expect("the folder may be made");
            std::fs::write(Path::new(&folder).join(name), bytes).expect("it may be written");
        } else if name.ends_with(".pdf") {
            assert!(bytes.starts_with(b"%PDF-"), "{name}");
        }
    }

    fn shoot(browser: &mut Browser, name: &str) {
        let shot = browser.ask("Page.captureScreenshot", json!({ "format": "png" }));
        keep(name, &shot);
    }

    #[test]
    fn six_anomalies_can_be_pointed_at_stepped_through_and_switched() {
        let Some(mut browser) = browser() else { return };
        for anomaly in ANOMALIES {
            let report = Report::of_sample(anomaly);
            browser.prefer(1280, 800, "light");
            browser.open(&report.path);
            assert_eq!(
                browser.value("document.documentElement.className"),
                "live",
                "{anomaly:?}"
            );
            point(&mut browser);
            step(&mut browser);
            switch(&mut browser);
            zoom(&mut browser);
            let name = anomaly.0.split('.').next().expect("a name");
            look(&mut browser, name);
            print(&mut browser, name);
            assert_eq!(browser.complaints(), Vec::<Value>::new(), "{anomaly:?}");
        }
        // One file, and nothing else.
        let is_request = |event: &&Value| event["method"] == "Network.requestWillBeSent";
        for request in browser.events.iter().filter(is_request) {
            let url = request["params"]["request"]["url"]
                .as_str()
                .expect("an address");
            assert!(
                url == "about:blank" || url.starts_with("file://") && url.contains("report.html"),
                "{url}"
            );
        }
    }

    /// Each line lights its arrows, and each label its lines.
    fn point(browser: &mut Browser) {
        let wanted = each(browser, ".line", "it.dataset.arrows");
        for (place, wanted) in wanted.iter().enumerate() {
            let id = each(browser, ".line", "it.id")[place].clone();
            browser.point(&format!("#{id}"), false);
            let wanted: BTreeSet<String> = wanted.split_whitespace().map(str::to_owned).collect();
            assert_eq!(lit_arrows(browser), wanted, "{id}");
            assert_eq!(lit_lines(browser), [id]);
        }
        let arrows: BTreeSet<String> = each(browser, "[data-arrow]", "it.dataset.arrow")
            .into_iter()
            .collect();
        for arrow in arrows {
            let selector = format!("[data-arrow='{arrow}'] > .label");
            browser.point(&selector, false);
            assert_eq!(lit_arrows(browser), [arrow.clone()].into());
            let numbers = each(
                browser,
                &format!("[data-arrow='{arrow}']"),
                "it.dataset.numbers",
            )[0]
            .clone();
            let lines: Vec<String> = numbers
                .split_whitespace()
                .map(|number| format!("line-{number}"))
                .collect();
            assert_eq!(lit_lines(browser), lines, "{arrow}");
            assert!(!each(browser, ".caption", "it.textContent")[0].is_empty());
        }
        browser.point("h1", false);
        assert!(lit_lines(browser).is_empty() && lit_arrows(browser).is_empty());
        // A click keeps it, Escape gives it free; a card shows all of its operations.
        browser.point(".line", true);
        browser.point("h1", false);
        assert_eq!(lit_lines(browser), ["line-1"]);
        assert_eq!(browser.value("location.hash"), "#line-1");
        browser.press("Escape");
        assert!(lit_lines(browser).is_empty());
        browser.point(CARD, true);
        assert!(
            browser
                .value("document.querySelectorAll('.peek tr').length")
                .as_u64()
                > Some(1)
        );
        browser.press("Escape");
        browser.point("h1", false);
    }

    /// There and back, by keys and by buttons.
    fn step(browser: &mut Browser) {
        let n = each(browser, ".line", "it.id").len();
        let mut seen = Vec::new();
        for key in ["j", "n", "ArrowRight"].iter().cycle().take(n) {
            browser.press(key);
            seen.extend(each(browser, ".line[aria-current=step]", "it.id"));
        }
        let all: Vec<String> = (1..=n).map(|number| format!("line-{number}")).collect();
        assert_eq!(seen, all);
        browser.press("j");
        assert_eq!(lit_lines(browser), [format!("line-{n}")], "it ends there");
        for key in ["k", "p", "ArrowLeft"].iter().cycle().take(n - 1) {
            browser.press(key);
        }
        assert_eq!(lit_lines(browser), ["line-1"]);
        browser.point("[data-do=next]", true);
        browser.point("h1", false);
        assert_eq!(lit_lines(browser), ["line-2"]);
        assert_eq!(browser.value("location.hash"), "#line-2");
        browser.press("Escape");
    }

    /// Evidence, rows, theme, help.
    fn switch(browser: &mut Browser) {
        let hidden = "[...document.querySelectorAll('.dependency.evidence')].filter((it) => getComputedStyle(it).display === 'none').length";
        let evidence = each(browser, ".dependency.evidence", "it.dataset.arrow").len();
        let cycle = each(browser, ".dependency.cycle", "it.dataset.arrow").len();
        browser.press("e");
        let expected = if cycle > 0 { evidence } else { 0 };
        assert_eq!(browser.value(hidden), json!(expected));
        browser.press("e");
        assert_eq!(browser.value(hidden), json!(0));
        browser.press("r");
        assert!(
            each(browser, ".operations details", "it.open")
                .iter()
                .all(|open| open == "true")
        );
        browser.press("r");
        assert!(
            each(browser, ".operations details", "it.open")
                .iter()
                .all(|open| open == "false")
        );
        let ground = "getComputedStyle(document.body).backgroundColor";
        let before = browser.value(ground);
        browser.press("d");
        assert_ne!(browser.value(ground), before);
        browser.press("d");
        assert_eq!(browser.value(ground), before);
        browser.press("?");
        assert_eq!(browser.value("document.querySelector('.help').open"), true);
        browser.press("j");
        assert!(
            lit_lines(browser).is_empty(),
            "keys are for the help while it is open"
        );
        browser.value("document.querySelector('.help').close()");
    }

    /// Closer, moved, all of it.
    fn zoom(browser: &mut Browser) {
        let home = view(browser);
        browser.press("+");
        browser.press("+");
        let closer = view(browser);
        assert!(
            closer[2] < home[2] / 2.0 && closer[0] > home[0],
            "{home:?} {closer:?}"
        );
        browser.press("-");
        assert!(view(browser)[2] > closer[2]);
        browser.value("document.querySelector('.view').scrollIntoView({block: 'center'})");
        let middle = browser.value(
            "(() => { const box = document.querySelector('.view svg').getBoundingClientRect();
               return [box.x + box.width / 2, box.y + box.height / 2]; })()",
        );
        let (x, y) = (
            middle[0].as_f64().expect("a number"),
            middle[1].as_f64().expect("a number"),
        );
        let before = view(browser);
        for (kind, x) in [
            ("mousePressed", x),
            ("mouseMoved", x - 20.0),
            ("mouseMoved", x - 40.0),
            ("mouseReleased", x - 40.0),
        ] {
            let buttons = u32::from(kind != "mouseReleased");
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1 });
            browser.ask("Input.dispatchMouseEvent", event);
        }
        assert!(view(browser)[0] > before[0], "dragging moves it");
        let selected = each(browser, ".line[aria-current=step]", "it.id");
        assert!(selected.is_empty(), "the end of a drag is no click");
        browser.press("0");
        assert_eq!(view(browser), home);
        browser.point("h1", false);
    }

    /// Wide and narrow, bright and dark: nothing is wider than the window.
    fn look(browser: &mut Browser, name: &str) {
        for (width, height) in [(1280, 800), (400, 800)] {
            for scheme in ["light", "dark"] {
                browser.prefer(width, height, scheme);
                browser.value("scrollTo(0, 0)");
                let needed = browser
                    .value("document.documentElement.scrollWidth")
                    .as_u64();
                assert!(
                    needed <= Some(width.into()),
                    "{name} needs {needed:?} of {width}"
                );
                let ground = browser.value("getComputedStyle(document.body).backgroundColor");
                assert_eq!(
                    ground == "rgb(255, 255, 255)",
                    scheme == "light",
                    "{ground}"
                );
                shoot(browser, &format!("{name}-{width}-{scheme}.png"));
            }
        }
        browser.prefer(1280, 800, "dark");
    }

    /// Paper is white, with everything unfolded and no buttons, whatever is shown.
    fn print(browser: &mut Browser, name: &str) {
        browser.press("j");
        browser.press("+");
        let printed = browser.ask(
            "Page.printToPDF",
            json!({ "printBackground": true, "paperWidth": 8.27, "paperHeight": 11.69 }),
        );
        keep(&format!("{name}.pdf"), &printed);
        browser.press("0");
        browser.press("Escape");
        browser.ask("Emulation.setEmulatedMedia", json!({ "media": "print" }));
        let ground = browser.value("getComputedStyle(document.body).backgroundColor");
        assert_eq!(ground, "rgb(255, 255, 255)", "{name}");
        assert_eq!(
            browser.value("getComputedStyle(document.querySelector('.tools')).display"),
            "none"
        );
    }

    #[test]
    fn an_address_leads_to_a_line() {
        let Some(mut browser) = browser() else { return };
        let report = Report::of_sample(ANOMALIES[1]);
        browser.open(&report.path);
        browser.value("void (location.hash = '#line-5')");
        browser.value("new Promise((resolve) => setTimeout(resolve, 50))");
        assert_eq!(lit_lines(&mut browser), ["line-5"]);
        assert_eq!(
            each(&mut browser, ".line.near", "it.id"),
            ["line-2", "line-3", "line-4"],
            "what it follows from"
        );
    }

    #[test]
    fn the_picture_of_the_documents() {
        let Some(mut browser) = browser() else { return };
        let report = Report::of_sample(ANOMALIES[1]);
        browser.prefer(1280, 800, "light");
        browser.open(&report.path);
        (0..5).for_each(|_| browser.press("j"));
        shoot(&mut browser, "report-html.png");
    }

    #[test]
    fn hostile_names_do_nothing() {
        let Some(mut browser) = browser() else { return };
        let report = Report::hostile();
        browser.prefer(1280, 800, "light");
        browser.open(&report.path);
        for key in ["j", "j", "j", "j", "e", "e", "r", "d", "+", "0"] {
            browser.press(key);
        }
        browser.point(CARD, true);
        assert!(
            browser
                .value("document.querySelectorAll('.peek tr').length")
                .as_u64()
                > Some(1)
        );
        browser.press("Escape");
        point(&mut browser);
        let strange = "img, iframe, form:not([method=dialog]), input, textarea, b:not(figcaption b, .caption b), script + script, [onmouseover], [onfocus], [onerror], [autofocus]";
        assert_eq!(
            each(&mut browser, strange, "it.outerHTML"),
            Vec::<String>::new()
        );
        // Had it been escaped badly, the policy would have stopped it, and said so here.
        assert_eq!(browser.complaints(), Vec::<Value>::new());
    }

    #[test]
    fn what_is_not_the_script_of_the_page_does_not_run() {
        let Some(mut browser) = browser() else { return };
        let report = Report::of_sample(ANOMALIES[0]);
        let added = "<script>document.title = 'ran'</script><p id=styled style='color: red' onclick='alert(1)'>x</p>\
                     <img src='data:image/gif;base64,R0lGODlhAQABAAAAACw=' onerror='document.title = 1'></main>";
        std::fs::write(&report.path, report.page.replace("</main>", added))
            .expect("it may be written");
        browser.open(&report.path);
        assert_ne!(browser.value("document.title"), "ran");
        assert_ne!(
            browser.value("getComputedStyle(document.getElementById('styled')).color"),
            "rgb(255, 0, 0)"
        );
        assert!(
            !browser.complaints().is_empty(),
            "the browser says what it refused"
        );
    }
}
