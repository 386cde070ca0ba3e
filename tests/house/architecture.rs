//! The import table in the crate documentation is the architecture. This test reads it there and holds every source
//! file to it, so the table cannot age. Within a room, files import each other in one direction.

use crate::common;

use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Where to find the table: the first table in the documentation of the crate with this heading.
const HEADING: &str = "| module | what lives there | may import |";

/// By module: the modules it may import.
type Table = BTreeMap<String, BTreeSet<String>>;

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn import_table() -> Table {
    let library = text(&common::repository("src/lib.rs"));
    let documentation = library.lines().filter_map(|line| line.strip_prefix("//! "));
    let rows = documentation
        .skip_while(|line| *line != HEADING)
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let imports = cells[2]
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(str::to_owned);
        (cells[0].trim_matches('`').to_owned(), imports.collect())
    })
    .collect()
}

/// The modules declared by `pub mod` in lib.rs.
fn modules() -> Vec<String> {
    let library = text(&common::repository("src/lib.rs"));
    let names = library
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    names.map(str::to_owned).collect()
}

/// All Rust files below a folder, sorted.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The program text without comments and without unit tests, which stand at the end of a file.
fn program(source: &str) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let tests = lines
        .windows(2)
        .position(|pair| pair[0].trim() == "#[cfg(test)]" && pair[1].starts_with("mod tests {"));
    let code = lines[..tests.unwrap_or(lines.len())]
        .iter()
        .map(|line| line.split("//").next().unwrap_or(""));
    code.collect::<Vec<_>>().join("\n")
}

/// Words, `::`, and other characters one by one.
fn tokens(program: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = program.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let length = if rest.starts_with("::") {
            2
        } else {
            word.max(first.len_utf8())
        };
        found.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    found
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// A path in its parts: `crate`, `history`, `Key`.
type Names = Vec<String>;

/// The paths that begin with the word at `at`, which moves behind them: `a::{b, c::d}` means `a::b` and `a::c::d`.
fn paths_at(tokens: &[&str], at: &mut usize) -> Vec<Names> {
    let name = tokens[*at].to_owned();
    *at += 1;
    if tokens.get(*at) != Some(&"::") {
        return vec![vec![name]];
    }
    *at += 1;
    let mut ends = Vec::new();
    match tokens.get(*at) {
        Some(&"{") => {
            while let Some(&token) = tokens.get(*at).filter(|token| **token != "}") {
                match token {
                    "as" => *at += 2,
                    _ if is_word(token) => ends.extend(paths_at(tokens, at)),
                    _ => *at += 1,
                }
            }
            *at += 1;
        }
        Some(token) if is_word(token) => ends = paths_at(tokens, at),
        _ => ends.push(vec!["*".to_owned()]),
    }
    ends.into_iter()
        .map(|end| [vec![name.clone()], end].concat())
        .collect()
}

/// All paths of more than one part.
fn paths(program: &str) -> Vec<Names> {
    let tokens = tokens(program);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        match is_word(tokens[at]) {
            true => found.extend(paths_at(&tokens, &mut at)),
            false => at += 1,
        }
    }
    found.retain(|path| path.len() > 1);
    found
}

/// The names that follow `crate::` in `program`, those in braces included.
fn imports(program: &str) -> BTreeSet<String> {
    paths(program)
        .into_iter()
        .filter(|path| path[0] == "crate")
        .map(|mut path| path.swap_remove(1))
        .collect()
}

/// The program of one file.
struct Source {
    /// The paths in it.
    paths: Vec<Names>,
    /// By name: the path for which it stands after a `use`.
    scope: BTreeMap<String, Names>,
}

impl Source {
    fn new(program: &str) -> Source {
        let tokens = tokens(program);
        let uses = tokens
            .iter()
            .enumerate()
            .filter(|(at, token)| **token == "use" && at + 1 < tokens.len());
        let used = uses.flat_map(|(at, _)| paths_at(&tokens, &mut (at + 1)));
        let used = used.filter(|path| path.last().is_some_and(|last| last != "*"));
        let named = used
            .filter_map(|path| Some((path.iter().rfind(|name| *name != "self")?.clone(), path)));
        Source {
            paths: paths(program),
            scope: named.collect(),
        }
    }
}

