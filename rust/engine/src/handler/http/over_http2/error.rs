//! Why a request over HTTP/2 has no response.

use crate::attempt::error::AttemptError;

/// Why there is no response.
#[derive(Debug)]
pub(crate) enum ExchangeError {
    Failed(AttemptError),
    /// The server did not process the request, so it is sent again on another connection.
    Retry,
}
