//! A pod's status in a recording: which containers ran, under which ID, and how they ended.

use std::sync::Arc;

use probelet_core::podstatus::{ContainerStatus, Phase, PodStatus, State};
use serde::{Deserialize, Serialize};

/// A [`PodStatus`] without addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusRecord {
    /// [`PodStatus::phase`].
    pub phase: Phase,
    /// [`PodStatus::all_containers_restarting`].
    pub all_containers_restarting: bool,
    /// [`PodStatus::containers`].
    pub containers: Vec<ContainerRecord>,
    /// [`PodStatus::regular`].
    pub regular: u32,
}

/// A [`ContainerStatus`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerRecord {
    /// [`ContainerStatus::name`].
    pub name: Box<str>,
    /// [`ContainerStatus::id`].
    pub id: Box<str>,
    /// [`ContainerStatus::state`].
    pub state: State,
    /// [`ContainerStatus::ready`].
    pub ready: bool,
    /// [`ContainerStatus::started`].
    pub started: Option<bool>,
}

impl StatusRecord {
    /// The record of a status.
    pub fn of(status: &PodStatus) -> Self {
        let containers = status.containers.iter().map(|container| ContainerRecord {
            name: (&*container.name).into(),
            id: (&*container.id).into(),
            state: container.state,
            ready: container.ready,
            started: container.started,
        });
        Self {
            phase: status.phase,
            all_containers_restarting: status.all_containers_restarting,
            containers: containers.collect(),
            regular: u32::try_from(status.regular).unwrap_or(u32::MAX),
        }
    }

    /// The status again, without an address.
    pub fn to_status(&self) -> PodStatus {
        let containers = self.containers.iter().map(|container| {
            let mut status =
                ContainerStatus::new(Arc::from(&*container.name), Arc::from(&*container.id), container.state);
            (status.ready, status.started) = (container.ready, container.started);
            status
        });
        PodStatus {
            phase: self.phase,
            pod_ip: Arc::from(""),
            all_containers_restarting: self.all_containers_restarting,
            containers: containers.collect(),
            regular: (self.regular as usize).min(self.containers.len()),
        }
    }

    /// The container of this name.
    pub fn named(&self, name: &str) -> Option<&ContainerRecord> {
        self.containers.iter().find(|container| *container.name == *name)
    }
}
