"""The image of a container before its start: pull policies, the kubelet's messages, and the back-off of pulls."""

from itertools import pairwise
from typing import Any

import pytest
from probelet.policy.facts.snapshot import Snapshot
from probelet.policy.machine.states import Terminating
from probelet.policy.node.restart_gate import GateOptions, RestartGate
from probelet.policy.protocol.actions import Cancel, Perform
from probelet.policy.protocol.effects import CreateContainer, InspectImage, PullImage
from probelet.policy.protocol.inputs import Terminate
from probelet.policy.start.image_backoff import ImageBackoff
from probelet.spec.model.pod import Pod

from tests.unit.policy.rig import SECOND, Rig, gate, make_pod, sandbox

IMAGE = "quay.example/team/app:1"


def pod_of(policy: str, image: str = IMAGE, **spec: Any) -> Pod:
    return make_pod({"name": "app", "image": image, "imagePullPolicy": policy}, **spec)


def effects(rig: Rig, kind: type) -> list[Any]:
    performed = (effect for action in rig.actions if isinstance(action, Perform) for effect in action.effects)
    return [effect for effect in performed if isinstance(effect, kind)]


def about_images(rig: Rig) -> list[tuple[str, str]]:
    return [event for event in rig.events if event[0] not in ("Created", "Started")]


def begun(pod: Pod, **options: Any) -> Rig:
    """A pod whose sandbox exists, because the creation of a sandbox leads to a second sync."""
    rig = Rig(pod, **options)
    rig.snapshot = Snapshot((sandbox(),))
    rig.begin()
    return rig


def test_a_present_image_is_not_pulled() -> None:
    rig = Rig(pod_of("IfNotPresent"), images={IMAGE})
    rig.begin()
    assert about_images(rig) == [
        ("Pulled", f'Container image "{IMAGE}" already present on machine and can be accessed by the pod')
    ]
    assert effects(rig, PullImage) == []
    assert [effect.image_ref for effect in effects(rig, CreateContainer)] == [f"sha256:{IMAGE}"]


def test_a_missing_image_is_pulled_and_the_container_uses_the_pulled_image() -> None:
    rig = Rig(pod_of("IfNotPresent"), images=set())
    rig.begin()
    assert about_images(rig) == [
        ("Pulling", f'Pulling image "{IMAGE}"'),
        ("Pulled", f'Successfully pulled image "{IMAGE}" in 1.234s (2s including waiting). Image size: 4096 bytes.'),
    ]
    assert [effect.image_ref for effect in effects(rig, CreateContainer)] == [f"sha256:{IMAGE}"]


def test_always_pulls_without_inspecting_the_image() -> None:
    rig = Rig(pod_of("Always"), images={IMAGE})
    rig.begin()
    assert effects(rig, InspectImage) == []
    assert len(effects(rig, PullImage)) == 1


def test_an_image_without_a_tag_is_pulled_as_latest_and_shown_as_written() -> None:
    rig = Rig(pod_of("Always", image="busybox"), images=set())
    rig.begin()
    assert [effect.image for effect in effects(rig, PullImage)] == ["busybox:latest"]
    assert about_images(rig)[0] == ("Pulling", 'Pulling image "busybox"')


def test_a_missing_image_under_never_is_an_error_and_is_inspected_again_after_ten_seconds() -> None:
    rig = begun(pod_of("Never"), images=set())
    text = f'Container image "{IMAGE}" is not present with pull policy of Never'
    assert about_images(rig) == [("ErrImageNeverPull", text), ("Failed", "Error: ErrImageNeverPull")]
    status = rig.machine.statuses["app"]
    assert (status.state, status.reason, status.message) == ("waiting", "ErrImageNeverPull", text)
    assert rig.images is not None
    rig.images.add(IMAGE)
    rig.run_until(9.9)
    assert rig.starts == []
    rig.run_until(10)
    assert rig.starts == [(10.0, "app", 0)]


def test_an_invalid_image_name_is_an_error() -> None:
    rig = begun(pod_of("Always", image="Team/App"), images=set())
    text = (
        'Failed to apply default image tag "Team/App": couldn\'t parse image name "Team/App": '
        "invalid reference format: repository name (App) must be lowercase"
    )
    assert about_images(rig) == [("InspectFailed", text), ("Failed", "Error: InvalidImageName")]
    assert rig.machine.statuses["app"].reason == "InvalidImageName"


def test_a_failed_inspection_is_an_error() -> None:
    rig = begun(pod_of("IfNotPresent"), images=set(), fail={InspectImage: "broken"})
    text = f'Failed to inspect image "{IMAGE}": rpc error: code = Unknown desc = broken'
    assert about_images(rig) == [("InspectFailed", text), ("Failed", "Error: ImageInspectError")]


