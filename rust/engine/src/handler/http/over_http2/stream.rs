//! The only stream of a connection, and how it handles each frame (http2/transport.go:clientConnReadLoop, v0.49).

use std::ops::RangeInclusive;
use std::sync::Arc;

use probelet_golang::http1::UNEXPECTED_EOF;
use probelet_golang::http2::{
    self, Code, FRAME_BYTES_MAX, Field, FieldList, Fields, Frame, Http2Error, PREFACE, Reader, Setting, Text,
};
use probelet_golang::text::quote;
use probelet_play::cause::Cause;
use tokio::io::AsyncWriteExt;

use super::error::ExchangeError;
use super::rules::Rules;
use crate::attempt::error::AttemptError;
use crate::handler::next_frame::next_frame;
use crate::net::stream::{SharedReadError, Transport};

/// A connection and the state of its stream.
#[derive(Debug)]
pub(super) struct Stream {
    link: Box<dyn Transport>,
    read_error: SharedReadError,
    reader: Reader<Values>,
    has_settings: bool,
    is_acknowledged: bool,
    /// How many bytes the peer would let the stream send. Nothing is sent, so only an overflow matters.
    window: i32,
    connection_window: i32,
    initial_window: i32,
    rules: Rules,
    going: Option<Going>,
    stage: Stage,
    interim_bytes: usize,
}

/// The server's GOAWAY.
#[derive(Debug)]
struct Going {
    last: u32,
    code: Code,
    debug: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Head,
    Body,
    Ended,
}

/// The head of a response.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: i64,
    /// The first location.
    pub(super) location: Option<Arc<Text>>,
    /// The announced length of the body.
    pub(super) length: Option<u64>,
}

/// The fields of a head that decide something.
#[derive(Debug, Default)]
struct Values {
    status: Option<Arc<Text>>,
    location: Option<Arc<Text>>,
    length: Option<Arc<Text>>,
    /// Whether more than one length came.
    has_lengths: bool,
}

impl Fields for Values {
    fn add(&mut self, Field { name, value }: &Field) {
        let place = match name.bytes() {
            b":status" => &mut self.status,
            b"location" => &mut self.location,
            b"content-length" => {
                self.has_lengths |= self.length.is_some();
                &mut self.length
            }
            _ => return,
        };
        place.get_or_insert_with(|| Arc::clone(value));
    }
}

/// What a frame brought.
enum Step {
    Head(Head),
    Data(Vec<u8>),
    Nothing,
}

/// How a stream ends without a response.
enum StreamError {
    Failed(AttemptError),
    Refused,
}

impl Stream {
    /// Sends a request. A failure to send shows when the answer is read.
    pub(super) async fn open(
        link: Box<dyn Transport>,
        read_error: SharedReadError,
        message: &[u8],
        rules: Rules,
    ) -> Self {
        let mut opening = PREFACE.to_vec();
        http2::settings(&mut opening, &SETTINGS);
        http2::window_update(&mut opening, 0, CONNECTION_WINDOW_BYTES);
        http2::headers(&mut opening, STREAM, message, true);
        let mut stream = Self {
            link,
            read_error,
            reader: Reader::new(FIELDS_BYTES_MAX as usize),
            has_settings: false,
            is_acknowledged: false,
            window: WINDOW_BYTES_INITIAL,
            connection_window: WINDOW_BYTES_INITIAL,
            initial_window: WINDOW_BYTES_INITIAL,
            rules,
            going: None,
            stage: Stage::Head,
            interim_bytes: 0,
        };
        stream.send(&opening).await;
        stream
    }

    /// Waits for the response's head.
    pub(super) async fn head(&mut self) -> Result<Head, ExchangeError> {
        loop {
            match self.step().await {
                Ok(Step::Head(head)) => return Ok(head),
                Ok(_) => {}
                Err(StreamError::Refused) => return Err(ExchangeError::Retry),
                Err(StreamError::Failed(error)) => return Err(ExchangeError::Failed(error)),
            }
        }
    }

    /// Waits for more of the body; None at its end.
    pub(super) async fn data(&mut self) -> Result<Option<Vec<u8>>, String> {
        while self.stage != Stage::Ended {
            match self.step().await {
                Ok(Step::Data(data)) if !data.is_empty() => return Ok(Some(data)),
                Ok(_) => {}
                Err(StreamError::Refused) => return Err(LOST.to_owned()),
                Err(StreamError::Failed(error)) => return Err(error.text),
            }
        }
        Ok(None)
    }

    async fn send(&mut self, bytes: &[u8]) {
        // Ignore write errors, because the read that follows reports the better one.
        let written = self.link.write_all(bytes).await;
        if written.is_ok() {
            let _ = self.link.flush().await;
        }
    }

