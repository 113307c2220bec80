//! An attempt over HTTP on its way: its request, what it is at, and what it says when its time runs out.

use probelet_core::spec::HttpGet;
use tokio::time::Instant;

use super::request::Request;
use crate::attempt::cause::Cause;
use crate::attempt::report::Verdict;
use crate::attempt::stopwatch::Stopwatch;
use crate::handler::buffers::Buffers;

/// What an attempt is about when its time runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Connect,
    Tls,
    Headers,
    Body,
}

/// One attempt, on its way.
#[derive(Debug)]
pub(super) struct HttpAttempt<'a> {
    pub(super) probe: Probe<'a>,
    /// The request that is on its way; none as long as nobody needs to know more of an ordinary one than its bytes.
    pub(super) request: Option<Box<Request<'a>>>,
    pub(super) buffers: &'a mut Buffers,
    pub(super) stage: Stage,
    pub(super) watch: Stopwatch,
    pub(super) deadline: Option<Instant>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe<'a> {
    pub(super) get: &'a HttpGet,
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) user_agent: &'a str,
}

impl<'a> HttpAttempt<'a> {
    /// The request that is on its way.
    pub(super) fn request(&mut self) -> &mut Request<'a> {
        let Probe { get, host, port, user_agent } = self.probe;
        self.request.get_or_insert_with(|| {
            Box::new(Request::of_probe(get, host, port, user_agent).expect("an ordinary one can be built"))
        })
    }

    /// The time since the last lap belongs to what is going on, and something else begins.
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

    /// What an attempt says whose time ran out. Go has four wordings for it, which one is a race; this one says most.
    pub(super) fn late(&mut self) -> (Verdict, Cause) {
        let cause = match self.stage {
            Stage::Connect => Cause::ConnectTimeout,
            Stage::Tls => Cause::Tls,
            Stage::Headers => Cause::HeaderTimeout,
            Stage::Body => {
                let text = "context deadline exceeded (Client.Timeout or context cancellation while reading body)";
                return (Verdict::Error { failure: true, text: text.to_owned() }, Cause::Body);
            }
        };
        let text = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
        (Verdict::Failure(self.request().told(text).into()), cause)
    }
}
