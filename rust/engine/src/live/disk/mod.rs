//! Writing to a disk that may hang: a thread that does it, and what the log says of it.

mod thread;
mod watch;

pub(super) use self::thread::DiskThread;
pub(super) use self::watch::WriteWatch;
