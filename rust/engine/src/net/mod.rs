//! Sockets and their limits: connecting, resolving, TLS, and how long and how much may be read. Knows no probe and no
//! HTTP.

pub(crate) mod async_fd;
pub(crate) mod connect;
mod deadlines;
pub(crate) mod descriptors;
pub(crate) mod dial;
mod dns;
pub(crate) mod host;
pub(crate) mod namespace;
pub(crate) mod poller;
pub(crate) mod read_budget;
#[cfg(test)]
pub(crate) mod refusing_port;
pub(crate) mod retry_delay;
pub(crate) mod stream;
pub(crate) mod tls;
