//! Faults as users describe them: on the command line, or in a form.

use super::fault::is_name;
#[cfg(target_os = "linux")]
use super::process::Signal;
use super::{Action, Address, CollectError, Fault, Faults, Mode, Relay};
use isoscope_model::history::words;
use std::sync::Arc;
use std::time::Duration;

words! {
    /// What a fault does. Its name is that of its option but for commands.
    FaultKind by name {
        /// A process is paused.
        Pause = "pause",
        /// A process is killed, and started again as it was.
        Kill = "kill",
        /// A process is asked to end, and started again as it was.
        Restart = "restart",
        /// A relay in front of a server disturbs its connections.
        Relay = "relay",
        /// A file fills the file system of a folder.
        DiskFull = "disk-full",
        /// A command breaks something, another one heals it.
        Command = "command",
    }
}

impl FaultKind {
    /// The kinds that this system has, the simplest first.
    pub fn offered() -> impl Iterator<Item = FaultKind> {
        let is_possible = |kind: &FaultKind| {
            cfg!(target_os = "linux") || !matches!(kind, FaultKind::Kill | FaultKind::Restart)
        };
        FaultKind::ALL.into_iter().filter(is_possible)
    }

    /// What it does, in a sentence without a full stop.
    pub fn about(self) -> &'static str {
        match self {
            FaultKind::Command => "a command breaks something, and another one heals it",
            FaultKind::Pause => "a process of this machine is paused with its children",
            FaultKind::Kill => "a process of this machine is killed, and started again as it was",
            FaultKind::Restart => {
                "a process of this machine is asked to end, and started again as it was"
            }
            FaultKind::DiskFull => "a file fills the file system that a folder is on",
            FaultKind::Relay => {
                "a relay in front of a server cuts, holds or delays its connections"
            }
        }
    }

    /// What its name names.
    pub fn names(self) -> &'static str {
        if self == FaultKind::Relay {
            "name of a server"
        } else {
            "name in the history"
        }
    }

    /// What it takes besides a name.
    pub fn takes(self) -> &'static str {
        match self {
            FaultKind::Command => "command that breaks something",
            FaultKind::Pause | FaultKind::Kill | FaultKind::Restart => {
                "process number, or the file that holds it"
            }
            FaultKind::DiskFull => "folder on the file system to fill",
            FaultKind::Relay => "cut, hold or delay:MILLISECONDS",
        }
    }
}

/// A fault as described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultForm {
    /// What it does.
    pub kind: FaultKind,
    /// Its name, for the history; for a relay the name of its server.
    pub name: String,
    /// The command, the process or what the relay does: [`FaultKind::takes`].
    pub target: String,
    /// The command that heals what a command broke; none if it heals by itself.
    pub heal: Option<String>,
}

impl Default for FaultForm {
    fn default() -> FaultForm {
        FaultForm {
            kind: FaultKind::Pause,
            name: String::new(),
            target: String::new(),
            heal: None,
        }
    }
}

/// Faults as described, one after the other and over again.
#[derive(Clone, Debug, Default)]
pub struct FaultPlan {
    /// The faults in their order.
    pub forms: Vec<FaultForm>,
    /// From the end of one to the beginning of the next.
    pub every: Duration,
    /// How long each lasts.
    pub lasting: Duration,
}

impl FaultPlan {
    /// The faults that these descriptions mean. Servers with a relay, one for each, get its address. Errors: what is
    /// missing, or why a relay cannot be made.
    pub fn faults(&self, servers: &mut [Address]) -> Result<Faults, CollectError> {
        let mut relays = Relays {
            servers,
            made: Vec::new(),
        };
        let fault = |form: &FaultForm| match form.fault(&mut relays) {
            Ok(fault) => Ok(Fault {
                arguments: form.arguments(),
                ..fault
            }),
            Err(why) => Err(CollectError::FaultForm(format!(
                "{} {}: {why}",
                form.kind.name(),
                form.name
            ))),
        };
        let faults = self.forms.iter().map(fault).collect::<Result<_, _>>()?;
        Ok(Faults {
            faults,
            every: self.every,
            lasting: self.lasting,
            idle: Vec::new(),
        })
    }
}

impl FaultForm {
    /// The arguments of the command line that mean it.
    fn arguments(&self) -> Vec<String> {
        let named = |option: &str, value: &str| {
            [
                format!("--{option}"),
                format!("{}={}", self.name.trim(), value.trim()),
            ]
        };
        let option = if self.kind == FaultKind::Command {
            "fault-cmd"
        } else {
            self.kind.name()
        };
        let heal = self
            .heal
            .iter()
            .filter(|heal| !heal.trim().is_empty())
            .map(|heal| named("heal-cmd", heal));
        [named(option, &self.target)]
            .into_iter()
            .chain(heal)
            .flatten()
            .collect()
    }

