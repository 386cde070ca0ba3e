//! Packed files, archives and folders: what is inside is read as if it were not packed.

use crate::common;

use isoscope::control::Control;
use isoscope::formats::{self, ListedFile, is_one_history};
use isoscope::history::{History, OperationId};
use std::io::Write;
use std::path::Path;

fn sample(name: &str) -> std::path::PathBuf {
    common::repository("sample_histories/formats").join(name)
}

fn open(path: &Path) -> Result<History, String> {
    formats::open(path, None, &Control::new()).map_err(|error| error.to_string())
}

/// Everything that is said of a history but where it comes from.
fn content(history: &History) -> Vec<String> {
    let line = |t| {
        let operations: Vec<String> = history
            .operations_of(t)
            .map(|o| history.operation_text(o))
            .collect();
        let session = history.session_name(history.session_of(t));
        format!(
            "{session} {} {:?} {}",
            history.transaction_name(t),
            history.outcome(t),
            operations.join(", ")
        )
    };
    history.transactions().map(line).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer
        .write_all(bytes)
        .and_then(|()| packer.finish())
        .expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("memory")
}

fn zip(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut packer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        packer
            .start_file(*name, zip::write::SimpleFileOptions::default())
            .expect("memory");
        packer.write_all(bytes).expect("memory");
    }
    packer.finish().expect("memory").into_inner()
}

fn tar(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut packer = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        packer
            .append_data(&mut header, name, &**bytes)
            .expect("memory");
    }
    packer.into_inner().expect("memory")
}

/// The files of a sample that is a folder, under another folder's name as archives have them.
fn files_of(folder: &str) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(sample(folder))
        .expect("a sample")
        .map(|entry| entry.expect("readable").path());
    let name = |path: &Path| {
        format!(
            "run/{}",
            path.file_name().expect("a name").to_string_lossy()
        )
    };
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|path| (name(&path), std::fs::read(&path).expect("readable")))
        .collect();
    // In no particular order.
    files.sort_by(|a, b| b.cmp(a));
    files
}

fn borrowed(files: &[(String, Vec<u8>)]) -> Vec<(&str, Vec<u8>)> {
    files
        .iter()
        .map(|(name, bytes)| (name.as_str(), bytes.clone()))
        .collect()
}

#[test]
fn packed_files_are_read_as_what_is_inside() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in [
        "plume.txt",
        "elle-edn.edn",
        "json.json",
        "dbcop-bincode.bincode",
    ] {
        let plain = std::fs::read(sample(name)).expect("a sample");
        let expected = open(&sample(name)).expect("a history");
        let packed = [
            (format!("{name}.gz"), gzip(&plain)),
            (format!("{name}.zst"), zstd(&plain)),
            (format!("{name}.zip"), zip(&[(name, plain.clone())])),
            (
                format!("{name}.tar.gz"),
                gzip(&tar(&[(name, plain.clone())])),
            ),
            // The ending does not matter.
            ("packed".to_owned(), zstd(&plain)),
        ];
        for (file, bytes) in packed {
            let path = folder.path().join(&file);
            std::fs::write(&path, &bytes).expect("the temporary folder is writable");
            let history = open(&path).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(content(&history), content(&expected), "{file}");
            let dropped =
                formats::open_bytes(&file, &bytes, None, &Control::new()).expect("the same bytes");
            assert_eq!(content(&dropped), content(&expected), "{file}");
            let spot = history
                .spot_of(OperationId(3))
                .expect("it was read from a file");
            let raw = |path: &Path, history: &History| {
                common::raw_spot(path, history.origin(), spot).expect("the place is there")
            };
            assert_eq!(
                raw(&path, &history),
                raw(&sample(name), &expected),
                "{file}"
            );
        }
    }
}

#[test]
fn the_logs_of_a_run_are_one_history_in_a_folder_and_in_archives() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["cobra", "viper"] {
        assert!(is_one_history(&sample(name)));
        let expected = open(&sample(name)).expect("a history");
        let files = files_of(name);
        for (file, bytes) in [
            ("run.zip", zip(&borrowed(&files))),
            ("run.tar.zst", zstd(&tar(&borrowed(&files)))),
        ] {
            let path = folder.path().join(file);
            std::fs::write(&path, bytes).expect("the temporary folder is writable");
            let history = open(&path).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(content(&history), content(&expected), "{name} {file}");
            let last = OperationId::new(history.n_operations() - 1);
            let spot = history.spot_of(last).expect("it was read from a file");
            assert_eq!(
                history
                    .origin()
                    .part_name(spot.part.expect("one of several")),
                files[0].0.trim_start_matches("run/")
            );
            let raw = common::raw_spot(&path, history.origin(), spot).expect("the place is there");
            let other = common::raw_spot(&sample(name), expected.origin(), spot)
                .expect("the place is there");
            assert_eq!(raw, other);
        }
    }
}

#[test]
fn a_folder_of_histories_is_a_batch_and_one_bad_file_is_part_of_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(path, bytes).expect("writable");
    };
    put("b.txt", b"w(1,1,0,0)\n");
    put("a/history.bincode", b"cut off");
    put("README.md", b"not a history");
    put("manifest.json", b"{}");
    for (name, bytes) in files_of("cobra") {
        put(&format!("c/{name}"), &bytes);
    }
    let found =
        formats::histories(&[folder.path().to_owned()], &Control::new()).expect("not stopped");
    let names: Vec<String> = found
        .iter()
        .map(|found| match found {
            ListedFile::History(path) => path
                .strip_prefix(folder.path())
                .expect("inside")
                .display()
                .to_string(),
            ListedFile::Unusable { message, .. } => message.clone(),
        })
        .collect();
    assert_eq!(names, ["a/history.bincode", "b.txt", "c/run"]);
}

#[test]
fn damaged_packings_are_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let plain = std::fs::read(sample("plume.txt")).expect("a sample");
    let two = zip(&[("a.txt", plain.clone()), ("b.txt", plain.clone())]);
    let cut = |bytes: Vec<u8>| bytes[..bytes.len() - 10].to_vec();
    let bomb = gzip(&vec![b' '; 1 << 27]);
    let cases = [
        (cut(gzip(&plain)), "damaged gzip data"),
        (cut(zstd(&plain)), "damaged zstd data"),
        (cut(zip(&[("a.txt", plain.clone())])), "damaged zip data"),
        (
            two,
            "an archive of 2 files that are not the logs of one run",
        ),
        (zip(&[]), "an archive without files"),
        (gzip(b""), "empty file"),
        (bomb, "packed data that grows beyond"),
    ];
    for (bytes, expected) in cases {
        let path = folder.path().join("packed");
        std::fs::write(&path, &bytes).expect("the temporary folder is writable");
        let error = open(&path).map(|_| ()).expect_err(expected);
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    }
}
