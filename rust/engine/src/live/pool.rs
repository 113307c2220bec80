//! The tasks that carry out attempts. One that is done waits for the next, so that an attempt costs no task of its own.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use probelet_core::time::Instant;
use tokio::sync::Notify;

use super::attempt::{Ended, Start, Ticket};
use super::time::clock::Clock;
use super::time::overdue::Overdue;
use crate::attempt::starvation::Spent;
use crate::handler::{Asker, Scratch, attempt};
use crate::net::barrier::Crowd;

/// The tasks, and what they have brought home.
pub(super) struct Crew {
    pub(super) clock: Clock,
    idle: Mutex<Vec<Arc<Hand>>>,
    landed: Mutex<Vec<Ended>>,
    overdue: Mutex<Overdue>,
    /// Attempts that have connected while more were due.
    crowd: Arc<Crowd>,
    /// Rung when an attempt has landed.
    pub(super) bell: Notify,
}

/// One task, as the others see it.
struct Hand {
    next: Mutex<Option<Start>>,
    bell: Notify,
}

impl Crew {
    /// Nobody yet; tasks come with the attempts.
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            clock,
            idle: Mutex::default(),
            landed: Mutex::default(),
            overdue: Mutex::default(),
            bell: Notify::new(),
            crowd: Arc::default(),
        }
    }

    /// Gives an attempt to a task that waits, or to a new one.
    pub(super) fn launch(self: &Arc<Self>, start: Start) {
        let idle = lock(&self.idle).pop();
        match idle {
            Some(hand) => {
                *lock(&hand.next) = Some(start);
                hand.bell.notify_one();
            }
            None => {
                let hand = Arc::new(Hand { next: Mutex::new(Some(start)), bell: Notify::new() });
                tokio::spawn(work(Arc::clone(self), hand));
            }
        }
    }

    /// Whether attempts that have connected wait for those that are launched after them.
    pub(super) fn gather(&self, is_crowd: bool) {
        if is_crowd { self.crowd.hold() } else { self.crowd.release() }
    }

    /// Takes what has landed, into an empty list.
    pub(super) fn landed(&self, into: &mut Vec<Ended>) {
        std::mem::swap(&mut *lock(&self.landed), into);
    }

    /// The loop turned at `now`, and is to turn again by `due`.
    pub(super) fn turned(&self, now: Instant, due: Option<Instant>) {
        lock(&self.overdue).turned(now, due);
    }

    /// How long the loop was overdue until `now`, all together.
    pub(super) fn overdue(&self, now: Instant) -> Duration {
        lock(&self.overdue).total(now)
    }

    fn land(&self, ended: Ended) {
        lock(&self.landed).push(ended);
        self.bell.notify_one();
    }

    /// Whether a task that is done is kept.
    fn keeps(&self, hand: &Arc<Hand>) -> bool {
        let mut idle = lock(&self.idle);
        let is_kept = idle.len() < IDLE_MAX;
        if is_kept {
            idle.push(Arc::clone(hand));
        }
        is_kept
    }
}

async fn work(crew: Arc<Crew>, hand: Arc<Hand>) {
    let mut scratch = Scratch::of(Arc::clone(&crew.crowd));
    loop {
        let next = lock(&hand.next).take();
        let Some(start) = next else {
            hand.bell.notified().await;
            continue;
        };
        let flight = Flight { crew: &crew, ticket: Some(start.ticket) };
        flight.land(perform(start, &mut scratch, &crew).await);
        if !crew.keeps(&hand) {
            return;
        }
    }
}

/// Carries out an attempt over a socket.
async fn perform(start: Start, scratch: &mut Scratch, crew: &Crew) -> Ended {
    let Ticket { worker, run, scheduled } = start.ticket;
    let began = crew.clock.now();
    let overdue = crew.overdue(began);
    let container = &start.pod.containers[start.container];
    let probe = container.probe(start.probe_type).expect("it made the worker");
    let asker = Asker { user_agent: &start.user_agent, grpc_connect: start.grpc_connect };
    let pod_ip = start.pod_ip.as_deref().unwrap_or_default();
    let (outcome, cause, phases) =
        attempt(&probe.handler, &container.ports, pod_ip, asker, probe.timeout_seconds, scratch).await;
    let over = crew.clock.now();
    let spent = Spent {
        timeout: Duration::from_secs(u64::try_from(probe.timeout_seconds).unwrap_or(0)),
        took: over.since(began),
        overdue: crew.overdue(over).saturating_sub(overdue),
    };
    Ended { worker, run, scheduled, began, spent, outcome, cause, phases }
}

/// Lands an attempt when it is dropped, also by a panic: its worker would otherwise wait for it for ever.
struct Flight<'a> {
    crew: &'a Crew,
    ticket: Option<Ticket>,
}

impl Flight<'_> {
    fn land(mut self, ended: Ended) {
        self.ticket = None;
        self.crew.land(ended);
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.crew.land(Ended::of_panic(ticket, self.crew.clock.now()));
        }
    }
}

/// Nothing that holds a lock here can panic between two states.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tasks that wait: each has some eight KiB. More attempts than that are in flight only when targets hang, or in a burst.
const IDLE_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    /// Thousands are in flight when all workers of a node are in phase. What only few attempts need (TLS, gRPC, names,
    /// redirects) is boxed where it begins.
    #[test]
    fn a_task_is_small() {
        let hand = Arc::new(Hand { next: Mutex::new(None), bell: Notify::new() });
        let task = work(Arc::new(Crew::new(Clock::start())), hand);
        let bytes = std::mem::size_of_val(&task);
        assert!(bytes <= 3_072, "{bytes} bytes");
    }
}
