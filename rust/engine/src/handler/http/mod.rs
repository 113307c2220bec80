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
pub(super) use self::attempt::Probe;
use self::attempt::{Asked, HttpAttempt, Stage};
pub(super) use self::fast_path::write as write_plain;
use self::request::Request;
use super::asker::Asker;
use super::buffers::Buffers;
use crate::attempt::report::Report;
use crate::attempt::stopwatch::Stopwatch;
use crate::net::dial::Origin;
use probelet_play::cause::Cause;

/// The text of a connection that failed with `error`.
pub(super) fn failure_text(get: &HttpGet, host: &str, port: u16, asker: Asker<'_>, error: &str) -> String {
    match Request::of_probe(get, host, port, asker.user_agent, asker.rules.go) {
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
    origin: Origin<'_>,
    deadline: Option<Instant>,
    buffers: &mut Buffers,
) -> Report {
    // The short way connects to an address from this process's own namespace.
    let plain = match origin.namespace {
        None => write_plain(get, host, port, asker.user_agent, &mut buffers.request),
        Some(_) => None,
    };
    let request = match plain {
        Some(_) => None,
        None => match Request::of_probe(get, host, port, asker.user_agent, asker.rules.go) {
            Ok(request) => Some(Box::new(request)),
            Err(text) => return Report::not_begun(text, Cause::Request),
        },
    };
    carry_out(&|| Probe::of(get, host, port, asker, origin), plain, request, Stopwatch::start(), deadline, buffers)
        .await
}

/// Carries out an ordinary probe, whose request is in `buffers` and goes to `address`. The parts of the report add up to
/// all of the time since `began`.
pub(super) async fn probe_plain<'a>(
    probe: Asked<'a>,
    address: SocketAddr,
    began: Instant,
    deadline: Option<Instant>,
    buffers: &'a mut Buffers,
) -> Report {
    carry_out(probe, Some(address), None, Stopwatch::started(began.into_std()), deadline, buffers).await
}

/// Carries out a probe whose first request is in `buffers`, with its address, or in `request`.
async fn carry_out<'a>(
    probe: Asked<'a>,
    plain: Option<SocketAddr>,
    request: Option<Box<Request<'a>>>,
    watch: Stopwatch,
    deadline: Option<Instant>,
    buffers: &'a mut Buffers,
) -> Report {
    let wait = Arc::clone(&buffers.wait);
    let mut attempt = HttpAttempt { probe, request, buffers, stage: Stage::Connect, watch, deadline };
    let ended = wait.until(deadline, pin!(attempt.follow(plain))).await;
    let (outcome, cause) = ended.unwrap_or_else(|| attempt.late());
    attempt.begin(Stage::Connect);
    Report { outcome, cause, timings: attempt.watch.timings }
}
