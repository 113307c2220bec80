//! One target a file, named after the code that reads the bytes.

pub mod certificate;
pub mod expand;
pub mod grpc;
pub mod journal;
pub mod pod;
pub mod port;
pub mod prober;
pub mod reader;
pub mod recording;
pub mod status;
