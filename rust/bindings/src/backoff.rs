//! `Backoff`: the crash-loop table and the start decision. `Requeue`: the kubelet's own wake-up.

use std::sync::Arc;
use std::time::Duration;

use probelet_core::backoff::{self as core, Curve, Exit};
use probelet_core::crashloop::kubelet;
use probelet_core::rng::Rng;
use probelet_core::time::Instant;
use probelet_engine::live::BackoffTable;
use probelet_play::json::decode_rules;
use pyo3::prelude::*;

use crate::argument;
use crate::decision::Decision;
use crate::error::{InputError, restart_policy};

/// Keyed exponential back-off of container restarts (client-go ``flowcontrol.Backoff`` as the kubelet has it, 1.36).
///
/// A key stands for one container of a pod. A table belongs to one clock: ``now_ns`` and ``finished_ns`` are
/// nanoseconds on it. An ``initial_ns`` above ``max_ns`` counts as ``max_ns``; with either at 0 no restart is delayed.
///
/// Args:
///     initial_ns: the first delay.
///     max_ns: the longest delay.
///     reset_ns: a container that ran this long begins anew.
///     factor_milli: a start multiplies the delay by this many thousandths, at least 1000, up to ``max_ns``.
///     first_free: a container without an entry starts at once. Without, it waits ``initial_ns`` after its exit
///         (kubernetes#123602).
///
/// Raises:
///     InvalidInputError: a number is out of its range.
#[pyclass(module = "probelet", frozen)]
pub(crate) struct Backoff(pub(crate) Arc<BackoffTable>);

#[pymethods]
impl Backoff {
    #[new]
    #[pyo3(signature = (*, initial_ns = 10_000_000_000, max_ns = 300_000_000_000, reset_ns = 600_000_000_000, factor_milli = 2_000, first_free = true))]
    fn new(
        #[pyo3(from_py_with = argument::initial_ns)] initial_ns: u64,
        #[pyo3(from_py_with = argument::max_ns)] max_ns: u64,
        #[pyo3(from_py_with = argument::reset_ns)] reset_ns: u64,
        #[pyo3(from_py_with = argument::factor_milli)] factor_milli: u32,
        first_free: bool,
    ) -> Self {
        Self(Arc::new(BackoffTable::new(curve(initial_ns, max_ns, reset_ns, factor_milli, first_free))))
    }

