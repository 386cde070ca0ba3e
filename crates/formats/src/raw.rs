//! The raw content of the file at the places operations were read from.

use super::container::{Held, Packing, load};
use super::{blocks, jepsen_run, with_line_feeds};
use isoscope_model::control::Control;
use isoscope_model::history::{Origin, Spot, Unit};
use std::fs::File;
use std::io::{self, BufRead, Read as _};
use std::path::Path;

/// Maximum length of a line that [`raw_spots`] returns, in bytes.
const RAW_LINE: u64 = 1 << 16;

/// Maximum length of a line in which a transaction is looked for, in bytes.
const SEARCHED_LINE: u64 = 1 << 26;

/// Bytes of a binary file that [`raw_spots`] shows.
const RAW_BYTES: usize = 40;

/// The content at each of `spots` of the history at `path`, in one pass over the file: a line without its end (invalid
/// UTF-8 is replaced, and only the beginning of a line longer than 64 KiB is returned), or bytes in hexadecimal. Errors:
/// per spot if it is not there; overall if the file cannot be read or the work is stopped. O(bytes before the last
/// spot + spots · log spots), packed files O(file).
pub fn raw_spots(
    path: &Path,
    origin: &Origin,
    spots: &[Spot],
    control: &Control,
) -> io::Result<Vec<io::Result<String>>> {
    let path = jepsen_run::opened(path);
    let metadata = std::fs::metadata(path)?;
    let plain = metadata.is_file() && {
        let mut head = [0; 512];
        let n = File::open(path)?.read(&mut head)?;
        Packing::of(&head[..n]).is_none()
            && with_line_feeds(&head[..n]).is_none()
            && !blocks::is_one(&head[..n])
    };
    if plain && spots.iter().all(|spot| spot.unit == Unit::Line) {
        return lines(
            io::BufReader::with_capacity(1 << 16, File::open(path)?),
            spots,
            control,
        );
    }
    let held =
        load(path, &|_| Ok(()), control).map_err(|cause| io::Error::other(cause.to_string()))?;
    let gone = || {
        io::Error::new(
            io::ErrorKind::NotFound,
            "this file of the history is not there any more",
        )
    };
    let bytes_of = |part: Option<u32>| -> io::Result<&[u8]> {
        match &held {
            Held::File(_, bytes) => Ok(bytes),
            Held::Folder(files) => {
                let wanted = part.map_or("", |part| origin.part_name(part));
                let file = files
                    .iter()
                    .find(|(name, _)| name == wanted || files.len() == 1);
                Ok(&file.ok_or_else(gone)?.1)
            }
        }
    };
    let mut parts: Vec<Option<u32>> = spots.iter().map(|spot| spot.part).collect();
    parts.sort_unstable();
    parts.dedup();
    let mut found: Vec<io::Result<String>> =
        spots.iter().map(|spot| Err(missing(spot.number))).collect();
    for part in parts {
        let places: Vec<usize> = (0..spots.len())
            .filter(|&place| spots[place].part == part)
            .collect();
        let own: Vec<Spot> = places.iter().map(|&place| spots[place]).collect();
        let texts = match bytes_of(part) {
            Ok(bytes) => raw_spots_in(bytes, &own, control)?,
            Err(_) => own.iter().map(|_| Err(gone())).collect(),
        };
        places
            .into_iter()
            .zip(texts)
            .for_each(|(place, text)| found[place] = text);
    }
    Ok(found)
}

/// The content at each of `spots` of these bytes of a single file, as [`raw_spots`].
pub fn raw_spots_in(
    bytes: &[u8],
    spots: &[Spot],
    control: &Control,
) -> io::Result<Vec<io::Result<String>>> {
    if spots.iter().all(|spot| spot.unit == Unit::Line) {
        if blocks::is_one(bytes) {
            let numbers: Vec<u32> = spots.iter().map(|spot| spot.number).collect();
            let texts = blocks::texts(bytes, &numbers, control).map_err(io::Error::other)?;
            let text = |&n: &u32| texts.get(&(n as usize)).cloned().ok_or_else(|| missing(n));
            return Ok(numbers.iter().map(text).collect());
        }
        let ended = with_line_feeds(bytes);
        return lines(ended.as_deref().unwrap_or(bytes), spots, control);
    }
    let bytes_at = |spot: &Spot| {
        let from = (spot.number as usize).saturating_sub(1).min(bytes.len());
        let shown = &bytes[from..bytes.len().min(from + RAW_BYTES)];
        Ok(shown
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<Vec<_>>()
            .join(" "))
    };
    Ok(spots.iter().map(bytes_at).collect())
}

fn missing(number: u32) -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        format!("the file has no line {number}"),
    )
}

