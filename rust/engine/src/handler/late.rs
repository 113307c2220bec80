//! The output of an attempt that nobody answers in time, without a socket: what a simulation says of it.

use probelet_core::port;
use probelet_core::spec::Handler;

use super::asker::Asker;
use super::limit::Limit;
use super::{grpc, http};
use crate::net::dial::late_for;

/// The kubelet's words for a server that is silent: of a gRPC server that it could not connect to it. None for a handler
/// that connects nowhere, and for a port or URL with which an attempt could not begin.
pub(super) fn late_text(
    handler: &Handler,
    ports: &[(Box<str>, i64)],
    pod_ip: &str,
    asker: Asker<'_>,
    limit: impl Into<Limit>,
) -> Option<String> {
    match handler {
        Handler::HttpGet(get) => {
            let host = if get.host.is_empty() { pod_ip } else { &get.host };
            let port = port::resolve(&get.port, ports, asker.rules.text_ports).ok()?;
            Some(http::failure_text(get, host, port, asker, http::AWAITING_HEADERS))
        }
        Handler::TcpSocket { host, port } => {
            let host = if host.is_empty() { pod_ip } else { host };
            Some(late_for(host, port::resolve(port, ports, asker.rules.text_ports).ok()?).text)
        }
        Handler::Grpc { port, .. } => Some(grpc::late_text(pod_ip, *port, asker.rules.grpc_connect, limit.into())),
        Handler::Exec { .. } | Handler::None => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use probelet_core::prober::Outcome;
    use probelet_core::semantics::Semantics;
    use probelet_core::spec::{HttpGet, IntOrString};

    use super::*;
    use crate::handler::{Buffers, probe_once};

    fn port() -> IntOrString {
        IntOrString::Str("web".into())
    }

    fn handlers(port_number: i64) -> [Handler; 2] {
        let get = HttpGet {
            scheme: "HTTP".into(),
            host: "".into(),
            port: port(),
            path: "/a b".into(),
            headers: vec![],
            http2: false,
        };
        [Handler::HttpGet(get), Handler::Grpc { port: port_number, service: "".into(), tls: false }]
    }

    /// What a handler says of a real server that takes connections and never answers.
    #[test]
    fn the_words_are_those_of_a_real_attempt() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let number = silent.local_addr().unwrap().port();
        let ports = [("web".into(), i64::from(number))];
        let asker = Asker { user_agent: "kube-probe/1.36", rules: Semantics::V1_36.handler_rules(), pod_uid: None };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for handler in handlers(number.into()) {
            let limit = std::time::Duration::from_millis(50);
            let report =
                runtime.block_on(probe_once(&handler, &ports, "127.0.0.1", asker, limit, &mut Buffers::default()));
            let Outcome::Failure { output } = report.outcome else { panic!("{:?}", report.outcome) };
            let text = late_text(&handler, &ports, "127.0.0.1", asker, limit).unwrap();
            assert_eq!(text, String::from_utf8_lossy(&output));
        }
    }

    #[test]
    fn a_port_to_which_nothing_connects_in_time_has_gos_words() {
        let asker = Asker { user_agent: "", rules: Semantics::V1_38.handler_rules(), pod_uid: None };
        let text = |handler: Handler, ip: &str| late_text(&handler, &[("web".into(), 80)], ip, asker, 1);
        let tcp = |host: &str, port: IntOrString| Handler::TcpSocket { host: host.into(), port };
        assert_eq!(text(tcp("", port()), "10.0.0.7").as_deref(), Some("dial tcp 10.0.0.7:80: i/o timeout"));
        assert_eq!(text(tcp("::1", port()), "10.0.0.7").as_deref(), Some("dial tcp [::1]:80: i/o timeout"));
        assert_eq!(text(tcp("", IntOrString::Str("none".into())), "10.0.0.7"), None);
        let [_, grpc] = handlers(9000);
        assert_eq!(text(grpc, "fd00::7").as_deref(), Some("timeout: health rpc did not complete within 1s"));
        assert_eq!(text(Handler::Exec { command: vec!["a".into()] }, "10.0.0.7"), None);
    }
}
