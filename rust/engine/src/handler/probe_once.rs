//! One attempt of a probe: chooses the handler.

use std::net::SocketAddr;
use std::sync::Arc;

use probelet_core::port;
use probelet_core::spec::{Handler, HttpGet, IntOrString};
use probelet_play::cause::Cause;
use tokio::time::Instant;

use super::asker::Asker;
use super::buffers::Buffers;
use super::limit::Limit;
use super::{grpc, http, tcp};
use crate::attempt::report::Report;
use crate::net::dial::Origin;
use crate::net::namespace::Namespace;
use crate::prefetch::prefetch;

/// Carries out one attempt of a probe over the network.
///
/// `ports` are the probed container's named ports; `pod_ip` is the pod's first address at this moment, which may be
/// empty. `buffers` serve one attempt after another on one runtime, and keep the output of a success until the next
/// attempt. The attempt drives itself.
pub async fn probe_once(
    handler: &Handler,
    ports: &[(Box<str>, i64)],
    pod_ip: &str,
    asker: Asker<'_>,
    timeout: impl Into<Limit>,
    buffers: &mut Buffers,
) -> Report {
    let wait = Arc::clone(&buffers.wait);
    wait.drive(probe_driven(Question { handler, ports, pod_ip, asker, namespace: None }, timeout, buffers)).await
}

/// What the handlers are asked: see [`probe_once`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'a> {
    pub(crate) handler: &'a Handler,
    pub(crate) ports: &'a [(Box<str>, i64)],
    pub(crate) pod_ip: &'a str,
    pub(crate) asker: Asker<'a>,
    /// The pod's network namespace, if the attempt is to be made from inside it.
    pub(crate) namespace: Option<&'a Namespace>,
}

impl<'a> Question<'a> {
    const fn origin(self) -> Origin<'a> {
        Origin { pod: self.asker.pod_uid, namespace: self.namespace }
    }

    /// The host and port of an HTTP probe.
    fn place(self, get: &'a HttpGet) -> Result<(&'a str, u16), String> {
        let port = port::resolve(&get.port, self.ports, self.asker.rules.text_ports)?;
        Ok((if get.host.is_empty() { self.pod_ip } else { &get.host }, port))
    }
}

/// The request of an ordinary HTTP probe, whose address and bytes are known without asking anybody.
#[derive(Debug)]
pub(crate) struct PlainRequest {
    pub(crate) address: SocketAddr,
    bytes: Box<[u8]>,
}

impl PlainRequest {
    /// The request of a probe, if it is an ordinary one.
    pub(crate) fn of(question: Question<'_>) -> Option<Self> {
        let Handler::HttpGet(get) = question.handler else { return None };
        let (host, port) = question.place(get).ok()?;
        let mut bytes = Vec::new();
        let address = http::write_plain(get, host, port, question.asker.user_agent, &mut bytes)?;
        Some(Self { address, bytes: bytes.into() })
    }

    /// Asks for the memory of the request.
    pub(crate) fn prefetch(&self) {
        prefetch(&*self.bytes);
    }
}

/// Like [`probe_once`], for the owner of the buffers' [`Wait`](crate::net::poller::Wait), who polls the attempt when its
/// socket is ready and when its time is over.
pub(crate) async fn probe_driven(question: Question<'_>, timeout: impl Into<Limit>, buffers: &mut Buffers) -> Report {
    buffers.begin();
    carry_out(question, timeout.into(), buffers).await
}

/// Like [`probe_driven`], for an ordinary HTTP probe. `question` is called only if the attempt turns out to be none, or
/// if its report needs the text of a failure. The attempt's time begins at `began`, and the report's timings are all of it.
pub(crate) async fn probe_plain<'a>(
    plain: &PlainRequest,
    question: impl Fn() -> Question<'a> + Sync,
    began: Instant,
    timeout: impl Into<Limit>,
    buffers: &mut Buffers,
) -> Report {
    buffers.begin();
    buffers.request.clear();
    buffers.request.extend_from_slice(&plain.bytes);
    let probe = || {
        let question = question();
        let Handler::HttpGet(get) = question.handler else { unreachable!("the request is of an HTTP probe") };
        let (host, port) = question.place(get).expect("the request has a port");
        http::Probe::of(get, host, port, question.asker, question.origin())
    };
    http::probe_plain(&probe, plain.address, began, timeout.into().deadline_of(began), buffers).await
}

