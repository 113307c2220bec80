//! The stream of a call: what is sent of the request, and what came of the response.

use super::channel::{Channel, Event, WINDOW_BYTES};
use super::head::{self, Head};
use super::health::Health;
use super::messages::Messages;
use super::status::{Code, Status};
use crate::http2::{self, FRAME_BYTES_MAX, Field};

/// How a call ended.
#[derive(Debug)]
pub(super) enum Ended {
    Answered(Result<Health, Status>),
    /// The server did not look at it.
    Unprocessed(Status),
    /// The connection went before anything was asked.
    Unopened,
}

/// An open stream.
#[derive(Debug)]
pub(super) struct Stream {
    id: u32,
    request: Vec<u8>,
    sent: usize,
    /// What was sent and the server did not make room for again.
    outstanding: i64,
    /// How the messages are encoded; none before the response's head came. Until then nobody reads them.
    encoding: Option<Vec<u8>>,
    messages: Messages,
    /// What came and was not given back to the stream's window.
    received: usize,
}

/// How a stream ends, as its reader sees it once everything that came before was read.
enum End {
    /// As it should, with a status.
    Whole(Status),
    /// With an error.
    Broken(Status),
}

impl Stream {
    /// Opens a stream and sends as much of the request as there is room for.
    pub(super) fn open(channel: &mut Channel, fields: &[u8], request: Vec<u8>) -> Self {
        let id = channel.begin(fields);
        let messages = Messages::default();
        let mut stream = Self { id, request, sent: 0, outstanding: 0, encoding: None, messages, received: 0 };
        stream.send(channel);
        stream
    }

    pub(super) const fn id(&self) -> u32 {
        self.id
    }

    /// What a frame does to the call; nothing as long as it goes on.
    pub(super) fn take(&mut self, channel: &mut Channel, event: Event) -> Option<Ended> {
        let ended = match event {
            Event::Headers { fields, is_truncated, ends } => self.headers(&fields, is_truncated, ends),
            Event::Data { data, padding, ends } => self.data(channel, &data, padding, ends),
            Event::Reset(code) => {
                let text = format!("stream terminated by RST_STREAM with error code: {code}");
                let status = Status::new(Code::of_reset(code), text);
                let is_refused = code == http2::Code::REFUSED_STREAM;
                Some(if is_refused { Ended::Unprocessed(status) } else { self.end(End::Broken(status)) })
            }
            Event::Malformed { code, why } => {
                let why = if why.is_empty() { "received invalid frame".to_owned() } else { why };
                Some(self.end(End::Broken(Status::new(Code::of_reset(code), why))))
            }
            Event::Left => Some(Ended::Unprocessed(Status::new(Code::UNAVAILABLE, "the connection is draining"))),
            Event::Widened(increment) => {
                self.outstanding -= i64::from(increment);
                None
            }
            Event::Nothing => None,
        };
        // A window of any kind may have become wider.
        self.send(channel);
        ended
    }

    /// The connection is gone.
    pub(super) fn lost(mut self, status: Status) -> Ended {
        self.end(End::Broken(status))
    }

    /// `loopyWriter.processData`: what both windows leave room for.
    fn send(&mut self, channel: &mut Channel) {
        while self.sent < self.request.len() {
            let stream_window = i64::from(channel.peer.stream_window) - self.outstanding;
            let window = stream_window.min(channel.peer.window.into());
            let most = usize::try_from(window).unwrap_or(0).min(FRAME_BYTES_MAX);
            let piece = &self.request[self.sent..];
            let piece = &piece[..most.min(piece.len())];
            if piece.is_empty() {
                return;
            }
            self.sent += piece.len();
            self.outstanding += piece.len() as i64;
            channel.peer.window -= piece.len() as u32;
            http2::data(channel.transport.out(), self.id, piece, self.sent == self.request.len());
        }
    }

    fn headers(&mut self, fields: &[Field], is_truncated: bool, ends: bool) -> Option<Ended> {
        let is_begun = self.encoding.is_some();
        let wrong = |text: &str| Some(End::Broken(Status::internal(text)));
        let end = match (is_begun && !ends, is_truncated) {
            (true, _) => wrong("a HEADERS frame cannot appear in the middle of a stream"),
            (_, true) => wrong("peer header list size exceeded limit"),
            _ => match head::read(fields, is_begun, ends) {
                Head::Interim => None,
                Head::Begun { encoding } => {
                    self.encoding = Some(encoding);
                    return self.read();
                }
                Head::Ended(status) => Some(End::Whole(status)),
                Head::Wrong(status) => Some(End::Broken(status)),
            },
        };
        end.map(|end| self.end(end))
    }

    fn data(&mut self, channel: &mut Channel, data: &[u8], padding: usize, ends: bool) -> Option<Ended> {
        self.received += data.len() + padding;
        self.messages.push(data);
        if self.encoding.is_none() {
            if self.received > WINDOW_BYTES as usize {
                let received = self.received;
                let text = format!("received {received}-bytes data exceeding the limit {WINDOW_BYTES} bytes");
                return Some(self.end(End::Whole(Status::internal(text))));
            }
        } else if let Some(ended) = self.read() {
            return Some(ended);
        } else if self.received >= WINDOW_BYTES as usize / 4 {
            http2::window_update(channel.transport.out(), self.id, self.received as u32);
            self.received = 0;
        }
        ends.then(|| self.end(End::Whole(Status::internal("server closed the stream without sending trailers"))))
    }

    /// Reads what came of the messages; what is wrong with them ends the call.
    fn read(&mut self) -> Option<Ended> {
        let read = self.messages.read(self.encoding.as_deref().unwrap_or_default());
        read.err().map(|status| Ended::Answered(Err(status)))
    }

    fn end(&mut self, end: End) -> Ended {
        if let Some(ended) = self.read() {
            return ended;
        }
        Ended::Answered(match end {
            End::Whole(status) => std::mem::take(&mut self.messages).end(status),
            End::Broken(status) => Err(status),
        })
    }
}
