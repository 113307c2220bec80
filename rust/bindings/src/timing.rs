//! `TimerWheel` and `TokenBucket` of the core, for tests and models in Python.

use std::time::Duration;

use probelet_core::bucket;
use probelet_core::time::Instant;
use probelet_core::timer::{TimerId, TimerTable};
use probelet_core::wheel;
use pyo3::prelude::*;

use crate::argument;

#[pyclass(module = "probelet._rust")]
pub(crate) struct TimerWheel {
    wheel: wheel::TimerWheel<TimerId>,
    tokens: TimerTable<i64>,
}

#[pymethods]
impl TimerWheel {
    #[new]
    fn new() -> Self {
        Self { wheel: wheel::TimerWheel::new(), tokens: TimerTable::new() }
    }

    fn arm(
        &mut self,
        #[pyo3(from_py_with = argument::deadline_ns)] deadline_ns: u64,
        #[pyo3(from_py_with = argument::wheel::token)] token: i64,
    ) -> u64 {
        let id = self.tokens.insert(token);
        self.wheel.arm(Instant::from_nanos(deadline_ns), id);
        id.to_bits()
    }

    fn cancel(&mut self, #[pyo3(from_py_with = argument::timer)] timer: u64) -> bool {
        let live = self.tokens.cancel(TimerId::from_bits(timer));
        if self.tokens.is_crowded() {
            self.wheel.retain(|&id| self.tokens.is_live(id));
            self.tokens.swept();
        }
        live
    }

    fn fire(&mut self, #[pyo3(from_py_with = argument::now_ns)] now_ns: u64) -> Vec<i64> {
        let mut fired = Vec::new();
        while let Some((_, id)) = self.wheel.pop(Instant::from_nanos(now_ns)) {
            fired.extend(self.tokens.fire(id));
        }
        fired
    }

    fn next_deadline(&mut self) -> Option<u64> {
        // Cancelled timers stay in the wheel; without this sweep one of them could be the next deadline.
        self.wheel.retain(|&id| self.tokens.is_live(id));
        self.tokens.swept();
        self.wheel.next_deadline().map(Instant::as_nanos)
    }

    const fn __len__(&self) -> usize {
        self.tokens.len()
    }
}

#[pyclass(module = "probelet._rust")]
pub(crate) struct TokenBucket(bucket::TokenBucket);

#[pymethods]
impl TokenBucket {
    #[new]
    #[pyo3(signature = (*, burst, interval_ns))]
    fn new(
        #[pyo3(from_py_with = argument::burst)] burst: u32,
        #[pyo3(from_py_with = argument::interval_ns)] interval_ns: u64,
    ) -> Self {
        Self(bucket::TokenBucket::new(burst, Duration::from_nanos(interval_ns)))
    }

    #[pyo3(signature = (now_ns, tokens = 1))]
    fn take(
        &mut self,
        #[pyo3(from_py_with = argument::now_ns)] now_ns: u64,
        #[pyo3(from_py_with = argument::tokens)] tokens: u32,
    ) -> bool {
        self.0.take(tokens, Instant::from_nanos(now_ns))
    }

    fn reserve(&mut self, #[pyo3(from_py_with = argument::now_ns)] now_ns: u64) -> u64 {
        self.0.reserve(Instant::from_nanos(now_ns)).as_nanos()
    }

    fn due(&self, #[pyo3(from_py_with = argument::now_ns)] now_ns: u64) -> u64 {
        self.0.due(Instant::from_nanos(now_ns)).as_nanos()
    }

    fn available(&self, #[pyo3(from_py_with = argument::now_ns)] now_ns: u64) -> u64 {
        self.0.available(Instant::from_nanos(now_ns))
    }
}
