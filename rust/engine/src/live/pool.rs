//! The tasks that carry out attempts. A task that has finished an attempt waits for the next one, so that an attempt
//! costs no task of its own.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use probelet_core::time::Instant;
use tokio::sync::Notify;

use super::attempt::{EndedAttempt, Start, Ticket};
use super::doubts::{Doubts, PATIENCE, Word};
use super::time::clock::Clock;
use super::time::overdue::Overdue;
use super::trimmer::Trimmer;
use crate::attempt::cause::Cause;
use crate::attempt::report::{Report, error};
use crate::attempt::starvation::Spent;
use crate::handler::{Asker, Buffers, address_of, probe_once, refused};

/// The tasks, and the attempts that they have finished.
pub(super) struct AttemptPool {
    pub(super) clock: Clock,
    idle: Mutex<Vec<Arc<Task>>>,
    finished: Mutex<Vec<EndedAttempt>>,
    overdue: Mutex<Overdue>,
    trimmer: Trimmer,
    doubts: Arc<Doubts>,
    /// Rung when an attempt has finished.
    pub(super) bell: Notify,
}

/// One task, as the pool sees it.
struct Task {
    next: Mutex<Option<Start>>,
    bell: Notify,
}

impl AttemptPool {
    /// A pool without tasks; they come with the attempts. `overdue` is how long the loop was overdue before this pool.
    pub(super) fn new(clock: Clock, overdue: Duration, doubts: Arc<Doubts>) -> Self {
        Self {
            clock,
            idle: Mutex::default(),
            finished: Mutex::default(),
            overdue: Mutex::new(Overdue::after(overdue)),
            bell: Notify::new(),
            trimmer: Trimmer::default(),
            doubts,
        }
    }

    /// Gives an attempt to a task that waits, or to a new one.
    pub(super) fn launch(self: &Arc<Self>, start: Start) {
        let idle = lock(&self.idle).pop();
        match idle {
            Some(task) => {
                *lock(&task.next) = Some(start);
                task.bell.notify_one();
            }
            None => {
                let task = Arc::new(Task { next: Mutex::new(Some(start)), bell: Notify::new() });
                tokio::spawn(work(Arc::clone(self), task));
            }
        }
    }

    /// Moves the attempts that have ended into an empty list.
    pub(super) fn finished(&self, into: &mut Vec<EndedAttempt>) {
        std::mem::swap(&mut *lock(&self.finished), into);
    }

    /// Notes that the loop turned at `now` and should turn again by `due`.
    pub(super) fn turned(&self, now: Instant, due: Option<Instant>) {
        lock(&self.overdue).turned(now, due);
    }

    /// How long the loop was overdue until `now`, in total.
    pub(super) fn overdue(&self, now: Instant) -> Duration {
        lock(&self.overdue).total(now)
    }

    fn finish(&self, ended: EndedAttempt) {
        lock(&self.finished).push(ended);
        self.bell.notify_one();
    }

    /// Keeps a task that is done for another attempt; false if enough tasks wait.
    fn keeps(&self, task: &Arc<Task>) -> bool {
        let mut idle = lock(&self.idle);
        let is_kept = idle.len() < IDLE_MAX;
        if is_kept {
            idle.push(Arc::clone(task));
        }
        is_kept
    }
}

async fn work(pool: Arc<AttemptPool>, task: Arc<Task>) {
    let mut buffers = Buffers::default();
    loop {
        let next = lock(&task.next).take();
        let Some(start) = next else {
            task.bell.notified().await;
            continue;
        };
        let flight = Flight { pool: &pool, ticket: Some(start.ticket) };
        flight.finish(perform(start, &mut buffers, &pool).await);
        pool.trimmer.freed(buffers.release());
        if !pool.keeps(&task) {
            return;
        }
    }
}

