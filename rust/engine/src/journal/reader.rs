//! Reads a journal back: its contents, or why the file is not believed. It never panics and never guesses.

use std::fs::OpenOptions;
use std::io::Read;
use std::path::Path;

use probelet_play::history::HistoryRecord;
use serde_json::{Value, json};

use super::contents::Contents;
use super::format::{self, HEADER, Next, Start};
use crate::open;

/// A journal that was read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// What it says.
    pub contents: Contents,
    /// The length of the whole records in bytes. 0 if there is no journal.
    pub whole: u64,
    /// Whether it ends in the middle of a record or of its header: the last moments before a kill are missing.
    pub cut: bool,
    /// Whether an earlier version of probelet wrote it: the next write replaces the whole file.
    pub is_older: bool,
}

/// Why a file is not believed; text for one line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalError(pub String);

impl Reading {
    /// All of it as a JSON object, for tools.
    pub fn to_json(&self) -> Vec<u8> {
        let workers = self.contents.workers.iter().map(|(key, memory)| {
            json!({
                "pod_uid": key.pod_uid, "container": key.container, "type": key.probe_type.name(),
                "container_id": memory.container_id, "result": memory.result.map(|result| result.name()),
                "last_result": memory.last_result.name(), "result_run": memory.result_run,
                "on_hold": memory.on_hold, "has_initialized": memory.has_initialized,
                "in_doubt": memory.in_doubt,
                "attempts": self.contents.histories.get(key).map_or(0, HistoryRecord::len),
            })
        });
        let backoff = self.contents.backoff.iter().map(|(key, entry)| {
            json!({
                "key": key, "delay_ns": entry.delay.as_nanos() as u64, "last_start_ns": entry.last_start_ns,
                "step": entry.step,
            })
        });
        let (workers, backoff): (Vec<Value>, Vec<Value>) = (workers.collect(), backoff.collect());
        json!({"workers": workers, "backoff": backoff, "cut": self.cut}).to_string().into_bytes()
    }
}

/// Reads a journal's bytes.
///
/// # Errors
/// They are not a journal of this version, or damaged otherwise than at their end.
pub fn read(bytes: &[u8]) -> Result<Reading, JournalError> {
    let is_older = match format::start(bytes) {
        Start::Journal => false,
        Start::Older => true,
        Start::Cut => return Ok(Reading { cut: !bytes.is_empty(), ..Reading::default() }),
        Start::OtherVersion => return Err(JournalError("it was written by another version of probelet".into())),
        Start::Foreign => return Err(JournalError("it is not a journal".into())),
    };
    let mut reading = Reading { whole: HEADER.len() as u64, is_older, ..Reading::default() };
    loop {
        let at = reading.whole as usize;
        match format::next(&bytes[at..]) {
            Next::End => return Ok(reading),
            Next::Cut => return Ok(Reading { cut: true, ..reading }),
            Next::Record(record, length) => {
                reading.contents.apply(record);
                reading.whole += length as u64;
            }
            Next::Wrong(why) => return Err(JournalError(format!("{why}, at byte {at}"))),
        }
    }
}

/// Reads a journal's file; a missing file gives an empty reading.
///
/// # Errors
/// As [`read`]; or it is no regular file, cannot be read, or is longer than any journal.
pub fn read_file(path: &Path) -> Result<Reading, JournalError> {
    let mut file = match open::regular(path, OpenOptions::new().read(true)) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Reading::default()),
        Err(error) => return Err(JournalError(format!("it cannot be opened: {error}"))),
    };
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(JournalError("it is not a file".into()));
    }
    let mut bytes = Vec::new();
    if let Err(error) = file.by_ref().take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes) {
        return Err(JournalError(format!("it cannot be read: {error}")));
    }
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(JournalError(format!("it is longer than {FILE_BYTES_MAX} bytes")));
    }
    read(&bytes)
}

/// Ten times what 100,000 workers need when the file is at its longest.
const FILE_BYTES_MAX: u64 = 512 << 20;
