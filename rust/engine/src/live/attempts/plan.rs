//! What a worker's attempts over a socket need, put together once.
//!
//! A pod's object, its containers, their probes and the texts of these lie far apart in memory. Of thousands of workers
//! none is in the processor's caches when it is due, and an attempt would wait for each part in turn. A plan is in one
//! place, with the request as it is sent, and is asked for before it is needed.

use std::sync::Arc;

use probelet_core::options;
use probelet_core::prober::{AttemptTarget, Prober, WorkerId};
use probelet_core::semantics::HandlerRules;
#[cfg(test)]
use probelet_core::spec::{ContainerSpec, Handler, HttpGet, IntOrString, ProbeSpec};
use probelet_core::spec::{PodSpec, ProbeType};

use super::networks::{Network, Networks};
use crate::handler::{Asker, PlainRequest, Question};
use crate::net::namespace::Namespace;

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
    rules: HandlerRules,
    /// Set for a probe from inside its pod's network, which has no ordinary request then.
    pub(super) inside: Option<Box<Inside>>,
}

/// What a probe from inside its pod's network needs.
#[derive(Debug)]
pub(super) enum Inside {
    /// The attempts connect in this namespace. `plain` is the request of a probe that would be an ordinary one elsewhere.
    Namespace { namespace: Arc<Namespace>, plain: Option<PlainRequest> },
    /// The namespace cannot be entered, for this reason, so that every attempt is a prober error.
    Closed(Arc<str>),
}

impl Plan {
    fn of(target: &AttemptTarget<'_>, user_agent: &Arc<str>, networks: &Networks) -> Self {
        let plan = Self {
            plain: None,
            timeout_seconds: target.probe().timeout_seconds,
            pod: Arc::clone(target.pod),
            container: target.container_index,
            probe_type: target.probe_type,
            pod_ip: target.pod_ip.map(Arc::clone),
            user_agent: Arc::clone(user_agent),
            rules: target.rules,
            inside: None,
        };
        let plain = PlainRequest::of(plan.question());
        let asked = target.probe().options.as_ref().map_or(options::Network::Node, |options| options.network);
        let inside = match (asked, networks.of(&target.pod.uid)) {
            (options::Network::Node, _) => None,
            (_, Some(Network::Entered(namespace))) => Some(Arc::clone(namespace)),
            (options::Network::PodOrNode, _) | (_, Some(Network::Shared)) => None,
            (options::Network::Pod, Some(Network::Closed(why))) => return plan.closed(Arc::clone(why)),
            (options::Network::Pod, None) => return plan.closed(UNKNOWN.into()),
        };
        match inside {
            None => Self { plain, ..plan },
            Some(namespace) => Self { inside: Some(Inside::Namespace { namespace, plain }.into()), ..plan },
        }
    }

    fn closed(self, why: Arc<str>) -> Self {
        Self { inside: Some(Inside::Closed(why).into()), ..self }
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
        match (&self.plain, self.inside.as_deref()) {
            (Some(plain), _) | (None, Some(Inside::Namespace { plain: Some(plain), .. })) => plain.prefetch(),
            _ => {}
        }
    }

    /// What the handlers are asked.
    pub(super) fn question(&self) -> Question<'_> {
        let container = &self.pod.containers[self.container];
        let asker = Asker { user_agent: &self.user_agent, rules: self.rules, pod_uid: Some(&self.pod.uid) };
        Question {
            handler: &container.probe(self.probe_type).expect("it made the worker").handler,
            ports: &container.ports,
            pod_ip: self.pod_ip.as_deref().unwrap_or_default(),
            asker,
            namespace: match self.inside.as_deref() {
                Some(Inside::Namespace { namespace, .. }) => Some(namespace),
                _ => None,
            },
        }
    }
}

/// Why a pod's network cannot be entered whose owner has said nothing of it.
pub(in super::super) const UNKNOWN: &str = "it is not known yet";

