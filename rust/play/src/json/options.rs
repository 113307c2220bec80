//! The opt-ins of a probe in JSON: a field of ours, which Python writes for the annotation `probelet.dev/probe-options`.

use std::time::Duration;

use probelet_core::options::{ErrorKind, ErrorKinds, FailureWindow, Network, ProbeOptions};
use serde::{Deserialize, Serialize};

/// [`ProbeOptions`] with the names of Python's model.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Options {
    failures: Option<Failures>,
    errors: Option<Errors>,
    hysteresis: Option<Hysteresis>,
    period_milliseconds: Option<u32>,
    until_ready_milliseconds: Option<u32>,
    when_failing_milliseconds: Option<u32>,
    network: Option<NetworkName>,
    network_fallback: Option<NetworkFallback>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum NetworkName {
    Pod,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum NetworkFallback {
    Error,
    Ordinary,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failures {
    of: u32,
    at: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Errors {
    failure_after: i32,
    causes: Option<Vec<ErrorCause>>,
}

/// A word for a cause of attempts ([`Cause::name`](crate::cause::Cause::name)) that a prober error can have.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ErrorCause {
    Body,
    Cri,
    Port,
    Request,
}

impl ErrorCause {
    const ALL: [Self; 4] = [Self::Body, Self::Cri, Self::Port, Self::Request];

    const fn to_core(self) -> ErrorKind {
        match self {
            Self::Body => ErrorKind::Body,
            Self::Cri => ErrorKind::Runtime,
            Self::Port => ErrorKind::Port,
            Self::Request => ErrorKind::Request,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Hysteresis {
    slower_than_milliseconds: u32,
}

impl Options {
    pub(crate) fn to_core(&self) -> ProbeOptions {
        let millis = |millis: Option<u32>| millis.map(|millis| Duration::from_millis(millis.into()));
        let causes = self.errors.as_ref().and_then(|errors| errors.causes.as_ref());
        ProbeOptions {
            period: millis(self.period_milliseconds),
            until_ready: millis(self.until_ready_milliseconds),
            when_failing: millis(self.when_failing_milliseconds),
            failures: self.failures.as_ref().map(|failures| FailureWindow::new(failures.of, failures.at)),
            failure_after_errors: self.errors.as_ref().map_or(0, |errors| errors.failure_after),
            error_kinds: causes.map_or(ErrorKinds::ALL, |causes| ErrorKinds::of(causes.iter().map(|it| it.to_core()))),
            slow: millis(self.hysteresis.as_ref().map(|it| it.slower_than_milliseconds)),
            network: match (self.network, self.network_fallback) {
                (None, _) => Network::Node,
                (Some(NetworkName::Pod), None | Some(NetworkFallback::Error)) => Network::Pod,
                (Some(NetworkName::Pod), Some(NetworkFallback::Ordinary)) => Network::PodOrNode,
            },
        }
    }

    pub(crate) fn of(options: &ProbeOptions) -> Self {
        let millis = |length: Option<Duration>| length.and_then(|length| u32::try_from(length.as_millis()).ok());
        let causes = || ErrorCause::ALL.into_iter().filter(|it| options.error_kinds.has(it.to_core())).collect();
        let has_errors = options.failure_after_errors > 0;
        Self {
            failures: options.failures.map(|window| Failures { of: window.of, at: window.at }),
            errors: has_errors.then(|| Errors {
                failure_after: options.failure_after_errors,
                causes: (options.error_kinds != ErrorKinds::ALL).then(causes),
            }),
            hysteresis: millis(options.slow).map(|slow| Hysteresis { slower_than_milliseconds: slow }),
            period_milliseconds: millis(options.period),
            until_ready_milliseconds: millis(options.until_ready),
            when_failing_milliseconds: millis(options.when_failing),
            network: (options.network != Network::Node).then_some(NetworkName::Pod),
            network_fallback: (options.network == Network::PodOrNode).then_some(NetworkFallback::Ordinary),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_survive_their_json() {
        let options = ProbeOptions {
            failures: Some(FailureWindow::new(10, 4)),
            failure_after_errors: 3,
            error_kinds: ErrorKinds::of([ErrorKind::Port, ErrorKind::Runtime]),
            slow: Some(Duration::from_millis(300)),
            until_ready: Some(Duration::from_millis(50)),
            network: Network::PodOrNode,
            ..ProbeOptions::default()
        };
        let json = serde_json::to_string(&Options::of(&options)).expect("plain data");
        let read: Options = serde_json::from_str(&json).expect("it was just written");
        assert_eq!(read.to_core(), options);
        assert_eq!(Options::of(&ProbeOptions::default()).to_core(), ProbeOptions::default());
    }
}
