use super::*;
use crate::blocks::tests::encoder::{Encoder, edn};
use crate::elle::content_of;

#[test]
fn values_are_those_of_edn() {
    let value = |bytes: &[u8]| {
        let value = Fressian::new(bytes, 100, &Control::new()).value();
        value.map_or_else(|error| error.to_string(), |tree| tree.text().into_owned())
    };
    for text in [
        "[0 63 64 255 4095 4096 -1 -2 -4096 -4097 524287 524288 33554431 33554432 8589934591 8589934592]",
        "[2199023255551 2199023255552 562949953421311 562949953421312 9223372036854775807 -9223372036854775808]",
        "[1.0 -0.5 1.0E10 1.5E-7 0.001 true false nil :a :a/b \"\" \"a\\nb\" \"é😀\" #{1} {:a #{}, 5 [6]} {[1 2] 3}]",
    ] {
        let mut encoder = Encoder::default();
        encoder.value(&edn(text));
        assert_eq!(value(&encoder.bytes), edn(text).text());
    }
    let long = "é😀x".repeat(40_000);
    let mut encoder = Encoder::default();
    encoder.string(&long);
    let decoded = Fressian::new(&encoder.bytes, 0, &Control::new())
        .value()
        .expect("valid");
    assert!(matches!(&decoded, Tree::Name(name) if content_of(name) == long));

    let laughs = {
        let mut bytes = b"\xcd\xe6\x00\x00".to_vec();
        for n in 0..30 {
            bytes.extend([0xCD, 0xE6, 0x80 + n, 0x80 + n]);
        }
        [&b"\xec\x1f"[..], &bytes].concat()
    };
    for (bytes, text) in [
        (
            &b"\xc3\xd9\x10aaaaaaaaaaaaaaaa"[..],
            "\"61616161-6161-6161-6161-616161616161\"",
        ),
        (
            b"\xc6\xd9\x09\x00\xff\xff\xff\xff\xff\xff\xff\xff",
            "18446744073709551615",
        ),
        (b"\xc6\xd1\xfe", "-2"),
        (b"\xc9\xdba\xdbb", "a/b"),
        (b"\xb0\x02\x07\x08", "[7 8]"),
        (b"\xee\x01\x02", "[1 2]"),
        (b"\xe5\xef\xdbx\x02\x01\x02", "[{#x [1 2]}]"),
        (b"\xe6\xef\xdbx\x01\x01\xa0\x02", "[{#x [1]} {#x [2]}]"),
        (b"\xe6\xcd\xdba\x80", "[\"a\" \"a\"]"),
        (b"\xce\xdba\xcc\x00", "\"a\""),
        (b"\xfe\xcf\xcf\xcf\xcf\0\0\0\0\0\0\0\0\x07", "7"),
        (b"\xdd\xed\xa0\xbd", "\"\\\\ud83d\""),
        (b"\xc8\x7b\0\0\0\0\0", "1099511627776"),
        (b"\xfb", "0.0"),
        (b"\xf9\x7f\x80\0\0", "##Inf"),
        (
            b"\xe6\xcd\xdba\xfe\x80",
            "byte 105: expected a value that was put into the cache, found the byte 0x80",
        ),
        (
            b"\xcd\x80",
            "byte 101: expected a small value in the cache, found the byte 0x80",
        ),
        (
            b"\xa0",
            "byte 100: expected a struct that was declared, found the byte 0xa0",
        ),
        (
            b"\xec\x05\x01",
            "byte 101: expected a number of things that are there, found the byte 0x05",
        ),
        (
            b"\xd7a",
            "byte 101: expected more bytes, found the byte 0x61",
        ),
        (
            b"\xc0\xe5\x01",
            "byte 101: expected as many values as names in a map, found the byte 0xe5",
        ),
        (
            b"\xe2\x01a\x07",
            "byte 103: expected another part of this text, found the byte 0x07",
        ),
        (
            b"\xdb\xc3",
            "byte 101: expected the end of a character, found the byte 0xc3",
        ),
        (
            b"\xfd",
            "byte 100: expected the code of a value, found the byte 0xfd",
        ),
        (
            b"",
            "byte 100: expected a value, found the end of the block",
        ),
        (
            &[0xE5; 300],
            "byte 300: expected fewer values within each other, found the byte 0xe5",
        ),
        (
            &[0xCE; 300],
            "byte 300: expected fewer values within each other, found the byte 0xce",
        ),
        (
            &[0xCD; 300],
            "byte 300: expected fewer values within each other, found the byte 0xcd",
        ),
        (
            &[&b"\xef\xddvec\x01"[..], &[0xA0; 300]].concat(),
            "byte 305: expected fewer values within each other, found the byte 0xa0",
        ),
        (
            b"\xef\xe3\x11jepsen.history.Op\x07\0\0\xf7\0\xf7\0\x07",
            "byte 127: expected the other fields of an operation: a map or nil, found the byte 0x07",
        ),
        (
            b"\xef\xe3\x08multiset\x01\xc0\xe6\x05\x02",
            "{#multiset [{5 2}]}",
        ),
        (
            &laughs,
            "byte 152: expected a small value in the cache, found the byte 0x8b",
        ),
    ] {
        assert_eq!(value(bytes), text, "{bytes:02x?}");
    }
}

#[test]
fn reading_ends_when_it_is_told_to() {
    let control = Control::new();
    control.stop();
    // Small values in the cache, taken again and again.
    let bytes = [&b"\xed\xcd\xdba"[..], &[0x80; 1 << 17]].concat();
    let error = Fressian::new(&bytes, 0, &control)
        .value()
        .expect_err("stopped");
    assert!(error.interrupt().is_some(), "{error}");
}
