"""Scenarios in which two things happen in one instant, most with the two in which one of them comes a little later.

The kubelet's prober gives one trace if two things are a millisecond or more apart, and either trace if they are not:
those are the cases that the parity page calls chance. `tests/kubelet/instants` has the recordings.
"""

from tests.kubelet.recorder.pods import Made

FAR = 1_000_000
"""A kill after so many ms comes after the end of a scenario."""
GLUE = {"startup": True, "readiness": True}
"""Startup and readiness results change the status."""


def scenarios() -> dict[str, Made]:
    """The name of each scenario -> the scenario."""
    made = {
        # A run ends at 1,001. The worker's tick comes at 1,000, or after the end of a run that is over at 999.
        "stop_or_tick_stop_first": _run("liveness", 999, [_remove(999)]),
        "stop_or_tick_together": _run("liveness", 1_001, [_remove(999)]),
        "stop_or_tick_tick_first": _run("liveness", 1_001, [_remove(1_002)]),
        # The worker's next tick comes at 5,000, after the end of the scenario.
        "stop_or_trigger_stop_first": _run("readiness", 1_001, [_remove(1_000), _trigger(1_002)], period=5),
        "stop_or_trigger_together": _run("readiness", 1_001, [_remove(1_000), _trigger(1_000)], period=5),
        "stop_or_trigger_trigger_first": _run("readiness", 1_001, [_trigger(1_000), _remove(1_002)], period=5),
        "trigger_or_tick_trigger_first": _run("readiness", 999, [_trigger(998)]),
        "trigger_or_tick_together": _run("readiness", 1_001, [_trigger(999)]),
        "trigger_or_tick_tick_first": _run("readiness", 1_001, [_trigger(1_002)]),
        "two_ticks_startup_first": _two_ticks(999),
        "two_ticks_together": _two_ticks(1_000),
        "two_ticks_readiness_first": _two_ticks(1_001),
        "ticks_again": _ticks_again(),
        "two_results_startup_first": _two_results(startup=1_102, readiness=1_105),
        "two_results_together": _two_results(startup=1_102, readiness=1_103),
        "two_results_readiness_first": _two_results(startup=1_105, readiness=1_102),
    }
    for name, scenario in made.items():
        scenario["scenario"]["name"] = name
    return made


def _run(probe_type: str, delay_ms: int, calls: list[Made], period: int = 1) -> Made:
    """A worker's first run begins at 0 and ends at ``delay_ms``; it has ``calls`` while it runs or later."""
    made = _made([_container("a", **{f"{probe_type}Probe": {"periodSeconds": period, "timeoutSeconds": 4}})], 1_900)
    # A trigger asks for a run only until one has succeeded.
    made["scenario"]["scripts"] = {f"p/a/{probe_type}": [_failure(delay_ms), _failure(2)]}
    inputs = [_status("status", 0), {"t_ms": 0, "call": "add_pod", "pod": "p"}, *calls]
    made["trace"] = {"inputs": [{**each, "batch": batch, "cause": "op"} for batch, each in enumerate(inputs, 1)]}
    return made


def _two_ticks(again_ms: int) -> Made:
    """A startup worker that is made again ticks at ``again_ms`` + 1,000, and a readiness worker at 2,000.

    A startup probe that succeeds before the readiness worker looks lets it probe in the same instant. Then the sync
    asks for a second run while the first one is under way.
    """
    probe = {"periodSeconds": 1}
    made = _made([_container("a", startupProbe=probe, readinessProbe=probe)], 2_900)
    made["scenario"]["scripts"] = {"p/a/startup": [_success(0)], "p/a/readiness": [_success(300)]}
    # A kill would come after the end. A closed replay plays scenarios that have one.
    made["scenario"]["kubelet_glue"] = GLUE | {"sync": True, "sync_delay_ms": 20, "kill_ms": FAR, "restart_ms": FAR}
    made["scenario"]["events"] = [
        {"t_ms": 0, "op": "add_pod", "pod": "p"},
        {"t_ms": 500, "op": "stop_liveness_and_startup", "pod": "p"},
        {"t_ms": again_ms, "op": "add_pod", "pod": "p"},
        {"t_ms": 1_500, "op": "runtime", "pod": "p", "containers": _running("p"), "sync": True},
    ]
    return made


