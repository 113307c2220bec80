"""The service restarts with another configuration: KEP-4603's upgrade, downgrade and rollback, in both modes.

Each process is a configuration file as an operator writes it, and the gate and the engine that `run` makes of it, whose
journal is in one state directory. Times within a process are worked out from the clock at its beginning.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from probelet.config import load_config
from probelet.daemon.engine import node_engine
from probelet.daemon.gate import restart_gate
from probelet.policy.facts.snapshot import State
from probelet.policy.node.restart_gate import RestartGate, StartDecision
from probelet.spec.model.pod import Pod

from tests.unit.policy.rig import SECOND, make_pod, record

DEFAULT = ""
REDUCED = "featureGates: {ReduceDefaultCrashLoopBackOffDecay: true}\n"
MOST_4S = "crashLoopBackOff: {maxContainerRestartPeriod: 4s}\n"
BOTH = REDUCED + "crashLoopBackOff: {maxContainerRestartPeriod: 30s}\n"
SEED_FIELD = "crashloopbackoff: {maxSeconds: 2}\n"
SEED_ON = "featureGates: {EnableKubeletCrashLoopBackoffMax: true}\n" + SEED_FIELD
SEED_OFF = "featureGates: {EnableKubeletCrashLoopBackoffMax: false}\n" + SEED_FIELD


class Process:
    """One life of the service; a container of the pod that crashes at once under its gate."""

    def __init__(self, gate: RestartGate, now: int) -> None:
        self.gate = gate
        self.now = self.exits_at = now

    def verdict(self, pod: Pod) -> StartDecision:
        """The gate's verdict, at this moment, about the last exit."""
        exited = record(pod, "app", State.EXITED, exit_code=1, finished_ns=self.exits_at)
        return self.gate.decide(pod, pod.spec.containers[0], exited, self.now)

    def crash(self, pod: Pod, times: int) -> list[float]:
        """The waits before each of ``times`` restarts, in seconds; each instance exits as soon as it starts."""
        waits = []
        for _ in range(times):
            self.exits_at = self.now
            while (verdict := self.verdict(pod)).word != "start":
                self.now = verdict.due_ns
            waits.append((self.now - self.exits_at) / SECOND)
        return waits


@contextmanager
def process(folder: Path, kubelet: str, restore: str = "full", opt_ins: str = "") -> Iterator[Process]:
    """A process from its start to its orderly end."""
    path = folder / "config.yaml"
    path.write_text(
        f"apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n{kubelet}"
        f"---\napiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\nrestore: {restore}\n{opt_ins}"
    )
    configuration = load_config(path)
    gate = restart_gate(configuration)
    with closing(node_engine(configuration, gate, folder, "node")) as engine:
        yield Process(gate, engine.now())


# Configuration before, restarts with it, configuration after; the next three waits with nothing kept and with all kept.
FLIPS = {
    "upgrade: the reduced curve is switched on": (DEFAULT, 6, REDUCED, [0, 1, 2], [60, 60, 60]),
    "rollback of the reduced curve, early": (REDUCED, 3, DEFAULT, [0, 10, 20], [10, 20, 40]),
    "rollback of the reduced curve, at its maximum": (REDUCED, 9, DEFAULT, [0, 10, 20], [60, 120, 240]),
    "a maximum is set for the node": (DEFAULT, 6, MOST_4S, [0, 4, 4], [4, 4, 4]),
    "the maximum is removed": (MOST_4S, 6, DEFAULT, [0, 10, 20], [10, 20, 40]),
    "the maximum is removed, the reduced curve stays": (BOTH, 7, REDUCED, [0, 1, 2], [30, 60, 60]),
    "a maximum beside the reduced curve": (REDUCED, 8, BOTH, [0, 1, 2], [30, 30, 30]),
    "the proposed gate is switched off, its field stays": (SEED_ON, 4, SEED_OFF, [0, 10, 20], [10, 20, 40]),
    "the proposed gate is switched on": (SEED_OFF, 4, SEED_ON, [0, 2, 2], [2, 2, 2]),
    "nothing changes": (DEFAULT, 3, DEFAULT, [0, 10, 20], [40, 80, 160]),
}


@pytest.mark.parametrize("flip", FLIPS)
def test_as_a_kubelet_every_container_begins_anew_on_the_curve_in_force(flip: str, tmp_path: Path) -> None:
    before, restarts, after, expected, _ = FLIPS[flip]
    pod = make_pod()
    with process(tmp_path, before, "kubelet") as first:
        first.crash(pod, restarts)
    assert not (tmp_path / "journal").exists()
    with process(tmp_path, after, "kubelet") as second:
        assert second.crash(pod, 3) == expected


@pytest.mark.parametrize("flip", FLIPS)
def test_with_everything_kept_the_delay_goes_on_within_the_curve_in_force(flip: str, tmp_path: Path) -> None:
    before, restarts, after, _, expected = FLIPS[flip]
    pod = make_pod()
    with process(tmp_path, before) as first:
        first.crash(pod, restarts)
    with process(tmp_path, after) as second:
        assert second.crash(pod, 3) == expected


