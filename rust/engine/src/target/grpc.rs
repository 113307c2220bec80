//! `grpc.health.v1.Health/Check` with one answer, SERVING: frames of HTTP/2 (RFC 9113) that were written in advance.
//!
//! Nothing of a request is decoded but the frames' heads, so that the target costs a small part of what a prober does.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Answers every request of a connection until the peer closes it.
pub(super) async fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await?;
    let mut seen = Vec::with_capacity(BUFFER_BYTES);
    let mut preface = PREFACE_BYTES;
    loop {
        if stream.read_buf(&mut seen).await? == 0 || seen.len() > BUFFER_BYTES_MAX {
            return Ok(());
        }
        let skipped = preface.min(seen.len());
        seen.drain(..skipped);
        preface -= skipped;
        let replies = replies(&mut seen);
        if !replies.is_empty() {
            stream.write_all(&replies).await?;
        }
    }
}

/// What the frames that are whole are answered with; they are taken off the buffer.
fn replies(seen: &mut Vec<u8>) -> Vec<u8> {
    let mut replies = Vec::new();
    while let Some((head, rest)) = seen.split_first_chunk::<HEAD_BYTES>() {
        let [a, b, c, kind, flags, stream @ ..] = *head;
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        if rest.len() < length {
            break;
        }
        match kind {
            SETTINGS if flags & ACK == 0 => replies.extend(frame(SETTINGS, ACK, 0, &[])),
            PING if flags & ACK == 0 => replies.extend(frame(PING, ACK, 0, &rest[..length])),
            DATA | HEADERS if flags & END_STREAM != 0 => {
                let stream = u32::from_be_bytes(stream);
                replies.extend(frame(HEADERS, END_HEADERS, stream, OK_GRPC));
                replies.extend(frame(DATA, 0, stream, SERVING));
                replies.extend(frame(HEADERS, END_HEADERS | END_STREAM, stream, STATUS_OK));
            }
            _ => {}
        }
        seen.drain(..HEAD_BYTES + length);
    }
    replies
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
    let mut frame = vec![a, b, c, kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const HEAD_BYTES: usize = 9;
/// "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
const PREFACE_BYTES: usize = 24;
/// HPACK: `:status: 200` by its index, `content-type: application/grpc` with an indexed name.
const OK_GRPC: &[u8] = b"\x88\x0f\x10\x10application/grpc";
/// HPACK: `grpc-status: 0`, spelled out.
const STATUS_OK: &[u8] = b"\x00\x0bgrpc-status\x010";
/// A message of two bytes, not compressed: `HealthCheckResponse{status: SERVING}`.
const SERVING: &[u8] = b"\0\0\0\0\x02\x08\x01";
const BUFFER_BYTES: usize = 1024;
/// A probe's frames are some 300 bytes in all.
const BUFFER_BYTES_MAX: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_answered_on_its_stream_once_it_is_whole() {
        let mut seen = frame(HEADERS, END_HEADERS, 3, b"\x83");
        seen.extend(frame(DATA, END_STREAM, 3, b"\0\0\0\0\0"));
        let last = seen.pop().expect("a byte");
        assert!(replies(&mut seen).is_empty());
        seen.push(last);
        let answered = replies(&mut seen);
        assert_eq!(answered[..9], [0, 0, 20, HEADERS, END_HEADERS, 0, 0, 0, 3]);
        assert!(answered.ends_with(STATUS_OK));
        assert!(seen.is_empty());
    }

    #[test]
    fn settings_and_pings_are_acknowledged_and_acknowledgements_are_not() {
        let mut seen = frame(SETTINGS, 0, 0, &[]);
        seen.extend(frame(SETTINGS, ACK, 0, &[]));
        seen.extend(frame(PING, 0, 0, b"12345678"));
        let mut expected = frame(SETTINGS, ACK, 0, &[]);
        expected.extend(frame(PING, ACK, 0, b"12345678"));
        assert_eq!(replies(&mut seen), expected);
    }
}
