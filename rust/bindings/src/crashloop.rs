//! `CrashModel` and `CrashLoad`: the model of containers that crash.

use std::time::Duration;

use probelet_core::crashloop::{Load, Restarts, Scene, Scheduler};
use probelet_core::time::Instant;
use pyo3::prelude::*;

use crate::argument;
use crate::backoff::curve;
use crate::error::{InputError, restart_policy};

/// `CrashLoad.add` looks for Ctrl-C after this many containers.
const CONTAINERS_AT_A_TIME: u64 = 256;

/// A load with more slots than this would fill the memory.
const SLOTS_MAX: u64 = 1_000_000;

/// One kind of container that crashes, and the rules it is restarted under: the live manager's start decision.
///
/// Args:
///     initial_ns: as in ``Backoff``, at least a millisecond.
///     max_ns: as in ``Backoff``, at least a millisecond.
///     reset_ns: as in ``Backoff``.
///     factor_milli: as in ``Backoff``.
///     jitter_milli: each delay grows at random by up to this many thousandths of the delay before.
///     first_free: as in ``Backoff``.
///     run_min_ns: the shortest life. The length of each life is drawn evenly from here to ``run_max_ns``.
///     run_max_ns: the longest life.
///     exit_code: of every exit.
///     policy: ``Always``, ``OnFailure`` or ``Never``.
///     by_kubelet: the kubelet's sync loop (relist, re-queue, housekeeping) wakes the container; without, an exact
///         timer does.
///
/// Raises:
///     InvalidInputError: a number is out of its range, or ``policy`` is no policy.
#[pyclass(module = "probelet._rust", frozen)]
pub(crate) struct CrashModel(Scene);

#[pymethods]
impl CrashModel {
    #[new]
    #[pyo3(signature = (
        *, initial_ns, max_ns, reset_ns, factor_milli, jitter_milli, first_free, run_min_ns, run_max_ns, exit_code,
        policy, by_kubelet
    ))]
    #[expect(clippy::too_many_arguments, reason = "every one of them is a keyword in Python")]
    fn new(
        #[pyo3(from_py_with = argument::crash_model::initial_ns)] initial_ns: u64,
        #[pyo3(from_py_with = argument::crash_model::max_ns)] max_ns: u64,
        #[pyo3(from_py_with = argument::reset_ns)] reset_ns: u64,
        #[pyo3(from_py_with = argument::factor_milli)] factor_milli: u32,
        #[pyo3(from_py_with = argument::jitter_milli)] jitter_milli: u32,
        first_free: bool,
        #[pyo3(from_py_with = argument::run_min_ns)] run_min_ns: u64,
        #[pyo3(from_py_with = argument::run_max_ns)] run_max_ns: u64,
        #[pyo3(from_py_with = argument::required::exit_code)] exit_code: i32,
        policy: &str,
        by_kubelet: bool,
    ) -> Result<Self, InputError> {
        if run_max_ns < run_min_ns {
            let allowed = format!("at least run_min_ns, which is {run_min_ns}");
            return Err(InputError::Argument { name: "run_max_ns", given: run_max_ns.to_string(), allowed });
        }
        Ok(Self(Scene {
            curve: curve(initial_ns, max_ns, reset_ns, factor_milli, first_free),
            jitter_milli,
            run_min: Duration::from_nanos(run_min_ns),
            run_max: Duration::from_nanos(run_max_ns),
            exit_code,
            policy: restart_policy(policy)?,
            scheduler: if by_kubelet { Scheduler::Kubelet } else { Scheduler::Exact },
        }))
    }

    /// The first ``count`` restarts, at most 10,000,000, of a container that is first started at 0, none after
    /// ``until_ns``.
    ///
    /// Each is a tuple ``(at_ns, finished_ns, delay_ns)``: the restart, the exit before it and the delay that the
    /// container had to wait, 0 if none. They are tuples because a list may have millions of them.
    #[pyo3(signature = (*, count, until_ns, seed = 0))]
    fn restarts(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = argument::count)] count: usize,
        #[pyo3(from_py_with = argument::until_ns)] until_ns: u64,
        #[pyo3(from_py_with = argument::seed)] seed: u64,
    ) -> Vec<(u64, u64, u64)> {
        py.detach(|| {
            Restarts::new(&self.0, Instant::ZERO, seed)
                .take(count)
                .take_while(|restart| restart.at.as_nanos() <= until_ns)
                .map(|restart| (restart.at.as_nanos(), restart.finished.as_nanos(), restart.delay.as_nanos() as u64))
                .collect()
        })
    }
}

/// Restarts of many containers, counted in slots.
///
/// Args:
///     window_ns: the count is from 0 to this moment, both included; at least 1.
///     slot_ns: the length of a slot, at least 1; a window has at most 1,000,000 slots.
///
/// Raises:
///     InvalidInputError: a number is out of its range.
#[pyclass(module = "probelet._rust")]
pub(crate) struct CrashLoad(Load);

#[pymethods]
impl CrashLoad {
    #[new]
    #[pyo3(signature = (*, window_ns, slot_ns))]
    fn new(
        #[pyo3(from_py_with = argument::window_ns)] window_ns: u64,
        #[pyo3(from_py_with = argument::slot_ns)] slot_ns: u64,
    ) -> Result<Self, InputError> {
        if window_ns.div_ceil(slot_ns) > SLOTS_MAX {
            let allowed = format!("at most {SLOTS_MAX} times slot_ns, which is {slot_ns}");
            return Err(InputError::Argument { name: "window_ns", given: window_ns.to_string(), allowed });
        }
        Ok(Self(Load::new(Duration::from_nanos(window_ns), Duration::from_nanos(slot_ns))))
    }

    /// Adds containers whose first starts are spread evenly over ``spread_ns``. Ctrl-C ends it.
    #[pyo3(signature = (model, *, containers, spread_ns = 0, seed = 0))]
    fn add(
        &mut self,
        py: Python<'_>,
        model: &CrashModel,
        #[pyo3(from_py_with = argument::containers)] containers: u64,
        #[pyo3(from_py_with = argument::spread_ns)] spread_ns: u64,
        #[pyo3(from_py_with = argument::seed)] seed: u64,
    ) -> PyResult<()> {
        let mut next = 0;
        while next < containers {
            let end = containers.min(next + CONTAINERS_AT_A_TIME);
            py.detach(|| {
                for number in next..end {
                    let started = u128::from(spread_ns) * u128::from(number) / u128::from(containers);
                    self.0.add(&model.0, Instant::from_nanos(started as u64), seed.wrapping_add(number));
                }
            });
            next = end;
            py.check_signals()?;
        }
        Ok(())
    }

    /// All restarts.
    #[getter]
    const fn restarts(&self) -> u64 {
        self.0.restarts()
    }

    /// Restarts by slot: after its beginning and up to its end, the first one from 0 on.
    #[getter]
    fn slots(&self) -> Vec<u64> {
        self.0.slots().to_vec()
    }
}
