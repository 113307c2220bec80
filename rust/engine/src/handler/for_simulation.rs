//! The handlers of a simulation: an attempt over a real socket takes no virtual time.

use probelet_core::prober::{AttemptTarget, Outcome};
use probelet_play::simulation::Handlers;

use super::asker::Asker;
use super::buffers::Buffers;
use super::late::late_text;
use super::probe_once::probe_once;

/// The handlers of this crate, for a simulation.
#[derive(Clone, Debug)]
pub struct ForSimulation {
    /// `User-Agent` of the probes.
    pub user_agent: String,
}

impl ForSimulation {
    fn asker<'a>(&'a self, target: &AttemptTarget<'a>) -> Asker<'a> {
        Asker { user_agent: &self.user_agent, rules: target.rules, pod_uid: Some(&*target.pod.uid) }
    }
}

impl Handlers for ForSimulation {
    fn probe(&self, target: &AttemptTarget<'_>) -> Outcome {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.expect("a reactor for the simulation's sockets");
        let (probe, pod_ip) = (target.probe(), target.pod_ip.map_or("", |ip| ip));
        let (ports, mut buffers) = (&target.container().ports, Buffers::default());
        let attempt =
            probe_once(&probe.handler, ports, pod_ip, self.asker(target), probe.timeout_seconds, &mut buffers);
        runtime.block_on(attempt).outcome
    }

    fn late_text(&self, target: &AttemptTarget<'_>) -> Option<String> {
        let (probe, pod_ip) = (target.probe(), target.pod_ip.map_or("", |ip| ip));
        late_text(&probe.handler, &target.container().ports, pod_ip, self.asker(target), probe.timeout_seconds)
    }
}
