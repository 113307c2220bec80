//! One attempt of a probe: chooses the handler and turns its report into the core's outcome.

use probelet_core::port;
use probelet_core::prober::Outcome;
use probelet_core::spec::{Handler, IntOrString};
use tokio::time::Instant;

use super::asker::Asker;
use super::buffers::Buffers;
use super::limit::Limit;
use super::{grpc, http, tcp};
use crate::attempt::cause::Cause;
use crate::attempt::report::{Report, Verdict};
use crate::attempt::timings::Timings;
use crate::golang::text::TEXT_BYTES_MAX;

/// Carries out one attempt of a probe over the network.
///
/// `ports` are the probed container's named ports; `pod_ip` is the pod's first address at this moment, which may be
/// empty. `buffers` serve one attempt after another on one runtime, and keep the output of a success until the next
/// attempt.
pub async fn probe_once(
    handler: &Handler,
    ports: &[(Box<str>, i64)],
    pod_ip: &str,
    asker: Asker<'_>,
    timeout: impl Into<Limit>,
    buffers: &mut Buffers,
) -> (Outcome, Cause, Timings) {
    buffers.begin();
    let report = carry_out(handler, ports, pod_ip, asker, timeout.into(), buffers).await;
    (outcome(report.verdict, &buffers.body), report.cause, report.timings)
}

async fn carry_out(
    handler: &Handler,
    ports: &[(Box<str>, i64)],
    pod_ip: &str,
    asker: Asker<'_>,
    limit: Limit,
    buffers: &mut Buffers,
) -> Report {
    let resolved = |port: &IntOrString| {
        port::resolve(port, ports).map_err(|text| Report::new(Verdict::Error { failure: false, text }, Cause::Port))
    };
    match handler {
        Handler::HttpGet(get) => match resolved(&get.port) {
            Ok(port) => {
                let host = if get.host.is_empty() { pod_ip } else { &get.host };
                http::probe(get, host, port, asker.user_agent, limit.deadline(), buffers).await
            }
            Err(report) => report,
        },
        Handler::TcpSocket { host, port } => match resolved(port) {
            Ok(port) => {
                // Go's dialer, unlike its HTTP client, takes a negative timeout as expired.
                let deadline = if limit.is_negative() { Some(Instant::now()) } else { limit.deadline() };
                tcp::probe(if host.is_empty() { pod_ip } else { host }, port, deadline).await
            }
            Err(report) => report,
        },
        Handler::Grpc { port, service, tls } => {
            let target = grpc::Target { host: pod_ip, port: *port, tls: *tls };
            Box::pin(grpc::probe(target, service, asker, limit, buffers)).await
        }
        Handler::Exec { .. } | Handler::None => {
            let text = "missing probe handler".to_owned();
            Report::new(Verdict::Error { failure: false, text }, Cause::Request)
        }
    }
}

fn outcome(verdict: Verdict, body: &[u8]) -> Outcome {
    match verdict {
        Verdict::Error { failure, mut text } => {
            text.truncate(length(text.as_bytes()));
            Outcome::Error { failure, error: text.into() }
        }
        Verdict::Failure(mut text) => {
            text.truncate(length(&text));
            Outcome::Failure { output: text.into() }
        }
        Verdict::Success => Outcome::Success,
        Verdict::Warning => Outcome::Warning { output: [WARNING.as_bytes(), body].concat().into() },
    }
}

/// How many bytes of a text to keep, cut between two characters. A target must not decide how long an event is.
fn length(text: &[u8]) -> usize {
    if text.len() <= TEXT_BYTES_MAX {
        return text.len();
    }
    let is_boundary = |&end: &usize| text[end] & 0xc0 != 0x80;
    (TEXT_BYTES_MAX - CHARACTER_BYTES_MAX..=TEXT_BYTES_MAX).rev().find(is_boundary).unwrap_or(TEXT_BYTES_MAX)
}

/// The text before a redirect's body (kubelet pkg/probe/http/http.go:DoHTTPProbe, 1.36).
const WARNING: &str = "Probe terminated redirects, Response body: ";
/// How many bytes of a character follow its first (UTF-8).
const CHARACTER_BYTES_MAX: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_between_two_characters() {
        let text = format!("a{}", "\u{e9}".repeat(TEXT_BYTES_MAX));
        let Outcome::Failure { output } = outcome(Verdict::Failure(text.clone().into()), b"") else {
            panic!("no failure")
        };
        assert_eq!(&*output, &text.as_bytes()[..TEXT_BYTES_MAX - 1]);
        let kept = Outcome::Error { failure: true, error: "short".into() };
        assert_eq!(outcome(Verdict::Error { failure: true, text: "short".into() }, b""), kept);
    }
}
