//! The entries about pods, of which those with opt-ins ([`OptedProbe`]) and with images say more.

use super::entry::{Event, PodState, WorkerState};
use super::opted::OptedProbe;
use super::pod::PodRecord;

impl Event {
    /// The owner defined a pod.
    pub fn defined(pod: u32, record: PodRecord) -> Self {
        match record.opted() {
            opted if opted.is_empty() => Self::Defined { pod, record },
            opted => Self::OptedDefined { pod, record, opted },
        }
    }

    /// The whole state of a pod.
    pub fn pod(state: PodState) -> Self {
        let mut opted = state.record.opted();
        if opted.is_empty() {
            return Self::Pod(state);
        }
        for probe in &mut opted {
            let is_its = |worker: &&WorkerState| probe.is_of(&worker.container, worker.probe_type);
            if let Some(memory) = state.workers.iter().find(is_its).and_then(|worker| worker.memory.as_ref()) {
                (probe.window, probe.errors) = (memory.window, memory.errors);
            }
        }
        Self::OptedPod(state, opted)
    }

    /// The images of a pod; None if its owner names none.
    pub fn images(pod: u32, record: &PodRecord) -> Option<Self> {
        let named = record.containers.iter().filter(|container| !container.image.is_empty());
        let images: Vec<_> = named.map(|container| (container.name.clone(), container.image.clone())).collect();
        (!images.is_empty()).then_some(Self::Images { pod, images })
    }
}

impl PodState {
    /// The state with the opt-ins that stood beside it.
    pub(super) fn with_opted(mut self, opted: &[OptedProbe]) -> Self {
        self.record = self.record.with_opted(opted);
        for worker in &mut self.workers {
            let probe = opted.iter().find(|probe| probe.is_of(&worker.container, worker.probe_type));
            if let (Some(memory), Some(probe)) = (&mut worker.memory, probe) {
                (memory.window, memory.errors) = (probe.window, probe.errors);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::pod::{ContainerDefinition, HandlerKind, ProbeRecord};
    use super::*;
    use crate::worker_record::WorkerRecord;
    use probelet_core::options::{FailureWindow, Network, ProbeOptions};
    use probelet_core::results::ProbeResult;
    use probelet_core::spec::ProbeType;

    fn record(options: Option<ProbeOptions>) -> PodRecord {
        let probe = ProbeRecord {
            handler: HandlerKind::Exec,
            initial_delay_seconds: 0,
            timeout_seconds: 1,
            period_seconds: 10,
            success_threshold: 1,
            failure_threshold: 3,
            initialization_failure_threshold: 0,
            options,
        };
        let container =
            ContainerDefinition { name: "app".into(), probes: [None, None, Some(probe)], ..Default::default() };
        PodRecord { uid: "u".into(), containers: vec![container], ..PodRecord::default() }
    }

    fn state(options: Option<ProbeOptions>, window: u64, errors: i32) -> PodState {
        let memory = WorkerRecord {
            container_id: "c://1".into(),
            result: None,
            last_result: ProbeResult::Failure,
            result_run: 1,
            on_hold: false,
            has_initialized: true,
            window,
            errors,
            in_doubt: false,
            tick_ns: 0,
            period: std::time::Duration::from_secs(10),
        };
        let worker =
            WorkerState { worker: 0, container: "app".into(), probe_type: ProbeType::Liveness, memory: Some(memory) };
        PodState { record: record(options), workers: vec![worker], ..PodState::default() }
    }

    fn written_and_read(event: &Event) -> Event {
        postcard::from_bytes(&postcard::to_stdvec(event).expect("plain data")).expect("it was just written")
    }

    #[test]
    fn opt_ins_and_their_counts_survive_the_bytes() {
        let options = ProbeOptions {
            failures: Some(FailureWindow::new(10, 4)),
            failure_after_errors: 3,
            network: Network::PodOrNode,
            ..ProbeOptions::default()
        };
        let Event::OptedDefined { record: read, opted, .. } =
            written_and_read(&Event::defined(1, record(Some(options))))
        else {
            panic!("a pod with opt-ins")
        };
        assert_eq!(read.with_opted(&opted), record(Some(options)));
        let before = state(Some(options), 0b1011, 2);
        let Event::OptedPod(read, opted) = written_and_read(&Event::pod(before.clone())) else {
            panic!("a pod with opt-ins")
        };
        assert_eq!(read.with_opted(&opted), before);
    }

    #[test]
    fn images_stand_beside_a_pod_whose_bytes_are_those_of_earlier_releases() {
        let mut named = record(None);
        named.containers[0].image = "web:2".into();
        let bytes = |record: &PodRecord| postcard::to_stdvec(&Event::defined(1, record.clone())).expect("plain data");
        assert_eq!(bytes(&named), bytes(&record(None)));
        let images = Event::images(1, &named).expect("a pod with an image");
        assert_eq!(written_and_read(&images), Event::Images { pod: 1, images: vec![("app".into(), "web:2".into())] });
        assert_eq!(Event::images(1, &record(None)), None);
    }

    #[test]
    fn a_pod_without_opt_ins_is_written_as_ever() {
        assert!(matches!(Event::defined(1, record(None)), Event::Defined { pod: 1, .. }));
        assert!(matches!(Event::pod(state(None, 0, 0)), Event::Pod(_)));
    }
}
