//! Go as far as probes need it: what its standard library reads and writes, one file per package, and HTTP as its clients
//! read it. Everything here is pure: no runtime, no socket, no clock, no probe.

#![forbid(unsafe_code)]

pub mod base64;
pub mod escape;
pub mod gzip;
pub mod header;
pub mod http1;
pub mod http2;
pub mod netip;
mod printable;
pub mod punycode;
pub mod text;
pub mod url;
pub mod x509;
