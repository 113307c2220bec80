//! Reads the files of a recording, and says what can be wrong with them.

use std::fmt;

use super::block::{Decoder, PIECE_BYTES_MAX, TIME_US_MAX};
use super::gather::Gather;
use super::segment::{HEADER, Start};
use super::stretch::Stretch;
use crate::frame;

/// A recording that was read.
#[derive(Debug, Default)]
pub struct Recording {
    /// The node.
    pub node: Box<str>,
    /// The stretches without a loss, in order. A start of the engine begins one, and so does a gap.
    pub stretches: Vec<Stretch>,
    /// Entries that were lost, because the disk hung or was full.
    pub lost: u64,
    /// Where a segment ends in the middle of a block because its engine was killed: the last moments are missing.
    pub cuts: Vec<String>,
}

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

/// Reads files that were read before: each a name for messages, and bytes.
///
/// # Errors
/// As [`Reader::file`].
pub fn read_files(files: &[(&str, &[u8])]) -> Result<Recording, ReadError> {
    let mut reader = Reader::default();
    for (name, bytes) in files {
        reader.file(name, bytes)?;
    }
    Ok(reader.end())
}

/// Reads segments in order.
#[derive(Debug, Default)]
pub struct Reader {
    recording: Recording,
    gather: Option<Gather>,
    /// The start of the last segment.
    last: Option<Start>,
    /// Where the last segment was cut: no segment may go on after it.
    cut: Option<ReadError>,
}

impl Reader {
    /// Reads the segments of one file, which messages call `name`.
    ///
    /// # Errors
    /// It is no recording, it does not go on after the files before it, or it is damaged otherwise than at the end of an
    /// engine's last segment.
    pub fn file(&mut self, name: &str, bytes: &[u8]) -> Result<(), ReadError> {
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

    /// The recording of all files so far.
    pub fn end(mut self) -> Recording {
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

const CUT: &str = "it ends in the middle of a block";
