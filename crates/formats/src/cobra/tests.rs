//! Small inputs.

use super::*;
use crate::container;
use isoscope_model::history::{OperationId, Spot, TransactionId};

type Log = (&'static str, Vec<u8>);

fn log(name: &'static str, records: &[(char, &[i64])]) -> Log {
    let mut bytes = Vec::new();
    for (tag, fields) in records {
        bytes.push(*tag as u8);
        fields
            .iter()
            .for_each(|field| bytes.extend(field.to_be_bytes()));
    }
    (name, bytes)
}

fn parse(logs: &[Log]) -> Result<History, String> {
    let parts: Vec<FilePart<'_>> = logs
        .iter()
        .map(|(name, bytes)| FilePart { name, bytes })
        .collect();
    crate::read(&Input::folder("", &parts), Some("cobra"), &Control::new())
        .map_err(|error| error.to_string())
}

/// Everything the history says: a line per transaction.
fn told(history: &History) -> Vec<String> {
    let line = |t: TransactionId| {
        let operations: Vec<String> = history
            .operations_of(t)
            .map(|o| history.operation_text(o))
            .collect();
        let times = history
            .interval(t)
            .map_or(String::new(), |i| format!("@{}..{}", i.start, i.end));
        let session = history.session_name(history.session_of(t));
        format!(
            "{session} {} {:?}{times}: {}",
            history.transaction_name(t),
            history.outcome(t),
            operations.join(" ")
        )
    };
    history.transactions().map(line).collect()
}

/// Two clients, one of which died.
fn specimen() -> Vec<Log> {
    let t3 = log(
        "T3.log",
        &[
            ('S', &[0x10_0001]),
            ('R', &[INITIAL, INITIAL, -7, 12]),
            ('R', &[ABSENT, ABSENT, 8, 0]),
            ('W', &[100_001, -7, -1]),
            ('C', &[0x10_0001]),
            ('S', &[0x10_0005]),
            ('A', &[0x10_0005]),
        ],
    );
    let t20 = log(
        "T20.log",
        &[
            ('S', &[0x10_0002]),
            ('R', &[0x10_0001, 100_001, -7, -1]),
            ('R', &[99, 98, -7, 4]),
            ('R', &[0x10_0002, 100_001, -7, -1]),
            ('C', &[0x10_0002]),
            ('S', &[0x10_0003]),
            ('W', &[100_002, 8, 1]),
        ],
    );
    vec![t3, ("T4.log", Vec::new()), t20]
}

#[test]
fn sessions_versions_and_outcomes_are_those_of_the_logs() {
    let mut logs = specimen();
    // A piece of a further read.
    logs[2].1.extend(b"R\0\0");
    let history = parse(&logs).expect("valid");
    assert_eq!(
        told(&history),
        [
            "3 T1048577 Committed: r(-7) = initial r(8) = initial w(-7) = 100001",
            "3 T1048581 Aborted: ",
            "20 T1048578 Committed: r(-7) = 100001 r(-7) = 98 r(-7) = 100001/1048578/-1",
            "20 T1048579 Unknown: w(8) = 100002",
        ]
    );
    assert_eq!(history.n_sessions(), 3);
    assert_eq!(
        history.assumptions(),
        [
            "T20.log ends inside a transaction, as if its client died: the outcome of that transaction is unknown."
        ]
    );
    let spot = history.spot_of(OperationId(3)).expect("read from a file");
    assert_eq!(
        spot,
        Spot {
            part: Some(2),
            unit: Unit::Byte,
            number: 10,
            within: (1 << 16) | 3,
        }
    );
    assert_eq!(spot.text(history.origin()), "T20.log operation 1 of 3");
    // A single log is a history, too.
    let (name, bytes) = &specimen()[0];
    let input = Input::new(name, bytes);
    assert_eq!(sniff(&input), Likelihood::Likely);
    let single = crate::read(&input, None, &Control::new()).expect("valid");
    assert_eq!(told(&single), told(&history)[..2]);
    assert_eq!(
        single
            .spot_of(OperationId(0))
            .map(|spot| (spot.part, spot.number)),
        Some((None, 10))
    );
}

#[test]
fn times_are_found_by_trying() {
    let timed = [
        log(
            "T0.log",
            &[
                ('S', &[1, 500]),
                ('W', &[10, 1, 1]),
                ('C', &[1, 520]),
                ('S', &[3, 530]),
            ],
        ),
        log(
            "T1.log",
            &[('S', &[2, 510]), ('R', &[1, 10, 1, 1]), ('C', &[2, 540])],
        ),
    ];
    let history = parse(&timed).expect("valid");
    let open = i64::MAX;
    assert_eq!(
        told(&history),
        [
            "0 T1 Committed@500..520: w(1) = 10".to_owned(),
            format!("0 T3 Unknown@530..{open}: "),
            "1 T2 Committed@510..540: r(1) = 10".to_owned()
        ]
    );
    let mixed = [
        timed[0].clone(),
        log("T1.log", &[('S', &[2]), ('R', &[1, 10, 1, 1]), ('C', &[2])]),
    ];
    let error = "T1.log: byte 17: expected `R`, `W`, or `C` for the end of the transaction, found the byte 0x01";
    assert_eq!(parse(&mixed).map(|_| ()), Err(error.to_owned()));
}

#[test]
fn withheld_ids_leave_the_hash_of_the_value() {
    let u = WITHHELD;
    let logs = [
        log(
            "T0.log",
            &[
                ('S', &[1]),
                ('W', &[u, 5, -4]),
                ('R', &[u, u, 5, -4]),
                ('C', &[1]),
            ],
        ),
        log(
            "T1.log",
            &[
                ('S', &[2]),
                ('W', &[u, 5, -4]),
                ('R', &[INITIAL, INITIAL, 6, 9]),
                ('C', &[2]),
            ],
        ),
    ];
    let history = parse(&logs).expect("valid");
    assert_eq!(
        told(&history),
        [
            "0 T1 Committed: w(5) = -4 r(5) = -4",
            "1 T2 Committed: w(5) = -4 r(6) = initial"
        ]
    );
}

#[test]
fn errors_say_where_and_what() {
    let one = |records: &[(char, &[i64])]| vec![log("T1.log", records)];
    let cases = [
        (
            one(&[('S', &[1]), ('W', &[2, 3, 4]), ('S', &[5])]),
            "T1.log: byte 34: expected `R`, `W`, or `C` for the end of the transaction, found `S`",
        ),
        (
            one(&[('S', &[1]), ('C', &[2])]),
            "T1.log: byte 9: transaction 1 is open, found `C` of transaction 2",
        ),
        (
            one(&[('S', &[1]), ('C', &[1]), ('C', &[1])]),
            "T1.log: byte 18: expected `S` for the start of a transaction, found `C`",
        ),
        (
            one(&[('W', &[1, 1, 1])]),
            "T1.log: byte 0: expected `S` for the start of a transaction, found `W`",
        ),
        (
            vec![("T1.log", b"S\0".to_vec())],
            "file: expected at least one transaction, found a record that is cut off",
        ),
        (
            vec![specimen()[0].clone(), specimen()[0].clone()],
            "T3.log: file: another file of this history has the same name",
        ),
        (
            vec![("J1.log", b"{}".to_vec())],
            "J1.log: byte 0: expected `S` for the start of a transaction, found `{`",
        ),
    ];
    for (logs, message) in cases {
        let error = parse(&logs).map(|_| ()).expect_err(message);
        let (error, message) = (error.replace("file: ", ""), message.replace("file: ", ""));
        assert_eq!(error, message);
    }
}

#[test]
fn what_is_written_is_what_was_read() {
    let texts = [
        "0: T1 [r x init, w x 5] T2 [r x 9]! T7 [w -3 6]?\n12: T4 [r x 5, r y init] T5 []\n3:",
        "0: T1 [w x 5]@1..2 T2 [r x 5]?@3..9223372036854775807",
        "0: T1 [w x 5] T2 [w x 5, r x 6]\n1: T3 [r x 5]",
        "0: T1 [w x 3200183278] T2 [r x 3200183278]",
        "0: T1 [r x 0]\n1: T2 [r x 1]",
        "0: T1 [w x 3]*\n1: T2 [r x 3]",
    ];
    for text in texts {
        let text = text.replace('x', "9").replace('y', "-8");
        let history = crate::text::parse(&text).expect("valid");
        let files = write::write(&history).expect("sayable");
        let mut tar = Vec::new();
        container::write_tar(&files, &mut tar).expect("writable");
        let again = crate::open_bytes("h.tar", &tar, None, &Control::new()).expect("valid");
        assert_eq!(again.origin().format, "cobra");
        let mut expected = told(&history);
        expected.sort();
        let mut found = told(&again);
        found.sort();
        let as_initial = |lines: Vec<String>| lines.join("\n").replace("= 0", "= initial");
        assert_eq!(as_initial(found), as_initial(expected), "{text}");
    }
}

#[test]
fn the_writer_names_what_logs_cannot_say() {
    let cases = [
        (
            "a: [w x 1]",
            "the key `x`, which is no signed number of 64 bits",
        ),
        (
            "a: [w 9223372036854775808 1]",
            "the key `9223372036854775808`, which is no signed number of 64 bits",
        ),
        (
            "a: [w 1 9223372036854775808]",
            "the value 9223372036854775808, which is no signed number of 64 bits",
        ),
        (
            "a: [w 1 x]",
            "the value `x`, which is no signed number of 64 bits",
        ),
        (
            "a: [w 1 1]? []",
            "that the outcome of a1 is unknown: it is not the last of its session",
        ),
        (
            "a: [r 1 ?]",
            "the read r(1) = ?, whose result was not recorded",
        ),
        (
            "a: [r 1 0] [w 1 0]",
            "the read r(1) = 0, whose value is initial and was also written",
        ),
        ("a:", "a history without transactions"),
    ];
    for (text, what) in cases {
        let history = crate::text::parse(text).expect("valid");
        let error = write::write(&history)
            .map(|_| ())
            .expect_err(what)
            .to_string();
        assert_eq!(
            error,
            format!("the format cobra cannot express {what}"),
            "{text}"
        );
    }
}

#[test]
fn cut_or_damaged_logs_are_read_or_refused() {
    let good = specimen();
    for len in 0..good[2].1.len() {
        let mut logs = good.clone();
        logs[2].1.truncate(len);
        // Whatever the place, a client may have died there.
        let history = parse(&logs).unwrap_or_else(|error| panic!("{len}: {error}"));
        assert!(history.n_transactions() <= 4);
    }
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..1000 {
        let mut logs = good.clone();
        for _ in 0..random.usize(1..4) {
            let bytes = &mut logs[[0, 2][random.usize(..2)]].1;
            let at = random.usize(..bytes.len());
            match random.u8(..3) {
                0 => bytes[at] ^= 1 << random.u8(..8),
                1 => bytes[at] = b"SWRCA"[random.usize(..5)],
                _ => drop(bytes.remove(at)),
            }
        }
        if let Err(error) = parse(&logs) {
            assert!(
                error.starts_with('T') && error.len() < 300 && !error.contains('\n'),
                "{error}"
            );
        }
    }
}

#[test]
fn other_files_do_not_look_like_it() {
    for bytes in [
        &b"S1: [w x 1]\n"[..],
        b"Some text W and more of it\n",
        b"",
        b"S",
        &[0; 64],
    ] {
        assert_eq!(
            sniff(&Input::new("T1.log", bytes)),
            Likelihood::No,
            "{bytes:?}"
        );
    }
    assert!(["T1.log", "T20.log", "T007.log"].into_iter().all(is_log));
    assert!(
        ![
            "T.log",
            "T1.log.gz",
            "t1.log",
            "J1.log",
            "Test.log",
            "T1.wlog"
        ]
        .into_iter()
        .any(is_log)
    );
}
