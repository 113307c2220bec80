//! Calls of runc.

use std::fs::read_to_string;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::bundle::Bundle;
use super::patience::wait;
use crate::sys::prctl;

pub(super) struct Runc<'a> {
    program: &'a str,
    bundle: &'a Bundle,
    name: String,
}

impl<'a> Runc<'a> {
    pub(super) const fn new(program: &'a str, bundle: &'a Bundle, name: String) -> Self {
        Self { program, bundle, name }
    }

    /// Makes the container; returns its process, which waits for `start`.
    pub(super) fn create(&self) -> Result<i32, String> {
        let pid = self.file("pid");
        self.call("create", &["--bundle".as_ref(), &self.file(""), "--pid-file".as_ref(), &pid])?;
        let text = read_to_string(pid).map_err(|error| format!("runc wrote no PID: {error}"))?;
        text.trim().parse().map_err(|_| format!("runc wrote the PID {text:?}"))
    }

    /// Lets the process go on to its program, which takes its tracer: this does not wait.
    pub(super) fn start(&self) -> Result<Call, String> {
        self.spawn("start", &[]).map(Call)
    }

    /// Ends the process and removes its cgroups.
    pub(super) fn delete(&self) -> Result<(), String> {
        self.call("delete", &["--force".as_ref()])
    }

    fn file(&self, name: &str) -> PathBuf {
        self.bundle.file(name)
    }

    /// Calls runc and waits for its end.
    fn call(&self, verb: &str, options: &[&Path]) -> Result<(), String> {
        let what = format!("runc {verb}");
        let began = Instant::now();
        let mut running = Call(self.spawn(verb, options)?);
        loop {
            match running.0.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(_)) => return Err(format!("{what}: {}", last_line(&self.log(verb)))),
                Ok(None) => wait(began, &what)?,
                Err(error) => return Err(format!("{what}: {error}")),
            }
        }
    }

    /// The container's process inherits these descriptors, so none of them may be a pipe that somebody reads to its end.
    fn spawn(&self, verb: &str, options: &[&Path]) -> Result<Child, String> {
        let mut command = Command::new(self.program);
        command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.arg("--root").arg(self.file("state")).arg("--log").arg(self.log(verb)).arg(verb).args(options);
        let parent = std::process::id();
        // SAFETY: both calls take numbers and nothing else is done between fork and exec.
        unsafe {
            // A runc that outlived this program would make a container that nobody removes.
            command.pre_exec(move || {
                prctl(libc::PR_SET_PDEATHSIG, u64::from(libc::SIGKILL.unsigned_abs()), 0)?;
                if std::os::unix::process::parent_id() == parent { Ok(()) } else { Err(ErrorKind::NotFound.into()) }
            });
        }
        command.arg(&self.name).spawn().map_err(|error| format!("{} cannot be started: {error}", self.program))
    }

    fn log(&self, verb: &str) -> PathBuf {
        self.file(&format!("{verb}.log"))
    }
}

/// A call of runc, which ends at the latest when this is dropped.
pub(super) struct Call(Child);

impl Drop for Call {
    fn drop(&mut self) {
        // It has ended by itself if the first fails; the second then returns at once.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn last_line(log: &Path) -> String {
    let text = read_to_string(log).unwrap_or_default();
    text.lines().last().unwrap_or("it failed without a reason").to_owned()
}
