"""The agent's DaemonSet and its rights."""

from tests.unit.deploy.manifests.manifest import (
    BASE,
    MONITORING,
    OVERLAYS,
    container_of,
    documents,
    option,
    pod_of,
    read,
)

ALL = read(BASE)
AGENT = ALL.one("DaemonSet", "probelet-agent")
POD = pod_of(AGENT)
CONTAINER = container_of(AGENT)


def test_it_runs_on_every_node_before_other_pods_and_one_at_a_time() -> None:
    assert POD["priorityClassName"] == "system-node-critical"
    assert POD["tolerations"] == [{"operator": "Exists"}]
    assert POD["nodeSelector"] == {"kubernetes.io/os": "linux"}
    assert "affinity" not in POD
    # Two agents of a node exclude each other by a lock: a second one would only wait.
    assert AGENT["spec"]["updateStrategy"]["rollingUpdate"]["maxSurge"] == 0


def test_an_agent_that_dies_is_started_again_in_its_container() -> None:
    assert "--supervise" in CONTAINER["args"]


def test_it_probes_from_the_network_of_the_node_and_knows_its_name() -> None:
    assert POD["hostNetwork"] is True
    assert "hostPID" not in POD
    environment = {one["name"]: one["valueFrom"]["fieldRef"]["fieldPath"] for one in CONTAINER["env"]}
    assert environment == {
        "NODE_NAME": "spec.nodeName",
        "NODE_IP": "status.hostIP",
        "POD_NAMESPACE": "metadata.namespace",
    }


def test_it_sees_the_runtime_and_keeps_its_state_on_the_node_and_nothing_else_of_it() -> None:
    hosts = {one["name"]: one["hostPath"] for one in POD["volumes"] if "hostPath" in one}
    assert hosts == {
        "containerd": {"path": "/run/containerd", "type": "Directory"},
        "state": {"path": "/var/lib/probelet-agent", "type": "DirectoryOrCreate"},
    }
    mounts = {one["name"]: one for one in CONTAINER["volumeMounts"]}
    assert {name: one.get("readOnly", False) for name, one in mounts.items()} == {
        "containerd": True,
        "state": False,
        "configuration": True,
    }
    assert option(CONTAINER, "runtime") == f"unix://{mounts['containerd']['mountPath']}/containerd.sock"
    assert option(CONTAINER, "state-dir") == mounts["state"]["mountPath"] == hosts["state"]["path"]
    assert option(CONTAINER, "config") == f"{mounts['configuration']['mountPath']}/config.yaml"


def test_its_pages_are_on_the_loopback_address_where_the_kubelet_probes_them() -> None:
    listens = option(CONTAINER, "listen")
    assert listens.startswith("127.0.0.1:")
    for kind in ("livenessProbe", "readinessProbe"):
        get = CONTAINER[kind]["httpGet"]
        assert f"{get['host']}:{get['port']}" == listens


def test_its_health_and_metrics_alone_are_on_the_node_for_prometheus() -> None:
    port = int(option(CONTAINER, "listen-health").removeprefix("0.0.0.0:"))
    monitor = read(MONITORING).one("PodMonitor", "probelet-agent")
    assert CONTAINER["ports"] == [{"name": "health", "containerPort": port, "hostPort": port}]
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    assert (endpoint["port"], endpoint["scheme"]) == ("health", "https")
    assert monitor["spec"]["selector"]["matchLabels"].items() <= AGENT["spec"]["template"]["metadata"]["labels"].items()


def test_it_may_read_pods_and_what_it_answers_write_their_status_and_events_and_renew_leases() -> None:
    probes = {"apiGroups": ["apps.kruise.io"], "resources": ["nodepodprobes"]}
    requests = {"apiGroups": ["apps.kruise.io"], "resources": ["containerrecreaterequests"]}
    assert ALL.one("ClusterRole", "probelet-agent")["rules"] == [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["list"]},
        {"apiGroups": [""], "resources": ["pods/status"], "verbs": ["patch"]},
        {**probes, "verbs": ["get", "list", "watch"]},
        {**probes, "resources": ["nodepodprobes/status"], "verbs": ["update"]},
        {**requests, "verbs": ["get", "list", "watch"]},
        {**requests, "resources": ["containerrecreaterequests/status"], "verbs": ["patch"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
    ]
    (rule,) = ALL.one("Role", "probelet-agent")["rules"]
    assert (rule["apiGroups"], rule["resources"]) == (["coordination.k8s.io"], ["leases"])
    assert rule["verbs"] == ["get", "list", "create", "update"]


def test_direct_exec_lifts_every_limit_that_a_command_would_inherit() -> None:
    (patch,) = documents(OVERLAYS / "direct-exec" / "agent.yaml")
    assert pod_of(patch)["hostPID"] is True
    container = container_of(patch)
    assert container["name"] == CONTAINER["name"]
    # A dropped capability, a seccomp filter and no_new_privs would each be the command's too.
    assert container["securityContext"] == {
        "privileged": True,
        "allowPrivilegeEscalation": True,
        "capabilities": None,
        "seccompProfile": {"type": "Unconfined"},
    }
    assert pod_of(patch)["volumes"] == [
        {"name": "cgroups", "hostPath": {"path": "/sys/fs/cgroup", "type": "Directory"}}
    ]
