//! The messages of a response, which may hold one (grpc-go rpc_util.go:parser and recvAndDecompress, v1.79).

use probelet_core::semantics::GrpcGo;
use probelet_golang::text::quote;

use super::compressed::Compressed;
use super::health::Health;
use super::health_reader::{HealthReader, MESSAGE_BYTES_MAX};
use super::status::{Code, Status};

/// The messages of a response as far as they have come, and the message they held.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// Bytes that nobody has read: those before the response's head, and a prefix of which the rest is missing.
    bytes: Vec<u8>,
    /// The message in progress.
    message: Option<Message>,
    health: Option<Health>,
    grpc_go: GrpcGo,
}

/// A message whose prefix has come.
#[derive(Debug)]
struct Message {
    /// How many of its bytes are still to come.
    left: usize,
    content: Content,
}

/// What a message's flag and the response's encoding make of its bytes.
#[derive(Debug)]
enum Content {
    Plain(HealthReader),
    Gzip(Box<Compressed>),
    /// No bytes that the kubelet could read. Its error shows once all of them have come.
    Unreadable(Status),
}

impl Content {
    /// Decides as `checkRecvPayload` does.
    fn of(flag: u8, encoding: &[u8]) -> Self {
        Self::Unreadable(Status::internal(match (flag, encoding) {
            (0, _) => return Self::Plain(HealthReader::default()),
            (1, b"" | b"identity") => "grpc: compressed flag set with identity or empty encoding".to_owned(),
            (1, GZIP) => return Self::Gzip(Box::default()),
            (1, other) => format!("grpc: Decompressor is not installed for grpc-encoding {}", quote(other)),
            (other, _) => format!("grpc: received unexpected payload format {other}"),
        }))
    }

    /// Takes the next bytes.
    async fn push(&mut self, piece: &[u8]) {
        match self {
            Self::Plain(reader) => reader.push(piece),
            Self::Gzip(compressed) => compressed.push(piece).await,
            Self::Unreadable(_) => {}
        }
    }

    /// The health in the bytes, of which the last one has come.
    fn end(self) -> Result<Health, Status> {
        match self {
            Self::Plain(reader) => reader.health(),
            Self::Gzip(compressed) => compressed.end(),
            Self::Unreadable(status) => Err(status),
        }
    }
}

impl Messages {
    pub(super) fn of(grpc_go: GrpcGo) -> Self {
        Self { grpc_go, ..Self::default() }
    }

    /// Adds data of the response.
    pub(super) fn push(&mut self, data: &[u8]) {
        self.bytes.extend_from_slice(data);
    }

    /// Reads what has come. `encoding` is the response's `grpc-encoding`.
    pub(super) async fn read(&mut self, encoding: &[u8]) -> Result<(), Status> {
        let mut bytes = std::mem::take(&mut self.bytes);
        let mut rest = &bytes[..];
        loop {
            let mut message = match self.message.take() {
                Some(message) => message,
                None => {
                    let Some(([flag, length @ ..], after)) = rest.split_first_chunk::<PREFIX_BYTES>() else { break };
                    let length = u32::from_be_bytes(*length) as usize;
                    if length > MESSAGE_BYTES_MAX {
                        let text = format!("grpc: received message larger than max ({length} vs. {MESSAGE_BYTES_MAX})");
                        return Err(Status::new(Code::RESOURCE_EXHAUSTED, text));
                    }
                    rest = after;
                    Message { left: length, content: Content::of(*flag, encoding) }
                }
            };
            let (piece, after) = rest.split_at(message.left.min(rest.len()));
            message.content.push(piece).await;
            message.left -= piece.len();
            rest = after;
            if message.left > 0 {
                self.message = Some(message);
                break;
            }
            self.message_ends(message)?;
        }
        let read = bytes.len() - rest.len();
        bytes.drain(..read);
        self.bytes = bytes;
        Ok(())
    }

    /// Takes a message whose last byte has come.
    fn message_ends(&mut self, message: Message) -> Result<(), Status> {
        match self.health.replace(message.content.end()?) {
            Some(_) if self.grpc_go.counts_messages() => Err(Status::internal(TWO_MESSAGES)),
            Some(_) => Err(Status::new(Code::UNKNOWN, TWO_MESSAGES_BEFORE)),
            None => Ok(()),
        }
    }

