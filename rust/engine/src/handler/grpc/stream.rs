//! The stream of a call: how much of the request is sent, and what has come of the response.

use probelet_core::semantics::GrpcGo;
use probelet_golang::http2::{self, FRAME_BYTES_MAX, FieldList};
use probelet_golang::text::quote;

use super::channel::{Channel, Event, WINDOW_BYTES};
use super::head::{self, Head, Values};
use super::health::Health;
use super::messages::Messages;
use super::status::{Code, Status};

/// How a call ended.
#[derive(Debug)]
pub(super) enum CallEnd {
    Answered(Result<Health, Status>),
    /// The server did not process the call.
    Unprocessed(Status),
    /// The connection ended before the call began.
    Unopened,
}

/// An open stream.
#[derive(Debug)]
pub(super) struct Stream {
    id: u32,
    request: Vec<u8>,
    sent: usize,
    /// How many bytes were sent that the server has not widened the stream's window for again.
    outstanding: i64,
    /// How the messages are encoded; None before the response's head has come. Until then no message is read.
    encoding: Option<Vec<u8>>,
    messages: Messages,
    /// How many bytes came that the stream's window was not widened for again.
    received: usize,
    grpc_go: GrpcGo,
    /// The error about a response that is not gRPC, and the beginning of its body.
    other: Option<(Status, Vec<u8>)>,
}

/// How a stream ends, seen by its reader after everything that came before the end.
enum End {
    /// The stream ended properly, with a status.
    Whole(Status),
    /// The stream ended with an error.
    Broken(Status),
}

impl Stream {
    /// Opens a stream and sends as much of the request as the windows allow.
    pub(super) fn open(channel: &mut Channel, fields: &[u8], request: Vec<u8>, grpc_go: GrpcGo) -> Self {
        let mut stream = Self {
            id: channel.begin(fields),
            request,
            sent: 0,
            outstanding: 0,
            encoding: None,
            messages: Messages::of(grpc_go),
            received: 0,
            grpc_go,
            other: None,
        };
        stream.send(channel);
        stream
    }

    pub(super) const fn id(&self) -> u32 {
        self.id
    }

    /// Handles a frame's event; returns how the call ended, or None while it continues.
    pub(super) async fn take(&mut self, channel: &mut Channel, event: Event) -> Option<CallEnd> {
        let ended = match event {
            Event::Headers { list, ends } => self.headers(list, ends).await,
            Event::Data { data, padding, ends } => self.data(channel, &data, padding, ends).await,
            Event::Reset(code) => {
                let text = format!("stream terminated by RST_STREAM with error code: {code}");
                let status = Status::new(Code::of_reset(code), text);
                let is_refused = code == http2::Code::REFUSED_STREAM;
                Some(if is_refused { CallEnd::Unprocessed(status) } else { self.end(End::Broken(status)).await })
            }
            Event::Malformed { code, why } => {
                let why = if why.is_empty() { "received invalid frame".to_owned() } else { why };
                Some(self.end(End::Broken(Status::new(Code::of_reset(code), why))).await)
            }
            Event::Left => Some(CallEnd::Unprocessed(Status::new(Code::UNAVAILABLE, "the connection is draining"))),
            Event::Widened(increment) => {
                self.outstanding -= i64::from(increment);
                None
            }
            Event::Nothing => None,
        };
        // Any of the windows may have become wider.
        self.send(channel);
        ended
    }

    /// Ends the call, because the connection is gone.
    pub(super) async fn lost(mut self, status: Status) -> CallEnd {
        self.end(End::Broken(status)).await
    }

    /// Sends as much of the request as both windows allow (`loopyWriter.processData`).
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

