//! `grpc.health.v1.Health/Check` with one answer, SERVING: frames of HTTP/2 (RFC 9113) that were written in advance.
//!
//! It decodes only the headers of the frames, so that the target costs a small part of what a prober costs.

use std::io;

use probelet_golang::http2::{
    ACK, DATA, END_STREAM, HEADER_BYTES, HEADERS, Header, PING, PREFACE, SETTINGS, ack_ping, ack_settings, data,
    headers, settings,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Answers every request of a connection until the peer closes it. Calls `came` at the first byte.
pub(crate) async fn answer(mut stream: TcpStream, came: impl FnOnce()) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut replies = Vec::with_capacity(BUFFER_BYTES);
    settings(&mut replies, &[]);
    stream.write_all(&replies).await?;
    let mut seen = Vec::with_capacity(BUFFER_BYTES);
    let mut preface = PREFACE.len();
    let mut came = Some(came);
    loop {
        if stream.read_buf(&mut seen).await? == 0 || seen.len() > BUFFER_BYTES_MAX {
            return Ok(());
        }
        if let Some(came) = came.take() {
            came();
        }
        let skipped = preface.min(seen.len());
        seen.drain(..skipped);
        preface -= skipped;
        replies.clear();
        reply(&mut seen, &mut replies);
        if !replies.is_empty() {
            stream.write_all(&replies).await?;
        }
    }
}

/// Takes every complete frame off `seen`, and adds the answers to `replies`.
fn reply(seen: &mut Vec<u8>, replies: &mut Vec<u8>) {
    while let Some((head, rest)) = seen.split_first_chunk() {
        let header = Header::of(head);
        let Some(payload) = rest.get(..header.length) else { break };
        match header.kind {
            SETTINGS if !header.has(ACK) => ack_settings(replies),
            PING if !header.has(ACK) => {
                if let Ok(data) = payload.try_into() {
                    ack_ping(replies, data);
                }
            }
            DATA | HEADERS if header.has(END_STREAM) => {
                headers(replies, header.stream, OK_GRPC, false);
                data(replies, header.stream, SERVING, false);
                headers(replies, header.stream, STATUS_OK, true);
            }
            _ => {}
        }
        seen.drain(..HEADER_BYTES + header.length);
    }
}

/// HPACK: `:status: 200` by its index, `content-type: application/grpc` with an indexed name.
const OK_GRPC: &[u8] = b"\x88\x0f\x10\x10application/grpc";
/// HPACK: `grpc-status: 0`, spelled out.
const STATUS_OK: &[u8] = b"\x00\x0bgrpc-status\x010";
/// A message of two bytes, not compressed: `HealthCheckResponse{status: SERVING}`.
const SERVING: &[u8] = b"\0\0\0\0\x02\x08\x01";
const BUFFER_BYTES: usize = 1024;
/// All frames of a probe have about 300 bytes.
const BUFFER_BYTES_MAX: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_answered_on_its_stream_once_it_is_whole() {
        let (mut seen, mut replies) = (Vec::new(), Vec::new());
        headers(&mut seen, 3, b"\x83", false);
        data(&mut seen, 3, b"\0\0\0\0\0", true);
        let last = seen.pop().expect("a byte");
        reply(&mut seen, &mut replies);
        assert!(replies.is_empty());
        seen.push(last);
        reply(&mut seen, &mut replies);
        assert_eq!(replies[..9], [0, 0, 20, HEADERS, 4, 0, 0, 0, 3]);
        assert!(replies.ends_with(STATUS_OK));
        assert!(seen.is_empty());
    }

    #[test]
    fn settings_and_pings_are_acknowledged_and_acknowledgements_are_not() {
        let mut seen = b"\0\0\x08\x06\0\0\0\0\x0012345678".to_vec();
        settings(&mut seen, &[]);
        let (mut expected, mut replies) = (Vec::new(), Vec::new());
        ack_ping(&mut expected, *b"12345678");
        ack_settings(&mut expected);
        reply(&mut seen, &mut replies);
        assert_eq!(replies, expected);
        replies.clear();
        reply(&mut expected, &mut replies);
        assert_eq!((expected, replies), (vec![], vec![]));
    }
}
