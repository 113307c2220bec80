//! `grpc` (kubelet pkg/probe/grpc/grpc.go:Probe, 1.36, on grpc-go v1.79): a health check that connects until its time is
//! over.

mod call;
mod channel;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod head;
mod health;
mod http_status;
mod line;
mod messages;
mod protobuf;
mod status;
mod stream;

use std::future::pending;
use std::time::Duration;

use probelet_core::semantics::GrpcConnect;
use tokio::time::{Instant, sleep};

use self::call::Call;
use self::channel::{Channel, greeting};
use self::health::Health;
use self::line::Line;
use self::status::{Code, Status};
use self::stream::Ended;
use super::asker::Asker;
use super::buffers::Scratch;
use super::limit::Limit;
use crate::attempt::cause::Cause;
use crate::attempt::error::Fault;
use crate::attempt::report::{Report, Verdict};
use crate::attempt::stopwatch::Stopwatch;
use crate::golang::text::{join_host_port, quote};
use crate::net::dial::dial;
use crate::net::retry_delay::Pause;
use crate::net::stream::{Faults, Unwatched, Wire};
use crate::net::timeout::within;
use crate::net::tls;

/// Who is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    pub(super) host: &'a str,
    pub(super) port: i64,
    pub(super) tls: bool,
}

/// One attempt, on its way.
#[derive(Debug)]
struct Run<'a> {
    target: Target<'a>,
    call: Call<'a>,
    connect: GrpcConnect,
    deadline: Instant,
    /// Whether a server has answered as one of HTTP/2 does: grpc-go's READY.
    is_connected: bool,
    watch: Stopwatch,
}

/// Carries out a probe. What a healthy service says goes to the scratch.
pub(super) async fn probe(
    target: Target<'_>,
    service: &str,
    asker: Asker<'_>,
    limit: Limit,
    scratch: &mut Scratch,
) -> Report {
    let deadline = limit.instant();
    let scheme = if target.tls { "https" } else { "http" };
    let authority = authority(target.host, target.port);
    let call = Call { scheme, authority, service, user_agent: asker.user_agent, deadline };
    let connect = asker.grpc_connect;
    let mut run = Run { target, call, connect, deadline, is_connected: false, watch: Stopwatch::start() };
    let ended = if deadline <= Instant::now() { None } else { within(deadline, run.check()).await };
    let (verdict, cause) = match ended {
        Some(Ok(Health::SERVING)) => {
            scratch.body.extend_from_slice(b"service healthy");
            (Verdict::Success, Cause::Ok)
        }
        Some(Ok(health)) => {
            let text = format!("service unhealthy (responded with {})", quote(health.name().as_bytes()));
            (Verdict::Failure(text.into()), Cause::GrpcStatus)
        }
        Some(Err((status, cause))) => (Verdict::Failure(told(&status, limit)), cause),
        None => run.late(limit),
    };
    Report { verdict, cause, phases: run.watch.phases }
}

