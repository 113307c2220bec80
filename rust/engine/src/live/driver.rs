//! The engine's thread: settle, hand out, start attempts, sleep until something is due.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use probelet_core::time::{Instant, WallOffset};

use super::attempts::{AttemptPool, ConnectFirst, EndedAttempt, Start};
use super::batch::Batch;
use super::direct::{HelperClient, LoopTime};
use super::journal::JournalSync;
use super::state::{Shared, State};
#[cfg(test)]
use super::tests::trap::Moment;
use super::time::clock::Clock;
use super::time::overdue::BEAT;
use super::time::wake_up::Patience;
use crate::prefetch::prefetch;

/// Runs until the engine is closed.
pub(super) fn drive(shared: &Arc<Shared>) {
    while !shared.closing.load(Ordering::Acquire) {
        // Without a file descriptor there is no reactor; the process may have one again later.
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build() else {
            std::thread::sleep(PAUSE_AFTER_PANIC);
            continue;
        };
        // The loop is a task, not the future that `block_on` polls, because waking that future costs a write to the
        // reactor's eventfd and another turn of epoll.
        if runtime.block_on(runtime.spawn(turn(Arc::clone(shared)))).is_err() {
            // Dropping the runtime drops every attempt over a socket, so that no attempt reports after `recover` ended
            // it.
            drop(runtime);
            // The panic's message is on stderr. The loop goes on, because a node without a prober is worse than a lost
            // turn; the pause keeps a panic that comes back from filling the disk.
            shared.lock().engine_stats.panics += 1;
            std::thread::sleep(PAUSE_AFTER_PANIC);
        }
    }
    close_journal(shared);
    close_recorder(shared);
}

