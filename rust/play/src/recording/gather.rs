//! Sorts the entries of segments into stretches and pods.

use std::collections::BTreeMap;
use std::sync::Arc;

use probelet_core::spec::ProbeType;

use super::entry::{Call, Entry, Event, Facts, PodState};
use super::pod::PodRecord;
use super::segment::Start;
use super::status::StatusRecord;
use super::stretch::{Begun, Input, PodLog, Published, Stretch, Told};

/// A stretch that is being read.
#[derive(Debug)]
pub(super) struct Gather {
    stretch: Stretch,
    /// The place of each pod's log, by the pod's number. A pod whose state has not come yet has none.
    pods: BTreeMap<u32, usize>,
    facts: BTreeMap<u32, Arc<StatusRecord>>,
    /// The engine's last turn before the calls that come next.
    turned_us: u64,
    workers: BTreeMap<u32, Worker>,
}

#[derive(Debug)]
struct Worker {
    log: usize,
    key: (Box<str>, ProbeType),
}

impl Gather {
    pub(super) fn new(start: Start) -> Self {
        let (end_us, walls, turned_us) = (start.at_us, vec![(start.at_us, start.wall_ns)], start.at_us);
        let stretch = Stretch { start, end_us, walls, pods: Vec::new() };
        Self { stretch, pods: BTreeMap::new(), facts: BTreeMap::new(), turned_us, workers: BTreeMap::new() }
    }

    /// Another segment goes on where the last one ended.
    pub(super) fn go_on(&mut self, start: &Start) {
        self.stretch.walls.push((start.at_us, start.wall_ns));
    }

    pub(super) fn end(self) -> Stretch {
        self.stretch
    }

    pub(super) fn take(&mut self, entry: Entry) {
        match entry {
            Entry::Attempt(attempt) => {
                self.stretch.end_us = self.stretch.end_us.max(attempt.ended_us);
                if let Some(worker) = self.workers.get(&attempt.worker) {
                    let log = &mut self.stretch.pods[worker.log];
                    match log.attempts.get_mut(&worker.key) {
                        Some(attempts) => attempts.push(attempt),
                        None => drop(log.attempts.insert(worker.key.clone(), vec![attempt])),
                    }
                }
            }
            Entry::Event { at_us, event } => {
                self.stretch.end_us = self.stretch.end_us.max(at_us);
                self.event(at_us, *event);
            }
            // The file's own beginning says it; a block has none.
            Entry::Segment(_) => {}
        }
    }

    fn event(&mut self, at_us: u64, event: Event) {
        match event {
            Event::Pod(state) => self.state(at_us, state),
            Event::Defined { pod, record } => self.defined(at_us, pod, record),
            Event::OptedPod(state, opted) => self.state(at_us, state.with_opted(&opted)),
            Event::OptedDefined { pod, record, opted } => self.defined(at_us, pod, record.with_opted(&opted)),
            Event::Called { pod, call } => self.called(at_us, pod, call),
            Event::WorkerStarted { worker, pod, container, probe_type, tick_us } => {
                if let Some(&log) = self.pods.get(&pod) {
                    let begun = Begun { at_us, container: container.clone(), probe_type, tick_us };
                    self.stretch.pods[log].workers.push(begun);
                }
                self.enrol(worker, pod, container, probe_type);
            }
            Event::WorkerEnded { worker } => drop(self.workers.remove(&worker)),
            Event::Result { pod, probe_type, container_id, result } => {
                if let Some(&log) = self.pods.get(&pod) {
                    let published = Published { at_us, probe_type, container_id, result };
                    self.stretch.pods[log].results.push(published);
                }
            }
            Event::Images { pod, images } => self.images(pod, images),
            Event::Turned => self.turned_us = at_us,
            Event::Wall(wall_ns) => self.stretch.walls.push((at_us, wall_ns)),
        }
    }

