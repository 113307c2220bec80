//! A connection, and how it handles each frame (google.golang.org/grpc internal/transport/http2_client.go and
//! controlbuf.go, v1.79).
//!
//! The kubelet's client also measures the connection with a PING after the first data, and sends RST_STREAM and GOAWAY
//! when it closes. Neither changes a single call, so this client sends none of them.

use probelet_golang::http2::{self, FieldList, Frame, Http2Error, PREFACE, Reader, Setting};
use probelet_golang::text::quote;
use probelet_play::cause::Cause;

use super::head::Values;
use super::status::{Code, Status};
use super::transport::BufferedTransport;
use crate::attempt::error::AttemptError;
use crate::handler::next_frame::next_frame;
use crate::net::stream::SharedReadError;

/// A connection on which the server's SETTINGS have come.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) transport: BufferedTransport,
    reader: Reader<Values>,
    read_error: SharedReadError,
    pub(super) peer: Peer,
    going: Option<Going>,
    next_stream: u32,
    /// How many bytes came that the connection's window was not widened for again.
    received: usize,
}

/// What the server allows.
#[derive(Debug)]
pub(super) struct Peer {
    streams_max: u32,
    pub(super) fields_bytes_max: Option<u32>,
    /// How many bytes each stream may send at first.
    pub(super) stream_window: u32,
    /// How many bytes all streams may send. One increment too many wraps it, as in the kubelet.
    pub(super) window: u32,
}

/// The server's GOAWAY.
#[derive(Debug)]
struct Going {
    /// The last stream that the server will process, by its latest GOAWAY.
    last: u32,
    /// The code and debug data of its first GOAWAY.
    reason: String,
}

/// What a frame means to the one stream that is open.
#[derive(Debug)]
pub(super) enum Event {
    Headers {
        list: FieldList<Values>,
        ends: bool,
    },
    Data {
        data: Vec<u8>,
        padding: usize,
        ends: bool,
    },
    Reset(http2::Code),
    Malformed {
        code: http2::Code,
        why: String,
    },
    Widened(u32),
    /// The server leaves and will not process the stream.
    Left,
    Nothing,
}

/// The first bytes that a client sends.
pub(super) fn greeting() -> Vec<u8> {
    let mut greeting = PREFACE.to_vec();
    http2::settings(&mut greeting, &[]);
    greeting
}

impl Channel {
    /// Waits for the server's SETTINGS, which must come first.
    pub(super) async fn open(
        mut transport: BufferedTransport,
        read_error: SharedReadError,
    ) -> Result<Self, AttemptError> {
        let mut reader = Reader::new(FIELDS_BYTES_MAX);
        let settings = match next_frame(&mut reader, &mut transport).await {
            Ok(Frame::Settings(settings)) => Some(settings),
            Ok(Frame::SettingsAck) => None,
            Ok(_) => {
                return Err(AttemptError::new(Cause::Http2, "initial http2 frame from server is not a settings frame"));
            }
            Err(error) => {
                let (cause, why) = why_lost(error, &read_error);
                return Err(AttemptError::new(cause, format!("error reading server preface: {why}")));
            }
        };
        let peer =
            Peer { streams_max: u32::MAX, fields_bytes_max: None, stream_window: WINDOW_BYTES, window: WINDOW_BYTES };
        let mut channel = Self { transport, reader, read_error, peer, going: None, next_stream: 1, received: 0 };
        if let Some(settings) = settings {
            channel.settings(&settings);
        }
        Ok(channel)
    }

    /// Whether a frame has come that was not handled yet.
    pub(super) fn has_frame(&self) -> bool {
        self.reader.has_frame()
    }

    pub(super) const fn is_going(&self) -> bool {
        self.going.is_some()
    }

    /// Whether the server allows one open stream.
    pub(super) const fn has_room(&self) -> bool {
        self.peer.streams_max > 0
    }

    /// Opens a stream: sends its fields and returns its number.
    pub(super) fn begin(&mut self, fields: &[u8]) -> u32 {
        let stream = self.next_stream;
        self.next_stream += 2;
        http2::headers(self.transport.out(), stream, fields, false);
        stream
    }

