//! A headless Chromium that a test drives through its DevTools protocol, over two named pipes: no network, no driver.

use super::postgres::{is_root, missing};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a reply may take, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// The names that distributions give it.
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// A running browser with one page, killed on drop.
pub(crate) struct Browser {
    process: Child,
    commands: File,
    replies: Receiver<Value>,
    session: String,
    n_commands: u64,
    /// Everything that it reported without being asked: dialogs, errors, requests.
    pub(crate) events: Vec<Value>,
    _folder: TempDir,
}

/// Starts it; `None` where none is installed.
pub(crate) fn browser() -> Option<Browser> {
    let is_there = |name: &&str| {
        let asked = Command::new(name)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        asked.is_ok_and(|status| status.success())
    };
    let Some(program) = NAMES.into_iter().find(is_there) else {
        return missing("chromium");
    };
    let folder = tempfile::Builder::new()
        .prefix("browser-")
        .tempdir_in("/tmp")
        .expect("a folder");
    let made = Command::new("mkfifo")
        .args(["in", "out"])
        .current_dir(folder.path())
        .status();
    assert!(made.expect("mkfifo starts").success());
    // As root there is no sandbox to be had.
    let sandbox = if is_root() {
        "--no-sandbox"
    } else {
        "--disable-features=Translate"
    };
    let script = format!(
        "exec {program} --headless=new {sandbox} --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run \
         --user-data-dir=profile --remote-debugging-pipe about:blank 3<in 4>out"
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &script])
        .current_dir(folder.path())
        .env("HOME", folder.path());
    let log = File::create(folder.path().join("log")).expect("the folder is there");
    let process = shell
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("there is a shell");
    // Both wait for the other end.
    let commands = File::options()
        .write(true)
        .open(folder.path().join("in"))
        .expect("the shell opens it");
    let answers = File::open(folder.path().join("out")).expect("the shell opens it");
    let (sender, replies) = channel();
    std::thread::spawn(move || {
        for message in BufReader::new(answers).split(0) {
            let parsed = message
                .ok()
                .and_then(|message| serde_json::from_slice(&message).ok());
            if parsed.is_none_or(|message| sender.send(message).is_err()) {
                break;
            }
        }
    });
    let (session, events) = (String::new(), Vec::new());
    let mut browser = Browser {
        process,
        commands,
        replies,
        session,
        n_commands: 0,
        events,
        _folder: folder,
    };
    let target =
        browser.ask("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
    let attached = browser.ask(
        "Target.attachToTarget",
        json!({ "targetId": target, "flatten": true }),
    );
    browser.session = attached["sessionId"]
        .as_str()
        .expect("a session")
        .to_owned();
    for domain in ["Page", "Runtime", "Log", "Network"] {
        browser.ask(&format!("{domain}.enable"), json!({}));
    }
    Some(browser)
}

impl Browser {
    /// Sends a command and waits for its result.
    pub(crate) fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.n_commands += 1;
        let mut message = json!({ "id": self.n_commands, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.commands
            .write_all(format!("{message}\0").as_bytes())
            .expect("the browser runs");
        let begin = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(begin.elapsed());
            let reply = self
                .replies
                .recv_timeout(left)
                .unwrap_or_else(|error| panic!("{method}: {error}"));
            if reply["id"] == json!(self.n_commands) {
                assert!(reply.get("error").is_none(), "{method}: {reply}");
                return reply["result"].clone();
            }
            self.events.push(reply);
        }
    }

    /// Opens a file and waits until it is there.
    pub(crate) fn open(&mut self, path: &Path) {
        // Even if it is the page that is shown.
        self.ask("Page.navigate", json!({ "url": "about:blank" }));
        self.ask(
            "Page.navigate",
            json!({ "url": format!("file://{}", path.display()) }),
        );
        let begin = Instant::now();
        while self.value("location.protocol === 'file:' && document.readyState")
            != json!("complete")
        {
            assert!(begin.elapsed() < PATIENCE, "{} is not read", path.display());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The value of an expression of JavaScript in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let asked =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let result = self.ask("Runtime.evaluate", asked);
        assert!(
            result.get("exceptionDetails").is_none(),
            "{expression}: {result}"
        );
        result["result"]["value"].clone()
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, key: &str) {
        let mut down = json!({ "type": "keyDown", "key": key });
        if key.chars().count() == 1 {
            down["text"] = json!(key);
        }
        self.ask("Input.dispatchKeyEvent", down);
        self.ask(
            "Input.dispatchKeyEvent",
            json!({ "type": "keyUp", "key": key }),
        );
    }

    /// Moves the mouse to the middle of the first element that a selector finds, and clicks if wanted.
    pub(crate) fn point(&mut self, selector: &str, click: bool) {
        let selector = json!(selector);
        self.value(&format!(
            "document.querySelector({selector}).scrollIntoView({{block: 'center', behavior: 'instant'}})"
        ));
        let middle = self.value(&format!(
            "(() => {{ const box = document.querySelector({selector}).getBoundingClientRect();
               return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        let mut mouse = |kind: &str, button: &str| {
            let event = json!({ "type": kind, "x": middle[0], "y": middle[1], "button": button, "clickCount": 1 });
            self.ask("Input.dispatchMouseEvent", event);
        };
        mouse("mouseMoved", "none");
        if click {
            mouse("mousePressed", "left");
            mouse("mouseReleased", "left");
        }
    }

    /// The size of the window, and what its user prefers.
    pub(crate) fn prefer(&mut self, width: u32, height: u32, scheme: &str) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.ask("Emulation.setDeviceMetricsOverride", size);
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.ask(
            "Emulation.setEmulatedMedia",
            json!({ "media": "", "features": features }),
        );
    }

    /// What went wrong in the page: dialogs, exceptions, whatever the policy refused.
    pub(crate) fn complaints(&mut self) -> Vec<Value> {
        let is_complaint = |event: &Value| {
            let method = event["method"].as_str().unwrap_or_default();
            let complaints = [
                "Runtime.exceptionThrown",
                "Log.entryAdded",
                "Page.javascriptDialogOpening",
            ];
            complaints.contains(&method) || method == "Runtime.consoleAPICalled"
        };
        self.events
            .iter()
            .filter(|event| is_complaint(event))
            .cloned()
            .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let close = json!({ "id": 0, "method": "Browser.close" });
        let _ = self.commands.write_all(format!("{close}\0").as_bytes());
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(10) {
            if self.process.try_wait().is_ok_and(|status| status.is_some()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
