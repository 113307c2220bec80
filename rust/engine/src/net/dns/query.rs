//! The addresses of a name from its servers, by Go's rules (`net.goLookupIPCNAMEOrder` and `tryOneName`, Go 1.26).
//!
//! The questions go over sockets of the engine's own reactor. So a name that never resolves costs two descriptors until
//! its attempt's time is over, as a target that never answers costs one, and neither costs a thread.

use std::net::{IpAddr, SocketAddr};

use super::address_order::sort;
use super::answer::{Answer, ProberError};
use super::exchange::{ExchangeError, exchange};
use super::message::{Found, Kind, UNREADABLE};
use super::resolv_conf::ResolvConf;

/// What one name brought.
#[derive(Debug)]
struct Outcome {
    addresses: Vec<IpAddr>,
    /// Go's text behind the name: the server and what is wrong.
    error: Option<String>,
}

/// Asks the servers for the addresses of a name; none of an `.onion` name, which nobody may be asked for.
pub(super) async fn query(conf: &ResolvConf, name: &str) -> Result<Answer, ProberError> {
    let mut error = None;
    let original = format!("{}.", name.strip_suffix('.').unwrap_or(name));
    for full in conf.full_names(name) {
        let [first, second] = both(conf, &full).await?;
        for outcome in [&first, &second] {
            // Go prefers the error of the name as it was given.
            if outcome.error.is_some() && (error.is_none() || full == original) {
                error.clone_from(&outcome.error);
            }
        }
        let addresses = [first.addresses, second.addresses].concat();
        if !addresses.is_empty() {
            let addresses = addresses.into_iter().map(|address| SocketAddr::new(address, 0)).collect();
            return Ok(Ok(sort(addresses)));
        }
    }
    Ok(match error {
        Some(error) => Err(format!("lookup {name}{error}")),
        None => Ok(Vec::new()),
    })
}

/// Asks for both kinds of addresses, together unless the configuration forbids it.
async fn both(conf: &ResolvConf, full: &str) -> Result<[Outcome; 2], ProberError> {
    let (first, second) = (of_kind(conf, full, Kind::A), of_kind(conf, full, Kind::Aaaa));
    if conf.is_one_by_one {
        return Ok([first.await?, second.await?]);
    }
    let (first, second) = tokio::try_join!(first, second)?;
    Ok([first, second])
}

/// Asks one server after the other until one gives a useful answer (`net.tryOneName`).
async fn of_kind(conf: &ResolvConf, full: &str, kind: Kind) -> Result<Outcome, ProberError> {
    let servers: Vec<_> = conf.servers().collect();
    let mut last = None;
    for _ in 0..conf.attempts {
        for server in &servers {
            let at = |text: &str| Some(format!(" on {}: {text}", server.shown));
            let found = match exchange(conf, server, full, kind).await {
                Ok(answer) => answer.addresses(kind),
                Err(ExchangeError::Starved(text)) => return Err(ProberError(text)),
                Err(ExchangeError::Unanswered(text)) => {
                    last = at(&text);
                    continue;
                }
            };
            match found {
                Found::Addresses(addresses, false) => return Ok(Outcome { addresses, error: None }),
                Found::Addresses(addresses, true) => return Ok(Outcome { addresses, error: at(UNREADABLE) }),
                Found::NoSuchHost => return Ok(Outcome { addresses: Vec::new(), error: at("no such host") }),
                Found::Useless(why) => last = at(why),
            }
        }
    }
    Ok(Outcome { addresses: Vec::new(), error: last })
}
