"""A fix keeps what the probe did: the probe and the fixed one have the same verdict about servers of each behaviour.
The clients are models from their manuals, with times as numbers; nothing here waits."""

import random
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from probelet.lint.engine import lint
from probelet.lint.fix.fixed import fixed

from tests.unit.lint.linted import only, report
from tests.unit.lint.test_corpus import CORPUS, LARGE_BYTES

NEVER = float("inf")


class Server(NamedTuple):
    """How a server on the port of a probe behaves."""

    connects: float = 0.0
    """Seconds until it has the connection: for gRPC until its settings are there."""
    answers: float = 0.0
    """Seconds from then to its answer."""
    status: int = 200
    """Of HTTP; gRPC has 200 for SERVING."""
    refuses: bool = False


def verdict(probe: dict[str, Any], server: Server) -> bool:
    """True if one attempt of a probe succeeds."""
    timeout = probe.get("timeoutSeconds") or 1
    if "exec" in probe:
        return _command(probe["exec"]["command"], server, timeout)
    if server.refuses or server.connects + server.answers > timeout:
        return False
    return 200 <= server.status < 400 if "httpGet" in probe else server.status == 200


def _command(command: list[str], server: Server, timeout: float) -> bool:
    words = [*command]
    while words[0].rpartition("/")[2] in ("sh", "bash"):
        words = shlex.split(words[-1].replace("|| exit 1", "").replace(">/dev/null", ""))
    name = words[0].rpartition("/")[2]
    if server.refuses:
        return False
    if name == "curl":
        connect = float(_value(words, "--connect-timeout") or NEVER)
        total = float(_value(words, "-m", "--max-time") or NEVER)
        if server.connects > connect or server.connects + server.answers > min(total, timeout):
            return False
        fails = any(word == "--fail" or (word[:1] == "-" and word[1:2] != "-" and "f" in word) for word in words)
        return server.status < 400 or not fails
    if name == "wget":
        each = float(_value(words, "-T", "--timeout") or NEVER)
        in_time = server.connects + server.answers <= timeout and max(server.connects, server.answers) <= each
        return in_time and server.status < 400
    assert name.startswith("grpc_health_probe"), name
    connect, call = (_go(_value(words, f"-{option}-timeout", f"--{option}-timeout")) for option in ("connect", "rpc"))
    in_time = server.connects + server.answers <= timeout and server.connects <= connect and server.answers <= call
    return in_time and server.status == 200


def _value(words: list[str], *options: str) -> str | None:
    for option in options:
        for word, following in zip(words, [*words[1:], ""], strict=True):
            if word == option:
                return following
            if word.startswith(f"{option}="):
                return word.partition("=")[2]
            if len(option) == 2 and word.startswith(option) and word[2:].isdecimal():
                return word[2:]
    return None


def _go(text: str | None) -> float:
    return 1.0 if text is None else float(text[:-2]) / 1000 if text.endswith("ms") else float(text[:-1])


def servers(probe: dict[str, Any], after: dict[str, Any]) -> Iterator[Server]:
    """Slow to connect or to answer, around every limit that one of both probes has; refusing; hanging; wrong."""
    limits = {0.2, 1.0, float(probe.get("timeoutSeconds") or 1), float(after.get("timeoutSeconds") or 1)}
    for word in " ".join(probe["exec"]["command"] if "exec" in probe else []).replace("=", " ").split():
        if word.rstrip("ms").replace(".", "").isdecimal() and len(word) < 7:
            limits.add(_go(word if word.endswith("s") else f"{word}s"))
    for limit in limits:
        for seconds in (limit - 0.01, limit, limit + 0.01):
            yield Server(answers=seconds)
            yield Server(connects=seconds)
    yield Server(refuses=True)
    yield Server(connects=NEVER)
    yield Server(answers=NEVER)
    for status in (204, 400, 404, 500, 503):
        yield Server(status=status)


def pod(command: list[str], timeout: int | None) -> str:
    """A pod whose readiness runs the command; liveness shows that the server listens on the pod's address."""
    other = {"tcpSocket": {"port": 8080}}
    probe: dict[str, Any] = {"exec": {"command": command}, "failureThreshold": 3}
    if timeout is not None:
        probe["timeoutSeconds"] = timeout
    container = {"name": "web", "image": "web:1", "livenessProbe": other, "readinessProbe": probe}
    return yaml.safe_dump(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [container]}},
        sort_keys=False,
    )


def after_fix(folder: Path, text: str) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """The readiness probe, the fixed one, and why fixes were left."""
    findings = report(folder, text, only("PL520")).findings
    after = fixed(text, findings).text
    probes = [yaml.safe_load(each)["spec"]["containers"][0]["readinessProbe"] for each in (text, after)]
    return probes[0], probes[1], [found.fix.left for found in findings if found.fix is not None and found.fix.left]


