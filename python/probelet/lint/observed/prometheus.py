"""Observations in an answer of Prometheus' HTTP API, or in a list of such answers.

The series are those of a kubelet or of probelet (``/metrics/probes``) and of kube-state-metrics; others are passed
over. Each answer is an instant vector, as ``/api/v1/query`` gives it for
``{__name__=~"prober_probe.*|kube_pod_(start_time|.*container_.*)"}``.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from probelet.lint.observed.container import ObservedContainer, ObservedProbe, Start
from probelet.spec.model.probe import PROBE_TYPES, ProbeType

PERCENTILE: Final = 0.99
_READY: Final = "kube_pod_status_container_ready_time"


class Sample(NamedTuple):
    """One series of an instant vector."""

    name: str
    labels: dict[str, str]
    at: float
    """Unix time of the answer."""
    value: float


class _Pod(NamedTuple):
    namespace: str
    name: str


class _Key(NamedTuple):
    pod: _Pod
    container: str


def observed_by_prometheus(answers: Iterable[dict[str, Any]]) -> Iterator[ObservedContainer]:
    """The containers, each with what all answers say of it. Raises LookupError, TypeError or ValueError for an answer
    of another form."""
    found: defaultdict[_Key, list[Sample]] = defaultdict(list)
    of_pods: defaultdict[_Pod, list[Sample]] = defaultdict(list)
    for sample in (sample for answer in answers for sample in samples(answer)):
        labels = sample.labels
        if labels.get("pod"):
            pod = _Pod(labels.get("namespace", ""), labels["pod"])
            if labels.get("container"):
                found[_Key(pod, labels["container"])].append(sample)
            else:
                of_pods[pod].append(sample)
    sizes = Counter(key.pod for key in found)
    for key, series in found.items():
        # kube-state-metrics has the time at which a pod's containers were ready, and not that of each of them.
        own = [each for each in of_pods[key.pod] if sizes[key.pod] == 1 or each.name != _READY]
        yield _container(key, series + own)


def samples(answer: dict[str, Any]) -> Iterator[Sample]:
    """The series of an answer. Raises LookupError, TypeError or ValueError for an answer of another form."""
    if answer["status"] != "success" or answer["data"]["resultType"] != "vector":
        raise ValueError("must be the answer of an instant query")
    for series in answer["data"]["result"]:
        labels = dict(series["metric"])
        at, value = series["value"]
        yield Sample(labels.pop("__name__", ""), labels, float(at), float(value))


def _container(key: _Key, series: list[Sample]) -> ObservedContainer:
    by_name: defaultdict[str, list[Sample]] = defaultdict(list)
    for sample in series:
        by_name[sample.name].append(sample)
    started = by_name["kube_pod_container_state_started"] or by_name["container_start_time_seconds"]
    created = by_name["kube_pod_start_time"]
    ready = by_name[_READY]
    restarts = by_name["kube_pod_container_status_restarts_total"]
    waits = [sample for sample in by_name["kube_pod_container_status_waiting_reason"] if sample.value]
    probes: dict[ProbeType, ObservedProbe] = {}
    for probe_type in PROBE_TYPES:
        probe = _probe(by_name, probe_type)
        if probe is not None:
            probes[probe_type] = probe
    start = ready[0].value - started[0].value if ready and started else None
    return ObservedContainer(
        namespace=key.pod.namespace,
        pod=key.pod.name,
        name=key.container,
        probes=probes,
        restarts=int(restarts[0].value) if restarts else None,
        is_waiting=any(sample.labels.get("reason") == "CrashLoopBackOff" for sample in waits),
        age=started[0].at - started[0].value if started else None,
        span=created[0].at - created[0].value if created else None,
        # A container that was unready in between has a later time than that of its start.
        starts=(Start(started[0].value, start),) if start is not None and start >= 0 else (),
        image=next((sample.labels.get("image", "") for sample in by_name["kube_pod_container_info"]), ""),
    )


def _probe(by_name: dict[str, list[Sample]], probe_type: ProbeType) -> ObservedProbe | None:
    def of_type(name: str) -> list[Sample]:
        return [each for each in by_name.get(name, []) if each.labels.get("probe_type", "").lower() == probe_type]

    totals, buckets = of_type("prober_probe_total"), of_type("prober_probe_duration_seconds_bucket")
    sums = sum(each.value for each in of_type("prober_probe_duration_seconds_sum"))
    if not totals and not buckets:
        return None
    counts: defaultdict[str, int] = defaultdict(int)
    for sample in totals:
        counts[sample.labels.get("result", "")] += int(sample.value)
    slow, attempts = percentile(buckets)
    return ObservedProbe(
        runs=sum(counts.values()),
        failures=counts["failed"],
        # The kubelet counts an error of the prober as unknown.
        errors=counts["unknown"],
        slow=slow,
        mean=sums / attempts if sums and attempts else None,
        attempts=attempts,
    )


def percentile(buckets: list[Sample]) -> tuple[float | None, int]:
    """The bound of the bucket that has the percentile, None if it is the last one, and the number of attempts."""
    bounds = sorted((float(sample.labels["le"]), sample.value) for sample in buckets)
    total = bounds[-1][1] if bounds else 0
    bound = next((bound for bound, count in bounds if total and count >= PERCENTILE * total), None)
    return (None if bound is None or bound == float("inf") else bound), int(total)
