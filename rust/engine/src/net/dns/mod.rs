//! From a host's name to its addresses, with the answers of Go's resolver (package net, Go 1.26).
//!
//! Like Go, the engine reads the machine's files and asks the servers itself wherever it understands nsswitch.conf, over
//! sockets of its own reactor. It leaves other names to the C library, on threads.

mod address_order;
mod answer;
mod c_library;
mod exchange;
mod hosts;
mod lookups;
mod message;
mod nsswitch;
mod query;
mod resolv_conf;
mod system;

use tokio::time::{Instant, timeout_at};

pub(crate) use self::answer::{Answer, ProberError};
use self::nsswitch::Order;
use self::query::query;
use self::system::{FILES, System};
use super::host::{is_domain_name, is_onion};

/// Looks a name up until `deadline`. `pod` is the UID of the pod whose probe asks, if there is one.
///
/// # Errors
/// The prober could not ask.
pub(crate) async fn lookup(pod: Option<&str>, name: &str, deadline: Option<Instant>) -> Result<Answer, ProberError> {
    let late = || Ok(Err(format!("lookup {name}: i/o timeout")));
    let system = or_late(deadline, FILES.get()).await;
    let system =
        system.ok_or_else(|| ProberError("the machine's files about names cannot be read in time".into()))??;
    or_late(deadline, lookup_with(&system, pod, name)).await.unwrap_or_else(late)
}

async fn or_late<T>(deadline: Option<Instant>, work: impl Future<Output = T>) -> Option<T> {
    match deadline {
        Some(deadline) => timeout_at(deadline, work).await.ok(),
        None => Some(work.await),
    }
}

async fn lookup_with(system: &System, pod: Option<&str>, name: &str) -> Result<Answer, ProberError> {
    let order = system.order(name);
    let no_such_host = || Ok(Err(format!("lookup {name}: no such host")));
    if matches!(order, Order::FilesDns | Order::Files) {
        let addresses = system.hosts.addresses(name);
        if !addresses.is_empty() {
            return Ok(Ok(address_order::sort(addresses)));
        }
        if order == Order::Files {
            return no_such_host();
        }
    }
    if !is_domain_name(name) || name == "." {
        return no_such_host();
    }
    let mut answer = match order {
        Order::CLibrary if is_onion(name) => Ok(Vec::new()),
        Order::CLibrary => c_library::ask(pod, name).await?,
        _ => query(&system.conf, name).await?,
    };
    if order == Order::DnsFiles && answer.as_ref().map_or(true, Vec::is_empty) {
        let addresses = system.hosts.addresses(name);
        if !addresses.is_empty() {
            answer = Ok(address_order::sort(addresses));
        }
    }
    Ok(answer.and_then(|addresses| match addresses.is_empty() {
        true => Err(format!("address {name}: no suitable address found")),
        false => Ok(addresses),
    }))
}

#[cfg(test)]
mod tests;