    /// The result of a response that ends here with `status`. An incomplete prefix counts as nothing.
    pub(super) fn end(self, status: Status) -> Result<Health, Status> {
        match self.health {
            _ if self.message.is_some() => Err(Status::internal("unexpected EOF")),
            _ if status.code != Code::OK => Err(status),
            Some(health) => Ok(health),
            None if self.grpc_go.counts_messages() => Err(Status::internal(NO_MESSAGE)),
            None => Err(Status::eof()),
        }
    }
}

/// The one encoding that a kubelet reads, and offers. grpc-go's gzip registers itself for all calls of a process, and the
/// exporter of the kubelet's traces links it (k8s.io/component-base/tracing, 1.36).
const GZIP: &[u8] = b"gzip";
/// A message's prefix: a flag and a length.
const PREFIX_BYTES: usize = 5;
const NO_MESSAGE: &str = "cardinality violation: received no response message from non-server-streaming RPC";
const TWO_MESSAGES: &str =
    "cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message";
/// Of grpc-go v1.72.
const TWO_MESSAGES_BEFORE: &str = "grpc: client streaming protocol violation: get <nil>, want <EOF>";

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
    }

    fn read(bytes: &[u8], size: usize) -> Result<Health, Status> {
        let mut messages = Messages::default();
        for piece in bytes.chunks(size) {
            messages.push(piece);
            run(messages.read(b""))?;
        }
        messages.end(Status::new(Code::OK, ""))
    }

    #[test]
    fn one_message_in_any_pieces_with_a_cut_prefix_behind_it() {
        let bytes = [0, 0, 0, 0, 2, 8, 1, 0, 0, 0, 0];
        for size in 1..=bytes.len() {
            for end in 7..=bytes.len() {
                assert_eq!(read(&bytes[..end], size), Ok(Health::SERVING), "{size} {end}");
            }
            assert_eq!(read(&bytes[..4], size).unwrap_err().message, NO_MESSAGE.as_bytes());
            assert_eq!(read(&bytes[..6], size).unwrap_err().message, b"unexpected EOF");
        }
    }

    #[test]
    fn grpc_go_before_counted_no_messages() {
        let ended = |bytes: &[u8]| {
            let mut messages = Messages::of(GrpcGo::V1_72_2);
            messages.push(bytes);
            run(messages.read(b"")).and_then(|()| messages.end(Status::new(Code::OK, "")))
        };
        assert_eq!(ended(b""), Err(Status::eof()));
        assert_eq!(ended(&[0; 10]), Err(Status::new(Code::UNKNOWN, TWO_MESSAGES_BEFORE)));
        assert_eq!(ended(&[0, 0, 0, 0, 2, 8, 1]), Ok(Health::SERVING));
    }

    #[test]
    fn a_wrong_message_is_an_error_at_once() {
        for bad in [&[0, 0, 0, 0, 1, 8][..], &[1, 0, 0, 0, 0], &[2, 0, 0, 0, 0], &[0, 1, 0, 0, 0], &[0; 10]] {
            let mut messages = Messages::default();
            messages.push(bad);
            assert!(run(messages.read(b"")).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_cannot_be_decompressed_is_an_error_after_its_last_byte() {
        let text = |flag, encoding: &[u8]| {
            let mut messages = Messages::default();
            messages.push(&[flag, 0, 0, 0, 2, 8]);
            assert_eq!(run(messages.read(encoding)), Ok(()));
            messages.push(&[1]);
            String::from_utf8(run(messages.read(encoding)).unwrap_err().message).unwrap()
        };
        assert_eq!(text(1, b""), "grpc: compressed flag set with identity or empty encoding");
        assert_eq!(text(1, b"identity"), "grpc: compressed flag set with identity or empty encoding");
        assert_eq!(text(1, b"GZIP"), r#"grpc: Decompressor is not installed for grpc-encoding "GZIP""#);
        assert_eq!(text(1, GZIP), "grpc: failed to decompress the message: unexpected EOF");
        assert_eq!(text(2, GZIP), "grpc: received unexpected payload format 2");
    }
}
