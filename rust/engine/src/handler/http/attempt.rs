//! An HTTP attempt in progress: its request, its stage, and its outcome when its time runs out.

use probelet_core::prober::Outcome;
use probelet_core::semantics::{Go, HandlerRules, XNet};
use probelet_core::spec::HttpGet;
use probelet_golang::http1::ResponseError;
use probelet_play::cause::Cause;
use tokio::time::Instant;

use super::request::Request;
use crate::attempt::report;
use crate::attempt::stopwatch::Stopwatch;
use crate::handler::asker::Asker;
use crate::handler::buffers::Buffers;
use crate::net::dial::Origin;

/// What an attempt is doing; this decides its outcome when its time runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Connect,
    Tls,
    Headers,
    Body,
}

/// One attempt in progress.
pub(super) struct HttpAttempt<'a> {
    pub(super) probe: Asked<'a>,
    /// The current request. None for a plain request that is only needed as bytes so far.
    pub(super) request: Option<Box<Request<'a>>>,
    pub(super) buffers: &'a mut Buffers,
    pub(super) stage: Stage,
    pub(super) watch: Stopwatch,
    pub(super) deadline: Option<Instant>,
}

/// Says what a probe asks for. An ordinary probe that goes well never asks.
pub(super) type Asked<'a> = &'a (dyn Fn() -> Probe<'a> + Sync);

/// What a probe asks for.
#[derive(Clone, Copy, Debug)]
pub(in crate::handler) struct Probe<'a> {
    pub(super) get: &'a HttpGet,
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) user_agent: &'a str,
    pub(super) go: Go,
    pub(super) x_net: XNet,
    pub(super) origin: Origin<'a>,
}

impl<'a> Probe<'a> {
    pub(in crate::handler) const fn of(
        get: &'a HttpGet,
        host: &'a str,
        port: u16,
        asker: Asker<'a>,
        origin: Origin<'a>,
    ) -> Self {
        let HandlerRules { go, x_net, .. } = asker.rules;
        Self { get, host, port, user_agent: asker.user_agent, go, x_net, origin }
    }
}

impl<'a> HttpAttempt<'a> {
    /// The current request; a plain one is built when it is first needed.
    pub(super) fn request(&mut self) -> &mut Request<'a> {
        self.request.get_or_insert_with(|| {
            let Probe { get, host, port, user_agent, go, .. } = (self.probe)();
            Box::new(Request::of_probe(get, host, port, user_agent, go).expect("a plain request can be built"))
        })
    }

    /// Ends the current stage, which gets the time since the last lap, and begins `stage`.
    pub(super) fn begin(&mut self, stage: Stage) {
        let ended = std::mem::replace(&mut self.stage, stage);
        self.watch.lap(|timings| match ended {
            Stage::Connect => &mut timings.connect,
            Stage::Tls => &mut timings.tls,
            Stage::Headers => &mut timings.headers,
            Stage::Body => &mut timings.body,
        });
    }

    pub(super) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// An error of the reader of HTTP/1, with the text that the kubelet's Go has for it.
    pub(super) fn in_its_go(&self, error: ResponseError) -> ResponseError {
        if (self.probe)().go.quotes_fields() { error } else { error.before_1_26() }
    }

    /// The outcome of an attempt whose time ran out.
    pub(super) fn late(&mut self) -> (Outcome, Cause) {
        let cause = match self.stage {
            Stage::Connect => Cause::ConnectTimeout,
            Stage::Tls => Cause::Tls,
            Stage::Headers => Cause::HeaderTimeout,
            Stage::Body => {
                let text = "context deadline exceeded (Client.Timeout or context cancellation while reading body)";
                return (report::error(true, text, Cause::Body), Cause::Body);
            }
        };
        (report::failure(self.request().failure_text(AWAITING_HEADERS)), cause)
    }
}

/// Of an attempt whose time ran out before the answer's headers. Go has four wordings, and a race decides which one
/// appears; this one says most.
pub(in crate::handler) const AWAITING_HEADERS: &str =
    "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
