//! Which redirects an attempt follows, and with which request (kubelet pkg/probe/http/http.go:RedirectChecker, 1.36;
//! `http.Client.do`).

use probelet_core::semantics::Go;
use probelet_golang::header::Headers;
use probelet_golang::text::quote;
use probelet_golang::url::Url;

use super::request::{Request, failure_text, hosts_of};

/// What one request passes on to the next.
#[derive(Debug)]
pub(super) struct Trail<'a> {
    /// The first request's host; a redirect to another host is not followed.
    host_name: Vec<u8>,
    /// The first request's header fields, from which each request starts.
    headers: Headers<'a>,
    /// How many requests were answered so far.
    answered: usize,
    /// Whether a redirect turned the method into a plain GET, which drops the fields that describe a body.
    is_bodiless: bool,
    go: Go,
}

/// What to do after a response.
#[derive(Debug)]
pub(super) enum Next<'a> {
    /// Nothing: the response is the final one.
    Stay,
    /// The redirect cannot be followed.
    Failed(String),
    /// Send another request, or fail because there were too many; either way the response's body is read first.
    Follow { request: Box<Request<'a>>, exceeded: Option<String> },
}

impl<'a> Trail<'a> {
    pub(super) fn of(request: &Request<'a>, go: Go) -> Self {
        let host_name = request.url.host_name().to_vec();
        Self { host_name, headers: request.headers.clone(), answered: 0, is_bodiless: false, go }
    }

    pub(super) fn next(&mut self, last: &Request<'a>, status: i64, location: &[u8]) -> Next<'a> {
        self.answered += 1;
        match status {
            301..=303 => self.is_bodiless = true,
            307 | 308 => {}
            _ => return Next::Stay,
        }
        if location.len() > LOCATION_BYTES_MAX {
            return Next::Failed(last.failure_text(&format!("Location header longer than {LOCATION_BYTES_MAX} bytes")));
        }
        let reference = match Url::parse_by(location, hosts_of(self.go)) {
            Ok(reference) => reference,
            Err(error) => {
                return Next::Failed(
                    last.failure_text(&format!("failed to parse Location header {}: {error}", quote(location))),
                );
            }
        };
        // The probe's own Host header survives only a redirect that names no host.
        let keeps_host = !last.host.is_empty() && last.host != last.url.host && !reference.is_absolute();
        let host = if keeps_host { last.host.clone() } else { Vec::new() };
        let url = last.url.resolve(reference);
        if url.host_name() != self.host_name {
            return Next::Stay;
        }
        let headers = self.headers_for(last, &url);
        let exceeded = self.answered >= REDIRECTS_MAX;
        let exceeded = exceeded.then(|| failure_text(location, &format!("stopped after {REDIRECTS_MAX} redirects")));
        Next::Follow { request: Box::new(Request { url, host, headers }), exceeded }
    }

    fn headers_for(&self, last: &Request<'a>, url: &Url) -> Headers<'a> {
        let mut headers = self.headers.clone();
        if self.is_bodiless {
            DESCRIBE_A_BODY.iter().for_each(|name| headers.remove(name));
        }
        // The probe's own Referer stays; of several only the first (net/http client.go:refererForURL).
        let leaves_tls = last.url.scheme == b"https" && url.scheme == b"http";
        if !leaves_tls {
            let own = headers.first("Referer").to_vec();
            headers.set("Referer", if own.is_empty() { last.url.text_without_user() } else { own });
        }
        headers
    }
}

/// How many requests an attempt makes; the kubelet's texts call them redirects.
const REDIRECTS_MAX: usize = 10;
/// The kubelet follows a target of any length, so it requests, resolves and quotes megabytes up to ten times. Servers
/// accept request lines of about 8 KiB.
const LOCATION_BYTES_MAX: usize = 8_192;
const DESCRIBE_A_BODY: [&str; 4] = ["Content-Encoding", "Content-Language", "Content-Location", "Content-Type"];
