//! `/etc/hosts` as Go reads it (`net.readHosts`, Go 1.26).

use std::collections::HashMap;
use std::net::SocketAddr;

use crate::net::host::Literal;

/// The addresses of names, with port 0.
#[derive(Debug, Default)]
pub(super) struct Hosts(HashMap<Box<str>, Vec<SocketAddr>>);

impl Hosts {
    pub(super) fn parse(text: &str) -> Self {
        let mut hosts: HashMap<Box<str>, Vec<SocketAddr>> = HashMap::new();
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let mut words = line.split_ascii_whitespace();
            let Some(literal) = words.next().and_then(Literal::parse) else { continue };
            for name in words {
                hosts.entry(key(name)).or_default().push(literal.target(0));
            }
        }
        Self(hosts)
    }

    pub(super) fn addresses(&self, name: &str) -> Vec<SocketAddr> {
        self.0.get(&key(name)).cloned().unwrap_or_default()
    }
}

/// The name in small letters; a name with a dot ends with one (`net.absDomainName`).
fn key(name: &str) -> Box<str> {
    let mut key = name.to_ascii_lowercase();
    if key.contains('.') && !key.ends_with('.') {
        key.push('.');
    }
    key.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_their_addresses() {
        let hosts = Hosts::parse(
            "127.0.0.1 localhost\n::1\tlocalhost ip6-localhost # a comment\n#10.0.0.1 no\n10.0.0.2 Web.Test web\nbad x",
        );
        let of = |name: &str| hosts.addresses(name).iter().map(|address| address.ip().to_string()).collect::<Vec<_>>();
        assert_eq!(of("LOCALHOST"), ["127.0.0.1", "::1"]);
        assert_eq!((of("web.test."), of("web.test"), of("web")), (of("WEB"), of("web"), vec!["10.0.0.2".to_owned()]));
        assert!(of("no").is_empty() && of("x").is_empty() && of("a").is_empty());
    }
}
