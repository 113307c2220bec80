//! The C library's answers, for names that Go leaves to it. Only a look-up's thread calls it, because it may hang.

use std::io;
use std::net::ToSocketAddrs;
use std::sync::{Arc, LazyLock};

use super::answer::{Answer, ProberError};
use super::lookups::Lookups;
use crate::net::descriptors::are_left;
use crate::net::host::is_numeric;

/// The addresses of a name, best first, with port 0; or Go's text.
///
/// # Errors
/// The prober has no thread to ask on, or no descriptor to ask with.
pub(super) async fn ask(pod: Option<&str>, name: &str) -> Result<Answer, ProberError> {
    let answer = LOOKUPS.ask(pod, name).await?;
    // The C library has no error of its own for a lack of descriptors: the name looks unknown, or the server silent.
    if answer.is_err() && !are_left(DESCRIPTORS) {
        return Err(ProberError("too many open files".to_owned()));
    }
    Ok(answer)
}

/// Asks, and blocks meanwhile.
fn resolve(name: &str) -> Answer {
    // The C library would take such a name for an address.
    if is_numeric(name) {
        return Err(no_address(name, &io::Error::other(UNKNOWN)));
    }
    (name, 0).to_socket_addrs().map(Vec::from_iter).map_err(|error| no_address(name, &error))
}

fn no_address(name: &str, error: &io::Error) -> String {
    let text = error.to_string();
    match text.strip_prefix("failed to lookup address information: ").unwrap_or(&text) {
        UNKNOWN | NO_ADDRESS => format!("lookup {name}: no such host"),
        other => format!("lookup {name}: {other}"),
    }
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
pub(super) mod tests {
    use super::*;

    /// In tests of this crate the C library is asked for names under this one, and never answers.
    pub(in super::super) const HANGING: &str = ".hangs.test";

    pub(super) fn resolve_or_hang(name: &str) -> Answer {
        while name.ends_with(HANGING) {
            std::thread::park();
        }
        resolve(name)
    }

    #[test]
    fn the_machine_knows_itself() {
        let addresses = resolve("localhost").unwrap();
        assert!(!addresses.is_empty() && addresses.iter().all(|address| address.ip().is_loopback()));
        assert_eq!(resolve("0x7f.1").unwrap_err(), "lookup 0x7f.1: no such host");
    }

    #[test]
    fn the_resolvers_reasons() {
        let of =
            |text: &str| no_address("a", &io::Error::other(format!("failed to lookup address information: {text}")));
        assert_eq!(of("Name or service not known"), "lookup a: no such host");
        assert_eq!(of("Temporary failure in name resolution"), "lookup a: Temporary failure in name resolution");
    }
}
