//! `RestartSpec`: whether a container that has ended runs again.

use probelet_core::restart::{self as core, RestartPolicy, RestartRule, RuleAction};
use pyo3::prelude::*;

use crate::argument::{self, Rule};
use crate::error::{InputError, restart_policy};

/// What decides whether a container that has ended runs again: the pod's policy, the container's own, its rules.
///
/// Args:
///     pod: the pod's ``restartPolicy``: ``Always``, ``OnFailure`` or ``Never``.
///     own: the container's ``restartPolicy``, one of the same words.
///     rules: the container's ``restartPolicyRules`` as ``(action, operator, exit codes)`` with the API's words:
///         ``Restart`` or ``RestartAllContainers``, and ``In`` or ``NotIn``. The first rule that matches an exit code
///         counts.
///
/// Raises:
///     InvalidInputError: a word is not one of these, or an exit code has more than 32 bits.
#[pyclass(module = "probelet._rust", frozen)]
pub(crate) struct RestartSpec {
    pod: RestartPolicy,
    own: Option<RestartPolicy>,
    rules: Vec<RestartRule>,
}

#[pymethods]
impl RestartSpec {
    #[new]
    #[pyo3(signature = (pod, own = None, rules = Vec::new()))]
    fn new(
        pod: &str,
        own: Option<&str>,
        #[pyo3(from_py_with = argument::rules)] rules: Vec<Rule>,
    ) -> Result<Self, InputError> {
        let own = own.map(restart_policy).transpose()?;
        Ok(Self { pod: restart_policy(pod)?, own, rules: rules.into_iter().map(rule).collect::<Result<_, _>>()? })
    }

    /// The container's own policy, else the pod's.
    #[getter]
    fn policy(&self) -> &'static str {
        match self.core().policy() {
            RestartPolicy::Always => "Always",
            RestartPolicy::Never => "Never",
            RestartPolicy::OnFailure => "OnFailure",
        }
    }

    /// Whether a container that exited runs again: by its rules, which need a policy of its own, then its policy.
    fn after_exit(&self, #[pyo3(from_py_with = argument::required::exit_code)] exit_code: i32) -> bool {
        self.core().after_exit(exit_code, true)
    }

    /// Whether a container that a probe had killed runs again: no restart rule counts; ``OnFailure`` restarts it.
    fn after_kill(&self) -> bool {
        self.core().after_kill()
    }

    /// Whether an exit with this code restarts all containers of the pod.
    fn restarts_all(&self, #[pyo3(from_py_with = argument::required::exit_code)] exit_code: i32) -> bool {
        self.core().restarts_all(exit_code)
    }
}

impl RestartSpec {
    fn core(&self) -> core::RestartSpec<'_> {
        core::RestartSpec { pod: self.pod, own: self.own, rules: &self.rules }
    }
}

fn rule((action, operator, values): Rule) -> Result<RestartRule, InputError> {
    let action = match &*action {
        "Restart" => RuleAction::Restart,
        "RestartAllContainers" => RuleAction::RestartAllContainers,
        _ => return Err(InputError::word("action", &action, &["Restart", "RestartAllContainers"])),
    };
    let within = match &*operator {
        "In" => true,
        "NotIn" => false,
        _ => return Err(InputError::word("operator", &operator, &["In", "NotIn"])),
    };
    Ok(RestartRule { action, within, values })
}
