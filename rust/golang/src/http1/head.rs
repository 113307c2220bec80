//! A response's head: status, length, redirect target (`http.ReadResponse`, Go 1.26).

use std::ops::Range;

use super::error::ResponseError;
use crate::header::{canonical, is_read_name_byte, is_value_byte, lists, trim};
use crate::text::{quote, quote_list};

/// The fields of a head that decide something. The others need only be well formed.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(crate) status: u16,
    version: (u8, u8),
    /// The values one after the other, so that a head costs no allocation of its own.
    values: Vec<u8>,
    fields: Vec<(Name, Range<usize>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Connection,
    ContentLength,
    Location,
    Trailer,
    TransferEncoding,
    Upgrade,
}

/// How the reader finds the body's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// There is no body.
    Empty,
    /// The number of bytes, at least one.
    Length(u64),
    /// The body comes in chunks.
    Chunked,
    /// The body ends with the connection.
    UntilEof,
}

impl Head {
    pub(crate) fn clear(&mut self) {
        self.values.clear();
        self.fields.clear();
    }

    pub(crate) const fn capacity(&self) -> usize {
        self.values.capacity() + self.fields.capacity() * size_of::<(Name, Range<usize>)>()
    }

    /// Whether another head follows. A 101 ends HTTP, so it is final.
    pub(crate) const fn is_interim(&self) -> bool {
        self.status / 100 == 1 && self.status != 101
    }

    /// Reads a status line.
    pub(crate) fn status_line(&mut self, line: &[u8]) -> Result<(), String> {
        let space = line.iter().position(|&byte| byte == b' ');
        let space = space.ok_or_else(|| format!("malformed HTTP response {}", quote(line)))?;
        let (version, rest) = (&line[..space], &line[space..]);
        let rest = &rest[rest.iter().position(|&byte| byte != b' ').unwrap_or(rest.len())..];
        let code = &rest[..rest.iter().position(|&byte| byte == b' ').unwrap_or(rest.len())];
        self.status = match code {
            [b'+', digits @ ..] | digits if code.len() == 3 && digits.iter().all(u8::is_ascii_digit) => {
                digits.iter().fold(0, |value, digit| value * 10 + u16::from(digit - b'0'))
            }
            // Go's Atoi accepts it, as the only text below zero: the code is 0.
            b"-00" => 0,
            _ => return Err(format!("malformed HTTP status code {}", quote(code))),
        };
        self.version = match version {
            [b'H', b'T', b'T', b'P', b'/', major @ b'0'..=b'9', b'.', minor @ b'0'..=b'9'] => {
                (major - b'0', minor - b'0')
            }
            _ => return Err(format!("malformed HTTP version {}", quote(version))),
        };
        Ok(())
    }

    /// Reads a whole field with its folded lines joined (`textproto.Reader.ReadMIMEHeader`), or the beginning of a
    /// field. Then `rest_is_value` says whether a value may hold the rest.
    pub(crate) fn field(&mut self, field: &[u8], rest_is_value: bool) -> Result<(), ResponseError> {
        let malformed = || ResponseError::malformed_field(MALFORMED, field);
        // No field that matters has a space in its name.
        let end = field.iter().position(|&byte| !is_read_name_byte(byte));
        let colon = end.filter(|&end| end > 0 && field[end] == b':').ok_or_else(malformed)?;
        let (name, value) = (&field[..colon], &field[colon + 1..]);
        if !(rest_is_value && value.iter().copied().all(is_value_byte)) {
            // At this point Go has already made the name canonical in place.
            let canonical = std::str::from_utf8(name).map(canonical).expect("ASCII");
            let line = [canonical.as_bytes(), &field[colon..]].concat();
            return Err(ResponseError::malformed_field(MALFORMED, &line));
        }
        // Drops the blanks before the value. A blank that a folded blank line left behind the value stays, as in Go.
        let first = value.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(value.len());
        self.keep(name, &value[first..]);
        Ok(())
    }

    /// Keeps a field that decides something, of a well-formed name and value.
    pub(crate) fn keep(&mut self, name: &[u8], value: &[u8]) {
        if let Some(name) = Name::of(name).filter(|_| self.has_room()) {
            let start = self.values.len();
            self.values.extend_from_slice(value);
            self.fields.push((name, start..self.values.len()));
        }
    }

    /// Whether the head keeps one more field. A field that decides something comes once or twice; the others are kept
    /// for error texts that quote them all.
    fn has_room(&self) -> bool {
        self.values.len() < VALUES_KEPT_BYTES_MAX && self.fields.len() < FIELDS_KEPT_MAX
    }

    fn all(&self, wanted: Name) -> impl Iterator<Item = &[u8]> {
        self.fields.iter().filter(move |(name, _)| *name == wanted).map(|(_, range)| &self.values[range.clone()])
    }

    /// The target of a redirect; None for an empty Location.
    pub(crate) fn location(&self) -> Option<&[u8]> {
        self.all(Name::Location).next().filter(|location| !location.is_empty())
    }

