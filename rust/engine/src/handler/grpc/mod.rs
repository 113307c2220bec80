//! `grpc` (kubelet pkg/probe/grpc/grpc.go:Probe, 1.36, on grpc-go v1.79): a health check that keeps connecting until
//! its time is over.

mod call;
mod channel;
mod compressed;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod head;
mod health;
mod health_reader;
mod http_200;
mod http_status;
mod messages;
mod protobuf;
mod status;
mod stream;
mod transport;

use std::future::pending;
use std::pin::pin;
use std::time::Duration;

use probelet_core::prober::Outcome;
use probelet_core::semantics::GrpcConnect;
use probelet_golang::text::{join_host_port, quote};
use probelet_golang::url::Url;
use probelet_play::cause::Cause;
use tokio::time::{Instant, sleep};

use self::call::Call;
use self::channel::{Channel, greeting};
use self::health::Health;
use self::status::{Code, Status};
use self::stream::CallEnd;
use self::transport::BufferedTransport;
use super::asker::Asker;
use super::buffers::Buffers;
use super::limit::Limit;
use crate::attempt::error::AttemptError;
use crate::attempt::report::{self, Report};
use crate::attempt::stopwatch::Stopwatch;
use crate::attempt::timings::Timings;
use crate::net::dial::{Origin, dial};
use crate::net::retry_delay::RetryDelay;
use crate::net::stream::{SharedReadError, Unwatched, WatchedStream};
use crate::net::tls;

/// The server to probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    pub(super) host: &'a str,
    pub(super) port: i64,
    pub(super) tls: bool,
}

/// Why a check has no health to report.
enum CheckError {
    /// The call ended with a status.
    Call(Status, Cause),
    /// The prober could not ask.
    Prober(AttemptError),
}

/// One attempt in progress.
#[derive(Debug)]
struct GrpcAttempt<'a> {
    target: Target<'a>,
    call: Call<'a>,
    connect: GrpcConnect,
    origin: Origin<'a>,
    deadline: Instant,
    /// Whether a server has answered with SETTINGS: grpc-go's READY.
    is_connected: bool,
    watch: Stopwatch,
}

/// Carries out a probe. For a healthy service, the text goes to `buffers.body`.
pub(super) async fn probe(
    target: Target<'_>,
    service: &str,
    asker: Asker<'_>,
    origin: Origin<'_>,
    limit: Limit,
    buffers: &mut Buffers,
) -> Report {
    if let Err(why) = endpoint(target) {
        let address = quote(join_host_port(target.host, target.port).as_bytes());
        let text = format!("error: failed to connect service at {address}: {why}");
        return Report { outcome: report::failure(text), cause: Cause::Request, timings: Timings::default() };
    }
    let deadline = limit.instant();
    let scheme = if target.tls { "https" } else { "http" };
    let authority = authority(target.host, target.port);
    let (user_agent, grpc_go) = (asker.user_agent, asker.rules.grpc_go);
    let call = Call { scheme, authority, service, user_agent, grpc_go, deadline };
    let connect = asker.rules.grpc_connect;
    let watch = Stopwatch::start();
    let mut attempt = GrpcAttempt { target, call, connect, origin, deadline, is_connected: false, watch };
    let ended = match deadline <= Instant::now() {
        false => buffers.wait.until(Some(deadline), pin!(attempt.check())).await,
        true => None,
    };
    let (outcome, cause) = match ended {
        Some(Ok(Health::SERVING)) => {
            buffers.body.extend_from_slice(b"service healthy");
            (Outcome::Success, Cause::Ok)
        }
        Some(Ok(health)) => {
            let text = format!("service unhealthy (responded with {})", quote(health.name().as_bytes()));
            (report::failure(text), Cause::GrpcStatus)
        }
        Some(Err(CheckError::Call(status, cause))) => (report::failure(text_of(&status, limit)), cause),
        Some(Err(CheckError::Prober(error))) => (error.outcome(error.text.clone()), error.cause),
        None => attempt.late(limit),
    };
    Report { outcome, cause, timings: attempt.watch.timings }
}

