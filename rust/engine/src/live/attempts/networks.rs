//! The network namespaces of pods, for probes that are made from inside their pod (`network: pod`).

use std::collections::HashMap;
use std::sync::Arc;

use crate::net::namespace::Namespace;

/// A pod's network, as its owner knows it.
#[derive(Clone, Debug)]
pub(in super::super) enum Network {
    /// It can be entered.
    Entered(Arc<Namespace>),
    /// It is the node's own.
    Shared,
    /// It cannot, for this reason.
    Closed(Arc<str>),
}

/// The networks of pods, by UID.
#[derive(Debug, Default)]
pub(super) struct Networks(HashMap<Box<str>, Network>);

impl Networks {
    /// Sets a pod's network, or forgets it; false if nothing has changed.
    pub(super) fn set(&mut self, uid: &str, network: Option<Network>) -> bool {
        let is_same = match (self.0.get(uid), &network) {
            (Some(Network::Entered(known)), Some(Network::Entered(new))) => known.is_same(new),
            (Some(Network::Closed(known)), Some(Network::Closed(new))) => known == new,
            (None, None) | (Some(Network::Shared), Some(Network::Shared)) => true,
            _ => false,
        };
        if !is_same {
            match network {
                Some(network) => self.0.insert(uid.into(), network),
                None => self.0.remove(uid),
            };
        }
        !is_same
    }

    /// A pod's network; None if its owner has said nothing of it.
    pub(super) fn of(&self, uid: &str) -> Option<&Network> {
        self.0.get(uid)
    }
}
