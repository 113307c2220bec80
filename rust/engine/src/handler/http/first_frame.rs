//! What a server says first where HTTP/2 is spoken without asking: it may know nothing of it.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpStream;

use super::http2::FRAME_BYTES_MAX;
use crate::cause::Cause;
use crate::handler::fault::Fault;
use crate::handler::wire::{Faults, Watch, Wire};

/// Watches the header of the first frame.
#[derive(Debug, Default)]
pub(super) struct FirstFrame {
    header: [u8; HEADER_BYTES],
    begun: usize,
    faults: Faults,
}

/// A connection whose first frame is watched, and where its fault will be found.
pub(super) fn watched(stream: TcpStream, peer: SocketAddr) -> (Wire<FirstFrame>, Faults) {
    let mut wire = Wire::new(stream, peer, FirstFrame::default());
    let faults = Arc::clone(&wire.faults);
    wire.watch.faults = Arc::clone(&faults);
    (wire, faults)
}

impl Watch for FirstFrame {
    fn pass(&mut self, bytes: &[u8]) {
        let of_header = (HEADER_BYTES - self.begun).min(bytes.len());
        self.header[self.begun..self.begun + of_header].copy_from_slice(&bytes[..of_header]);
        self.begun += of_header;
        if of_header > 0
            && self.begun == HEADER_BYTES
            && let Some(text) = refused(&self.header)
        {
            let _ = self.faults.set(Fault::new(Cause::Http2, text));
        }
    }
}

/// What Go says of a frame longer than it announced to take (`http2.Framer.ReadFrame`, golang.org/x/net v0.49).
fn refused(header: &[u8; HEADER_BYTES]) -> Option<&'static str> {
    let [high, middle, low, ..] = *header;
    if u32::from_be_bytes([0, high, middle, low]) <= FRAME_BYTES_MAX {
        return None;
    }
    Some(match header {
        b"HTTP/1.1 " => {
            "http2: failed reading the frame payload: http2: frame too large, \
             note that the frame header looked like an HTTP/1.1 header"
        }
        _ => "http2: frame too large",
    })
}

/// Length, type, flags, stream (RFC 9113, 4.1).
const HEADER_BYTES: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8], size: usize) -> Option<String> {
        let mut first = FirstFrame::default();
        bytes.chunks(size).for_each(|piece| first.pass(piece));
        first.faults.get().map(|fault| fault.text.clone())
    }

    #[test]
    fn a_server_without_http2_in_any_pieces() {
        for size in 1..=16 {
            let of_http1 = text(b"HTTP/1.1 400 Bad Request\r\n", size).unwrap();
            assert!(of_http1.ends_with("looked like an HTTP/1.1 header"), "{size}");
            assert_eq!(text(b"<!DOCTYPE HTML>", size).as_deref(), Some("http2: frame too large"), "{size}");
            assert_eq!(text(&[0, 0, 0, 4, 0, 0, 0, 0, 0, 72, 84, 84, 80, 47], size), None, "{size}");
            assert_eq!(text(b"HTTP/1.1", size), None, "{size}");
        }
    }
}
