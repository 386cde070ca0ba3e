//! Fingerprints of files, so that a picture identifies its history.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::{self, Read};
use std::path::Path;

fn hex(digest: &[u8]) -> String {
    digest
        .iter()
        .fold(String::with_capacity(2 * digest.len()), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// SHA-256 of bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// How a Content Security Policy names a script or a style by its content: `'sha256-…'`.
pub(super) fn source_of(content: &str) -> String {
    format!(
        "'sha256-{}'",
        BASE64_STANDARD.encode(Sha256::digest(content))
    )
}

/// SHA-256 of a file, in hexadecimal digits. Reads the whole file; fails if that fails, for folders, and for streams,
/// which cannot be read twice.
pub fn sha256_of_file(path: &Path) -> io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("no regular file"));
    }
    let mut file = std::fs::File::open(path)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&digest.finalize())),
            n => digest.update(&buffer[..n]),
        }
    }
}

/// The first and last digits of a digest.
pub(super) fn shortened(digest: &str) -> String {
    match (
        digest.get(..8),
        digest.get(digest.len().saturating_sub(4)..),
    ) {
        (Some(head), Some(tail)) if digest.len() > 16 => format!("{head}…{tail}"),
        _ => digest.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        // FIPS 180-4, example "abc".
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), abc);
        assert_eq!(shortened(abc), "ba7816bf…15ad");
        // CSP Level 3, section 6.7.3, a script of one line.
        let source = source_of("alert('Hello, world.');");
        assert_eq!(
            source,
            "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
        );
    }
}
