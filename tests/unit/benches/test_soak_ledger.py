"""The soak's ledger of restarts: a restart without a cause or without its own number is a finding."""

import pytest

from benches.soak.containerd.ledger import CUT, ENDED, FAILED, KILLED, LOST, UNSEEN, Instance, Ledger, Outage
from benches.soak.containerd.population import CRASH_CODE, is_well, population

SECOND = 1_000_000_000


def life(name: str, *codes: int | None) -> Ledger:
    """A container's instances of ten seconds each, one after the other; the last one still runs."""
    ledger = Ledger()
    for count, code in enumerate((*codes, None)):
        at = 100 * SECOND * (count + 1)
        one = Instance(f"{name}/{count}", name, count, created_ns=at, started_ns=at + SECOND, exit_code=code)
        one.finished_ns = 0 if code is None else at + 11 * SECOND
        ledger.instances[one.id] = one
    return ledger


def judged(ledger: Ledger) -> tuple[list[str], list[str]]:
    (name,) = {one.name for one in ledger.instances.values()}
    return list(ledger.causes().elements()), ledger.findings([name])


def test_a_container_that_was_never_restarted_needs_no_cause() -> None:
    assert judged(life("wellhttp-0")) == ([], [])


def test_an_end_without_a_cause_is_a_finding() -> None:
    causes, (finding,) = judged(life("wellhttp-0", 137))
    assert causes == [""]
    assert finding.startswith("wellhttp-0: nothing explains the end of ")


def test_a_kill_by_the_soak_explains_an_end() -> None:
    ledger = life("wellhttp-0", 137)
    ledger.killed.add("wellhttp-0/0")
    assert judged(ledger) == ([KILLED], [])


def test_a_kill_event_explains_the_end_of_an_instance_unless_the_container_is_healthy() -> None:
    for name, findings in (("hang-0", 0), ("wellhttp-0", 1)):
        ledger = life(name, 137)
        ledger.said[name, "liveness"] = [105 * SECOND]
        causes, found = judged(ledger)
        assert (causes, len(found)) == ([FAILED], findings)
    late = life("hang-0", 137)
    late.said["hang-0", "liveness"] = [150 * SECOND]
    assert len(judged(late)[1]) == 1


@pytest.mark.parametrize(("name", "code", "cause"), [("crash-0", CRASH_CODE, ENDED), ("wellexec-0", CRASH_CODE, "")])
def test_only_a_container_that_crashes_ends_by_itself(name: str, code: int, cause: str) -> None:
    assert judged(life(name, code))[0] == [cause]


def test_an_outage_explains_a_start_that_it_interrupted() -> None:
    ledger = life("crash-0", 255)
    ledger.instances["crash-0/0"].started_ns = 0
    assert len(judged(ledger)[1]) == 1
    ledger.outages.append(Outage("probelet", 105 * SECOND, 107 * SECOND))
    assert judged(ledger) == ([CUT], [])


def test_an_exit_that_containerd_lost_or_missed_needs_an_outage_of_containerd() -> None:
    unseen, lost = life("crash-0", 255), life("wellexec-0", 137)
    lost.said["wellexec-0", "stopping"] = [108 * SECOND]
    for ledger, cause in ((unseen, UNSEEN), (lost, LOST)):
        assert judged(ledger)[0] == [""]
        ledger.outages.append(Outage("containerd", 104 * SECOND, 106 * SECOND))
        assert judged(ledger) == ([cause], [])


def test_a_number_that_is_missing_or_given_twice_is_a_finding() -> None:
    for counts in ((0, 2), (0, 0)):
        ledger = life("crash-0", CRASH_CODE)
        for one, count in zip(ledger.instances.values(), counts, strict=True):
            one.count = count
        assert judged(ledger)[1] == [f"crash-0: instances with the restart counts {list(counts)}"]


def test_two_instances_at_once_are_a_finding() -> None:
    ledger = life("crash-0", CRASH_CODE)
    ledger.instances["crash-0/1"].started_ns = 110 * SECOND
    assert judged(ledger)[1] == ["crash-0: instance 1 ran before 0 had ended"]


def test_four_in_five_pods_are_healthy_and_a_population_has_every_kind() -> None:
    assert len(population(100)) == 100
    assert sum(map(is_well, population(100))) == 80
    assert {name.partition("-")[0] for name in population(1)} == {"wellhttp", "wellexec", "hang", "crash"}