async fn turn(shared: Arc<Shared>) {
    let overdue = shared.lock().engine_stats.overdue;
    let pool = AttemptPool::new(shared.clock.clone(), overdue, Arc::clone(&shared.suspects));
    let Ok((mut pool, mut alarm)) = pool.and_then(|pool| pool.alarm().map(|alarm| (pool, alarm))) else {
        // Without file descriptors there is no timer, as there is no reactor.
        std::thread::sleep(PAUSE_AFTER_PANIC);
        return;
    };
    let (mut ended, mut starts) = (Vec::new(), Vec::new());
    let mut held = ConnectFirst::default();
    let mut helper = HelperClient::default();
    let table = shared.lock_journal().map(|journal| journal.table());
    recover(&shared);
    while !shared.closing.load(Ordering::Acquire) {
        pool.turn();
        pool.finished(&mut ended);
        let settled = settle(&shared, &pool, &mut helper, &mut ended, &mut starts, !held.is_empty());
        let beat = settled.has_attempts.then(|| settled.now + BEAT);
        pool.turned(settled.now, beat);
        let is_sent = helper.send_due(LoopTime { now: settled.now, overdue: pool.overdue(settled.now) });
        if held.holds(starts.len(), settled.now) {
            connect(&mut pool, &shared.clock, &mut starts, &mut held).await;
            continue;
        }
        let mut launch = |start| {
            pool.launch(start);
            #[cfg(test)]
            shared.trap.spring(Moment::Launching, || true);
        };
        starts.drain(..).for_each(&mut launch);
        if !held.is_empty() {
            held.let_go(settled.now, launch);
            others_first().await;
            continue;
        }
        if pool.has_finished() {
            others_first().await;
            continue;
        }
        if !is_sent {
            continue;
        }
        alarm.set(pool.wakes_at(settled.wakes_at.into_iter().chain(beat).min()));
        let rung = async {
            let for_the_journal = async {
                match &table {
                    Some(table) => table.bell.notified().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = for_the_journal => Bell::Journals,
                () = shared.bell.notified() => Bell::Callers,
            }
        };
        if let Some(Bell::Callers) = pool.wait(rung, helper.readable()).await {
            alarm.hurry();
            pool.wait(std::future::pending::<()>(), helper.readable()).await;
        }
    }
}

/// Asks for the connections of these attempts, without a task for each, and holds the attempts. Those without a
/// connection to wait beside begin at once.
async fn connect(pool: &mut AttemptPool, clock: &Clock, starts: &mut Vec<Start>, held: &mut ConnectFirst) {
    for (number, mut start) in starts.drain(..).enumerate() {
        if start.connect(clock.now()) {
            held.hold(start);
        } else {
            pool.launch(start);
        }
        if number % CONNECTED_TOGETHER == CONNECTED_TOGETHER - 1 {
            let now = clock.now();
            pool.turned(now, Some(now + BEAT));
            others_first().await;
            pool.turn();
        }
    }
    others_first().await;
}

/// Ends the attempts that an earlier loop had taken out when it panicked; the first loop finds none.
fn recover(shared: &Shared) {
    let (now, wall) = (shared.clock.now(), shared.clock.wall());
    shared.lock().recover(&shared.starving, now, wall.wall_ms(now));
}

/// Lets the runtime look at the sockets that it watches itself.
async fn others_first() {
    let mut is_over = false;
    poll_fn(|context| {
        if std::mem::replace(&mut is_over, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Whose bell ended a wait.
enum Bell {
    Callers,
    Journals,
}

/// The result of a turn.
struct Settled {
    now: Instant,
    /// When this thread is to wake for what is due next.
    wakes_at: Option<Instant>,
    /// Whether attempts of this thread are in flight.
    has_attempts: bool,
}

/// One turn under the lock: finishes attempts that have ended, settles the core, hands out its outputs.
///
/// The thread may be awake because of an answer. What is due then waits for its own wake-up unless `is_urgent`, because
/// probes that begin together wake their targets together, and the thread has fewer turns.
fn settle(
    shared: &Shared,
    pool: &AttemptPool,
    helper: &mut HelperClient,
    ended: &mut Vec<EndedAttempt>,
    starts: &mut Vec<Start>,
    is_urgent: bool,
) -> Settled {
    let time = |now| LoopTime { now, overdue: pool.overdue(now) };
    helper.read(time(shared.clock.now()));
    let mut journal = shared.lock_journal();
    let mut state = shared.lock();
    let (now, wall) = (shared.clock.now(), shared.clock.wall());
    state.engine_stats.overdue = pool.overdue(now);
    state.take_from_helper(helper, &shared.starving, time(now), wall.wall_ms(now));
    state.manager.prober_mut().handle_wall_offset(wall);
    let is_due = is_urgent || wake_up(&mut state, shared.wake_slack, []).is_some_and(|at| at <= now);
    if is_due {
        state.manager.prober().places_due(now).for_each(prefetch);
    }
    for ended in ended.drain(..) {
        #[cfg(test)]
        shared.trap.spring(Moment::Finishing, || true);
        state.finish(ended, &shared.starving, now, wall.wall_ms(now));
    }
    if is_due {
        state.manager.settle(now);
        state.caller_timers.settled(now);
    } else {
        state.manager.settle_inputs(now);
    }
    state.hand_out_all(shared, now, wall);
    std::mem::swap(&mut state.starts, starts);
    helper.take_due(&mut state.direct);
    let has_attempts = state.engine_stats.in_flight > state.execs.len() as u64 || helper.is_busy();
    state.looks_at = state.manager.prober_mut().next_deadline();
    let writing = journal.as_mut().and_then(|journal| turn_journal(journal, &mut state, shared, now, wall));
    let recording = turn_recorder(&mut state, shared, now, wall);
    let wakes_at = wake_up(&mut state, shared.wake_slack, [writing, recording].into_iter().flatten());
    drop(state);
    shared.mailbox.ring();
    Settled { now, wakes_at, has_attempts }
}

/// When the thread wakes for the core and for `others`.
fn wake_up(state: &mut State, slack: Duration, others: impl IntoIterator<Item = Instant>) -> Option<Instant> {
    let deadline = state.manager.prober_mut().next_deadline();
    let is_together = deadline.is_some_and(|deadline| state.manager.prober().is_on_phase_grid(deadline));
    let patience = Patience::of(slack, state.worker_stats.has_only_execs());
    patience.wake_up(deadline, is_together, state.caller_timers.next().into_iter().chain(others))
}

/// The journal's part of a turn; returns when the journal next needs a turn of its own.
fn turn_journal(
    journal: &mut JournalSync,
    state: &mut State,
    shared: &Shared,
    now: Instant,
    wall: WallOffset,
) -> Option<Instant> {
    let State { manager, worker_stats, gone, journal_tokens, engine_stats, .. } = state;
    let said = journal.turn(manager.prober_mut(), worker_stats, gone, journal_tokens, now, wall);
    engine_stats.journal = journal.tally();
    shared.mailbox.post(said);
    journal.deadline()
}

/// Gives the flight recorder its turn; returns when it needs the next one.
fn turn_recorder(state: &mut State, shared: &Shared, now: Instant, wall: WallOffset) -> Option<Instant> {
    let State { manager, recorder, engine_stats, .. } = state;
    let recorder = recorder.as_mut()?;
    let notices = recorder.turn(manager.prober(), now, wall);
    engine_stats.recorder = Some(recorder.tally());
    shared.mailbox.post(Batch::of_notices(notices));
    recorder.deadline()
}

/// Writes what the flight recorder still has. It leaves the state first, because the disk may hang.
fn close_recorder(shared: &Shared) {
    let recorder = shared.lock().recorder.take();
    if let Some(mut recorder) = recorder {
        shared.mailbox.post(Batch::of_notices(recorder.close(shared.clock.now())));
        shared.mailbox.ring();
    }
}

/// Writes the last changes to the journal, whether they are due or not.
fn close_journal(shared: &Shared) {
    if let Some(mut journal) = shared.lock_journal() {
        let changes = {
            let State { manager, worker_stats, gone, .. } = &mut *shared.lock();
            journal.last_changes(manager.prober_mut(), worker_stats, gone, shared.clock.wall())
        };
        shared.mailbox.post(Batch::of_notices(journal.close(changes)));
        shared.mailbox.ring();
    }
}

/// After so many connections, which take ten milliseconds, the attempts in flight have their turn.
const CONNECTED_TOGETHER: usize = 1_024;
const PAUSE_AFTER_PANIC: Duration = Duration::from_secs(1);
