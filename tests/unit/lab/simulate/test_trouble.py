"""What the sentences say of a workload."""

from probelet.lab.simulate import play

from tests.unit.lab.simulate.article.service import deployment, scenario

HEAD = "duration: 8m\ntraffic: [{rate: 100, timeout: 5s}]\n"


def sentences(faults: str) -> str:
    file = scenario(f"{HEAD}faults: {faults}")
    return " ".join(play(deployment("readiness periodSeconds=5"), file, advise=False)["findings"])


def test_a_pod_that_a_rollout_replaces_has_not_ended_by_itself() -> None:
    told = sentences("[{type: rollout, at: 2m, latency: 3s}]")
    assert "left" in told or "not ready at the end" in told
    assert "ended by themselves" not in told


def test_a_container_of_a_new_version_that_exits_has() -> None:
    assert "Containers of web ended by themselves" in sentences("[{type: rollout, at: 2m, exitsAfter: 20s}]")
