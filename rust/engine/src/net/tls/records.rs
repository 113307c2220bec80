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
    /// The header of the very first record, or what stands in its place.
    first: Option<[u8; HEADER_BYTES]>,
}

impl Watch for Records {
    fn pass(&mut self, mut bytes: &[u8]) {
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
                self.first.get_or_insert(self.header);
            }
        }
    }
}

impl Records {
    pub(crate) fn is_between(&self) -> bool {
        self.begun == 0 && self.left == 0
    }

    /// What a first record says that is not TLS (`tls.Conn.readRecordOrCCS` and `http.send`, Go 1.26).
    pub(crate) fn not_tls(&self) -> Option<&'static str> {
        match &self.first? {
            b"HTTP/" => Some("http: server gave HTTP response to HTTPS client"),
            [0x80, ..] => Some("tls: unsupported SSLv2 handshake received"),
            [ALERT | HANDSHAKE, 0..=0x0f, ..] => None,
            _ => Some("tls: first record does not look like a TLS handshake"),
        }
    }
}

/// Content type, version, length (RFC 8446, 5.1).
const HEADER_BYTES: usize = 5;
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_in_any_pieces() {
        let stream = [&[22, 3, 3, 0, 2, 1, 2][..], &[21, 3, 3, 0, 0], &[23, 3, 3, 0, 1, 9]].concat();
        for size in 1..stream.len() {
            let mut records = Records::default();
            stream.chunks(size).for_each(|piece| records.pass(piece));
            assert_eq!((records.begun, records.left, records.first), (0, 0, Some([22, 3, 3, 0, 2])), "{size}");
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
