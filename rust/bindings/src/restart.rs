//! `RestartSpec`: whether a container that has ended runs again.

use probelet_core::restart::{self as core, RestartPolicy, RestartRule, RuleAction};
use pyo3::prelude::*;

use crate::argument::{self, Rule};
use crate::error::{InputError, restart_policy};

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

    #[getter]
    fn policy(&self) -> &'static str {
        match self.core().policy() {
            RestartPolicy::Always => "Always",
            RestartPolicy::Never => "Never",
            RestartPolicy::OnFailure => "OnFailure",
        }
    }

    fn after_exit(&self, #[pyo3(from_py_with = argument::required::exit_code)] exit_code: i32) -> bool {
        self.core().after_exit(exit_code, true)
    }

    fn after_kill(&self) -> bool {
        self.core().after_kill()
    }

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