    /// A pod's state repeats what is known, unless the pod's log has not begun yet.
    fn state(&mut self, at_us: u64, mut state: PodState) {
        if self.pods.contains_key(&state.pod) {
            return;
        }
        let (pod, workers) = (state.pod, state.workers.clone());
        if let Some(facts) = state.facts.take() {
            self.facts.insert(pod, Arc::new(facts));
        }
        state.facts = self.facts.get(&pod).map(|facts| (**facts).clone());
        let log = PodLog { record: state.record.clone(), from_us: at_us, state: Some(state), ..PodLog::default() };
        self.open(pod, log);
        for worker in workers {
            self.enrol(worker.worker, pod, worker.container, worker.probe_type);
        }
    }

    fn defined(&mut self, at_us: u64, pod: u32, record: PodRecord) {
        match self.pods.get(&pod) {
            Some(&log) => self.told(log, at_us, Input::Define(Arc::new(record))),
            None => self.open(pod, PodLog { record, from_us: at_us, ..PodLog::default() }),
        }
    }

    /// The images of a pod, which every segment repeats.
    fn images(&mut self, pod: u32, images: Vec<(Box<str>, Box<str>)>) {
        let Some(&log) = self.pods.get(&pod) else { return };
        for (container, image) in images {
            let known = self.stretch.pods[log].images.entry(container).or_default();
            if !known.contains(&image) {
                known.push(image);
            }
        }
    }

    fn told(&mut self, log: usize, at_us: u64, input: Input) {
        let turned_us = self.turned_us.min(at_us);
        self.stretch.pods[log].inputs.push(Told { at_us, turned_us, input });
    }

    fn open(&mut self, pod: u32, log: PodLog) {
        self.pods.insert(pod, self.stretch.pods.len());
        self.stretch.pods.push(log);
    }

    fn enrol(&mut self, worker: u32, pod: u32, container: Box<str>, probe_type: ProbeType) {
        if let Some(&log) = self.pods.get(&pod) {
            self.workers.insert(worker, Worker { log, key: (container, probe_type) });
        }
    }

    fn called(&mut self, at_us: u64, pod: u32, call: Call) {
        let input = match call {
            Call::Add => Some(Input::Add),
            Call::Take => Some(Input::Take),
            Call::Forget => Some(Input::Forget),
            Call::Remove => Some(Input::Remove),
            Call::RemoveStatus => Some(Input::RemoveStatus),
            Call::StopLivenessAndStartup => Some(Input::StopLivenessAndStartup),
            Call::SetStatus(facts) => self.facts(pod, facts).map(Input::SetStatus),
            Call::Sync(facts) => self.facts(pod, facts).map(Input::Sync),
            Call::SyncTerminated(facts) => self.facts(pod, facts).map(Input::SyncTerminated),
            Call::SyncTerminating(facts) => self.facts(pod, facts).map(Input::SyncTerminating),
            Call::TakeStatus(facts) => self.facts(pod, facts).map(Input::TakeStatus),
            Call::Update(facts) => self.facts(pod, facts).map(Input::Update),
            Call::Pause(pause) => Some(Input::Pause(pause)),
            Call::ChangeProbes => Some(Input::ChangeProbes),
            Call::Recheck(container) => Some(Input::Recheck(container)),
        };
        let Some(input) = input else { return };
        let is_last = input == Input::Forget;
        if let Some(&log) = self.pods.get(&pod) {
            self.told(log, at_us, input);
        }
        if is_last {
            self.pods.remove(&pod);
            self.facts.remove(&pod);
        }
    }

    /// The facts of a call; None if they are those of a call that was not kept.
    fn facts(&mut self, pod: u32, facts: Facts) -> Option<Arc<StatusRecord>> {
        if let Facts::New(facts) = facts {
            self.facts.insert(pod, Arc::new(facts));
        }
        self.facts.get(&pod).map(Arc::clone)
    }
}