    /// How the body's end is found (`http.readTransfer`).
    pub(crate) fn framing(&self) -> Result<Framing, String> {
        let chunked = self.is_chunked()?;
        let length = self.content_length()?;
        if chunked {
            self.refuse_trailer()?;
        }
        Ok(match (self.status, length) {
            (101, _) if self.leaves_http() => Framing::UntilEof,
            (100..=199 | 204 | 304, _) => Framing::Empty,
            _ if chunked => Framing::Chunked,
            (_, Some(0)) => Framing::Empty,
            (_, Some(length)) => Framing::Length(length),
            (_, None) => Framing::UntilEof,
        })
    }

    fn is_chunked(&self) -> Result<bool, String> {
        let mut encodings = self.all(Name::TransferEncoding);
        let Some(first) = encodings.next() else { return Ok(false) };
        // HTTP/1.0 does not know the field. Go treats version 0.0 as no version.
        if self.version < (1, 1) && self.version != (0, 0) {
            return Ok(false);
        }
        if encodings.next().is_some() {
            let all = quote_list(self.all(Name::TransferEncoding));
            return Err(format!("too many transfer encodings: {all}"));
        }
        match first.eq_ignore_ascii_case(b"chunked") {
            true => Ok(true),
            false => Err(format!("unsupported transfer encoding: {}", quote(first))),
        }
    }

    fn content_length(&self) -> Result<Option<u64>, String> {
        let mut lengths = self.all(Name::ContentLength).map(trim);
        let Some(first) = lengths.next() else { return Ok(None) };
        if !lengths.all(|other| other == first) {
            let all = quote_list(self.all(Name::ContentLength));
            return Err(format!("http: message cannot contain multiple Content-Length headers; got {all}"));
        }
        if first.is_empty() {
            return Err("invalid empty Content-Length \"\"".to_owned());
        }
        let digits = std::str::from_utf8(first).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        match digits.and_then(|digits| digits.parse::<i64>().ok()) {
            Some(length) => Ok(Some(length.unsigned_abs())),
            None => Err(format!("bad Content-Length {}", quote(first))),
        }
    }

    /// Refuses a trailer that would change how the message is read (`http.fixTrailer`).
    fn refuse_trailer(&self) -> Result<(), String> {
        let announced = self.all(Name::Trailer).flat_map(|value| value.split(|&byte| byte == b',')).map(trim);
        for name in announced {
            let forbidden = ["Transfer-Encoding", "Trailer", "Content-Length"];
            if let Some(found) = forbidden.iter().find(|other| other.as_bytes().eq_ignore_ascii_case(name)) {
                return Err(format!("bad trailer key \"{found}\""));
            }
        }
        Ok(())
    }

    fn leaves_http(&self) -> bool {
        self.all(Name::Upgrade).next().is_some_and(|value| !value.is_empty())
            && lists(self.all(Name::Connection), b"Upgrade")
    }
}

impl Name {
    fn of(name: &[u8]) -> Option<Self> {
        let (text, known) = match (name.len(), name.first()?) {
            (7, b'T' | b't') => (&b"Trailer"[..], Self::Trailer),
            (7, _) => (&b"Upgrade"[..], Self::Upgrade),
            (8, _) => (&b"Location"[..], Self::Location),
            (10, _) => (&b"Connection"[..], Self::Connection),
            (14, _) => (&b"Content-Length"[..], Self::ContentLength),
            (17, _) => (&b"Transfer-Encoding"[..], Self::TransferEncoding),
            _ => return None,
        };
        // Most servers write names as Go does.
        (text == name || text.eq_ignore_ascii_case(name)).then_some(known)
    }
}

/// How many bytes of values are kept; the kubelet keeps all that a head may hold. One more value may begin below this
/// limit.
const VALUES_KEPT_BYTES_MAX: usize = 65_536;
/// How many of the fields that decide something are kept.
const FIELDS_KEPT_MAX: usize = 1_024;
const MALFORMED: &str = "malformed MIME header line";

#[cfg(test)]
mod tests {
    use super::*;

    fn status(line: &str) -> Result<u16, String> {
        let mut head = Head::default();
        head.status_line(line.as_bytes()).map(|()| head.status)
    }

    fn framing(line: &str, fields: &[&str]) -> Result<Framing, String> {
        let mut head = Head::default();
        head.status_line(line.as_bytes())?;
        fields.iter().try_for_each(|field| head.field(field.as_bytes(), true)).map_err(|error| error.text)?;
        head.framing()
    }

    #[test]
    fn status_lines_that_pass() {
        for (line, code) in [
            ("HTTP/1.1 200 OK", 200),
            ("HTTP/1.1  200", 200),
            ("HTTP/9.9 +20 x", 20),
            ("HTTP/1.1 000", 0),
            ("HTTP/1.1 -00", 0),
            ("HTTP/0.9 099 \0\r", 99),
        ] {
            assert_eq!(status(line), Ok(code), "{line}");
        }
    }

