//! Resolves host names with the answers of Go's resolver. Only a look-up's thread calls the machine's resolver and
//! reads `/etc/resolv.conf`, never the engine's thread, because either may hang.

use std::fs;
use std::io;
use std::net::ToSocketAddrs;
use std::sync::{Arc, LazyLock};

use super::descriptors::are_left;
use super::host::{is_domain_name, is_numeric, is_onion};
use super::lookups::{Answer, Lookups, NoThread};

/// The addresses of a name, best first, with port 0; or Go's text, as it stands behind `dial tcp: `. `pod` is the UID
/// of the pod whose probe asks, if there is one.
///
/// # Errors
/// The prober has no thread to ask on, or no descriptor to ask with.
pub(crate) async fn lookup(pod: Option<&str>, name: &str) -> Result<Answer, NoThread> {
    if !is_domain_name(name) || name == "." {
        return Ok(Err(format!("lookup {name}: no such host")));
    }
    if is_onion(name) {
        return Ok(Err(format!("address {name}: no suitable address found")));
    }
    let answer = LOOKUPS.ask(pod, name).await?;
    // The C library has no error of its own for a lack of descriptors: the name looks unknown, or the server silent.
    if answer.is_err() && !are_left(DESCRIPTORS) {
        return Err(NoThread("too many open files".to_owned()));
    }
    Ok(answer)
}

/// Asks the machine's resolver, and blocks meanwhile.
fn resolve(name: &str) -> Answer {
    // Go asks its server for such a name, and the server does not know it. The C library would take it for an address.
    if is_numeric(name) {
        return Err(no_address(name, &io::Error::other(UNKNOWN), server().as_deref()));
    }
    match (name, 0).to_socket_addrs().map(Vec::from_iter) {
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

/// The server that Go asks first; Go's error for an unknown host names it.
fn server() -> Option<String> {
    let lines = fs::read_to_string("/etc/resolv.conf").ok()?;
    let server = lines.lines().find_map(|line| line.strip_prefix("nameserver")?.split_whitespace().next())?;
    Some(if server.contains(':') { format!("[{server}]") } else { server.to_owned() })
}

/// What a look-up opens at a time: a socket for each of two servers, a file of the C library, and our own.
const DESCRIPTORS: usize = 4;
// How glibc says that there is no such host.
const UNKNOWN: &str = "Name or service not known";
const NO_ADDRESS: &str = "No address associated with hostname";
#[cfg(not(test))]
static LOOKUPS: LazyLock<Arc<Lookups>> = LazyLock::new(|| Lookups::new(Box::new(resolve)));
#[cfg(test)]
static LOOKUPS: LazyLock<Arc<Lookups>> = LazyLock::new(|| Lookups::new(Box::new(tests::resolve_or_hang)));

#[cfg(test)]
mod tests {
    use super::*;

    /// In tests of this crate names under `hangs.test` have a resolver that never answers.
    pub(super) fn resolve_or_hang(name: &str) -> Answer {
        while name.ends_with(".hangs.test") {
            std::thread::park();
        }
        resolve(name)
    }

    fn looked_up(name: &str) -> Answer {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(lookup(None, name)).expect("a thread")
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