impl Run<'_> {
    /// Connects and calls. A call that the server did not look at is made once more.
    async fn check(&mut self) -> Result<Health, (Status, Cause)> {
        let mut pause = Pause::default();
        let mut is_again = false;
        let mut kept = None;
        loop {
            let mut channel = match kept.take() {
                Some(channel) => channel,
                None => {
                    if self.is_connected {
                        pause.wait().await;
                    }
                    self.connect().await?
                }
            };
            let ended = self.call.make(&mut channel).await;
            self.watch.lap(|phases| &mut phases.headers);
            match ended {
                Ended::Answered(answer) => return answer.map_err(|status| (status, Cause::GrpcStatus)),
                Ended::Unprocessed(status) if is_again => return Err((status, Cause::GrpcStatus)),
                Ended::Unprocessed(_) => is_again = true,
                Ended::Unopened => continue,
            }
            kept = Some(channel).filter(|channel| !channel.is_going());
        }
    }

    /// Connects. The first connection is tried for until it works, with the pauses of gRPC's back-off; without their
    /// jitter, for one probe is no herd. Where one attempt is all, its failure is the call's (grpc-go, clientconn.go:
    /// TRANSIENT_FAILURE), and so is that of any other connection.
    async fn connect(&mut self) -> Result<Channel, (Status, Cause)> {
        let mut wait = PAUSE_MIN;
        loop {
            let fault = match self.try_connect().await {
                Ok(channel) => {
                    self.is_connected = true;
                    return Ok(channel);
                }
                Err(fault) => fault,
            };
            if self.connect == GrpcConnect::Once || self.is_connected {
                let text = format!("connection error: desc = {}", quote(fault.text.as_bytes()));
                let cause = if self.is_connected { Cause::GrpcStatus } else { fault.cause };
                return Err((Status::new(Code::UNAVAILABLE, text), cause));
            }
            // An attempt that would begin when the time is over does not begin.
            if Instant::now() + wait >= self.deadline {
                return pending().await;
            }
            sleep(wait).await;
            wait = wait.mul_f64(PAUSE_FACTOR).min(PAUSE_MAX);
        }
    }

    async fn try_connect(&mut self) -> Result<Channel, Fault> {
        let (line, faults) = self.line().await?;
        let channel = Channel::open(line, faults).await;
        self.watch.lap(|phases| &mut phases.connect);
        channel
    }

    /// A connection to the target; over TLS only one on which HTTP/2 was agreed (grpc-go credentials/tls.go, v1.79).
    async fn line(&mut self) -> Result<(Line, Faults), Fault> {
        let Target { host, port, tls } = self.target;
        let dialling = |text: &str| format!("transport: Error while dialing: {text}");
        let invalid = |_| Fault::new(Cause::Port, dialling(&format!("dial tcp: address {port}: invalid port")));
        let number = u16::try_from(port).map_err(invalid)?;
        let greeting = greeting();
        let first = if tls { &b""[..] } else { &greeting };
        let dialled = dial(host, number, first, Some(self.deadline), &mut self.watch).await;
        let dialled = dialled.map_err(|fault| Fault::new(fault.cause, dialling(&fault.text)))?;
        let (peer, written) = (dialled.peer, dialled.written);
        let stream = dialled.stream().map_err(|error| Fault::of_poller(&error))?;
        if !tls {
            let wire = Wire::new(stream, peer, Unwatched);
            let faults = Faults::clone(&wire.faults);
            return Ok((Line::new(Box::new(wire), greeting, written), faults));
        }
        self.watch.lap(|phases| &mut phases.connect);
        let stream = tls::connect(stream, peer, host, tls::Offer::Http2).await;
        self.watch.lap(|phases| &mut phases.tls);
        let failed = |text: &str| format!("transport: authentication handshake failed: {text}");
        let stream = stream.map_err(|fault| Fault::new(fault.cause, failed(&fault.text)))?;
        if !tls::speaks_http2(&stream) {
            let text = "credentials: cannot check peer: missing selected ALPN property";
            return Err(Fault::new(Cause::Tls, failed(text)));
        }
        let faults = tls::faults(&stream);
        Ok((Line::new(stream, greeting, 0), faults))
    }

    fn late(&self, limit: Limit) -> (Verdict, Cause) {
        if self.is_connected || self.connect == GrpcConnect::Once {
            let status = Status::new(Code::DEADLINE_EXCEEDED, "");
            return (Verdict::Failure(told(&status, limit)), Cause::HeaderTimeout);
        }
        let target = quote(join_host_port(self.target.host, self.target.port).as_bytes());
        let text = format!("timeout: failed to connect service {target} within {limit}: context deadline exceeded");
        (Verdict::Failure(text.into()), Cause::ConnectTimeout)
    }
}

/// What the kubelet makes of a call's status.
fn told(status: &Status, limit: Limit) -> Vec<u8> {
    let (begin, message) = match status.code {
        Code::UNIMPLEMENTED => (format!("error: this server does not implement the {SERVICE}: "), &status.message[..]),
        Code::DEADLINE_EXCEEDED => (format!("timeout: health rpc did not complete within {limit}"), &b""[..]),
        code => (format!("error: health rpc probe failed: rpc error: code = {code} desc = "), &status.message[..]),
    };
    [begin.as_bytes(), message].concat()
}

/// What stands as `:authority`: gRPC takes an empty host for this machine.
fn authority(host: &str, port: i64) -> String {
    match host.split_once('%') {
        Some((address, _)) => join_host_port(address, port),
        None if host.is_empty() => format!("localhost:{port}"),
        None => join_host_port(host, port),
    }
}

const SERVICE: &str = "grpc health protocol (grpc.health.v1.Health)";
// google.golang.org/grpc/backoff.DefaultConfig.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_FACTOR: f64 = 1.6;
const PAUSE_MAX: Duration = Duration::from_secs(120);
