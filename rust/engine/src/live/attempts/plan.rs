//! What a worker's attempts over a socket need, put together once.
//!
//! A pod's object, its containers, their probes and the texts of these lie far apart in memory. Of thousands of workers
//! none is in the processor's caches when it is due, and an attempt would wait for each part in turn. A plan is in one
//! place, with the request as it is sent, and is asked for before it is needed.

use std::sync::Arc;

use probelet_core::prober::{AttemptTarget, Prober, WorkerId};
use probelet_core::semantics::GrpcConnect;
#[cfg(test)]
use probelet_core::spec::{ContainerSpec, Handler, HttpGet, IntOrString, ProbeSpec};
use probelet_core::spec::{PodSpec, ProbeType};

use crate::handler::{Asker, PlainRequest, Question};

/// What the attempts of one worker need. It owns all of it, because the worker may end before an attempt does.
#[derive(Debug)]
pub(in super::super) struct Plan {
    /// The request of an ordinary HTTP probe.
    pub(super) plain: Option<PlainRequest>,
    pub(super) timeout_seconds: i32,
    pod: Arc<PodSpec>,
    pub(super) container: usize,
    probe_type: ProbeType,
    pod_ip: Option<Arc<str>>,
    user_agent: Arc<str>,
    grpc_connect: GrpcConnect,
}

impl Plan {
    fn of(target: &AttemptTarget<'_>, user_agent: &Arc<str>) -> Self {
        let plan = Self {
            plain: None,
            timeout_seconds: target.probe().timeout_seconds,
            pod: Arc::clone(target.pod),
            container: target.container_index,
            probe_type: target.probe_type,
            pod_ip: target.pod_ip.map(Arc::clone),
            user_agent: Arc::clone(user_agent),
            grpc_connect: target.grpc_connect,
        };
        let plain = PlainRequest::of(plan.question());
        Self { plain, ..plan }
    }

    /// Whether the plan is that of this worker with its pod's address of now.
    fn is_for(&self, target: &AttemptTarget<'_>) -> bool {
        let has_its_address = match (&self.pod_ip, target.pod_ip) {
            (Some(planned), Some(now)) => Arc::ptr_eq(planned, now),
            (None, None) => true,
            _ => false,
        };
        has_its_address && Arc::ptr_eq(&self.pod, target.pod)
    }

    /// Asks for the memory of the request. The plan itself is in the caches.
    pub(in super::super) fn prefetch_request(&self) {
        if let Some(plain) = &self.plain {
            plain.prefetch();
        }
    }

    /// What the handlers are asked.
    pub(super) fn question(&self) -> Question<'_> {
        let container = &self.pod.containers[self.container];
        let asker =
            Asker { user_agent: &self.user_agent, grpc_connect: self.grpc_connect, pod_uid: Some(&self.pod.uid) };
        Question {
            handler: &container.probe(self.probe_type).expect("it made the worker").handler,
            ports: &container.ports,
            pod_ip: self.pod_ip.as_deref().unwrap_or_default(),
            asker,
        }
    }
}

/// The plans of the workers that have made an attempt, by the worker's number.
#[derive(Debug, Default)]
pub(in super::super) struct PlanTable(Vec<Option<Planned>>);

#[derive(Clone, Debug)]
struct Planned {
    /// Of the worker's target.
    version: u32,
    how: How,
}

/// How a worker's attempts are carried out.
#[derive(Clone, Debug)]
pub(in super::super) enum How {
    /// They run a command, which needs no plan.
    Exec,
    /// They go over a socket.
    Socket(Arc<Plan>),
}

