//! The part of a v1.Pod that a prober reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use probelet_core::expand::{Room, VALUES_BYTES_MAX, expand};
use probelet_core::restart::{RestartPolicy, RestartRule, RuleAction};
use probelet_core::spec::{ContainerSpec, Handler, HttpGet, IntOrString, PodSpec, ProbeSpec};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::error::{JsonError, decode};
use super::options::Options;

/// Decodes a defaulted v1.Pod.
///
/// # Errors
/// The first place where the JSON is not a pod.
pub fn decode_pod(json: &[u8]) -> Result<PodSpec, JsonError> {
    let pod: Pod = decode(json)?;
    let regular = pod.spec.containers.len();
    let mut room = Room::new(VALUES_BYTES_MAX);
    let containers = pod.spec.containers.into_iter().chain(pod.spec.init_containers);
    let containers = containers.map(|container| container.into_core(&mut room)).collect();
    if room.is_exceeded() {
        return Err(JsonError::of(format_args!(
            "spec: the variables in all exec commands together have more than {VALUES_BYTES_MAX} bytes"
        )));
    }
    Ok(PodSpec {
        uid: pod.metadata.uid,
        name: pod.metadata.name,
        namespace: pod.metadata.namespace,
        restart_policy: pod.spec.restart_policy.map_or(RestartPolicy::Always, Policy::into_core),
        containers,
        regular,
        deleting: pod.metadata.deletion_timestamp.is_some(),
        api_ready: pod
            .status
            .conditions
            .iter()
            .any(|condition| condition.kind == "Ready" && condition.status == "True"),
    })
}

/// Decodes a v1.Probe, without defaulting or validation.
///
/// # Errors
/// The first place where the JSON is not a probe.
pub fn decode_probe(json: &[u8]) -> Result<ProbeSpec, JsonError> {
    let probe: Probe = decode(json)?;
    Ok(probe.into_core(&Variables::new(), &mut Room::new(0)))
}

/// Decodes a container's `restartPolicyRules`.
///
/// # Errors
/// The first place where the JSON is not a list of rules.
pub fn decode_rules(json: &[u8]) -> Result<Vec<RestartRule>, JsonError> {
    let rules: Vec<Rule> = decode(json)?;
    Ok(rules.into_iter().map(Rule::into_core).collect())
}