    /// Handles the next frame; returns what it means to `stream`. An error ends the connection.
    pub(super) async fn next(&mut self, stream: Option<u32>) -> Result<Event, Status> {
        let frame = match next_frame(&mut self.reader, &mut self.transport).await {
            Ok(frame) => frame,
            Err(Http2Error::Stream { stream: other, code, why }) => {
                return Ok(if stream == Some(other) { Event::Malformed { code, why } } else { Event::Nothing });
            }
            Err(error) => return Err(self.lost(error)),
        };
        let is_ours = |other| stream == Some(other);
        match frame {
            Frame::Headers { stream, list, ends } if is_ours(stream) => return Ok(Event::Headers { list, ends }),
            Frame::Data { stream, data, padding, ends } => {
                self.give_back(data.len() + padding);
                if is_ours(stream) {
                    return Ok(Event::Data { data, padding, ends });
                }
            }
            Frame::Reset { stream, code } if is_ours(stream) => return Ok(Event::Reset(code)),
            Frame::WindowUpdate { stream: 0, increment } => {
                self.peer.window = self.peer.window.wrapping_add(increment);
            }
            Frame::WindowUpdate { stream, increment } if is_ours(stream) => return Ok(Event::Widened(increment)),
            Frame::Settings(settings) => self.settings(&settings),
            Frame::Ping(data) => http2::ack_ping(self.transport.answer(), data),
            Frame::GoAway { last, code, debug } if self.go_away(last, code, &debug, stream) => return Ok(Event::Left),
            _ => {}
        }
        Ok(Event::Nothing)
    }

    /// Applies the server's settings (`handleSettings`).
    fn settings(&mut self, settings: &[Setting]) {
        for &Setting(id, value) in settings {
            match id {
                Setting::MAX_CONCURRENT_STREAMS => self.peer.streams_max = value,
                Setting::INITIAL_WINDOW_SIZE => self.peer.stream_window = value,
                Setting::MAX_HEADER_LIST_SIZE => self.peer.fields_bytes_max = Some(value),
                _ => {}
            }
        }
        http2::ack_settings(self.transport.answer());
    }

    /// Handles a GOAWAY (`handleGoAway`); returns whether it ends the stream. Ignores a GOAWAY that contradicts itself
    /// or an earlier one.
    fn go_away(&mut self, last: u32, code: http2::Code, debug: &[u8], stream: Option<u32>) -> bool {
        let before = self.going.as_ref().map(|going| going.last);
        if (last > 0 && last.is_multiple_of(2)) || before.is_some_and(|before| last > before) {
            return false;
        }
        match &mut self.going {
            Some(going) => going.last = last,
            None if debug.is_empty() => self.going = Some(Going { last, reason: format!("code: {code}") }),
            None => {
                let reason = format!("code: {code}, debug data: {}", quote(debug));
                self.going = Some(Going { last, reason });
            }
        }
        // A stream that an earlier GOAWAY ended is not open any more.
        let most = before.filter(|&before| before > 0).unwrap_or(u32::MAX);
        stream.is_some_and(|stream| stream > last && stream <= most)
    }

    /// Widens the connection's window again by the bytes that came (`trInFlow`).
    fn give_back(&mut self, bytes: usize) {
        self.received += bytes;
        if self.received >= WINDOW_BYTES as usize / 4 {
            http2::window_update(self.transport.answer(), 0, self.received as u32);
            self.received = 0;
        }
    }

    /// A call's status when the connection ends (`http2Client.Close`).
    fn lost(&self, error: Http2Error) -> Status {
        let why = format!("error reading from server: {}", why_lost(error, &self.read_error).1);
        let Some(going) = &self.going else { return Status::new(Code::UNAVAILABLE, why) };
        let error = format!("connection error: desc = {}", quote(why.as_bytes()));
        let reason = &going.reason;
        Status::new(Code::UNAVAILABLE, format!("closing transport due to: {error}, received prior goaway: {reason}"))
    }
}

fn why_lost(error: Http2Error, read_error: &SharedReadError) -> (Cause, String) {
    match error {
        Http2Error::Connection(code) => (Cause::Http2, format!("connection error: {code}")),
        Http2Error::Stream { stream, code, why } => {
            let separator = if why.is_empty() { "" } else { "; " };
            (Cause::Http2, format!("stream error: stream ID {stream}; {code}{separator}{why}"))
        }
        Http2Error::Refused(text) => (Cause::Http2, text.to_owned()),
        Http2Error::Io if let Some(error) = read_error.get() => (error.cause, error.text.clone()),
        Http2Error::Ended | Http2Error::Io => (Cause::Eof, "EOF".to_owned()),
        Http2Error::Cut => (Cause::Eof, "unexpected EOF".to_owned()),
    }
}

/// The window that both sides begin with (RFC 9113, 6.9.2), and the one gRPC gives a stream.
pub(super) const WINDOW_BYTES: u32 = 65_535;
/// The largest size of a response's fields (internal/transport/defaults.go:defaultClientMaxHeaderListSize).
const FIELDS_BYTES_MAX: usize = 16 << 20;
