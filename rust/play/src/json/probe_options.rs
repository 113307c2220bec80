//! The opt-ins of a probe in a pod's JSON.

use std::time::Duration;

use probelet_core::options::{FailureWindow, Network, ProbeOptions};
use serde::Deserialize;

/// The opt-ins of a probe: a field of ours, which Python writes for the annotation `probelet.dev/probe-options`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Options {
    failures: Option<Failures>,
    errors: Option<Errors>,
    period_milliseconds: Option<u32>,
    until_ready_milliseconds: Option<u32>,
    when_failing_milliseconds: Option<u32>,
    network: Option<NetworkName>,
    network_fallback: Option<NetworkFallback>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum NetworkName {
    Pod,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum NetworkFallback {
    Error,
    Ordinary,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Failures {
    of: u32,
    at: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Errors {
    failure_after: i32,
}

impl Options {
    pub(super) fn to_core(&self) -> ProbeOptions {
        let millis = |millis: Option<u32>| millis.map(|millis| Duration::from_millis(millis.into()));
        ProbeOptions {
            period: millis(self.period_milliseconds),
            until_ready: millis(self.until_ready_milliseconds),
            when_failing: millis(self.when_failing_milliseconds),
            failures: self.failures.as_ref().map(|failures| FailureWindow::new(failures.of, failures.at)),
            failure_after_errors: self.errors.as_ref().map_or(0, |errors| errors.failure_after),
            network: match (self.network, self.network_fallback) {
                (None, _) => Network::Node,
                (Some(NetworkName::Pod), None | Some(NetworkFallback::Error)) => Network::Pod,
                (Some(NetworkName::Pod), Some(NetworkFallback::Ordinary)) => Network::PodOrNode,
            },
        }
    }
}
