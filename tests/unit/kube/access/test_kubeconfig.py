"""Kubeconfig files: merged, and mistakes in one line."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from probelet.kube.access.access import found_access, in_cluster_access
from probelet.kube.access.kubeconfig import read_kubeconfig
from probelet.kube.connection import Connection
from probelet.kube.error import KubeConfigError, Unreachable
from probelet.kube.kinds import PODS

from tests.support.kube_api import KubeApi
from tests.support.kube_api.certificates import NAME


def config(server: str = "https://one", context: str = "here", **user: Any) -> dict[str, Any]:
    return {
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": context, "context": {"cluster": "c", "user": "u", "namespace": "team"}}],
        "current-context": context,
    }


def with_user(user: dict[str, Any]) -> dict[str, Any]:
    return config(**user)


def write(path: Path, document: object) -> Path:
    path.write_text(yaml.safe_dump(document))
    return path


def test_files_are_merged_and_the_first_one_wins(tmp_path: Path) -> None:
    one = write(tmp_path / "one", config("https://one"))
    two = write(tmp_path / "two", config("https://two", "there"))
    missing = tmp_path / "missing"
    assert read_kubeconfig((missing, one, two)).config.cluster.server == "https://one"
    assert read_kubeconfig((two, one)).config.context_name == "there"
    assert read_kubeconfig((one, two), "there").config.cluster.server == "https://one", "the cluster c of the first"


def test_the_way_to_the_server_is_looked_for_in_this_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, named, flag = (write(tmp_path / name, config(f"https://{name}")) for name in ("home", "named", "flag"))
    (tmp_path / ".kube").mkdir()
    home.rename(tmp_path / ".kube" / "config")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    assert found_access().server == "https://home"
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'nothing'}:{named}")
    assert found_access().server == "https://named"
    assert found_access(flag).server == "https://flag"
    assert found_access(flag).namespace == "team"


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ("a: [", "no YAML: "),
        ("- 1", "no kubeconfig: must be a mapping"),
        ("{}", "no current-context; contexts: none"),
        (config(context="x") | {"current-context": "y"}, "no context 'y'; contexts: x"),
        (config() | {"clusters": []}, "context 'here': no cluster 'c'"),
        (config() | {"users": []}, "context 'here': no user 'u'"),
        (config() | {"clusters": [{"cluster": {}}]}, "clusters[0].name: Required value"),
        (config() | {"clusters": [{"name": "c", "cluster": 7}]}, "clusters[0].cluster: must be a mapping"),
        (config(token=7), "user 'u': Expected `str | null`, got `int` - at `$.token`"),
        (with_user({"auth-provider": {"name": "gcp"}}), "user 'u': auth-provider is not supported"),
        (with_user({"as": "admin"}), "user 'u': as is not supported"),
        (config(exec={"command": "x", "apiVersion": "v9"}), "exec: apiVersion 'v9': must be one of client.auth"),
        (config(exec={"apiVersion": "x"}), "exec: command: Required value"),
    ],
)
def test_a_mistake_is_one_line_with_the_file(tmp_path: Path, document: object, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
    with pytest.raises(KubeConfigError) as raised:
        read_kubeconfig((path,))
    assert str(raised.value).startswith(f"{path}: ")
    assert text in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_file_and_a_directory_are_named(tmp_path: Path) -> None:
    with pytest.raises(KubeConfigError, match=f"no kubeconfig: {tmp_path}/x does not exist"):
        read_kubeconfig((tmp_path / "x",))
    with pytest.raises(KubeConfigError, match=f"{tmp_path}: not a regular file"):
        read_kubeconfig((tmp_path,))


@pytest.mark.parametrize("server", ["ftp://x", "https://", "web"])
def test_an_address_that_is_no_server_is_refused(tmp_path: Path, server: str) -> None:
    with pytest.raises(KubeConfigError, match=f"server '{server}': must be https:// or http:// and a host"):
        Connection.from_kubeconfig(write(tmp_path / "config", config(server)))


def test_a_missing_certificate_is_named(tmp_path: Path) -> None:
    document = config()
    document["clusters"][0]["cluster"]["certificate-authority"] = "ca.crt"
    with pytest.raises(KubeConfigError, match=f"server https://one: {tmp_path}/ca.crt: "):
        Connection.from_kubeconfig(write(tmp_path / "config", document))


async def test_the_servers_certificate_is_verified(tmp_path: Path) -> None:
    async with KubeApi(tls=True) as api, KubeApi(tls=True) as other:
        async with api.connection() as connection:
            assert (await connection.list(PODS)).items == []
        async with api.connection({"tls-server-name": NAME}) as connection:
            await connection.list(PODS)
        async with api.connection({"tls-server-name": "example.org"}) as connection:
            with pytest.raises(Unreachable, match="Hostname mismatch"):
                await connection.list(PODS)
        async with api.connection({"certificate-authority": str(other.folder / "ca.crt")}) as connection:
            with pytest.raises(Unreachable, match="certificate verify failed"):
                await connection.list(PODS)


async def test_a_pod_uses_its_service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(KubeConfigError, match="does not run in a pod"):
        in_cluster_access()
    async with KubeApi(tls=True) as api:
        api.tokens = {"account"}
        for name, text in (("token", "account"), ("namespace", "probelet-system")):
            (tmp_path / name).write_text(text)
        (tmp_path / "ca.crt").write_bytes((api.folder / "ca.crt").read_bytes())
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(api.port))
        access = in_cluster_access(tmp_path)
        assert access.namespace == "probelet-system"
        async with Connection(access) as connection:
            await connection.list(PODS)
        (tmp_path / "token").unlink()
        with pytest.raises(KubeConfigError, match=f"service account {tmp_path}: .*token"):
            in_cluster_access(tmp_path)


async def test_a_proxy_is_used_if_the_kubeconfig_or_the_environment_names_it(
    api: KubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = {"server": "http://api.example"}
    async with api.connection(cluster | {"proxy-url": api.url}) as connection:
        await connection.list(PODS)
    monkeypatch.setenv("http_proxy", api.url)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    async with api.connection(cluster) as connection:
        await connection.list(PODS)
    async with api.connection() as connection:
        await connection.list(PODS)
    assert api.seen("list") == 3
    with pytest.raises(KubeConfigError, match="proxy 'socks5://x': must be"):
        api.connection({"proxy-url": "socks5://x"})
