//! The seccomp filter that the runc of this node loads for a profile, read from a process of that runc.
//!
//! `probelet-enter filter SHIM START RUNC` makes a container that runs nothing, with the specification on standard input,
//! in the namespaces of the shim; its process is traced from before its last system calls. What it has loaded when it
//! executes its program, or ends because there is none, is written to standard output: the flags, then the instructions.
//! Files lie in a mount namespace of this program's own and go with it; the process dies with its tracer. If this program is
//! killed before it traces the process, or before it has removed the cgroups, `probelet-enter sweep` removes them.

mod bundle;
mod leftover;
mod patience;
mod place;
mod runc;
mod trace;

use std::io::{Read, Write};
use std::process::ExitCode;

use self::bundle::Bundle;
use self::leftover::{own_name, remove_leftovers};
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

/// Removes what samples have left whose program was killed.
pub(crate) fn sweep() -> ExitCode {
    let why = match remove_leftovers() {
        Ok(kept) if kept.is_empty() => return ExitCode::SUCCESS,
        Ok(kept) => kept.join("; "),
        Err(why) => why,
    };
    eprintln!("{why}");
    ExitCode::FAILURE
}

fn sample(arguments: &[String]) -> Result<Vec<u8>, String> {
    let [shim, start, runc] = arguments else { return Err("filter takes SHIM START RUNC".to_owned()) };
    let shim = shim.parse().map_err(|_| format!("{shim:?} is no PID"))?;
    let start = start.parse().map_err(|_| format!("{start:?} is no start time"))?;
    let mut specification = Vec::new();
    let read = std::io::stdin().take(SPECIFICATION_BYTES_MAX).read_to_end(&mut specification);
    read.map_err(|error| format!("standard input cannot be read: {error}"))?;
    enter_place_of(shim, start)?;
    let name = own_name()?;
    let specification = with_name(&specification, &name)?;
    let bundle = Bundle::new(&specification).map_err(|error| format!("the bundle cannot be written: {error}"))?;
    let runc = Runc::new(runc, &bundle, name);
    let filter = runc.create().and_then(|process| filter_of(&runc, process));
    // A failure before this one is the reason.
    let deleted = runc.delete();
    filter.and_then(|filter| deleted.map(|()| filter))
}

/// The specification with the name of this sample's cgroup, for which it has a word in capitals: its writer does not know
/// the PID of this program.
fn with_name(specification: &[u8], name: &str) -> Result<Vec<u8>, String> {
    let place = specification.windows(PLACE.len()).position(|word| word == PLACE);
    let (before, after) = specification.split_at(place.ok_or("the specification has no place for a name")?);
    Ok([before, name.as_bytes(), &after[PLACE.len()..]].concat())
}

const PLACE: &[u8] = b"CGROUP";

fn filter_of(runc: &Runc<'_>, process: i32) -> Result<Vec<u8>, String> {
    let traced = Traced::seize(process)?;
    let _starting = runc.start()?;
    traced.run_to_its_program()?;
    traced.filter()
}
