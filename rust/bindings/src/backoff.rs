//! `Backoff`: the crash-loop table and the start decision. `Requeue`: the kubelet's own wake-up.

use std::sync::Arc;
use std::time::Duration;

use probelet_core::backoff::{self as core, Curve, Exit};
use probelet_core::crashloop::kubelet;
use probelet_core::rng::Rng;
use probelet_core::time::Instant;
use probelet_engine::json::decode_rules;
use probelet_engine::live::BackoffTable;
use pyo3::prelude::*;

use crate::argument;
use crate::decision::Decision;
use crate::error::{InputError, restart_policy};

#[pyclass(module = "probelet._rust", frozen)]
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

    fn retry_due(&self, key: &str, #[pyo3(from_py_with = argument::now_ns)] now_ns: u64) -> Option<(u64, u64)> {
        self.0
            .with(|table| table.retry_due(key, Instant::from_nanos(now_ns)))
            .map(|(due, delay)| (due.as_nanos(), delay.as_nanos() as u64))
    }

    fn note_failure(&self, key: &str, #[pyo3(from_py_with = argument::now_ns)] now_ns: u64) {
        self.0.with(|table| table.note_failure(key, Instant::from_nanos(now_ns)));
    }

    fn delay_ns(&self, key: &str) -> u64 {
        self.0.with(|table| table.entry(key).map_or(0, |entry| entry.delay.as_nanos() as u64))
    }

    fn keys(&self) -> Vec<String> {
        self.0.with(|table| table.entries().map(|(key, _)| key.to_owned()).collect())
    }

    fn step(&self, key: &str) -> u32 {
        self.0.with(|table| table.entry(key).map_or(0, |entry| entry.step))
    }

    fn note_start(&self, key: &str, #[pyo3(from_py_with = argument::now_ns)] now_ns: u64) {
        self.0.with(|table| table.note_start(key, Instant::from_nanos(now_ns)));
    }

    fn reset(&self, key: &str) -> bool {
        self.0.with(|table| table.reset(key))
    }

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

#[pyclass(module = "probelet._rust")]
pub(crate) struct Requeue(Rng);

#[pymethods]
impl Requeue {
    #[new]
    #[pyo3(signature = (*, seed = 0))]
    const fn new(#[pyo3(from_py_with = argument::seed)] seed: u64) -> Self {
        Self(Rng::new(seed))
    }

    fn look_again(
        &mut self,
        #[pyo3(from_py_with = argument::due_ns)] due_ns: Option<u64>,
        #[pyo3(from_py_with = argument::now_ns)] now_ns: u64,
    ) -> u64 {
        kubelet::look_again(due_ns.map(Instant::from_nanos), Instant::from_nanos(now_ns), &mut self.0).as_nanos()
    }
}
