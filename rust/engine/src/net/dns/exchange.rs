//! One question to one server: a datagram each way, or a TCP connection if the answer is too long for one
//! (`net.Resolver.exchange`, Go 1.26).

use std::io;
use std::net::SocketAddr;

use probelet_golang::text::{self, Network};
use probelet_play::cause::Cause;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UdpSocket;
use tokio::time::{Instant, timeout_at};

use super::message::{Answer, DATAGRAM_BYTES_MAX, Kind, NotAnAnswer, Question, UNREADABLE};
use super::resolv_conf::{ResolvConf, Server};
use crate::net::connect::{cause_of, connect, failed};
use crate::net::descriptors::below_reserve;

/// Why a server has not answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ExchangeError {
    /// Go's text. Another server may answer.
    Unanswered(String),
    /// This machine has run out of a resource.
    Starved(String),
}

impl ExchangeError {
    fn of_system(number: i32, text: String) -> Self {
        // A datagram socket gets EAGAIN for lack of a port, and EADDRNOTAVAIL if no interface could be the source.
        let is_starved = cause_of(number) == Cause::Starved && number != libc::EADDRNOTAVAIL;
        if is_starved { Self::Starved(text) } else { Self::Unanswered(text) }
    }
}

/// Asks `server` for the addresses of `name`, a full name.
pub(super) async fn exchange(
    conf: &ResolvConf,
    server: &Server,
    name: &str,
    kind: Kind,
) -> Result<Answer, ExchangeError> {
    let question = Question { id: random()?, name, kind, trusts_ad: conf.trusts_ad };
    let unanswered = |text: &str| ExchangeError::Unanswered(text.to_owned());
    let message = question.message().ok_or_else(|| unanswered("cannot marshal DNS message"))?;
    if !conf.is_tcp_only {
        let deadline = Instant::now() + conf.timeout;
        match over_udp(server.address, &question, &message, deadline).await? {
            answer if answer.is_truncated() => {}
            answer => return Ok(answer),
        }
    }
    let answer = over_tcp(server.address, &message, Instant::now() + conf.timeout).await?;
    question.answer(answer).map_err(|error| match error {
        NotAnAnswer::Unreadable => unanswered(UNREADABLE),
        NotAnAnswer::Foreign | NotAnAnswer::Several => unanswered(INVALID),
    })
}

/// Sends a datagram and waits for the answer. Ignores everything else, because it may be forged.
async fn over_udp(
    server: SocketAddr,
    question: &Question<'_>,
    message: &[u8],
    deadline: Instant,
) -> Result<Answer, ExchangeError> {
    let socket = connected(server)?;
    let local = socket.local_addr().ok();
    let failed = |call: &str, error: &io::Error| {
        let number = error.raw_os_error().unwrap_or(libc::EIO);
        ExchangeError::of_system(number, text::operation(Network::Udp, call, local, server, number))
    };
    socket.send(message).await.map_err(|error| failed("write", &error))?;
    let mut bytes = [0; DATAGRAM_BYTES_MAX];
    loop {
        let Ok(read) = timeout_at(deadline, socket.recv(&mut bytes)).await else {
            return Err(ExchangeError::Unanswered(text::timed_out(Network::Udp, "read", local, server)));
        };
        let length = read.map_err(|error| failed("read", &error))?;
        match question.answer(bytes[..length].to_vec()) {
            Ok(answer) => return Ok(answer),
            Err(NotAnAnswer::Several) => return Err(ExchangeError::Unanswered(INVALID.to_owned())),
            Err(NotAnAnswer::Unreadable | NotAnAnswer::Foreign) => {}
        }
    }
}

/// A socket that receives from `server` only.
fn connected(server: SocketAddr) -> Result<UdpSocket, ExchangeError> {
    let failed = |call: &str, error: &io::Error| {
        let number = error.raw_os_error().unwrap_or(libc::EIO);
        ExchangeError::of_system(number, format!("dial udp {server}: {call}: {}", text::errno(number)))
    };
    let socket = Socket::new(Domain::for_address(server), Type::DGRAM.nonblocking(), Some(Protocol::UDP))
        .and_then(below_reserve)
        .map_err(|error| failed("socket", &error))?;
    socket.connect(&server.into()).map_err(|error| failed("connect", &error))?;
    UdpSocket::from_std(socket.into()).map_err(|error| ExchangeError::Starved(error.to_string()))
}

/// Sends a message over TCP and returns the message that comes back.
async fn over_tcp(server: SocketAddr, message: &[u8], deadline: Instant) -> Result<Vec<u8>, ExchangeError> {
    let message = [&(message.len() as u16).to_be_bytes(), message].concat();
    let unanswered = |text: String| ExchangeError::Unanswered(text);
    let dialled = timeout_at(deadline, connect(server, &message)).await;
    let dialled = dialled.map_err(|_| unanswered(format!("dial tcp {server}: i/o timeout")))?;
    let dialled = dialled.map_err(|error| {
        let error = failed(&server.to_string(), &error);
        if error.is_prober_error() { ExchangeError::Starved(error.text) } else { unanswered(error.text) }
    })?;
    let written = dialled.written;
    let mut stream = dialled.stream().map_err(|error| ExchangeError::Starved(error.to_string()))?;
    let local = stream.local_addr().ok();
    let exchanged = timeout_at(deadline, async {
        stream.write_all(&message[written..]).await?;
        let mut length = [0; 2];
        stream.read_exact(&mut length).await?;
        let mut bytes = vec![0; u16::from_be_bytes(length).into()];
        stream.read_exact(&mut bytes).await?;
        Ok::<_, io::Error>(bytes)
    });
    match exchanged.await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => Err(unanswered("EOF".to_owned())),
        Ok(Err(error)) => {
            let number = error.raw_os_error().unwrap_or(libc::EIO);
            let text = text::operation(Network::Tcp, "read", local, server, number);
            Err(ExchangeError::of_system(number, text))
        }
        Err(_) => Err(unanswered(text::timed_out(Network::Tcp, "read", local, server))),
    }
}

/// A number that nobody can guess, so that nobody can forge an answer.
fn random() -> Result<u16, ExchangeError> {
    let mut bytes = [0; 2];
    // SAFETY: the pointer and the length are those of `bytes`.
    let count = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), libc::GRND_NONBLOCK) };
    if count == 2 { Ok(u16::from_ne_bytes(bytes)) } else { Err(ExchangeError::Starved("no random numbers".to_owned())) }
}

const INVALID: &str = "invalid DNS response";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_machine_lacks_is_the_probers_fault() {
        let of = |number| ExchangeError::of_system(number, "text".to_owned());
        for number in [libc::EMFILE, libc::ENFILE, libc::ENOBUFS, libc::ENOMEM, libc::EAGAIN] {
            assert_eq!(of(number), ExchangeError::Starved("text".to_owned()));
        }
        for number in [libc::ECONNREFUSED, libc::ENETUNREACH, libc::EADDRNOTAVAIL] {
            assert_eq!(of(number), ExchangeError::Unanswered("text".to_owned()));
        }
    }
}
