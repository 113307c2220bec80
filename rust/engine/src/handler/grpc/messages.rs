//! The messages of a response, which may hold one (grpc-go rpc_util.go:parser and recvAndDecompress, v1.79).

use super::health::Health;
use super::health_reader::HealthReader;
use super::status::{Code, Status};
use crate::golang::text::quote;

/// The messages of a response as far as they have come, and the message they held.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// Bytes that nobody has read: those before the response's head, and a prefix of which the rest is missing.
    bytes: Vec<u8>,
    /// The message in progress.
    message: Option<Message>,
    health: Option<Health>,
}

/// A message whose prefix has come.
#[derive(Debug)]
struct Message {
    flag: u8,
    /// How many of its bytes are still to come.
    left: usize,
    reader: HealthReader,
}

impl Messages {
    /// Adds data of the response.
    pub(super) fn push(&mut self, data: &[u8]) {
        self.bytes.extend_from_slice(data);
    }

    /// Reads what has come. `encoding` is the response's `grpc-encoding`.
    pub(super) fn read(&mut self, encoding: &[u8]) -> Result<(), Status> {
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
                    Message { flag: *flag, left: length, reader: HealthReader::default() }
                }
            };
            let (piece, after) = rest.split_at(message.left.min(rest.len()));
            message.reader.push(piece);
            message.left -= piece.len();
            rest = after;
            if message.left > 0 {
                self.message = Some(message);
                break;
            }
            self.message_ends(message, encoding)?;
        }
        let read = bytes.len() - rest.len();
        bytes.drain(..read);
        self.bytes = bytes;
        Ok(())
    }

    /// Takes a message whose last byte has come.
    fn message_ends(&mut self, message: Message, encoding: &[u8]) -> Result<(), Status> {
        is_plain(message.flag, encoding)?;
        let unreadable = |error| Status::internal(format!("grpc: failed to unmarshal the received message: {error}"));
        let health = message.reader.end().map_err(unreadable)?;
        match self.health.replace(health) {
            Some(_) => Err(Status::internal(TWO_MESSAGES)),
            None => Ok(()),
        }
    }

    /// The result of a response that ends here with `status`. An incomplete prefix counts as nothing.
    pub(super) fn end(self, status: Status) -> Result<Health, Status> {
        match self.health {
            _ if self.message.is_some() => Err(Status::internal("unexpected EOF")),
            _ if status.code != Code::OK => Err(status),
            Some(health) => Ok(health),
            None => Err(Status::internal(NO_MESSAGE)),
        }
    }
}

/// Checks that the message is not compressed (`checkRecvPayload`), because the kubelet has no decompressor.
fn is_plain(flag: u8, encoding: &[u8]) -> Result<(), Status> {
    Err(Status::internal(match flag {
        0 => return Ok(()),
        1 if matches!(encoding, b"" | b"identity") => {
            "grpc: compressed flag set with identity or empty encoding".to_owned()
        }
        1 => format!("grpc: Decompressor is not installed for grpc-encoding {}", quote(encoding)),
        flag => format!("grpc: received unexpected payload format {flag}"),
    }))
}

/// A message's prefix: a flag and a length.
const PREFIX_BYTES: usize = 5;
/// grpc-go's default (dialoptions.go:defaultClientMaxReceiveMessageSize).
const MESSAGE_BYTES_MAX: usize = 4 << 20;
const NO_MESSAGE: &str = "cardinality violation: received no response message from non-server-streaming RPC";
const TWO_MESSAGES: &str =
    "cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], size: usize) -> Result<Health, Status> {
        let mut messages = Messages::default();
        for piece in bytes.chunks(size) {
            messages.push(piece);
            messages.read(b"")?;
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
    fn a_wrong_message_is_an_error_at_once() {
        for bad in [&[0, 0, 0, 0, 1, 8][..], &[1, 0, 0, 0, 0], &[2, 0, 0, 0, 0], &[0, 1, 0, 0, 0], &[0; 10]] {
            let mut messages = Messages::default();
            messages.push(bad);
            assert!(messages.read(b"").is_err(), "{bad:?}");
        }
    }
}
