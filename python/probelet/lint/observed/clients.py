"""How long clients wait, in answers of Prometheus: by Istio for workloads, by ingress-nginx for Services."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from probelet.lint.observed.container import ObservedClients
from probelet.lint.observed.prometheus import Sample, percentile, samples

_ISTIO: Final = "istio_request_duration_milliseconds_bucket"
_NGINX: Final = frozenset(
    {
        "nginx_ingress_controller_request_duration_seconds_bucket",
        "nginx_ingress_controller_response_duration_seconds_bucket",
    }
)


class _Target(NamedTuple):
    namespace: str
    workload: str
    service: str


def clients_by_prometheus(answers: Iterable[dict[str, Any]]) -> Iterator[ObservedClients]:
    """The clients of each workload and Service. Raises LookupError, TypeError or ValueError for an answer of another
    form."""
    found: defaultdict[_Target, defaultdict[str, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for sample in (sample for answer in answers for sample in samples(answer)):
        target = _target(sample)
        if target is not None:
            found[target][sample.name].append(sample)
    for target, by_name in found.items():
        for name, buckets in by_name.items():
            bound, requests = percentile(_summed(buckets))
            if bound is not None:
                seconds = bound / 1000 if name == _ISTIO else bound
                yield ObservedClients(target.namespace, target.workload, target.service, seconds, requests)


def _target(sample: Sample) -> _Target | None:
    """Returns the target of a series; None if it is no series of clients."""
    labels = sample.labels
    if sample.name == _ISTIO and labels.get("reporter", "destination") == "destination":
        workload = labels.get("destination_workload", "")
        return _Target(labels.get("destination_workload_namespace", ""), workload, "") if workload else None
    if sample.name in _NGINX:
        # A scrape with honorLabels off renames the labels that it has itself.
        service = labels.get("exported_service") or labels.get("service", "")
        namespace = labels.get("exported_namespace") or labels.get("namespace", "")
        return _Target(namespace, "", service) if service else None
    return None


def _summed(buckets: list[Sample]) -> list[Sample]:
    """One histogram of the histograms of several sources, codes and paths."""
    sums: defaultdict[str, float] = defaultdict(float)
    for sample in buckets:
        sums[sample.labels["le"]] += sample.value
    return [Sample("", {"le": bound}, 0, value) for bound, value in sums.items()]
