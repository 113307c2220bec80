//! The whole numbers that Python passes in. Each parameter has a range; a number outside of it is one error that names
//! the parameter, the number and the range.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use probelet_engine::live::RecorderOptions;
use probelet_play::simulation::TIME_MS_MAX;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use crate::error::InputError;

/// Writes one extractor for each parameter, for `#[pyo3(from_py_with = argument::NAME)]`.
macro_rules! parameters {
    ($($name:ident: $type:ty = $range:expr;)*) => {
        $(pub(crate) fn $name(value: &Bound<'_, PyAny>) -> PyResult<$type> {
            whole(value, stringify!($name), $range)
        })*
    };
}

/// As [`parameters`], for a parameter that may be None.
macro_rules! optional_parameters {
    ($($name:ident: $type:ty = $range:expr;)*) => {
        $(pub(crate) fn $name(value: &Bound<'_, PyAny>) -> PyResult<Option<$type>> {
            if value.is_none() { Ok(None) } else { whole(value, stringify!($name), $range).map(Some) }
        })*
    };
}

parameters! {
    answer: u64 = 0..=u64::MAX;
    attempts: usize = 2..=ATTEMPTS_MAX;
    burst: u32 = 1..=u32::MAX;
    code: i32 = i32::MIN..=i32::MAX;
    containers: u64 = 0..=u64::MAX;
    count: usize = 0..=RESTARTS_MAX;
    deadline_ns: u64 = 0..=u64::MAX;
    extra_runs_per_second: u32 = 0..=u32::MAX;
    factor_milli: u32 = 1_000..=u32::MAX;
    history: usize = 0..=probelet_play::history::ATTEMPTS;
    initial_ns: u64 = 0..=u64::MAX;
    interval_ns: u64 = 0..=u64::MAX;
    jitter_milli: u32 = 0..=u32::MAX;
    max_ns: u64 = 0..=u64::MAX;
    most: usize = 0..=usize::MAX;
    now_ns: u64 = 0..=u64::MAX;
    more_ns: u64 = 0..=CLOCK_NS_MAX;
    ns: u64 = 0..=CLOCK_NS_MAX;
    pidfd: i32 = 0..=i32::MAX;
    pod: u64 = 0..=u64::MAX;
    reset_ns: u64 = 0..=u64::MAX;
    run: u64 = 0..=u64::MAX;
    run_max_ns: u64 = 0..=u64::MAX;
    run_min_ns: u64 = 0..=u64::MAX;
    seed: u64 = 0..=u64::MAX;
    slot_ns: u64 = 1..=u64::MAX;
    socket: i32 = 0..=i32::MAX;
    spread_ns: u64 = 0..=u64::MAX;
    stretch: u64 = 0..=u64::MAX;
    t_ms: i64 = -TIME_MS_MAX..=TIME_MS_MAX;
    timeout_seconds: i32 = 0..=i32::MAX;
    timer: u64 = 0..=u64::MAX;
    token: u64 = 0..=u64::MAX;
    tokens: u32 = 1..=u32::MAX;
    until_ns: u64 = 0..=u64::MAX;
    wake_slack_ns: u64 = 0..=WAKE_SLACK_NS_MAX;
    warmup_ms: i64 = 0..=TIME_MS_MAX;
    window_ns: u64 = 1..=CLOCK_NS_MAX;
}

/// Numbers that some methods need and that `Backoff.decide` may do without.
pub(crate) mod required {
    use super::*;

    parameters! {
        exit_code: i32 = i32::MIN..=i32::MAX;
        finished_ns: u64 = 0..=u64::MAX;
    }
}

/// The delays of a CrashModel have a minimum of their own: a container that crashes at once must not stand still.
pub(crate) mod crash_model {
    use super::*;

    parameters! {
        initial_ns: u64 = MILLISECOND_NS..=u64::MAX;
        max_ns: u64 = MILLISECOND_NS..=u64::MAX;
    }
}

/// `token` of a TimerWheel, which may be negative; an engine's may not.
pub(crate) mod wheel {
    use super::*;