/// The plans of the workers that have made an attempt, and the networks of pods with which plans are made.
#[derive(Debug, Default)]
pub(in super::super) struct PlanTable {
    /// By the worker's number.
    rows: Vec<Option<Planned>>,
    networks: Networks,
}

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
        if self.rows.len() <= index {
            self.rows.resize(index + 1, None);
        }
        let row = &mut self.rows[index];
        if row.as_ref().is_none_or(|planned| planned.version != version) {
            let target = prober.target(worker)?;
            let how = match row.take().map(|planned| planned.how) {
                _ if target.is_exec() => How::Exec,
                Some(How::Socket(plan)) if plan.is_for(&target) => How::Socket(plan),
                _ => How::Socket(Arc::new(Plan::of(&target, user_agent, &self.networks))),
            };
            *row = Some(Planned { version, how });
        }
        row.as_ref().map(|planned| &planned.how)
    }

    /// The plan of a worker for which [`PlanTable::of`] has just been called.
    pub(in super::super) fn get(&self, worker: WorkerId) -> Option<&Arc<Plan>> {
        match self.rows.get(worker as usize)?.as_ref()?.how {
            How::Exec => None,
            How::Socket(ref plan) => Some(plan),
        }
    }

    /// Sets a pod's network, or forgets it. The attempts in flight keep the one with which they began.
    pub(in super::super) fn set_network(&mut self, uid: &str, network: Option<Network>) {
        if self.networks.set(uid, network) {
            for row in &mut self.rows {
                if matches!(row, Some(Planned { how: How::Socket(plan), .. }) if *plan.pod.uid == *uid) {
                    *row = None;
                }
            }
        }
    }

    /// A pod's network, as its owner knows it.
    pub(in super::super) fn network(&self, uid: &str) -> Option<&Network> {
        self.networks.of(uid)
    }

    /// Forgets the plan of a worker that ended.
    pub(in super::super) fn close(&mut self, worker: WorkerId) {
        if let Some(row) = self.rows.get_mut(worker as usize) {
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
        rules: probelet_core::semantics::Semantics::V1_36.handler_rules(),
    };
    Arc::new(Plan::of(&target, &"kube-probe/1.36".into(), &Networks::default()))
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
    use probelet_core::options::ProbeOptions;
    use probelet_core::podstatus::PodStatus;
    use probelet_core::prober::Settings;
    use probelet_core::time::Instant;

    use super::*;

    /// What a probe that asks for `network` becomes where its pod's network is `found`.
    fn way(network: options::Network, found: Option<Network>) -> String {
        let probe = ProbeSpec {
            handler: ordinary(80),
            options: Some(Box::new(ProbeOptions { network, ..ProbeOptions::default() })),
            ..ProbeSpec::default()
        };
        let container = ContainerSpec { probes: [None, None, Some(Box::new(probe))], ..ContainerSpec::default() };
        let pod = Arc::new(PodSpec { containers: vec![container], regular: 1, ..PodSpec::default() });
        let mut prober = Prober::new(Settings::default(), Instant::ZERO);
        prober.define_pod(Arc::clone(&pod));
        prober.add_pod(&pod.uid);
        prober.set_pod_status(&pod.uid, PodStatus { pod_ip: "10.0.0.7".into(), ..PodStatus::default() });
        let mut plans = PlanTable::default();
        plans.set_network(&pod.uid, None);
        plans.of(0, &prober, &"kube-probe/1.36".into());
        plans.set_network(&pod.uid, found);
        plans.of(0, &prober, &"kube-probe/1.36".into());
        let plan = plans.get(0).expect("a worker");
        match (&plan.plain, plan.inside.as_deref()) {
            (Some(_), None) => "ordinary".to_owned(),
            (None, Some(Inside::Closed(why))) => why.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_probe_from_inside_its_pod_never_goes_the_ordinary_way_unless_it_may() {
        use options::Network::{Node, Pod, PodOrNode};
        let closed = || Some(Network::Closed("no rights".into()));
        assert_eq!(way(Pod, None), UNKNOWN);
        assert_eq!(way(Pod, closed()), "no rights");
        assert_eq!(way(Pod, Some(Network::Shared)), "ordinary");
        for found in [None, closed(), Some(Network::Shared)] {
            assert_eq!(way(PodOrNode, found.clone()), "ordinary");
            assert_eq!(way(Node, found), "ordinary");
        }
    }

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
        assert!(plans.rows[0].is_none());
    }
}
