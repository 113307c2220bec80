//! `ClusterModel`: containers that answer by a behaviour, and simulations that ask them.

use std::time::Duration;

use probelet_core::prober::Phasing;
use probelet_core::status::Glue;
use probelet_engine::handler::ForSimulation;
use probelet_play::simulation::virtual_cluster;
use probelet_play::simulation::{self as engine, Scene, play_together};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::argument;
use crate::error::{InputError, release};
use crate::simulation::Simulation;

/// The containers of a cluster in virtual time: how they answer, the load that they share, the dependencies that
/// they ask. ``probelet.VirtualCluster`` has a whole cluster around it.
///
/// Times are nanoseconds since t = 0 and never go back. Containers and Services have numbers, which the calls that
/// add them return. Spreads are ``{"shape": "constant" | "uniform" | "log_normal", "low_ns", "high_ns",
/// "per_day_ns"}``; of a log-normal one ``low_ns`` is the median and ``high_ns`` the 99th percentile.
///
/// Args:
///     seed: of all random numbers.
///     attempts: how many attempts are kept of each probe.
#[pyclass(module = "probelet")]
pub(crate) struct ClusterModel(virtual_cluster::ClusterModel);

#[pymethods]
impl ClusterModel {
    #[new]
    #[pyo3(signature = (*, seed, attempts))]
    fn new(
        #[pyo3(from_py_with = argument::seed)] seed: u64,
        #[pyo3(from_py_with = argument::attempts)] attempts: usize,
    ) -> Self {
        Self(virtual_cluster::ClusterModel::new(seed, attempts))
    }

    /// Adds a container that does not run yet; returns its number. ``description`` is a JSON object with
    /// ``startup``, ``latency``, ``probe_latency``, ``concurrency``, ``queue``, ``asks``, ``apart``,
    /// ``exits_after``, ``pause``, ``leak``, ``factor``, ``late_ns``, ``cut_off`` and ``cut``.
    ///
    /// Raises:
    ///     InvalidInputError: the description is none, or names an unknown dependency.
    fn add_container(&mut self, uid: &str, pod: &str, name: &str, description: &[u8]) -> Result<usize, InputError> {
        Ok(self.0.add_container(uid, pod, name, description)?)
    }

    /// Describes a container anew.
    ///
    /// Raises:
    ///     InvalidInputError: the description is none, names an unknown dependency, or there is no such container.
    fn describe(
        &mut self,
        #[pyo3(from_py_with = argument::now_ns)] now_ns: u64,
        number: usize,
        description: &[u8],
    ) -> Result<(), InputError> {
        Ok(self.0.describe(now_ns, number, description)?)
    }

    /// A container starts; ``more_ns`` is added to its start-up. Returns when it serves, and when it ends by itself
    /// or None.
    ///
    /// Raises:
    ///     InvalidInputError: there is no such container.
    fn start(
        &mut self,
        #[pyo3(from_py_with = argument::now_ns)] now_ns: u64,
        number: usize,
        #[pyo3(from_py_with = argument::more_ns)] more_ns: u64,
    ) -> Result<(u64, Option<u64>), InputError> {
        Ok(self.0.start(now_ns, number, more_ns)?)
    }

    /// A container has ended; the requests that it held are lost.
    ///
    /// Raises:
    ///     InvalidInputError: there is no such container.
    fn end(&mut self, #[pyo3(from_py_with = argument::now_ns)] now_ns: u64, number: usize) -> Result<(), InputError> {
        Ok(self.0.end(now_ns, number)?)
    }

    /// A container stands still until it is started again.
    ///
    /// Raises:
    ///     InvalidInputError: there is no such container.
    fn deadlock(
        &mut self,
        #[pyo3(from_py_with = argument::now_ns)] now_ns: u64,
        number: usize,
    ) -> Result<(), InputError> {
        Ok(self.0.deadlock(now_ns, number)?)
    }

    /// Describes a dependency, a new one or one that is known: a JSON object with ``latency``, ``asks`` (names of
    /// dependencies that were described before) and ``health`` (``up``, ``refuses`` or ``hangs``).
    ///
    /// Raises:
    ///     InvalidInputError: the description is none, or names an unknown dependency.
    fn dependency(
        &mut self,
        #[pyo3(from_py_with = argument::now_ns)] now_ns: u64,
        name: &str,
        description: &[u8],
    ) -> Result<(), InputError> {
        Ok(self.0.dependency(now_ns, name, description)?)
    }