    fn fault(&self, relays: &mut Relays<'_>) -> Result<Fault, String> {
        let (name, target) = (self.name.trim(), self.target.trim());
        if !is_name(name) {
            return Err(format!(
                "expected a {} of letters, digits, `-`, `_` and `.`",
                self.kind.names()
            ));
        }
        if target.is_empty() {
            return Err(format!("expected a {}", self.kind.takes()));
        }
        Ok(match self.kind {
            FaultKind::Command => {
                let heal = self.heal.clone().filter(|heal| !heal.trim().is_empty());
                Fault::new(
                    name.to_owned(),
                    Action::Command(target.to_owned()),
                    heal.map(Action::Command),
                )
            }
            FaultKind::Pause => Fault::pause(name, target),
            #[cfg(target_os = "linux")]
            FaultKind::Kill => Fault::stop(format!("kill-{name}"), target, Signal::Kill),
            #[cfg(target_os = "linux")]
            FaultKind::Restart => Fault::stop(format!("restart-{name}"), target, Signal::Terminate),
            #[cfg(not(target_os = "linux"))]
            FaultKind::Kill | FaultKind::Restart => return Err("only possible on Linux".to_owned()),
            FaultKind::DiskFull => Fault::disk_full(name, target),
            FaultKind::Relay => {
                let mode: Mode = target.parse()?;
                Fault::relay(name, &relays.before(name)?, mode)
            }
        })
    }
}

/// The relays in front of servers, made when they are first needed.
struct Relays<'a> {
    servers: &'a mut [Address],
    made: Vec<(String, Arc<Relay>)>,
}

impl Relays<'_> {
    fn before(&mut self, name: &str) -> Result<Arc<Relay>, String> {
        if let Some((_, relay)) = self.made.iter().find(|(known, _)| known == name) {
            return Ok(Arc::clone(relay));
        }
        let server = self
            .servers
            .iter_mut()
            .find(|server| server.name.as_deref() == Some(name));
        let server = server.ok_or("no server has this name")?;
        let (relay, url) = Relay::before(&server.url).map_err(|error| error.to_string())?;
        server.url = url;
        let relay = Arc::new(relay);
        self.made.push((name.to_owned(), Arc::clone(&relay)));
        Ok(relay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(kind: FaultKind, name: &str, target: &str) -> FaultForm {
        FaultForm {
            kind,
            name: name.to_owned(),
            target: target.to_owned(),
            heal: None,
        }
    }

    fn plan(forms: &[FaultForm]) -> FaultPlan {
        FaultPlan {
            forms: forms.to_vec(),
            ..FaultPlan::default()
        }
    }

    #[test]
    fn relays_of_one_server_are_one_relay_whose_address_the_server_gets() {
        let mut servers = [Address::only("redis://127.0.0.1:6379")];
        servers[0].name = Some("a".to_owned());
        let forms = [
            form(FaultKind::Relay, "a", "cut"),
            form(FaultKind::Relay, "a", "delay:20"),
        ];
        let faults = plan(&forms)
            .faults(&mut servers)
            .expect("both are described")
            .faults;
        assert_eq!(
            faults.iter().map(|fault| &*fault.name).collect::<Vec<_>>(),
            ["cut-a", "delay-a"]
        );
        assert!(
            servers[0].url.starts_with("redis://127.0.0.1:") && !servers[0].url.ends_with(":6379"),
            "{servers:?}"
        );
    }

    #[test]
    fn a_fault_knows_the_arguments_that_mean_it_and_can_be_left_out() {
        let crash = FaultForm {
            heal: Some("start".to_owned()),
            ..form(FaultKind::Command, "crash", "kill -9 7")
        };
        let faults = plan(&[crash, form(FaultKind::Pause, "db", "7")])
            .faults(&mut [])
            .expect("both are described");
        let [crash, pause] = &faults.faults[..] else {
            panic!("{faults:?}")
        };
        assert_eq!(
            crash.arguments,
            [
                "--fault-cmd",
                "crash=kill -9 7",
                "--heal-cmd",
                "crash=start"
            ]
        );
        assert_eq!(pause.arguments, ["--pause", "db=7"]);
        let fewer = faults.without("pause-db");
        assert_eq!(
            (fewer.faults.len(), fewer.idle.len(), &*fewer.faults[0].name),
            (1, 1, "crash")
        );
    }

    #[test]
    fn what_is_missing_is_said() {
        let why = |kind, name, target| {
            plan(&[form(kind, name, target)])
                .faults(&mut [])
                .map(drop)
                .expect_err("wrong")
                .to_string()
        };
        assert!(
            why(FaultKind::Pause, "", "1")
                .ends_with("expected a name in the history of letters, digits, `-`, `_` and `.`")
        );
        assert_eq!(
            why(FaultKind::Pause, "db", " "),
            "the fault pause db: expected a process number, or the file that holds it"
        );
        assert_eq!(
            why(FaultKind::Relay, "db", "cut"),
            "the fault relay db: no server has this name"
        );
        assert_eq!(
            why(FaultKind::Relay, "db", "burn"),
            "the fault relay db: `burn` is not cut, hold or delay:MILLISECONDS"
        );
    }
}