    async fn step(&mut self) -> Result<Step, StreamError> {
        let frame = match next_frame(&mut self.reader, &mut self.link).await {
            Ok(frame) => frame,
            Err(Http2Error::Stream { stream: STREAM, code, why }) => return Err(reset(code, &why)),
            Err(Http2Error::Stream { .. }) => return Ok(Step::Nothing),
            Err(error) => return Err(StreamError::Failed(self.broken(error))),
        };
        if !self.has_settings && !matches!(frame, Frame::Settings(_) | Frame::SettingsAck) {
            return Err(lost(Code::PROTOCOL));
        }
        match frame {
            Frame::Headers { stream: STREAM, list, ends } => self.headers(list, ends),
            Frame::Data { stream: STREAM, data, ends, .. } => self.received(data, ends),
            Frame::Data { stream, .. } if stream > STREAM => Err(lost(Code::PROTOCOL)),
            Frame::Reset { stream: STREAM, code } => Err(self.reset_by_peer(code)),
            Frame::Settings(settings) => self.settings(&settings).await,
            Frame::SettingsAck => {
                self.has_settings = true;
                let is_first = !std::mem::replace(&mut self.is_acknowledged, true);
                if is_first { Ok(Step::Nothing) } else { Err(lost(Code::PROTOCOL)) }
            }
            Frame::PushPromise => Err(lost(Code::PROTOCOL)),
            Frame::Ping(data) => {
                let mut answer = Vec::new();
                http2::ack_ping(&mut answer, data);
                self.send(&answer).await;
                Ok(Step::Nothing)
            }
            Frame::GoAway { last, code, debug } => self.go_away(last, code, debug),
            Frame::WindowUpdate { stream, increment } => self.widen(stream, increment),
            _ => Ok(Step::Nothing),
        }
    }

    /// Handles HEADERS (`clientConnReadLoop.processHeaders`).
    fn headers(&mut self, list: FieldList<Values>, ends: bool) -> Result<Step, StreamError> {
        if self.stage != Stage::Head {
            if !ends || list.has_pseudo {
                return Err(lost(Code::PROTOCOL));
            }
            self.stage = Stage::Ended;
            return Ok(Step::Data(Vec::new()));
        }
        if list.is_truncated {
            return Err(reset(Code::PROTOCOL, "http2: response header list larger than advertised limit"));
        }
        let status = status(&list.fields).map_err(|why| reset(Code::PROTOCOL, why))?;
        if (100..=199).contains(&status) {
            self.interim_bytes += list.bytes;
            if ends {
                return Err(reset(Code::PROTOCOL, "1xx informational response with END_STREAM flag"));
            }
            if self.interim_bytes > FIELDS_BYTES_MAX as usize {
                return Err(reset(Code::PROTOCOL, "header list too large"));
            }
            return Ok(Step::Nothing);
        }
        self.stage = if ends { Stage::Ended } else { Stage::Body };
        let length = length(&list.fields);
        Ok(Step::Head(Head { status, location: list.fields.location, length }))
    }

    fn received(&mut self, data: Vec<u8>, ends: bool) -> Result<Step, StreamError> {
        if self.stage != Stage::Body {
            return Err(reset(Code::PROTOCOL, ""));
        }
        if ends {
            self.stage = Stage::Ended;
        }
        Ok(Step::Data(data))
    }

    /// Handles SETTINGS (`processSettings`). Ignores settings that do not concern a client.
    async fn settings(&mut self, settings: &[Setting]) -> Result<Step, StreamError> {
        self.has_settings = true;
        for &Setting(id, value) in settings {
            match id {
                Setting::INITIAL_WINDOW_SIZE => {
                    let initial = i32::try_from(value).map_err(|_| lost(Code::FLOW_CONTROL))?;
                    // Go does not check for an overflow here, and leaves the window alone after one.
                    self.window = self.window.checked_add(initial - self.initial_window).unwrap_or(self.window);
                    self.initial_window = initial;
                }
                Setting::ENABLE_PUSH if self.rules.validates_settings && value > 1 => return Err(lost(Code::PROTOCOL)),
                Setting::MAX_FRAME_SIZE if self.rules.validates_settings && !FRAME_SIZES.contains(&value) => {
                    return Err(lost(Code::PROTOCOL));
                }
                Setting::ENABLE_CONNECT_PROTOCOL if value > 1 => return Err(lost(Code::PROTOCOL)),
                _ => {}
            }
        }
        let mut answer = Vec::new();
        http2::ack_settings(&mut answer);
        self.send(&answer).await;
        Ok(Step::Nothing)
    }

    /// Handles GOAWAY (`ClientConn.setGoAway`).
    fn go_away(&mut self, last: u32, code: Code, debug: Vec<u8>) -> Result<Step, StreamError> {
        let going = match self.going.take() {
            None => Going { last, code, debug },
            Some(before) => Going {
                last,
                code: if before.code == Code::NO_ERROR { code } else { before.code },
                debug: if before.debug.is_empty() { debug } else { before.debug },
            },
        };
        let code = going.code;
        self.going = Some(going);
        match (last < STREAM, code) {
            (false, _) => Ok(Step::Nothing),
            (true, Code::NO_ERROR) => Err(StreamError::Refused),
            (true, code) => Err(failed(format!("http2: Transport received GOAWAY from server ErrCode:{code}"))),
        }
    }