def test_upgrade_downgrade_upgrade(tmp_path: Path) -> None:
    pod = make_pod()
    waits = []
    for kubelet in (DEFAULT, REDUCED, DEFAULT, REDUCED):
        with process(tmp_path, kubelet) as one:
            waits.append(one.crash(pod, 2))
    # 20 s and their doubled delay fit the reduced curve, so the gate clamps neither.
    assert waits == [[0, 10], [20, 40], [60, 120], [60, 60]]
    (tmp_path / "anew").mkdir()
    waits = []
    for kubelet in (DEFAULT, REDUCED, DEFAULT, REDUCED):
        with process(tmp_path / "anew", kubelet, "kubelet") as one:
            waits.append(one.crash(pod, 2))
    assert waits == [[0, 10], [0, 1], [0, 10], [0, 1]]


def test_switching_the_journal_off_forgets_the_kept_delays(tmp_path: Path) -> None:
    pod = make_pod()
    with process(tmp_path, DEFAULT, "full") as first:
        first.crash(pod, 5)
    with process(tmp_path, DEFAULT, "kubelet") as second:
        assert second.crash(pod, 2) == [0, 10]
    with process(tmp_path, DEFAULT, "full") as third:
        assert third.crash(pod, 2) == [0, 10], "what the first one knew is not true any more"


# The other state of a gate.


def test_the_curve_of_a_container_continues_beyond_the_nodes_curve(tmp_path: Path) -> None:
    pod = make_pod()
    pod.metadata.annotations["probelet.dev/backoff"] = "app=30s/10m"
    opt_ins = "containerBackoffAnnotations: true\ncontainerBackoffMax: 10m\n"
    with process(tmp_path, DEFAULT, opt_ins=opt_ins) as first:
        assert first.crash(pod, 5) == [0, 30, 60, 120, 240]
    with process(tmp_path, REDUCED, opt_ins=opt_ins) as second:
        assert second.crash(pod, 2) == [480, 600]
    with process(tmp_path, DEFAULT) as third:
        assert third.crash(pod, 2) == [300, 300], "the annotation is not asked any more"


def test_the_curve_of_a_container_is_clamped_to_narrower_limits(tmp_path: Path) -> None:
    pod = make_pod()
    pod.metadata.annotations["probelet.dev/backoff"] = "app=2s/10m"
    opt_ins = "containerBackoffAnnotations: true\ncontainerBackoffMax: {}\n"
    with process(tmp_path, DEFAULT, opt_ins=opt_ins.format("10m")) as first:
        assert first.crash(pod, 8) == [0, 2, 4, 8, 16, 32, 64, 128]
    with process(tmp_path, DEFAULT, opt_ins=opt_ins.format("20s")) as second:
        assert second.crash(pod, 2) == [20, 20]


def test_a_delay_that_an_operator_reset_stays_forgotten(tmp_path: Path) -> None:
    pod = make_pod()
    with process(tmp_path, DEFAULT) as first:
        first.crash(pod, 5)
        assert first.gate.reset(pod, pod.spec.containers[0])
    with process(tmp_path, DEFAULT) as second:
        assert second.crash(pod, 2) == [0, 10]


def test_an_unused_release_is_lost_and_a_used_release_left_the_delay_unchanged(tmp_path: Path) -> None:
    pod = make_pod()
    with process(tmp_path, DEFAULT) as first:
        first.crash(pod, 4)
        first.gate.release(pod, pod.spec.containers[0])
        assert first.crash(pod, 1) == [0]
        first.gate.release(pod, pod.spec.containers[0])
    with process(tmp_path, DEFAULT) as second:
        assert second.crash(pod, 1) == [80]


def test_a_budget_is_full_after_a_restart(tmp_path: Path) -> None:
    pod = make_pod()
    opt_ins = "restartBudget: {burst: 2, refill: 1h}\n"
    for restore in ("kubelet", "full"):
        (tmp_path / restore).mkdir()
        with process(tmp_path / restore, MOST_4S, restore, opt_ins) as first:
            assert first.crash(pod, 3) == [0, 4, 3596], "two tokens, then one an hour after the first was taken"
        with process(tmp_path / restore, MOST_4S, restore, opt_ins) as second:
            assert max(second.crash(pod, 2)) == 4


def test_a_container_that_waited_for_the_budget_waits_for_its_charged_delay(tmp_path: Path) -> None:
    pod = make_pod()
    opt_ins = "restartBudget: {burst: 1, refill: 1h}\n"
    with process(tmp_path, DEFAULT, opt_ins=opt_ins) as first:
        assert first.crash(pod, 1) == [0]
        assert first.verdict(pod).delay_ns == 10 * SECOND
        first.now += 10 * SECOND
        assert first.verdict(pod).word == "budget"
    with process(tmp_path, DEFAULT, opt_ins=opt_ins) as second:
        assert second.verdict(pod).delay_ns == 20 * SECOND


def test_entries_that_no_pod_uses_are_dropped_after_ten_minutes(tmp_path: Path) -> None:
    stays, goes = make_pod(), replace(make_pod(), metadata=replace(make_pod().metadata, uid="u2"))
    with process(tmp_path, DEFAULT) as first:
        first.crash(stays, 3)
        first.crash(goes, 3)
    with process(tmp_path, DEFAULT) as second:
        assert second.verdict(stays).delay_ns == 40 * SECOND
        began = second.now
        assert second.gate.entries(began + 599 * SECOND) == 2
        assert second.gate.entries(began + 601 * SECOND) == 1
