//! `probelet-target`: a server for measurements, in a process of its own, so that its CPU does not count as the prober's.
//!
//! It prints `port N`, or `error: ` and the reason why it cannot serve. Then it reads one command per line: `statistics`
//! prints a line of JSON; `forget` begins to count anew and prints `{}`. It ends when its input ends, so that no target
//! outlives the prober that started it.

mod answer;
mod arguments;
mod arrivals;
mod grpc;
mod target;

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use self::arguments::Arguments;
use self::target::Target;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(mistake) => return fail(&mistake, BAD_USAGE),
    };
    raise_file_limit();
    let target = match Target::start(arguments.protocol, arguments.port, arguments.period) {
        Ok(target) => target,
        Err(error) => return fail(&error.to_string(), CANNOT_SERVE),
    };
    match say(&format!("port {}", target.port())).and_then(|()| obey(&target)) {
        Ok(()) => ExitCode::SUCCESS,
        // The prober has ended and cannot read this line, but a person at a terminal can.
        Err(error) => fail(&error.to_string(), CANNOT_SERVE),
    }
}

/// Carries out the commands until the input ends.
fn obey(target: &Target) -> io::Result<()> {
    for command in io::stdin().lock().lines() {
        match command?.trim() {
            "statistics" => say(&target.statistics())?,
            "forget" => {
                target.forget();
                say("{}")?;
            }
            other => {
                let text = format!("command {other:?}: must be statistics or forget");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
            }
        }
    }
    Ok(())
}

fn say(line: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

fn fail(reason: &str, code: u8) -> ExitCode {
    // Without a reader the exit code still says it.
    let _ = say(&format!("error: {reason}"));
    ExitCode::from(code)
}

/// Each open connection needs a file descriptor, and the usual limit is 1,024 of them.
fn raise_file_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls get a pointer to a structure that lives until they return.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

const CANNOT_SERVE: u8 = 1;
const BAD_USAGE: u8 = 2;