/// The lines with these numbers, in the order requested, in one pass; of a line that holds many transactions, the one in
/// question.
fn lines(
    mut reader: impl BufRead,
    spots: &[Spot],
    control: &Control,
) -> io::Result<Vec<io::Result<String>>> {
    let mut wanted: Vec<(u32, usize)> = spots.iter().map(|spot| spot.number).zip(0..).collect();
    wanted.sort_unstable();
    let mut found: Vec<io::Result<String>> =
        spots.iter().map(|spot| Err(missing(spot.number))).collect();
    // The number of the next line, and the text of the last one read.
    let (mut next, mut last) = (1, None);
    for (number, place) in wanted.into_iter().filter(|(number, _)| *number > 0) {
        while next < number {
            control
                .tick(next as usize)
                .map_err(|interrupt| io::Error::other(interrupt.to_string()))?;
            if reader.skip_until(b'\n')? == 0 {
                return Ok(found);
            }
            next += 1;
        }
        if next == number {
            let is_within = |spot: &Spot| spot.number == number && spot.within > 0;
            let most = match spots.iter().any(is_within) {
                true => SEARCHED_LINE,
                false => RAW_LINE,
            };
            last = Some(read_line(&mut reader, most)?).flatten();
            next += 1;
        }
        let Some(text) = &last else { return Ok(found) };
        found[place] = Ok(excerpt(text, spots[place].within));
    }
    Ok(found)
}

/// Of a line in our notation that holds several transactions, the one at this place from 1; else the beginning of the line.
fn excerpt(text: &str, within: u32) -> String {
    let is_ours = !text.trim_start().starts_with(['{', '[']);
    let found = match within {
        0 => None,
        nth => transaction(text, nth).filter(|_| is_ours),
    };
    let Some((begin, end)) = found else {
        return beginning(text).to_owned();
    };
    let name = text.split_once(':').map_or("", |(name, _)| name);
    let name = if name.len() < begin { name } else { "" };
    let [before, after] =
        [begin > name.len() + 2, end < text.len()].map(|is| if is { "… " } else { "" });
    format!("{name}: {before}{} {after}", beginning(&text[begin..end]))
        .trim_end()
        .to_owned()
}

/// Where the transaction at a place of a line begins and ends: in brackets, which lists within them and names in quotation
/// marks may have, too.
fn transaction(text: &str, nth: u32) -> Option<(usize, usize)> {
    let (mut depth, mut n, mut begin) = (0usize, 0, 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'[' => {
                depth += 1;
                if depth == 1 {
                    (n, begin) = (n + 1, at);
                }
            }
            b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && n == nth {
                    return Some((begin, at + 1));
                }
            }
            _ => {}
        }
    }
    None
}

/// As much of a text as is shown.
fn beginning(text: &str) -> &str {
    let mut end = text.len().min(RAW_LINE as usize);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The next line without its end, nothing at the end of the file.
fn read_line(reader: &mut impl BufRead, most: u64) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    if reader.by_ref().take(most).read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    if bytes.last() != Some(&b'\n') {
        reader.skip_until(b'\n')?;
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(Some(
        text.trim_end_matches(['\n', '\r'])
            .trim_start_matches('\u{feff}')
            .to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(bytes: &[u8], numbers: &[u32]) -> Vec<Option<String>> {
        let spot = |&number: &u32| Spot {
            part: None,
            unit: Unit::Line,
            number,
            within: 0,
        };
        let spots: Vec<Spot> = numbers.iter().map(spot).collect();
        let found = lines(bytes, &spots, &Control::new()).expect("bytes can be read");
        found.into_iter().map(Result::ok).collect()
    }

    #[test]
    fn lines_come_in_the_order_asked_for() {
        let text = "\u{feff}one\r\ntwo\n\nfour";
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            at(text.as_bytes(), &[4, 1, 2, 1, 3]),
            [
                some("four"),
                some("one"),
                some("two"),
                some("one"),
                some("")
            ]
        );
        assert_eq!(
            at(text.as_bytes(), &[5, 0, 2, 6]),
            [None, None, some("two"), None]
        );
        assert_eq!(at(b"", &[1]), [None]);
    }

    #[test]
    fn of_a_very_long_line_the_beginning_is_shown_and_the_next_is_found() {
        let mut bytes = vec![b'x'; 3 * RAW_LINE as usize];
        bytes.extend_from_slice(b"\nnext\n");
        let found = at(&bytes, &[1, 2]);
        assert_eq!(found[0].as_ref().map(String::len), Some(RAW_LINE as usize));
        assert_eq!(found[1].as_deref(), Some("next"));
    }

    #[test]
    fn of_a_line_with_many_transactions_the_one_in_question_is_shown() {
        let text = "bob: [w x 1] [r \"a]\" 2, r l [1 2]] [w y 3]!";
        assert_eq!(excerpt(text, 1), "bob: [w x 1] …");
        assert_eq!(excerpt(text, 2), "bob: … [r \"a]\" 2, r l [1 2]] …");
        assert_eq!(excerpt(text, 3), "bob: … [w y 3] …");
        assert_eq!(excerpt(text, 4), text);
        assert_eq!(excerpt("[[1], [2]]", 2), "[[1], [2]]");
    }

    #[test]
    fn a_pass_over_a_file_can_be_stopped() {
        let control = Control::new();
        control.stop();
        let bytes = b"x\n".repeat(10_000);
        let spot = Spot {
            part: None,
            unit: Unit::Line,
            number: 10_000,
            within: 0,
        };
        assert!(lines(&*bytes, &[spot], &control).is_err());
    }
}