/// Carries out an attempt over a socket. The attempt's time begins here, even if its connection was asked for ahead: the
/// prober causes the wait in between, so it is charged neither to the target's timeout nor to the attempt's duration.
async fn perform(mut start: Start, buffers: &mut Buffers, pool: &AttemptPool) -> EndedAttempt {
    let began = pool.clock.now();
    let mut held = Duration::ZERO;
    if let Some((ahead, asked)) = start.ahead.take() {
        held = began.since(asked);
        buffers.ahead = Some(ahead);
    }
    let (container, probe) = start.probe();
    let (user_agent, grpc_connect) = (&*start.user_agent, start.grpc_connect);
    let asker = Asker { user_agent, grpc_connect, pod_uid: Some(&start.pod.uid) };
    let pod_ip = start.pod_ip.as_deref().unwrap_or_default();
    let overdue = pool.overdue(began);
    let mut report = probe_once(&probe.handler, &container.ports, pod_ip, asker, probe.timeout_seconds, buffers).await;
    let over = pool.clock.now();
    let spent = Spent {
        timeout: Duration::from_secs(u64::try_from(probe.timeout_seconds).unwrap_or(0)),
        took: over.since(began),
        overdue: pool.overdue(over).saturating_sub(overdue),
    };
    let address = || address_of(&probe.handler, &container.ports, pod_ip);
    if report.cause.is_answer()
        && let Some(address) = pool.doubts.covers(address)
    {
        // Boxed, because few attempts wait, and the future of every attempt would be as large as this one.
        match Box::pin(pool.doubts.word(address, PATIENCE, || pool.bell.notify_one())).await {
            Word::Own => {}
            Word::Foreign(why) => {
                let outcome = refused(&probe.handler, address, asker, probe.timeout_seconds, &why);
                report = Report { outcome, cause: Cause::Refused, ..report };
            }
            Word::Unknown(why) => {
                let text = format!("which program answers at {address} is unknown: {why}");
                report = Report { outcome: error(false, text), cause: Cause::Cri, ..report };
            }
        }
    }
    EndedAttempt { ticket: start.ticket, began, held, spent, report }
}

/// Finishes an attempt when it is dropped, also by a panic, because its worker would otherwise wait for ever.
struct Flight<'a> {
    pool: &'a AttemptPool,
    ticket: Option<Ticket>,
}

impl Flight<'_> {
    fn finish(mut self, ended: EndedAttempt) {
        self.ticket = None;
        self.pool.finish(ended);
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.pool.finish(EndedAttempt::of_panic(ticket, "the probe's handler panicked", self.pool.clock.now()));
        }
    }
}

/// Ignores poisoning: no code here can panic halfway through a change under the lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tasks that wait at most, each with about eight KiB. More attempts are in flight only in a burst or if targets hang.
const IDLE_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use probelet_core::prober::Outcome;
    use probelet_core::semantics::GrpcConnect;
    use probelet_core::spec::{ContainerSpec, Handler, HttpGet, IntOrString, PodSpec, ProbeSpec, ProbeType};

    use super::*;
    use crate::attempt::cause::Cause;

    /// Thousands of tasks are in flight if all workers of a node are due together. So the futures that few attempts
    /// need (TLS, gRPC, names, redirects) are boxed.
    #[test]
    fn a_task_is_small() {
        let task = Arc::new(Task { next: Mutex::new(None), bell: Notify::new() });
        let task = work(Arc::new(AttemptPool::new(Clock::start(), Duration::ZERO, Arc::default())), task);
        let bytes = std::mem::size_of_val(&task);
        assert!(bytes <= 3_072, "{bytes} bytes");
    }

    fn start(port: u16, now: Instant) -> Start {
        let get = HttpGet {
            scheme: "HTTP".into(),
            host: "".into(),
            port: IntOrString::Int(port.into()),
            path: "/".into(),
            headers: vec![],
            http2: false,
        };
        let probe = ProbeSpec { handler: Handler::HttpGet(get), timeout_seconds: 1, ..ProbeSpec::default() };
        let container = ContainerSpec { probes: [None, None, Some(Box::new(probe))], ..ContainerSpec::default() };
        Start {
            ticket: Ticket { worker: 0, run: 1, scheduled: now },
            pod: Arc::new(PodSpec { containers: vec![container], regular: 1, ..PodSpec::default() }),
            container: 0,
            probe_type: ProbeType::Liveness,
            pod_ip: Some("127.0.0.1".into()),
            user_agent: "kube-probe/1.36".into(),
            grpc_connect: GrpcConnect::UntilTimeout,
            ahead: None,
        }
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
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let pool = Arc::new(AttemptPool::new(Clock::start(), Duration::ZERO, Arc::default()));
        let (ended, launched) = runtime.block_on(async {
            let asked = pool.clock.now();
            let mut start = start(port, asked);
            assert!(start.connect(asked));
            while pool.clock.now().since(asked) <= Duration::from_millis(1_010) {
                tokio::task::yield_now().await;
            }
            let launched = pool.clock.now();
            pool.launch(start);
            pool.bell.notified().await;
            let mut ended = Vec::new();
            pool.finished(&mut ended);
            (ended.pop().expect("one attempt"), launched)
        });
        assert_eq!((ended.report.outcome, ended.report.cause), (Outcome::Success, Cause::Ok));
        assert!(target.join().unwrap() > 0);
        assert!(ended.began >= launched && ended.held > Duration::from_secs(1), "held for {:?}", ended.held);
        assert!(ended.spent.took < Duration::from_secs(1), "took {:?}", ended.spent.took);
    }
}
