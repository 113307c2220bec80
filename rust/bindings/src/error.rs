//! The one way out for errors: what Python hears is a `ValueError` with the reason.

use probelet_core::prober::Phasing;
use probelet_core::restart::RestartPolicy;
use probelet_core::semantics::{RELEASES, Semantics};
use probelet_core::spec::ProbeType;
use probelet_engine::attempt::starvation::{StarvedVerdict, Starving};
use probelet_engine::json::JsonError;
use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

/// Something a caller got wrong.
#[derive(Debug)]
pub(crate) enum BoundaryError {
    ExecKind(String),
    Json(JsonError),
    Phase(String),
    Protocol(String),
    ProbeType(String),
    Release(String),
    RestartPolicy(String),
    RuleAction(String),
    RuleOperator(String),
    StarvedVerdict(String),
    UnknownPod(String),
}

impl From<JsonError> for BoundaryError {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}

impl From<BoundaryError> for PyErr {
    fn from(error: BoundaryError) -> Self {
        PyValueError::new_err(match error {
            BoundaryError::ExecKind(kind) => format!("kind: {kind:?}: must be one of exit, starved, timeout, error"),
            BoundaryError::Json(error) => error.to_string(),
            BoundaryError::Protocol(name) => {
                format!("protocol: {name:?}: must be one of grpc, http, https, tcp")
            }
            BoundaryError::Phase(name) => format!("phase: {name:?}: must be one of kubelet, spread"),
            BoundaryError::ProbeType(name) => {
                format!("probe_type: {name:?}: must be one of liveness, readiness, startup")
            }
            BoundaryError::Release(name) => {
                let known: Vec<&str> = RELEASES.iter().map(|(name, _)| *name).collect();
                format!("kubelet_version: {name:?}: must be one of {}", known.join(", "))
            }
            BoundaryError::RestartPolicy(name) => {
                format!("restart_policy: {name:?}: must be one of Always, OnFailure, Never")
            }
            BoundaryError::RuleAction(name) => {
                format!("action: {name:?}: must be one of Restart, RestartAllContainers")
            }
            BoundaryError::RuleOperator(name) => format!("operator: {name:?}: must be one of In, NotIn"),
            BoundaryError::StarvedVerdict(name) => {
                format!("starved_verdict: {name:?}: must be one of failure, unknown")
            }
            BoundaryError::UnknownPod(uid) => format!("uid: {uid:?}: no pod with this UID was defined"),
        })
    }
}

pub(crate) fn probe_type(name: &str) -> Result<ProbeType, BoundaryError> {
    ProbeType::ALL
        .into_iter()
        .find(|probe_type| probe_type.name() == name)
        .ok_or_else(|| BoundaryError::ProbeType(name.to_owned()))
}

pub(crate) fn phasing(name: &str) -> Result<Phasing, BoundaryError> {
    match name {
        "kubelet" => Ok(Phasing::Kubelet),
        "spread" => Ok(Phasing::Spread),
        _ => Err(BoundaryError::Phase(name.to_owned())),
    }
}

pub(crate) fn release(name: &str) -> Result<Semantics, BoundaryError> {
    Semantics::of_release(name).ok_or_else(|| BoundaryError::Release(name.to_owned()))
}

pub(crate) fn starving(share: f64, verdict: &str) -> Result<Starving, BoundaryError> {
    let verdict = match verdict {
        "failure" => StarvedVerdict::Failure,
        "unknown" => StarvedVerdict::Unknown,
        _ => return Err(BoundaryError::StarvedVerdict(verdict.to_owned())),
    };
    Ok(Starving { share, verdict })
}

pub(crate) fn restart_policy(name: &str) -> Result<RestartPolicy, BoundaryError> {
    match name {
        "Always" => Ok(RestartPolicy::Always),
        "OnFailure" => Ok(RestartPolicy::OnFailure),
        "Never" => Ok(RestartPolicy::Never),
        other => Err(BoundaryError::RestartPolicy(other.to_owned())),
    }
}
