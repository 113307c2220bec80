//! `probelet-fuzz [TARGET]`: plays seeded inputs for every target, or for one, on any machine.
//!
//! `FUZZ_SECONDS` (10 a target) sets how long, `FUZZ_SEED` (1) which inputs; `FUZZ_INPUT` replays the single input with
//! that number. Exit code 1: a promise was broken, and the last line printed is the command that replays the input.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use probelet_fuzz::{TARGETS, Target};

fn main() -> ExitCode {
    let wanted = std::env::args().nth(1);
    let targets: Vec<&Target> =
        TARGETS.iter().filter(|target| wanted.as_deref().is_none_or(|w| w == target.name)).collect();
    if targets.is_empty() {
        let names = TARGETS.map(|target| target.name).join(", ");
        eprintln!("probelet-fuzz: no target {}; there are {names}", wanted.unwrap_or_default());
        return ExitCode::from(2);
    }
    let seed = number("FUZZ_SEED").unwrap_or(1);
    for target in targets {
        let played = match number("FUZZ_INPUT") {
            Some(input) => target.play_mutated(seed, input..=input, None),
            None => {
                let end = Instant::now() + Duration::from_secs(number("FUZZ_SECONDS").unwrap_or(SECONDS));
                target.play_corpus();
                target.play_mutated(seed, 0..=u64::MAX, Some(end))
            }
        };
        println!("{:8} {played:>9} inputs", target.name);
    }
    ExitCode::SUCCESS
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// How long each target runs.
const SECONDS: u64 = 10;
