//! epoll.

use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use crate::sys::check;

/// What a descriptor is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The socket to probelet.
    Socket,
    /// The reports of a command's forks.
    Status,
    /// A command's stdout or stderr.
    Output,
    /// The end of a command.
    Exit,
}

/// A descriptor is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) kind: Kind,
    /// The loop's number of the command, never used twice, so that a late event meets no other command; 0 for the socket.
    pub(crate) number: u64,
}

#[derive(Debug)]
pub(crate) struct Poll(OwnedFd);

const EVENTS_MAX: usize = 64;

impl Poll {
    pub(crate) fn new() -> Result<Self> {
        // SAFETY: the call takes a number; the descriptor was just opened and belongs to nobody else.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?) }))
    }

    pub(crate) fn watch(&self, fd: RawFd, event: Event) -> Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, libc::EPOLLIN, event)
    }

    /// Whether the loop also wakes when the socket takes answers again.
    pub(crate) fn watch_room(&self, socket: RawFd, event: Event, is_wanted: bool) -> Result<()> {
        let events = if is_wanted { libc::EPOLLIN | libc::EPOLLOUT } else { libc::EPOLLIN };
        self.control(libc::EPOLL_CTL_MOD, socket, events, event)
    }

    pub(crate) fn forget(&self, fd: RawFd) -> Result<()> {
        self.control(libc::EPOLL_CTL_DEL, fd, 0, Event { kind: Kind::Exit, number: 0 })
    }

    fn control(&self, operation: i32, fd: RawFd, events: i32, event: Event) -> Result<()> {
        let mut data = libc::epoll_event { events: events.unsigned_abs(), u64: event.number << 2 | event.kind as u64 };
        // SAFETY: the pointer is to a structure that lives until the call returns.
        check(unsafe { libc::epoll_ctl(self.0.as_raw_fd(), operation, fd, &raw mut data) }).map(drop)
    }

    /// Waits until something is ready or the time is over; None waits without end.
    pub(crate) fn wait(&self, into: &mut Vec<Event>, patience: Option<Duration>) -> Result<()> {
        // Rounded up, so that a deadline is over when the loop wakes for it.
        let millis = patience.map_or(-1, |time| i32::try_from(time.as_millis() + 1).unwrap_or(i32::MAX));
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS_MAX];
        // SAFETY: the pointer and the number are those of the list.
        let count = unsafe {
            libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), i32::try_from(EVENTS_MAX).unwrap_or(1), millis)
        };
        match usize::try_from(count) {
            Ok(count) => into.extend(events.iter().take(count).map(|event| {
                let data = event.u64;
                Event { kind: KINDS[usize::try_from(data & 3).unwrap_or(0)], number: data >> 2 }
            })),
            Err(_) => {
                let error = Error::last_os_error();
                if error.kind() != ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

const KINDS: [Kind; 4] = [Kind::Socket, Kind::Status, Kind::Output, Kind::Exit];
