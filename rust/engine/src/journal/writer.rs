//! Writes a journal: appends changes, and replaces a file that has grown to twice its contents by a new one, which it
//! writes beside the old file and renames. After a failed write it appends no more, because it is unknown how much of
//! the write arrived: the next write is a whole new file.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::changes::Changes;
use super::contents::Contents;
use super::format::{self, HEADER};
use crate::open;

/// What was written so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Records appended.
    pub records: u64,
    /// Whole new files.
    pub snapshots: u64,
    /// Attempts to write that failed.
    pub errors: u64,
    /// Records that were too long to keep.
    pub refused: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    contents: Contents,
    /// None before the first write and after one that failed.
    file: Option<File>,
    /// The length from which the file is written anew.
    limit: u64,
    tally: Tally,
}

impl Writer {
    /// Goes on with the journal at `path`, which says `contents` up to the byte `whole`. Nothing is written yet.
    pub fn new(path: &Path, contents: Contents, whole: u64) -> Self {
        let mut writer = Self { path: path.into(), contents, file: None, limit: 0, tally: Tally::default() };
        writer.file = (whole > 0).then(|| writer.reopen(whole).ok()).flatten();
        writer
    }

    /// What the journal says, or will once it can be written.
    pub const fn contents(&self) -> &Contents {
        &self.contents
    }

    /// What was written so far.
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    /// Writes changes. It keeps changes that could not be written, and the next call writes them.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn write(&mut self, changes: impl Into<Changes>) -> std::io::Result<()> {
        let Changes { is_all, records: changes } = changes.into();
        if is_all {
            // What is not among the records is gone. Only a whole new file can say that.
            (self.contents, self.file) = (Contents::default(), None);
        }
        let mut bytes = Vec::new();
        let mut records = 0;
        for record in changes {
            let place = bytes.len();
            if !format::append(&mut bytes, &record) {
                self.tally.refused += 1;
            } else if self.contents.apply(record) {
                records += 1;
            } else {
                bytes.truncate(place);
            }
        }
        let result = match self.file.take() {
            Some(file) if self.tally.bytes + bytes.len() as u64 <= self.limit => self.append(file, &bytes),
            _ => self.snapshot(),
        };
        match result {
            Ok(file) => {
                self.file = Some(file);
                self.tally.records += records;
                Ok(())
            }
            Err(error) => {
                self.tally.errors += 1;
                Err(error)
            }
        }
    }

    fn append(&mut self, mut file: File, bytes: &[u8]) -> std::io::Result<File> {
        file.write_all(bytes)?;
        self.tally.bytes += bytes.len() as u64;
        Ok(file)
    }

    fn snapshot(&mut self) -> std::io::Result<File> {
        let mut bytes = HEADER.to_vec();
        for record in self.contents.records() {
            format::append(&mut bytes, &record);
        }
        let fresh = self.path.with_extension("new");
        let written = open::fresh(&fresh).and_then(|mut file| {
            file.write_all(&bytes)?;
            std::fs::rename(&fresh, &self.path)?;
            Ok(file)
        });
        if written.is_err() {
            // The incomplete file would only take the room that the next attempt needs.
            let _ = std::fs::remove_file(&fresh);
        }
        let file = written?;
        self.tally.snapshots += 1;
        self.tally.bytes = bytes.len() as u64;
        self.limit = self.tally.bytes * 2 + SLACK;
        Ok(file)
    }

    fn reopen(&mut self, whole: u64) -> std::io::Result<File> {
        let mut file = open::regular(&self.path, OpenOptions::new().write(true))?;
        file.set_len(whole)?;
        file.seek(SeekFrom::End(0))?;
        self.tally.bytes = whole;
        // It is unknown how much of the file is out of date, so a file this long is replaced soon.
        self.limit = whole + SLACK;
        Ok(file)
    }
}

/// Bytes that a journal may grow by, however small its contents: some thousand changes of a small node.
const SLACK: u64 = 256 << 10;