class TestBackOff:
    FAILED = "failed to resolve reference: not found"

    @pytest.fixture
    def rig(self) -> Rig:
        return begun(pod_of("IfNotPresent"), images=set(), fail={PullImage: self.FAILED})

    def test_the_failing_pull_and_the_wait_after_it(self, rig: Rig) -> None:
        assert about_images(rig) == [
            ("Pulling", f'Pulling image "{IMAGE}"'),
            ("Failed", f'Failed to pull image "{IMAGE}": {self.FAILED}'),
            ("Failed", "Error: ErrImagePull"),
        ]
        status = rig.machine.statuses["app"]
        assert (status.reason, status.message) == ("ErrImagePull", self.FAILED)
        rig.actions.clear()
        rig.run_until(20)
        # At 10 s the wait ends and the next pull fails; the sync at 20 s comes in the middle of the wait of 20 s.
        assert about_images(rig)[-2:] == [
            ("BackOff", f'Back-off pulling image "{IMAGE}"'),
            ("Failed", "Error: ImagePullBackOff"),
        ]
        status = rig.machine.statuses["app"]
        expected = f'Back-off pulling image "{IMAGE}": ErrImagePull: {self.FAILED}'
        assert (status.reason, status.message) == ("ImagePullBackOff", expected)

    def test_ten_seconds_doubling_to_five_minutes(self, rig: Rig) -> None:
        rig.run_until(1300)
        assert [at for at, _ in rig.pulls] == [0, 10, 30, 70, 150, 310, 610, 910, 1210]

    @pytest.mark.parametrize("curve", [(1, 1), (1, 60), (1, 300), (10, 30), (10, 300)], ids=str)
    @pytest.mark.parametrize("options", [{}, {"first_free": False, "own_exit": True, "budget": (1, 10**12)}], ids=str)
    def test_the_curve_of_restarts_does_not_change_the_back_off_of_pulls(
        self, curve: tuple[int, int], options: dict[str, Any]
    ) -> None:
        rig = Rig(pod_of("IfNotPresent"), gate(*curve, **options), images=set(), fail={PullImage: self.FAILED})
        rig.begin()
        rig.run_until(160)
        assert [at for at, _ in rig.pulls] == [0, 10, 30, 70, 150]

    def test_with_the_kubelets_timer_it_is_an_error_like_any_other(self) -> None:
        late = RestartGate(GateOptions(late=True))
        rig = Rig(pod_of("IfNotPresent"), late, images=set(), fail={PullImage: self.FAILED})
        rig.begin()
        rig.run_until(2000)
        # Each sync comes 11 to 15 s after the previous one, so a pull is never early and at most one sync late.
        gaps = [after - before for (before, _), (after, _) in pairwise(rig.pulls)]
        delays = [10, 20, 40, 80, 160, 300, 300, 300, 300, 300]
        assert all(delay <= gap < delay + 15 for delay, gap in zip(delays, gaps, strict=True)), gaps
        waited = sum(reason == "BackOff" for reason, _ in rig.events)
        assert 2000 / 15 <= waited + len(rig.pulls) <= 2000 / 11

    def test_a_pull_that_succeeds_at_last_starts_the_container(self, rig: Rig) -> None:
        rig.run_until(29)
        rig.fail.clear()
        rig.run_until(31)
        assert rig.starts == [(30.0, "app", 0)]
        assert rig.machine.statuses["app"].reason == ""

    def test_an_error_with_a_name_of_the_runtime_keeps_that_reason(self) -> None:
        rig = begun(pod_of("Always"), images=set(), fail={PullImage: "RegistryUnavailable: 503"})
        status = rig.machine.statuses["app"]
        expected = f"image pull failed for {IMAGE} because the registry is unavailable: 503"
        assert (status.reason, status.message) == ("RegistryUnavailable", expected)
        assert rig.events[-1] == ("Failed", "Error: RegistryUnavailable")


def test_a_pod_that_ends_gives_its_pull_up() -> None:
    rig = Rig(pod_of("Always"), images=set(), call_takes=100)
    rig.at(150, "give", Terminate())
    rig.begin()
    rig.run_until(151)
    assert isinstance(rig.machine.state, Terminating)
    assert [type(a) for a in rig.actions if isinstance(a, Cancel)] == [Cancel]
    rig.run_until(1000)
    assert rig.gone
    assert rig.starts == []


@pytest.mark.parametrize(("later_ns", "delay"), [(600 * SECOND, 40), (600 * SECOND + 1, 10)])
def test_the_back_off_of_an_image_begins_anew_ten_minutes_after_its_last_failure(later_ns: int, delay: int) -> None:
    backoff = ImageBackoff()
    for moment in (0, 10 * SECOND, 10 * SECOND + later_ns):
        backoff.failed(IMAGE, "no", moment)
    assert backoff.wait(IMAGE, moment) == (moment + delay * SECOND, delay * SECOND)
