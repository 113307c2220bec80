//! `tcpSocket` (kubelet pkg/probe/tcp/tcp.go:DoTCPProbe, 1.36): connects and closes.

use probelet_core::prober::Outcome;
use tokio::time::Instant;

use crate::attempt::cause::Cause;
use crate::attempt::report::Report;
use crate::attempt::stopwatch::Stopwatch;
use crate::net::dial::{dial, late_for};
use crate::net::timeout::or_timeout;

/// Carries out a probe.
pub(super) async fn probe(pod: Option<&str>, host: &str, port: u16, deadline: Option<Instant>) -> Report {
    let mut watch = Stopwatch::start();
    let dialled = match deadline {
        Some(deadline) if deadline <= Instant::now() => Err(late_for(host, port)),
        Some(deadline) => match or_timeout(deadline, dial(pod, host, port, b"", Some(deadline), &mut watch)).await {
            Some(dialled) => dialled.map(drop),
            None => Err(late_for(host, port)),
        },
        None => dial(pod, host, port, b"", None, &mut watch).await.map(drop),
    };
    watch.lap(|timings| &mut timings.connect);
    let (outcome, cause) = match dialled {
        Ok(()) => (Outcome::Success, Cause::Ok),
        Err(error) => (error.outcome(error.text.clone()), error.cause),
    };
    Report { outcome, cause, timings: watch.timings }
}
