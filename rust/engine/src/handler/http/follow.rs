//! The requests of one attempt: it follows redirects as the kubelet does.

use std::net::SocketAddr;

use probelet_core::prober::Outcome;
use probelet_play::cause::Cause;

use super::attempt::{HttpAttempt, Stage};
use super::exchange::Response;
use super::redirect;
use crate::attempt::error::AttemptError;
use crate::attempt::report;

impl HttpAttempt<'_> {
    /// Sends requests until one gets its final answer. `plain` is the address of a plain first request that is already
    /// written.
    pub(super) async fn follow(&mut self, mut plain: Option<SocketAddr>) -> (Outcome, Cause) {
        let mut trail = None;
        loop {
            let answered = match plain.take() {
                Some(address) => self.exchange_plain(address).await,
                None => match self.request().refused() {
                    Some(text) => Err(AttemptError::new(Cause::Request, text)),
                    None => Box::pin(self.exchange()).await,
                },
            };
            let response = match answered {
                Ok(response) => response,
                Err(error) if self.is_late() && !error.is_prober_error() => return self.late(),
                Err(error) => return (error.outcome(self.request().failure_text(&error.text)), error.cause),
            };
            let status = self.status(&response);
            let Some(location) = self.location(&response) else { return self.finish(response, status).await };
            let go = (self.probe)().go;
            let trail = trail.get_or_insert_with(|| redirect::Trail::of(self.request(), go));
            match trail.next(self.request(), status, &location) {
                redirect::Next::Stay => return self.finish(response, status).await,
                redirect::Next::Failed(text) => return (report::failure(text), Cause::Redirect),
                redirect::Next::Follow { request, exceeded } => {
                    // If time runs out from here on, the text names the next request.
                    self.request = Some(request);
                    self.drain(response).await;
                    if let Some(text) = exceeded {
                        return (report::failure(text), Cause::Redirect);
                    }
                }
            }
        }
    }

    /// Reads the final response's body. An error within the body overrides the status.
    async fn finish(&mut self, response: Response, status: i64) -> (Outcome, Cause) {
        self.begin(Stage::Body);
        match self.body(response).await {
            Ok(()) => {}
            Err(error) if error.is_prober_error() => {
                return (report::error(false, error.text, error.cause), error.cause);
            }
            Err(error) => return (report::error(true, error.text, Cause::Body), Cause::Body),
        }
        match status {
            200..=299 => (Outcome::Success, Cause::Ok),
            300..=399 => {
                let output = [WARNING.as_bytes(), &self.buffers.body].concat();
                (Outcome::Warning { output: output.into() }, Cause::Redirect)
            }
            _ => (report::failure(format!("HTTP probe failed with statuscode: {status}")), Cause::Status),
        }
    }
}

/// The text before a redirect's body (kubelet pkg/probe/http/http.go:DoHTTPProbe, 1.36).
const WARNING: &str = "Probe terminated redirects, Response body: ";
