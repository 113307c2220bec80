//! What attempts wait for: the sockets of plain attempts, and the end of every attempt's time.
//!
//! The runtime could watch both. But it allocates for each socket, wants it back before it is closed, keeps a timer for
//! each attempt, and wakes a task for each event. A [`Poller`] has one epoll instance within the runtime's: one call adds
//! a socket, and closing the socket removes it. Its owner takes what has happened and polls the attempts itself. While
//! no attempt waits for anything of the runtime's, the owner sleeps in that epoll instance, and the runtime has no turn.

use std::future::{pending, poll_fn};
use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::net::TcpStream;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::yield_now;
use tokio::time::{Sleep, sleep_until};

use super::async_fd::watched;
use super::deadlines::Deadlines;
use super::descriptors::below_reserve;

/// The waits of one runtime's attempts, each under a number of its owner's choice.
#[derive(Debug, Default)]
pub(crate) struct Poller {
    /// Made with the first socket, because a probe that needs none must not fail for want of a descriptor.
    epoll: OnceLock<AsyncFd<OwnedFd>>,
    deadlines: Mutex<Deadlines>,
}

impl Poller {
    /// Waits until [`Poller::take_ready`] may find something.
    pub(crate) async fn stirs(&self) {
        match self.epoll.get() {
            // The guard is dropped as it is: the readiness stays until `take_ready` finds nothing more.
            Some(epoll) => drop(epoll.readable().await),
            None => pending().await,
        }
    }

    /// Calls `ready` with the numbers of the attempts whose sockets became ready, and with the owner's.
    pub(crate) fn take_ready(&self, mut ready: impl FnMut(u32)) {
        let Some(epoll) = self.epoll.get() else { return };
        let mut space = [MaybeUninit::uninit(); EVENTS];
        loop {
            let Ok((events, _)) = epoll::wait(epoll, &mut space, Some(&AT_ONCE)) else { return };
            let is_all = events.len() < EVENTS;
            events.iter().for_each(|event| ready(event.data.u64() as u32));
            if is_all {
                let _: io::Result<()> = epoll.try_io(Interest::READABLE, |_| Err(ErrorKind::WouldBlock.into()));
                return;
            }
        }
    }

    /// Sleeps until something comes, and calls `ready` as [`Poller::take_ready`] does; the runtime stands still meanwhile.
    /// True if nothing more had come then.
    pub(crate) fn sleep(&self, ready: impl FnMut(u32)) -> bool {
        let mut space = [MaybeUninit::uninit(); EVENTS];
        let Some(Ok((events, _))) = self.epoll.get().map(|epoll| epoll::wait(epoll, &mut space, None)) else {
            return false;
        };
        events.iter().map(|event| event.data.u64() as u32).for_each(ready);
        events.len() < EVENTS
    }

    /// When the time of an attempt is over next, if the caller `asks` for moments as early as that.
    pub(crate) fn next_deadline(&self, asks: impl Fn(Instant) -> bool) -> Option<Instant> {
        self.lock().first(asks).map(|(deadline, _)| deadline)
    }

    /// Whether the time of no attempt runs for sure: an attempt that has ended may still have its place in the order.
    pub(crate) fn is_timeless(&self) -> bool {
        self.lock().is_empty()
    }

    /// Takes the number of an attempt whose time is over at `now`.
    pub(crate) fn pop_over(&self, now: Instant) -> Option<u32> {
        self.lock().pop_over(now)
    }

    /// Watches a descriptor until it is closed. A number that is no attempt's is the owner's own.
    pub(crate) fn watch(&self, descriptor: impl AsFd, flags: EventFlags, number: u32) -> io::Result<()> {
        let epoll = match self.epoll.get() {
            Some(epoll) => epoll,
            None => {
                let made = watched(below_reserve(epoll::create(CreateFlags::CLOEXEC)?)?)?;
                self.epoll.get_or_init(|| made)
            }
        };
        Ok(epoll::add(epoll, descriptor, EventData::new_u64(number.into()), flags | EventFlags::ET)?)
    }

