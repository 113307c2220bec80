//! Any connection that HTTP/2 can be spoken on, with or without TLS.

use std::fmt::Debug;

use tokio::io::{AsyncRead, AsyncWrite};

/// Both directions of a connection.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Debug + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Debug + Send + Unpin> Duplex for S {}
