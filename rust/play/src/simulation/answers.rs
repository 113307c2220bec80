//! Where a simulation's answers come from, if not from its scripts.

use std::time::Duration;

use probelet_core::prober::AttemptTarget;

use crate::cause::Cause;

/// How an attempt will end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) takes: Duration,
    pub(super) cause: Cause,
    /// How late the prober reads it.
    pub(super) overdue: Duration,
    /// Whether it differs from the probe's last one; its event is kept only then.
    pub(super) is_news: bool,
}

/// Answers the attempts of some workers; a worker that it does not know plays its script.
pub(super) trait Answers {
    /// The number of a probe, by which its answers are asked for.
    fn enrol(&mut self, target: &AttemptTarget<'_>) -> Option<u32>;

    /// The answer to an attempt that begins `now_ns` after t = 0.
    fn answer(&mut self, probe: u32, now_ns: u64) -> Answer;
}

/// Every worker plays its script.
#[derive(Debug)]
pub(super) struct Scripts;

impl Answers for Scripts {
    fn enrol(&mut self, _: &AttemptTarget<'_>) -> Option<u32> {
        None
    }

    fn answer(&mut self, _: u32, _: u64) -> Answer {
        unreachable!("it knows no worker")
    }
}
