//! Where workloads are run.

use super::HuntError;
use super::live::{self, Live};
use isoscope_check::checkers::Level;
use isoscope_formats::recording::{AGAIN, OPTIONS, RECORDED, quoted};
use isoscope_model::control::Control;
use isoscope_record::collect::{
    self, Address, BARRIERS, Barriers, ClientOptions, CollectError, Collection, Database, Driver,
    Endpoint, FaultPlan, Faults, Isolation, Recorder, Requirement, Snapshot, Statistics,
};
use isoscope_record::generate::{Generation, Injection, Model, Workload};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Where to run a workload. It may hold a password, so it is never shown: [`Opened`] is.
#[derive(Clone)]
pub enum Target {
    /// A real database.
    Database {
        /// The addresses of its servers, at least one.
        servers: Vec<Address>,
        /// Isolation level; the strongest if none is named.
        isolation: Option<String>,
        /// How clients run their transactions.
        clients: ClientOptions,
        /// What breaks meanwhile.
        faults: FaultPlan,
    },
    /// A store in memory.
    Store {
        /// What it promises.
        model: Model,
        /// What goes wrong anyway.
        faults: Vec<Injection>,
    },
}

/// A database or store that can be used, at an isolation level.
#[derive(Clone)]
pub struct Opened {
    /// Name of the product.
    pub name: &'static str,
    /// Product and version, as reported by the server.
    pub version: String,
    /// Name of the isolation level.
    pub isolation: &'static str,
    /// The strongest level promised there, if it can be checked.
    pub promise: Option<Level>,
    place: SystemUnderTest,
}

#[derive(Clone)]
enum SystemUnderTest {
    Database {
        servers: Arc<[Server]>,
        clients: ClientOptions,
        faults: Faults,
    },
    Store {
        model: Model,
        faults: Vec<Injection>,
    },
}

/// A server that responds.
struct Server {
    /// Its address without the URL's password.
    address: Address,
    driver: Box<dyn Driver>,
}

impl Target {
    /// Connects to the database. Errors: it does not respond, or there is no such database or level.
    pub fn open(&self) -> Result<Opened, HuntError> {
        let (addresses, isolation, clients, faults) = match self {
            Target::Database {
                servers,
                isolation,
                clients,
                faults,
            } => (servers, isolation, *clients, faults),
            Target::Store { model, faults } => {
                return Ok(Opened {
                    name: "store in memory",
                    version: "store in memory".to_owned(),
                    isolation: model.name(),
                    promise: model.promises().parse().ok(),
                    place: SystemUnderTest::Store {
                        model: *model,
                        faults: faults.clone(),
                    },
                });
            }
        };
        let mut addresses = named(addresses);
        let faults = faults.faults(&mut addresses)?;
        let (database, isolation, version, servers) = connected(&addresses, isolation.as_deref())?;
        Ok(Opened {
            name: database.name,
            version,
            isolation: isolation.name,
            promise: isolation.promises.and_then(|code| code.parse().ok()),
            place: SystemUnderTest::Database {
                servers: servers.into(),
                clients,
                faults,
            },
        })
    }
}

/// The addresses, each with a name if there are several.
fn named(addresses: &[Address]) -> Vec<Address> {
    let mut named = addresses.to_vec();
    if named.len() > 1 {
        for (address, place) in named.iter_mut().zip(1..) {
            address.name.get_or_insert_with(|| format!("n{place}"));
        }
    }
    named
}

type Connected = (&'static Database, &'static Isolation, String, Vec<Server>);

/// Connects to the servers, all of one product, none with the name of another; the version is that of the first.
fn connected(addresses: &[Address], isolation: Option<&str>) -> Result<Connected, HuntError> {
    let Some(first) = addresses.first() else {
        return Err(CollectError::Address("none is given".to_owned()).into());
    };
    let database = first.database()?;
    let isolation = database.isolation(isolation)?;
    let (mut servers, mut version) = (Vec::<Server>::new(), String::new());
    for address in addresses {
        let row = address.database()?;
        let url = collect::without_password(&address.url);
        if row.name != database.name {
            let what = format!(
                "{url} is no address of {}, as the first one is",
                database.name
            );
            return Err(CollectError::Address(what).into());
        }
        let name = address.name.clone();
        if name.is_some() && servers.iter().any(|server| server.address.name == name) {
            let what = format!("two servers are called {}", name.unwrap_or_default());
            return Err(CollectError::Address(what).into());
        }
        let driver = row.open(&address.url, isolation)?;
        let answer = driver.version();
        let answer = answer.map_err(|failure| HuntError::NoAnswer {
            url: url.clone(),
            failure: failure.to_string(),
        })?;
        if version.is_empty() {
            version = answer;
        }
        servers.push(Server {
            address: Address {
                name,
                url,
                ..address.clone()
            },
            driver,
        });
    }
    Ok((database, isolation, version, servers))
}

