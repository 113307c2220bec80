"""probelet in the cluster: our image, imported, and our manifests, applied by kubectl as people apply them."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from tests.cluster.cluster import Cluster, condition
from tests.cluster.control_plane.api import Object
from tests.cluster.control_plane.plane import NODE_NAME, PORT
from tests.cluster.machine.keeper import NODE_IP
from tests.support.paths import BUILD, ROOT
from tests.system.containerd.machine import until

IMAGE = BUILD / "image" / "probelet.tar"
"""`make image` makes it."""
OVERLAY = ROOT / "deploy" / "kustomize" / "overlays" / "test"
SYSTEM = "probelet-system"
AGENT, WEBHOOK, CONFIGURATION = "probelet-agent", "probelet-webhook", "zz-probelet"
ENHANCED = ROOT / "deploy" / "kustomize" / "components" / "enhanced-liveness"
CONTROLLER = "probelet-controller"
STATE = "var/lib/probelet-agent"
"""The agent's state directory on the node."""

READY_SECONDS = 120.0

KUSTOMIZATION = """
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [{overlay}]
configMapGenerator:
  - name: probelet-api-server
    namespace: {system}
    behavior: replace
    literals: [KUBERNETES_SERVICE_HOST={host}, KUBERNETES_SERVICE_PORT={port}]
"""


CONTROLLER_HERE: Object = {
    "nodeSelector": {"probelet.dev/test": "true"},
    "containers": [
        {
            "name": "controller",
            "imagePullPolicy": "Never",
            "envFrom": [{"configMapRef": {"name": "probelet-api-server"}}],
        }
    ],
}
"""What the overlay changes of the other pods, for the controller of the component."""


