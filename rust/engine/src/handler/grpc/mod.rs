//! `grpc` (kubelet pkg/probe/grpc/grpc.go:Probe, 1.36, on grpc-go v1.79): a health check that connects until its time is
//! over.

mod answer;
mod call;
mod health;
mod preface;
mod protobuf;
mod status;

use std::time::Duration;

use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use probelet_core::semantics::GrpcConnect;
use tokio::time::{Instant, sleep};

use self::call::{Call, Ended};
use self::health::Health;
use self::preface::Preface;
use self::status::{Code, Status};
use super::dial::dial;
use super::driven::Driven;
use super::duplex::{Duplex, Watched};
use super::fault::Fault;
use super::gotext::{join_host_port, quote};
use super::report::{Report, Verdict};
use super::scratch::Scratch;
use super::stopwatch::Stopwatch;
use super::tls;
use super::wire::{Faults, Wire};
use super::within::within;
use super::{Asker, Limit};
use crate::cause::Cause;

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

/// A connection on which the server's SETTINGS came.
#[derive(Debug)]
struct Channel {
    sender: SendRequest<Bytes>,
    connection: Driven<Box<dyn Duplex>>,
    faults: Faults,
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
            (Verdict::Failure(text), Cause::GrpcStatus)
        }
        Some(Err((status, cause))) => (Verdict::Failure(told(&status, limit)), cause),
        None => run.late(limit),
    };
    Report { verdict, cause, phases: run.watch.phases }
}

impl Run<'_> {
    /// Connects and calls. A call that the server did not look at is made once more.
    async fn check(&mut self) -> Result<Health, (Status, Cause)> {
        let mut channel = self.connect().await?;
        let mut is_again = false;
        loop {
            let ended = self.call.make(&mut channel).await;
            self.watch.lap(|phases| &mut phases.headers);
            match ended {
                Ended::Answered(answer) => return answer.map_err(|status| (status, Cause::GrpcStatus)),
                Ended::Unprocessed { status, .. } if is_again => return Err((status, Cause::GrpcStatus)),
                Ended::Unprocessed { is_leaving, .. } => {
                    is_again = true;
                    if is_leaving {
                        channel = self.connect().await?;
                    }
                }
            }
        }
    }

    /// Connects until it works, with the pauses of gRPC's back-off; without their jitter, for one probe is no herd.
    /// Where one attempt is all, its failure is the call's (grpc-go, clientconn.go: TRANSIENT_FAILURE).
    async fn connect(&mut self) -> Result<Channel, (Status, Cause)> {
        let mut pause = PAUSE_MIN;
        loop {
            let fault = match self.try_connect().await {
                Ok(channel) => {
                    self.is_connected = true;
                    return Ok(channel);
                }
                Err(fault) => fault,
            };
            if self.connect == GrpcConnect::Once {
                let text = format!("connection error: desc = {}", quote(fault.text.as_bytes()));
                return Err((Status::new(Code::UNAVAILABLE, text), fault.cause));
            }
            sleep(pause).await;
            pause = pause.mul_f64(PAUSE_FACTOR).min(PAUSE_MAX);
        }
    }

    async fn try_connect(&mut self) -> Result<Channel, Fault> {
        let preface = Preface::default();
        let seen = preface.seen();
        let (link, faults) = self.link(preface).await?;
        let unread = |faults: &Faults| {
            let (cause, why) = faults.get().map_or((Cause::Eof, "EOF"), |fault| (fault.cause, &fault.text));
            Fault::new(cause, format!("error reading server preface: {why}"))
        };
        let (sender, connection) = Builder::new().handshake(link).await.map_err(|_| unread(&faults))?;
        let mut connection = Driven::new(connection);
        let is_settings = connection.look(|| seen.is_settings()).await;
        self.watch.lap(|phases| &mut phases.connect);
        if is_settings == Some(true) { Ok(Channel { sender, connection, faults }) } else { Err(unread(&faults)) }
    }

    /// A connection to the target; over TLS only one on which HTTP/2 was agreed (grpc-go credentials/tls.go, v1.79).
    async fn link(&mut self, preface: Preface) -> Result<(Box<dyn Duplex>, Faults), Fault> {
        let Target { host, port, tls } = self.target;
        let dialling = |text: &str| format!("transport: Error while dialing: {text}");
        let invalid = |_| Fault::new(Cause::Port, dialling(&format!("dial tcp: address {port}: invalid port")));
        let number = u16::try_from(port).map_err(invalid)?;
        let dialled = dial(host, number, b"", Some(self.deadline), &mut self.watch).await;
        let dialled = dialled.map_err(|fault| Fault::new(fault.cause, dialling(&fault.text)))?;
        let peer = dialled.peer;
        let stream = dialled.stream().map_err(|error| Fault::of_poller(&error))?;
        if !tls {
            let wire = Wire::new(stream, peer, preface);
            let faults = Faults::clone(&wire.faults);
            return Ok((Box::new(wire), faults));
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
        Ok((Box::new(Watched::new(stream, preface)), faults))
    }

    fn late(&self, limit: Limit) -> (Verdict, Cause) {
        if self.is_connected || self.connect == GrpcConnect::Once {
            let status = Status::new(Code::DEADLINE_EXCEEDED, String::new());
            return (Verdict::Failure(told(&status, limit)), Cause::HeaderTimeout);
        }
        let target = quote(join_host_port(self.target.host, self.target.port).as_bytes());
        let text = format!("timeout: failed to connect service {target} within {limit}: context deadline exceeded");
        (Verdict::Failure(text), Cause::ConnectTimeout)
    }
}

/// What the kubelet makes of a call's status.
fn told(status: &Status, limit: Limit) -> String {
    match status.code {
        Code::UNIMPLEMENTED => {
            let service = "grpc health protocol (grpc.health.v1.Health)";
            format!("error: this server does not implement the {service}: {}", status.message)
        }
        Code::DEADLINE_EXCEEDED => format!("timeout: health rpc did not complete within {limit}"),
        code => format!("error: health rpc probe failed: rpc error: code = {code} desc = {}", status.message),
    }
}

/// What stands as `:authority`: gRPC takes an empty host for this machine.
fn authority(host: &str, port: i64) -> String {
    match host.split_once('%') {
        Some((address, _)) => join_host_port(address, port),
        None if host.is_empty() => format!("localhost:{port}"),
        None => join_host_port(host, port),
    }
}

// google.golang.org/grpc/backoff.DefaultConfig.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_FACTOR: f64 = 1.6;
const PAUSE_MAX: Duration = Duration::from_secs(120);
