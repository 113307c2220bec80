//! What a failed probe says, as the kubelet's handlers word it (pkg/probe, 1.36).

use std::time::Duration;

use probelet_core::port::resolve;
use probelet_core::prober::{AttemptTarget, Outcome};
use probelet_core::spec::{Handler, IntOrString};
use probelet_golang::text::{join_host_port, quote};

use crate::cause::Cause;
use crate::simulation::worker_script::late_command;

/// The outcome of an attempt that failed for this cause.
pub(in crate::simulation) fn outcome(cause: Cause, target: &AttemptTarget<'_>, limit: Duration) -> Outcome {
    let text = match &target.probe().handler {
        Handler::HttpGet(get) => {
            let address = address(target, &get.host, &get.port);
            let scheme = if get.scheme.is_empty() { "http".into() } else { get.scheme.to_ascii_lowercase() };
            let slash = if get.path.starts_with('/') { "" } else { "/" };
            let url = format!("{scheme}://{address}{slash}{}", get.path);
            match cause {
                Cause::Status => "HTTP probe failed with statuscode: 503".into(),
                Cause::Refused => format!("Get {}: dial tcp {address}: connect: connection refused", quoted(&url)),
                Cause::ConnectTimeout => format!("Get {}: dial tcp {address}: i/o timeout", quoted(&url)),
                _ => format!(
                    "Get {}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
                    quoted(&url)
                ),
            }
        }
        Handler::TcpSocket { host, port } => {
            let address = address(target, host, port);
            let why = if cause == Cause::Refused { "connect: connection refused" } else { "i/o timeout" };
            format!("dial tcp {address}: {why}")
        }
        Handler::Grpc { port, .. } => {
            let address = quoted(&address(target, "", &IntOrString::Int(*port)));
            let within = format!("{}s", limit.as_secs());
            match cause {
                Cause::GrpcStatus => "service unhealthy (responded with \"NOT_SERVING\")".into(),
                Cause::Refused | Cause::ConnectTimeout => {
                    format!("timeout: failed to connect service {address} within {within}: context deadline exceeded")
                }
                _ => format!("timeout: health rpc did not complete within {within}"),
            }
        }
        // The text is the command's output, and it has none.
        Handler::Exec { .. } if cause == Cause::ExecExit => String::new(),
        Handler::Exec { command } => late_command(command, limit.as_secs()),
        Handler::None => "missing probe handler".into(),
    };
    Outcome::Failure { output: text.into_bytes().into() }
}

fn address(target: &AttemptTarget<'_>, host: &str, port: &IntOrString) -> String {
    let host = if host.is_empty() { target.pod_ip.map_or("", |ip| ip) } else { host };
    let port = resolve(port, &target.container().ports, target.rules.text_ports)
        .map_or_else(|_| "0".into(), |port| port.to_string());
    join_host_port(host, &port)
}

fn quoted(text: &str) -> String {
    quote(text.as_bytes())
}
