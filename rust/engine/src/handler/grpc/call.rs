//! One call of `grpc.health.v1.Health/Check` on a connection.

use bytes::Bytes;
use h2::Reason;
use http::{HeaderValue, Method, Request, Uri, Version, header};
use tokio::time::Instant;

use super::Channel;
use super::answer::read;
use super::health::{Health, request};
use super::status::{Code, Status};
use crate::handler::wire::Faults;

/// What is asked for.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) scheme: &'static str,
    pub(super) authority: String,
    pub(super) service: &'a str,
    pub(super) user_agent: &'a str,
    pub(super) deadline: Instant,
}

/// How a call ended.
#[derive(Debug)]
pub(super) enum Ended {
    Answered(Result<Health, Status>),
    /// The server did not look at it, and may be leaving altogether.
    Unprocessed {
        status: Status,
        is_leaving: bool,
    },
}

impl Call<'_> {
    /// Makes the call and waits for its end.
    pub(super) async fn make(&self, channel: &mut Channel) -> Ended {
        let Channel { sender, connection, faults } = channel;
        let head = match self.head() {
            Ok(head) => head,
            Err(text) => return Ended::Answered(Err(Status::internal(text))),
        };
        let opened = async {
            let mut sender = sender.clone().ready().await?;
            let (response, mut body) = sender.send_request(head, false)?;
            body.send_data(Bytes::from(request(self.service)), true)?;
            response.await
        };
        let response = match connection.until(opened).await {
            Ok(response) => response,
            Err(error) => return ended(&error, faults),
        };
        match connection.until(read(response)).await {
            Ok(answer) => Ended::Answered(answer),
            Err(error) => ended(&error, faults),
        }
    }

    fn head(&self) -> Result<Request<()>, String> {
        let told = |error: http::Error| error.to_string();
        let uri = Uri::builder().scheme(self.scheme).authority(&*self.authority).path_and_query(PATH).build();
        let user_agent = format!("{} {LIBRARY}", self.user_agent);
        Request::builder()
            .method(Method::POST)
            .version(Version::HTTP_2)
            .uri(uri.map_err(told)?)
            .header(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"))
            .header(header::USER_AGENT, user_agent)
            .header(header::TE, HeaderValue::from_static("trailers"))
            .header("grpc-timeout", timeout(self.deadline))
            .body(())
            .map_err(told)
    }
}

/// What is left of the time, in microseconds as long as eight digits hold them (grpcutil.EncodeDuration).
fn timeout(deadline: Instant) -> String {
    let left = deadline.saturating_duration_since(Instant::now());
    match left.as_micros() {
        micros @ 0..=DIGITS_MAX => format!("{micros}u"),
        micros => format!("{}m", micros.div_ceil(1_000).min(DIGITS_MAX)),
    }
}

/// What an error of the library means to gRPC.
fn ended(error: &h2::Error, faults: &Faults) -> Ended {
    let reason = error.reason();
    if error.is_remote() && error.is_go_away() {
        let status = Status::new(Code::UNAVAILABLE, "the connection is draining");
        return Ended::Unprocessed { status, is_leaving: true };
    }
    let status = match reason.filter(|_| error.is_reset() && error.is_remote()) {
        Some(reason) => {
            let text = format!("stream terminated by RST_STREAM with error code: {}", name(reason));
            Status::new(Code::of_reset(reason), text)
        }
        None if faults.get().is_some() || error.is_io() => {
            let why = faults.get().map_or("EOF", |fault| &fault.text);
            Status::new(Code::UNAVAILABLE, format!("error reading from server: {why}"))
        }
        None => Status::internal(error.to_string()),
    };
    if reason == Some(Reason::REFUSED_STREAM) && error.is_remote() {
        return Ended::Unprocessed { status, is_leaving: false };
    }
    Ended::Answered(Err(status))
}

/// A reason as Go writes it (http2.ErrCode.String).
fn name(reason: Reason) -> String {
    match REASONS.get(u32::from(reason) as usize) {
        Some(name) => (*name).to_owned(),
        None => format!("unknown error code {:#x}", u32::from(reason)),
    }
}

const PATH: &str = "/grpc.health.v1.Health/Check";
/// What gRPC adds to the user agent of the kubelet (k8s.io/kubernetes v1.36.3, go.mod).
const LIBRARY: &str = "grpc-go/1.79.3";
/// Eight digits at most.
const DIGITS_MAX: u128 = 99_999_999;
const REASONS: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];
