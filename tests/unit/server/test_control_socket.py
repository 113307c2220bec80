import asyncio
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from probelet.server.control import client as client_module
from probelet.server.control import server as control_module
from probelet.server.control.client import Client
from probelet.server.control.state_dir import socket_path
from probelet.server.error import NotRunningError

from tests.unit.server.conftest import Served, unix_listener
from tests.unit.server.fake_view import SITUATIONS, event


@pytest.fixture(autouse=True)
def _prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_module, "FOLLOW_SECONDS", 0.001)


async def next_of(events: Iterator[dict[str, Any]]) -> dict[str, Any]:
    return await asyncio.to_thread(next, events)


async def test_only_the_owner_may_connect(served: Served) -> None:
    assert stat.S_IMODE(socket_path(served.state_dir).stat().st_mode) == 0o600


async def test_the_client_gets_the_whole_status_document(served: Served) -> None:
    assert await asyncio.to_thread(Client(served.state_dir).status) == SITUATIONS


async def test_the_client_asks_for_as_much_history_as_it_wants(served: Served) -> None:
    client = Client(served.state_dir)
    for history in (64, 16, 0):
        await asyncio.to_thread(client.status, history)
        assert served.view.history == history


@pytest.mark.parametrize("history", ["65", "x", "", "-1", "9" * 20])
async def test_a_malformed_history_is_a_bad_request(served: Served, history: str) -> None:
    with pytest.raises(NotRunningError, match="answered 400: want history from 0 to 64"):
        await asyncio.to_thread(Client(served.state_dir)._get, f"/status?history={history}")


async def test_events_since_a_sequence_number(served: Served) -> None:
    served.view.kept = [event(seq) for seq in (3, 4, 9)]
    client = Client(served.state_dir)
    assert [found["seq"] for found in await asyncio.to_thread(client.events)] == [3, 4, 9]
    assert [found["seq"] for found in await asyncio.to_thread(client.events, 4)] == [9]


async def test_a_follower_gets_kept_and_new_events_once_each(served: Served) -> None:
    served.view.kept = [event(1, message="with a\nline break")]
    events = Client(served.state_dir).follow()
    assert await next_of(events) == event(1, message="with a\nline break")
    served.view.kept += [event(2), event(5)]
    assert [(await next_of(events))["seq"] for _ in range(2)] == [2, 5]
    await asyncio.to_thread(events.close)  # type: ignore[attr-defined]


async def test_a_follower_gets_the_last_events_of_a_service_that_ends(served: Served) -> None:
    served.view.kept = [event(1)]
    events = Client(served.state_dir).follow()
    await next_of(events)
    served.view.kept.append(event(2, "Killing"))
    await served.control.close()
    assert (await next_of(events))["reason"] == "Killing"
    with pytest.raises(NotRunningError, match=r"has ended$"):
        await next_of(events)


async def test_following_ends_after_the_given_seconds(served: Served) -> None:
    served.view.kept = [event(1)]
    assert len(await asyncio.to_thread(lambda: list(Client(served.state_dir).follow(seconds=0.05)))) == 1


async def test_a_follower_above_the_limit_is_refused(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_module, "FOLLOWERS_MAX", 1)
    served.view.kept = [event(1)]
    first = Client(served.state_dir).follow()
    await next_of(first)
    with pytest.raises(NotRunningError, match="answered 503: 1 followers are connected already"):
        await next_of(Client(served.state_dir).follow())
    await asyncio.to_thread(first.close)  # type: ignore[attr-defined]


async def test_a_follower_that_left_makes_room(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_module, "FOLLOWERS_MAX", 1)
    served.view.kept = [event(1)]
    first = Client(served.state_dir).follow()
    await next_of(first)
    await asyncio.to_thread(first.close)  # type: ignore[attr-defined]
    # The server notices the closed connection at its next write.
    while served.control.followers:
        served.view.kept.append(event(served.view.kept[-1]["seq"] + 1))
        await asyncio.sleep(0)
    assert (await next_of(Client(served.state_dir).follow()))["seq"] == 1


@pytest.mark.parametrize("query", ["since=x", "since=", "since=-1"])
async def test_a_malformed_since_is_a_bad_request(served: Served, query: str) -> None:
    with pytest.raises(NotRunningError, match="answered 400: since must be a number from 0"):
        await asyncio.to_thread(Client(served.state_dir)._get, f"/events?{query}")


def test_no_service_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(NotRunningError, match=rf"^no probelet runs in {tmp_path}$"):
        Client(tmp_path).status()


def test_a_killed_service_leaves_a_socket_that_counts_as_none(tmp_path: Path) -> None:
    unix_listener(socket_path(tmp_path)).close()
    with pytest.raises(NotRunningError, match="no probelet runs in"):
        Client(tmp_path).status()


def test_a_stuck_service_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "ANSWER_SECONDS", 0.02)
    with unix_listener(socket_path(tmp_path)), pytest.raises(NotRunningError, match=r"did not answer within 0\.02 s$"):
        Client(tmp_path).status()


def test_a_service_that_dies_in_the_middle_of_an_answer_is_one_line(tmp_path: Path) -> None:
    import threading

    with unix_listener(socket_path(tmp_path)) as listener:

        def answer_half() -> None:
            connection, _ = listener.accept()
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
            connection.close()

        thread = threading.Thread(target=answer_half)
        thread.start()
        with pytest.raises(NotRunningError, match="closed the connection mid-answer"):
            Client(tmp_path).status()
        thread.join()
