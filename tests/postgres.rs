//! Generated reproductions on a real PostgreSQL. Skipped where none is installed.
#![cfg(unix)]

mod common;

use common::postgres;

#[test]
fn a_server_of_our_own_answers_and_goes_away() {
    let Some(server) = postgres::start(&[]) else { return };
    let folder = server.socket_dir().to_owned();
    assert_eq!(server.sql("select 6 * 7"), "42\n");
    drop(server);
    assert!(!folder.exists());
}
