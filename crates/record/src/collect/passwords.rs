//! Passwords that are not in an address: where clients of the database keep them. They are never shown or recorded.

#[cfg(feature = "postgres")]
use postgres::Config;
#[cfg(feature = "postgres")]
use postgres::config::Host;
use std::path::PathBuf;

fn in_home(name: &str) -> Option<PathBuf> {
    std::env::var_os("HOME").map(|home| PathBuf::from(home).join(name))
}

/// The password of a user of MySQL or MariaDB: that of `MYSQL_PWD`, else of `~/.my.cnf` (MySQL, 4.2.2.2).
#[cfg(feature = "mysql")]
pub(super) fn of_mysql(user: Option<&str>) -> Option<String> {
    let in_file = || client_password(&std::fs::read_to_string(in_home(".my.cnf")?).ok()?, user);
    std::env::var("MYSQL_PWD").ok().or_else(in_file)
}

/// The last password for clients in the text of an option file, unless it is another user's.
#[cfg(any(feature = "mysql", test))]
fn client_password(text: &str, user: Option<&str>) -> Option<String> {
    let (mut is_of_clients, mut owner, mut password) = (false, None, None);
    for line in text.lines().map(str::trim) {
        if let Some(group) = line.strip_prefix('[') {
            is_of_clients = ["client]", "client-server]", "client-mariadb]"].contains(&group);
        }
        let Some((option, value)) = line.split_once('=').filter(|_| is_of_clients) else {
            continue;
        };
        let value = value.trim();
        let unquoted = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
        let value = unquoted('"')
            .or_else(|| unquoted('\''))
            .unwrap_or(value)
            .to_owned();
        match option.trim() {
            "user" => owner = Some(value),
            "password" => password = Some(value),
            _ => {}
        }
    }
    password.filter(|_| owner.is_none_or(|owner| Some(owner.as_str()) == user))
}

/// The password for a server of PostgreSQL: that of `PGPASSWORD`, else of the first line that fits in `PGPASSFILE` or
/// `~/.pgpass` (PostgreSQL, 34.16).
#[cfg(feature = "postgres")]
pub(super) fn of_postgres(config: &Config) -> Option<Vec<u8>> {
    if let Ok(password) = std::env::var("PGPASSWORD") {
        return Some(password.into_bytes());
    }
    let file = std::env::var_os("PGPASSFILE")
        .map(PathBuf::from)
        .or_else(|| in_home(".pgpass"))?;
    let text = std::fs::read_to_string(file).ok()?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        // A socket is looked up like the machine itself.
        _ => "localhost".to_owned(),
    };
    let port = config
        .get_ports()
        .first()
        .copied()
        .unwrap_or(5432)
        .to_string();
    let user = config.get_user()?;
    let wanted = [&*host, &port, config.get_dbname().unwrap_or(user), user];
    text.lines()
        .find_map(|line| password_in(line, wanted))
        .map(String::into_bytes)
}

/// The password in a line of that file, if the line is for this server, database and user.
#[cfg(any(feature = "postgres", test))]
fn password_in(line: &str, wanted: [&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let fields = fields(line);
    let fits = fields
        .iter()
        .zip(wanted)
        .all(|(field, wanted)| field == "*" || field == wanted);
    fields.get(4).filter(|_| fits).cloned()
}

/// The fields of a line: colons divide them, backslashes take the next character as it is.
#[cfg(any(feature = "postgres", test))]
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
    fn option_files_have_a_password_for_clients() {
        let file = "[mysqld]\npassword=server\n[client]\n# password=no\nuser = me\npassword = \"a = b\"\n[mysqldump]\nquick\n";
        assert_eq!(client_password(file, Some("me")), Some("a = b".to_owned()));
        assert_eq!(client_password(file, Some("you")), None);
        assert_eq!(
            client_password("[client]\npassword='x'", Some("you")),
            Some("x".to_owned())
        );
        assert_eq!(client_password("password=x", None), None);
    }

    #[test]
    fn lines_fit_by_host_port_database_and_user() {
        let wanted = ["db.example", "5432", "test", "me"];
        let password = |line: &str| password_in(line, wanted);
        assert_eq!(
            password("db.example:5432:test:me:a b"),
            Some("a b".to_owned())
        );
        assert_eq!(password("*:*:*:me:a:b\\\\c"), Some("a:b\\c".to_owned()));
        assert_eq!(password("*:*:*:you:secret"), None);
        assert_eq!(password("#*:*:*:me:secret"), None);
        assert_eq!(password("*:*:*"), None);
    }
}
