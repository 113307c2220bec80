//! The calls that a pod's owner makes, with one contract for the live engine and for the simulation.

use std::collections::BTreeSet;
use std::sync::Arc;

use probelet_core::podstatus::PodStatus;
use probelet_core::results::ProbeResult;
use probelet_core::spec::{PodSpec, ProbeType};
use probelet_core::status::StatusManager;

use crate::json::StatusDocument;
use crate::recording::{Call, Note};

/// The kubelet's calls of its prober (pkg/kubelet/prober/prober_manager.go, 1.36) and of the status layer above it.
///
/// An implementation lends its status layer; every call follows from that. A call changes the state and returns. The
/// live engine's thread and [`crate::simulation::Simulation::settle`] carry out what follows from the change.
pub trait PodCalls {
    /// Lends the status layer for reading.
    fn read<T>(&self, read: impl FnOnce(&StatusManager) -> T) -> T;

    /// Lends the status layer for a change, which a flight recorder notes. `note` is None unless [`PodCalls::is_noted`].
    fn change<T>(&mut self, note: Option<Note>, change: impl FnOnce(&mut StatusManager) -> T) -> T;

    /// Whether a flight recorder notes the calls.
    fn is_noted(&self) -> bool {
        false
    }

    /// The note of a call; None without a recorder.
    fn noted(&self, note: impl FnOnce() -> Note) -> Option<Note> {
        self.is_noted().then(note)
    }

    /// Defines a pod; a pod with the same UID is replaced for later calls of [`PodCalls::add_pod`].
    fn define_pod(&mut self, pod: PodSpec) {
        let note = self.noted(|| Note::defined(&pod));
        self.change(note, |manager| manager.prober_mut().define_pod(Arc::new(pod)));
    }

    /// AddPod; false if the pod was not defined.
    fn add_pod(&mut self, uid: &str) -> bool {
        let note = self.noted(|| Note::called(uid, Call::Add));
        self.change(note, |manager| manager.prober_mut().add_pod(uid))
    }

    /// SyncPod; None if the pod was not defined.
    fn sync_pod(&mut self, uid: &str, facts: PodStatus) -> Option<StatusDocument> {
        let note = self.noted(|| Note::told(uid, Call::Sync, &facts));
        self.change(note, |manager| {
            manager.sync_pod(uid, facts)?;
            document(manager, uid)
        })
    }

    /// SyncTerminatingPod; None if the pod was not defined.
    fn sync_terminating_pod(&mut self, uid: &str, facts: PodStatus) -> Option<StatusDocument> {
        let note = self.noted(|| Note::told(uid, Call::SyncTerminating, &facts));
        self.change(note, |manager| {
            manager.sync_terminating_pod(uid, facts)?;
            document(manager, uid)
        })
    }

    /// SyncTerminatedPod; None if the pod was not defined.
    fn sync_terminated_pod(&mut self, uid: &str, facts: PodStatus) -> Option<StatusDocument> {
        let note = self.noted(|| Note::told(uid, Call::SyncTerminated, &facts));
        self.change(note, |manager| {
            manager.sync_terminated_pod(uid, facts)?;
            document(manager, uid)
        })
    }

    /// The status as a caller last set it, with every result since.
    fn status(&self, uid: &str) -> Option<StatusDocument> {
        self.read(|manager| document(manager, uid))
    }

    /// Sets the pod's status.
    fn set_pod_status(&mut self, uid: &str, status: PodStatus) {
        let note = self.noted(|| Note::told(uid, Call::SetStatus, &status));
        self.change(note, |manager| manager.prober_mut().set_pod_status(uid, status));
    }

    /// Removes the pod's status.
    fn remove_pod_status(&mut self, uid: &str) {
        let note = self.noted(|| Note::called(uid, Call::RemoveStatus));
        self.change(note, |manager| manager.prober_mut().remove_pod_status(uid));
    }

    /// UpdatePodStatus on a copy of `status`.
    fn update_pod_status(&mut self, uid: &str, mut status: PodStatus) -> StatusDocument {
        let note = self.noted(|| Note::told(uid, Call::Update, &status));
        self.change(note, |manager| {
            let prober = manager.prober_mut();
            prober.update_pod_status(uid, &mut status);
            StatusDocument::of(prober.pod(uid).map(AsRef::as_ref), &status)
        })
    }

    /// RemovePod.
    fn remove_pod(&mut self, uid: &str) {
        let note = self.noted(|| Note::called(uid, Call::Remove));
        self.change(note, |manager| manager.prober_mut().remove_pod(uid));
    }

    /// RemovePod; nothing of the pod is kept.
    fn forget_pod(&mut self, uid: &str) {
        let note = self.noted(|| Note::called(uid, Call::Forget));
        self.change(note, |manager| manager.forget_pod(uid));
    }

    /// Takes a container's liveness failure back, so that the probe goes on; false if there is none to take back.
    fn recheck(&mut self, uid: &str, container: &str) -> bool {
        let note = self.noted(|| Note::called(uid, Call::Recheck(container.into())));
        self.change(note, |manager| manager.prober_mut().recheck(uid, container))
    }

    /// StopLivenessAndStartup.
    fn stop_liveness_and_startup(&mut self, uid: &str) {
        let note = self.noted(|| Note::called(uid, Call::StopLivenessAndStartup));
        self.change(note, |manager| manager.prober_mut().stop_liveness_and_startup(uid));
    }

    /// Gives a pod that runs the probes with which it was last defined; false if it was not defined. Workers go on with their
    /// counts, by the rules of the core.
    fn change_probes(&mut self, uid: &str) -> bool {
        let note = self.noted(|| Note::called(uid, Call::ChangeProbes));
        self.change(note, |manager| manager.prober_mut().change_probes(uid))
    }

    /// CleanupPods.
    fn cleanup_pods(&mut self, desired: &BTreeSet<&str>) {
        let note = self.noted(|| Note::Cleanup(desired.iter().map(|&uid| uid.into()).collect()));
        self.change(note, |manager| manager.prober_mut().cleanup_pods(desired));
    }

    /// The cached result of a container.
    fn result(&self, probe_type: ProbeType, container_id: &str) -> Option<ProbeResult> {
        self.read(|manager| manager.prober().result(probe_type, container_id))
    }
}

fn document(manager: &StatusManager, uid: &str) -> Option<StatusDocument> {
    let prober = manager.prober();
    Some(StatusDocument::of(prober.pod(uid).map(AsRef::as_ref), prober.pod_status(uid)?))
}
