"""Requests at a fixed rate over kept connections, as an API server sends them, and how long each took."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import aiohttp
import msgspec

from benches.admission.replica import unverified

WARM_REQUESTS = 50


@dataclass
class Latencies:
    """Seconds of the answered requests, and how many were not answered."""

    seconds: list[float] = field(default_factory=list)
    failed: int = 0

    def quantile(self, share: float) -> float:
        """Milliseconds."""
        ordered = sorted(self.seconds)
        return 1e3 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def review(containers: int) -> bytes:
    """A review of a new pod with three probes in each container, and the fields that an API server fills in."""
    action = {"path": "/healthz", "port": "http", "scheme": "HTTP"}
    counts = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
    probe: dict[str, object] = {**counts, "httpGet": action}
    given = [
        {
            "name": f"container-{number}",
            "image": "registry.example/team/service:1.2.3",
            "ports": [{"name": "http", "containerPort": 8080 + number, "protocol": "TCP"}],
            "env": [{"name": f"VARIABLE_{index}", "value": "some value of a usual length"} for index in range(10)],
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
            "volumeMounts": [{"name": "config", "mountPath": "/etc/service"}],
            "livenessProbe": probe,
            "readinessProbe": probe,
            "startupProbe": probe | {"failureThreshold": 30},
            "terminationMessagePath": "/dev/termination-log",
            "imagePullPolicy": "IfNotPresent",
        }
        for number in range(containers)
    ]
    metadata = {"generateName": "web-7d9c-", "labels": {"app": "web", "probelet.dev/managed": "true"}}
    pod = {"metadata": metadata, "spec": {"restartPolicy": "Always", "containers": given}}
    request = {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "operation": "CREATE",
        "namespace": "default",
        "object": pod,
        "oldObject": None,
        "dryRun": False,
    }
    return msgspec.json.encode({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})


async def apply(body: bytes, rate: int, seconds: float, urls: Callable[[int], Sequence[str]]) -> Latencies:
    """Sends ``body`` at ``rate``; ``urls`` gives the replicas that the request with this number may go to."""
    found = Latencies()
    connector = aiohttp.TCPConnector(ssl=unverified(), limit=0, keepalive_timeout=90)
    async with aiohttp.ClientSession(connector=connector) as client:
        for number in range(WARM_REQUESTS):
            await _one(client, body, urls(number)[number % len(urls(number))], Latencies())
        tasks = []
        began = time.perf_counter()
        for number in range(max(1, round(rate * seconds))):
            await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
            ready = urls(number)
            tasks.append(asyncio.create_task(_one(client, body, ready[number % len(ready)], found)))
        await asyncio.gather(*tasks)
    return found


async def _one(client: aiohttp.ClientSession, body: bytes, url: str, found: Latencies) -> None:
    began = time.perf_counter()
    try:
        async with client.post(url, data=body, headers={"Content-Type": "application/json"}) as answer:
            response = msgspec.json.decode(await answer.read())["response"]
    except (aiohttp.ClientError, msgspec.DecodeError):
        found.failed += 1
        return
    if answer.status == 200 and response["allowed"] and response["patch"]:
        found.seconds.append(time.perf_counter() - began)
    else:
        found.failed += 1
