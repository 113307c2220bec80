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

use self::attempt::{Probe, Run, Stage};
use self::request::Request;
use super::buffers::Scratch;
use crate::attempt::cause::Cause;
use crate::attempt::report::{Report, Verdict};
use crate::attempt::stopwatch::Stopwatch;
use crate::net::timeout::within;

/// Carries out a probe. The body stays in the scratch.
pub(super) async fn probe(
    get: &HttpGet,
    host: &str,
    port: u16,
    user_agent: &str,
    deadline: Option<Instant>,
    scratch: &mut Scratch,
) -> Report {
    let probe = Probe { get, host, port, user_agent };
    let plain = fast_path::write(get, host, port, user_agent, &mut scratch.request);
    let request = match plain {
        Some(_) => None,
        None => match Request::of_probe(get, host, port, user_agent) {
            Ok(request) => Some(Box::new(request)),
            Err(text) => return Report::new(Verdict::Error { failure: false, text }, Cause::Request),
        },
    };
    let mut run = Run { probe, request, scratch, stage: Stage::Connect, watch: Stopwatch::start(), deadline };
    let ended = {
        let follow = pin!(run.follow(plain));
        match deadline {
            Some(deadline) => within(deadline, follow).await,
            None => Some(follow.await),
        }
    };
    let (verdict, cause) = ended.unwrap_or_else(|| run.late());
    run.begin(Stage::Connect);
    Report { verdict, cause, phases: run.watch.phases }
}
