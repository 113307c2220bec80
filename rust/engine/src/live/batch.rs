//! The changes since Python last drained the mailbox, bounded in number and bytes.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use probelet_core::prober::{Event, Removal, Update};
use probelet_core::results::ProbeResult;
use probelet_core::spec::ProbeType;

use super::exec::{EnteredExec, ExecAttempt};
use super::suspects::SuspectAnswer;
use super::turn::Turn;

/// A result that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which cache.
    pub probe_type: ProbeType,
    /// The container's ID.
    pub container_id: Arc<str>,
    /// The pod's UID.
    pub pod_uid: Arc<str>,
    /// The new result; None if the cache no longer has one.
    pub result: Option<ProbeResult>,
}

impl From<Update> for Change {
    fn from(update: Update) -> Self {
        let Update { probe_type, container_id, pod_uid, result } = update;
        Self { probe_type, container_id, pod_uid, result: Some(result) }
    }
}

impl From<Removal> for Change {
    fn from(removal: Removal) -> Self {
        let Removal { probe_type, container_id, pod_uid } = removal;
        Self { probe_type, container_id, pod_uid, result: None }
    }
}

/// A line for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Whether something is wrong.
    pub is_warning: bool,
    /// The line.
    pub text: String,
}

impl Notice {
    pub(super) const fn info(text: String) -> Self {
        Self { is_warning: false, text }
    }

    pub(super) const fn warning(text: String) -> Self {
        Self { is_warning: true, text }
    }
}

/// Everything since the last drain.
#[derive(Debug, Default)]
pub struct Batch {
    /// Results that changed: the latest per (type, container), bounded by the number of workers.
    pub updates: Vec<Change>,
    /// Pods that want a sync, each once.
    pub syncs: Vec<Arc<str>>,
    /// Events with the Unix milliseconds of their moment.
    pub events: VecDeque<(i64, Event)>,
    /// Attempts that say something new, oldest first, if the engine watches turns.
    pub turns: VecDeque<Turn>,
    /// Answers that wait for the caller's word: at most one per attempt in flight.
    pub answers: Vec<SuspectAnswer>,
    /// Exec attempts: at most one per worker is under way.
    pub execs: Vec<ExecAttempt>,
    /// What became of the commands of [`Engine::enter_exec`](super::Engine::enter_exec).
    pub entered: Vec<EnteredExec>,
    /// Tokens of timers that were due.
    pub timers: Vec<u64>,
    update_places: HashMap<(ProbeType, Arc<str>), usize>,
    sync_places: HashSet<Arc<str>>,
    /// Bytes of all messages of `events`.
    event_bytes: usize,
    /// Events that were dropped because the mailbox was not drained in time.
    pub dropped_events: u64,
    /// Turns that were dropped for the same reason.
    pub dropped_turns: u64,
    /// Lines for the log. The journal writes them at the start; journal and flight recorder whenever writing fails, hangs
    /// or works again; the prober when it was starved.
    pub notices: Vec<Notice>,
}

impl Batch {
    /// A batch that has only lines for the log.
    pub fn of_notices(notices: impl IntoIterator<Item = Notice>) -> Self {
        Self { notices: notices.into_iter().collect(), ..Self::default() }
    }

    /// Whether the batch has nothing for Python.
    pub fn is_empty(&self) -> bool {
        self.updates.is_empty()
            && self.syncs.is_empty()
            && self.events.is_empty()
            && self.turns.is_empty()
            && self.answers.is_empty()
            && self.execs.is_empty()
            && self.entered.is_empty()
            && self.timers.is_empty()
            && self.notices.is_empty()
    }

    /// Adds a changed result, which replaces an older change of the same cache entry.
    pub fn push_update(&mut self, update: Change) {
        let place = (update.probe_type, Arc::clone(&update.container_id));
        match self.update_places.get(&place) {
            Some(&index) => self.updates[index] = update,
            None => {
                self.update_places.insert(place, self.updates.len());
                self.updates.push(update);
            }
        }
    }

    /// Adds a pod that wants a sync.
    pub fn push_sync(&mut self, pod_uid: Arc<str>) {
        if self.sync_places.insert(Arc::clone(&pod_uid)) {
            self.syncs.push(pod_uid);
        }
    }

    /// Adds an event; drops the oldest events beyond the bounds.
    pub fn push_event(&mut self, at_ms: i64, event: Event) {
        self.event_bytes += event.message.len();
        self.events.push_back((at_ms, event));
        while self.events.len() > MAX_EVENTS || self.event_bytes > MAX_EVENT_BYTES {
            let Some((_, oldest)) = self.events.pop_front() else { return };
            self.event_bytes -= oldest.message.len();
            self.dropped_events += 1;
        }
    }

