"""Image pulls of a node: one at a time, or as many as the kubelet's configuration permits."""

import asyncio
from pathlib import Path

import pytest
from probelet.config import load_config
from probelet.config.kubelet import parallel_pulls
from probelet.node.effects.images import Images
from probelet.runtime.cri.v1 import api_pb2

from tests.unit.node.scripted_runtime import ScriptedRuntime


@pytest.mark.parametrize(("parallel", "at_once"), [(1, 1), (2, 2), (None, 3)])
async def test_no_more_pulls_run_side_by_side_than_the_limit_permits(
    runtime: ScriptedRuntime, tmp_path: Path, parallel: int | None, at_once: int
) -> None:
    client = await runtime.serve(tmp_path)
    runtime.held["pull_image"] = asyncio.Event()
    images = Images(client, lambda: 0, parallel)
    pulls = [asyncio.ensure_future(images.pull(name, api_pb2.PodSandboxConfig())) for name in ("a", "b", "c")]
    while len(runtime.called("pull_image")) < at_once:
        await client.version()
    for _ in range(20):
        await client.version()
    assert len(runtime.called("pull_image")) == at_once
    runtime.held["pull_image"].set()
    assert [outcome.id for outcome in await asyncio.gather(*pulls)] == ["sha256:a", "sha256:b", "sha256:c"]
    await client.aclose()
    await runtime.stop()


async def test_a_pull_reports_its_duration_with_and_without_waiting_and_the_size(
    runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    client = await runtime.serve(tmp_path)
    clock = iter([0, 1_000, 5_000])
    outcome = await Images(client, lambda: next(clock)).pull("a", api_pb2.PodSandboxConfig())
    assert (outcome.pull.took_ns, outcome.pull.with_wait_ns, outcome.pull.size) == (4_000, 5_000, 1000)
    await client.aclose()
    await runtime.stop()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("", 1),
        ("serializeImagePulls: true", 1),
        ("serializeImagePulls: false", None),
        ("maxParallelImagePulls: 4", 4),
        ("maxParallelImagePulls: 1", 1),
        ("{serializeImagePulls: false, maxParallelImagePulls: 3}", 3),
    ],
)
def test_the_kubelets_configuration_sets_the_number_of_parallel_pulls(
    tmp_path: Path, fields: str, expected: int | None
) -> None:
    path = tmp_path / "c.yaml"
    inner = fields.strip("{}").replace(", ", "\n")
    path.write_text(f"apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n{inner}\n")
    assert parallel_pulls(load_config(path).kubelet) == expected
