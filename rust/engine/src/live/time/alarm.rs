//! When the engine's thread wakes for the core: a timerfd, because the runtime's clock counts milliseconds and rounds up
//! twice, and a probe would be up to two of them late.

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
    /// How far the clock had been put forward when it was set: the timer knows nothing of that.
    ahead: Duration,
}

impl Alarm {
    pub(crate) fn new(clock: Clock) -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        Ok(Self { timer: watched(timer)?, clock, at: None, ahead: Duration::ZERO })
    }

    /// Rings at `deadline + patience`, so that what is due meanwhile shares the wake-up, or at `beat`, whichever is first;
    /// never if both are none.
    pub(crate) fn set(&mut self, deadline: Option<Instant>, patience: Duration, beat: Option<Instant>) {
        self.set_to(deadline.map(|deadline| deadline + patience).into_iter().chain(beat).min());
    }

    /// Rings a little from now, if not sooner: what others do to the state meanwhile shares the wake-up too.
    pub(crate) fn hurry(&mut self) {
        let soon = self.clock.now() + HURRY;
        self.set_to(self.at.filter(|at| *at < soon).or(Some(soon)));
    }

    fn set_to(&mut self, at: Option<Instant>) {
        let ahead = self.clock.ahead();
        if at == self.at && ahead == self.ahead {
            return;
        }
        (self.at, self.ahead) = (at, ahead);
        // Zero would mean never.
        let left = at.map_or(Duration::ZERO, |at| at.since(self.clock.now()).max(Duration::from_nanos(1)));
        let left = Timespec::try_from(left).expect("a deadline of the core is within its clock");
        let times = Itimerspec { it_interval: Timespec::default(), it_value: left };
        timerfd_settime(self.timer.get_ref(), TimerfdTimerFlags::empty(), &times).expect("a timer of our own");
    }

    /// Waits until it rings.
    pub(crate) async fn rung(&mut self) {
        // The descriptor is not read: setting it again forgets that it rang, and the runtime is told of each ring anew.
        let ready = self.timer.readable().await;
        ready.expect("the runtime has not ended").clear_ready();
        self.at = None;
    }
}

/// Callers change the state in bursts: a node that starts adds thousands of pods.
const HURRY: Duration = Duration::from_millis(1);
