"""The cost of a manifest before its first probe."""

import json
from pathlib import Path

import pytest
import yaml
from probelet.spec import encode_pod, load
from pytest_benchmark.fixture import BenchmarkFixture

pytestmark = pytest.mark.bench

PODS = 1_000

MANIFEST = """\
apiVersion: v1
kind: Pod
metadata:
  name: pod-{number}
spec:
  containers:
    - name: app
      command: [./serve]
      ports: [{{ name: http, containerPort: 8080 }}]
      livenessProbe:
        httpGet: {{ path: /healthz, port: http }}
        periodSeconds: 5
      readinessProbe:
        httpGet: {{ path: /readyz, port: http }}
        periodSeconds: 1
---
"""


@pytest.fixture(scope="module")
def manifests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("manifests") / "pods.yaml"
    path.write_text("".join(MANIFEST.format(number=number) for number in range(PODS)))
    return path


def test_load_1000_pods_of_yaml(benchmark: BenchmarkFixture, manifests: Path) -> None:
    loaded = benchmark.pedantic(load, args=([manifests],), rounds=3)
    assert len(loaded.pods) == PODS


def test_load_1000_pods_of_json(benchmark: BenchmarkFixture, manifests: Path, tmp_path: Path) -> None:
    for number, document in enumerate(yaml.load_all(manifests.read_text(), yaml.CSafeLoader)):
        if document is not None:
            (tmp_path / f"{number}.json").write_text(json.dumps(document))
    loaded = benchmark.pedantic(load, args=([tmp_path],), rounds=3)
    assert len(loaded.pods) == PODS


def test_encode_1000_pods_for_the_engine(benchmark: BenchmarkFixture, manifests: Path) -> None:
    pods = [manifest.pod for manifest in load([manifests]).pods]
    benchmark.pedantic(lambda: [encode_pod(pod) for pod in pods], rounds=5)