/// Writes a type of the API: the fields that a prober reads, and the names of all others. Any other key is an error.
macro_rules! object {
    (
        $(#[$attribute:meta])*
        struct $name:ident { $($(#[$read:meta])* $field:ident: $type:ty,)* }
        unread { $($(#[$other:meta])* $unread:ident,)* }
    ) => {
        #[derive(Deserialize)]
        $(#[$attribute])*
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        struct $name {
            $($(#[$read])* $field: $type,)*
            $(
                $(#[$other])*
                #[serde(default)]
                #[expect(dead_code, reason = "it stands for a key of the API that a prober does not read")]
                $unread: IgnoredAny,
            )*
        }
    };
}

object! {
    struct Pod {
        metadata: Metadata,
        #[serde(default)]
        spec: Spec,
        #[serde(default)]
        status: Status,
    }
    unread {
        api_version,
        kind,
    }
}

object! {
    struct Metadata {
        #[serde(default)]
        uid: Arc<str>,
        #[serde(default)]
        name: Arc<str>,
        #[serde(default)]
        namespace: Arc<str>,
        deletion_timestamp: Option<IgnoredAny>,
    }
    unread {
        annotations,
        creation_timestamp,
        deletion_grace_period_seconds,
        finalizers,
        generate_name,
        generation,
        labels,
        managed_fields,
        owner_references,
        resource_version,
        self_link,
    }
}

object! {
    #[derive(Default)]
    #[serde(default)]
    struct Status {
        conditions: Vec<Condition>,
    }
    unread {
        allocated_resources,
        container_statuses,
        ephemeral_container_statuses,
        extended_resource_claim_status,
        #[serde(rename = "hostIP")]
        host_ip,
        #[serde(rename = "hostIPs")]
        host_ips,
        init_container_statuses,
        message,
        node_allocatable_resource_claim_statuses,
        nominated_node_name,
        observed_generation,
        phase,
        #[serde(rename = "podIP")]
        pod_ip,
        #[serde(rename = "podIPs")]
        pod_ips,
        qos_class,
        reason,
        resize,
        resource_claim_statuses,
        resources,
        start_time,
    }
}

object! {
    struct Condition {
        #[serde(default, rename = "type")]
        kind: String,
        #[serde(default)]
        status: String,
    }
    unread {
        last_probe_time,
        last_transition_time,
        message,
        observed_generation,
        reason,
    }
}

object! {
    #[derive(Default)]
    struct Spec {
        #[serde(default)]
        containers: Vec<Container>,
        #[serde(default)]
        init_containers: Vec<Container>,
        restart_policy: Option<Policy>,
    }
    unread {
        active_deadline_seconds,
        affinity,
        automount_service_account_token,
        dns_config,
        dns_policy,
        enable_service_links,
        ephemeral_containers,
        host_aliases,
        #[serde(rename = "hostIPC")]
        host_ipc,
        host_network,
        #[serde(rename = "hostPID")]
        host_pid,
        host_users,
        hostname,
        hostname_override,
        image_pull_secrets,
        node_name,
        node_selector,
        os,
        overhead,
        preemption_policy,
        priority,
        priority_class_name,
        readiness_gates,
        resource_claims,
        resources,
        runtime_class_name,
        scheduler_name,
        scheduling_gates,
        scheduling_group,
        security_context,
        service_account,
        service_account_name,
        #[serde(rename = "setHostnameAsFQDN")]
        set_hostname_as_fqdn,
        share_process_namespace,
        subdomain,
        termination_grace_period_seconds,
        tolerations,
        topology_spread_constraints,
        volumes,
        workload_ref,
    }
}

#[derive(Clone, Copy, Deserialize)]
enum Policy {
    Always,
    Never,
    OnFailure,
}

impl Policy {
    const fn into_core(self) -> RestartPolicy {
        match self {
            Self::Always => RestartPolicy::Always,
            Self::Never => RestartPolicy::Never,
            Self::OnFailure => RestartPolicy::OnFailure,
        }
    }
}

object! {
    struct Container {
        #[serde(default)]
        name: Arc<str>,
        #[serde(default)]
        image: Arc<str>,
        #[serde(default)]
        ports: Vec<Port>,
        #[serde(default)]
        env: Vec<EnvVar>,
        restart_policy: Option<Policy>,
        #[serde(default)]
        restart_policy_rules: Vec<Rule>,
        liveness_probe: Option<Probe>,
        readiness_probe: Option<Probe>,
        startup_probe: Option<Probe>,
    }
    unread {
        args,
        command,
        env_from,
        image_pull_policy,
        lifecycle,
        resize_policy,
        resources,
        security_context,
        stdin,
        stdin_once,
        target_container_name,
        termination_message_path,
        termination_message_policy,
        tty,
        volume_devices,
        volume_mounts,
        working_dir,
    }
}

impl Container {
    fn into_core(self, room: &mut Room) -> ContainerSpec {
        // Of a name that is listed twice the last value counts.
        let env: Variables<'_> = self.env.iter().map(|var| (&*var.name, &*var.value)).collect();
        let probes = [self.startup_probe, self.readiness_probe, self.liveness_probe];
        ContainerSpec {
            probes: probes.map(|probe| probe.map(|probe| Box::new(probe.into_core(&env, room)))),
            name: self.name,
            image: self.image,
            ports: self.ports.into_iter().map(|port| (port.name, port.container_port)).collect(),
            restart_policy: self.restart_policy.map(Policy::into_core),
            restart_rules: self.restart_policy_rules.into_iter().map(Rule::into_core).collect(),
        }
    }
}

object! {
    struct Port {
        #[serde(default)]
        name: Box<str>,
        #[serde(default)]
        container_port: i64,
    }
    unread {
        #[serde(rename = "hostIP")]
        host_ip,
        host_port,
        protocol,
    }
}

object! {
    /// A variable with `valueFrom` has no literal value here and expands to nothing, as in the kubelet.
    struct EnvVar {
        #[serde(default)]
        name: String,
        #[serde(default)]
        value: String,
    }
    unread {
        value_from,
    }
}

/// The literal values by name: a pod may have a hundred thousand variables, and as many references to them.
type Variables<'a> = BTreeMap<&'a str, &'a str>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rule {
    action: Action,
    exit_codes: Option<ExitCodes>,
}

#[derive(Deserialize)]
enum Action {
    Restart,
    RestartAllContainers,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExitCodes {
    operator: Operator,
    #[serde(default)]
    values: Vec<i32>,
}

#[derive(Deserialize)]
enum Operator {
    In,
    NotIn,
}

impl Rule {
    fn into_core(self) -> RestartRule {
        let action = match self.action {
            Action::Restart => RuleAction::Restart,
            Action::RestartAllContainers => RuleAction::RestartAllContainers,
        };
        // Without a condition nothing matches: no value is within an empty list.
        let (within, values) =
            self.exit_codes.map_or((true, Vec::new()), |codes| (matches!(codes.operator, Operator::In), codes.values));
        RestartRule { action, within, values }
    }
}

object! {
    struct Probe {
        exec: Option<Exec>,
        http_get: Option<HttpGetAction>,
        tcp_socket: Option<TcpSocket>,
        grpc: Option<Grpc>,
        #[serde(default)]
        initial_delay_seconds: i32,
        #[serde(default)]
        timeout_seconds: i32,
        #[serde(default)]
        period_seconds: i32,
        #[serde(default)]
        success_threshold: i32,
        #[serde(default)]
        failure_threshold: i32,
        #[serde(default)]
        initialization_failure_threshold: i32,
        options: Option<Options>,
    }
    unread {
        termination_grace_period_seconds,
    }
}

impl Probe {
    fn into_core(self, env: &Variables<'_>, room: &mut Room) -> ProbeSpec {
        ProbeSpec {
            initial_delay_seconds: self.initial_delay_seconds,
            timeout_seconds: self.timeout_seconds,
            period_seconds: self.period_seconds,
            success_threshold: self.success_threshold,
            failure_threshold: self.failure_threshold,
            initialization_failure_threshold: self.initialization_failure_threshold,
            options: self.options.as_ref().map(|options| Box::new(options.to_core())),
            handler: self.handler(env, room),
        }
    }

    /// The order in which the kubelet looks at the handlers.
    fn handler(self, env: &Variables<'_>, room: &mut Room) -> Handler {
        if let Some(exec) = self.exec {
            let mut value = |name: &str| {
                let value = env.get(name).filter(|value| room.take(value.len()))?;
                Some((*value).to_owned())
            };
            Handler::Exec { command: exec.command.iter().map(|word| expand(word, &mut value).into()).collect() }
        } else if let Some(http) = self.http_get {
            Handler::HttpGet(HttpGet {
                scheme: http.scheme,
                host: http.host,
                port: http.port.into_core(),
                path: http.path,
                headers: http.http_headers.into_iter().map(|header| (header.name, header.value)).collect(),
                http2: http.protocol.as_deref() == Some("HTTP2"),
            })
        } else if let Some(tcp) = self.tcp_socket {
            Handler::TcpSocket { host: tcp.host, port: tcp.port.into_core() }
        } else if let Some(grpc) = self.grpc {
            let tls = grpc.mode.as_deref() == Some("TLS");
            Handler::Grpc { port: grpc.port, service: grpc.service.unwrap_or_default(), tls }
        } else {
            Handler::None
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exec {
    #[serde(default)]
    command: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct HttpGetAction {
    #[serde(default)]
    scheme: Box<str>,
    #[serde(default)]
    host: Box<str>,
    port: PortRef,
    #[serde(default)]
    path: Box<str>,
    #[serde(default)]
    http_headers: Vec<Header>,
    protocol: Option<Box<str>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    name: Box<str>,
    #[serde(default)]
    value: Box<str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TcpSocket {
    #[serde(default)]
    host: Box<str>,
    port: PortRef,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Grpc {
    port: i64,
    service: Option<Box<str>>,
    mode: Option<Box<str>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PortRef {
    Int(i64),
    Str(Box<str>),
}

impl PortRef {
    fn into_core(self) -> IntOrString {
        match self {
            Self::Int(number) => IntOrString::Int(number),
            Self::Str(text) => IntOrString::Str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_expand_literal_variables_only() {
        let pod = decode_pod(
            br#"{"metadata": {"uid": "u", "name": "p"}, "spec": {"containers": [{"name": "c",
                "env": [{"name": "A", "value": "old"}, {"name": "A", "value": "new"}, {"name": "B", "valueFrom": {}}],
                "livenessProbe": {"exec": {"command": ["sh", "$(A)$(B)$(C)$$(A)"]}}}]}}"#,
        )
        .expect("a pod");
        let probe = pod.containers[0].probe(probelet_core::spec::ProbeType::Liveness).expect("a liveness probe");
        assert_eq!(probe.handler, Handler::Exec { command: vec!["sh".into(), "new$(C)$(A)".into()] });
    }

    #[test]
    fn commands_that_variables_make_too_long_are_refused() {
        let pod = |references: usize| {
            let (value, word) = ("v".repeat(1 << 10), "$(A)".repeat(references));
            decode_pod(
                format!(
                    r#"{{"metadata": {{}}, "spec": {{"containers": [{{"env": [{{"name": "A", "value": "{value}"}}],
                    "livenessProbe": {{"exec": {{"command": ["{word}"]}}}}}}]}}}}"#
                )
                .as_bytes(),
            )
        };
        assert!(pod(1 << 10).is_ok());
        let refused = pod((1 << 10) + 1).expect_err("a pod of 1 MiB and more");
        assert!(refused.to_string().starts_with("spec: the variables"), "{refused}");
    }

    #[test]
    fn only_the_exact_words_leave_http1_and_plaintext() {
        for (protocol, is_http2) in
            [("null", false), (r#""HTTP1""#, false), (r#""http2""#, false), (r#""HTTP2""#, true)]
        {
            let json = format!(r#"{{"httpGet": {{"port": 1, "protocol": {protocol}}}}}"#);
            let Handler::HttpGet(get) = decode_probe(json.as_bytes()).expect("a probe").handler else {
                panic!("{json}")
            };
            assert_eq!(get.http2, is_http2, "{json}");
        }
        for (mode, is_tls) in [("null", false), (r#""Plaintext""#, false), (r#""tls""#, false), (r#""TLS""#, true)] {
            let json = format!(r#"{{"grpc": {{"port": 1, "mode": {mode}}}}}"#);
            let handler = decode_probe(json.as_bytes()).expect("a probe").handler;
            assert_eq!(handler, Handler::Grpc { port: 1, service: "".into(), tls: is_tls }, "{json}");
        }
    }

    #[test]
    fn init_containers_follow_the_regular_ones() {
        let pod = decode_pod(
            br#"{"metadata": {}, "spec": {"restartPolicy": "Never", "containers": [{"name": "c"}],
                "initContainers": [{"name": "s", "restartPolicy": "Always"}, {"name": "i"}]}}"#,
        )
        .expect("a pod");
        assert_eq!(pod.restart_policy, RestartPolicy::Never);
        assert_eq!((pod.is_sidecar(0), pod.is_sidecar(1), pod.is_sidecar(2)), (false, true, false));
    }
}
