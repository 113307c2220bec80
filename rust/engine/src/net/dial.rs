//! Connects to an address, or to one of the addresses of a name, as the kubelet's dialer does (`net.Dialer`, Go 1.26).

use std::borrow::Cow;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::pin::pin;
use std::time::Duration;

use probelet_golang::text::{host_of, join_host_port};
use probelet_play::cause::Cause;
use tokio::time::{Instant, sleep, timeout_at};

use super::connect::{Dialled, connect, failed, open, send_first};
use super::dns::{self, ProberError};
use super::host::Literal;
use super::namespace::Namespace;
use crate::attempt::error::AttemptError;
use crate::attempt::stopwatch::Stopwatch;

/// On whose behalf a connection is made, and where it begins.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin<'a> {
    /// The UID of the pod whose probe asks, if there is one: a pod has only so many look-ups at a time.
    pub(crate) pod: Option<&'a str>,
    /// The network namespace in which the connection begins, and ends; None for the one of this process.
    pub(crate) namespace: Option<&'a Namespace>,
}

/// Connects to a host, which may be an IP address, a name, or empty for this machine, and sends `first`.
///
/// The resolver is the node's, also for a connection that begins in a pod's namespace. The caller's own timer ends this; the deadline only divides the time among a name's addresses.
pub(crate) async fn dial(
    origin: Origin<'_>,
    host: &str,
    port: u16,
    first: &[u8],
    deadline: Option<Instant>,
    watch: &mut Stopwatch,
) -> Result<Dialled, AttemptError> {
    let (host, literal) = match Literal::parse(host) {
        Some(literal) => (Cow::Borrowed(host), Some(literal)),
        None => {
            let host = host_in_address(host, port)?;
            let literal = Literal::parse(if host.is_empty() { "0.0.0.0" } else { &host });
            (host, literal)
        }
    };
    if let Some(literal) = literal {
        let address = literal.target(port);
        return connect_from(origin, address, first).await.map_err(|error| {
            let shown = if host.is_empty() { format!(":{port}") } else { literal.shown(port) };
            failed(&shown, &error)
        });
    }
    // Boxed, because few attempts have a name, and the future of every attempt would be as large as this one.
    Box::pin(async {
        let mut addresses = addresses_of(origin.pod, &host, deadline).await?;
        watch.lap(|timings| &mut timings.dns);
        addresses.iter_mut().for_each(|address| address.set_port(port));
        let (primaries, fallbacks): (Vec<_>, Vec<_>) =
            addresses.iter().partition(|address| address.is_ipv4() == addresses[0].is_ipv4());
        race(origin, &primaries, &fallbacks, first, deadline).await
    })
    .await
}

/// Connects to an address and sends `first`; `ahead` is a connection to it that was asked for before, if there is one.
pub(crate) async fn dial_address(
    address: SocketAddr,
    first: &[u8],
    ahead: Option<io::Result<TcpStream>>,
) -> Result<Dialled, AttemptError> {
    let connected = match ahead.unwrap_or_else(|| open(address)) {
        Ok(stream) => send_first(stream, address, first).await,
        Err(error) => Err(error),
    };
    connected.map_err(|error| failed(&Literal::from(address).shown(address.port()), &error))
}

/// Connects and sends `first`.
async fn connect_from(origin: Origin<'_>, address: SocketAddr, first: &[u8]) -> io::Result<Dialled> {
    match origin.namespace {
        None => connect(address, first).await,
        Some(namespace) => send_first(namespace.connect(address).await?, address, first).await,
    }
}

/// The host as `net.Dial` finds it in the address that the kubelet writes: brackets of its own are not taken for a part
/// of it.
fn host_in_address(host: &str, port: u16) -> Result<Cow<'_, str>, AttemptError> {
    if !host.contains(['[', ']']) {
        return Ok(Cow::Borrowed(host));
    }
    let address = join_host_port(host, port);
    match host_of(&address) {
        Ok(host) => Ok(Cow::Owned(host.to_owned())),
        Err(why) => Err(AttemptError::new(Cause::Request, format!("dial tcp: address {address}: {why}"))),
    }
}

async fn addresses_of(
    pod: Option<&str>,
    host: &str,
    deadline: Option<Instant>,
) -> Result<Vec<SocketAddr>, AttemptError> {
    match dns::lookup(pod, host, deadline).await {
        Ok(answer) => answer.map_err(|text| AttemptError::new(Cause::Dns, format!("dial tcp: {text}"))),
        Err(ProberError(why)) => Err(AttemptError::of_prober(format!("dial tcp: lookup {host}: {why}"))),
    }
}

/// Races the two address families. The second family waits [`FALLBACK_DELAY`], unless the first fails before
/// (RFC 6555; `net.sysDialer.dialParallel`).
async fn race(
    origin: Origin<'_>,
    primaries: &[SocketAddr],
    fallbacks: &[SocketAddr],
    first: &[u8],
    deadline: Option<Instant>,
) -> Result<Dialled, AttemptError> {
    let mut primary = pin!(one_by_one(origin, primaries, first, deadline));
    if fallbacks.is_empty() {
        return primary.await;
    }
    let mut fallback = pin!(one_by_one(origin, fallbacks, first, deadline));
    tokio::select! {
        biased;
        done = &mut primary => {
            return match done {
                Ok(dialled) => Ok(dialled),
                Err(error) => fallback.await.map_err(|other| error.or_prober_error(other)),
            };
        }
        () = sleep(FALLBACK_DELAY) => {}
    }
    tokio::select! {
        biased;
        done = &mut primary => match done {
            Ok(dialled) => Ok(dialled),
            Err(error) => fallback.await.map_err(|other| error.or_prober_error(other)),
        },
        done = &mut fallback => match done {
            Ok(dialled) => Ok(dialled),
            Err(other) => primary.await.map_err(|error| error.or_prober_error(other)),
        },
    }
}

