import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.cli.conftest import Probelet

LONG = "web-" * 12 + "x"
ALIVE = {"tcpSocket": {"port": 80}}


def written(folder: Path, name: str = "a.yaml", **spec: Any) -> Path:
    """A Deployment ``shop/web`` whose container ``app`` has these fields; ``pod`` are fields of the pod."""
    pod, container = spec.pop("pod", {}), {"name": "app", "image": "i", **spec}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container], **pod}}
    path = folder / name
    document = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    }
    path.write_text(yaml.dump(document))
    return path


def document(probelet: Probelet, *arguments: str | Path) -> dict[str, Any]:
    ended = probelet("explain", *map(str, arguments), "-o", "json")
    assert (ended.code, ended.err) == (0, "")
    found: dict[str, Any] = json.loads(ended.out)
    return found


def test_the_document_of_a_probe(probelet: Probelet, tmp_path: Path) -> None:
    assert document(probelet, written(tmp_path, livenessProbe=ALIVE)) == {
        "schema": "probelet-explain/1",
        "probes": [
            {
                "object": "Deployment/shop/web",
                "container": "app",
                "type": "liveness",
                "first_probe_seconds": [0, 10],
                "to_ready_seconds": None,
                "to_unready_seconds": None,
                "to_kill_seconds": [20, 31],
                "startup_budget_seconds": [20, 31],
                "crash_loop": {"plateau_seconds": 300, "after_restarts": 8, "reached_seconds": [380, 728]},
            }
        ],
    }


def test_the_text_says_it_in_80_columns(probelet: Probelet, tmp_path: Path) -> None:
    long = {**ALIVE, "initialDelaySeconds": 86400, "periodSeconds": 3600, "timeoutSeconds": 7200}
    path = written(tmp_path, livenessProbe=long, readinessProbe={**long, "successThreshold": 5}, startupProbe=ALIVE)
    path.write_text(path.read_text().replace("name: web", f"name: {LONG}"))
    ended = probelet("explain", str(path))
    assert (ended.code, ended.err) == (0, "")
    assert max(map(len, ended.out.splitlines())) <= 80
    text = " ".join(ended.out.split())
    assert f"Deployment/shop/{LONG}, container app: startup probe" in text
    assert "The start may take 20 s for sure, not failureThreshold x periodSeconds = 30 s" in text
    assert "This probe waits for the startup probe." in text
    assert "A kill gives the container 30 s from SIGTERM to SIGKILL." in text


@pytest.mark.parametrize(
    ("fields", "release", "expected"),
    [
        ({"pod": {"restartPolicy": "Never"}}, "1.36", None),
        ({"restartPolicy": "Never"}, "1.36", None),
        # The gate ContainerRestartRules is off in 1.34: the container's own policy does not count.
        ({"restartPolicy": "Never"}, "1.34", 300),
        ({"livenessProbe": {**ALIVE, "initialDelaySeconds": 600}}, "1.36", 0),
    ],
)
def test_the_plateau_follows_the_restart_policy_of_the_release(
    probelet: Probelet, tmp_path: Path, fields: dict[str, Any], release: str, expected: int | None
) -> None:
    manifest = yaml.safe_load(written(tmp_path, **{"livenessProbe": ALIVE, **fields}).read_text())
    # A Deployment allows no restartPolicy but Always.
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": manifest["spec"]["template"]["spec"],
    }
    path = tmp_path / "pod.yaml"
    path.write_text(yaml.dump(pod))
    (found,) = document(probelet, path, "--kubelet-version", release)["probes"]
    assert found["object"] == "Pod/default/p"
    assert (found["crash_loop"] or {}).get("plateau_seconds") == expected


def test_a_probe_of_its_own_grace_and_a_sidecar(probelet: Probelet, tmp_path: Path) -> None:
    sidecar = {"name": "proxy", "image": "i", "restartPolicy": "Always", "livenessProbe": ALIVE}
    path = written(
        tmp_path, pod={"initContainers": [sidecar]}, livenessProbe={**ALIVE, "terminationGracePeriodSeconds": 1}
    )
    out = " ".join(probelet("explain", str(path)).out.split())
    assert out.startswith("Deployment/shop/web, sidecar proxy: liveness probe")
    assert "A kill gives the container 2 s from SIGTERM to SIGKILL." in out, "the kubelet's least"


def test_against_shows_what_differs_and_nothing_else(probelet: Probelet, tmp_path: Path) -> None:
    old = written(tmp_path, livenessProbe=ALIVE, readinessProbe=ALIVE)
    new = written(
        tmp_path, "b.yaml", livenessProbe={**ALIVE, "failureThreshold": 6}, startupProbe=ALIVE, readinessProbe=ALIVE
    )
    out = probelet("explain", str(old), "--against", str(new)).out
    lines = [line.split() for line in out.splitlines()]
    assert ["failureThreshold", "3", "6"] in lines
    assert ["kill", "20", "to", "31", "s", "50", "to", "61", "s"] in lines
    assert "only in --against" in out
    assert "periodSeconds" not in out
    same = probelet("explain", str(old), "--against", str(old))
    assert same.out == "no probe differs in its seconds\n"
    both = document(probelet, old, "--against", new)
    assert [len(both["probes"]), len(both["against"]["probes"])] == [2, 3]


def test_a_mistake_costs_its_object_and_the_exit_code(probelet: Probelet, tmp_path: Path) -> None:
    good = written(tmp_path, livenessProbe=ALIVE)
    bad = written(tmp_path, "b.yaml", livenessProbe={**ALIVE, "periodSeconds": -1})
    ended = probelet("explain", str(good), str(bad), str(tmp_path / "none.yaml"))
    assert ended.code == 2
    assert "Deployment/shop/web, container app: liveness probe" in ended.out
    assert "periodSeconds: Invalid value: -1: must be greater than or equal to 0" in ended.err
    assert "none.yaml" in ended.err


def test_a_manifest_without_probes_is_no_mistake(probelet: Probelet, tmp_path: Path) -> None:
    ended = probelet("explain", str(written(tmp_path)))
    assert (ended.code, ended.out) == (0, "no container has a probe\n")


def test_only_some_containers(probelet: Probelet, tmp_path: Path) -> None:
    side = {"name": "side", "image": "i", "livenessProbe": ALIVE}
    path = tmp_path / "a.yaml"
    made = yaml.safe_load(written(tmp_path, livenessProbe=ALIVE).read_text())
    made["spec"]["template"]["spec"]["containers"].append(side)
    path.write_text(yaml.dump(made))
    for name in ("side", "web/side"):
        assert [probe["container"] for probe in document(probelet, path, "--container", name)["probes"]] == ["side"]
    ended = probelet("explain", str(path), "--container", "nope")
    assert ended.code == 2
    there = "those with one: web/app, web/side"
    assert ended.err == f'probelet explain: --container: no container "nope" has a probe; {there}\n'


def test_a_file_that_cannot_be_read_is_no_version_without_probes(probelet: Probelet, tmp_path: Path) -> None:
    web, none = str(written(tmp_path, livenessProbe=ALIVE)), str(tmp_path / "none.yaml")
    mistake = f"probelet explain: {none}: cannot be read: No such file or directory\n"
    for arguments in ((none,), (none, "--against", web), (web, "--against", none)):
        ended = probelet("explain", *arguments)
        assert (ended.code, ended.out, ended.err) == (2, "", mistake)
