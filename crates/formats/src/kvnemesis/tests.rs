use super::*;

const NEW: &str = "db0.Put(ctx, tk(9), sv(4)) // @1684.5,0 <nil>
  db1.AdminSplit(ctx, tk(3), hlc.MaxTimestamp) // <nil>
db1.Txn(ctx, func(ctx context.Context, txn *kv.Txn) error {
  txn.SetIsoLevel(isolation.Snapshot)
  {
    b := &kv.Batch{}
    b.GetForUpdate(tk(9)) // (v4, <nil>)
    b.Del(tk(2) /* @s5 */) // <nil>
    txn.Run(ctx, b) // @1684.6,0 <nil>
  }
  txn.ReverseScanForShareGuaranteedDurability(ctx, tk(1), tk(12), 0) // @1684.6,0 (/Table/100/\"0000000000000009\":v4, <nil>)
  b := &kv.Batch{}
  b.Put(tk(15), sv(6)) // <nil>
  txn.CommitInBatch(ctx, b) // @1684.7,0 <nil>
  return nil
}) // @1684.7,0 <nil>
// ^-- txnpb:(\"unnamed\" meta={})
{
  b := &kv.Batch{}
  b.Put(tk(2), sv(7)) // result is ambiguous: (gone)
  b.Scan(tk(3), tk(5)) // result is ambiguous: (gone)
  db0.Run(ctx, b) // result is ambiguous: (gone)
}
db0.Get(ctx, tk(2)) // @1684.9,0 (<nil>, <nil>)
";