    /// The start decision of a container (kubelet kuberuntime_manager.go:doBackOff, 1.36): whether it runs again,
    /// and when.
    ///
    /// ``finished_ns`` and ``exit_code`` are of its last exit, None before its first. ``rules`` are the container's
    /// ``restartPolicyRules`` as JSON. ``own`` is the first and the longest delay, in nanoseconds, of a container with
    /// a curve of its own.
    ///
    /// Raises:
    ///     InvalidInputError: a number, the policy or the rules are not allowed.
    #[pyo3(signature = (key, *, now_ns, finished_ns, exit_code, restart_policy, rules = None, own = None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn decide(
        &self,
        key: &str,
        #[pyo3(from_py_with = argument::now_ns)] now_ns: u64,
        #[pyo3(from_py_with = argument::finished_ns)] finished_ns: Option<u64>,
        #[pyo3(from_py_with = argument::exit_code)] exit_code: Option<i32>,
        restart_policy: &str,
        rules: Option<&[u8]>,
        #[pyo3(from_py_with = argument::own)] own: Option<(u64, u64)>,
    ) -> Result<Decision, InputError> {
        let policy = self::restart_policy(restart_policy)?;
        let exit = finished_ns
            .map(|finished| Exit { finished: Instant::from_nanos(finished), code: exit_code.unwrap_or_default() });
        let rules = decode_rules(rules.unwrap_or(b"[]"))?;
        let decision = self.0.with(|table| {
            let curve = curve_of(table, own);
            table.decide_under(&curve, key, exit, policy, &rules, Instant::from_nanos(now_ns))
        });
        Ok(decision.into())
    }

    /// The half of ``decide`` that says when: for a container that is to run again, whatever its policy. Its word is
    /// ``start`` or ``wait``.
    #[pyo3(signature = (key, *, now_ns, finished_ns, own = None))]
    fn back_off(
        &self,
        key: &str,
        #[pyo3(from_py_with = argument::now_ns)] now_ns: u64,
        #[pyo3(from_py_with = argument::required::finished_ns)] finished_ns: u64,
        #[pyo3(from_py_with = argument::own)] own: Option<(u64, u64)>,
    ) -> Decision {
        let decision = self.0.with(|table| {
            let curve = curve_of(table, own);
            table.back_off(&curve, key, Instant::from_nanos(finished_ns), Instant::from_nanos(now_ns))
        });
        decision.into()
    }

    /// ``(due_ns, delay_ns)`` while ``key`` waits after its last failure, None when it may be tried again.
    fn retry_due(&self, key: &str, #[pyo3(from_py_with = argument::now_ns)] now_ns: u64) -> Option<(u64, u64)> {
        self.0
            .with(|table| table.retry_due(key, Instant::from_nanos(now_ns)))
            .map(|(due, delay)| (due.as_nanos(), delay.as_nanos() as u64))
    }

    /// A try has just failed, such as the pull of an image: the next one waits, twice as long as the last did.
    fn note_failure(&self, key: &str, #[pyo3(from_py_with = argument::now_ns)] now_ns: u64) {
        self.0.with(|table| table.note_failure(key, Instant::from_nanos(now_ns)));
    }

    /// The stored delay of a key, in nanoseconds; 0 without an entry.
    fn delay_ns(&self, key: &str) -> u64 {
        self.0.with(|table| table.entry(key).map_or(0, |entry| entry.delay.as_nanos() as u64))
    }

    /// The keys that have an entry, in order.
    fn keys(&self) -> Vec<String> {
        self.0.with(|table| table.entries().map(|(key, _)| key.to_owned()).collect())
    }

    /// How many doublings the key has seen; 0 without an entry.
    fn step(&self, key: &str) -> u32 {
        self.0.with(|table| table.entry(key).map_or(0, |entry| entry.step))
    }

    /// A start that no decision led to: the delay stays, the run counts from ``now_ns``.
    fn note_start(&self, key: &str, #[pyo3(from_py_with = argument::now_ns)] now_ns: u64) {
        self.0.with(|table| table.note_start(key, Instant::from_nanos(now_ns)));
    }

    /// Drops the entry of a key; False without one.
    fn reset(&self, key: &str) -> bool {
        self.0.with(|table| table.reset(key))
    }

    /// Drops every entry that has not been used for ``reset_ns``; returns how many.
    fn collect(&self, #[pyo3(from_py_with = argument::now_ns)] now_ns: u64) -> usize {
        self.0.with(|table| table.collect(Instant::from_nanos(now_ns)))
    }

    fn __len__(&self) -> usize {
        self.0.with(|table| table.len())
    }
}

/// The table's curve, with the first and the longest delay that a container has chosen.
fn curve_of(table: &core::Backoff, own: Option<(u64, u64)>) -> Curve {
    let mut curve = *table.curve();
    if let Some((initial, max)) = own {
        (curve.initial, curve.max) = (Duration::from_nanos(initial), Duration::from_nanos(max));
    }
    curve
}

/// An initial delay above the longest one counts as the longest one, as in the kubelet (KEP-4603, Conflict resolution).
pub(crate) fn curve(initial_ns: u64, max_ns: u64, reset_ns: u64, factor_milli: u32, first_free: bool) -> Curve {
    Curve {
        initial: Duration::from_nanos(initial_ns.min(max_ns)),
        max: Duration::from_nanos(max_ns),
        reset: Duration::from_nanos(reset_ns),
        factor_milli,
        first_free,
    }
}

/// When the kubelet's pod worker looks again at a pod whose sync failed (pod_workers.go:completeWork, 1.36).
///
/// Args:
///     seed: of the jitter.
#[pyclass(module = "probelet._rust")]
pub(crate) struct Requeue(Rng);

#[pymethods]
impl Requeue {
    #[new]
    #[pyo3(signature = (*, seed = 0))]
    const fn new(#[pyo3(from_py_with = argument::seed)] seed: u64) -> Self {
        Self(Rng::new(seed))
    }

    /// The rest of the wait, at most a minute, times 1 to 1.5, and then the next whole second; never early.
    ///
    /// ``due_ns``: when the first refused start of the pod may happen. None: none was refused, something else failed;
    /// the wait is 10 s then.
    fn look_again(
        &mut self,
        #[pyo3(from_py_with = argument::due_ns)] due_ns: Option<u64>,
        #[pyo3(from_py_with = argument::now_ns)] now_ns: u64,
    ) -> u64 {
        kubelet::look_again(due_ns.map(Instant::from_nanos), Instant::from_nanos(now_ns), &mut self.0).as_nanos()
    }
}
