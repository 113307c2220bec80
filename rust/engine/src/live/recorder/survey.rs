//! The states of all pods after the start of a segment, a few pods at a turn, because the engine's thread also probes.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use probelet_core::prober::Prober;
use probelet_core::time::{Instant, WallOffset};

use super::known_pods::KnownPods;
use crate::journal::{Record, WorkerRecord};
use crate::recorder::{Event, Pending, PodRecord, PodState, StatusRecord, WorkerState};

/// The pods whose state this segment does not have yet.
#[derive(Debug, Default)]
pub(super) struct Survey {
    left: VecDeque<Arc<str>>,
    /// Until when a pod with an attempt in flight waits: its state before the attempt's end cannot be played from.
    patience: Option<Instant>,
}

impl Survey {
    /// Begins with all pods.
    pub(super) fn begin(&mut self, pods: &KnownPods, now: Instant) {
        self.left = pods.uids().map(Arc::clone).collect();
        self.patience = Some(now + PATIENCE);
    }

    /// When the next pods are due, if any are left.
    pub(super) fn deadline(&self, now: Instant) -> Option<Instant> {
        (!self.left.is_empty()).then(|| now + PAUSE)
    }

    /// Notes the states of a few pods.
    pub(super) fn go_on(
        &mut self,
        prober: &Prober,
        pods: &KnownPods,
        pending: &mut Pending,
        now: Instant,
        wall: WallOffset,
    ) {
        for _ in 0..PORTION.min(self.left.len()) {
            let Some(uid) = self.left.pop_front() else { return };
            let is_busy = || prober.worker_states(Some(&uid)).iter().any(|worker| worker.in_flight);
            if self.patience.is_some_and(|end| now < end) && is_busy() {
                self.left.push_back(uid);
            } else if let Some(state) = state(prober, pods, &uid, wall) {
                pending.event(now.as_nanos() / 1_000, Event::Pod(state));
            }
        }
    }
}

/// The whole state of a pod; None for one that was never defined or is gone.
fn state(prober: &Prober, pods: &KnownPods, uid: &str, wall: WallOffset) -> Option<PodState> {
    let (known, pod) = (pods.get(uid)?, prober.pod(uid)?);
    let workers = prober.worker_states(Some(uid)).into_iter().map(|worker| WorkerState {
        worker: worker.id,
        container: (&*worker.target.container.name).into(),
        probe_type: worker.target.probe_type,
        memory: memory(prober, worker.id, wall),
    });
    Some(PodState {
        pod: known.number,
        record: PodRecord::of(pod),
        is_supplied: known.is_supplied,
        status: prober.pod_status(uid).map(StatusRecord::of),
        facts: known.facts.clone(),
        workers: workers.collect(),
    })
}

fn memory(prober: &Prober, worker: u32, wall: WallOffset) -> Option<WorkerRecord> {
    match Record::of(&prober.memory(worker)?, wall) {
        // The count goes on in what is played, so it is not in doubt.
        Record::Worker(_, memory) => Some(WorkerRecord { in_doubt: false, ..memory }),
        _ => None,
    }
}

/// Pods at a turn: some tens of microseconds.
const PORTION: usize = 16;

/// From one turn to the next on a node where nothing else happens.
const PAUSE: Duration = Duration::from_millis(10);

/// Longer than usual timeouts. A pod whose probes hang all the time is noted after that, without their attempts.
const PATIENCE: Duration = Duration::from_secs(30);
