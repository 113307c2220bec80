//! `httpGet` (kubelet pkg/probe/http/http.go:DoHTTPProbe, 1.36, on `http.Client` of Go 1.26).

mod attempt;
mod connection;
mod exchange;
mod fast_path;
mod follow;
mod over_http2;
mod redirect;
mod request;

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use probelet_core::spec::HttpGet;
use tokio::time::Instant;

pub(super) use self::attempt::AWAITING_HEADERS;
use self::attempt::{HttpAttempt, Probe, Stage};
use self::request::Request;
use super::asker::Asker;
use super::buffers::Buffers;
use crate::attempt::cause::Cause;
use crate::attempt::report::Report;
use crate::attempt::stopwatch::Stopwatch;

/// The address of an ordinary probe, which is known without asking anybody; None if the probe is not one.
pub(super) fn plain_target(get: &HttpGet, host: &str, port: u16, user_agent: &str) -> Option<SocketAddr> {
    fast_path::target(get, host, port, user_agent)
}

/// The text of a connection that failed with `error`.
pub(super) fn failure_text(get: &HttpGet, host: &str, port: u16, asker: Asker<'_>, error: &str) -> String {
    match Request::of_probe(get, host, port, asker.user_agent) {
        Ok(request) => request.failure_text(error),
        Err(_) => error.to_owned(),
    }
}

/// Carries out a probe. The body stays in `buffers.body`.
pub(super) async fn probe(
    get: &HttpGet,
    host: &str,
    port: u16,
    asker: Asker<'_>,
    deadline: Option<Instant>,
    buffers: &mut Buffers,
) -> Report {
    let Asker { user_agent, pod_uid, .. } = asker;
    let probe = Probe { get, host, port, user_agent, pod_uid };
    let plain = fast_path::write(get, host, port, user_agent, &mut buffers.request);
    let request = match plain {
        Some(_) => None,
        None => match Request::of_probe(get, host, port, user_agent) {
            Ok(request) => Some(Box::new(request)),
            Err(text) => return Report::not_begun(text, Cause::Request),
        },
    };
    let wait = Arc::clone(&buffers.wait);
    let mut attempt =
        HttpAttempt { probe, request, buffers, stage: Stage::Connect, watch: Stopwatch::start(), deadline };
    let ended = wait.until(deadline, pin!(attempt.follow(plain))).await;
    let (outcome, cause) = ended.unwrap_or_else(|| attempt.late());
    attempt.begin(Stage::Connect);
    Report { outcome, cause, timings: attempt.watch.timings }
}
