//! The messages between probelet and this program: one per packet, little-endian.

pub(crate) mod answer;
pub(crate) mod reader;
pub(crate) mod request;
