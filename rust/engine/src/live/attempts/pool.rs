//! Carries out attempts. Each has a task, a future that the loop itself polls when its socket is ready, when its time is
//! over, and when something else that it waits for wakes it. A task that has finished an attempt waits for the next one.
//!
//! While no attempt needs the runtime (TLS, names, redirects, a caller's word do), the loop sleeps in its own poller, and
//! an attempt costs no turn of the runtime's.
//!
//! The runtime could poll the tasks. But then an attempt that goes well would cost two turns of its scheduler, a timer
//! and two bells, as many instructions as the rest of the attempt.

use std::future::{pending, poll_fn};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use probelet_core::time::Instant;
use tokio::task::unconstrained;

use super::super::suspects::SuspectAddresses;
use super::super::time::alarm::Alarm;
use super::super::time::clock::Clock;
use super::attempt::{EndedAttempt, Start};
use super::perform::perform;
use super::poller_waker::{POLLER_WAKER, PollerWaker};
use super::task_context::{Flight, TaskContext, lock};
use crate::handler::Buffers;
use crate::net::poller::{Poller, Wait};

/// The tasks of the loop.
pub(in super::super) struct AttemptPool {
    context: Arc<TaskContext>,
    poller: Arc<Poller>,
    /// By number. A number without a task is free.
    tasks: Vec<Option<Task>>,
    free: Vec<u32>,
    idle: Vec<u32>,
    /// The tasks to poll in the next turn.
    due: Vec<u32>,
    /// Whether `due` has all that came.
    has_slept: bool,
    /// How many tasks wait for something of the runtime's.
    foreign: usize,
    poller_waker: Arc<PollerWaker>,
    waker: Waker,
}

/// One task, as the loop sees it.
struct Task {
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
    seat: Arc<Seat>,
    waker: Waker,
    is_in_flight: bool,
    /// Whether something of the runtime's has its waker.
    is_foreign: bool,
}

/// What a task and the loop share.
struct Seat {
    number: u32,
    context: Arc<TaskContext>,
    wait: Arc<Wait>,
    next: Mutex<Option<Start>>,
    is_woken: AtomicBool,
    is_done: AtomicBool,
}

/// For what tasks wait for besides their socket and their time, such as a name's address or a TLS record.
impl Wake for Seat {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_woken.swap(true, Ordering::AcqRel) {
            lock(&self.context.woken).push(self.number);
            self.context.bell.notify_one();
        }
    }
}

impl AttemptPool {
    /// A pool without tasks; they come with the attempts. `overdue` is how long the loop was overdue before this pool.
    pub(in super::super) fn new(clock: Clock, overdue: Duration, suspects: Arc<SuspectAddresses>) -> io::Result<Self> {
        let poller = Arc::default();
        let poller_waker = PollerWaker::new(&poller)?;
        Ok(Self {
            context: Arc::new(TaskContext::new(clock, overdue, suspects)),
            poller,
            tasks: Vec::new(),
            free: Vec::new(),
            idle: Vec::new(),
            due: Vec::new(),
            has_slept: false,
            foreign: 0,
            waker: Arc::clone(&poller_waker).into(),
            poller_waker,
        })
    }

    /// An alarm that wakes the loop from [`AttemptPool::wait`].
    pub(in super::super) fn alarm(&self) -> io::Result<Alarm> {
        Alarm::new(self.context.clock.clone(), &self.poller)
    }

    /// Begins an attempt, in a task that waits or in a new one.
    pub(in super::super) fn launch(&mut self, start: Start) {
        let number = self.idle.pop().unwrap_or_else(|| self.hire());
        let task = self.tasks[number as usize].as_mut().expect("a task that waits");
        *lock(&task.seat.next) = Some(start);
        task.is_in_flight = true;
        self.poll(number);
    }

    /// Polls the tasks that can go on.
    pub(in super::super) fn turn(&mut self) {
        let mut due = std::mem::take(&mut self.due);
        if !std::mem::take(&mut self.has_slept) {
            self.poller.take_ready(|number| note_ready(&self.tasks, &mut due, number));
        }
        due.append(&mut lock(&self.context.woken));
        due.drain(..).for_each(|number| self.poll(number));
        self.due = due;
        if !self.poller.is_timeless() {
            let now = std::time::Instant::now();
            while let Some(number) = self.poller.pop_over(now) {
                if let Some(Some(task)) = self.tasks.get(number as usize) {
                    task.seat.wait.note_over();
                    self.poll(number);
                }
            }
        }
    }

