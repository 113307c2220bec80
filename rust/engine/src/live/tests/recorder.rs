//! A live engine with a flight recorder: what it did is on disk.

use std::path::PathBuf;
use std::time::Duration;

use probelet_core::results::ProbeResult;
use probelet_core::spec::{Handler, IntOrString, ProbeType};
use probelet_play::pods::PodCalls;
use probelet_play::recording::{End, Input, Recording};
use probelet_play::whatif::{Assumption, play};

use super::super::flight_recorder::RecorderOptions;
use super::rig::{Rig, container_id, uid};
use crate::flight_recorder::read_path;

/// A directory of its own.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("probelet-flight-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).expect("a directory");
        Self(path)
    }

    fn options(&self) -> RecorderOptions {
        RecorderOptions { directory: self.0.join("ring"), size: 1 << 20, node: "node-a".into() }
    }

    fn read(&self) -> Recording {
        read_path(&self.0.join("ring")).expect("a recording")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn attempts_calls_and_results_of_sockets_and_commands_are_recorded() {
    let folder = Folder::new("all");
    let rig = Rig::recorded(2, 1, folder.options());
    rig.probed(3, 3);
    rig.into_engine().close();
    let recording = folder.read();
    assert_eq!((&*recording.node, recording.stretches.len(), recording.lost), ("node-a", 1, 0));
    let pods = &recording.stretches[0].pods;
    assert_eq!(pods.iter().map(|pod| pod.record.uid.to_string()).collect::<Vec<_>>(), [uid(0), uid(1), uid(2)]);
    for pod in pods {
        let images: Vec<_> = pod.images.iter().map(|(container, images)| (&**container, images.clone())).collect();
        assert_eq!(images, [("c", vec!["web:1".into()])]);
        let inputs: Vec<_> = pod.inputs.iter().map(|told| &told.input).collect();
        assert!(matches!(inputs[..], [Input::Take, Input::TakeStatus(_)]), "{inputs:?}");
        // The container was there long before the engine, so that it has no first result.
        assert_eq!(pod.results.iter().map(|it| it.result).collect::<Vec<_>>(), [ProbeResult::Success]);
        let attempts: Vec<_> = pod.attempts.values().flatten().collect();
        assert!(attempts.len() >= 2, "{attempts:?}");
        for attempt in &attempts {
            assert_eq!(attempt.end, End::Success);
            assert!(attempt.scheduled_us <= attempt.began_us && attempt.began_us <= attempt.ended_us);
        }
        let played = play(&recording.stretches[0], pod, &[], Assumption::Failing);
        assert_eq!((played.published, played.counts.unknown), (pod.results.clone(), 0));
        for pair in attempts.windows(2) {
            assert_eq!(
                pair[1].scheduled_us - pair[0].scheduled_us,
                1_000_000,
                "the grid, however late the attempt was"
            );
        }
    }
}

#[test]
fn a_pause_is_recorded_and_a_play_makes_no_attempt_in_it_either() {
    let folder = Folder::new("pause");
    let rig = Rig::recorded(1, 0, folder.options());
    rig.probed(1, 2);
    let until = rig.engine.now() + Duration::from_secs(30);
    assert!(rig.engine.pause(&uid(0), "c", ProbeType::Readiness, until));
    rig.engine.advance(Duration::from_secs(10));
    rig.engine.advance(Duration::from_secs(25));
    rig.probed(1, 2);
    rig.into_engine().close();
    let recording = folder.read();
    let pod = &recording.stretches[0].pods[0];
    let paused =
        pod.inputs.iter().filter(|told| matches!(&told.input, Input::Pause(pause) if &*pause.container == "c"));
    assert_eq!(paused.count(), 1);
    let played = play(&recording.stretches[0], pod, &[], Assumption::Failing);
    assert_eq!((played.published, played.counts.unknown), (pod.results.clone(), 0));
}

#[test]
fn a_change_of_a_probe_is_recorded_and_a_play_takes_it_too() {
    let folder = Folder::new("change");
    let rig = Rig::recorded(1, 0, folder.options());
    rig.probed(1, 2);
    rig.change(0, Handler::TcpSocket { host: "".into(), port: IntOrString::Str("nowhere".into()) });
    rig.change(0, Handler::TcpSocket { host: "".into(), port: IntOrString::Int(1) });
    while PodCalls::result(&&*rig.engine, ProbeType::Readiness, &container_id(0, 0)) != Some(ProbeResult::Failure) {
        rig.known(1);
    }
    rig.into_engine().close();
    let recording = folder.read();
    let pod = &recording.stretches[0].pods[0];
    assert_eq!(pod.inputs.iter().filter(|told| told.input == Input::ChangeProbes).count(), 2);
    assert_eq!(
        pod.results.iter().map(|it| it.result).collect::<Vec<_>>(),
        [ProbeResult::Success, ProbeResult::Failure]
    );
    let played = play(&recording.stretches[0], pod, &[], Assumption::Failing);
    assert_eq!((played.published, played.counts.unknown), (pod.results.clone(), 0));
}

/// What a kill leaves: nothing is closed, and what is older than a second or two is on disk.
#[test]
fn what_happened_before_a_kill_is_on_disk() {
    let folder = Folder::new("kill");
    let rig = Rig::recorded(1, 0, folder.options());
    rig.probed(1, 2);
    let has_attempts = || folder.read().stretches.iter().flat_map(|it| &it.pods).any(|pod| !pod.attempts.is_empty());
    let end = std::time::Instant::now() + Duration::from_secs(30);
    rig.engine.advance(Duration::from_secs(2));
    while !folder.0.join("ring/00000001.segment").exists() || !has_attempts() {
        assert!(std::time::Instant::now() < end, "it is written in time");
        rig.probed(1, 1);
    }
}

/// A segment ends when it has had its share; the next one has the states of all pods, and goes on without a loss.
#[test]
fn a_recording_goes_on_in_another_segment_with_all_pods() {
    let folder = Folder::new("segments");
    let rig = Rig::recorded(1, 0, folder.options());
    let second = folder.0.join("ring/00000002.segment");
    // Pods that come and go fill a segment faster than attempts do.
    for round in 0..1_000 {
        let pods = 1 + round * 100..1 + (round + 1) * 100;
        rig.add_execs(pods.clone());
        rig.remove(pods);
        rig.engine.advance(Duration::from_secs(2));
        rig.probed(1, 1);
        if second.exists() {
            break;
        }
    }
    rig.probed(1, 3);
    rig.engine.advance(Duration::from_secs(60));
    rig.probed(1, 3);
    rig.into_engine().close();
    let whole = folder.read();
    assert_eq!((whole.stretches.len(), whole.lost), (1, 0));
    std::fs::remove_file(folder.0.join("ring/00000001.segment")).expect("the first segment");
    let rest = folder.read();
    let pod = rest.stretches[0].pods.iter().find(|pod| *pod.record.uid == uid(0)).expect("the pod that is probed");
    let state = pod.state.as_ref().expect("its state came with the segment");
    assert_eq!(state.workers[0].memory.as_ref().expect("it saw a container").result, Some(ProbeResult::Success));
    assert!(pod.attempts.values().map(Vec::len).sum::<usize>() >= 3);
}
