//! The import table in the crate documentation is the architecture. This test reads it there and holds every source
//! file to it, so the table cannot age.

mod common;

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
    let rows = documentation.skip_while(|line| *line != HEADING).skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let imports = cells[2].split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
        (cells[0].trim_matches('`').to_owned(), imports.collect())
    })
    .collect()
}

/// The modules declared by `pub mod` in lib.rs.
fn modules() -> Vec<String> {
    let library = text(&common::repository("src/lib.rs"));
    let names = library.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
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
    let tests =
        lines.windows(2).position(|pair| pair[0].trim() == "#[cfg(test)]" && pair[1].starts_with("mod tests {"));
    let code = lines[..tests.unwrap_or(lines.len())].iter().map(|line| line.split("//").next().unwrap_or(""));
    code.collect::<Vec<_>>().join("\n")
}

/// The names that follow `crate::` in `program`, those in braces included.
fn imports(program: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in program.match_indices("crate::") {
        if program[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_') {
            continue;
        }
        let rest = &program[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(top_level_names(group)),
            None => found.extend(leading_name(rest)),
        }
    }
    found
}

fn leading_name(text: &str) -> Option<String> {
    let name: String = text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// The first names of the paths in a group `a::b, c::{d, e}, f}`; the text may go on after the group.
fn top_level_names(group: &str) -> Vec<String> {
    let mut names = vec![leading_name(group)];
    let mut depth = 0;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(leading_name(&group[at + 1..])),
            _ => {}
        }
    }
    names.into_iter().flatten().collect()
}

#[test]
fn every_module_stands_in_the_import_table() {
    let table = import_table();
    assert!(table.len() > 5, "the table was found: {table:?}");
    for module in modules() {
        assert!(table.contains_key(&module), "src/lib.rs declares `{module}`, its import table does not name it");
    }
    for (module, imports) in &table {
        for import in imports {
            assert!(table.contains_key(import), "`{module}` may import `{import}`, which has no row");
            assert_ne!(import, module);
        }
    }
}

#[test]
fn the_import_table_has_no_cycle() {
    let mut table = import_table();
    while !table.is_empty() {
        let ready = |imports: &BTreeSet<String>| imports.iter().all(|import| !table.contains_key(import));
        let done: Vec<String> = table.iter().filter(|(_, imports)| ready(imports)).map(|(m, _)| m.clone()).collect();
        assert!(!done.is_empty(), "these import each other: {:?}", table.keys());
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
        let module = inside.components().next().expect("a file").as_os_str().to_string_lossy().into_owned();
        let module = module.trim_end_matches(".rs");
        if matches!(module, "lib" | "main") || path.ends_with("tests.rs") {
            continue;
        }
        let allowed = table.get(module).unwrap_or_else(|| panic!("{} belongs to no row", path.display()));
        for import in imports(&program(&text(&path))) {
            if import != module && !allowed.contains(&import) {
                trespasses.push(format!("src/{}: `{module}` imports `{import}`", inside.display()));
            }
        }
    }
    assert!(trespasses.is_empty(), "against the table in src/lib.rs:\n{}", trespasses.join("\n"));
}

#[test]
fn the_program_chooses_between_command_line_and_window_and_nothing_else() {
    let program = program(&text(&common::repository("src/main.rs")));
    for (at, path) in program.match_indices("isoscope::") {
        let name = leading_name(&program[at + path.len()..]);
        assert!(matches!(name.as_deref(), Some("cli" | "app")), "src/main.rs uses {name:?}");
    }
}

#[test]
fn no_file_speaks_of_the_machine_it_was_written_on() {
    let mut files: Vec<PathBuf> =
        ["src", "benches", "tests"].map(common::repository).iter().flat_map(|f| rust_files(f)).collect();
    files.retain(|path| !path.ends_with("tests/architecture.rs"));
    files.extend(
        ["README.md", "docs/lemma-25.md", "sample_histories/README.md"]
            .map(common::repository)
            .into_iter()
            .filter(|p| p.exists()),
    );
    assert!(files.len() > 10);
    for path in files {
        for (number, line) in text(&path).lines().enumerate() {
            for word in [concat!("/wo", "rk/"), concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("issue ", "#")] {
                assert!(!line.contains(word), "{}:{}: {line}", path.display(), number + 1);
            }
        }
    }
}

#[test]
fn groups_of_imports_are_understood() {
    let names = |code: &str| imports(&program(code)).into_iter().collect::<Vec<_>>();
    assert_eq!(
        names("use crate::history::{Key, graph};\nuse crate::{graph::scc, sat::{a, b},\n relations};"),
        ["graph", "history", "relations", "sat"]
    );
    assert_eq!(names("// crate::app\nlet x = crate::control::Control::new(); // crate::cli"), ["control"]);
    assert_eq!(names("use crate::graph;\n#[cfg(test)]\nmod tests {\n    use crate::formats;\n}"), ["graph"]);
}