    /// Waits until [`AttemptPool::turn`] has something to do, the alarm rings, or the loop has something to hand out.
    ///
    /// `other` ends the wait too; it needs the runtime. `bell` ends it and gives the result; it needs a waker alone.
    pub(in super::super) async fn wait<T>(
        &mut self,
        bell: impl Future<Output = T>,
        other: Option<impl Future<Output = ()>>,
    ) -> Option<T> {
        self.has_slept = false;
        // If attempts have spent the budget of the loop's task, the runtime defers every bell until the task yields. The
        // loop does not yield while it sleeps in the poller.
        let mut bell = pin!(unconstrained(bell));
        if let (None, false) = (&other, self.needs_the_runtime()) {
            loop {
                self.poller_waker.begin();
                if let Poll::Ready(rung) = bell.as_mut().poll(&mut Context::from_waker(&self.waker)) {
                    return Some(rung);
                }
                if self.sleep() {
                    return None;
                }
            }
        }
        let other = async {
            match other {
                Some(other) => other.await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.context.bell.notified() => None,
            () = self.poller.stirs() => None,
            () = other => None,
            rung = &mut bell => Some(rung),
        }
    }

    /// Whether a task waits for something of the runtime's, or was woken by it.
    fn needs_the_runtime(&self) -> bool {
        self.foreign > 0 || !lock(&self.context.woken).is_empty()
    }

    /// Sleeps until something comes. False if only the poller_waker was woken.
    fn sleep(&mut self) -> bool {
        let mut is_stirred = false;
        let Self { poller, tasks, due, .. } = self;
        self.has_slept = poller.sleep(|number| {
            is_stirred |= number != POLLER_WAKER;
            note_ready(tasks, due, number);
        });
        is_stirred
    }

    /// When the loop wakes that would otherwise wake at `at`: then, or when the time of an attempt is over before.
    pub(in super::super) fn wakes_at(&self, at: Option<Instant>) -> Option<Instant> {
        let clock = &self.context.clock;
        let first = self.poller.next_deadline(|deadline| at.is_none_or(|at| clock.at(deadline) < at));
        first.map(|deadline| clock.at(deadline)).or(at)
    }

    /// Moves the attempts that have ended into an empty list.
    pub(in super::super) fn finished(&self, into: &mut Vec<EndedAttempt>) {
        std::mem::swap(&mut *lock(&self.context.finished), into);
    }

    /// Whether attempts have ended.
    pub(in super::super) fn has_finished(&self) -> bool {
        !lock(&self.context.finished).is_empty()
    }

    /// Notes that the loop turned at `now` and should turn again by `due`.
    pub(in super::super) fn turned(&self, now: Instant, due: Option<Instant>) {
        self.context.overdue.turned(now, due);
    }

    /// How long the loop was overdue until `now`, in total.
    pub(in super::super) fn overdue(&self, now: Instant) -> Duration {
        self.context.overdue(now)
    }

    fn hire(&mut self) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.tasks.push(None);
            self.tasks.len() as u32 - 1
        });
        let seat = Arc::new(Seat {
            number,
            context: Arc::clone(&self.context),
            wait: Wait::new(&self.poller, number),
            next: Mutex::default(),
            is_woken: AtomicBool::default(),
            is_done: AtomicBool::default(),
        });
        let future = Box::pin(work(Arc::clone(&self.context), Arc::clone(&seat)));
        let waker = Arc::clone(&seat).into();
        self.tasks[number as usize] = Some(Task { future, seat, waker, is_in_flight: false, is_foreign: false });
        number
    }

    fn poll(&mut self, number: u32) {
        let Some(Some(task)) = self.tasks.get_mut(number as usize) else { return };
        if !task.is_in_flight {
            return;
        }
        task.seat.is_woken.store(false, Ordering::Release);
        let mut context = Context::from_waker(&task.waker);
        let polled = catch_unwind(AssertUnwindSafe(|| task.future.as_mut().poll(&mut context).is_pending()));
        let is_alive = polled.is_ok_and(|is_pending| is_pending);
        let is_done = task.seat.is_done.swap(false, Ordering::Relaxed);
        let is_foreign = is_alive && !is_done && task.has_lent_its_waker();
        let was_foreign = std::mem::replace(&mut task.is_foreign, is_foreign);
        self.foreign = self.foreign - usize::from(was_foreign) + usize::from(is_foreign);
        if is_alive {
            task.is_in_flight = !is_done;
            if !is_done {
                return;
            }
            if self.idle.len() < IDLE_MAX {
                self.idle.push(number);
                return;
            }
        }
        self.tasks[number as usize] = None;
        self.free.push(number);
    }
}

