//! Host names: the machine's resolver, asked on threads of its own.

use std::fs;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::thread;

use tokio::sync::{Semaphore, oneshot};

use super::host::{is_domain_name, is_numeric, is_onion};

/// The addresses of a name, best first, with port 0.
///
/// # Errors
/// Go's text, as it stands behind `dial tcp: `.
pub(crate) async fn lookup(name: &str) -> Result<Vec<SocketAddr>, String> {
    if !is_domain_name(name) || name == "." {
        return Err(format!("lookup {name}: no such host"));
    }
    if is_onion(name) {
        return Err(format!("address {name}: no suitable address found"));
    }
    // Go asks for what looks like a number too, and is told that there is no such name; we would be given an address.
    if is_numeric(name) {
        return Err(no_address(name, &io::Error::other(UNKNOWN), server().as_deref()));
    }
    // The permit goes with the thread: a caller may give up, the resolver cannot be told to.
    let permit = LOOKUPS.acquire().await.expect("never closed");
    let (tell, told) = oneshot::channel();
    let asked = name.to_owned();
    let thread = thread::Builder::new().name("probelet-lookup".to_owned());
    let spawned = thread.spawn(move || {
        let _permit = permit;
        let _ = tell.send((asked.as_str(), 0).to_socket_addrs().map(Vec::from_iter));
    });
    let answer = match spawned {
        Ok(_) => told.await.expect("the thread answers before it ends"),
        Err(error) => Err(error),
    };
    match answer {
        Ok(addresses) if addresses.is_empty() => Err(format!("address {name}: no suitable address found")),
        Ok(addresses) => Ok(addresses),
        Err(error) => Err(no_address(name, &error, server().as_deref())),
    }
}

fn no_address(name: &str, error: &io::Error, server: Option<&str>) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
    match (text, server) {
        (UNKNOWN | NO_ADDRESS, Some(server)) => format!("lookup {name} on {server}:53: no such host"),
        (UNKNOWN | NO_ADDRESS, None) => format!("lookup {name}: no such host"),
        (other, _) => format!("lookup {name}: {other}"),
    }
}

/// The server that Go asks first, and names when it knows nothing of a host.
fn server() -> Option<String> {
    let lines = fs::read_to_string("/etc/resolv.conf").ok()?;
    let server = lines.lines().find_map(|line| line.strip_prefix("nameserver")?.split_whitespace().next())?;
    Some(if server.contains(':') { format!("[{server}]") } else { server.to_owned() })
}

// How glibc says that there is no such host.
const UNKNOWN: &str = "Name or service not known";
const NO_ADDRESS: &str = "No address associated with hostname";
/// Lookups at a time. Names in probes are rare; a resolver that hangs must not cost a thread per probe.
static LOOKUPS: Semaphore = Semaphore::const_new(32);

#[cfg(test)]
mod tests {
    use super::*;

    fn looked_up(name: &str) -> Result<Vec<SocketAddr>, String> {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(lookup(name))
    }

    #[test]
    fn the_machine_knows_itself() {
        let addresses = looked_up("localhost").unwrap();
        assert!(!addresses.is_empty() && addresses.iter().all(|address| address.ip().is_loopback()));
    }

    #[test]
    fn what_is_no_name_is_not_asked_for() {
        assert_eq!(looked_up("127.1").unwrap_err(), "lookup 127.1: no such host");
        assert_eq!(looked_up("a b").unwrap_err(), "lookup a b: no such host");
        assert_eq!(looked_up("nosuch.onion").unwrap_err(), "address nosuch.onion: no suitable address found");
    }

    #[test]
    fn the_resolvers_reasons() {
        let of = |text: &str, server| {
            no_address("a", &io::Error::other(format!("failed to lookup address information: {text}")), server)
        };
        assert_eq!(of("Name or service not known", None), "lookup a: no such host");
        assert_eq!(of("Name or service not known", Some("10.0.0.10")), "lookup a on 10.0.0.10:53: no such host");
        assert_eq!(of("Temporary failure in name resolution", None), "lookup a: Temporary failure in name resolution");
    }
}
