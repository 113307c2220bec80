//! The seccomp filter that the runc of this node loads for a profile, read from a process of that runc.
//!
//! `probelet-enter filter SHIM START RUNC` makes a container that runs nothing, with the specification on standard input,
//! in the namespaces of the shim; its process is traced from before its last system calls. What it has loaded when it
//! executes its program, or ends because there is none, is written to standard output: the flags, then the instructions.
//! Files lie in a mount namespace of this program's own and go with it; the process dies with its tracer.

mod bundle;
mod patience;
mod place;
mod runc;
mod trace;

use std::io::{Read, Write};
use std::process::ExitCode;

use self::bundle::Bundle;
use self::place::enter_place_of;
use self::runc::Runc;
use self::trace::Traced;

/// A specification with a profile of every system call has 50 KB.
const SPECIFICATION_BYTES_MAX: u64 = 1 << 20;

pub(crate) fn main(arguments: &[String]) -> ExitCode {
    match sample(arguments).and_then(|filter| std::io::stdout().write_all(&filter).map_err(|error| error.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn sample(arguments: &[String]) -> Result<Vec<u8>, String> {
    let [shim, start, runc] = arguments else { return Err("filter takes SHIM START RUNC".to_owned()) };
    let shim = shim.parse().map_err(|_| format!("{shim:?} is no PID"))?;
    let start = start.parse().map_err(|_| format!("{start:?} is no start time"))?;
    let mut specification = Vec::new();
    let read = std::io::stdin().take(SPECIFICATION_BYTES_MAX).read_to_end(&mut specification);
    read.map_err(|error| format!("standard input cannot be read: {error}"))?;
    enter_place_of(shim, start)?;
    let bundle = Bundle::new(&specification).map_err(|error| format!("the bundle cannot be written: {error}"))?;
    let runc = Runc::new(runc, &bundle);
    let filter = runc.create().and_then(|process| filter_of(&runc, process));
    // A failure before this one is the reason.
    let deleted = runc.delete();
    filter.and_then(|filter| deleted.map(|()| filter))
}

fn filter_of(runc: &Runc<'_>, process: i32) -> Result<Vec<u8>, String> {
    let traced = Traced::seize(process)?;
    let _starting = runc.start()?;
    traced.run_to_its_program()?;
    traced.filter()
}
