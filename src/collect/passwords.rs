//! Passwords that are not in an address: where clients of the database keep them. They are never shown or recorded.

use postgres::Config;
use postgres::config::Host;
use std::path::PathBuf;

/// The password for a server of PostgreSQL: that of `PGPASSWORD`, else of the first line that fits in `PGPASSFILE` or
/// `~/.pgpass` (PostgreSQL, 34.16).
pub(super) fn of_postgres(config: &Config) -> Option<Vec<u8>> {
    if let Ok(password) = std::env::var("PGPASSWORD") {
        return Some(password.into_bytes());
    }
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".pgpass"));
    let file = std::env::var_os("PGPASSFILE").map(PathBuf::from).or_else(home)?;
    let text = std::fs::read_to_string(file).ok()?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        // A socket is looked up like the machine itself.
        _ => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let user = config.get_user()?;
    let wanted = [&*host, &port, config.get_dbname().unwrap_or(user), user];
    text.lines().find_map(|line| password_in(line, wanted)).map(String::into_bytes)
}

/// The password in a line of the file, if the line is for this server, database and user.
fn password_in(line: &str, wanted: [&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let fields = fields(line);
    let fits = fields.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
    fields.get(4).filter(|_| fits).cloned()
}

/// The fields of a line: colons divide them, backslashes take the next character as it is.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        let last = fields.len() - 1;
        match c {
            ':' if last < 4 => fields.push(String::new()),
            '\\' => fields[last].extend(characters.next()),
            c => fields[last].push(c),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_by_host_port_database_and_user() {
        let wanted = ["db.example", "5432", "test", "me"];
        let password = |line: &str| password_in(line, wanted);
        assert_eq!(password("db.example:5432:test:me:a b"), Some("a b".to_owned()));
        assert_eq!(password("*:*:*:me:a:b\\\\c"), Some("a:b\\c".to_owned()));
        assert_eq!(password("*:*:*:you:secret"), None);
        assert_eq!(password("#*:*:*:me:secret"), None);
        assert_eq!(password("*:*:*"), None);
    }
}
