//! What a look-up comes to.

use std::net::SocketAddr;

/// The addresses of a name, best first, with port 0; or Go's text, as it stands behind `dial tcp: `.
pub(crate) type Answer = Result<Vec<SocketAddr>, String>;

/// Why the prober could not look a name up, though the name may be fine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProberError(pub(crate) String);