/// Tries one address after the other; returns the first error if all fail (`net.sysDialer.dialSerial`), or the
/// prober's own error if there is one.
async fn one_by_one(
    origin: Origin<'_>,
    addresses: &[SocketAddr],
    first: &[u8],
    deadline: Option<Instant>,
) -> Result<Dialled, AttemptError> {
    let mut told: Option<AttemptError> = None;
    for (index, &address) in addresses.iter().enumerate() {
        let shown = Literal::from(address).shown(address.port());
        let dialled = match deadline {
            Some(deadline) => {
                let partial = share(deadline, addresses.len() - index);
                timeout_at(partial, connect_from(origin, address, first)).await.map_err(|_| late(&shown))
            }
            None => Ok(connect_from(origin, address, first).await),
        };
        match dialled.and_then(|done| done.map_err(|error| failed(&shown, &error))) {
            Ok(dialled) => return Ok(dialled),
            Err(error) => {
                told = Some(match told {
                    Some(first) => first.or_prober_error(error),
                    None => error,
                });
            }
        }
    }
    Err(told.expect("a name has an address"))
}

/// The deadline of one address (`net.partialDeadline`).
fn share(deadline: Instant, addresses_left: usize) -> Instant {
    let now = Instant::now();
    let left = deadline.saturating_duration_since(now);
    let fair = left / u32::try_from(addresses_left).unwrap_or(u32::MAX);
    now + fair.max(ADDRESS_TIME_MIN.min(left))
}

/// The error of a host whose time was over before a connection was asked for, or before it was established.
pub(crate) fn late_for(host: &str, port: u16) -> AttemptError {
    let host = match host_in_address(host, port) {
        Ok(host) => host,
        Err(error) => return error,
    };
    match Literal::parse(&host) {
        Some(literal) => late(&literal.shown(port)),
        None if host.is_empty() => late(&format!(":{port}")),
        None => AttemptError::new(Cause::ConnectTimeout, format!("dial tcp: lookup {host}: i/o timeout")),
    }
}

/// The error of an address to which no connection was established in time.
fn late(shown: &str) -> AttemptError {
    AttemptError::new(Cause::ConnectTimeout, format!("dial tcp {shown}: i/o timeout"))
}

/// `net.Dialer.FallbackDelay`: the default.
const FALLBACK_DELAY: Duration = Duration::from_millis(300);
/// The shortest time for one address while that much is left (`net.partialDeadline`, saneMinimum).
const ADDRESS_TIME_MIN: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use std::net;

    use super::*;
    use crate::net::refusing_port::RefusingPort;

    fn run<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    #[test]
    fn the_first_bytes_go_on_a_connection_that_was_asked_for_ahead() {
        let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        for is_ahead in [false, true] {
            let ahead = is_ahead.then(|| open(address));
            let dialled = run(dial_address(address, b"abc", ahead)).map(|dialled| dialled.written);
            assert_eq!(dialled, Ok(3));
        }
    }

    async fn dialled(host: &str, port: u16) -> Result<usize, AttemptError> {
        dial(Origin::default(), host, port, b"abc", None, &mut Stopwatch::start()).await.map(|dialled| dialled.written)
    }

    #[test]
    fn the_first_bytes_go_with_the_connection() {
        let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        for host in ["127.0.0.1", "localhost", "", "0.0.0.0", "::ffff:127.0.0.1"] {
            assert_eq!(run(dialled(host, port)), Ok(3), "{host:?}");
        }
    }

    #[test]
    fn a_port_without_a_listener_refuses() {
        let refusing = RefusingPort::bind();
        let port = refusing.number();
        for (host, shown) in
            [("127.0.0.1", "127.0.0.1"), ("", ""), ("0.0.0.0", "0.0.0.0"), ("[127.0.0.1]", "127.0.0.1"), ("[]", "")]
        {
            let text = format!("dial tcp {shown}:{port}: connect: connection refused");
            assert_eq!(run(dialled(host, port)), Err(AttemptError::new(Cause::Refused, text)));
        }
    }

    #[test]
    fn a_host_that_makes_no_address_is_not_looked_up() {
        let text = "dial tcp: address [[::1]]:80: missing port in address";
        let wrong = AttemptError::new(Cause::Request, text);
        assert_eq!((run(dialled("[::1]", 80)), late_for("[::1]", 80)), (Err(wrong.clone()), wrong));
    }

    #[test]
    fn what_is_late_before_a_connection_is_asked_for() {
        let text = |host| late_for(host, 80).text;
        assert_eq!(text("web"), "dial tcp: lookup web: i/o timeout");
        assert_eq!(text("::1"), "dial tcp [::1]:80: i/o timeout");
        assert_eq!((text(""), text("[]")), ("dial tcp :80: i/o timeout".into(), "dial tcp :80: i/o timeout".into()));
    }

    #[test]
    fn each_address_has_its_share() {
        let deadline = Instant::now() + Duration::from_secs(10);
        let part = |left| share(deadline, left).duration_since(Instant::now()).as_secs_f64().round();
        assert_eq!([part(1), part(2), part(10)], [10.0, 5.0, 2.0]);
        assert_eq!(
            share(Instant::now() + Duration::from_secs(1), 2).duration_since(Instant::now()).as_secs_f64().round(),
            1.0
        );
    }
}
