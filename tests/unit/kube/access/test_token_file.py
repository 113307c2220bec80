"""A token that its owner replaces while a connection lives."""

from pathlib import Path

import pytest
from probelet.kube.error import Unauthorized
from probelet.kube.kinds import PODS

from tests.support.kube_api import KubeApi


def replace(path: Path, text: str) -> None:
    """As the kubelet does: a new file in the place of the old one."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


async def test_a_replaced_token_is_sent_with_the_next_request(api: KubeApi, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first\n")
    api.tokens = {"first"}
    async with api.connection(tokenFile=str(token)) as connection:
        await connection.list(PODS)
        replace(token, "second")
        api.tokens = {"second"}
        await connection.list(PODS)
    assert api.seen("list") == 2, "no request was refused"


async def test_a_refused_token_is_read_again_once(api: KubeApi, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first")
    api.tokens = {"other"}
    async with api.connection(tokenFile=str(token)) as connection:
        with pytest.raises(Unauthorized, match="list pods: Unauthorized"):
            await connection.list(PODS)
    assert api.seen("list") == 1, "the same token is not sent twice"


async def test_a_token_that_cannot_be_read_any_more_still_counts(api: KubeApi, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first")
    api.tokens = {"first"}
    async with api.connection(tokenFile=str(token)) as connection:
        await connection.list(PODS)
        token.unlink()
        await connection.list(PODS)
        token.write_text("")
        await connection.list(PODS)


async def test_a_missing_token_is_an_error_of_the_request_and_heals(api: KubeApi, tmp_path: Path) -> None:
    token = tmp_path / "token"
    api.tokens = {"first"}
    async with api.connection(tokenFile=str(token)) as connection:
        with pytest.raises(Unauthorized, match=f"list pods: Unauthorized: token file {token}: No such file"):
            await connection.list(PODS)
        token.write_text("first")
        await connection.list(PODS)


async def test_a_relative_path_begins_at_the_kubeconfig(api: KubeApi) -> None:
    (api.folder / "token").write_text("first")
    api.tokens = {"first"}
    async with api.connection(tokenFile="token") as connection:
        await connection.list(PODS)
