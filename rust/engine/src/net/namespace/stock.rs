//! Sockets of one namespace that were made ahead.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::net::AddressFamily;

/// The family of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
}

impl Family {
    pub(super) const fn of(address: SocketAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }

    pub(super) const fn system(self) -> AddressFamily {
        match self {
            Self::V4 => AddressFamily::INET,
            Self::V6 => AddressFamily::INET6,
        }
    }
}

/// The sockets of each family, and whether more of them were asked for.
#[derive(Debug, Default)]
pub(super) struct Stock([(Vec<OwnedFd>, bool); 2]);

impl Stock {
    /// Takes a socket, if there is one. True if the caller must ask for more.
    pub(super) fn take(&mut self, family: Family) -> (Option<OwnedFd>, bool) {
        let (sockets, is_asked_for) = &mut self.0[family as usize];
        let socket = sockets.pop();
        // Without any, the attempt asks for its own, and the maker fills the stock after it.
        let is_low = socket.is_some() && sockets.len() <= LOW && !*is_asked_for;
        *is_asked_for |= is_low;
        (socket, is_low)
    }

    /// How many sockets are missing.
    pub(super) const fn missing(&self, family: Family) -> usize {
        FULL.saturating_sub(self.0[family as usize].0.len())
    }

    /// Adds what was made.
    pub(super) fn add(&mut self, family: Family, made: &mut Vec<OwnedFd>) {
        let (sockets, is_asked_for) = &mut self.0[family as usize];
        sockets.append(made);
        *is_asked_for = false;
    }
}

/// Enough for the probes of a pod that are due together, and for one crossing between threads in twelve attempts.
const FULL: usize = 16;
const LOW: usize = 4;

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn made(count: usize) -> Vec<OwnedFd> {
        (0..count).map(|_| File::open("/dev/null").unwrap().into()).collect()
    }

    #[test]
    fn more_is_asked_for_once_when_few_are_left() {
        let mut stock = Stock::default();
        assert!(matches!(stock.take(Family::V4), (None, false)), "the attempt asks for its own");
        stock.add(Family::V4, &mut made(stock.missing(Family::V4)));
        let asks = |stock: &mut Stock| stock.take(Family::V4).1;
        let asked: Vec<bool> = (0..FULL).map(|_| asks(&mut stock)).collect();
        assert_eq!(asked.iter().position(|&it| it), Some(FULL - LOW - 1));
        assert_eq!(asked.iter().filter(|&&it| it).count(), 1);
        assert_eq!((stock.missing(Family::V4), stock.missing(Family::V6)), (FULL, FULL));
        stock.add(Family::V4, &mut made(3));
        assert!(asks(&mut stock), "what was made is not enough, and nobody has asked since");
    }
}
