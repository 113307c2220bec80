//! Which redirects are followed, and with what (kubelet pkg/probe/http/http.go:RedirectChecker, 1.36; `http.Client.do`).

use super::request::{Request, told};
use crate::golang::header::Headers;
use crate::golang::text::quote;
use crate::golang::url::Url;

/// What is remembered from one request to the next.
#[derive(Debug)]
pub(super) struct Trail<'a> {
    /// The first request's host: a redirect to another is not followed.
    host_name: Vec<u8>,
    /// The first request's fields; each request starts from them.
    headers: Headers<'a>,
    /// Requests answered so far.
    answered: usize,
    /// Whether a redirect made the method a plain GET, which loses what describes a body.
    is_bodiless: bool,
}

/// What follows a response.
#[derive(Debug)]
pub(super) enum Next<'a> {
    /// Nothing: it is the final one.
    Stay,
    /// The redirect cannot be followed.
    Failed(String),
    /// Another request, or the error that there were too many, once the response's body has been looked at.
    Follow { request: Box<Request<'a>>, exceeded: Option<String> },
}

impl<'a> Trail<'a> {
    pub(super) fn of(request: &Request<'a>) -> Self {
        let host_name = request.url.host_name().to_vec();
        Self { host_name, headers: request.headers.clone(), answered: 0, is_bodiless: false }
    }

    pub(super) fn next(&mut self, last: &Request<'a>, status: i64, location: &[u8]) -> Next<'a> {
        self.answered += 1;
        match status {
            301..=303 => self.is_bodiless = true,
            307 | 308 => {}
            _ => return Next::Stay,
        }
        if location.len() > LOCATION_BYTES_MAX {
            return Next::Failed(last.told(&format!("Location header longer than {LOCATION_BYTES_MAX} bytes")));
        }
        let reference = match Url::parse(location) {
            Ok(reference) => reference,
            Err(error) => {
                return Next::Failed(
                    last.told(&format!("failed to parse Location header {}: {error}", quote(location))),
                );
            }
        };
        // The probe's own Host line survives only a redirect that does not name a host.
        let keeps_host = !last.host.is_empty() && last.host != last.url.host && !reference.is_absolute();
        let host = if keeps_host { last.host.clone() } else { Vec::new() };
        let url = last.url.resolve(reference);
        if url.host_name() != self.host_name {
            return Next::Stay;
        }
        let headers = self.headers_for(last, &url);
        let exceeded = self.answered >= REDIRECTS_MAX;
        let exceeded = exceeded.then(|| told(location, &format!("stopped after {REDIRECTS_MAX} redirects")));
        Next::Follow { request: Box::new(Request { url, host, headers }), exceeded }
    }

    fn headers_for(&self, last: &Request<'a>, url: &Url) -> Headers<'a> {
        let mut headers = self.headers.clone();
        if self.is_bodiless {
            DESCRIBE_A_BODY.iter().for_each(|name| headers.remove(name));
        }
        // A Referer of the probe's own stays, but of several only the first (net/http client.go:refererForURL).
        let leaves_tls = last.url.scheme == b"https" && url.scheme == b"http";
        if !leaves_tls {
            let own = headers.first("Referer").to_vec();
            headers.set("Referer", if own.is_empty() { last.url.text_without_user() } else { own });
        }
        headers
    }
}

/// The requests of one attempt; the kubelet's texts call them redirects.
const REDIRECTS_MAX: usize = 10;
/// The kubelet would follow a target of any length, and so ask, resolve and quote megabytes ten times over. Servers take
/// request lines of 8 KiB, few of more.
const LOCATION_BYTES_MAX: usize = 8_192;
const DESCRIBE_A_BODY: [&str; 4] = ["Content-Encoding", "Content-Language", "Content-Location", "Content-Type"];
