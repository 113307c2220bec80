//! Wakes the engine's thread for the core: a timerfd, because the runtime's clock counts milliseconds and rounds up
//! twice, which would make a probe up to two milliseconds late. The poller of the attempts watches it, so that a wake-up
//! asks the runtime for one event, whatever it is for.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use probelet_core::time::Instant;
use rustix::event::epoll::EventFlags;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

use super::clock::Clock;
use crate::net::poller::Poller;

/// A timer that rings once.
pub(crate) struct Alarm {
    timer: OwnedFd,
    clock: Clock,
    /// When it will ring.
    at: Option<Instant>,
    /// How far the clock was put forward when the timer was set; the timerfd does not see that.
    ahead: Duration,
}

impl Alarm {
    /// An alarm that is not set. It wakes the loop that waits for `poller`.
    pub(crate) fn new(clock: Clock, poller: &Poller) -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        poller.watch(&timer, EventFlags::IN, TIMER)?;
        Ok(Self { timer, clock, at: None, ahead: Duration::ZERO })
    }

    /// Rings [`HURRY`] from now at the latest, so that changes by other callers in between share the wake-up.
    pub(crate) fn hurry(&mut self) {
        let soon = self.clock.now() + HURRY;
        self.set(self.at.filter(|at| *at < soon).or(Some(soon)));
    }

    /// Rings at `at`; None: never.
    pub(crate) fn set(&mut self, at: Option<Instant>) {
        let ahead = self.clock.ahead();
        let is_set = at == self.at && ahead == self.ahead;
        if is_set && at.is_none_or(|at| at > self.clock.now()) {
            return;
        }
        (self.at, self.ahead) = (at, ahead);
        // A timerfd takes zero for never.
        let left = at.map_or(Duration::ZERO, |at| at.since(self.clock.now()).max(Duration::from_nanos(1)));
        let left = Timespec::try_from(left).expect("a deadline of the core is within its clock");
        let times = Itimerspec { it_interval: Timespec::default(), it_value: left };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &times).expect("a timer of our own");
    }
}

/// No attempt's number.
const TIMER: u32 = u32::MAX;
/// How long a change by a caller may wait, because callers change the state in bursts: a node that starts adds
/// thousands of pods.
const HURRY: Duration = Duration::from_millis(1);
