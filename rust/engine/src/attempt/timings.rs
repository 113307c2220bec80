//! How long the parts of an attempt took.

use std::time::Duration;

use serde_json::{Map, Value};

/// How long each part of an attempt over a socket took; zero for a part that the attempt did not reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Resolving a host name.
    pub dns: Duration,
    /// The TCP handshake.
    pub connect: Duration,
    /// The TLS handshake.
    pub tls: Duration,
    /// From the request's first byte to the end of the response's head, redirects included.
    pub headers: Duration,
    /// The response's body.
    pub body: Duration,
}

impl Timings {
    /// An attempt that reached no part.
    pub const ZERO: Self = Self {
        dns: Duration::ZERO,
        connect: Duration::ZERO,
        tls: Duration::ZERO,
        headers: Duration::ZERO,
        body: Duration::ZERO,
    };

    /// How long the parts took together.
    pub(crate) fn total(&self) -> Duration {
        self.dns + self.connect + self.tls + self.headers + self.body
    }

    /// The parts that the attempt reached, in milliseconds.
    pub fn to_json(&self) -> Value {
        let named = [
            ("dns", self.dns),
            ("connect", self.connect),
            ("tls", self.tls),
            ("headers", self.headers),
            ("body", self.body),
        ];
        let reached = named.into_iter().filter(|(_, length)| !length.is_zero());
        Value::Object(reached.map(|(name, length)| (name.to_owned(), millis(length).into())).collect::<Map<_, _>>())
    }
}

/// Milliseconds with microseconds behind the point: finer would be noise.
pub(crate) fn millis(length: Duration) -> f64 {
    length.as_micros() as f64 / 1_000.0
}