    /// Ignores poisoning: no code here can panic halfway through a change under the lock.
    fn lock(&self) -> MutexGuard<'_, Deadlines> {
        self.deadlines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The wait of one attempt after another. It wakes nobody: the poller's owner notes what has happened, and polls.
#[derive(Debug)]
pub(crate) struct Wait {
    poller: Arc<Poller>,
    number: u32,
    is_ready: AtomicBool,
    is_over: AtomicBool,
}

impl Wait {
    pub(crate) fn new(poller: &Arc<Poller>, number: u32) -> Arc<Self> {
        let (is_ready, is_over) = Default::default();
        Arc::new(Self { poller: Arc::clone(poller), number, is_ready, is_over })
    }

    /// Watches the attempt's next socket until it is closed: whether something came, and at first also whether something
    /// may be sent.
    pub(crate) fn watch(&self, socket: &TcpStream, is_sending: bool) -> io::Result<()> {
        self.clear_ready();
        let flags = if is_sending { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        self.poller.watch(socket, flags, self.number)
    }

    /// Waits until the socket may be ready. A caller that finds nothing calls [`Wait::clear_ready`].
    pub(crate) async fn ready(&self) {
        poll_fn(|_| if self.is_ready.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    /// Forgets that the socket was ready.
    pub(crate) fn clear_ready(&self) {
        self.is_ready.store(false, Ordering::Relaxed);
    }

    /// Notes that the socket became ready; the owner polls the attempt next.
    pub(crate) fn note_ready(&self) {
        self.is_ready.store(true, Ordering::Relaxed);
    }

    /// Notes that the attempt's time is over; the owner polls the attempt next.
    pub(crate) fn note_over(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// The result of `work`, or none if `work` has not ended by `deadline`. What `work` itself limits to the same moment
    /// ends first, because it knows more about what is late.
    ///
    /// Before it drops `work`, it lets the reactor poll the sockets once more. If this thread is late, it may notice the
    /// deadline before an answer that came in time: a process that was stopped and goes on sees its timers first,
    /// because epoll_wait(2) ends with EINTR then. The container is not to blame for that.
    pub(crate) async fn until<T>(
        &self,
        deadline: Option<tokio::time::Instant>,
        mut work: Pin<&mut impl Future<Output = T>>,
    ) -> Option<T> {
        let Some(deadline) = deadline.and_then(|deadline| deadline.into_std().checked_add(LAST)) else {
            return Some(work.await);
        };
        let _time = Time::begin(self, deadline);
        let done = poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if self.is_over.load(Ordering::Relaxed) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        });
        if let Some(done) = done.await {
            return Some(done);
        }
        yield_now().await;
        poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    /// Carries out `work`, for an attempt whose poller has no other owner.
    pub(crate) async fn drive<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let mut timer = pin!(sleep_until(Instant::now().into()));
        let mut stirs = pin!(None);
        poll_fn(|context| {
            loop {
                if let Poll::Ready(done) = work.as_mut().poll(context) {
                    return Poll::Ready(done);
                }
                if stirs.is_none() && self.poller.epoll.get().is_some() {
                    stirs.set(Some(self.poller.stirs()));
                }
                let is_stirred = stirs.as_mut().as_pin_mut().is_some_and(|stirs| stirs.poll(context).is_ready());
                if is_stirred {
                    stirs.set(None);
                    self.poller.take_ready(|_| self.note_ready());
                }
                if !is_stirred && !self.is_late(context, timer.as_mut()) {
                    return Poll::Pending;
                }
            }
        })
        .await
    }

    /// Whether the time is over; if it is not, `timer` wakes the caller.
    fn is_late(&self, context: &mut Context<'_>, mut timer: Pin<&mut Sleep>) -> bool {
        let Some(deadline) = self.poller.next_deadline(|_| true) else { return false };
        if self.poller.pop_over(Instant::now()).is_some() {
            self.note_over();
            return true;
        }
        if timer.deadline() != deadline.into() {
            timer.as_mut().reset(deadline.into());
        }
        timer.poll(context).is_ready()
    }
}

/// A wait of its own, for attempts that [`Wait::drive`] carries out.
impl Default for Wait {
    fn default() -> Self {
        Self { poller: Arc::default(), number: 0, is_ready: AtomicBool::default(), is_over: AtomicBool::default() }
    }
}

/// An attempt's time, until it is dropped.
struct Time<'a>(&'a Wait);

impl<'a> Time<'a> {
    fn begin(wait: &'a Wait, deadline: Instant) -> Self {
        wait.is_over.store(false, Ordering::Relaxed);
        wait.poller.lock().begin(wait.number, deadline);
        Self(wait)
    }
}

impl Drop for Time<'_> {
    fn drop(&mut self) {
        self.0.poller.lock().end(self.0.number);
    }
}

const EVENTS: usize = 128;
/// The runtime's timers count milliseconds and round up.
const LAST: Duration = Duration::from_millis(2);
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use tokio::io::AsyncReadExt;

