"""Any answer at all ends in an object or a ``KubeError`` of one line, never in another exception."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from probelet.kube.connection import Connection
from probelet.kube.error import KubeError
from probelet.kube.kinds import PODS

from tests.support.kube_api import Answer, KubeApi

NAMES = (
    "metadata items continue resourceVersion name uid code reason message details causes retryAfterSeconds type object"
)
KEYS = st.sampled_from([*NAMES.split(), "kind", "field"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
BODIES = st.one_of(
    st.binary(max_size=40),
    st.builds(lambda found: json.dumps(found).encode(), JSON),
    st.builds(lambda found: json.dumps(found).encode(), st.dictionaries(KEYS, JSON)),
    st.just(b"[" * 100_000),
    st.just(b'{"a":' * 100_000),
    st.just(b'{"details":{"retryAfterSeconds":' + b"9" * 5000 + b"}}"),
)
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "Retry-After": st.sampled_from(["1", "0", "-1", "9" * 5000, "x", "Wed, 21 Oct 2015 07:28:00 GMT", "1.5", "²"]),
        "Content-Encoding": st.sampled_from(["gzip", "deflate", "br", "what"]),
        "Content-Type": st.sampled_from(["text/html", "application/json", "application/vnd.kubernetes.protobuf"]),
        "Location": st.just("http://127.0.0.1:1/"),
    },
)
CODES = st.one_of(st.sampled_from([200, 201, 302, 400, 401, 403, 404, 409, 410, 422, 429, 500, 503, 504]),
                  st.integers(200, 599))  # fmt: skip


async def watch(connection: Connection) -> None:
    async with connection.watch(PODS, resource_version="1", timeout_seconds=1) as events:
        async for _ in events:
            pass


REQUESTS: list[Callable[[Connection], Coroutine[Any, Any, Any]]] = [
    lambda connection: connection.get(PODS, "a", "b"),
    lambda connection: connection.list(PODS),
    lambda connection: connection.version(PODS),
    lambda connection: connection.apply(PODS, {"metadata": {"name": "a", "namespace": "b"}}, manager="m"),
    watch,
]


async def answer(faults: list[Answer], request: Callable[[Connection], Coroutine[Any, Any, Any]]) -> None:
    errors = []
    async with KubeApi() as api, api.connection() as connection:
        for fault in faults:
            api.faults.add(fault)
            try:
                await request(connection)
            except KubeError as error:
                errors.append(error)
    for found in errors:
        assert str(found).isprintable()
        assert len(str(found)) < 2000
        assert 0 <= found.retry_after_ns <= 300_000_000_000


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(st.builds(Answer, CODES, body=BODIES, headers=HEADERS), min_size=1, max_size=5),
       st.sampled_from(REQUESTS))  # fmt: skip
def test_any_answer_is_an_object_or_one_line(
    faults: list[Answer], request: Callable[[Connection], Coroutine[Any, Any, Any]]
) -> None:
    asyncio.run(answer(faults, request))
