//! `httpGet` (kubelet pkg/probe/http/http.go:DoHTTPProbe, 1.36, on `http.Client` of Go 1.26).

mod attempt;
mod connection;
mod exchange;
mod fast_path;
mod follow;
mod over_http2;
mod redirect;
mod request;

use std::pin::pin;

use probelet_core::spec::HttpGet;
use tokio::time::Instant;

use self::attempt::{HttpAttempt, Probe, Stage};
use self::request::Request;
use super::buffers::Buffers;
use crate::attempt::cause::Cause;
use crate::attempt::report::{Report, Verdict};
use crate::attempt::stopwatch::Stopwatch;
use crate::net::timeout::or_timeout;

/// Carries out a probe. The body stays in `buffers.body`.
pub(super) async fn probe(
    get: &HttpGet,
    host: &str,
    port: u16,
    user_agent: &str,
    deadline: Option<Instant>,
    buffers: &mut Buffers,
) -> Report {
    let probe = Probe { get, host, port, user_agent };
    let plain = fast_path::write(get, host, port, user_agent, &mut buffers.request);
    let request = match plain {
        Some(_) => None,
        None => match Request::of_probe(get, host, port, user_agent) {
            Ok(request) => Some(Box::new(request)),
            Err(text) => return Report::new(Verdict::Error { failure: false, text }, Cause::Request),
        },
    };
    let mut attempt =
        HttpAttempt { probe, request, buffers, stage: Stage::Connect, watch: Stopwatch::start(), deadline };
    let ended = {
        let follow = pin!(attempt.follow(plain));
        match deadline {
            Some(deadline) => or_timeout(deadline, follow).await,
            None => Some(follow.await),
        }
    };
    let (verdict, cause) = ended.unwrap_or_else(|| attempt.late());
    attempt.begin(Stage::Connect);
    Report { verdict, cause, timings: attempt.watch.timings }
}
