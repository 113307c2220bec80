//! One call of `grpc.health.v1.Health/Check` on a connection.

use probelet_core::semantics::GrpcGo;
use probelet_golang::http2::{size_of_field, write_field};
use tokio::time::Instant;

use super::channel::Channel;
use super::health::request;
use super::status::Status;
use super::stream::{CallEnd, Stream};

/// What a probe asks of the server.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) scheme: &'static str,
    pub(super) authority: String,
    pub(super) service: &'a str,
    pub(super) user_agent: &'a str,
    pub(super) grpc_go: GrpcGo,
    pub(super) deadline: Instant,
}

impl Call<'_> {
    /// Makes the call and waits for its end.
    pub(super) async fn make(&self, channel: &mut Channel) -> CallEnd {
        let fields = match self.fields(channel).await {
            Ok(fields) => fields,
            Err(ended) => return ended,
        };
        let mut stream = Stream::open(channel, &fields, request(self.service), self.grpc_go);
        loop {
            match channel.next(Some(stream.id())).await {
                Ok(event) => {
                    if let Some(ended) = stream.take(channel, event).await {
                        return ended;
                    }
                }
                Err(status) => return stream.lost(status).await,
            }
        }
    }

    /// The request's fields, once the server allows another stream. Frames that came before are handled first.
    async fn fields(&self, channel: &mut Channel) -> Result<Vec<u8>, CallEnd> {
        loop {
            while channel.has_frame() {
                channel.next(None).await.map_err(|_| CallEnd::Unopened)?;
            }
            if channel.is_going() {
                return Err(CallEnd::Unopened);
            }
            let fields =
                self.encoded(channel.peer.fields_bytes_max).map_err(|status| CallEnd::Answered(Err(status)))?;
            if channel.has_room() {
                return Ok(fields);
            }
            channel.next(None).await.map_err(|_| CallEnd::Unopened)?;
        }
    }

    /// Encodes the request's fields (`http2Client.createHeaderFields`), unless they exceed what the server takes.
    fn encoded(&self, most: Option<u32>) -> Result<Vec<u8>, Status> {
        let user_agent = format!("{} {}", self.user_agent, self.grpc_go.name());
        let fields = [
            (":method", "POST"),
            (":scheme", self.scheme),
            (":path", PATH),
            (":authority", &self.authority),
            ("content-type", "application/grpc"),
            ("user-agent", &user_agent),
            ("te", "trailers"),
            ("grpc-accept-encoding", "gzip"),
            ("grpc-timeout", &timeout(self.deadline)),
        ];
        let size: usize = fields.iter().map(|(name, value)| size_of_field(name.as_bytes(), value.as_bytes())).sum();
        if let Some(most) = most.filter(|&most| size > most as usize) {
            let text = format!("header list size to send violates the maximum size ({most} bytes) set by server");
            return Err(Status::internal(text));
        }
        let mut block = Vec::with_capacity(size);
        fields.iter().for_each(|(name, value)| write_field(&mut block, name.as_bytes(), value.as_bytes()));
        Ok(block)
    }
}

/// The time that is left, in the smallest unit for which eight digits suffice (grpcutil.EncodeDuration).
fn timeout(deadline: Instant) -> String {
    let left = deadline.saturating_duration_since(Instant::now()).as_nanos();
    let unit = UNITS.iter().find(|(_, nanoseconds)| left.div_ceil(*nanoseconds) <= DIGITS_MAX);
    let (letter, nanoseconds) = unit.unwrap_or(&UNITS[UNITS.len() - 1]);
    format!("{}{letter}", left.div_ceil(*nanoseconds))
}

const PATH: &str = "/grpc.health.v1.Health/Check";
/// A timeout has at most eight digits.
const DIGITS_MAX: u128 = 99_999_999;
const UNITS: [(char, u128); 6] =
    [('n', 1), ('u', 1_000), ('m', 1_000_000), ('S', 1_000_000_000), ('M', 60_000_000_000), ('H', 3_600_000_000_000)];
