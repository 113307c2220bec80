//! The kubelet that asks: how its release behaves towards a probed container.

use probelet_core::semantics::HandlerRules;

/// What a handler must know of the kubelet that asks.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// `User-Agent`, `kube-probe/<major>.<minor>`.
    pub user_agent: &'a str,
    /// The rules of its release.
    pub rules: HandlerRules,
    /// The UID of the pod that is probed. Look-ups are counted by pod; None for what belongs to no pod of an engine.
    pub pod_uid: Option<&'a str>,
}
