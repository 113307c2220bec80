"""``run`` reports every mistake in one line before it starts anything."""

import socket
from pathlib import Path

import pytest

from tests.system.cli.conftest import Start, manifest, probelet, processes_with, refusing, wait_for, with_image

pytestmark = pytest.mark.e2e


@pytest.fixture
def good(tmp_path: Path, marker: str) -> str:
    path = tmp_path / "good.yaml"
    path.write_text(manifest("good", marker))
    return str(path)


def test_run_refuses_a_taken_port(good: str, tmp_path: Path, marker: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = probelet("run", good, "--listen", address, "--state-dir", str(tmp_path / "state"))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        f"probelet run: --listen {address}: the port is taken; choose another, or 0 for any free port\n"
    )
    assert processes_with(marker) == []
    assert not (tmp_path / "state").exists()


def test_a_second_service_in_one_state_directory(start: Start, good: str) -> None:
    run = start(good)
    run.line("listening")
    ended = probelet("run", good, "--listen", "127.0.0.1:0", "--state-dir", str(run.state_dir))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        f"probelet run: --state-dir {run.state_dir}: another probelet (pid {run.process.pid}) runs here; "
        "stop it or choose another\n"
    )
    assert run.verb("status").returncode == 0


def test_a_strict_run_reports_all_mistakes_in_manifests_and_starts_nothing(
    good: str, tmp_path: Path, marker: str
) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(manifest("bad", marker, probe="    livenessProbe: {periodSeconds: -1, exec: {command: [a]}}"))
    missing = tmp_path / "missing.yaml"
    ended = refusing("run", good, str(bad), str(missing), "--strict", "--listen", "127.0.0.1:0")
    assert (ended.returncode, ended.stdout) == (2, "")
    lines = ended.stderr.splitlines()
    assert all(line.startswith("probelet run: ") for line in lines)
    assert any(f"{bad}:" in line and "livenessProbe.periodSeconds" in line for line in lines)
    assert any(line == f"probelet run: {missing}: cannot be read: No such file or directory" for line in lines)
    assert processes_with(marker) == []


def test_run_reports_all_mistakes_in_the_configuration(good: str, tmp_path: Path, marker: str) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nruntimeRequestTimeout: -1s\n"
        "---\napiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\nphaze: spread\n"
    )
    ended = refusing("run", good, "--config", str(config), "--feature-gates", "NoSuch=true", "--listen", "127.0.0.1:0")
    assert (ended.returncode, ended.stdout) == (2, "")
    lines = ended.stderr.splitlines()
    assert [line.split(": ")[:2] for line in lines[:2]] == [
        ["probelet run", f"{config}:3"],
        ["probelet run", f"{config}:7"],
    ]
    assert "runtimeRequestTimeout" in lines[0]
    assert "phaze" in lines[1]
    assert "NoSuch" in lines[2]
    assert processes_with(marker) == []


def test_mistakes_that_the_kubelet_warns_about_are_warnings(start: Start, good: str, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nnoSuchField: 1\n")
    run = start(good, "--config", str(config))
    assert run.line("noSuchField")["level"] == "warning"
    run.line("listening")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--listen", "here"], 2, "--listen 'here': want HOST:PORT"),
        (["--runtime", "docker"], 2, "--runtime: runtime endpoint 'docker': must be unix://"),
        (["--runtime", "unix:///nowhere.sock"], 3, "runtime endpoint unix:///nowhere.sock: No such file or directory"),
        (["--duration", "soon"], 2, '"soon" is not a duration above zero'),
        (["--log-level", "loud"], 2, 'Invalid value "loud" for --log-level'),
    ],
)
def test_run_refuses_invalid_options(good: str, tmp_path: Path, options: list[str], code: int, message: str) -> None:
    listen = [] if "--listen" in options else ["--listen", "127.0.0.1:0"]
    if "--runtime" in options:
        Path(good).write_text(with_image(Path(good).read_text()))
    ended = probelet("run", good, *listen, *options, "--state-dir", str(tmp_path / "state"))
    assert (ended.returncode, ended.stdout) == (code, "")
    complaint = [line for line in ended.stderr.splitlines() if line.startswith("probelet run: ")]
    assert len(complaint) == 1
    assert message in complaint[0]
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "state").exists()


def test_a_node_that_denies_hosts_in_probes_refuses_them_at_their_line(
    good: str, start: Start, tmp_path: Path, marker: str
) -> None:
    """KEP-4940, Pod Security baseline since 1.34; the kubelet itself accepts these hosts."""
    bad = tmp_path / "bad.yaml"
    probe = "    readinessProbe:\n      httpGet:\n        port: 80\n        host: 10.0.0.1"
    bad.write_text(manifest("bad", marker, probe=probe))
    config = tmp_path / "config.yaml"
    config.write_text("apiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\ndenyHostProbes: true\n")
    ended = refusing("run", str(bad), "--config", str(config), "--listen", "127.0.0.1:0")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        f"probelet run: {bad}:13: spec.containers[0].readinessProbe.httpGet.host: Forbidden: violates PodSecurity "
        '"baseline:v1.34": probe or lifecycle host (container "app" uses probe or lifecycle host "10.0.0.1")\n'
    )
    assert processes_with(marker) == []
    run = start(good, str(bad))
    run.line("listening")
    wait_for(lambda: len(run.status()) == 2, "both pods without the option")
