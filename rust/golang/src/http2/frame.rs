//! One frame (RFC 9113, 4 and 6): how Go parses the frames of a peer, and how its own frames are written.

use super::code::Code;
use super::error::Http2Error;
use super::fields::FieldList;

/// A frame, as far as a probe needs it. `F` is what the probe keeps of a message's fields.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<F> {
    /// Content of a message. `padding` is the rest of the frame, because padding counts for the windows too.
    Data {
        /// The stream.
        stream: u32,
        /// The content.
        data: Vec<u8>,
        /// How many bytes of the frame are not content.
        padding: usize,
        /// Whether the peer sends no more on this stream.
        ends: bool,
    },
    /// The fields of a message, complete.
    Headers {
        /// The stream.
        stream: u32,
        /// The fields.
        list: FieldList<F>,
        /// Whether the peer sends no more on this stream.
        ends: bool,
    },
    /// The peer ends a stream.
    Reset {
        /// The stream.
        stream: u32,
        /// Why.
        code: Code,
    },
    /// The peer's settings.
    Settings(Vec<Setting>),
    /// The peer has taken the settings of this side.
    SettingsAck,
    /// The peer would send what nobody asked for.
    PushPromise,
    /// A question that an acknowledgement with the same data answers.
    Ping([u8; 8]),
    /// The peer takes no more streams.
    GoAway {
        /// The last stream that it will process.
        last: u32,
        /// Why.
        code: Code,
        /// Bytes for whoever looks for the reason.
        debug: Vec<u8>,
    },
    /// The peer takes more bytes.
    WindowUpdate {
        /// The stream; 0 for the connection.
        stream: u32,
        /// How many more.
        increment: u32,
    },
    /// A frame that no client needs.
    Other,
}

/// A parameter's number and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting(pub u16, pub u32);

impl Setting {
    /// Whether a server may send what nobody asked for.
    pub const ENABLE_PUSH: u16 = 2;
    /// How many streams may be open.
    pub const MAX_CONCURRENT_STREAMS: u16 = 3;
    /// How many bytes may be sent on a stream at first.
    pub const INITIAL_WINDOW_SIZE: u16 = 4;
    /// How many bytes a frame may have.
    pub const MAX_FRAME_SIZE: u16 = 5;
    /// How many bytes the fields of a message may have.
    pub const MAX_HEADER_LIST_SIZE: u16 = 6;
    /// Whether a client may use extended CONNECT.
    pub const ENABLE_CONNECT_PROTOCOL: u16 = 8;
}

/// A frame's header: length, type, flags, stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes of the payload.
    pub length: usize,
    /// The frame's type, such as [`DATA`].
    pub kind: u8,
    pub(crate) flags: u8,
    /// The stream's number; 0 is the connection.
    pub stream: u32,
}

impl Header {
    /// Parses the first bytes of a frame.
    pub fn of(bytes: &[u8; HEADER_BYTES]) -> Self {
        let [high, middle, low, kind, flags, stream @ ..] = *bytes;
        let length = u32::from_be_bytes([0, high, middle, low]) as usize;
        Self { length, kind, flags, stream: u32::from_be_bytes(stream) & STREAM_MASK }
    }