impl Server {
    fn endpoint(&self) -> Endpoint<'_> {
        let &Address {
            ref name,
            read_only,
            sessions,
            ..
        } = &self.address;
        Endpoint {
            name: name.as_deref(),
            read_only,
            sessions,
            driver: &*self.driver,
        }
    }

    /// Name, address and role.
    fn shown(&self) -> String {
        let Address {
            name,
            url,
            read_only,
            ..
        } = &self.address;
        let name = name
            .as_ref()
            .map(|name| format!("{name}="))
            .unwrap_or_default();
        format!("{name}{url}{}", if *read_only { ",read-only" } else { "" })
    }
}

impl Opened {
    /// Plays every outcome on the first server and says what it does; nothing for a store.
    pub fn conformance(&self) -> Vec<Requirement> {
        match &self.place {
            SystemUnderTest::Database { servers, .. } => servers
                .first()
                .map_or(Vec::new(), |s| collect::conformance(&*s.driver)),
            SystemUnderTest::Store { .. } => Vec::new(),
        }
    }

    /// Whether there are several servers. Products promise their levels for one.
    pub fn has_several_servers(&self) -> bool {
        matches!(&self.place, SystemUnderTest::Database { servers, .. } if servers.len() > 1)
    }

    /// The names of what breaks during a run on a database.
    pub fn faults(&self) -> Vec<&str> {
        match &self.place {
            SystemUnderTest::Database { faults, .. } => {
                faults.faults.iter().map(|fault| &*fault.name).collect()
            }
            SystemUnderTest::Store { .. } => Vec::new(),
        }
    }

    /// This target without the faults of this name.
    pub fn without_fault(&self, name: &str) -> Opened {
        let mut fewer = self.clone();
        if let SystemUnderTest::Database { faults, .. } = &mut fewer.place {
            *faults = faults.without(name);
        }
        fewer
    }

    /// This target with barriers, as is usual for a run that is checked meanwhile; none if there is nothing to change.
    fn with_usual_barriers(&self, workload: &Workload) -> Option<Opened> {
        let mut opened = self.clone();
        let SystemUnderTest::Database {
            servers, clients, ..
        } = &mut opened.place
        else {
            return None;
        };
        let endpoints: Vec<Endpoint<'_>> = servers.iter().map(Server::endpoint).collect();
        let is_free = clients.barriers == Barriers::Usual
            && collect::no_barriers(&endpoints, workload).is_none();
        clients.barriers = Barriers::Every(BARRIERS);
        is_free.then_some(opened)
    }

    /// Runs a workload, for a `time` if one is given, and records it in a new file. `statistics` show its progress; it ends
    /// early when `control` says so, and what was recorded until then is a history. With `live`, it is checked meanwhile, to
    /// its end.
    pub fn record(
        &self,
        (workload, time): (Workload, Option<Duration>),
        path: &Path,
        statistics: &Statistics,
        control: &Control,
        live: Option<Live<'_>>,
    ) -> Result<Snapshot, HuntError> {
        if live.is_some()
            && let Some(opened) = self.with_usual_barriers(&workload)
        {
            return opened.record((workload, time), path, statistics, control, live);
        }
        let shown = || path.display().to_string();
        let recorder =
            Recorder::create(path, &self.about(&workload)).map_err(|error| HuntError::File {
                path: shown(),
                problem: error.to_string(),
            })?;
        let record = || match &self.place {
            &SystemUnderTest::Database {
                ref servers,
                clients,
                ref faults,
            } => {
                let collection = Collection {
                    workload,
                    time,
                    clients,
                };
                let endpoints: Vec<Endpoint<'_>> = servers.iter().map(Server::endpoint).collect();
                collect::collect_on(
                    &endpoints,
                    faults,
                    &collection,
                    &recorder,
                    statistics,
                    control,
                )
            }
            SystemUnderTest::Store { model, faults } => {
                let generation = Generation {
                    faults: faults.clone(),
                    ..Generation::new(workload, *model)
                };
                let control = time.map_or(control.clone(), |time| control.with_time_limit(time));
                collect::simulate(&generation, &recorder, statistics, &control)
            }
        };
        // What follows the recording does not count.
        let run = || record().map(|()| statistics.end());
        let result = match live {
            Some(live) => live::followed(path, &recorder, live, run),
            None => run(),
        };
        result.map_err(|error| {
            // A run that never began leaves nothing that would be in the way of the next one.
            let never_began =
                recorder.is_empty() && path.is_file() && std::fs::remove_file(path).is_ok();
            if never_began {
                HuntError::Target(error)
            } else {
                HuntError::BrokenOff {
                    path: shown(),
                    error,
                }
            }
        })
    }

