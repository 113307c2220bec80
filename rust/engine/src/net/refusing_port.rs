//! A port that refuses connections, for tests.

use std::net::SocketAddr;

use socket2::{Domain, Socket, Type};

/// A port of 127.0.0.1 at which nobody listens. It is bound while this exists: the port of a listener that is gone might
/// belong to another test by now, or be the source of the connection itself.
#[derive(Debug)]
pub(crate) struct RefusingPort(Socket);

impl RefusingPort {
    pub(crate) fn bind() -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        Self(socket)
    }

    pub(crate) fn number(&self) -> u16 {
        self.0.local_addr().unwrap().as_socket().unwrap().port()
    }
}