impl GrpcAttempt<'_> {
    /// Connects and calls. Repeats a call once that the server did not process.
    async fn check(&mut self) -> Result<Health, CheckError> {
        let mut delay = RetryDelay::default();
        let mut is_again = false;
        let mut kept = None;
        loop {
            let mut channel = match kept.take() {
                Some(channel) => channel,
                None => {
                    if self.is_connected {
                        delay.wait().await;
                    }
                    self.connect().await?
                }
            };
            let ended = self.call.make(&mut channel).await;
            self.watch.lap(|timings| &mut timings.headers);
            match ended {
                CallEnd::Answered(answer) => {
                    return answer.map_err(|status| CheckError::Call(status, Cause::GrpcStatus));
                }
                CallEnd::Unprocessed(status) if is_again => return Err(CheckError::Call(status, Cause::GrpcStatus)),
                CallEnd::Unprocessed(_) => is_again = true,
                CallEnd::Unopened => continue,
            }
            kept = Some(channel).filter(|channel| !channel.is_going());
        }
    }

    /// Connects. The first connection is tried until it works, with the waits of gRPC's back-off but without their
    /// jitter, because a single probe needs none. With [`GrpcConnect::Once`], and for any later connection, a failure
    /// ends the call (grpc-go, clientconn.go: TRANSIENT_FAILURE).
    async fn connect(&mut self) -> Result<Channel, CheckError> {
        let mut wait = BACKOFF_MIN;
        loop {
            let error = match self.try_connect().await {
                Ok(channel) => {
                    self.is_connected = true;
                    return Ok(channel);
                }
                Err(error) if error.is_prober_error() => return Err(CheckError::Prober(error)),
                Err(error) => error,
            };
            if self.connect == GrpcConnect::Once || self.is_connected {
                let text = format!("connection error: desc = {}", quote(error.text.as_bytes()));
                let cause = if self.is_connected { Cause::GrpcStatus } else { error.cause };
                return Err(CheckError::Call(Status::new(Code::UNAVAILABLE, text), cause));
            }
            // A try that would begin after the deadline is not made.
            if Instant::now() + wait >= self.deadline {
                return pending().await;
            }
            sleep(wait).await;
            wait = wait.mul_f64(BACKOFF_FACTOR).min(BACKOFF_MAX);
        }
    }

    async fn try_connect(&mut self) -> Result<Channel, AttemptError> {
        let (transport, read_error) = self.transport().await?;
        let channel = Channel::open(transport, read_error).await;
        self.watch.lap(|timings| &mut timings.connect);
        channel
    }

    /// Connects to the target. A TLS connection must have agreed on HTTP/2 (grpc-go credentials/tls.go, v1.79).
    async fn transport(&mut self) -> Result<(BufferedTransport, SharedReadError), AttemptError> {
        let Target { host, port, tls } = self.target;
        let dialling = |text: &str| format!("transport: Error while dialing: {text}");
        let invalid = |_| AttemptError::new(Cause::Port, dialling(&format!("dial tcp: address {port}: invalid port")));
        let number = u16::try_from(port).map_err(invalid)?;
        let greeting = greeting();
        let first = if tls { &b""[..] } else { &greeting };
        let dialled = dial(self.origin, host, number, first, Some(self.deadline), &mut self.watch).await;
        let dialled = dialled.map_err(|error| {
            let text = dialling(&error.text);
            error.with_text(text)
        })?;
        let (peer, written) = (dialled.peer, dialled.written);
        let stream = dialled.stream().map_err(|error| AttemptError::of_poller(&error))?;
        if !tls {
            let mut tcp = WatchedStream::new(stream, peer, Unwatched);
            tcp.has_bare_errors = self.call.grpc_go.reads_by_itself();
            let read_error = SharedReadError::clone(&tcp.read_error);
            return Ok((BufferedTransport::new(Box::new(tcp), greeting, written), read_error));
        }
        self.watch.lap(|timings| &mut timings.connect);
        let stream = tls::connect(stream, peer, host, tls::Offer::Http2).await;
        self.watch.lap(|timings| &mut timings.tls);
        let failed = |text: &str| format!("transport: authentication handshake failed: {text}");
        let stream = stream.map_err(|error| {
            let text = failed(&error.text);
            error.with_text(text)
        })?;
        if !tls::speaks_http2(&stream) {
            let text = "credentials: cannot check peer: missing selected ALPN property";
            return Err(AttemptError::new(Cause::Tls, failed(text)));
        }
        let read_error = tls::read_error(&stream);
        Ok((BufferedTransport::new(stream, greeting, 0), read_error))
    }

    fn late(&self, limit: Limit) -> (Outcome, Cause) {
        // A call that connects once has no other text than one that is connected.
        let connect = if self.is_connected { GrpcConnect::Once } else { self.connect };
        let cause = if connect == GrpcConnect::Once { Cause::HeaderTimeout } else { Cause::ConnectTimeout };
        (report::failure(late_text(self.target.host, self.target.port, connect, limit)), cause)
    }
}

