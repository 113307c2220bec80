//! `TimerWheel` and `TokenBucket` of the core, for tests and models in Python.

use std::time::Duration;

use probelet_core::bucket;
use probelet_core::time::Instant;
use probelet_core::timer::{TimerId, TimerTable};
use probelet_core::wheel;
use pyo3::prelude::*;

use crate::argument;

/// A hierarchical timer wheel: FIFO among equal deadlines; arming, cancelling and firing a timer are O(1).
#[pyclass(module = "probelet")]
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

    /// Arms a timer; ``fire`` returns its ``token``, which is from -2**63 to 2**63 - 1. Returns an ID for
    /// ``cancel``.
    fn arm(
        &mut self,
        #[pyo3(from_py_with = argument::deadline_ns)] deadline_ns: u64,
        #[pyo3(from_py_with = argument::wheel::token)] token: i64,
    ) -> u64 {
        let id = self.tokens.insert(token);
        self.wheel.arm(Instant::from_nanos(deadline_ns), id);
        id.to_bits()
    }

    /// Cancels a timer; False if it has fired or was cancelled before.
    fn cancel(&mut self, #[pyo3(from_py_with = argument::timer)] timer: u64) -> bool {
        let live = self.tokens.cancel(TimerId::from_bits(timer));
        if self.tokens.is_crowded() {
            self.wheel.retain(|&id| self.tokens.is_live(id));
            self.tokens.swept();
        }
        live
    }

    /// The tokens due at ``now_ns``, in order of (deadline, arm).
    fn fire(&mut self, #[pyo3(from_py_with = argument::now_ns)] now_ns: u64) -> Vec<i64> {
        let mut fired = Vec::new();
        while let Some((_, id)) = self.wheel.pop(Instant::from_nanos(now_ns)) {
            fired.extend(self.tokens.fire(id));
        }
        fired
    }

    /// The earliest deadline; None without a timer.
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

/// A token bucket. It starts full.
///
/// With an ``interval_ns`` of 0 it is always full.
///
/// Args:
///     burst: how many tokens it holds at most, from 1 to 2**32 - 1.
///     interval_ns: the time after which it gets one token back, in nanoseconds.
///
/// Raises:
///     InvalidInputError: a number is out of its range.
#[pyclass(module = "probelet")]
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

    /// Takes so many tokens at once, or none; says whether it did. ``tokens`` is from 1 to 2**32 - 1; for more than
    /// ``burst`` it is always False.
    ///
    /// Raises:
    ///     InvalidInputError: a number is out of its range.
    #[pyo3(signature = (now_ns, tokens = 1))]
    fn take(
        &mut self,
        #[pyo3(from_py_with = argument::now_ns)] now_ns: u64,
        #[pyo3(from_py_with = argument::tokens)] tokens: u32,
    ) -> bool {
        self.0.take(tokens, Instant::from_nanos(now_ns))
    }

    /// Takes the next token, which may not be there yet; returns when it will be. Each call gets a later token.
    fn reserve(&mut self, #[pyo3(from_py_with = argument::now_ns)] now_ns: u64) -> u64 {
        self.0.reserve(Instant::from_nanos(now_ns)).as_nanos()
    }

    /// When there will be a token if nobody takes one; ``now_ns`` if there is one already.
    fn due(&self, #[pyo3(from_py_with = argument::now_ns)] now_ns: u64) -> u64 {
        self.0.due(Instant::from_nanos(now_ns)).as_nanos()
    }

    /// How many tokens there are.
    fn available(&self, #[pyo3(from_py_with = argument::now_ns)] now_ns: u64) -> u64 {
        self.0.available(Instant::from_nanos(now_ns))
    }
}
