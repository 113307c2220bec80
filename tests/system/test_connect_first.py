"""Hundreds of HTTP probes are due at once: each sends only after the batch has connected, and gets its answer."""

import json
import select
from contextlib import closing

import pytest
from probelet._rust import Engine
from probelet.lab.bench.pods import facts, pod, uid
from probelet.lab.bench.target import own_target

pytestmark = pytest.mark.e2e

HOUR_NS = 3_600_000_000_000
WORKERS = 300
"""More than twice the number that makes the engine connect all before it sends."""


def test_every_probe_that_connects_with_others_gets_its_answer() -> None:
    with closing(Engine(start_jitter=False)) as engine, own_target("http", 3600) as target:
        for number in range(WORKERS):
            delayed = json.loads(pod(number, "http", target.place.port, 3600))
            delayed["spec"]["containers"][0]["readinessProbe"]["initialDelaySeconds"] = 60
            engine.define_pod(json.dumps(delayed).encode())
            running = json.loads(facts(number, "127.0.0.1"))
            running["containers"][0]["started_at_ms"] = engine.wall_ms()
            engine.sync_pod(uid(number), json.dumps(running).encode())
        engine.advance(HOUR_NS)
        ready: set[str] = set()
        poll = select.poll()
        poll.register(engine.fileno(), select.POLLIN)
        while len(ready) < WORKERS:
            poll.poll()
            ready |= {update.pod_uid for update in engine.drain().updates if update.result == "Success"}
        assert ready == {uid(number) for number in range(WORKERS)}
        states = json.loads(engine.probe_states())
        assert {(state["runs"], state["failures"], state["errors"]) for state in states} == {(1, 0, 0)}
