//! The states of all pods after the start of a segment, a few pods at a turn, because the engine's thread also probes.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use probelet_core::prober::Prober;
use probelet_core::time::{Instant, WallOffset};
use probelet_play::recording::{Call, Event, PodRecord, PodState, StatusRecord, WorkerState};
use probelet_play::worker_record::WorkerRecord;

use super::known_pods::KnownPods;
use crate::flight_recorder::Pending;

/// The pods whose state this segment does not have yet.
#[derive(Debug, Default)]
pub(super) struct Checkpoint {
    left: VecDeque<Arc<str>>,
    /// Until when a pod with an attempt in flight waits: its state before the attempt's end cannot be played from.
    patience: Option<Instant>,
}

impl Checkpoint {
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
                let (pod, now_us) = (state.pod, now.as_nanos() / 1_000);
                let images = Event::images(pod, &state.record);
                pending.event(now_us, Event::pod(state));
                if let Some(images) = images {
                    pending.event(now_us, images);
                }
                let pauses = pods.get(&uid).into_iter().flat_map(|pod| &pod.pauses);
                for pause in pauses.filter(|pause| pause.until_us > now_us) {
                    pending.event(now_us, Event::Called { pod, call: Call::Pause(pause.clone()) });
                }
            }
        }
    }
}

/// The whole state of a pod; None for one that was never defined or is gone.
fn state(prober: &Prober, pods: &KnownPods, uid: &str, wall: WallOffset) -> Option<PodState> {
    let (known, pod) = (pods.get(uid)?, prober.pod(uid)?);
    let workers = prober.worker_states(Some(uid)).into_iter().map(|worker| WorkerState {
        worker: worker.id,
        container: (&*worker.target.container().name).into(),
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
    // The count goes on in what is played, so it is not in doubt.
    Some(WorkerRecord { in_doubt: false, ..WorkerRecord::of(&prober.memory(worker)?, wall) })
}

/// Pods at a turn: some tens of microseconds.
const PORTION: usize = 16;

/// From one turn to the next on a node where nothing else happens.
const PAUSE: Duration = Duration::from_millis(10);

/// Longer than usual timeouts. A pod whose probes hang all the time is noted after that, without their attempts.
const PATIENCE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use probelet_core::prober::Settings;
    use probelet_core::spec::{PodSpec, ProbeType};
    use probelet_play::recording::{Entry, PauseRecord};

    use super::*;

    #[test]
    fn a_segment_says_again_which_pauses_go_on() {
        let now = Instant::from_nanos(10_000_000);
        let pause = |container: &str, until_us| PauseRecord {
            container: container.into(),
            probe_type: ProbeType::Liveness,
            until_us,
        };
        let mut prober = Prober::new(Settings::default(), now);
        prober.define_pod(Arc::new(PodSpec { uid: "u".into(), ..PodSpec::default() }));
        let (mut pods, mut checkpoint, mut pending) = (KnownPods::default(), Checkpoint::default(), Pending::default());
        let pod = pods.ensure("u").0;
        for (container, until_us) in [("a", 20_000), ("over", 9_000), ("a", 30_000), ("ended", 40_000), ("ended", 0)] {
            pod.keep(&pause(container, until_us));
        }
        checkpoint.begin(&pods, now);
        checkpoint.go_on(&prober, &pods, &mut pending, now, WallOffset(0));
        let entries = pending.take(Vec::new());
        let events: Vec<_> = entries
            .into_iter()
            .filter_map(|entry| match entry {
                Entry::Event { event, .. } => Some(*event),
                _ => None,
            })
            .collect();
        assert!(matches!(events[0], Event::Pod(_)), "{events:?}");
        assert_eq!(events[1..], [Event::Called { pod: 0, call: Call::Pause(pause("a", 30_000)) }]);
    }
}
