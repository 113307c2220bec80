//! What reads other people's bytes, without a connection, for fuzz targets.

pub use crate::handler::grpc::fuzzing::read_answer;
pub use crate::net::tls::fuzzing::{is_signed_by, parse_certificate};