    /// Adds a Service without endpoints; returns its number. ``description`` is a JSON object with ``timeout_ns``,
    /// ``slo_ns`` and ``rate``.
    ///
    /// Raises:
    ///     InvalidInputError: the description is none.
    fn add_service(
        &mut self,
        #[pyo3(from_py_with = argument::now_ns)] now_ns: u64,
        description: &[u8],
    ) -> Result<usize, InputError> {
        Ok(self.0.add_service(now_ns, description)?)
    }

    /// Describes a Service anew.
    ///
    /// Raises:
    ///     InvalidInputError: the description is none, or there is no such Service.
    fn describe_service(
        &mut self,
        #[pyo3(from_py_with = argument::now_ns)] now_ns: u64,
        number: usize,
        description: &[u8],
    ) -> Result<(), InputError> {
        Ok(self.0.describe_service(now_ns, number, description)?)
    }

    /// Sends the requests of a Service to these containers from now on, in equal parts.
    ///
    /// Raises:
    ///     InvalidInputError: there is no such Service or container.
    fn set_endpoints(
        &mut self,
        #[pyo3(from_py_with = argument::now_ns)] now_ns: u64,
        number: usize,
        endpoints: Vec<usize>,
    ) -> Result<(), InputError> {
        Ok(self.0.set_endpoints(now_ns, number, endpoints)?)
    }

    /// The requests of a Service until now, as JSON: ``offered``, ``served``, ``late``, ``lost``, ``lost_by``, and
    /// ``steps`` of ``width_ns`` from t = 0 on, each with what was offered, served and late in it.
    ///
    /// Raises:
    ///     InvalidInputError: there is no such Service.
    fn requests<'py>(
        &mut self,
        py: Python<'py>,
        #[pyo3(from_py_with = argument::now_ns)] now_ns: u64,
        number: usize,
    ) -> Result<Bound<'py, PyBytes>, InputError> {
        Ok(PyBytes::new(py, &self.0.requests_json(now_ns, number)?))
    }

    /// Every probe that was made, as a JSON list of ``{"uid", "container", "type", "made", "failed", "attempts"}``.
    /// An attempt is a list: when it began and how long it took in nanoseconds, its outcome, its cause, and why.
    fn attempts<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.attempts_json())
    }

    /// A simulation whose probes ask this model's containers; ``run`` plays it. It keeps the lines of events,
    /// updates and syncs for ``Simulation.take_changes``.
    ///
    /// Args:
    ///     seed: of the jitter of first probes.
    ///     kubelet_version: the release whose rules apply, ``1.34`` to ``1.38``.
    ///     starts_ns: when the prober starts; None: an hour before t = 0.
    ///     recall: an earlier simulation, whose counters and results the prober knows, as from a journal.
    ///
    /// Raises:
    ///     InvalidInputError: ``kubelet_version`` is not known.
    #[staticmethod]
    #[pyo3(signature = (*, seed, kubelet_version, starts_ns = None, recall = None))]
    fn simulation(
        #[pyo3(from_py_with = argument::seed)] seed: u64,
        kubelet_version: &str,
        #[pyo3(from_py_with = argument::starts_ns)] starts_ns: Option<u64>,
        recall: Option<&Simulation>,
    ) -> Result<Simulation, InputError> {
        let scene = Scene {
            semantics: release(kubelet_version)?,
            seed,
            warmup: WARMUP,
            starts: starts_ns.map(Duration::from_nanos),
            glue: Glue::KUBELET,
            phasing: Phasing::Kubelet,
            record: false,
            sockets: false,
        };
        let mut made = engine::Simulation::new(scene, Box::new(ForSimulation { user_agent: String::new() }));
        made.keep_changes();
        if let Some(earlier) = recall {
            made.recall(&earlier.0);
        }
        Ok(Simulation(made))
    }

    /// Plays these simulations until ``until_ns``, but not beyond a moment in which a pod asks for a sync. On return
    /// all are at one moment, and everything that was due until then has happened. Returns that moment, and whether
    /// a pod asks for a sync.
    fn run(
        &mut self,
        py: Python<'_>,
        mut simulations: Vec<PyRefMut<'_, Simulation>>,
        #[pyo3(from_py_with = argument::until_ns)] until_ns: u64,
    ) -> (u64, bool) {
        let mut played: Vec<_> = simulations.iter_mut().map(|simulation| &mut simulation.0).collect();
        let model = &mut self.0;
        let reached = py.detach(|| play_together(&mut played, model, until_ns));
        (reached.now_ns, reached.has_sync)
    }
}

/// How long before t = 0 the probers of nodes that were not restarted began, as with `Simulation`.
const WARMUP: Duration = Duration::from_secs(3_600);
