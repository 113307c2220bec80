//! What a sample leaves behind whose program was killed: runc's process, which waits for ever, and its cgroups. The name of
//! a cgroup says which program made it, so that only what belongs to no living program is removed.

use std::fs::{read_dir, remove_dir};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::check::hierarchy::hierarchies;
use crate::check::identity::start_time;
use crate::sys::{check_long, contents_at, pidfd_open};

/// The name of the container of a sample, and of its cgroups, begins with this; the program's PID and start time follow.
const PREFIX: &str = "probelet-enter-";

/// The name of the container that this program makes.
pub(super) fn own_name() -> Result<String, String> {
    let pid = std::process::id();
    let start = start_of("self").ok_or("its own start time cannot be read")?;
    Ok(format!("{PREFIX}{pid}-{start}"))
}

/// Ends the processes and removes the cgroups of samples whose program has ended. A line for each that stays.
pub(super) fn remove_leftovers() -> Result<Vec<String>, String> {
    let read = |path: &str| std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
    let places = hierarchies(&read("/proc/self/cgroup")?, &read("/proc/self/mountinfo")?);
    let mut kept = Vec::new();
    for mount in places.iter().map(|place| Path::new(&place.mount)).filter(|mount| mount.is_absolute()) {
        let entries = read_dir(mount).map_err(|error| format!("{}: {error}", mount.display()))?;
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        for name in names.filter(|name| is_leftover(name)) {
            kept.extend(remove(&mount.join(name)).err());
        }
    }
    Ok(kept)
}

/// Whether a cgroup is one of a sample whose program has ended.
fn is_leftover(name: &str) -> bool {
    let Some((pid, start)) = name.strip_prefix(PREFIX).and_then(|owner| owner.split_once('-')) else { return false };
    match (pid.parse::<u32>(), start.parse::<u64>()) {
        (Ok(pid), Ok(start)) => start_of(&pid.to_string()) != Some(start),
        _ => false,
    }
}

fn remove(folder: &Path) -> Result<(), String> {
    let began = Instant::now();
    loop {
        kill_members(folder);
        match remove_dir(folder) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if began.elapsed() >= DYING_TIME_MAX => return Err(format!("{}: {error}", folder.display())),
            // A process that was killed is in its cgroup until somebody has reaped it.
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn kill_members(folder: &Path) {
    for pid in members(folder) {
        let Ok(pidfd) = pidfd_open(pid) else { continue };
        // The PID may have been another process's when the pidfd was opened.
        if members(folder).contains(&pid) {
            // SAFETY: the call takes numbers and a null pointer. A process that has ended is as good.
            let _ = check_long(unsafe {
                libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), libc::SIGKILL, std::ptr::null::<u8>(), 0)
            });
        }
    }
}

fn members(folder: &Path) -> Vec<i32> {
    let text = std::fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn start_of(process: &str) -> Option<u64> {
    let path = std::ffi::CString::new(format!("/proc/{process}/stat")).ok()?;
    start_time(&contents_at(libc::AT_FDCWD, &path).ok()?)
}

const DYING_TIME_MAX: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_a_living_program_and_what_has_another_name_stays() {
        let own = own_name().unwrap();
        assert!(!is_leftover(&own));
        assert!(is_leftover(&format!("{own}1")), "the program that had this PID before");
        for other in ["probelet-enter-1", "probelet-enter-a-b", "probelet-enter-", "kubepods", "probelet-0"] {
            assert!(!is_leftover(other), "{other}");
        }
    }
}