def commands(rng: random.Random) -> Iterator[list[str]]:
    seconds = ["1", "2", "3", "5", "0.5", "2.5", "10"]
    for _ in range(60):
        curl = ["curl", rng.choice(["-f", "-sf", "-fsS", "--fail", "-s"])]
        curl += rng.choice([[], ["-m", rng.choice(seconds)], [f"--max-time={rng.choice(seconds)}"]])
        curl += rng.choice([[], ["--connect-timeout", rng.choice(seconds)]])
        yield [*curl, "http://localhost:8080/readyz"]
        wget = ["wget", "-q", rng.choice(["-O-", "--spider"])]
        wget += rng.choice([[], ["-T", rng.choice(seconds)], [f"-T{rng.randrange(1, 9)}"], ["--timeout=4"]])
        yield [*wget, "http://127.0.0.1:8080/"]
        grpc = ["/bin/grpc_health_probe", "-addr=:8080"]
        for option in ("rpc", "connect"):
            grpc += rng.choice([[], [f"-{option}-timeout={rng.choice(['1s', '2s', '5s', '250ms', '2500ms'])}"]])
        yield rng.choice([grpc, ["sh", "-c", " ".join([*grpc, "|| exit 1"])]])


def test_a_command_and_the_native_probe_in_its_place_have_the_same_verdicts(tmp_path: Path) -> None:
    rng = random.Random(520)
    changed = limited = left = 0
    for command in commands(rng):
        timeout = rng.choice([None, 1, 2, 3, 5, 10])
        before, after, reasons = after_fix(tmp_path, pod(command, timeout))
        if after == before:
            assert reasons, (command, timeout)
            left += 1
            continue
        changed += 1
        limited += after.get("timeoutSeconds") != before.get("timeoutSeconds")
        for server in servers(before, after):
            assert verdict(before, server) == verdict(after, server), (command, timeout, after, server)
    assert min(changed, limited, left) > 10


@pytest.mark.parametrize(
    ("command", "timeout", "expected"),
    [
        # One second is the default of both limits.
        ("grpc_health_probe -addr=:8080", 5, 1),
        ("grpc_health_probe -addr=:8080", None, None),
        ("grpc_health_probe -addr=:8080 -rpc-timeout=5s -connect-timeout=5s", 10, 5),
        ("grpc_health_probe -addr=:8080 -rpc-timeout=5s -connect-timeout=5s", 3, 3),
        ("grpc_health_probe -addr=:8080 -rpc-timeout=5s", 10, "the client waits 1 s for the connection and 5 s"),
        ("grpc_health_probe -addr=:8080 -rpc-timeout=250ms -connect-timeout=250ms", 1, "gives up after 0.25 s"),
        ("curl -f http://localhost:8080/", 10, 10),
        ("curl -f -m 3 http://localhost:8080/", 10, 3),
        ("curl -f -m 30 http://localhost:8080/", 10, 10),
        ("curl -f -m 0 http://localhost:8080/", 10, 10),
        ("curl -f -m 0.5 http://localhost:8080/", 10, "gives up after 0.5 s"),
        ("curl -f --connect-timeout 2 http://localhost:8080/", 10, "the client waits 2 s for the connection and 10 s"),
        ("curl -f --connect-timeout 2 -m 2 http://localhost:8080/", 10, 2),
        ("wget -qO- -T 4 http://localhost:8080/", 10, 4),
        ("wget -qO- http://localhost:8080/", 10, 10),
        ("curl http://localhost:8080/", 10, "curl without --fail takes every answer for a success"),
    ],
)
def test_the_limit_of_the_client_becomes_the_timeout_or_the_probe_stays(
    tmp_path: Path, command: str, timeout: int | None, expected: int | str | None
) -> None:
    before, after, reasons = after_fix(tmp_path, pod(shlex.split(command), timeout))
    if isinstance(expected, str):
        assert after == before
        assert expected in reasons[0]
    else:
        assert "exec" not in after
        assert after.get("timeoutSeconds") == expected


@pytest.mark.skipif(CORPUS is None, reason="no folder shared/corpus with other people's manifests")
def test_every_fix_in_manifests_of_others_keeps_the_verdicts() -> None:
    assert CORPUS is not None
    found = lint([CORPUS / "manifests"])
    seen = 0
    for file, path in found.paths.items():
        findings = [each for each in found.findings if each.file == file and each.fix is not None and each.fix.is_safe]
        if not findings or path.stat().st_size > LARGE_BYTES:
            continue
        text = path.read_bytes().decode()
        after = fixed(text, findings)
        for before, changed in zip(_probes(text), _probes(after.text), strict=True):
            for kind in before.keys() | changed.keys():
                # A startup probe that is new asks what liveness asks.
                one, other = before.get(kind, before.get("livenessProbe")), changed.get(kind)
                assert one is not None
                assert other is not None
                for server in servers(one, other):
                    if "exec" not in one or "exec" not in other:
                        assert verdict(one, server) == verdict(other, server), (file, kind, server)
                    else:
                        assert one["exec"] == other["exec"]
                        assert (one.get("timeoutSeconds") or 1) == (other.get("timeoutSeconds") or 1)
                    seen += 1
    assert seen > 200


def _probes(text: str) -> list[dict[str, Any]]:
    """The probes of every container, in the order of the text."""
    found: list[dict[str, Any]] = []

    def look(value: Any) -> None:
        if isinstance(value, dict):
            named = {name: each for name, each in value.items() if name.endswith("Probe") and isinstance(each, dict)}
            if "image" in value or named:
                found.append(named)
            for each in value.values():
                look(each)
        elif isinstance(value, list):
            for each in value:
                look(each)

    for document in yaml.safe_load_all(text):
        look(document)
    return found
