//! `probelet-fuzz [TARGET]`: seeded inputs for every target, or one of them, on any machine.
//!
//! `FUZZ_SECONDS` (10 a target) says for how long, `FUZZ_SEED` (1) which inputs, `FUZZ_INPUT` plays a single one, by its
//! number, to see it again. Exit code 1: a promise was broken; what is printed last is how to see it again.

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

/// Of each target.
const SECONDS: u64 = 10;
