//! Go's standard library as far as probes need it: what it reads and writes, one file per package. Everything here is
//! pure: no runtime, no probe.

pub(crate) mod base64;
pub(crate) mod escape;
pub(crate) mod gzip;
pub(crate) mod header;
pub(crate) mod netip;
mod printable;
pub(crate) mod punycode;
pub mod text;
pub(crate) mod url;
pub(crate) mod x509;