/// The kubelet's text for a call that did not end in time. With [`GrpcConnect::UntilTimeout`] it was never connected.
pub(super) fn late_text(host: &str, port: i64, connect: GrpcConnect, limit: Limit) -> String {
    match connect {
        GrpcConnect::UntilTimeout => unconnected_text(&join_host_port(host, port), limit),
        GrpcConnect::Once => {
            String::from_utf8_lossy(&text_of(&Status::new(Code::DEADLINE_EXCEEDED, ""), limit)).into_owned()
        }
    }
}

/// The kubelet's text for a server to which no connection was established in time.
fn unconnected_text(target: &str, limit: Limit) -> String {
    let target = quote(target.as_bytes());
    format!("timeout: failed to connect service {target} within {limit}: context deadline exceeded")
}

/// The text of an attempt whose connections are all refused: `error` is the dialler's text, and `why` its reason, which
/// a text without the dialler's has to name.
pub(super) fn refused_text(target: &str, connect: GrpcConnect, limit: Limit, error: &str, why: &str) -> String {
    if connect == GrpcConnect::UntilTimeout {
        return format!("{} ({why})", unconnected_text(target, limit));
    }
    let text = quote(format!("transport: Error while dialing: {error}").as_bytes());
    let status = Status::new(Code::UNAVAILABLE, format!("connection error: desc = {text}"));
    String::from_utf8_lossy(&text_of(&status, limit)).into_owned()
}

/// The kubelet's text for a call's status.
fn text_of(status: &Status, limit: Limit) -> Vec<u8> {
    let (begin, message) = match status.code {
        Code::UNIMPLEMENTED => (format!("error: this server does not implement the {SERVICE}: "), &status.message[..]),
        Code::DEADLINE_EXCEEDED => (format!("timeout: health rpc did not complete within {limit}"), &b""[..]),
        _ if status.is_plain => ("error: health rpc probe failed: ".to_owned(), &status.message[..]),
        code => (format!("error: health rpc probe failed: rpc error: code = {code} desc = "), &status.message[..]),
    };
    [begin.as_bytes(), message].concat()
}

/// Checks that grpc-go can parse the target of a channel (clientconn.go:initParsedTargetAndResolverBuilder, v1.79), which
/// it writes as a URL: a zone in a pod's address is no escape.
fn endpoint(target: Target<'_>) -> Result<(), String> {
    if !target.host.as_bytes().contains(&b'%') {
        return Ok(());
    }
    let url = format!("passthrough:///{}", join_host_port(target.host, target.port));
    Url::parse(url.as_bytes()).map(drop)
}

/// The `:authority` of a call. gRPC takes an empty host for the local machine.
fn authority(host: &str, port: i64) -> String {
    match host.split_once('%') {
        Some((address, _)) => join_host_port(address, port),
        None if host.is_empty() => format!("localhost:{port}"),
        None => join_host_port(host, port),
    }
}

const SERVICE: &str = "grpc health protocol (grpc.health.v1.Health)";
// google.golang.org/grpc/backoff.DefaultConfig.
const BACKOFF_MIN: Duration = Duration::from_secs(1);
const BACKOFF_FACTOR: f64 = 1.6;
const BACKOFF_MAX: Duration = Duration::from_secs(120);