class Installed:
    """The agent as a DaemonSet's pod on the kubelet, and the webhook behind its Service."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._api = cluster, cluster.api
        self.kustomization = cluster.folder / "kustomization"
        """The base for this cluster: its image is never pulled, and there is no kube-proxy."""
        self._is_enhanced = False

    def install(self) -> None:
        """Raises RuntimeError if it does not become ready."""
        for node in self._cluster.nodes:
            node.runtime.import_image(IMAGE)
            self.choose_node(True, node.name)
        self.apply()
        until(self.is_ready, "the agent and the webhook to be ready", READY_SECONDS)

    def enhance(self) -> None:
        """Apply enhanced liveness as well. Raises RuntimeError if its controllers do not become ready."""
        self._is_enhanced = True
        before = {one["metadata"]["uid"] for one in self.agent_pods()}
        self.apply()
        until(lambda: self._is_another(before), "another pod of the agent", READY_SECONDS)
        until(self.controller_is_ready, "the controllers to be ready", READY_SECONDS)
        until(self.is_ready, "the agent and the webhook to be ready", READY_SECONDS)

    def apply(self, patch: Object | None = None, overlay: Path | None = None) -> None:
        """Apply the manifests, with another patch of the agent's DaemonSet or without, and with the patches of another
        overlay of ours or without."""
        folder = self.kustomization
        folder.mkdir(exist_ok=True)
        # kustomize takes no absolute path.
        text = KUSTOMIZATION.format(overlay=os.path.relpath(OVERLAY, folder), system=SYSTEM, host=NODE_IP, port=PORT)
        # kustomize reads no patch from another folder.
        patched = patches_of(overlay) if overlay else []
        patches = {f"overlay-{number}.yaml": one for number, one in enumerate(patched)}
        if patch is not None:
            patches["agent.json"] = _patch("DaemonSet", AGENT, patch)
        if self._is_enhanced:
            text += f"components: [{os.path.relpath(ENHANCED, folder)}]\n"
            patches["controller.json"] = _patch("Deployment", CONTROLLER, {"spec": CONTROLLER_HERE})
        for name, body in patches.items():
            (folder / name).write_text(body)
        text += f"patches: {json.dumps([{'path': name} for name in patches])}\n"
        (folder / "kustomization.yaml").write_text(text)
        self._cluster.kubectl("apply", "-k", folder)

    def choose_node(self, chosen: bool, name: str = NODE_NAME) -> None:
        """Whether a node is one that gets an agent."""
        labels = {"probelet.dev/test": "true" if chosen else None}
        self._api.patch(f"/api/v1/nodes/{name}", {"metadata": {"labels": labels}})

    @contextmanager
    def without_agent(self) -> Iterator[None]:
        """The first node has lost its agent; in the end it has one again. The webhook stays."""
        self.choose_node(False)
        until(lambda: not self.agent_pods(), "the agent to go")
        try:
            yield
        finally:
            self.choose_node(True)
            # A kubelet that starts anew refuses pods that ran on a node with the label.
            self._cluster.kubectl("delete", "pods", "-n", SYSTEM, "--field-selector=status.phase=Failed")
            until(self.is_ready, "the agent")

    def in_agent(self, *arguments: str) -> str:
        """What a verb prints in the agent's pod."""
        verb = ["probelet", *arguments, f"--state-dir=/{STATE}"]
        return self._cluster.kubectl("exec", "-n", SYSTEM, f"daemonset/{AGENT}", "--", *verb)

    def is_ready(self) -> bool:
        return self.agent_is_ready() and self.webhook_is_ready()

    # The agent.

    def agent_pods(self) -> list[Object]:
        return self._pods("agent")

    def agent_is_ready(self) -> bool:
        """Whether each node that is switched on has an agent that is ready."""
        ready = {one["spec"]["nodeName"] for one in self.agent_pods() if condition(one, "Ready") == "True"}
        return {node.name for node in self._cluster.nodes if node.is_on} <= ready

    def agent_container(self) -> str:
        """The ID of the running container of the first node's agent, by the runtime; empty if there is none."""
        running = self._cluster.runtime.running("agent", SYSTEM)
        return running[0] if running else ""

    def kill_agent(self) -> None:
        """SIGKILL to the agent, once it runs; the kubelet starts its container again."""
        until(self.agent_container, "the agent to run")
        killed = self.agent_container()
        self._cluster.runtime.ctr("tasks", "kill", "-s", "9", killed)
        # The runtime needs a moment to notice, and would name the killed container as the running one until then.
        until(lambda: self.agent_container() != killed, "the end of the killed agent")

    def worker(self) -> int:
        """The process of the first node's agent below its parent, by its number on that node; 0 if there is none."""
        parent = self._cluster.runtime.pid_of(self.agent_container())
        found = self._cluster.runtime.command("cat", f"/proc/{parent}/task/{parent}/children").split()
        return int(found[0]) if found else 0

    def signal_worker(self, number: signal.Signals) -> int:
        """A signal to that process, once it runs; returns which one it was."""
        until(self.worker, "the agent below its parent")
        worker = self.worker()
        self._cluster.runtime.command("sh", "-c", f"kill -{int(number)} {worker}")
        return worker

    def configure_agent(self, patch: Object | None = None, overlay: Path | None = None) -> None:
        """Apply the manifests with another patch of the agent's template or an overlay, and wait for its new pod."""
        before = {one["metadata"]["uid"] for one in self.agent_pods()}
        self.apply(patch, overlay)
        until(lambda: self._is_another(before), "another pod of the agent", READY_SECONDS)

    def _is_another(self, before: set[str]) -> bool:
        pods = self.agent_pods()
        return self.agent_is_ready() and not before & {one["metadata"]["uid"] for one in pods}

    def state(self) -> Path:
        """The agent's state directory."""
        return self._cluster.folder / STATE

    def intents(self) -> list[str]:
        """The kills under way that the agent has on disk."""
        return sorted(path.name for path in (self.state() / "intents").glob("*"))

    # The controller.

    def controller_pods(self) -> list[Object]:
        return self._pods("controller")

    def controller_is_ready(self) -> bool:
        return _is_complete(self._deployment(CONTROLLER))

    def leader(self) -> str:
        """The process that decides, ``POD_NUMBER``; empty if none does. A container started again is another one."""
        path = f"/apis/coordination.k8s.io/v1/namespaces/{SYSTEM}/leases/{CONTROLLER}"
        return str(self._api.get(path)["spec"].get("holderIdentity") or "")

    def leading_pod(self) -> Object:
        """The pod of the controller that decides."""
        name = self.leader().partition("_")[0]
        (pod,) = [one for one in self.controller_pods() if one["metadata"]["name"] == name]
        return pod

    def kill_leader(self) -> None:
        """SIGKILL to the controller that decides; the kubelet starts its container again."""
        pod = self.leading_pod()
        container = pod["status"]["containerStatuses"][0]["containerID"].partition("://")[2]
        self._cluster.node(pod["spec"]["nodeName"]).runtime.ctr("tasks", "kill", "-s", "9", container)

    def settings(self, **data: str) -> None:
        """Change keys of the controller's ConfigMap; ``_`` stands for a dot in the names."""
        found = {name.replace("_", "."): value for name, value in data.items()}
        self._api.patch(f"/api/v1/namespaces/{SYSTEM}/configmaps/elp-config", {"data": found})

    # The webhook.

    def webhook_is_ready(self) -> bool:
        path = f"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/{CONFIGURATION}"
        trusted = all("caBundle" in one["clientConfig"] for one in self._api.get(path)["webhooks"])
        if not trusted:
            return False
        deployment = self._deployment(WEBHOOK)
        return _is_complete(deployment) and self._endpoints(WEBHOOK) == deployment["spec"]["replicas"]

    def _deployment(self, name: str) -> Object:
        return self._api.get(f"/apis/apps/v1/namespaces/{SYSTEM}/deployments/{name}")

    def _endpoints(self, service: str) -> int:
        """How many are ready. After an outage they come seconds after the ready pods, and until then the API server
        admits pods without the webhook."""
        slices = self._api.items(
            f"/apis/discovery.k8s.io/v1/namespaces/{SYSTEM}/endpointslices",
            labelSelector=f"kubernetes.io/service-name={service}",
        )
        endpoints = [one for each in slices for one in each.get("endpoints") or []]
        return sum(bool(one.get("conditions", {}).get("ready")) for one in endpoints)

    def scale_webhook(self, replicas: int) -> None:
        """Change the number of replicas and wait for it."""
        path = f"/apis/apps/v1/namespaces/{SYSTEM}/deployments/{WEBHOOK}"
        self._api.patch(path, {"spec": {"replicas": replicas}})
        # A pod that ends still answers on connections that the API server has kept.
        until(lambda: len(self._pods("webhook")) == replicas, f"{replicas} of the webhook", READY_SECONDS)
        until(self.webhook_is_ready, "the webhook to be ready", READY_SECONDS)

    def _pods(self, component: str) -> list[Object]:
        labels = f"app.kubernetes.io/component={component}"
        return self._api.items(f"/api/v1/namespaces/{SYSTEM}/pods", labelSelector=labels)


def _is_complete(deployment: Object) -> bool:
    return bool(deployment.get("status", {}).get("readyReplicas", 0) == deployment["spec"]["replicas"])


def _patch(kind: str, name: str, template: Object) -> str:
    metadata = {"name": name, "namespace": SYSTEM}
    return json.dumps({"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": {"template": template}})


def patches_of(overlay: Path) -> list[str]:
    """The patches of an overlay."""
    listed = yaml.safe_load((overlay / "kustomization.yaml").read_text())["patches"]
    return [(overlay / one["path"]).read_text() for one in listed]


def taken_probes(pod: Object) -> dict[str, dict[str, object]]:
    """The probes that probelet took over, by container."""
    annotation = pod["metadata"].get("annotations", {}).get("probelet.dev/probes", "{}")
    probes: dict[str, dict[str, object]] = json.loads(annotation)
    return probes
