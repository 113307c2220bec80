//! What reads other people's bytes, without a connection, for fuzz targets.

pub use crate::handler::grpc::fuzzing::read_answer;
pub use crate::handler::http::fuzzing::{Response, read_response};
