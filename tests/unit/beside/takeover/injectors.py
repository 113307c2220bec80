"""What the webhooks of Istio and Linkerd make of a pod, written by hand after the public shape of their sidecars: the
names, ports and probes are theirs, the rest is cut to what a reader needs.
"""

import copy

import msgspec

from tests.unit.beside.takeover.pods import Json

ISTIO_READY = {"httpGet": {"path": "/healthz/ready", "port": 15021, "scheme": "HTTP"}}
LINKERD_LIVE = {"httpGet": {"path": "/live", "port": 4191, "scheme": "HTTP"}, "initialDelaySeconds": 10}
LINKERD_READY = {"httpGet": {"path": "/ready", "port": 4191, "scheme": "HTTP"}, "initialDelaySeconds": 2}


def istio(value: Json) -> Json:
    """The classic sidecar. HTTP probes of the application go through the sidecar's agent (``rewriteAppHTTPProbers``),
    which keeps the real ones in a variable."""
    pod = copy.deepcopy(value)
    probers = _istio_rewrites(pod)
    proxy = {
        **_istio_proxy(probers),
        "readinessProbe": {
            **ISTIO_READY,
            "initialDelaySeconds": 0,
            "periodSeconds": 15,
            "timeoutSeconds": 3,
            "failureThreshold": 4,
        },
        "startupProbe": {
            **ISTIO_READY,
            "initialDelaySeconds": 0,
            "periodSeconds": 1,
            "timeoutSeconds": 3,
            "failureThreshold": 600,
        },
    }
    pod["spec"]["containers"].append(proxy)
    pod["spec"].setdefault("initContainers", []).append(_istio_init())
    return _labelled(pod, "sidecar.istio.io/status", '{"containers":["istio-proxy"]}')


def istio_native_sidecar(value: Json) -> Json:
    """``ENABLE_NATIVE_SIDECARS``: the proxy is an init container that is always restarted."""
    pod = istio(value)
    proxy = pod["spec"]["containers"].pop()
    pod["spec"]["initContainers"].append({**proxy, "restartPolicy": "Always"})
    return pod


def _istio_rewrites(pod: Json) -> Json:
    probers: Json = {}
    for container in pod["spec"]["containers"]:
        for kind, short in (("readinessProbe", "readyz"), ("livenessProbe", "livez"), ("startupProbe", "startupz")):
            probe = container.get(kind, {})
            if "httpGet" not in probe:
                continue
            path = f"/app-health/{container['name']}/{short}"
            probers[path] = {"httpGet": probe["httpGet"], "timeoutSeconds": probe.get("timeoutSeconds", 1)}
            probe["httpGet"] = {"path": path, "port": 15020, "scheme": "HTTP"}
    return probers


def _istio_proxy(probers: Json) -> Json:
    env = [{"name": "ISTIO_META_MESH_ID", "value": "cluster.local"}]
    if probers:
        env.append({"name": "ISTIO_KUBE_APP_PROBERS", "value": msgspec.json.encode(probers).decode()})
    return {
        "name": "istio-proxy",
        "image": "docker.io/istio/proxyv2:1.27.1",
        "args": ["proxy", "sidecar", "--domain", "$(POD_NAMESPACE).svc.cluster.local"],
        "env": env,
        "ports": [{"containerPort": 15090, "name": "http-envoy-prom", "protocol": "TCP"}],
        "securityContext": {"runAsUser": 1337, "runAsGroup": 1337},
    }


def _istio_init() -> Json:
    return {"name": "istio-init", "image": "docker.io/istio/proxyv2:1.27.1", "args": ["istio-iptables", "-p", "15001"]}


def linkerd(value: Json) -> Json:
    """The classic sidecar, which comes before the application's containers so that it starts first."""
    pod = copy.deepcopy(value)
    pod["spec"]["containers"].insert(0, _linkerd_proxy())
    pod["spec"].setdefault("initContainers", []).append(_linkerd_init())
    return _labelled(pod, "linkerd.io/proxy-version", "edge-25.10.1")


def linkerd_native_sidecar(value: Json) -> Json:
    """``config.beta.linkerd.io/proxy-enable-native-sidecar``."""
    pod = linkerd(value)
    proxy = pod["spec"]["containers"].pop(0)
    startup = {"httpGet": LINKERD_READY["httpGet"], "periodSeconds": 1, "failureThreshold": 120}
    pod["spec"]["initContainers"].append({**proxy, "restartPolicy": "Always", "startupProbe": startup})
    return pod


def _linkerd_proxy() -> Json:
    return {
        "name": "linkerd-proxy",
        "image": "cr.l5d.io/linkerd/proxy:edge-25.10.1",
        "env": [{"name": "LINKERD2_PROXY_ADMIN_LISTEN_ADDR", "value": "0.0.0.0:4191"}],
        "livenessProbe": copy.deepcopy(LINKERD_LIVE),
        "readinessProbe": copy.deepcopy(LINKERD_READY),
        "ports": [
            {"containerPort": 4143, "name": "linkerd-proxy"},
            {"containerPort": 4191, "name": "linkerd-admin"},
        ],
        "securityContext": {"runAsUser": 2102},
    }


def _linkerd_init() -> Json:
    return {"name": "linkerd-init", "image": "cr.l5d.io/linkerd/proxy-init:v2.4.3", "args": ["--proxy-uid", "2102"]}


def _labelled(pod: Json, key: str, text: str) -> Json:
    annotations = pod["metadata"].get("annotations") or {}
    pod["metadata"]["annotations"] = {**annotations, key: text}
    return pod