    /// Handles WINDOW_UPDATE (`processWindowUpdate`).
    fn widen(&mut self, stream: u32, increment: u32) -> Result<Step, StreamError> {
        let window = match stream {
            0 => &mut self.connection_window,
            STREAM => &mut self.window,
            _ => return Ok(Step::Nothing),
        };
        match i32::try_from(increment).ok().and_then(|increment| window.checked_add(increment)) {
            Some(wider) => *window = wider,
            None if stream == 0 => return Err(lost(Code::FLOW_CONTROL)),
            None => return Err(reset(Code::FLOW_CONTROL, "")),
        }
        Ok(Step::Nothing)
    }

    /// Handles RST_STREAM. If the server says that it did not process the request, or by some rules that the request was
    /// malformed, the request is sent again (`http2.canRetryError`).
    fn reset_by_peer(&self, code: Code) -> StreamError {
        match (self.stage, code) {
            (Stage::Head, Code::REFUSED_STREAM) => StreamError::Refused,
            (Stage::Head, Code::PROTOCOL) if self.rules.repeats_protocol_errors => StreamError::Refused,
            _ => reset(code, "received from peer"),
        }
    }

    /// The error of a connection that ended (`clientConnReadLoop.cleanup`).
    fn broken(&self, error: Http2Error) -> AttemptError {
        let is_end = matches!(error, Http2Error::Ended | Http2Error::Io);
        if is_end && let Some(Going { last, code, debug }) = &self.going {
            let debug = quote(debug);
            let text = "http2: server sent GOAWAY and closed the connection";
            return AttemptError::new(
                Cause::Http2,
                format!("{text}; LastStreamID={last}, ErrCode={code}, debug={debug}"),
            );
        }
        match error {
            Http2Error::Connection(code) => AttemptError::new(Cause::Http2, connection_error(code)),
            Http2Error::Refused(text) => AttemptError::new(Cause::Http2, text),
            Http2Error::Io if let Some(error) = self.read_error.get() => error.clone(),
            _ => AttemptError::new(Cause::Eof, UNEXPECTED_EOF),
        }
    }
}

/// The text of `http2.StreamError`.
fn reset(code: Code, why: &str) -> StreamError {
    let separator = if why.is_empty() { "" } else { "; " };
    failed(format!("stream error: stream ID {STREAM}; {code}{separator}{why}"))
}

/// The text of `http2.ConnectionError`.
fn lost(code: Code) -> StreamError {
    failed(connection_error(code))
}

fn connection_error(code: Code) -> String {
    format!("connection error: {code}")
}

fn failed(text: String) -> StreamError {
    StreamError::Failed(AttemptError::new(Cause::Http2, text))
}

/// The status as Go reads it: any number at all (`strconv.Atoi`).
fn status(values: &Values) -> Result<i64, &'static str> {
    let status = values.status.as_ref().map_or(&b""[..], |status| status.bytes());
    if status.is_empty() {
        return Err("malformed response from server: missing status pseudo header");
    }
    let number = std::str::from_utf8(status).ok().and_then(|status| status.parse().ok());
    number.ok_or("malformed response from server: malformed non-numeric status pseudo header")
}

/// The announced length, if there is exactly one and it can be read. It frames nothing over HTTP/2, so a bad one does
/// no harm.
fn length(values: &Values) -> Option<u64> {
    let length = values.length.as_ref().filter(|_| !values.has_lengths)?.bytes();
    let digits = std::str::from_utf8(length).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    digits.parse().ok().filter(|&length| length <= i64::MAX as u64)
}

/// What a server may say that its frames have at most (RFC 9113, 6.5.2).
const FRAME_SIZES: RangeInclusive<u32> = 16_384..=(1 << 24) - 1;

/// The first stream that a client opens.
const STREAM: u32 = 1;
/// The window that both sides begin with (RFC 9113, 6.9.2).
const WINDOW_BYTES_INITIAL: i32 = 65_535;
/// The settings that Go's transport sends.
const SETTINGS: [Setting; 4] = [
    Setting(Setting::ENABLE_PUSH, 0),
    Setting(Setting::INITIAL_WINDOW_SIZE, 4 << 20),
    Setting(Setting::MAX_FRAME_SIZE, FRAME_BYTES_MAX as u32),
    Setting(Setting::MAX_HEADER_LIST_SIZE, FIELDS_BYTES_MAX),
];
/// Go's default of `http2.Transport.MaxHeaderListSize`.
const FIELDS_BYTES_MAX: u32 = 10 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 1 << 30;
const LOST: &str = "http2: Transport received Server's graceful shutdown GOAWAY";
