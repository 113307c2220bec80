//! `tcpSocket` (kubelet pkg/probe/tcp/tcp.go:DoTCPProbe, 1.36): connects and closes.

use std::pin::pin;

use probelet_core::prober::Outcome;
use probelet_play::cause::Cause;
use tokio::time::Instant;

use crate::attempt::report::Report;
use crate::attempt::stopwatch::Stopwatch;
use crate::net::dial::{Origin, dial, late_for};
use crate::net::poller::Wait;

/// Carries out a probe.
pub(super) async fn probe(origin: Origin<'_>, host: &str, port: u16, deadline: Option<Instant>, wait: &Wait) -> Report {
    let mut watch = Stopwatch::start();
    let is_late = deadline.is_some_and(|deadline| deadline <= Instant::now());
    let dialled = match is_late {
        false => wait.until(deadline, pin!(dial(origin, host, port, b"", deadline, &mut watch))).await,
        true => None,
    };
    let dialled = dialled.unwrap_or_else(|| Err(late_for(host, port))).map(drop);
    watch.lap(|timings| &mut timings.connect);
    let (outcome, cause) = match dialled {
        Ok(()) => (Outcome::Success, Cause::Ok),
        Err(error) => (error.outcome(error.text.clone()), error.cause),
    };
    Report { outcome, cause, timings: watch.timings }
}
