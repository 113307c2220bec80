//! Attempts that begin together connect before any of them sends.
//!
//! The last attempt is then late only by the others' connecting, and not by their sending, waiting and reading as well.
//! The loop asks for the connections itself and holds the attempts. It lets them go a few at a time, and looks in between
//! whether more are due, because those connect first. An attempt's own time begins when it is let go, so that waiting
//! takes nothing from the target's timeout.

use std::collections::VecDeque;
use std::time::Duration;

use probelet_core::time::Instant;

use super::attempt::Start;

/// The attempts that have connected and wait, the oldest first.
#[derive(Debug, Default)]
pub(in super::super) struct ConnectFirst(VecDeque<Start>);

impl ConnectFirst {
    /// Whether `starts` attempts that are due should only connect: many, or any that follow many.
    pub(in super::super) fn holds(&self, starts: usize, now: Instant) -> bool {
        let enough = if self.is_empty() { BATCH_MIN } else { 1 };
        starts >= enough && !self.waits_too_long(now)
    }

    /// Holds an attempt.
    pub(in super::super) fn hold(&mut self, start: Start) {
        self.0.push_back(start);
    }

    /// Takes the next attempts to let go: attempts that have waited for too long, and at least a few.
    pub(in super::super) fn let_go(&mut self, now: Instant, mut launch: impl FnMut(Start)) {
        for number in 0.. {
            if number >= LET_GO_TOGETHER && !self.waits_too_long(now) {
                return;
            }
            match self.0.pop_front() {
                Some(start) => launch(start),
                None => return,
            }
        }
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn waits_too_long(&self, now: Instant) -> bool {
        let oldest = self.0.front().and_then(|start| start.ahead.as_ref());
        oldest.is_some_and(|(_, asked)| now.since(*asked) >= HELD_MAX)
    }
}

/// The smallest number of attempts that wait for each other. A node whose probes are due at random has a tenth of that
/// due together.
const BATCH_MIN: usize = 128;
/// The longest time for which an attempt is held: more than ten thousand connections take.
const HELD_MAX: Duration = Duration::from_millis(200);
/// So many attempts send in half a millisecond. An attempt that is due meanwhile connects so much later.
const LET_GO_TOGETHER: usize = 16;

#[cfg(test)]
mod tests {
    use probelet_core::spec::Handler;

    use super::*;
    use crate::live::attempts::attempt::Ticket;
    use crate::live::attempts::plan::plan;
    use crate::net::connect::Ahead;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// An attempt of worker `worker` whose connection was asked for at `asked`. Nobody connects to the address.
    fn start(worker: u32, asked: Instant) -> Start {
        let connection = Err(std::io::ErrorKind::ConnectionRefused.into());
        Start {
            ticket: Ticket { worker, run: 1, scheduled: asked },
            plan: plan(Handler::None, ""),
            ahead: Some((Ahead { address: "127.0.0.1:1".parse().unwrap(), connection }, asked)),
        }
    }

    fn let_go(held: &mut ConnectFirst, now: Instant) -> Vec<u32> {
        let mut workers = Vec::new();
        held.let_go(now, |start| workers.push(start.ticket.worker));
        workers
    }

    #[test]
    fn few_attempts_do_not_wait_for_each_other() {
        let held = ConnectFirst::default();
        assert!(!held.holds(BATCH_MIN - 1, at(0)));
        assert!(held.holds(BATCH_MIN, at(0)));
    }

    #[test]
    fn one_attempt_that_follows_many_connects_before_they_send() {
        let mut held = ConnectFirst::default();
        held.hold(start(1, at(0)));
        assert!(held.holds(1, at(199)) && !held.holds(0, at(199)));
        assert!(!held.holds(1, at(200)), "the first has waited for long enough");
    }

    #[test]
    fn attempts_are_let_go_a_few_at_a_time_and_the_oldest_first() {
        let mut held = ConnectFirst::default();
        (0..25).for_each(|worker| held.hold(start(worker, at(0))));
        assert_eq!(let_go(&mut held, at(1)), (0..16).collect::<Vec<u32>>());
        assert_eq!(let_go(&mut held, at(1)), (16..25).collect::<Vec<u32>>());
        assert!(held.is_empty() && let_go(&mut held, at(1)).is_empty());
    }

    #[test]
    fn attempts_are_let_go_in_time_however_many_attempts_follow() {
        let mut held = ConnectFirst::default();
        (0..1_000).for_each(|worker| held.hold(start(worker, at(worker.into()))));
        assert!(held.holds(10_000, at(199)));
        assert!(!held.holds(10_000, at(200)), "the first has waited for long enough");
        assert_eq!(let_go(&mut held, at(700)).len(), 501, "all that have waited for 200 ms");
        assert!(held.holds(10_000, at(700)), "for the attempts that come after");
    }
}
