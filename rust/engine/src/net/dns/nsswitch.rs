//! `/etc/nsswitch.conf` as Go reads it: who knows hosts, and whether Go asks them itself (`net.conf.lookupOrder`, Go
//! 1.26).

/// Who is asked for a name, in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The C library, because it may have modules for hosts of which this code knows nothing.
    CLibrary,
    FilesDns,
    DnsFiles,
    Files,
    Dns,
}

/// What the file says about hosts.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Nsswitch {
    /// There is no file.
    Missing,
    Sources(Vec<Source>),
    /// The file cannot be read, or not understood.
    Unreadable,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Source {
    name: String,
    /// Whether the criteria behind it, if any, say what would hold without them.
    is_standard: bool,
}

/// What the order of a name depends on besides the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine<'a> {
    pub(super) hostname: &'a str,
    /// Whether `/etc/mdns.allow` exists.
    pub(super) has_mdns_allow: bool,
}

impl Nsswitch {
    pub(super) fn parse(text: &str) -> Self {
        let mut sources = Vec::new();
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let Some((database, rest)) = line.split_once(':') else { return Self::Unreadable };
            let Some(found) = sources_of(rest) else { return Self::Unreadable };
            if database.trim() == "hosts" {
                sources.extend(found);
            }
        }
        Self::Sources(sources)
    }

    /// Who is asked for `name`.
    pub(super) fn order(&self, name: &str, machine: Machine<'_>) -> Order {
        let sources = match self {
            Self::Missing => return Order::FilesDns,
            Self::Unreadable => return Order::CLibrary,
            Self::Sources(sources) if sources.is_empty() => return Order::FilesDns,
            Self::Sources(sources) => sources,
        };
        let name = name.strip_suffix('.').unwrap_or(name);
        let mut own = Vec::new();
        for source in sources {
            match &*source.name {
                "files" | "dns" if source.is_standard => own.push(&*source.name),
                "myhostname" if !is_of_this_machine(name, machine.hostname) => {}
                mdns if mdns.starts_with("mdns") && !machine.has_mdns_allow && !ends_with(name, ".local") => {}
                _ => return Order::CLibrary,
            }
        }
        match (own.first(), own.contains(&"files"), own.contains(&"dns")) {
            (Some(&"files"), _, true) => Order::FilesDns,
            (_, true, true) => Order::DnsFiles,
            (_, true, false) => Order::Files,
            (_, false, true) => Order::Dns,
            (_, false, false) => Order::CLibrary,
        }
    }
}

/// The sources of one database; None if they are not well formed.
fn sources_of(text: &str) -> Option<Vec<Source>> {
    let mut sources = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after.trim_start();
        let mut is_standard = true;
        if let Some(after) = rest.strip_prefix('[') {
            let (criteria, after) = after.split_once(']')?;
            is_standard = are_standard(criteria)?;
            rest = after.trim_start();
        }
        sources.push(Source { name: name.to_owned(), is_standard });
    }
    Some(sources)
}

/// Whether criteria change nothing; None if they are not well formed.
fn are_standard(criteria: &str) -> Option<bool> {
    let criteria: Vec<_> = criteria.split_ascii_whitespace().collect();
    let mut are_standard = true;
    for (index, criterion) in criteria.iter().enumerate() {
        let plain = criterion.strip_prefix('!').unwrap_or(criterion).to_ascii_lowercase();
        let (status, action) = plain.split_once('=').filter(|_| plain.len() >= 3)?;
        let default = match status {
            "success" => "return",
            "notfound" | "unavail" | "tryagain" => "continue",
            _ => "",
        };
        let is_last = index + 1 == criteria.len();
        let is_default = !default.is_empty() && (action == default || (is_last && action == "return"));
        are_standard &= is_default && !criterion.starts_with('!');
    }
    Some(are_standard)
}

/// Names that the module `myhostname` answers.
fn is_of_this_machine(name: &str, hostname: &str) -> bool {
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    let is_local = is("localhost") || is("localhost.localdomain");
    let is_under_local = ends_with(name, ".localhost") || ends_with(name, ".localhost.localdomain");
    is_local || is_under_local || is("_gateway") || is("_outbound") || is(hostname)
}

fn ends_with(name: &str, suffix: &str) -> bool {
    let (name, suffix) = (name.as_bytes(), suffix.as_bytes());
    name.len() >= suffix.len() && name[name.len() - suffix.len()..].eq_ignore_ascii_case(suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(hosts: &str, name: &str) -> Order {
        let machine = Machine { hostname: "node", has_mdns_allow: false };
        Nsswitch::parse(&format!("passwd: files sss\nhosts: {hosts}\n")).order(name, machine)
    }

    #[test]
    fn orders_that_go_follows_itself() {
        assert_eq!(order("files dns", "web"), Order::FilesDns);
        assert_eq!(order("dns files", "web"), Order::DnsFiles);
        assert_eq!(order("files", "web"), Order::Files);
        assert_eq!(order("dns", "web"), Order::Dns);
        assert_eq!(order("", "web"), Order::FilesDns);
        assert_eq!(order("files [NOTFOUND=continue] dns [!SUCCESS=return]", "web"), Order::CLibrary);
        assert_eq!(order("files [success=return notfound=continue] dns", "web"), Order::FilesDns);
        assert_eq!(order("files dns [NOTFOUND=return]", "web"), Order::FilesDns);
        assert_eq!(order("files myhostname mdns4_minimal [NOTFOUND=return] dns", "web.test"), Order::FilesDns);
        assert_eq!(Nsswitch::Missing.order("web", Machine { hostname: "", has_mdns_allow: false }), Order::FilesDns);
    }

    #[test]
    fn names_that_go_leaves_to_the_c_library() {
        assert_eq!(order("files resolve dns", "web"), Order::CLibrary);
        assert_eq!(order("files mdns4 dns", "printer.LOCAL."), Order::CLibrary);
        for name in ["NODE", "localhost", "a.localhost", "_gateway", "localhost.localdomain"] {
            assert_eq!(order("files dns myhostname", name), Order::CLibrary, "{name}");
        }
        for bad in ["files [x", "files [ab]", "files [success]"] {
            assert_eq!(order(bad, "web"), Order::CLibrary, "{bad}");
        }
        assert_eq!(Nsswitch::parse("hosts files"), Nsswitch::Unreadable);
    }
}
