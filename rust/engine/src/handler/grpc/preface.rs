//! The first frame of a server: gRPC takes a connection for one when that is SETTINGS.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::handler::wire::Watch;

/// Watches a connection's first frame.
#[derive(Debug, Default)]
pub(in crate::handler) struct Preface {
    header: [u8; HEADER_BYTES],
    begun: usize,
    /// Bytes of the first frame's content still to come.
    left: usize,
    seen: Arc<Seen>,
}

/// What came first, for whoever does not have the connection.
#[derive(Debug, Default)]
pub(super) struct Seen(AtomicU8);

impl Seen {
    /// Whether it was SETTINGS; none before it came whole.
    pub(super) fn is_settings(&self) -> Option<bool> {
        match self.0.load(Ordering::Relaxed) {
            SETTINGS_CAME => Some(true),
            ANOTHER_CAME => Some(false),
            _ => None,
        }
    }
}

impl Preface {
    pub(super) fn seen(&self) -> Arc<Seen> {
        Arc::clone(&self.seen)
    }
}

impl Watch for Preface {
    fn pass(&mut self, bytes: &[u8]) {
        if self.seen.is_settings().is_some() {
            return;
        }
        let of_header = (HEADER_BYTES - self.begun).min(bytes.len());
        self.header[self.begun..self.begun + of_header].copy_from_slice(&bytes[..of_header]);
        self.begun += of_header;
        if self.begun < HEADER_BYTES {
            return;
        }
        if of_header > 0 {
            let [high, middle, low, kind, ..] = self.header;
            self.left = u32::from_be_bytes([0, high, middle, low]) as usize;
            if kind != SETTINGS {
                return self.seen.0.store(ANOTHER_CAME, Ordering::Relaxed);
            }
        }
        self.left = self.left.saturating_sub(bytes.len() - of_header);
        if self.left == 0 {
            self.seen.0.store(SETTINGS_CAME, Ordering::Relaxed);
        }
    }
}

/// Length, type, flags, stream (RFC 9113, 4.1).
const HEADER_BYTES: usize = 9;
const SETTINGS: u8 = 4;
const SETTINGS_CAME: u8 = 1;
const ANOTHER_CAME: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(bytes: &[u8], size: usize) -> Option<bool> {
        let mut preface = Preface::default();
        let seen = preface.seen();
        bytes.chunks(size).for_each(|piece| preface.pass(piece));
        seen.is_settings()
    }

    #[test]
    fn the_first_frame_in_any_pieces() {
        let settings = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 1];
        for size in 1..=settings.len() {
            assert_eq!(seen(&settings, size), Some(true), "{size}");
            assert_eq!(seen(&settings[..14], size), None, "{size}");
            assert_eq!(seen(&[0, 0, 0, 6, 0, 0, 0, 0, 0], size), Some(false), "{size}");
            assert_eq!(seen(b"HTTP/1.1 400", size), Some(false), "{size}");
        }
    }
}