    /// What clients do otherwise than usual and what breaks during a run on a database, as arguments of the command line, for
    /// the first line of a recording.
    fn options(&self) -> String {
        let SystemUnderTest::Database {
            servers,
            clients,
            faults,
        } = &self.place
        else {
            return String::new();
        };
        let ClientOptions {
            retries,
            patience,
            write_order,
            final_reads,
            barriers,
        } = *clients;
        let usual = ClientOptions::default();
        let mut words: Vec<String> = Vec::new();
        for Address { name, sessions, .. } in servers.iter().map(|server| &server.address) {
            let placed = name.as_ref().zip(*sessions);
            words.extend(
                placed
                    .into_iter()
                    .flat_map(|(name, n)| ["--sessions-on".to_owned(), format!("{name}={n}")]),
            );
        }
        let values = [
            (retries != usual.retries, "--retries", f64::from(retries)),
            (
                patience != usual.patience,
                "--patience",
                patience.as_secs_f64(),
            ),
        ];
        let given = values.into_iter().filter(|(is_given, ..)| *is_given);
        words.extend(given.flat_map(|(_, option, value)| [option.to_owned(), value.to_string()]));
        words.extend((write_order != usual.write_order).then(|| "--any-order".to_owned()));
        words.extend(final_reads.then(|| "--final-reads".to_owned()));
        let barriers = match barriers {
            Barriers::Usual => None,
            Barriers::Never => Some("none".to_owned()),
            Barriers::Every(time) => Some(time.as_secs_f64().to_string()),
        };
        words.extend(
            barriers
                .into_iter()
                .flat_map(|time| ["--barrier".to_owned(), time]),
        );
        words.extend(
            faults
                .faults
                .iter()
                .flat_map(|fault| fault.arguments.clone()),
        );
        if !faults.faults.is_empty() {
            let times = [("--every", faults.every), ("--for", faults.lasting)];
            words.extend(
                times
                    .into_iter()
                    .flat_map(|(option, time)| [option.to_owned(), time.as_secs_f64().to_string()]),
            );
        }
        let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        if words.is_empty() {
            String::new()
        } else {
            format!("{OPTIONS}{}", words.join(" "))
        }
    }

    /// The first line of a recording.
    fn about(&self, workload: &Workload) -> String {
        let place = match &self.place {
            SystemUnderTest::Database { servers, .. } => {
                let servers: Vec<String> = servers.iter().map(Server::shown).collect();
                let names = self.faults();
                let faults = if names.is_empty() {
                    String::new()
                } else {
                    format!(", faults {}", names.join(", "))
                };
                format!("{} on {}{faults}", self.name, servers.join(" and "))
            }
            SystemUnderTest::Store { faults, .. } if faults.is_empty() => "no faults".to_owned(),
            SystemUnderTest::Store { faults, .. } => {
                let faults: Vec<String> = faults
                    .iter()
                    .map(|i| format!("{}={}", i.fault.name, i.times))
                    .collect();
                format!("faults {}", faults.join(", "))
            }
        };
        let Workload {
            kind,
            seed,
            sessions,
            transactions,
            keys,
            distribution,
            ..
        } = workload;
        format!(
            "{RECORDED}{} at {}, {place}; workload {kind}, seed {seed}, {sessions} sessions of {transactions} transactions, \
             {keys} keys, {distribution}{}{AGAIN}--isolation {} {}",
            self.version,
            self.isolation,
            self.options(),
            self.isolation,
            arguments(workload)
        )
    }
}

/// A workload as arguments of the command line.
pub fn arguments(workload: &Workload) -> String {
    let Workload {
        kind,
        seed,
        sessions,
        transactions,
        operations,
        keys,
        distribution,
        read_share,
        update_share,
    } = workload;
    format!(
        "--workload {kind} --seed {seed} --sessions {sessions} --transactions {transactions} --operations {operations} \
         --keys {keys} --distribution {distribution} --read-share {read_share} --update-share {update_share}"
    )
}
