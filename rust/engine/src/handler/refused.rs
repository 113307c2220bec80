//! The report of an attempt that another program than the target answered: as if the connection had been refused.

use std::net::SocketAddr;

use probelet_core::port;
use probelet_core::prober::Outcome;
use probelet_core::semantics::HandlerRules;
use probelet_core::spec::{Handler, IntOrString};
use probelet_golang::text::errno;

use super::asker::Asker;
use super::limit::Limit;
use super::{grpc, http};
use crate::attempt::report;
use crate::net::host::Literal;

/// The address that an attempt connects to; None if it has a name in its place, or none.
pub(crate) fn address_of(
    handler: &Handler,
    ports: &[(Box<str>, i64)],
    pod_ip: &str,
    rules: HandlerRules,
) -> Option<SocketAddr> {
    let resolved = |host: &str, port: &IntOrString| {
        let port = port::resolve(port, ports, rules.text_ports).ok()?;
        Some(Literal::parse(if host.is_empty() { pod_ip } else { host })?.target(port))
    };
    match handler {
        Handler::HttpGet(get) => resolved(&get.host, &get.port),
        Handler::TcpSocket { host, port } => resolved(host, port),
        Handler::Grpc { port, .. } => resolved("", &IntOrString::Int(*port)),
        Handler::Exec { .. } | Handler::None => None,
    }
}

/// The outcome of a connection that is refused, in the kubelet's words for this handler, followed by `why`.
pub(crate) fn refused(
    handler: &Handler,
    address: SocketAddr,
    asker: Asker<'_>,
    limit: impl Into<Limit>,
    why: &str,
) -> Outcome {
    let shown = Literal::from(address).shown(address.port());
    let text = format!("dial tcp {shown}: connect: {} ({why})", errno(libc::ECONNREFUSED));
    let host = address.ip().to_string();
    report::failure(match handler {
        Handler::HttpGet(get) => http::failure_text(get, &host, address.port(), asker, &text),
        Handler::Grpc { .. } => grpc::refused_text(&shown, asker.rules.grpc_connect, limit.into(), &text, why),
        Handler::TcpSocket { .. } | Handler::Exec { .. } | Handler::None => text,
    })
}

#[cfg(test)]
mod tests {
    use probelet_core::semantics::Semantics;
    use probelet_core::spec::HttpGet;

    use super::*;

    fn get(host: &str) -> Handler {
        let port = IntOrString::Str("web".into());
        let path = "/healthz".into();
        Handler::HttpGet(HttpGet {
            scheme: "HTTP".into(),
            host: host.into(),
            port,
            path,
            headers: vec![],
            http2: false,
        })
    }

    const PORTS: [(&str, i64); 1] = [("web", 8080)];

    fn ports() -> Vec<(Box<str>, i64)> {
        PORTS.iter().map(|&(name, port)| (name.into(), port)).collect()
    }

    #[test]
    fn the_address_is_the_pods_unless_the_probe_names_another() {
        let of = |handler: &Handler| {
            address_of(handler, &ports(), "127.64.1.2", Semantics::V1_36.handler_rules())
                .map(|address| address.to_string())
        };
        let tcp = |host: &str| Handler::TcpSocket { host: host.into(), port: IntOrString::Int(8080) };
        assert_eq!(of(&get("")).as_deref(), Some("127.64.1.2:8080"));
        assert_eq!(of(&get("127.0.0.1")).as_deref(), Some("127.0.0.1:8080"));
        assert_eq!(of(&get("localhost")), None);
        assert_eq!(of(&tcp("")).as_deref(), Some("127.64.1.2:8080"));
        assert_eq!(of(&Handler::Grpc { port: 0, service: "".into(), tls: false }), None);
        assert_eq!(of(&Handler::Exec { command: vec![] }), None);
    }

    #[test]
    fn each_handler_has_the_kubelets_words() {
        let texts = |release: Semantics, handler: &Handler| {
            let asker = Asker { user_agent: "kube-probe/1.36", rules: release.handler_rules(), pod_uid: None };
            let address = "127.64.1.2:8080".parse().unwrap();
            let Outcome::Failure { output } = refused(handler, address, asker, 1, "pod b has it") else { panic!() };
            String::from_utf8(output.to_vec()).unwrap()
        };
        let dial = "dial tcp 127.64.1.2:8080: connect: connection refused (pod b has it)";
        let tcp = Handler::TcpSocket { host: "".into(), port: IntOrString::Int(8080) };
        assert_eq!(texts(Semantics::V1_36, &tcp), dial);
        let http = format!("Get \"http://127.64.1.2:8080/healthz\": {dial}");
        assert_eq!(texts(Semantics::V1_36, &get("")), http);
        let grpc = Handler::Grpc { port: 8080, service: "".into(), tls: false };
        assert_eq!(
            texts(Semantics::V1_36, &grpc),
            "timeout: failed to connect service \"127.64.1.2:8080\" within 1s: context deadline exceeded (pod b has it)"
        );
        assert_eq!(
            texts(Semantics::V1_38, &grpc),
            format!(
                "error: health rpc probe failed: rpc error: code = Unavailable desc = connection error: desc = \
                 \"transport: Error while dialing: {dial}\""
            )
        );
    }
}
