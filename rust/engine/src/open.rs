//! Opens the files that probelet writes for itself. A link, directory, pipe or device in the place of a file gives an error at once: following a
//! link would write a file that another program owns, and opening a pipe waits for its other end.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file.
///
/// # Errors
/// `path` is anything else, or cannot be opened.
pub(crate) fn regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path).map_err(named)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

/// Creates a file for its owner alone; an earlier one is emptied.
///
/// # Errors
/// `path` is a link, or the file cannot be created.
pub(crate) fn fresh(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    options.open(path).map_err(named)
}

/// The system reports a link as too many links.
fn named(error: io::Error) -> io::Error {
    if error.raw_os_error() == Some(libc::ELOOP) { io::Error::other("it is a symbolic link") } else { error }
}