    /// Adds a turn; drops the oldest turns beyond the bound.
    pub(super) fn push_turn(&mut self, turn: impl IntoIterator<Item = Turn>) {
        self.turns.extend(turn);
        while self.turns.len() > MAX_TURNS {
            self.turns.pop_front();
            self.dropped_turns += 1;
        }
    }

    /// Adds a batch that was posted after this one.
    pub(super) fn absorb(&mut self, other: Self) {
        other.updates.into_iter().for_each(|update| self.push_update(update));
        other.syncs.into_iter().for_each(|uid| self.push_sync(uid));
        other.events.into_iter().for_each(|(at_ms, event)| self.push_event(at_ms, event));
        self.push_turn(other.turns);
        self.answers.extend(other.answers);
        self.execs.extend(other.execs);
        self.entered.extend(other.entered);
        self.timers.extend(other.timers);
        self.dropped_events += other.dropped_events;
        self.dropped_turns += other.dropped_turns;
        self.notices.extend(other.notices);
    }
}

/// Events kept while Python does not drain the mailbox: bounds the memory that an event storm costs.
const MAX_EVENTS: usize = 10_000;
/// Bytes of event messages kept, because a target decides how long its messages are, up to the limit of an output.
const MAX_EVENT_BYTES: usize = 16 << 20;

/// Turns kept while Python does not drain the mailbox: all workers of a large node at once, in a few megabytes.
const MAX_TURNS: usize = 10_000;

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use probelet_core::prober::Reason;
    use probelet_play::cause::Cause;
    use probelet_play::history::OutcomeKind;

    use super::*;
    use crate::attempt::timings::Timings;
    use crate::stats::LastAttempt;

    pub(in super::super) fn with(fill: impl FnOnce(&mut Batch)) -> Batch {
        let mut batch = Batch::default();
        fill(&mut batch);
        batch
    }

    fn event(message: &[u8]) -> Event {
        Event {
            pod_uid: "u".into(),
            field_path: "spec.containers{c}".into(),
            reason: Reason::Unhealthy,
            message: message.into(),
            streak: None,
        }
    }

    fn storm(events: usize, event: &Event) -> Batch {
        with(|batch| (0..events).for_each(|at_ms| batch.push_event(at_ms as i64, event.clone())))
    }

    #[test]
    fn an_event_storm_keeps_the_newest_and_counts_the_rest() {
        let batch = storm(MAX_EVENTS + 5, &event(b"m"));
        assert_eq!((batch.events.len(), batch.events[0].0, batch.dropped_events), (MAX_EVENTS, 5, 5));
    }

    #[test]
    fn long_messages_count_by_their_bytes() {
        let message = [b'm'; 10_240];
        let kept = MAX_EVENT_BYTES / message.len();
        let batch = storm(kept + 5, &event(&message));
        assert_eq!((batch.events.len(), batch.events[0].0, batch.dropped_events), (kept, 5, 5));
    }

    fn turns(count: usize) -> Batch {
        let turn = |at_ms| Turn {
            pod_uid: "u".into(),
            container: "c".into(),
            probe_type: ProbeType::Liveness,
            attempt: LastAttempt {
                at_ms,
                outcome: OutcomeKind::Failure,
                cause: Cause::Refused,
                message: "refused".into(),
                duration: Duration::ZERO,
                lateness: Duration::ZERO,
                overdue: Duration::ZERO,
                timings: Timings::ZERO,
            },
        };
        with(|batch| batch.push_turn((0..count).map(|at| turn(at as i64))))
    }

    #[test]
    fn a_storm_of_turns_keeps_the_newest_and_counts_the_rest() {
        let mut batch = turns(MAX_TURNS + 2);
        assert_eq!((batch.turns.len(), batch.turns[0].attempt.at_ms, batch.dropped_turns), (MAX_TURNS, 2, 2));
        batch.absorb(turns(3));
        assert_eq!((batch.turns.len(), batch.turns[0].attempt.at_ms, batch.dropped_turns), (MAX_TURNS, 5, 5));
        assert!(!turns(1).is_empty());
    }

    #[test]
    fn what_two_batches_dropped_adds_up() {
        let mut batch = storm(MAX_EVENTS + 2, &event(b"m"));
        batch.absorb(storm(MAX_EVENTS + 3, &event(b"m")));
        assert_eq!((batch.events.len(), batch.dropped_events), (MAX_EVENTS, MAX_EVENTS as u64 + 5));
    }
}
