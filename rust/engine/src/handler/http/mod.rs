//! `httpGet` (kubelet pkg/probe/http/http.go:DoHTTPProbe, 1.36, on `http.Client` of Go 1.26).

mod connection;
mod exchange;
mod fast_path;
mod over_http2;
mod redirect;
mod request;

use std::net::SocketAddr;
use std::pin::pin;

use probelet_core::spec::HttpGet;
use tokio::time::Instant;

use self::request::Request;
use super::buffers::Scratch;
use crate::attempt::cause::Cause;
use crate::attempt::error::Fault;
use crate::attempt::report::{Report, Verdict};
use crate::attempt::stopwatch::Stopwatch;
pub(super) use crate::http1::reader::Reader;
use crate::net::timeout::within;

/// What an attempt is about when its time runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Connect,
    Tls,
    Headers,
    Body,
}

/// One attempt, on its way.
#[derive(Debug)]
struct Run<'a> {
    probe: Probe<'a>,
    /// The request that is on its way; none as long as nobody needs to know more of an ordinary one than its bytes.
    request: Option<Box<Request<'a>>>,
    scratch: &'a mut Scratch,
    stage: Stage,
    watch: Stopwatch,
    deadline: Option<Instant>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
struct Probe<'a> {
    get: &'a HttpGet,
    host: &'a str,
    port: u16,
    user_agent: &'a str,
}

/// Carries out a probe. The body stays in the scratch.
pub(super) async fn probe(
    get: &HttpGet,
    host: &str,
    port: u16,
    user_agent: &str,
    deadline: Option<Instant>,
    scratch: &mut Scratch,
) -> Report {
    let probe = Probe { get, host, port, user_agent };
    let plain = fast_path::write(get, host, port, user_agent, &mut scratch.request);
    let request = match plain {
        Some(_) => None,
        None => match Request::of_probe(get, host, port, user_agent) {
            Ok(request) => Some(Box::new(request)),
            Err(text) => return Report::new(Verdict::Error { failure: false, text }, Cause::Request),
        },
    };
    let mut run = Run { probe, request, scratch, stage: Stage::Connect, watch: Stopwatch::start(), deadline };
    let ended = {
        let follow = pin!(run.follow(plain));
        match deadline {
            Some(deadline) => within(deadline, follow).await,
            None => Some(follow.await),
        }
    };
    let (verdict, cause) = ended.unwrap_or_else(|| run.late());
    run.begin(Stage::Connect);
    Report { verdict, cause, phases: run.watch.phases }
}

impl<'a> Run<'a> {
    /// Sends requests until one is answered for good; a plain one is written already.
    async fn follow(&mut self, mut plain: Option<SocketAddr>) -> (Verdict, Cause) {
        let mut trail = None;
        loop {
            let answered = match plain.take() {
                Some(address) => self.exchange_plain(address).await,
                None => match self.request().refused() {
                    Some(text) => Err(Fault::new(Cause::Request, text)),
                    None => Box::pin(self.exchange()).await,
                },
            };
            let response = match answered {
                Ok(response) => response,
                Err(_) if self.is_late() => return self.late(),
                Err(Fault { text, cause }) => return (Verdict::Failure(self.request().told(&text).into()), cause),
            };
            let status = self.status(&response);
            let Some(location) = self.location(&response) else { return self.finish(response, status).await };
            let trail = trail.get_or_insert_with(|| redirect::Trail::of(self.request()));
            match trail.next(self.request(), status, &location) {
                redirect::Next::Stay => return self.finish(response, status).await,
                redirect::Next::Failed(text) => return (Verdict::Failure(text.into()), Cause::Redirect),
                redirect::Next::Follow { request, exceeded } => {
                    // From here on it is the next request that is late.
                    self.request = Some(request);
                    self.drain(response).await;
                    if let Some(text) = exceeded {
                        return (Verdict::Failure(text.into()), Cause::Redirect);
                    }
                }
            }
        }
    }

    /// The request that is on its way.
    fn request(&mut self) -> &mut Request<'a> {
        let Probe { get, host, port, user_agent } = self.probe;
        self.request.get_or_insert_with(|| {
            Box::new(Request::of_probe(get, host, port, user_agent).expect("an ordinary one can be built"))
        })
    }

    /// Reads the final response's body. An error in it wins over the status.
    async fn finish(&mut self, response: exchange::Response, status: i64) -> (Verdict, Cause) {
        self.begin(Stage::Body);
        if let Err(text) = self.body(response).await {
            return (Verdict::Error { failure: true, text }, Cause::Body);
        }
        match status {
            200..=299 => (Verdict::Success, Cause::Ok),
            300..=399 => (Verdict::Warning, Cause::Redirect),
            _ => (Verdict::Failure(format!("HTTP probe failed with statuscode: {status}").into()), Cause::Status),
        }
    }

    /// The time since the last lap belongs to what is going on, and something else begins.
    fn begin(&mut self, stage: Stage) {
        let ended = std::mem::replace(&mut self.stage, stage);
        self.watch.lap(|phases| match ended {
            Stage::Connect => &mut phases.connect,
            Stage::Tls => &mut phases.tls,
            Stage::Headers => &mut phases.headers,
            Stage::Body => &mut phases.body,
        });
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// What an attempt says whose time ran out. Go has four wordings for it, which one is a race; this one says most.
    fn late(&mut self) -> (Verdict, Cause) {
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