    /// True if `flag` is set; its meaning depends on `kind`.
    pub const fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Parses the content of every frame except those with header fields (`http2.typeFrameParser`).
pub(crate) fn parse<F>(header: Header, payload: &[u8]) -> Result<Frame<F>, Http2Error> {
    let Header { stream, .. } = header;
    match header.kind {
        DATA => data_of(header, payload),
        PRIORITY if stream == 0 => Err(Http2Error::Connection(Code::PROTOCOL)),
        PRIORITY if payload.len() != 5 => Err(Http2Error::Connection(Code::FRAME_SIZE)),
        RST_STREAM => {
            let code = Code(u32::from_be_bytes(sized(payload)?));
            not_of_connection(stream).map(|()| Frame::Reset { stream, code })
        }
        SETTINGS => settings_of(header, payload),
        PUSH_PROMISE => push_promise(header, payload),
        PING => {
            let data = sized(payload)?;
            of_connection(stream)?;
            Ok(if header.has(ACK) { Frame::Other } else { Frame::Ping(data) })
        }
        GOAWAY => {
            of_connection(stream)?;
            let (last, rest) = payload.split_first_chunk().ok_or(Http2Error::Connection(Code::FRAME_SIZE))?;
            let (code, debug) = rest.split_first_chunk().ok_or(Http2Error::Connection(Code::FRAME_SIZE))?;
            let last = u32::from_be_bytes(*last) & STREAM_MASK;
            Ok(Frame::GoAway { last, code: Code(u32::from_be_bytes(*code)), debug: debug.to_vec() })
        }
        WINDOW_UPDATE => match u32::from_be_bytes(sized(payload)?) & STREAM_MASK {
            0 if stream == 0 => Err(Http2Error::Connection(Code::PROTOCOL)),
            0 => Err(Http2Error::stream(stream, Code::PROTOCOL)),
            increment => Ok(Frame::WindowUpdate { stream, increment }),
        },
        _ => Ok(Frame::Other),
    }
}

fn data_of<F>(header: Header, payload: &[u8]) -> Result<Frame<F>, Http2Error> {
    not_of_connection(header.stream)?;
    let (padding, payload) = padding(header, payload)?;
    let length = payload.len().checked_sub(padding).ok_or(Http2Error::Connection(Code::PROTOCOL))?;
    let data = payload[..length].to_vec();
    Ok(Frame::Data { stream: header.stream, data, padding: header.length - length, ends: header.has(END_STREAM) })
}

fn settings_of<F>(header: Header, payload: &[u8]) -> Result<Frame<F>, Http2Error> {
    if header.has(ACK) && !payload.is_empty() {
        return Err(Http2Error::Connection(Code::FRAME_SIZE));
    }
    of_connection(header.stream)?;
    let (settings, []) = payload.as_chunks::<6>() else { return Err(Http2Error::Connection(Code::FRAME_SIZE)) };
    let setting = |&[id_high, id_low, value @ ..]: &[u8; 6]| {
        Setting(u16::from_be_bytes([id_high, id_low]), u32::from_be_bytes(value))
    };
    let settings: Vec<_> = settings.iter().map(setting).collect();
    if settings.iter().any(|setting| setting.0 == Setting::INITIAL_WINDOW_SIZE && setting.1 > WINDOW_BYTES_MAX) {
        return Err(Http2Error::Connection(Code::FLOW_CONTROL));
    }
    Ok(if header.has(ACK) { Frame::SettingsAck } else { Frame::Settings(settings) })
}

fn push_promise<F>(header: Header, payload: &[u8]) -> Result<Frame<F>, Http2Error> {
    not_of_connection(header.stream)?;
    let (padding, payload) = padding(header, payload)?;
    let rest = payload.get(4..).ok_or(Http2Error::Cut)?;
    if padding > rest.len() { Err(Http2Error::Connection(Code::PROTOCOL)) } else { Ok(Frame::PushPromise) }
}

/// The header fields in a HEADERS frame, without padding and priority.
pub(crate) fn fragment(header: Header, payload: &[u8]) -> Result<&[u8], Http2Error> {
    not_of_connection(header.stream)?;
    let (padding, mut payload) = padding(header, payload)?;
    if header.has(PRIORITIZED) {
        payload = payload.get(5..).ok_or(Http2Error::Cut)?;
    }
    let length = payload.len().checked_sub(padding);
    length.map(|length| &payload[..length]).ok_or_else(|| Http2Error::stream(header.stream, Code::PROTOCOL))
}

/// How many bytes at the frame's end are padding, and the content with them.
fn padding(header: Header, payload: &[u8]) -> Result<(usize, &[u8]), Http2Error> {
    if !header.has(PADDED) {
        return Ok((0, payload));
    }
    let (&padding, payload) = payload.split_first().ok_or(Http2Error::Cut)?;
    Ok((padding.into(), payload))
}

fn sized<const N: usize>(payload: &[u8]) -> Result<[u8; N], Http2Error> {
    payload.try_into().map_err(|_| Http2Error::Connection(Code::FRAME_SIZE))
}

const fn of_connection(stream: u32) -> Result<(), Http2Error> {
    if stream == 0 { Ok(()) } else { Err(Http2Error::Connection(Code::PROTOCOL)) }
}

const fn not_of_connection(stream: u32) -> Result<(), Http2Error> {
    if stream == 0 { Err(Http2Error::Connection(Code::PROTOCOL)) } else { Ok(()) }
}

/// Writes a message's fields in as many frames as they take; `ends` says that no content follows.
pub fn headers(into: &mut Vec<u8>, stream: u32, block: &[u8], ends: bool) {
    let mut fragments = block.chunks(FRAME_BYTES_MAX).peekable();
    let mut kind = HEADERS;
    let mut flags = if ends { END_STREAM } else { 0 };
    while let Some(fragment) = fragments.next() {
        flags |= if fragments.peek().is_none() { END_HEADERS } else { 0 };
        frame(into, kind, flags, stream, fragment);
        (kind, flags) = (CONTINUATION, 0);
    }
}

/// Writes a piece of a message's content, at most [`FRAME_BYTES_MAX`].
pub fn data(into: &mut Vec<u8>, stream: u32, piece: &[u8], ends: bool) {
    frame(into, DATA, if ends { END_STREAM } else { 0 }, stream, piece);
}

/// Writes a SETTINGS frame.
pub fn settings(into: &mut Vec<u8>, settings: &[Setting]) {
    let payload: Vec<u8> =
        settings.iter().flat_map(|setting| [&setting.0.to_be_bytes()[..], &setting.1.to_be_bytes()].concat()).collect();
    frame(into, SETTINGS, 0, 0, &payload);
}

/// Writes the acknowledgement of a peer's SETTINGS.
pub fn ack_settings(into: &mut Vec<u8>) {
    frame(into, SETTINGS, ACK, 0, &[]);
}

/// Writes the acknowledgement of a PING, with the data of the PING.
pub fn ack_ping(into: &mut Vec<u8>, data: [u8; 8]) {
    frame(into, PING, ACK, 0, &data);
}

/// Writes a WINDOW_UPDATE.
pub fn window_update(into: &mut Vec<u8>, stream: u32, increment: u32) {
    frame(into, WINDOW_UPDATE, 0, stream, &increment.to_be_bytes());
}

fn frame(into: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    into.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    into.extend_from_slice(&[kind, flags]);
    into.extend_from_slice(&stream.to_be_bytes());
    into.extend_from_slice(payload);
}

/// The first bytes of a client (RFC 9113, 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The largest frame: Go's default for the frames it takes, and the size that every peer must take.
pub const FRAME_BYTES_MAX: usize = 16_384;
/// Bytes of a frame's header.
pub const HEADER_BYTES: usize = 9;
const STREAM_MASK: u32 = 0x7fff_ffff;
/// The largest window (RFC 9113, 6.9.1).
const WINDOW_BYTES_MAX: u32 = 0x7fff_ffff;

/// The type of a frame with a piece of a message's content.
pub const DATA: u8 = 0;
/// The type of a frame that begins a message's header fields.
pub const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
/// The type of a frame with the parameters of the connection.
pub const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
/// The type of a frame that the peer must acknowledge at once.
pub const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

/// The flag of SETTINGS and PING that makes the frame an acknowledgement.
pub const ACK: u8 = 1;
/// The flag of HEADERS and DATA that no frame of the message follows.
pub const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;
const PRIORITIZED: u8 = 0x20;
