//! How long a step of the sample may take.

use std::time::{Duration, Instant};

/// For each step: runc needs a twentieth of a second for all of them on a quiet machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// The pause between two looks at a process that has to do something first.
pub(super) fn wait(since: Instant, what: &str) -> Result<(), String> {
    if since.elapsed() >= PATIENCE {
        return Err(format!("{what} took more than {} s", PATIENCE.as_secs()));
    }
    std::thread::sleep(Duration::from_millis(1));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_takes_too_long_is_named() {
        let long_ago = Instant::now().checked_sub(PATIENCE).unwrap();
        assert_eq!(wait(long_ago, "runc create").unwrap_err(), "runc create took more than 10 s");
        assert_eq!(wait(Instant::now(), "runc create"), Ok(()));
    }
}