    use super::*;

    fn run<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    fn connection() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        socket.set_nonblocking(true).unwrap();
        (socket, listener.accept().unwrap().0)
    }

    /// Reads over the runtime from a target that has said so much, when the time was over before anybody looked.
    fn read_late(said: &[u8]) -> Option<usize> {
        run(async {
            let (probe, mut target) = connection();
            target.write_all(said).unwrap();
            let mut probe = tokio::net::TcpStream::from_std(probe).unwrap();
            let wait = Wait::default();
            let mut space = [0; 8];
            let read = pin!(probe.read(&mut space));
            wait.drive(wait.until(Some(Instant::now().into()), read)).await.map(Result::unwrap)
        })
    }

    #[test]
    fn an_answer_that_had_come_is_taken_and_nothing_is_waited_for() {
        assert_eq!(read_late(b"ok"), Some(2));
        assert_eq!(read_late(b""), None);
    }

    /// Reads as a plain attempt does.
    async fn answer(wait: &Wait, mut socket: &TcpStream) -> usize {
        loop {
            wait.ready().await;
            match socket.read(&mut [0; 8]) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => wait.clear_ready(),
                read => return read.unwrap(),
            }
        }
    }

    #[test]
    fn a_socket_wakes_its_attempt_alone() {
        run(async {
            let poller = Arc::default();
            let pairs: Vec<_> = (0..3).map(|number| (connection(), Wait::new(&poller, number))).collect();
            pairs.iter().for_each(|((socket, _), wait)| wait.watch(socket, false).unwrap());
            (&pairs[1].0.1).write_all(b"ok").unwrap();
            poller.stirs().await;
            let mut numbers = Vec::new();
            poller.take_ready(|number| numbers.push(number));
            assert_eq!(numbers, [1]);
            poller.take_ready(|number| numbers.push(number));
            assert_eq!(numbers, [1], "an event comes once");
        });
    }

    #[test]
    fn one_wait_serves_one_socket_after_another() {
        run(async {
            let wait = Wait::default();
            for _ in 0..3 {
                let (socket, target) = connection();
                wait.watch(&socket, true).unwrap();
                let late = std::thread::spawn(move || (&target).write_all(b"ok").map(|()| target));
                let deadline = Some((Instant::now() + Duration::from_secs(60)).into());
                let read = pin!(answer(&wait, &socket));
                assert_eq!(wait.drive(wait.until(deadline, read)).await, Some(2));
                late.join().unwrap().unwrap();
            }
            assert_eq!(wait.poller.next_deadline(|_| true), None);
        });
    }

    #[test]
    fn the_end_of_the_time_ends_the_wait_and_the_next_one_has_its_own_time() {
        run(async {
            let wait = Wait::default();
            let (socket, _target) = connection();
            wait.watch(&socket, false).unwrap();
            let soon = || Some((Instant::now() + Duration::from_millis(1)).into());
            assert_eq!(wait.drive(wait.until(soon(), pin!(answer(&wait, &socket)))).await, None);
            assert_eq!(wait.drive(wait.until(soon(), pin!(async { 7 }))).await, Some(7));
            assert_eq!(wait.drive(wait.until(None, pin!(async { 8 }))).await, Some(8));
        });
    }
}