impl Task {
    /// Whether anybody but the loop can wake the task.
    fn has_lent_its_waker(&self) -> bool {
        let is_lent = Arc::strong_count(&self.seat) > SEATS_OF_ITS_OWN;
        // A thread that wakes the task notes it in `woken` before it drops the waker. The fence lets the loop see the note.
        fence(Ordering::Acquire);
        is_lent
    }
}

/// Notes an event of the poller. Those of the owner's descriptors need no note.
fn note_ready(tasks: &[Option<Task>], due: &mut Vec<u32>, number: u32) {
    if let Some(Some(task)) = tasks.get(number as usize) {
        task.seat.wait.note_ready();
        due.push(number);
    }
}

impl Seat {
    /// Waits for the next attempt.
    async fn next(&self) -> Start {
        poll_fn(|_| lock(&self.next).take().map_or(Poll::Pending, Poll::Ready)).await
    }
}

async fn work(context: Arc<TaskContext>, seat: Arc<Seat>) {
    let mut buffers = Buffers::of(Arc::clone(&seat.wait));
    loop {
        let start = seat.next().await;
        let flight = Flight::begin(&context, start.ticket);
        flight.finish(perform(start, &mut buffers, &context).await);
        context.trimmer.freed(buffers.release());
        seat.is_done.store(true, Ordering::Relaxed);
    }
}