/// All files of the program by module path, without `crate`.
struct Sources(BTreeMap<Names, Source>);

impl Sources {
    fn read() -> Sources {
        let folder = common::repository("src");
        let mut sources = BTreeMap::new();
        for path in rust_files(&folder)
            .into_iter()
            .filter(|path| !path.to_string_lossy().ends_with("tests.rs"))
        {
            let inside = path
                .strip_prefix(&folder)
                .expect("below src")
                .with_extension("");
            let mut module: Names = inside
                .iter()
                .map(|name| name.to_string_lossy().into_owned())
                .collect();
            module.retain(|name| name != "mod");
            sources.insert(module, Source::new(&program(&text(&path))));
        }
        Sources(sources)
    }

    /// The file that defines what `path` means in a file; none if that is not in a file of the program.
    fn definition(&self, file: &[String], path: &[String]) -> Option<Names> {
        let (mut at, mut rest) = (file.to_vec(), path);
        match path[0].as_str() {
            "crate" => (at, rest) = (Names::new(), &path[1..]),
            "self" | "super" => {}
            _ if self.0.contains_key(&[file, &path[..1]].concat()) => {}
            _ => return None,
        }
        while let Some((name, others)) = rest.split_first() {
            let child = [at.as_slice(), std::slice::from_ref(name)].concat();
            if name == "super" {
                at.pop();
            } else if self.0.contains_key(&child) {
                at = child;
            } else if name != "self" {
                // Names that a module takes into scope are found there.
                let Some(origin) = self.0.get(&at)?.scope.get(name) else {
                    break;
                };
                return self.definition(&at, &[origin.as_slice(), others].concat());
            }
            rest = others;
        }
        self.0.contains_key(&at).then_some(at)
    }

    /// The files of its room that a file imports. What a module defines for its parts is left out.
    fn imported(&self, file: &[String]) -> BTreeSet<Names> {
        let defined = self.0[file]
            .paths
            .iter()
            .filter_map(|path| self.definition(file, path));
        defined
            .filter(|other| other[0] == file[0] && !file.starts_with(other))
            .collect()
    }

    /// The cycles of files that import each other in a room.
    fn cycles(&self, room: &str) -> Vec<Vec<String>> {
        let files: Vec<&Names> = self.0.keys().filter(|file| file[0] == room).collect();
        let place = |file: Names| files.binary_search(&&file).expect("a file of the room") as u32;
        let edges = (0u32..).zip(&files).flat_map(|(from, file)| {
            self.imported(file)
                .into_iter()
                .map(move |to| (from, to))
                .collect::<Vec<_>>()
        });
        let graph = DiGraph::<(), ()>::from_edges(edges.map(|(from, to)| (from, place(to))));
        let cycles = tarjan_scc(&graph)
            .into_iter()
            .filter(|component| component.len() > 1);
        cycles
            .map(|cycle| {
                cycle
                    .into_iter()
                    .map(|file| files[file.index()].join("::"))
                    .collect()
            })
            .collect()
    }
}

#[test]
fn every_module_stands_in_the_import_table() {
    let table = import_table();
    assert!(table.len() > 5, "the table was found: {table:?}");
    for module in modules() {
        assert!(
            table.contains_key(&module),
            "src/lib.rs declares `{module}`, its import table does not name it"
        );
    }
    for (module, imports) in &table {
        for import in imports {
            assert!(
                table.contains_key(import),
                "`{module}` may import `{import}`, which has no row"
            );
            assert_ne!(import, module);
        }
    }
}

#[test]
fn the_import_table_has_no_cycle() {
    let mut table = import_table();
    while !table.is_empty() {
        let ready =
            |imports: &BTreeSet<String>| imports.iter().all(|import| !table.contains_key(import));
        let done: Vec<String> = table
            .iter()
            .filter(|(_, imports)| ready(imports))
            .map(|(m, _)| m.clone())
            .collect();
        assert!(
            !done.is_empty(),
            "these import each other: {:?}",
            table.keys()
        );
        done.iter().for_each(|module| drop(table.remove(module)));
    }
}

