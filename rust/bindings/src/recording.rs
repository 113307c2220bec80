//! `Recording`: what a flight recorder wrote, and plays of it with other settings.

use std::path::PathBuf;

use probelet_engine::flight_recorder::read_path;
use probelet_play::recording;
use probelet_play::recording::{PodLog, Stretch};
use probelet_play::whatif::{Assumption, decode_changes, describe, play, played, turned};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::argument;
use crate::error::InputError;

/// What a flight recorder wrote: a directory of segments, or one file of a segment or of several.
///
/// A *stretch* is what one engine recorded without a loss. Times are Unix microseconds. A segment that was cut by a
/// kill counts up to there.
///
/// Raises:
///     RecordingError: it cannot be read, it is no recording, or it is damaged; the text is one line with the place.
#[pyclass(module = "probelet._rust", frozen)]
pub(crate) struct Recording(recording::Recording);

#[pymethods]
impl Recording {
    #[new]
    #[pyo3(signature = (path))]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts paths by value")]
    fn new(py: Python<'_>, path: PathBuf) -> Result<Self, InputError> {
        let reading = py.detach(|| read_path(&path));
        reading.map(Self).map_err(|error| InputError::Recording(error.to_string()))
    }

    /// All but the single attempts: ``{"node", "lost": entries that are missing, "cuts": [a line for each segment
    /// that a kill cut], "stretches": [{"probelet", "lost", "from_us", "to_us", "pods": [{"uid", "namespace", "name",
    /// "from_us", "attempts": how many, "containers": [{"name", "images", "probes": {type: P}, "seen": {type: S}}],
    /// "lives": [{"container_id", "container", "ran_us", "ended_us", "exit_code"}], "results": [R], "kills": [K]}]}]}``
    /// with R = ``{"at_us", "type", "container_id", "result", "cause": of a failure or null}``, K = ``{"at_us", "type",
    /// "container_id"}`` (a verdict that ends a container), P the six numbers of a probe, and S what its attempts were
    /// like: ``{"attempts", "failures", "errors", "starved", "total_us", "slow_us", "late_us"}``, of which the last two
    /// are what 99 of 100 did not exceed.
    fn describe<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let json = py.detach(|| describe(&self.0).to_string());
        PyBytes::new(py, json.as_bytes())
    }

    /// Plays the pod number ``pod`` of the stretch number ``stretch``, from 0, with other probes. ``changes`` is a
    /// JSON list of ``{"container", "type", "probe": P | null}``. Returns ``{"results": [R], "kills": [K], "recorded",
    /// "carried", "unknown"}``: the last three count attempts by what answered them. ``assume`` says how a container
    /// answers of which nobody knows: ``healthy`` or ``failing``.
    ///
    /// Raises:
    ///     InvalidInputError: there is no such pod, change or assumption.
    #[pyo3(signature = (stretch, pod, changes, assume))]
    fn play<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = argument::stretch)] stretch: u64,
        #[pyo3(from_py_with = argument::pod)] pod: u64,
        changes: &[u8],
        assume: &str,
    ) -> Result<Bound<'py, PyBytes>, InputError> {
        let assumption = match assume {
            "healthy" => Assumption::Healthy,
            "failing" => Assumption::Failing,
            _ => return Err(InputError::word("assume", assume, &["healthy", "failing"])),
        };
        let changes = decode_changes(changes)?;
        let (stretch, log) = self.place(stretch, pod)?;
        let json = py.detach(|| played(stretch, &play(stretch, log, &changes, assumption)).to_string());
        Ok(PyBytes::new(py, json.as_bytes()))
    }

    /// The attempts of the pod number ``pod`` of the stretch number ``stretch``, from 0, that say something new: the
    /// first one of each worker, a good one after a bad one, and the first ten bad ones in a row. Returns
    /// ``{"turns": [{"container", "type", "at_us", "is_good", "cause", "late_us"}], "gone_us"}``; ``gone_us`` is when
    /// the pod began to end, or null.
    ///
    /// Raises:
    ///     InvalidInputError: there is no such pod.
    #[pyo3(signature = (stretch, pod))]
    fn turns<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = argument::stretch)] stretch: u64,
        #[pyo3(from_py_with = argument::pod)] pod: u64,
    ) -> Result<Bound<'py, PyBytes>, InputError> {
        let (stretch, log) = self.place(stretch, pod)?;
        let json = py.detach(|| turned(stretch, log).to_string());
        Ok(PyBytes::new(py, json.as_bytes()))
    }
}

impl Recording {
    fn place(&self, stretch: u64, pod: u64) -> Result<(&Stretch, &PodLog), InputError> {
        let place = |number: u64, name, count: usize| {
            let allowed = || format!("less than {count}");
            let index = usize::try_from(number).ok().filter(|index| *index < count);
            index.ok_or_else(|| InputError::Argument { name, given: number.to_string(), allowed: allowed() })
        };
        let stretch = &self.0.stretches[place(stretch, "stretch", self.0.stretches.len())?];
        Ok((stretch, &stretch.pods[place(pod, "pod", stretch.pods.len())?]))
    }
}