def _ticks_again() -> Made:
    """A startup and a liveness worker tick at 2,000 and at 4,000, each time with a container that has just started.

    The startup worker's unknown result takes `started` away. A liveness worker that looks before that probes, for a
    second.
    """
    probe = {"periodSeconds": 2, "timeoutSeconds": 2}
    made = _made([_container("a", startupProbe=probe, livenessProbe=probe)], 5_900)
    made["scenario"]["scripts"] = {"p/a/liveness": [_failure(1_000)]}
    made["scenario"]["kubelet_glue"] = GLUE | {"sync": False}
    running = {"state": "running", "started": True}
    made["scenario"]["events"] = [
        {"t_ms": 0, "op": "add_pod", "pod": "p"},
        {"t_ms": 1_500, "op": "status", "pod": "p", "containers": {"a": running | {"id": "containerd://p-a-1"}}},
        {"t_ms": 3_500, "op": "status", "pod": "p", "containers": {"a": running | {"id": "containerd://p-a-2"}}},
    ]
    return made


def _two_results(startup: int, readiness: int) -> Made:
    """Two results come while a liveness result of 1,100 keeps the sync loop busy, which is until 1,104."""
    made = _made([], 1_180)
    begins = {
        "p": ("startup", 0, _success(startup - 1_000)),
        "q": ("liveness", 200, _failure(900)),
        "r": ("readiness", 300, _success(readiness - 300)),
    }
    made["scenario"] |= {
        "kubelet_glue": GLUE | {"sync": False, "update_ms": 4},
        "pods": [
            _pod(pod, [_container("a", **{f"{probe_type}Probe": {"periodSeconds": 1, "failureThreshold": 1}})])
            for pod, (probe_type, _, _) in begins.items()
        ],
        "scripts": {f"{pod}/a/{probe_type}": [outcome] for pod, (probe_type, _, outcome) in begins.items()},
        "events": [
            {"t_ms": t_ms, "op": "runtime", "pod": pod, "containers": _running(pod), "sync": True}
            for pod, (_, t_ms, _) in begins.items()
        ],
    }
    return made


def _made(containers: list[Made], duration_ms: int) -> Made:
    return {
        "schema": "kubelet-prober-trace/1",
        "scenario": {"warmup_ms": 3_600_000, "duration_ms": duration_ms, "pods": [_pod("p", containers)]},
    }


def _pod(name: str, containers: list[Made]) -> Made:
    return {"name": name, "namespace": "ns", "uid": f"{name}-uid", "spec": {"containers": containers}}


def _container(name: str, **probes: Made) -> Made:
    return {"name": name, "image": "i", **probes}


def _running(pod: str) -> Made:
    return {"a": {"state": "running", "id": f"containerd://{pod}-a-1"}}


def _success(delay_ms: int) -> Made:
    return {"outcome": "success", "delay_ms": delay_ms}


def _failure(delay_ms: int) -> Made:
    return {"outcome": "failure", "delay_ms": delay_ms}


def _remove(t_ms: int) -> Made:
    return {"t_ms": t_ms, "call": "remove_pod", "pod": "p"}


def _trigger(t_ms: int) -> Made:
    return _status("update_pod_status", t_ms)


def _status(call: str, t_ms: int) -> Made:
    line = {
        "name": "a",
        "id": "containerd://p-a-1",
        "state": "running",
        "ready": False,
        "started": True,
        "started_at_ms": 0,
    }
    return {"t_ms": t_ms, "call": call, "pod": "p", "phase": "Running", "containers": [line]}