const OLD: &str = "I200207 16:33:58 5417 kv/kvnemesis/kvnemesis.go:63
  4 PRE db0.Get(ctx, /Table/50/\"x\")
  4 OP  db0.Txn(ctx, func(ctx context.Context, txn *client.Txn) error {
  4 OP    txn.Put(ctx, /Table/50/\"x\", v-1) // nil
  7 OP  db0.Get(ctx, /Table/50/\"y\") // (nil, context canceled)
  4 OP    return errors.New(\"rollback\")
  4 OP  }) // rollback
  7 OP  db2.Txn(ctx, func(ctx context.Context, txn *client.Txn) error {
  7 OP    txn.Scan(ctx, /Table/50/\"w\", /Table/50/\"z\", 0) // ([/Table/50/\"y\":\"v-3\"], nil)
  7 OP    txn.Scan(ctx, /Table/50/\"y\", /Table/50/\"y\", 0) // ([], nil)
  7 OP    return nil
  7 OP  }) // nil 1582928736.000000001,0 txnpb:(\"a\")
  before: 1, after: 2
";

fn parse(text: &str) -> Result<History, String> {
    let input = Input::new("", text.as_bytes());
    read(&input, &Control::new()).map_err(|error| error.to_string())
}

/// Sessions, outcomes and operations, a line for each transaction.
fn shown(history: &History) -> Vec<String> {
    let line = |t| {
        let operations = history.operations_of(t);
        let operations: Vec<String> = operations.map(|o| history.operation_text(o)).collect();
        format!(
            "{} {:?} {}",
            history.session_name(history.session_of(t)),
            history.outcome(t),
            operations.join(", ")
        )
    };
    history.transactions().map(line).collect()
}

#[test]
fn steps_are_transactions_and_scans_read_all_keys_of_their_range() {
    let history = parse(NEW).expect("valid");
    assert_eq!(
        shown(&history),
        [
            "1 Committed w(tk(9)) = v4",
            "2 Committed r(tk(9)) = v4, w(tk(2)) = absent, r(tk(2)) = absent, r(tk(9)) = v4, w(tk(15)) = v6",
            "3 Unknown w(tk(2)) = v7",
            "4 Committed r(tk(2)) = absent",
            "before Committed w(tk(2)) = absent",
        ]
    );
    assert_eq!(history.set_up().len(), 1);
    assert_eq!(
        history.assumptions().len(),
        3,
        "{:?}",
        history.assumptions()
    );
    assert!(!history.has_times());
}

#[test]
fn logs_have_workers_and_other_lines() {
    let history = parse(OLD).expect("valid");
    assert_eq!(
        shown(&history),
        [
            "1 Aborted ",
            "2 Aborted w(/Table/50/\"x\") = v-1",
            "3 Committed r(/Table/50/\"x\") = initial, r(/Table/50/\"y\") = v-3",
        ]
    );
    let passed = "Lines that are no steps: 2, passed over.";
    assert_eq!(history.assumptions()[1], passed);
}

#[test]
fn functions_of_workers_are_frames() {
    let text = "// Seed: 1
g := ctxgroup.WithContext(ctx)
g.GoCtx(func(ctx context.Context) error {
  db0.Put(ctx, \"a\", 5)

  return nil
})

require.NoError(t, g.Wait())";
    assert_eq!(
        shown(&parse(text).expect("valid")),
        ["1 Unknown w(\"a\") = 5"]
    );
}

#[test]
fn steps_are_recognised() {
    let likelihood = |text: &str| sniff(&Input::new("a.txt", text.as_bytes()));
    for text in [NEW, OLD, "// Seed\n  db12.Put(ctx, "] {
        assert_eq!(likelihood(text), Likelihood::Certain, "{text}");
    }
    for text in [
        "",
        "db.Put(ctx, ",
        "dbx.Put(ctx, a)",
        "db0.Run(a)",
        "db0: [w x 1]",
    ] {
        assert_eq!(likelihood(text), Likelihood::No, "{text}");
    }
}

#[test]
fn what_is_not_understood_is_refused() {
    let step = "expected a step of kvnemesis like `db0.Put(ctx, tk(1), sv(1)) // <nil>`, found";
    let lines = [
        "db0.DelRange(ctx, tk(1), tk(2), true) // <nil>",
        "db0.GetForUpdateSkipLocked(ctx, tk(1)) // (<nil>, <nil>)",
        "db0.Scan(ctx, tk(1), tk(5), 3) // <nil>",
        "db0.Scan(ctx, tk(1), tk(5), 0) // (/Table/100/\"0000000000000009\":v1, <nil>)",
        "db0.Get(ctx, tk(1)) // <nil>",
        "db0.Get(ctx, tk(1)) // (v1, <nil>) and more",
        "db0.Put(ctx, tk(1), nil) // <nil>",
        "db0.Put(ctx, tk(-1), sv(1)) // <nil>",
        "db0.Put(ctx, \"a\\x00\", sv(1)) // <nil>",
        "txn.Get(ctx, tk(1)) // (v1, <nil>)",
        "db0.Get(ctx, tk(1)",
        "}) // <nil>",
        "}",
        "x",
    ];
    for line in lines {
        let found = excerpt(line.as_bytes());
        let message = format!("line 2: {step} {found}");
        assert_eq!(
            parse(&format!("\n{line}")).map(drop),
            Err(message),
            "{line}"
        );
    }
    let none = format!("{step} none");
    for text in [
        "",
        "  4 PRE db0.Put(ctx, tk(1), sv(1))",
        "db0.AdminSplit(ctx, tk(3)) // <nil>",
    ] {
        assert_eq!(parse(text).map(drop), Err(none.clone()));
    }
    let begin = "db0.Txn(ctx, func(ctx context.Context, txn *kv.Txn) error {\n";
    let ends = "line 1: what begins here does not end";
    assert_eq!(parse(begin).map(drop), Err(ends.to_owned()));
    for line in [
        "txn.RollbackSavepoint(ctx, 1) // <nil>",
        "db0.Get(ctx, tk(1)) // (v1, <nil>)",
    ] {
        let message = format!("line 2: {step} {}", excerpt(line.as_bytes()));
        assert_eq!(parse(&format!("{begin}{line}")).map(drop), Err(message));
    }
    let doubtful =
        "line 2: this write is not known to have succeeded, although its transaction committed";
    for result in ["", " // some error"] {
        let text = format!("{begin}  txn.Put(ctx, tk(1), sv(1)){result}\n}}) // nil");
        assert_eq!(parse(&text).map(drop), Err(doubtful.to_owned()));
    }
    let absent = "line 1: the value `absent` means that there is none here";
    assert_eq!(
        parse("db0.Put(ctx, \"a\", absent) // nil").map(drop),
        Err(absent.to_owned())
    );
}

#[test]
fn damaged_texts_are_no_reason_to_panic() {
    for text in [NEW, OLD] {
        for end in 0..text.len() {
            let _ = parse(&text[..end]);
        }
        for at in 0..text.len() * 8 {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at / 8] ^= 1 << (at % 8);
            let _ = read(&Input::new("", &bytes), &Control::new());
        }
    }
    // The end of the range is before its beginning.
    assert!(
        parse("db0.Get(ctx, tk(1)) // (v1, nil)\ndb0.Scan(ctx, tk(5), tk(2), 0) // <nil>").is_ok()
    );
    assert!(parse(&format!("db0.Get{}", "(".repeat(1 << 20))).is_err());
}