    async fn headers(&mut self, list: FieldList<Values>, ends: bool) -> Option<CallEnd> {
        let is_begun = self.encoding.is_some();
        let wrong = |text: &str| Some(End::Broken(Status::internal(text)));
        let end = match (is_begun && !ends, list.is_truncated) {
            (true, _) => wrong("a HEADERS frame cannot appear in the middle of a stream"),
            (_, true) => wrong("peer header list size exceeded limit"),
            _ if self.other.is_some() => ends.then(|| self.end_of_other()).flatten().map(End::Broken),
            _ => match head::read(list.fields, is_begun, ends, self.grpc_go) {
                Head::Interim => None,
                Head::Begun { encoding } => {
                    self.encoding = Some(encoding);
                    return self.read().await;
                }
                Head::CallEnd(status) => Some(End::Whole(status)),
                Head::Other(status) if self.grpc_go.shows_other_bodies() && !ends => {
                    self.other = Some((status, Vec::new()));
                    None
                }
                Head::Wrong(status) | Head::Other(status) => Some(End::Broken(status)),
            },
        };
        match end {
            Some(end) => Some(self.end(end).await),
            None => None,
        }
    }

    /// Widens the stream's window again once a quarter of it has come.
    fn widen(&mut self, channel: &mut Channel) {
        if self.received >= WINDOW_BYTES as usize / 4 {
            http2::window_update(channel.transport.answer(), self.id, self.received as u32);
            self.received = 0;
        }
    }

    /// The end of a response that is not gRPC (`finalizeNonGRPCStatus`).
    fn end_of_other(&mut self) -> Option<Status> {
        let (status, body) = self.other.take()?;
        Some(Status {
            message: [&status.message[..], format!("\ndata: {}", quote(&body)).as_bytes()].concat(),
            ..status
        })
    }

    /// Handles DATA of a response that is not gRPC (`handleNonGRPCData`). Of its body the error shows the beginning. An empty
    /// frame at the end is a missing trailer, as for a gRPC response.
    async fn other_data(&mut self, channel: &mut Channel, data: &[u8], padding: usize, ends: bool) -> Option<CallEnd> {
        self.received += data.len() + padding;
        let (_, body) = self.other.as_mut()?;
        body.extend_from_slice(&data[..data.len().min(OTHER_BYTES_MAX - body.len())]);
        let is_over = body.len() >= OTHER_BYTES_MAX || ends;
        if is_over && !(data.is_empty() && padding == 0) {
            let status = self.end_of_other()?;
            return Some(self.end(End::Broken(status)).await);
        }
        self.widen(channel);
        if ends { Some(self.end(End::Whole(Status::internal(NO_TRAILERS))).await) } else { None }
    }

    async fn data(&mut self, channel: &mut Channel, data: &[u8], padding: usize, ends: bool) -> Option<CallEnd> {
        if self.other.is_some() {
            return self.other_data(channel, data, padding, ends).await;
        }
        self.received += data.len() + padding;
        self.messages.push(data);
        if self.encoding.is_none() {
            if self.received > WINDOW_BYTES as usize {
                let received = self.received;
                let text = format!("received {received}-bytes data exceeding the limit {WINDOW_BYTES} bytes");
                return Some(self.end(End::Whole(Status::internal(text))).await);
            }
        } else if let Some(ended) = self.read().await {
            return Some(ended);
        } else {
            self.widen(channel);
        }
        if !ends {
            return None;
        }
        Some(self.end(End::Whole(Status::internal(NO_TRAILERS))).await)
    }

    /// Reads the complete messages; an error in them ends the call.
    async fn read(&mut self) -> Option<CallEnd> {
        let read = self.messages.read(self.encoding.as_deref().unwrap_or_default()).await;
        read.err().map(|status| CallEnd::Answered(Err(status)))
    }

    async fn end(&mut self, end: End) -> CallEnd {
        if let Some(ended) = self.read().await {
            return ended;
        }
        CallEnd::Answered(match end {
            End::Whole(status) => std::mem::take(&mut self.messages).end(status),
            End::Broken(status) => Err(status),
        })
    }
}

const NO_TRAILERS: &str = "server closed the stream without sending trailers";
/// What is kept of the body of a response that is not gRPC (`nonGRPCDataMaxLen`).
const OTHER_BYTES_MAX: usize = 1024;
