//! The one way out for errors: Python gets an exception of `probelet.errors` with one line for each mistake.

use std::fmt;

use probelet_core::prober::Phasing;
use probelet_core::restart::RestartPolicy;
use probelet_core::semantics::{RELEASES, Semantics};
use probelet_core::spec::ProbeType;
use probelet_core::status::Glue;
use probelet_engine::attempt::starvation::{StarvedVerdict, Starving};
use probelet_play::json::{JsonError, StatusDocument};
use probelet_play::simulation::cluster::ModelError;
use pyo3::PyErr;

mod python {
    // The module is imported when the first error is raised, so that `import probelet` does not pay for it.
    pyo3::import_exception!(probelet.errors, InvalidInputError);
    pyo3::import_exception!(probelet.errors, JournalError);
    pyo3::import_exception!(probelet.errors, RecordingError);
    pyo3::import_exception!(probelet.errors, UnknownPodError);
}

/// A mistake of the caller.
#[derive(Debug)]
pub(crate) enum InputError {
    /// An argument has a value that its parameter does not allow.
    Argument { name: &'static str, given: String, allowed: String },
    /// A certificate cannot be read or made.
    Certificate(String),
    /// A journal cannot be believed.
    Journal(String),
    /// A document is not what it should be.
    Json(JsonError),
    /// A model of a cluster does not know what it is asked for.
    Model(ModelError),
    /// A recording cannot be believed.
    Recording(String),
    /// No pod with this UID was defined.
    UnknownPod(String),
}

impl InputError {
    pub(crate) fn word(name: &'static str, given: &str, known: &[&str]) -> Self {
        let allowed = format!("one of {}", known.join(", "));
        Self::Argument { name, given: format!("{given:?}"), allowed }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument { name, given, allowed } => write!(formatter, "{name}: {given}: must be {allowed}"),
            Self::Certificate(text) | Self::Journal(text) | Self::Recording(text) => formatter.write_str(text),
            Self::Json(error) => error.fmt(formatter),
            Self::Model(error) => error.fmt(formatter),
            Self::UnknownPod(uid) => write!(formatter, "uid: {uid:?}: no pod with this UID was defined"),
        }
    }
}

impl From<JsonError> for InputError {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}

impl From<ModelError> for InputError {
    fn from(error: ModelError) -> Self {
        Self::Model(error)
    }
}

impl From<InputError> for PyErr {
    fn from(error: InputError) -> Self {
        let text = error.to_string();
        match error {
            InputError::Argument { .. } | InputError::Certificate(_) | InputError::Json(_) | InputError::Model(_) => {
                python::InvalidInputError::new_err(text)
            }
            InputError::Journal(_) => python::JournalError::new_err(text),
            InputError::Recording(_) => python::RecordingError::new_err(text),
            InputError::UnknownPod(_) => python::UnknownPodError::new_err(text),
        }
    }
}

pub(crate) fn probe_type(name: &str) -> Result<ProbeType, InputError> {
    let found = ProbeType::ALL.into_iter().find(|probe_type| probe_type.name() == name);
    found.ok_or_else(|| InputError::word("probe_type", name, &["liveness", "readiness", "startup"]))
}

/// The name of a worker whose attempts are scripted.
pub(crate) fn worker(key: &str) -> Result<&str, InputError> {
    let names: Vec<&str> = key.split('/').collect();
    let has_type = names.last().is_some_and(|name| probe_type(name).is_ok());
    if has_type && matches!(names.len(), 3 | 4) && names.iter().all(|name| !name.is_empty()) {
        return Ok(key);
    }
    let allowed = "pod/container/type or namespace/pod/container/type, with the type liveness, readiness or startup";
    Err(InputError::Argument { name: "key", given: format!("{key:?}"), allowed: allowed.to_owned() })
}

pub(crate) fn phasing(name: &str) -> Result<Phasing, InputError> {
    match name {
        "kubelet" => Ok(Phasing::Kubelet),
        "spread" => Ok(Phasing::Spread),
        _ => Err(InputError::word("phase", name, &["kubelet", "spread"])),
    }
}

pub(crate) fn release(name: &str) -> Result<Semantics, InputError> {
    Semantics::of_release(name)
        .ok_or_else(|| InputError::word("kubelet_version", name, &RELEASES.map(|(name, _)| name)))
}

/// The rules of a release; `enhanced` replaces its rules about liveness.
pub(crate) fn semantics(kubelet_version: &str, semantics: &str) -> Result<Semantics, InputError> {
    let of_release = release(kubelet_version)?;
    match semantics {
        "kubelet" => Ok(of_release),
        "enhanced" => Ok(of_release.enhanced()),
        _ => Err(InputError::word("semantics", semantics, &["kubelet", "enhanced"])),
    }
}

pub(crate) fn starving(share: f64, verdict: &str) -> Result<Starving, InputError> {
    let verdict = match verdict {
        "failure" => StarvedVerdict::Failure,
        "unknown" => StarvedVerdict::Unknown,
        _ => return Err(InputError::word("starved_verdict", verdict, &["failure", "unknown"])),
    };
    if !(share > 0.0 && share.is_finite()) {
        let allowed = "a finite number above 0".to_owned();
        return Err(InputError::Argument { name: "starved_share", given: share.to_string(), allowed });
    }
    Ok(Starving { share, verdict })
}

/// A simulation's `glue`: what it does with results.
pub(crate) fn glue(text: &str) -> Result<Glue, InputError> {
    let mut glue = Glue::NONE;
    match text {
        "kubelet" => return Ok(Glue::KUBELET),
        "none" => return Ok(glue),
        _ => {}
    }
    for word in text.split(',') {
        match word {
            "readiness" => glue.readiness = true,
            "startup" => glue.startup = true,
            "sync" => glue.sync = true,
            _ => {
                let allowed = "kubelet, none, or a list of readiness, startup, sync with commas".to_owned();
                return Err(InputError::Argument { name: "glue", given: format!("{text:?}"), allowed });
            }
        }
    }
    Ok(glue)
}

pub(crate) fn restart_policy(name: &str) -> Result<RestartPolicy, InputError> {
    match name {
        "Always" => Ok(RestartPolicy::Always),
        "OnFailure" => Ok(RestartPolicy::OnFailure),
        "Never" => Ok(RestartPolicy::Never),
        _ => Err(InputError::word("restart_policy", name, &["Always", "OnFailure", "Never"])),
    }
}

/// The JSON of a status, or the error that no such pod was defined.
pub(crate) fn known(document: Option<StatusDocument>, uid: &str) -> Result<Vec<u8>, InputError> {
    document.map(|document| document.to_json()).ok_or_else(|| InputError::UnknownPod(uid.to_owned()))
}