#[test]
fn modules_import_what_the_table_allows() {
    let table = import_table();
    let source = common::repository("src");
    let mut trespasses = Vec::new();
    for path in rust_files(&source) {
        let inside = path.strip_prefix(&source).expect("below src");
        let module = inside
            .components()
            .next()
            .expect("a file")
            .as_os_str()
            .to_string_lossy()
            .into_owned();
        let module = module.trim_end_matches(".rs");
        if matches!(module, "lib" | "main") || path.ends_with("tests.rs") {
            continue;
        }
        let allowed = table
            .get(module)
            .unwrap_or_else(|| panic!("{} belongs to no row", path.display()));
        for import in imports(&program(&text(&path))) {
            if import != module && !allowed.contains(&import) {
                trespasses.push(format!(
                    "src/{}: `{module}` imports `{import}`",
                    inside.display()
                ));
            }
        }
    }
    assert!(
        trespasses.is_empty(),
        "against the table in src/lib.rs:\n{}",
        trespasses.join("\n")
    );
}

#[test]
fn files_of_a_room_do_not_import_each_other_in_cycles() {
    let sources = Sources::read();
    for room in modules() {
        let cycles = sources.cycles(&room);
        assert!(
            cycles.is_empty(),
            "in src/{room}, files import each other in cycles: {cycles:#?}"
        );
    }
}

#[test]
fn the_program_chooses_between_command_line_and_window_and_nothing_else() {
    let program = program(&text(&common::repository("src/main.rs")));
    for path in paths(&program)
        .into_iter()
        .filter(|path| path[0] == "isoscope")
    {
        assert!(
            matches!(path[1].as_str(), "cli" | "app"),
            "src/main.rs uses {path:?}"
        );
    }
}

#[test]
fn no_file_speaks_of_the_machine_it_was_written_on() {
    let mut files: Vec<PathBuf> = ["src", "crates", "benches", "tests"]
        .map(common::repository)
        .iter()
        .flat_map(|f| rust_files(f))
        .collect();
    files.retain(|path| !path.ends_with("tests/house/architecture.rs"));
    files.extend(["README.md", "sample_histories/README.md"].map(common::repository));
    for folder in ["docs", "docs/schemas"] {
        let documents = std::fs::read_dir(common::repository(folder))
            .into_iter()
            .flatten()
            .flatten();
        files.extend(
            documents
                .map(|entry| entry.path())
                .filter(|path| path.is_file()),
        );
    }
    assert!(files.len() > 10);
    for path in files {
        for (number, line) in text(&path).lines().enumerate() {
            for word in [
                concat!("/wo", "rk/"),
                concat!("/ho", "me/"),
                concat!("/ro", "ot/"),
                concat!("issue ", "#"),
            ] {
                assert!(
                    !line.contains(word),
                    "{}:{}: {line}",
                    path.display(),
                    number + 1
                );
            }
        }
    }
}

#[test]
fn groups_of_imports_are_understood() {
    let names = |code: &str| imports(&program(code)).into_iter().collect::<Vec<_>>();
    assert_eq!(
        names(
            "use crate::history::{Key, graph};\nuse crate::{graph::scc, sat::{a, b},\n relations};"
        ),
        ["graph", "history", "relations", "sat"]
    );
    assert_eq!(
        names("// crate::app\nlet x = crate::control::Control::new(); // crate::cli"),
        ["control"]
    );
    assert_eq!(
        names("use crate::graph;\n#[cfg(test)]\nmod tests {\n    use crate::formats;\n}"),
        ["graph"]
    );
}

#[test]
fn cycles_are_found_through_names_that_a_module_passes_on() {
    let file = |path: &str, program: &str| {
        (
            path.split("::").map(str::to_owned).collect::<Names>(),
            Source::new(program),
        )
    };
    let below = |c: &str| {
        let sources = [
            file("room", "mod a; mod b; pub use a::{A, nothing}; use b::B;"),
            file("room::a", "use super::b::c; use crate::other::X;"),
            file("room::b", "pub struct B;"),
            file("room::b::c", c),
        ];
        Sources(sources.into()).cycles("room")
    };
    assert_eq!(
        below("use super::B; use super::super::{B as Other};"),
        Vec::<Vec<String>>::new()
    );
    for cycle in [
        "use crate::room::A;",
        "fn f() { super::super::a::f() }",
        "use crate::room::{B, a::{self}};",
    ] {
        assert_eq!(below(cycle).concat().len(), 2, "{cycle}");
    }
}
