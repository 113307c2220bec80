//! Wakes the engine's thread for the core: a timerfd, because the runtime's clock counts milliseconds and rounds up
//! twice, which would make a probe up to two milliseconds late.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use probelet_core::time::Instant;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::unix::AsyncFd;

use super::clock::Clock;
use crate::net::async_fd::watched;

/// A timer that rings once.
pub(crate) struct Alarm {
    timer: AsyncFd<OwnedFd>,
    clock: Clock,
    /// When it will ring.
    at: Option<Instant>,
    /// How far the clock was put forward when the timer was set; the timerfd does not see that.
    ahead: Duration,
}

impl Alarm {
    pub(crate) fn new(clock: Clock) -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        Ok(Self { timer: watched(timer)?, clock, at: None, ahead: Duration::ZERO })
    }

    /// Rings [`HURRY`] from now at the latest, so that changes by other callers in between share the wake-up.
    pub(crate) fn hurry(&mut self) {
        let soon = self.clock.now() + HURRY;
        self.set(self.at.filter(|at| *at < soon).or(Some(soon)));
    }

    /// Rings at `at`; None: never.
    pub(crate) fn set(&mut self, at: Option<Instant>) {
        let ahead = self.clock.ahead();
        if at == self.at && ahead == self.ahead {
            return;
        }
        (self.at, self.ahead) = (at, ahead);
        // A timerfd takes zero for never.
        let left = at.map_or(Duration::ZERO, |at| at.since(self.clock.now()).max(Duration::from_nanos(1)));
        let left = Timespec::try_from(left).expect("a deadline of the core is within its clock");
        let times = Itimerspec { it_interval: Timespec::default(), it_value: left };
        timerfd_settime(self.timer.get_ref(), TimerfdTimerFlags::empty(), &times).expect("a timer of our own");
    }

    /// Waits until it rings.
    pub(crate) async fn rung(&mut self) {
        // No read of the descriptor is needed: setting the timer again clears it, and the runtime sees each ring anew.
        let ready = self.timer.readable().await;
        ready.expect("the runtime has not ended").clear_ready();
        self.at = None;
    }
}

/// How long a change by a caller may wait, because callers change the state in bursts: a node that starts adds
/// thousands of pods.
const HURRY: Duration = Duration::from_millis(1);
