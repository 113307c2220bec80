//! Opens the files of a recording.

use std::fs::{self, OpenOptions};
use std::io::Read;
use std::path::Path;

use probelet_play::recording::{ReadError, Reader, Recording, number_of};

use crate::open;

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

fn bytes_of(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open::regular(path, OpenOptions::new().read(true))?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(std::io::Error::other(format!("it is longer than {FILE_BYTES_MAX} bytes")));
    }
    Ok(bytes)
}

/// Larger files would take more memory than most machines have.
const FILE_BYTES_MAX: u64 = 1 << 30;
