"""A detector with pods, whose probes fail and recover on request."""

from collections.abc import Iterable, Iterator

from probelet.policy.incidents import (
    Began,
    Ended,
    Exited,
    Incident,
    IncidentDetector,
    Input,
    Killed,
    Output,
    Passed,
    ProbeGone,
    ProbeKey,
    ProbeKnown,
    RolledOut,
    Subject,
    Turn,
)

PERIOD = 10_000
START = 1_700_000_000_000
"""Unix milliseconds of the first second."""


class Scene:
    """Pods of workloads; a pod is ``app-0``, the first one of ``Deployment/app``. Time is in seconds."""

    def __init__(self) -> None:
        self.detector = IncidentDetector()
        self.said: list[Output] = []
        self.now = 0.0
        self.offset = 0
        """How far the caller's clock was set, in milliseconds."""
        self.subjects: dict[str, list[Subject]] = {}

    def add(
        self,
        app: str,
        count: int = 1,
        *,
        nodes: Iterable[str] = ("n1",),
        targets: tuple[str, ...] = (),
        image: str = "",
        probes: tuple[str, ...] = ("readiness", "liveness"),
        first: int = 0,
        well: bool = True,
    ) -> None:
        """Pods of an app, one after the other on the nodes, with probes that are well. Readiness asks the targets."""
        places = list(nodes)
        for number in range(first, first + count):
            pod = f"{app}-{number}"
            self.subjects[pod] = [
                Subject(
                    pod,
                    "default",
                    pod,
                    "main",
                    probe,
                    places[number % len(places)],
                    workload=f"Deployment/{app}",
                    image=image or f"{app}:1",
                    targets=targets if probe == "readiness" else (),
                )
                for probe in probes
            ]
            for subject in self.subjects[pod]:
                self.give(ProbeKnown(subject))
                if well:
                    self.give(self.turn(subject))

    def turn(self, subject: Subject, cause: str = "ok", *, late: float = 0.0) -> Turn:
        at = self.wall()
        return Turn(subject.pod_uid, "main", subject.probe_type, at, cause == "ok", cause, late, late, "")

    def wall(self) -> int:
        return START + self.offset + round(self.now * 1_000)

    def give(self, given: Input) -> list[Output]:
        found = self.detector.handle(self.wall(), given)
        self.said += found
        return found

    def to(self, seconds: float) -> None:
        """Time goes by, with every call that the detector asks for."""
        goal = START + self.offset + round(seconds * 1_000)
        while (due := self.detector.next_deadline_ms) is not None and due <= goal:
            self.now = max(self.now, (due - START - self.offset) / 1_000)
            before = self.detector.next_deadline_ms
            self.give(Passed())
            assert self.detector.next_deadline_ms != before, "a deadline that was kept is no deadline any more"
        self.now = seconds

    def attempts(
        self, pods: Iterable[str], cause: str, *, probes: tuple[str, ...] = ("readiness", "liveness"), late: float = 0.0
    ) -> None:
        """An attempt of each of these pods' probes, spread over half a period from now on."""
        meant = [each for pod in pods for each in self.subjects[pod] if each.probe_type in probes]
        begin = self.now
        for number, subject in enumerate(meant):
            self.to(begin + number * PERIOD / 2_000 / len(meant))
            self.give(self.turn(subject, cause, late=late))

    def fail(self, pods: Iterable[str], cause: str = "header_timeout", times: int = 2, **how: object) -> None:
        """So many failed attempts, a period after each other."""
        listed, begin = list(pods), self.now
        for count in range(times):
            self.to(begin + count * PERIOD / 1_000)
            self.attempts(listed, cause, **how)  # type: ignore[arg-type]
        self.to(begin + times * PERIOD / 1_000 + 1)

    def recover(self, pods: Iterable[str], **how: object) -> None:
        self.attempts(list(pods), "ok", **how)  # type: ignore[arg-type]

    def pods(self, *apps: str) -> list[str]:
        return [pod for pod in self.subjects if pod.rpartition("-")[0] in apps]

    def kill(self, pod: str) -> None:
        self.give(Killed(pod, "main", self.wall()))

    def exit(self, pod: str) -> None:
        self.give(Exited(pod, "main", self.wall()))

    def gone(self, pod: str) -> None:
        for subject in self.subjects.pop(pod):
            self.give(ProbeGone(ProbeKey(pod, "main", subject.probe_type)))

    def roll_out(self, app: str, image: str) -> None:
        self.give(RolledOut("default", f"Deployment/{app}", image))

    @property
    def open(self) -> list[Incident]:
        return self.detector.open

    def only(self) -> Incident:
        """The one incident that is open."""
        [incident] = self.open
        return incident

    def began(self) -> list[Incident]:
        return [each.incident for each in self.said if isinstance(each, Began)]

    def ended(self) -> list[Incident]:
        return [each.incident for each in self.said if isinstance(each, Ended)]


def three_apps(**fields: object) -> Scene:
    """Three workloads of three pods each on three nodes that ask ``db:5432``, and two that do not."""
    scene = Scene()
    for app in ("a", "b", "c"):
        scene.add(app, 3, nodes=("n1", "n2", "n3"), targets=("db:5432",), **fields)  # type: ignore[arg-type]
    for app in ("d", "e"):
        scene.add(app, 3, nodes=("n1", "n2", "n3"))
    scene.to(60)
    return scene


def names(incidents: Iterable[Incident]) -> Iterator[tuple[str, str]]:
    return ((incident.kind, incident.thing) for incident in incidents)
