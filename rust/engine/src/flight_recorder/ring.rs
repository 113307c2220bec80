//! Writes segments into a directory, and deletes the oldest so that the ring keeps its size.

use std::collections::VecDeque;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use probelet_play::frame;
use probelet_play::recording::{Encoder, Entry, Event, PIECE_BYTES, Start, file_name, number_of};

use crate::open;

/// What was written so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Attempts on disk.
    pub attempts: u64,
    /// Bytes written.
    pub written: u64,
    /// Bytes of all segments that are kept.
    pub bytes: u64,
    /// Segments begun.
    pub segments: u64,
    /// Writes that failed.
    pub errors: u64,
}

/// A ring that is being written.
#[derive(Debug)]
pub struct Ring {
    directory: PathBuf,
    /// Bytes that all segments may have.
    size: u64,
    /// The segments' numbers and lengths, the oldest first; None before the directory was read.
    kept: Option<VecDeque<(u64, u64)>>,
    open: Option<Open>,
    tally: Tally,
}

/// The segment that is being written.
#[derive(Debug)]
struct Open {
    file: File,
    encoder: Encoder,
    /// Bytes of the pods' states, which each segment repeats.
    states: u64,
    bytes: u64,
}

impl Ring {
    /// A ring of at most `size` bytes in `directory`, which is made if it is missing. Nothing is read or written yet.
    pub fn new(directory: &Path, size: u64) -> Self {
        Self { directory: directory.into(), size, kept: None, open: None, tally: Tally::default() }
    }

    /// What was written so far.
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    /// Whether the open segment has had its share, so that another one should begin.
    pub fn is_full(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.bytes >= self.share(open.states))
    }

    /// A sixteenth of the ring; more if the pods' states would otherwise take more than a quarter of it.
    fn share(&self, states: u64) -> u64 {
        (4 * states).clamp(self.size / 16, self.size / 2)
    }

    /// Writes entries. The first entry of a ring, and the first after an error, is a segment's start.
    ///
    /// # Errors
    /// They could not be written, or only a part of them.
    pub fn write(&mut self, entries: &[Entry]) -> io::Result<()> {
        let result = self.write_all(entries);
        if result.is_err() {
            self.open = None;
            self.tally.errors += 1;
        }
        result
    }

    fn write_all(&mut self, entries: &[Entry]) -> io::Result<()> {
        let (mut bytes, mut attempts) = (Vec::new(), 0);
        for entry in entries {
            if let Entry::Segment(start) = entry {
                self.append(&mut bytes)?;
                self.begin(start)?;
                continue;
            }
            let open = self.open.as_mut().ok_or_else(|| io::Error::other("no segment has begun"))?;
            let before = open.encoder.piece().len();
            // An event that is too long for a block is of no pod that an API server would take.
            open.encoder.add(entry);
            attempts += u64::from(matches!(entry, Entry::Attempt(_)));
            if matches!(entry, Entry::Event { event, .. } if matches!(**event, Event::Pod(_) | Event::OptedPod(..))) {
                open.states += (open.encoder.piece().len() - before) as u64;
            }
            if open.encoder.piece().len() >= PIECE_BYTES {
                open.close_block(&mut bytes);
            }
        }
        self.append(&mut bytes)?;
        self.tally.attempts += attempts;
        Ok(())
    }

    /// Writes the blocks so far, the one that is open included.
    fn append(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let Some(open) = self.open.as_mut() else { return Ok(()) };
        open.close_block(bytes);
        let length = bytes.len() as u64;
        if length == 0 {
            return Ok(());
        }
        self.make_room(length)?;
        let open = self.open.as_mut().expect("it was open above");
        open.file.write_all(bytes)?;
        open.bytes += length;
        if let Some((_, kept)) = self.kept.as_mut().and_then(VecDeque::back_mut) {
            *kept += length;
        }
        self.tally.written += length;
        self.tally.bytes += length;
        bytes.clear();
        Ok(())
    }

    fn begin(&mut self, start: &Start) -> io::Result<()> {
        self.open = None;
        if self.kept.is_none() {
            self.kept = Some(found(&self.directory)?);
            self.tally.bytes = self.kept.iter().flatten().map(|(_, bytes)| bytes).sum();
        }
        let bytes = start.bytes();
        self.make_room(bytes.len() as u64)?;
        let kept = self.kept.as_mut().expect("it was filled above");
        let number = kept.back().map_or(1, |(number, _)| number + 1);
        let path = self.directory.join(file_name(number));
        let mut options = OpenOptions::new();
        let mut file = open::regular(&path, options.write(true).create_new(true).mode(0o600))?;
        kept.push_back((number, bytes.len() as u64));
        file.write_all(&bytes)?;
        self.tally.segments += 1;
        self.tally.written += bytes.len() as u64;
        self.tally.bytes += bytes.len() as u64;
        self.open = Some(Open { file, encoder: Encoder::new(start), states: 0, bytes: bytes.len() as u64 });
        Ok(())
    }

    /// Deletes the oldest segments until `more` bytes fit; the open one stays.
    fn make_room(&mut self, more: u64) -> io::Result<()> {
        let stays = usize::from(self.open.is_some());
        let Some(kept) = self.kept.as_mut() else { return Ok(()) };
        while self.tally.bytes + more > self.size && kept.len() > stays {
            let Some((number, bytes)) = kept.pop_front() else { break };
            match fs::remove_file(self.directory.join(file_name(number))) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    kept.push_front((number, bytes));
                    return Err(error);
                }
                _ => self.tally.bytes -= bytes,
            }
        }
        Ok(())
    }
}

impl Open {
    fn close_block(&mut self, bytes: &mut Vec<u8>) {
        if !self.encoder.piece().is_empty() {
            frame::append(bytes, self.encoder.piece());
            self.encoder.next();
        }
    }
}

/// The segments that are there, the oldest first. Makes the directory for its owner alone if it is missing.
fn found(directory: &Path) -> io::Result<VecDeque<(u64, u64)>> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    if !fs::symlink_metadata(directory)?.is_dir() {
        return Err(io::Error::other("it is not a directory"));
    }
    let mut segments = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if let Some(number) = number_of(&entry.path()) {
            segments.push((number, entry.metadata()?.len()));
        }
    }
    segments.sort_unstable();
    Ok(segments.into())
}
