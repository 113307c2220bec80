//! The probe handlers: what one attempt does on the wire, and what the kubelet would say of it.
//!
//! [`attempt`] is all that a driver needs. It borrows what it is given, runs on a current-thread runtime with time and I/O
//! enabled, ends at the latest when its time is over, and may be dropped at any point.
//! Every outcome, every text and every byte of a request is the kubelet's (1.36.3, built with Go 1.26).
//!
//! ```no_run
//! # use probelet_core::semantics::GrpcConnect;
//! # use probelet_core::spec::{Handler, HttpGet, IntOrString};
//! # use probelet_engine::handler::{Asker, Scratch, attempt};
//! # use std::time::Duration;
//! # async fn example() {
//! let handler = Handler::HttpGet(HttpGet {
//!     scheme: "HTTP".into(),
//!     host: "".into(),
//!     port: IntOrString::Str("web".into()),
//!     path: "/healthz".into(),
//!     headers: vec![],
//!     http2: false,
//! });
//! let ports = [("web".into(), 8080)];
//! let timeout = Duration::from_secs(1);
//! let asker = Asker { user_agent: "kube-probe/1.36", grpc_connect: GrpcConnect::UntilTimeout };
//! let (outcome, cause, phases) =
//!     attempt(&handler, &ports, "10.0.0.7", asker, timeout, &mut Scratch::default()).await;
//! # }
//! ```

mod buffers;
pub(crate) mod grpc;
pub(crate) mod http;
pub mod once;
mod tcp;

use std::time::Duration;

use probelet_core::port;
use probelet_core::prober::Outcome;
use probelet_core::semantics::GrpcConnect;
use probelet_core::spec::{Handler, IntOrString};
use tokio::time::Instant;

pub use self::buffers::Scratch;
use crate::attempt::cause::Cause;
use crate::attempt::report::{Report, Verdict};
use crate::attempt::timings::Phases;
use crate::golang::text;
pub use crate::net::barrier::Crowd;

/// How an attempt went, with everything it said: what [`attempt`] gives to the core, and the output of a success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// What the core is told.
    pub outcome: Outcome,
    /// The handler's output; for a response the first 10240 bytes of its body.
    pub output: Vec<u8>,
    /// Why.
    pub cause: Cause,
    /// Where the time went.
    pub phases: Phases,
}

/// Who asks: what a kubelet of some release does and says by itself.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// `User-Agent`, `kube-probe/<major>.<minor>`.
    pub user_agent: &'a str,
    /// What a gRPC probe does about a connection that fails.
    pub grpc_connect: GrpcConnect,
}

/// How long an attempt may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    seconds: i64,
    nanoseconds: u32,
}

impl From<Duration> for Limit {
    fn from(timeout: Duration) -> Self {
        let seconds = i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX);
        Self { seconds, nanoseconds: timeout.subsec_nanos() }
    }
}

/// `timeoutSeconds` as it is: validation refuses what is below 1, the handlers know what Go does with it.
impl From<i32> for Limit {
    fn from(seconds: i32) -> Self {
        Self { seconds: seconds.into(), nanoseconds: 0 }
    }
}

impl Limit {
    const fn is_negative(self) -> bool {
        self.seconds < 0
    }

    /// When the time is over, which it may be already.
    fn instant(self) -> Instant {
        let now = Instant::now();
        let timeout = Duration::new(u64::try_from(self.seconds).unwrap_or(0), self.nanoseconds);
        now.checked_add(timeout).unwrap_or(now + FOR_EVER)
    }

    /// None where Go waits for ever: for a timeout of zero, and over HTTP for one below.
    fn deadline(self) -> Option<Instant> {
        let seconds = u64::try_from(self.seconds).ok()?;
        let timeout = Duration::new(seconds, self.nanoseconds);
        if timeout.is_zero() { None } else { Instant::now().checked_add(timeout) }
    }
}

/// As Go shows it: `1s`, `1m30s`.
impl std::fmt::Display for Limit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&text::seconds(self.seconds))
    }
}