/// What the task itself has of its seat: its own, its future's and its waker's.
const SEATS_OF_ITS_OWN: usize = 3;
/// Tasks that wait at most, each with about eight KiB. More attempts are in flight only in a burst or if targets hang.
const IDLE_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use std::future::Pending;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use probelet_core::prober::Outcome;
    use probelet_core::spec::{Handler, HttpGet};
    use probelet_play::cause::Cause;
    use tokio::task::coop;

    use super::*;
    use crate::live::attempts::attempt::Ticket;
    use crate::live::attempts::plan::{ordinary, plan};
    use crate::net::refusing_port::RefusingPort;

    /// Thousands of tasks are in flight if all workers of a node are due together. So the futures that few attempts
    /// need (TLS, gRPC, names, redirects) are boxed.
    #[test]
    fn a_task_is_small() {
        let bytes = run(async {
            let mut pool = pool();
            let number = pool.hire();
            let task = pool.tasks[number as usize].as_ref().expect("just hired");
            std::mem::size_of_val(&*task.future)
        });
        assert!(bytes <= 3_072, "{bytes} bytes");
    }

    fn start(port: u16, now: Instant) -> Start {
        let ticket = Ticket { worker: 0, run: 1, scheduled: now };
        Start { ticket, plan: plan(ordinary(port), "127.0.0.1"), ahead: None }
    }

    /// Runs a pool until so many attempts have ended.
    async fn ended(pool: &mut AttemptPool, count: usize) -> Vec<EndedAttempt> {
        let mut all = Vec::new();
        while all.len() < count {
            while !pool.has_finished() {
                pool.wait(pending::<()>(), None::<Pending<()>>).await;
                pool.turn();
            }
            let mut ended = Vec::new();
            pool.finished(&mut ended);
            all.append(&mut ended);
        }
        all
    }

    fn run<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    fn pool() -> AttemptPool {
        AttemptPool::new(Clock::start(), Duration::ZERO, Arc::default()).expect("descriptors")
    }

    #[test]
    fn tasks_serve_one_attempt_after_another_and_few_of_a_burst_stay() {
        let refusing = RefusingPort::bind();
        let nobody = refusing.number();
        run(async {
            let mut pool = pool();
            let now = pool.context.clock.now();
            for (burst, stay) in [(1, 1), (3, 1), (IDLE_MAX + 3, IDLE_MAX)] {
                if burst > IDLE_MAX {
                    let hired: Vec<u32> = (0..burst).map(|_| pool.hire()).collect();
                    pool.idle.extend(hired);
                }
                (0..burst).for_each(|_| pool.launch(start(nobody, now)));
                let all = ended(&mut pool, burst).await;
                assert!(all.iter().all(|it| it.report.cause == Cause::Refused), "{all:?}");
                assert_eq!((pool.idle.len(), pool.tasks.iter().flatten().count()), (stay, stay));
            }
        });
    }

    #[test]
    fn a_handler_that_panics_is_a_prober_error_and_costs_its_task_alone() {
        let refusing = RefusingPort::bind();
        let nobody = refusing.number();
        run(async {
            let mut pool = pool();
            let mut broken = start(nobody, pool.context.clock.now());
            // The text of the failure needs the container, which does not exist.
            Arc::get_mut(&mut broken.plan).expect("the only owner").container = 7;
            pool.launch(broken);
            pool.launch(start(nobody, pool.context.clock.now()));
            let causes: Vec<_> = ended(&mut pool, 2).await.into_iter().map(|it| it.report.cause).collect();
            assert_eq!(causes, [Cause::Request, Cause::Refused]);
            assert_eq!((pool.idle.len(), pool.tasks.iter().flatten().count()), (1, 1));
        });
    }

    /// Nobody accepts the connections, and the system accepts them in the listener's stead.
    #[test]
    fn attempts_that_wait_for_their_sockets_alone_need_no_runtime() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        run(async {
            let mut pool = pool();
            let now = pool.context.clock.now();
            pool.launch(start(port, now));
            assert!(!pool.needs_the_runtime());
            let Handler::HttpGet(get) = ordinary(port) else { unreachable!("an HTTP probe") };
            let over_tls = plan(Handler::HttpGet(HttpGet { scheme: "HTTPS".into(), ..get }), "127.0.0.1");
            pool.launch(Start { plan: over_tls, ..start(port, now) });
            assert!(pool.needs_the_runtime());
            drop(listener);
            let all = ended(&mut pool, 2).await;
            assert!(all.iter().all(|it| it.report.cause == Cause::Reset), "{all:?}");
            assert!(!pool.needs_the_runtime());
        });
    }

    /// Also if attempts have spent the budget that the runtime gives each of its tasks before it must yield.
    #[test]
    fn a_bell_ends_a_sleep_in_the_poller_each_time() {
        run(async {
            let mut pool = pool();
            for number in 0..3 {
                while coop::has_budget_remaining() {
                    coop::consume_budget().await;
                }
                let (bell, rung) = tokio::sync::oneshot::channel();
                let ringer = std::thread::spawn(move || bell.send(number));
                assert_eq!(pool.wait(rung, None::<Pending<()>>).await, Some(Ok(number)));
                ringer.join().unwrap().unwrap();
            }
        });
    }

    /// The connection waits for longer than the whole timeout; the target then answers.
    #[test]
    fn waiting_after_connecting_is_charged_neither_to_the_timeout_nor_to_the_duration() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let target = std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            let read = connection.read(&mut [0; 1024]).unwrap();
            connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
            read
        });
        let (ended, launched) = run(async {
            let mut pool = pool();
            let asked = pool.context.clock.now();
            let mut start = start(port, asked);
            assert!(start.connect(asked));
            while pool.context.clock.now().since(asked) <= Duration::from_millis(1_010) {
                tokio::task::yield_now().await;
            }
            let launched = pool.context.clock.now();
            pool.launch(start);
            (ended(&mut pool, 1).await.pop().expect("one attempt"), launched)
        });
        assert_eq!((ended.report.outcome, ended.report.cause), (Outcome::Success, Cause::Ok));
        assert!(target.join().unwrap() > 0);
        assert!(ended.began >= launched && ended.held > Duration::from_secs(1), "held for {:?}", ended.held);
        assert!(ended.spent.took < Duration::from_secs(1), "took {:?}", ended.spent.took);
    }
}
