"""Programs that give credentials, as clouds have them."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from probelet.kube.error import Unauthorized
from probelet.kube.kinds import PODS

from tests.support.kube_api import KubeApi

V1 = "client.authentication.k8s.io/v1"


def plugin(folder: Path, code: str, **more: object) -> dict[str, Any]:
    """A user whose program runs ``code``; ``runs`` in its folder counts."""
    path = folder / "plugin"
    head = f"#!{sys.executable}\nimport json, os, sys\nopen({str(folder / 'runs')!r}, 'a').write('x')\n"
    path.write_text(head + code + "\n")
    path.chmod(0o755)
    return {"apiVersion": V1, "command": str(path), "interactiveMode": "Never", **more}


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text())


def printing(status: object, version: str = V1) -> str:
    return f"print({json.dumps({'kind': 'ExecCredential', 'apiVersion': version, 'status': status})!r})"


async def test_a_token_is_asked_for_once(api: KubeApi, tmp_path: Path) -> None:
    api.tokens = {"t"}
    async with api.connection(exec=plugin(tmp_path, printing({"token": "t"}))) as connection:
        await asyncio.gather(*(connection.list(PODS) for _ in range(5)))
    assert runs(tmp_path) == 1


async def test_a_refused_or_expired_token_is_asked_for_again(api: KubeApi, tmp_path: Path) -> None:
    code = f"token = 't%d' % os.path.getsize({str(tmp_path / 'runs')!r})\n"
    code += "expires = '2001-01-01T00:00:00Z' if token == 't2' else '2101-01-01T00:00:00Z'\n"
    code += f"print(json.dumps({{'apiVersion': {V1!r}, 'status': {{'token': token, 'expirationTimestamp': expires}}}}))"
    api.tokens = {"t2", "t3"}
    async with api.connection(exec=plugin(tmp_path, code)) as connection:
        await connection.list(PODS)
        assert (runs(tmp_path), api.seen("list")) == (2, 2), "t1 was refused"
        await connection.list(PODS)
        assert (runs(tmp_path), api.seen("list")) == (3, 3), "t2 had expired"


async def test_the_program_gets_the_cluster_and_its_environment(api: KubeApi, tmp_path: Path) -> None:
    code = "asked = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n"
    code += "assert asked['kind'] == 'ExecCredential' and asked['spec']['cluster']['server'].startswith('http')\n"
    code += f"print(json.dumps({{'apiVersion': {V1!r}, 'status': {{'token': os.environ['SECRET'] + sys.argv[1]}}}}))"
    api.tokens = {"abc"}
    user = plugin(tmp_path, code, env=[{"name": "SECRET", "value": "ab"}], args=["c"], provideClusterInfo=True)
    async with api.connection(exec=user) as connection:
        await connection.list(PODS)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("sys.stderr.write('login first\\n'); sys.exit(3)", "exit status 3: login first"),
        ("print('hello')", "its output is no ExecCredential"),
        (printing({"token": "t"}, "client.authentication.k8s.io/v1beta1"), "v1beta1', not"),
        (printing({"clientCertificateData": "x"}), "gives a client certificate; probelet needs a token"),
        (printing(None), "gives nothing; probelet needs a token"),
    ],
)
async def test_a_program_that_gives_no_token_is_named(api: KubeApi, tmp_path: Path, code: str, text: str) -> None:
    async with api.connection(exec=plugin(tmp_path, code)) as connection:
        with pytest.raises(Unauthorized) as raised:
            await connection.list(PODS)
    assert str(raised.value).startswith(f"list pods: Unauthorized: exec {tmp_path}/plugin: ")
    assert text in str(raised.value)
    assert api.requests == []


async def test_a_missing_program_is_named(api: KubeApi) -> None:
    user = {"apiVersion": V1, "command": "probelet-no-such-program"}
    async with api.connection(exec=user) as connection:
        with pytest.raises(Unauthorized, match="exec probelet-no-such-program: No such file"):
            await connection.list(PODS)