impl PlanTable {
    /// How the attempts of a worker are carried out, with a plan that is made anew when its pod's address has changed;
    /// None if the worker has ended.
    pub(in super::super) fn of(&mut self, worker: WorkerId, prober: &Prober, user_agent: &Arc<str>) -> Option<&How> {
        let version = prober.target_version(worker)?;
        let index = worker as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, None);
        }
        let row = &mut self.0[index];
        if row.as_ref().is_none_or(|planned| planned.version != version) {
            let target = prober.target(worker)?;
            let how = match row.take().map(|planned| planned.how) {
                _ if target.is_exec() => How::Exec,
                Some(How::Socket(plan)) if plan.is_for(&target) => How::Socket(plan),
                _ => How::Socket(Arc::new(Plan::of(&target, user_agent))),
            };
            *row = Some(Planned { version, how });
        }
        row.as_ref().map(|planned| &planned.how)
    }

    /// The plan of a worker for which [`PlanTable::of`] has just been called.
    pub(in super::super) fn get(&self, worker: WorkerId) -> Option<&Arc<Plan>> {
        match self.0.get(worker as usize)?.as_ref()?.how {
            How::Exec => None,
            How::Socket(ref plan) => Some(plan),
        }
    }

    /// Forgets the plan of a worker that ended.
    pub(in super::super) fn close(&mut self, worker: WorkerId) {
        if let Some(row) = self.0.get_mut(worker as usize) {
            *row = None;
        }
    }
}

/// A plan without a worker, for tests of what uses one.
#[cfg(test)]
pub(super) fn plan(handler: Handler, pod_ip: &str) -> Arc<Plan> {
    let probe = ProbeSpec { handler, timeout_seconds: 1, ..ProbeSpec::default() };
    let container = ContainerSpec { probes: [None, None, Some(Box::new(probe))], ..ContainerSpec::default() };
    let pod = Arc::new(PodSpec { containers: vec![container], regular: 1, ..PodSpec::default() });
    let target = AttemptTarget {
        pod: &pod,
        container_index: 0,
        probe_type: ProbeType::Liveness,
        pod_ip: Some(&pod_ip.into()),
        container_id: "",
        grpc_connect: GrpcConnect::UntilTimeout,
    };
    Arc::new(Plan::of(&target, &"kube-probe/1.36".into()))
}

/// An ordinary HTTP probe of this port, for tests.
#[cfg(test)]
pub(super) fn ordinary(port: u16) -> Handler {
    Handler::HttpGet(HttpGet {
        scheme: "HTTP".into(),
        host: "".into(),
        port: IntOrString::Int(port.into()),
        path: "/healthz".into(),
        headers: vec![],
        http2: false,
    })
}

#[cfg(test)]
mod tests {
    use probelet_core::podstatus::PodStatus;
    use probelet_core::prober::Settings;
    use probelet_core::time::Instant;

    use super::*;

    #[test]
    fn a_plan_is_kept_until_the_pods_address_changes_or_the_worker_ends() {
        let pod = Arc::clone(&plan(ordinary(80), "").pod);
        let mut prober = Prober::new(Settings::default(), Instant::ZERO);
        prober.define_pod(Arc::clone(&pod));
        prober.add_pod(&pod.uid);
        let mut plans = PlanTable::default();
        let mut planned = |prober: &Prober| {
            plans.of(0, prober, &"kube-probe/1.36".into())?;
            let plan = plans.get(0)?;
            Some((Arc::as_ptr(plan), plan.plain.as_ref().map(|plain| plain.address.to_string())))
        };
        assert_eq!(planned(&prober).unwrap().1, None, "without an address there is no ordinary request");
        let mut at = |pod_ip: &str| {
            prober.set_pod_status(&pod.uid, PodStatus { pod_ip: pod_ip.into(), ..PodStatus::default() });
            planned(&prober).unwrap()
        };
        let first = at("10.0.0.7");
        assert_eq!(first.1.as_deref(), Some("10.0.0.7:80"));
        let second = at("10.0.0.8");
        assert_eq!(second.1.as_deref(), Some("10.0.0.8:80"));
        assert_eq!(planned(&prober), Some(second.clone()), "nothing has changed");
        prober.pause(&pod.uid, "", ProbeType::Liveness, Instant::from_millis(1_000), Instant::ZERO);
        assert_eq!(planned(&prober), Some(second), "a pause changes no address");
        prober.remove_pod(&pod.uid);
        prober.remove_pod_status(&pod.uid);
        prober.forget_pod(&pod.uid);
        prober.settle(Instant::ZERO);
        assert_eq!(planned(&prober), None);
        plans.close(0);
        plans.close(7);
        assert!(plans.0[0].is_none());
    }
}
