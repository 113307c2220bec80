import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Probelet

KUBELET = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"


@pytest.fixture(autouse=True)
def in_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_json_has_the_curve_the_gates_and_their_origins(probelet: Probelet) -> None:
    Path("c.yaml").write_text(KUBELET + "crashLoopBackOff: {maxContainerRestartPeriod: 4500ms}\nnope: 1\n")
    ended = probelet("config", "show", "--config", "c.yaml", "--feature-gates", "AllAlpha=true", "-o", "json")
    found = json.loads(ended.out)
    assert (ended.code, ended.err, found["schema"]) == (0, "", "probelet-config/1")
    assert found["crashLoopBackOff"] == {
        "initial_seconds": 1,
        "max_seconds": 4.5,
        "reset_seconds": 600,
        "source": "node",
    }
    assert found["featureGates"]["ReduceDefaultCrashLoopBackOffDecay"] is True
    assert found["kubeletconfig"]["crashLoopBackOff"] == {"maxContainerRestartPeriod": "4.5s"}
    assert found["kubeletconfig"]["runtimeRequestTimeout"] == "2m0s"
    assert found["probeletconfig"]["restartTimer"] == "exact"
    assert found["origins"] == {
        "crashLoopBackOff.maxContainerRestartPeriod": "c.yaml:3",
        "featureGates[AllAlpha]": "--feature-gates",
    }
    assert found["warnings"] == ["c.yaml:4: nope: unknown field, ignored"]


def test_the_table_names_file_and_line(probelet: Probelet) -> None:
    Path("d").mkdir()
    Path("d/a.conf").write_text(KUBELET + "crashLoopBackOff: {maxContainerRestartPeriod: 4s}\n")
    ended = probelet("config", "show", "--config-dir", "d")
    assert ended.code == 0
    rows = [line.split() for line in ended.out.splitlines()]
    assert ["restart", "delay", "4s", "to", "4s", "node"] in rows
    assert ["crashLoopBackOff.maxContainerRestartPeriod", "4s", "d/a.conf:3"] in rows
    assert ["featureGates[KubeletCrashLoopBackOffMax]", "true", "default"] in rows


def test_a_refused_start_creates_no_files(probelet: Probelet) -> None:
    Path("c.yaml").write_text(KUBELET + "crashLoopBackOff: {maxContainerRestartPeriod: 0s}\n")
    Path("pod.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a}]}\n")
    ended = probelet("run", "pod.yaml", "--config", "c.yaml", "--state-dir", "state")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("probelet run: c.yaml:3: crashLoopBackOff.maxContainerRestartPeriod: Invalid value")
    assert not Path("state").exists()


def test_a_refused_configuration_is_one_line_a_mistake_and_exit_2(probelet: Probelet) -> None:
    Path("c.yaml").write_text(KUBELET + "crashLoopBackOff: {maxContainerRestartPeriod: 0s}\nnope: 1\n")
    ended = probelet("config", "show", "--config", "c.yaml", "--strict-config", "-o", "json")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines()[:2] == [
        "probelet config: c.yaml:3: crashLoopBackOff.maxContainerRestartPeriod: "
        'Invalid value: "0s": must be set between 1s and 300s',
        "probelet config: c.yaml:4: nope: unknown field",
    ]