async fn carry_out(question: Question<'_>, limit: Limit, buffers: &mut Buffers) -> Report {
    let Question { handler, ports, pod_ip, asker, .. } = question;
    let origin = question.origin();
    let resolved = |port: &IntOrString| {
        port::resolve(port, ports, asker.rules.text_ports).map_err(|text| Report::not_begun(text, Cause::Port))
    };
    match handler {
        Handler::HttpGet(get) => match question.place(get) {
            Ok((host, port)) => http::probe(get, host, port, asker, origin, limit.deadline(), buffers).await,
            Err(text) => Report::not_begun(text, Cause::Port),
        },
        Handler::TcpSocket { host, port } => match resolved(port) {
            Ok(port) => {
                // Go's dialer, unlike its HTTP client, takes a negative timeout as expired.
                let deadline = if limit.is_negative() { Some(Instant::now()) } else { limit.deadline() };
                tcp::probe(origin, if host.is_empty() { pod_ip } else { host }, port, deadline, &buffers.wait).await
            }
            Err(report) => report,
        },
        Handler::Grpc { port, service, tls } => {
            let target = grpc::Target { host: pod_ip, port: *port, tls: *tls };
            Box::pin(grpc::probe(target, service, asker, origin, limit, buffers)).await
        }
        Handler::Exec { .. } | Handler::None => Report::not_begun("missing probe handler", Cause::Request),
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use probelet_core::prober::Outcome;
    use probelet_core::semantics::Semantics;

    use super::*;

    fn handlers(name: &str) -> [(Handler, &str); 3] {
        let port = || IntOrString::Int(80);
        let get = HttpGet {
            scheme: "HTTP".into(),
            host: name.into(),
            port: port(),
            path: "/".into(),
            headers: vec![],
            http2: false,
        };
        [
            (Handler::TcpSocket { host: name.into(), port: port() }, ""),
            (Handler::HttpGet(get), ""),
            (Handler::Grpc { port: 80, service: "".into(), tls: false }, name),
        ]
    }

    #[test]
    fn a_name_for_which_a_pod_has_no_look_up_left_is_the_probers_error() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let user_agent = "kube-probe/1.36";
            let asker = |pod_uid| Asker { user_agent, rules: Semantics::V1_36.handler_rules(), pod_uid: Some(pod_uid) };
            let is_asked_for = async |what| {
                let (handler, _) = &handlers("localhost")[0];
                let attempt = probe_once(handler, &[], "", asker("another"), 30, &mut Buffers::default()).await;
                assert!(matches!(attempt.cause, Cause::Refused | Cause::Ok), "{what}: {:?}", attempt.cause);
            };
            is_asked_for("the first name, for which the machine's files are read").await;
            for number in 0..4 {
                let (handler, _) = &handlers(&format!("n{number}.hangs.test"))[0];
                let mut buffers = Buffers::default();
                let mut attempt = Box::pin(probe_once(handler, &[], "", asker("hangs"), 30, &mut buffers));
                assert!(attempt.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            }
            for (handler, pod_ip) in &handlers("n4.hangs.test") {
                let mut buffers = Buffers::default();
                let Report { outcome, cause, .. } =
                    probe_once(handler, &[], pod_ip, asker("hangs"), 30, &mut buffers).await;
                let Outcome::Error { failure: false, error, .. } = outcome else { panic!("{handler:?}: {outcome:?}") };
                assert!(error.contains("lookup n4.hangs.test: 4 other names of this pod"), "{error}");
                assert_eq!(cause, Cause::Starved);
            }
            is_asked_for("another pod's name").await;
        });
    }
}
