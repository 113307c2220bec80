//! The files of a recording, and what can be wrong with them.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::path::Path;

use super::super::block::{Decoder, PIECE_BYTES_MAX, TIME_US_MAX};
use super::super::segment::{HEADER, Start, number_of};
use super::gather::Gather;
use super::recording::Recording;
use crate::disk::{frame, open};

/// Why a recording is not believed; one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The file, and the byte in it if it has one.
    pub place: String,
    /// What is wrong.
    pub why: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.why)
    }
}

/// Reads a directory of segments, or one file.
///
/// # Errors
/// It cannot be read, it is no recording, or it is damaged otherwise than at the end of an engine's last segment.
pub fn read_path(path: &Path) -> Result<Recording, ReadError> {
    let failed = |path: &Path, error: &std::io::Error| ReadError {
        place: path.display().to_string(),
        why: format!("it cannot be read: {error}"),
    };
    let mut paths = vec![path.to_path_buf()];
    if path.is_dir() {
        let entries = fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let entries = entries.map_err(|error| failed(path, &error))?;
        paths = entries.iter().map(fs::DirEntry::path).filter(|path| number_of(path).is_some()).collect();
        paths.sort_by_key(|path| number_of(path));
        if paths.is_empty() {
            let why = "no segment of a flight recorder is in this directory".into();
            return Err(ReadError { place: path.display().to_string(), why });
        }
    }
    let mut reader = Reader::default();
    for path in paths {
        let bytes = bytes_of(&path).map_err(|error| failed(&path, &error))?;
        reader.file(&path.display().to_string(), &bytes)?;
    }
    Ok(reader.end())
}

/// Reads files that were read before: each a name for messages, and bytes.
///
/// # Errors
/// As [`read_path`].
pub fn read_files(files: &[(&str, &[u8])]) -> Result<Recording, ReadError> {
    let mut reader = Reader::default();
    for (name, bytes) in files {
        reader.file(name, bytes)?;
    }
    Ok(reader.end())
}

fn bytes_of(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open::regular(path, OpenOptions::new().read(true))?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(std::io::Error::other(format!("it is longer than {FILE_BYTES_MAX} bytes")));
    }
    Ok(bytes)
}

/// Reads segments in order.
#[derive(Default)]
struct Reader {
    recording: Recording,
    gather: Option<Gather>,
    /// The start of the last segment.
    last: Option<Start>,
    /// Where the last segment was cut: no segment may go on after it.
    cut: Option<ReadError>,
}

impl Reader {
    /// Reads the segments of one file.
    fn file(&mut self, name: &str, bytes: &[u8]) -> Result<(), ReadError> {
        let mut at = 0;
        let mut decoder: Option<Decoder> = None;
        let wrong = |at: usize, why: String| ReadError { place: format!("{name}: byte {at}"), why };
        while at < bytes.len() || decoder.is_none() {
            let rest = &bytes[at..];
            if decoder.is_none() || rest.starts_with(&HEADER) {
                let (start, length) = match header(rest).map_err(|why| wrong(at, why))? {
                    Some(found) => found,
                    None => return self.cut(wrong(at, CUT.into())),
                };
                decoder = Some(self.begin(start).map_err(|why| wrong(at, why))?);
                at += length;
                continue;
            }
            match frame::next(rest, PIECE_BYTES_MAX) {
                frame::Next::End => break,
                frame::Next::Cut => return self.cut(wrong(at, CUT.into())),
                frame::Next::Wrong(why) => return Err(wrong(at, why.into())),
                frame::Next::Piece(piece) => {
                    let (decoder, gather) = (decoder.as_mut().expect("a header came"), self.gather.as_mut());
                    let gather = gather.expect("a header came");
                    decoder.block(piece, |entry| gather.take(entry)).map_err(|why| wrong(at, why))?;
                    at += frame::HEAD + piece.len();
                }
            }
        }
        Ok(())
    }

    fn cut(&mut self, error: ReadError) -> Result<(), ReadError> {
        self.recording.cuts.push(error.to_string());
        self.cut = Some(error);
        Ok(())
    }

    /// A segment begins; one that does not go on after the last one begins a stretch.
    fn begin(&mut self, start: Start) -> Result<Decoder, String> {
        let decoder = Decoder::new(&start)?;
        match &self.last {
            None => self.recording.node.clone_from(&start.node),
            Some(last) if last.node != start.node => {
                return Err(format!("it is of the node {:?}, and what came before of {:?}", start.node, last.node));
            }
            Some(last) if last.engine == start.engine && start.number <= last.number => {
                let (number, before) = (start.number, last.number);
                return Err(format!("segment {number} of this engine comes after its segment {before}"));
            }
            Some(_) => {}
        }
        let follows = |last: &Start| last.engine == start.engine && last.number + 1 == start.number && start.continues;
        let goes_on = self.last.as_ref().is_some_and(follows);
        if goes_on && let Some(ReadError { place, why }) = self.cut.take() {
            return Err(format!("this segment goes on after one that is damaged, {place}: {why}"));
        }
        self.cut = None;
        self.recording.lost = self.recording.lost.saturating_add(start.lost);
        match self.gather.as_mut().filter(|_| goes_on) {
            Some(gather) => gather.go_on(&start),
            None => self.stretch_ends(Gather::new(start.clone())),
        }
        self.last = Some(start);
        Ok(decoder)
    }

    fn stretch_ends(&mut self, next: Gather) {
        let ended = self.gather.replace(next);
        self.recording.stretches.extend(ended.map(Gather::end));
    }

    fn end(mut self) -> Recording {
        self.recording.stretches.extend(self.gather.take().map(Gather::end));
        self.recording
    }
}

/// The start of a segment at the start of `bytes`, and how long it is; None if the file ends before it does.
fn header(bytes: &[u8]) -> Result<Option<(Start, usize)>, String> {
    let name = HEADER.len() - 2;
    match bytes.get(..HEADER.len()) {
        Some(header) if header == HEADER => {}
        Some(header) if header[..name] == HEADER[..name] => {
            return Err("another version of probelet wrote it, with another format".into());
        }
        None if HEADER.starts_with(bytes) => return Ok(None),
        _ => return Err("it is not a recording of probelet's flight recorder".into()),
    }
    let piece = match frame::next(&bytes[HEADER.len()..], PIECE_BYTES_MAX) {
        frame::Next::End | frame::Next::Cut => return Ok(None),
        frame::Next::Wrong(why) => return Err(why.into()),
        frame::Next::Piece(piece) => piece,
    };
    match postcard::take_from_bytes::<Start>(piece) {
        Ok((start, [])) if start.at_us <= TIME_US_MAX && start.started_us <= start.at_us && start.number > 0 => {
            Ok(Some((start, HEADER.len() + frame::HEAD + piece.len())))
        }
        _ => Err("the start of a segment cannot be read".into()),
    }
}

/// Larger files would take more memory than most machines have.
const FILE_BYTES_MAX: u64 = 1 << 30;

const CUT: &str = "it ends in the middle of a block";
