//! Finding and starting the program, as Go's `exec.LookPath` and runc do.
//!
//! Only the usual case is decided here. A program that is missing, that cannot be executed or that would be found below
//! the working directory is left to the runtime, so that the error is the runtime's own.

use std::ffi::CString;
use std::io::Error;
use std::mem::MaybeUninit;

use probelet_enter_protocol::answer::Step;

use super::environment::value_of;
use super::report::{Failed, at};
use crate::sys::check;

/// The path of the program that the first word names.
pub(super) fn find_program<'a>(
    mut argv: impl Iterator<Item = &'a [u8]>,
    environment: &[CString],
) -> Result<CString, Failed> {
    let missing = || Failed::because(Step::Program, libc::ENOENT);
    let name = argv.next().ok_or_else(missing)?;
    if name.contains(&b'/') {
        let path = CString::new(name).map_err(|_| missing())?;
        return if is_executable(&path) { Ok(path) } else { Err(missing()) };
    }
    for directory in value_of(environment, b"PATH").ok_or_else(missing)?.split(|byte| *byte == b':') {
        if !directory.starts_with(b"/") {
            return Err(missing());
        }
        let path = CString::new([directory, b"/", name].concat()).map_err(|_| missing())?;
        if is_executable(&path) {
            return Ok(path);
        }
    }
    Err(missing())
}

/// A file that somebody may execute; whether this user may is the kernel's to say.
fn is_executable(path: &CString) -> bool {
    let mut found = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the path ends in NUL and the structure is read only if it was written.
    let mode = unsafe {
        if check(libc::stat(path.as_ptr(), found.as_mut_ptr())).is_err() {
            return false;
        }
        found.assume_init().st_mode
    };
    mode & libc::S_IFMT != libc::S_IFDIR && mode & 0o111 != 0
}

/// Replaces this fork by the program. The pipe of reports closes with that; an error is all that comes back.
pub(super) fn start_program<'a>(
    program: &CString,
    argv: impl Iterator<Item = &'a [u8]>,
    environment: &[CString],
) -> Failed {
    let Ok(argv) = argv.map(CString::new).collect::<Result<Vec<_>, _>>() else {
        return Failed::because(Step::Program, libc::EINVAL);
    };
    let (argv, environment) = (pointers(&argv), pointers(environment));
    // SAFETY: both lists end in null, and their strings live until the program is replaced.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), environment.as_ptr()) };
    at(Step::Program)(Error::last_os_error())
}

fn pointers(texts: &[CString]) -> Vec<*const libc::c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, path: &str) -> Result<String, i32> {
        let environment = [CString::new(format!("PATH={path}")).unwrap()];
        let found = find_program([name.as_bytes()].into_iter(), &environment);
        found.map(|path| path.into_string().unwrap()).map_err(|failed| failed.errno)
    }

    #[test]
    fn a_name_is_looked_for_in_each_directory_of_path() {
        assert_eq!(found("env", "/nonexistent:/usr/bin:/bin").unwrap(), "/usr/bin/env");
        assert_eq!(found("/usr/bin/env", "").unwrap(), "/usr/bin/env");
    }

    #[test]
    fn what_is_no_program_is_left_to_the_runtime() {
        for (name, path) in [
            ("no-such-program", "/usr/bin"),
            ("env", ""),
            // A relative directory comes first: Go finds the program and refuses it.
            ("env", ".:/usr/bin"),
            ("env", ":/usr/bin"),
            // A directory can be entered, not executed.
            ("bin", "/usr"),
            ("passwd", "/etc"),
        ] {
            assert_eq!(found(name, path), Err(libc::ENOENT), "{name} in {path}");
        }
    }

    #[test]
    fn without_path_nothing_is_found() {
        assert!(find_program([b"env".as_slice()].into_iter(), &[]).is_err());
    }
}