    #[test]
    fn status_lines_that_do_not_pass() {
        assert_eq!(status("hello"), Err("malformed HTTP response \"hello\"".into()));
        for code in ["-20", "2x0", "20", "0200", "2\t0", "++1", "+-1"] {
            let error = Err(format!("malformed HTTP status code {}", quote(code.as_bytes())));
            assert_eq!(status(&format!("HTTP/1.1 {code} OK")), error);
        }
        for version in ["http/1.1", "HTTP/2", "HTTP/1.10", "xxHTTP/1.1", ""] {
            assert_eq!(status(&format!("{version} 200 OK")), Err(format!("malformed HTTP version \"{version}\"")));
        }
    }

    #[test]
    fn lengths() {
        let of = |fields: &[&str]| framing("HTTP/1.1 200 OK", fields);
        assert_eq!(of(&[]), Ok(Framing::UntilEof));
        assert_eq!(of(&["content-length:\t002 "]), Ok(Framing::Length(2)));
        assert_eq!(of(&["Content-Length: 2", "Content-Length: 2"]), Ok(Framing::Length(2)));
        assert_eq!(of(&["Content-Length : 2"]), Ok(Framing::UntilEof));
        assert_eq!(of(&["Content-Length: 0"]), Ok(Framing::Empty));
        for bad in ["-1", "+2", "1_0", "2, 2", "9223372036854775808", "0x2", "٢"] {
            assert_eq!(of(&[&format!("Content-Length: {bad}")]), Err(format!("bad Content-Length \"{bad}\"")));
        }
        let two = "http: message cannot contain multiple Content-Length headers; got [\"2\" \"02\"]";
        assert_eq!(of(&["Content-Length: 2", "Content-Length: 02"]), Err(two.into()));
        assert!(framing("HTTP/1.1 204 X", &["Content-Length: x"]).is_err(), "even without a body");
        assert!(of(&["Content-Length: x", "Transfer-Encoding: chunked"]).is_err());
    }

    #[test]
    fn encodings() {
        let of = |line, value: &str| framing(line, &[&format!("Transfer-Encoding: {value}")]);
        assert_eq!(of("HTTP/1.1 200 OK", " CHUNKED"), Ok(Framing::Chunked));
        assert_eq!(of("HTTP/0.0 200 OK", "chunked"), Ok(Framing::Chunked));
        assert_eq!(of("HTTP/1.0 200 OK", "gzip"), Ok(Framing::UntilEof));
        assert_eq!(of("HTTP/1.1 304 X", "chunked"), Ok(Framing::Empty));
        assert_eq!(of("HTTP/1.1 200 OK", "gzip"), Err("unsupported transfer encoding: \"gzip\"".into()));
    }

    #[test]
    fn a_switch_leaves_the_connection_open() {
        let fields = ["Connection: x, upgrade", "Upgrade: h2c"];
        assert_eq!(framing("HTTP/1.1 101 X", &fields), Ok(Framing::UntilEof));
        assert_eq!(framing("HTTP/1.1 101 X", &fields[1..]), Ok(Framing::Empty));
    }

    #[test]
    fn trailers_may_not_frame() {
        let fields = ["Transfer-Encoding: chunked", "Trailer: x, content-length"];
        assert_eq!(framing("HTTP/1.1 200 OK", &fields), Err("bad trailer key \"Content-Length\"".into()));
        assert_eq!(framing("HTTP/1.1 200 OK", &fields[1..]), Ok(Framing::UntilEof));
    }

    #[test]
    fn a_folded_blank_line_leaves_a_blank() {
        let mut head = Head::default();
        head.status_line(b"HTTP/1.1 200 OK").unwrap();
        head.field(b"Transfer-Encoding: chunked ", true).unwrap();
        assert_eq!(head.framing(), Err("unsupported transfer encoding: \"chunked \"".into()));
    }

    #[test]
    fn malformed_and_well_formed_fields() {
        let mut head = Head::default();
        let mut error = |field: &str| head.field(field.as_bytes(), true).unwrap_err().text;
        for bad in [":", ": x", "A\t: b", "A(b: c", "A: b\x01", "A: \x7f", "é: b"] {
            assert_eq!(error(bad), format!("malformed MIME header line: {}", quote(bad.as_bytes())));
        }
        assert_eq!(error("aB-c: \x01"), r#"malformed MIME header line: "Ab-C: \x01""#);
        assert_eq!(error("aB c: \x01"), r#"malformed MIME header line: "aB c: \x01""#);
        for good in ["A : b", "A B: c", "A:", "A: \t\u{e9}"] {
            assert_eq!(head.field(good.as_bytes(), true), Ok(()));
        }
    }

    #[test]
    fn go_before_1_26_quotes_no_field() {
        let mut head = Head::default();
        let error = head.field(b"aB-c: \x01", true).unwrap_err().within("broken");
        assert_eq!(error.before_1_26().text, "broken: malformed MIME header line: Ab-C: \x01");
        let error = ResponseError::malformed("another").within("broken");
        assert_eq!(error.before_1_26().text, "broken: another");
    }
}