    parameters! {
        token: i64 = i64::MIN..=i64::MAX;
    }
}

optional_parameters! {
    due_ns: u64 = 0..=u64::MAX;
    exit_code: i32 = i32::MIN..=i32::MAX;
    finished_ns: u64 = 0..=u64::MAX;
    starts_ns: u64 = 0..=CLOCK_NS_MAX;
}

/// The first and the longest delay of a container with a curve of its own.
pub(crate) fn own(value: &Bound<'_, PyAny>) -> PyResult<Option<(u64, u64)>> {
    let Some((initial, max)) = value.extract::<Option<(Bound<'_, PyAny>, Bound<'_, PyAny>)>>()? else {
        return Ok(None);
    };
    Ok(Some((whole(&initial, "own", 0..=u64::MAX)?, whole(&max, "own", 0..=u64::MAX)?)))
}

/// A restart rule in the API's words: action, operator, exit codes.
pub(crate) type Rule = (String, String, Vec<i32>);

/// A container's restart rules.
pub(crate) fn rules(value: &Bound<'_, PyAny>) -> PyResult<Vec<Rule>> {
    let rules = value.extract::<Vec<(String, String, Vec<Bound<'_, PyAny>>)>>()?;
    let code = |code: Bound<'_, PyAny>| whole(&code, "rules", i32::MIN..=i32::MAX);
    let read = |(action, operator, codes): (_, _, Vec<_>)| {
        Ok((action, operator, codes.into_iter().map(code).collect::<PyResult<_>>()?))
    };
    rules.into_iter().map(read).collect()
}

/// Names and numbers of a container's ports.
pub(crate) fn ports(value: &Bound<'_, PyAny>) -> PyResult<Vec<(String, i64)>> {
    let ports = value.extract::<Vec<(String, Bound<'_, PyAny>)>>()?;
    ports.into_iter().map(|(name, port)| Ok((name, whole(&port, "ports", i64::MIN..=i64::MAX)?))).collect()
}

/// The flight recorder's directory, size and node.
pub(crate) fn recorder(value: &Bound<'_, PyAny>) -> PyResult<Option<RecorderOptions>> {
    let Some((directory, size, node)) = value.extract::<Option<(PathBuf, Bound<'_, PyAny>, String)>>()? else {
        return Ok(None);
    };
    Ok(Some(RecorderOptions { directory, size: whole(&size, "recorder", RECORDER_BYTES_MIN..=u64::MAX)?, node }))
}

fn whole<'py, T>(value: &Bound<'py, PyAny>, name: &'static str, range: RangeInclusive<T>) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr> + Display + PartialOrd,
{
    match value.extract::<T>() {
        Ok(number) if range.contains(&number) => Ok(number),
        Err(error) if !error.is_instance_of::<PyOverflowError>(value.py()) => Err(error),
        _ => {
            // Python refuses to print a number of thousands of digits.
            let given = value.str().map_or_else(|_| "a number too long to print".to_owned(), |text| text.to_string());
            let allowed = format!("from {} to {}", range.start(), range.end());
            Err(InputError::Argument { name, given, allowed }.into())
        }
    }
}

/// The attempts that are kept of one probe; each takes 40 bytes.
const ATTEMPTS_MAX: usize = 100_000;
/// A smaller ring would have more beginnings of segments than attempts.
const RECORDER_BYTES_MIN: u64 = 1 << 20;
/// A list of more restarts than this would fill the memory.
const RESTARTS_MAX: usize = 10_000_000;
/// The engine's clock counts to 584 years; half of that leaves room for every deadline that is set from there.
pub(crate) const CLOCK_NS_MAX: u64 = i64::MAX as u64;
/// A tenth of the shortest period: a later probe would be felt in the time that failures take.
const WAKE_SLACK_NS_MAX: u64 = 100_000_000;
/// With a shorter delay a model of a container that crashes at once would stand still, or nearly so.
const MILLISECOND_NS: u64 = 1_000_000;
