//! A compressed message, decompressed as its bytes arrive (grpc-go rpc_util.go:decompress, v1.79).

use probelet_golang::gzip::{GzipError, GzipReader};
use tokio::task::yield_now;

use super::health::Health;
use super::health_reader::{HealthReader, MESSAGE_BYTES_MAX};
use super::status::{Code, Status};

/// A message in gzip, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Compressed {
    gzip: GzipReader,
    reader: HealthReader,
    /// Bytes of the decompressed message.
    bytes: usize,
    /// Work since other attempts have run, in decompressed bytes.
    work: usize,
    /// Why the message cannot be read. Go decompresses a message after its last byte has come, so the call goes on.
    wrong: Option<Status>,
}

impl Compressed {
    /// Takes the next bytes. A few of them may be much work, so other attempts run in between.
    pub(super) async fn push(&mut self, piece: &[u8]) {
        let mut rest = piece;
        while self.wrong.is_none() {
            let mut step = &rest[..rest.len().min(STEP_BYTES)];
            let before = step.len();
            let content = match self.gzip.read(&mut step) {
                Ok(Some(content)) => content,
                Ok(None) => return,
                Err(error) => {
                    self.wrong = Some(status_of(error));
                    return;
                }
            };
            let read = before - step.len();
            rest = &rest[read..];
            self.reader.push(content);
            self.bytes += content.len();
            self.work += content.len() + read * BYTE_WORK;
            if self.bytes > MESSAGE_BYTES_MAX {
                let text = format!("grpc: received message after decompression larger than max {MESSAGE_BYTES_MAX}");
                self.wrong = Some(Status::new(Code::RESOURCE_EXHAUSTED, text));
            }
            if self.work > TURN_WORK_MAX {
                self.work = 0;
                yield_now().await;
            }
        }
    }

    /// The health in the message, whose last byte has come.
    pub(super) fn end(self) -> Result<Health, Status> {
        match self.wrong {
            Some(wrong) => Err(wrong),
            None => self.gzip.end().map_err(status_of).and_then(|()| self.reader.health()),
        }
    }
}

fn status_of(error: GzipError) -> Status {
    Status::internal(match error {
        GzipError::NotOpened(why) => format!("grpc: failed to decompress the message: {why}"),
        GzipError::NotRead(why) => format!("grpc: failed to read decompressed data: {why}"),
    })
}

/// How many bytes are decompressed at a time.
const STEP_BYTES: usize = 256;
/// The work for a compressed byte, in decompressed bytes: a byte may be a block of deflate, with tables of its own.
const BYTE_WORK: usize = 128;
/// After so much work other attempts run: half a millisecond.
const TURN_WORK_MAX: usize = 65_536;

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// Decompresses `stream`; returns its health, and how many times other attempts ran meanwhile.
    fn read(stream: &[u8]) -> (Result<Health, Status>, usize) {
        let (mut message, mut turns) = (Box::new(Compressed::default()), 0);
        let mut push = Box::pin(message.push(stream));
        while push.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Pending {
            turns += 1;
        }
        drop(push);
        (message.end(), turns)
    }

    /// A member whose content is this deflated stream, with a checksum that is right if nothing was deflated.
    fn member(deflated: &[u8]) -> Vec<u8> {
        [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff][..], deflated, &[0; 8]].concat()
    }

    #[test]
    fn an_ordinary_message_holds_nobody_up() {
        let deflated = [0xe3, 0x60, 0x04, 0x00];
        let serving =
            [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff][..], &deflated, &[0x61, 0xa8, 7, 0xfe, 2, 0, 0, 0]].concat();
        assert_eq!(read(&serving), (Ok(Health::SERVING), 0));
        assert_eq!(read(&member(&[3, 0])), (Ok(Health::default()), 0));
        assert_eq!(read(b"").0.unwrap_err().message, b"grpc: failed to decompress the message: EOF");
        let cut = read(&serving[..20]).0.unwrap_err();
        assert_eq!(cut.message, b"grpc: failed to read decompressed data: unexpected EOF");
    }

    #[test]
    fn a_small_message_that_becomes_a_large_one_is_given_up_and_others_run_meanwhile() {
        // A zero, then a match of 258 zeros for every two bits.
        let begin = [0xec, 0xc1, 1, 1, 0, 0, 0, 0x80, 0x90, 0xfe, 0xaf, 0xee, 8, 0x0a];
        let (health, turns) = read(&member(&[&begin[..], &[0; 5_000]].concat()));
        assert_eq!(health.unwrap_err().message, b"grpc: received message after decompression larger than max 4194304");
        assert!(turns >= MESSAGE_BYTES_MAX / TURN_WORK_MAX / 2, "{turns}");
    }

    #[test]
    fn blocks_without_content_are_work() {
        // Ten bits for each block: its header and the symbol that ends it.
        let blocks = [0x02, 0x08, 0x20, 0x80, 0x00].repeat(4_000);
        let (_, turns) = read(&member(&[&blocks[..], &[3, 0]].concat()));
        assert!(turns >= blocks.len() * BYTE_WORK / TURN_WORK_MAX / 2, "{turns}");
    }
}