/// Carries out one attempt of a probe over the network.
///
/// `ports` are the probed container's named ports, `pod_ip` is the pod's first address at this moment, which may be empty.
/// `scratch` serves one attempt after another, all on one runtime.
pub async fn attempt(
    handler: &Handler,
    ports: &[(Box<str>, i64)],
    pod_ip: &str,
    asker: Asker<'_>,
    timeout: impl Into<Limit>,
    scratch: &mut Scratch,
) -> (Outcome, Cause, Phases) {
    scratch.begin();
    let report = carry_out(handler, ports, pod_ip, asker, timeout.into(), scratch).await;
    (outcome(report.verdict, &scratch.body), report.cause, report.phases)
}

/// As [`attempt`], for whoever wants to see the output of a success too.
pub async fn observe(
    handler: &Handler,
    ports: &[(Box<str>, i64)],
    pod_ip: &str,
    asker: Asker<'_>,
    timeout: impl Into<Limit>,
) -> Observation {
    let mut scratch = Scratch::default();
    let report = carry_out(handler, ports, pod_ip, asker, timeout.into(), &mut scratch).await;
    let outcome = outcome(report.verdict, &scratch.body);
    let output = match &outcome {
        Outcome::Success => scratch.body.clone(),
        Outcome::Failure { output } | Outcome::Warning { output } => output.to_vec(),
        Outcome::Error { .. } | Outcome::Unknown => Vec::new(),
    };
    Observation { outcome, output, cause: report.cause, phases: report.phases }
}

async fn carry_out(
    handler: &Handler,
    ports: &[(Box<str>, i64)],
    pod_ip: &str,
    asker: Asker<'_>,
    limit: Limit,
    scratch: &mut Scratch,
) -> Report {
    let resolved = |port: &IntOrString| {
        port::resolve(port, ports).map_err(|text| Report::new(Verdict::Error { failure: false, text }, Cause::Port))
    };
    match handler {
        Handler::HttpGet(get) => match resolved(&get.port) {
            Ok(port) => {
                let host = if get.host.is_empty() { pod_ip } else { &get.host };
                http::probe(get, host, port, asker.user_agent, limit.deadline(), scratch).await
            }
            Err(report) => report,
        },
        Handler::TcpSocket { host, port } => match resolved(port) {
            Ok(port) => {
                // Go's dialer, unlike its HTTP client, takes a negative timeout for one that is over.
                let deadline = if limit.is_negative() { Some(Instant::now()) } else { limit.deadline() };
                tcp::probe(if host.is_empty() { pod_ip } else { host }, port, deadline).await
            }
            Err(report) => report,
        },
        Handler::Grpc { port, service, tls } => {
            let target = grpc::Target { host: pod_ip, port: *port, tls: *tls };
            Box::pin(grpc::probe(target, service, asker, limit, scratch)).await
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

/// How much of a text is told: a target must not decide how long an event is. The cut is between two characters.
fn length(text: &[u8]) -> usize {
    if text.len() <= TEXT_BYTES_MAX {
        return text.len();
    }
    let is_boundary = |&end: &usize| text[end] & 0xc0 != 0x80;
    (TEXT_BYTES_MAX - CHARACTER_BYTES_MAX..=TEXT_BYTES_MAX).rev().find(is_boundary).unwrap_or(TEXT_BYTES_MAX)
}

/// What stands in front of a redirect's body (kubelet pkg/probe/http/http.go:DoHTTPProbe, 1.36).
const WARNING: &str = "Probe terminated redirects, Response body: ";
/// What is told of a failure or an error: as much as the kubelet keeps of a body. Its own texts have no bound; they quote
/// whole headers, of 10 MiB if need be.
pub(crate) const TEXT_BYTES_MAX: usize = 10_240;
/// Of a character but its first byte (UTF-8).
const CHARACTER_BYTES_MAX: usize = 3;
/// Longer than any machine runs.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 86_400);

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
