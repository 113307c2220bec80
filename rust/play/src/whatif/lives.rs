//! The lives of a pod's containers, and which of them a probe ended.

use std::collections::BTreeMap;

use probelet_core::podstatus::State;
use probelet_core::results::ProbeResult;
use probelet_core::spec::ProbeType;

use crate::recording::{PodLog, Published, StatusRecord};

/// A container, from the first call that names its ID to the first one that says it has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// The container's name.
    pub container: Box<str>,
    /// When a call first named it; 0 if it was there when the log began.
    pub since_us: u64,
    /// When a call first said that it runs.
    pub ran_us: Option<u64>,
    /// When a call first said that it does not run any more, or named another container in its place.
    pub ended_us: Option<u64>,
    /// Its exit code, if a call said one.
    pub exit_code: Option<i32>,
}

/// A verdict that ends a container: its liveness or startup probe failed while it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kill {
    /// When.
    pub at_us: u64,
    /// The probe.
    pub probe_type: ProbeType,
    /// The container's ID.
    pub container_id: Box<str>,
}

/// The lives of a pod's containers by ID.
#[derive(Clone, Debug, Default)]
pub struct Lives {
    lives: BTreeMap<Box<str>, Life>,
}

impl Lives {
    /// What a log says.
    pub fn of(log: &PodLog) -> Self {
        let mut lives = Self::default();
        let state = log.state.as_ref();
        for status in state.into_iter().flat_map(|state| [&state.status, &state.facts]).flatten() {
            lives.see(0, status);
        }
        for told in &log.inputs {
            if let Some(facts) = told.input.facts() {
                lives.see(told.at_us, facts);
            }
        }
        lives
    }

    fn see(&mut self, at_us: u64, status: &StatusRecord) {
        for seen in status.containers.iter().filter(|seen| !seen.id.is_empty()) {
            for (id, life) in &mut self.lives {
                if life.container == seen.name && *id != seen.id {
                    life.ended_us.get_or_insert(at_us);
                }
            }
            let life = self.lives.entry(seen.id.clone()).or_insert_with(|| Life {
                container: seen.name.clone(),
                since_us: at_us,
                ran_us: None,
                ended_us: None,
                exit_code: None,
            });
            match seen.state {
                State::Running { .. } => drop(life.ran_us.get_or_insert(at_us)),
                State::Terminated { exit_code } => {
                    life.ended_us.get_or_insert(at_us);
                    life.exit_code.get_or_insert(exit_code);
                }
                // A container that waits for its restart was there before.
                State::Waiting if life.ran_us.is_some() => drop(life.ended_us.get_or_insert(at_us)),
                State::Waiting => {}
            }
        }
    }

    /// The life of a container.
    pub fn get(&self, container_id: &str) -> Option<&Life> {
        self.lives.get(container_id)
    }

    /// All lives with their containers' IDs.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Life)> {
        self.lives.iter().map(|(id, life)| (&**id, life))
    }

    /// The first verdict of each container that ends it. A failure that was taken back while the container ran on, so that
    /// its kill could wait, is none.
    pub fn kills(&self, published: &[Published]) -> Vec<Kill> {
        let mut kills: Vec<Kill> = Vec::new();
        for result in published {
            let Some(life) = self.lives.get(&result.container_id) else { continue };
            let runs = life.ran_us.is_some_and(|ran| ran <= result.at_us)
                && life.ended_us.is_none_or(|ended| result.at_us < ended);
            let was_taken_back = result.result == ProbeResult::Unknown && result.probe_type == ProbeType::Liveness;
            if runs && was_taken_back {
                kills.retain(|kill| kill.container_id != result.container_id);
            }
            let is_verdict = result.result == ProbeResult::Failure && result.probe_type != ProbeType::Readiness;
            if runs && is_verdict && !kills.iter().any(|kill| kill.container_id == result.container_id) {
                let (at_us, probe_type, container_id) = (result.at_us, result.probe_type, result.container_id.clone());
                kills.push(Kill { at_us, probe_type, container_id });
            }
        }
        kills
    }
}
