//! The records below TLS: what came first, and whether the input ended between two.

use crate::net::stream::Watch;

/// Where in the stream of records a byte is.
#[derive(Debug, Default)]
pub(crate) struct Records {
    header: [u8; HEADER_BYTES],
    /// Bytes of the header that came.
    begun: usize,
    /// Bytes of the record's content still to come.
    left: usize,
    /// The very first bytes: the header of a record and of the message in it, or what stands in their place.
    start: [u8; HEADER_BYTES + MESSAGE_HEADER_BYTES],
    /// How many of the first bytes came.
    started: usize,
    /// How many records have begun.
    count: u64,
}

impl Watch for Records {
    fn pass(&mut self, mut bytes: &[u8]) {
        let of_start = (self.start.len() - self.started).min(bytes.len());
        self.start[self.started..self.started + of_start].copy_from_slice(&bytes[..of_start]);
        self.started += of_start;
        while !bytes.is_empty() {
            let within = self.left.min(bytes.len());
            self.left -= within;
            bytes = &bytes[within..];
            let of_header = (HEADER_BYTES - self.begun).min(bytes.len());
            self.header[self.begun..self.begun + of_header].copy_from_slice(&bytes[..of_header]);
            self.begun += of_header;
            bytes = &bytes[of_header..];
            if self.begun == HEADER_BYTES {
                self.begun = 0;
                self.left = usize::from(u16::from_be_bytes([self.header[3], self.header[4]]));
                self.count += 1;
            }
        }
    }
}

impl Records {
    pub(crate) fn is_between(&self) -> bool {
        self.begun == 0 && self.left == 0
    }

    /// The header of the very first record.
    fn first(&self) -> Option<&[u8; HEADER_BYTES]> {
        if self.started < HEADER_BYTES { None } else { self.start.first_chunk() }
    }

    /// Whether the very first record has begun, and its header is incomplete.
    pub(crate) const fn has_half_a_header(&self) -> bool {
        self.started > 0 && self.started < HEADER_BYTES
    }

    /// How many records have begun.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Whether the peer answered the first message with an alert.
    pub(crate) fn is_refusal(&self) -> bool {
        self.count == 1 && self.first().is_some_and(|&[kind, ..]| kind == ALERT)
    }

    /// Whether the peer began with a ServerHello of ordinary length, and went on.
    pub(crate) const fn has_hello(&self) -> bool {
        matches!(self.start, [HANDSHAKE, _, _, _, _, SERVER_HELLO, 0, ..]) && self.count > 1
    }

    /// What a first record says that is not TLS (`tls.Conn.readRecordOrCCS` and `http.send`, Go 1.26).
    pub(crate) fn not_tls(&self) -> Option<&'static str> {
        match self.first()? {
            b"HTTP/" => Some("http: server gave HTTP response to HTTPS client"),
            [0x80, ..] => Some("tls: unsupported SSLv2 handshake received"),
            [ALERT | HANDSHAKE, 0..=0x0f, ..] => None,
            _ => Some("tls: first record does not look like a TLS handshake"),
        }
    }
}

/// Content type, version, length (RFC 8446, 5.1).
const HEADER_BYTES: usize = 5;
/// Type and length (RFC 8446, 4).
const MESSAGE_HEADER_BYTES: usize = 4;
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const SERVER_HELLO: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_in_any_pieces() {
        let stream = [&[22, 3, 3, 0, 2, 1, 2][..], &[21, 3, 3, 0, 0], &[23, 3, 3, 0, 1, 9]].concat();
        for size in 1..stream.len() {
            let mut records = Records::default();
            stream.chunks(size).for_each(|piece| records.pass(piece));
            assert_eq!((records.begun, records.left, records.first()), (0, 0, Some(&[22, 3, 3, 0, 2])), "{size}");
            assert_eq!(records.count(), 3, "{size}");
        }
    }

    #[test]
    fn cut_records() {
        let mut records = Records::default();
        records.pass(&[22, 3, 3, 0, 2, 1]);
        assert_eq!(records.left, 1);
        records.pass(&[2, 22]);
        assert_eq!((records.left, records.begun), (0, 1));
    }
}
