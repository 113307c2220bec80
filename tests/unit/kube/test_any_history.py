"""Random histories: changes of objects, and everything that can go wrong, in any order.

Whatever happened, the reflector ends with the server's objects, and its changes, taken one after another, lead there:
none is lost, none comes twice, none joins two objects of one name.
"""

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from probelet.kube.kinds import PODS
from probelet.kube.reflector import Reflector

from tests.support.kube_api import Answer, Drop, KubeApi
from tests.support.kube_api.faults import Fault
from tests.unit.kube.mirrored import BACK_OFF_MAX_NS
from tests.unit.kube.virtual_clock import SECOND, VirtualClock, until

Seen = tuple[str, str, str]
"""Name, UID and version."""

FAULTS: list[Fault] = [
    Answer(429, headers={"Retry-After": "3"}),
    Answer(500),
    Answer(410),
    Answer(403),
    Answer(200, body=b"{"),
    Answer(200, body=b'{"type":"ADDED","object":{}}\n'),
    Drop(),
]

NAMES = st.sampled_from("abc")
STEPS = st.one_of(
    st.tuples(st.just("put"), NAMES),
    st.tuples(st.just("put"), NAMES),
    st.tuples(st.just("remove"), NAMES),
    st.tuples(st.just("replace"), NAMES),
    st.tuples(st.sampled_from(["compact", "refuse", "accept"]), st.none()),
    st.tuples(st.just("lose"), NAMES),
    st.tuples(st.sampled_from(["bookmark", "expire", "end", "abort", "garble", "silence"]), st.none()),
    st.tuples(st.sampled_from(["list", "watch"]), st.sampled_from(FAULTS)),
    st.tuples(st.just("turns"), st.integers(1, 200)),
    st.tuples(st.just("seconds"), st.integers(1, 700)),
)


class History:
    """One server, one reflector, and what happens to them."""

    def __init__(self, api: KubeApi, clock: VirtualClock) -> None:
        self.api, self.clock = api, clock
        self.known: dict[str, Seen] = {}
        self.refusing = False
        self.number = 0

    def read(self, found: dict[str, Any]) -> Seen:
        metadata = found["metadata"]
        return metadata["name"], metadata["uid"], metadata["resourceVersion"]

    def changed(self, before: Seen | None, now: Seen | None) -> None:
        name = (before or now or ("", "", ""))[0]
        assert self.known.get(name) == before, "each change begins where the last one ended"
        assert before != now, "no change comes twice"
        assert before is None or now is None or before[1] == now[1], "two objects of one name are two changes"
        if now is None:
            del self.known[name]
        else:
            self.known[name] = now

    def put(self, name: str) -> None:
        self.number += 1
        self.api.put(PODS, {"metadata": {"name": name, "namespace": "d", "labels": {"v": str(self.number)}}})

    def remove(self, name: str) -> None:
        if self.api.get(PODS, name, "d") is not None:
            self.api.remove(PODS, name, "d")

    async def step(self, kind: str, argument: Any) -> None:
        match kind:
            case "put":
                self.put(argument)
            case "remove":
                self.remove(argument)
            case "replace":
                self.remove(argument)
                self.put(argument)
            case "lose":
                self.remove(argument)
                self.api.store.compact()
            case "compact":
                self.api.store.compact()
            case "refuse" if not self.refusing:
                self.refusing = True
                await self.api.refuse()
            case "accept" if self.refusing:
                self.refusing = False
                await self.api.accept()
            case "list" | "watch":
                self.api.faults.add(argument, kind)
            case "turns":
                for _ in range(argument):
                    await asyncio.sleep(0)
            case "seconds":
                self.clock.advance(argument * SECOND)
            case _:
                for watch in list(self.api.watches):
                    self.disturb(watch, kind)

    def disturb(self, watch: Any, kind: str) -> None:
        match kind:
            case "bookmark":
                watch.bookmark()
            case "expire":
                watch.expire()
            case "end":
                watch.end()
            case "abort":
                watch.abort()
            case "garble":
                watch.send(b"}\n")
            case "silence":
                watch.silent = True

    @property
    def truth(self) -> dict[str, Seen]:
        return {found["metadata"]["name"]: self.read(found) for found in self.api.all(PODS)}


async def play(steps: list[tuple[str, Any]]) -> None:
    clock = VirtualClock()
    async with KubeApi() as api, api.connection() as connection:
        history = History(api, clock)
        reflector = Reflector(connection, PODS, history.read, clock=clock, on_change=history.changed)
        history.put("a")
        history.put("b")
        running = asyncio.create_task(reflector.run())
        await until(reflector.synced.is_set)
        await api.watched()
        for kind, argument in steps:
            await history.step(kind, argument)
        api.faults.clear()
        await history.step("accept", None)
        for watch in list(api.watches):
            watch.silent = False
            watch.end()

        def agrees() -> bool:
            assert not running.done(), running.exception()
            if not reflector.connected and clock.sleeps(BACK_OFF_MAX_NS):
                clock.advance(clock.pending()[0])
            mirrored = {name: seen for (_, name), seen in reflector.items.items()}
            return reflector.connected and bool(api.watches) and history.known == mirrored == history.truth

        await until(agrees)
        running.cancel()
        await asyncio.wait([running])


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(STEPS, max_size=40))
def test_any_history_ends_with_the_objects_of_the_server(steps: list[tuple[str, Any]]) -> None:
    asyncio.run(play(steps))
