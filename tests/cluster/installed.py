"""probelet in the cluster: our image, imported, and our manifests, applied by kubectl as people apply them."""

import json
import os
from pathlib import Path

from tests.cluster.cluster import Cluster, condition
from tests.cluster.control.api import Object
from tests.cluster.control.control_plane import NODE_NAME, PORT
from tests.cluster.machine.keeper import NODE_IP
from tests.support.paths import BUILD, ROOT
from tests.system.containerd.machine import until

IMAGE = BUILD / "image" / "probelet.tar"
"""`make image` makes it."""
OVERLAY = ROOT / "deploy" / "kustomize" / "overlays" / "test"
SYSTEM = "probelet-system"
AGENT, WEBHOOK, CONFIGURATION = "probelet-agent", "probelet-webhook", "zz-probelet"
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


class Installed:
    """The agent as a DaemonSet's pod on the kubelet, and the webhook behind its Service."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._api = cluster, cluster.api
        self.kustomization = cluster.folder / "kustomization"
        """The base for this cluster: its image is never pulled, and there is no kube-proxy."""

    def install(self) -> None:
        """Raises RuntimeError if it does not become ready."""
        self._cluster.runtime.import_image(IMAGE)
        self.choose_node(True)
        self.apply()
        until(self.is_ready, "the agent and the webhook to be ready", READY_SECONDS)

    def apply(self, patch: Object | None = None) -> None:
        """Apply the manifests, with another patch of the agent's DaemonSet or without."""
        folder = self.kustomization
        folder.mkdir(exist_ok=True)
        # kustomize takes no absolute path.
        overlay = os.path.relpath(OVERLAY, folder)
        text = KUSTOMIZATION.format(overlay=overlay, system=SYSTEM, host=NODE_IP, port=PORT)
        if patch is not None:
            metadata = {"name": AGENT, "namespace": SYSTEM}
            body = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": {"template": patch}}
            (folder / "agent.json").write_text(json.dumps(body))
            text += "patches: [{path: agent.json}]\n"
        (folder / "kustomization.yaml").write_text(text)
        self._cluster.kubectl("apply", "-k", folder)

    def choose_node(self, chosen: bool) -> None:
        """Whether the node is one that gets an agent."""
        labels = {"probelet.dev/test": "true" if chosen else None}
        self._api.patch(f"/api/v1/nodes/{NODE_NAME}", {"metadata": {"labels": labels}})

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
        return any(condition(one, "Ready") == "True" for one in self.agent_pods())

    def agent_container(self) -> str:
        """The ID of the agent's running container, by the runtime; empty if there is none."""
        running = self._cluster.runtime.running("agent", SYSTEM)
        return running[0] if running else ""

    def kill_agent(self) -> None:
        """SIGKILL to the agent, once it runs; the kubelet starts its container again."""
        until(self.agent_container, "the agent to run")
        self._cluster.runtime.ctr("tasks", "kill", "-s", "9", self.agent_container())

    def configure_agent(self, patch: Object | None = None) -> None:
        """Apply the manifests with another patch of the agent's template, and wait for its new pod."""
        before = {one["metadata"]["uid"] for one in self.agent_pods()}
        self.apply(patch)
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

    # The webhook.

    def webhook_is_ready(self) -> bool:
        deployment = self._api.get(f"/apis/apps/v1/namespaces/{SYSTEM}/deployments/{WEBHOOK}")
        wanted = deployment["spec"]["replicas"]
        path = f"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/{CONFIGURATION}"
        trusted = all("caBundle" in one["clientConfig"] for one in self._api.get(path)["webhooks"])
        return trusted and bool(deployment.get("status", {}).get("readyReplicas", 0) == wanted)

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


def taken_probes(pod: Object) -> dict[str, dict[str, object]]:
    """The probes that probelet took over, by container."""
    annotation = pod["metadata"].get("annotations", {}).get("probelet.dev/probes", "{}")
    probes: dict[str, dict[str, object]] = json.loads(annotation)
    return probes
