"""The workloads that a probe asks through their Services, from the hosts in its command and its field ``host``."""

from collections.abc import Iterator

from probelet.lint.command.host import hosts
from probelet.lint.command.statements import statements
from probelet.lint.model.workload import LintProbe, LintWorkload


def asked_workloads(probe: LintProbe) -> Iterator[tuple[str, LintWorkload]]:
    """The Service and the workload behind it, for each Service whose only pods are those of one workload. A Service
    that also has unready pods is none of them."""
    asked = [probe.host] if probe.host else [host for words in statements(probe.argv) for host in hosts(words)]
    for host in asked:
        name, _, rest = host.partition(".")
        behind = [
            other
            for other in probe.container.workload.scope.workloads
            for service in other.services
            if service.metadata.name == name
            and not service.spec.publish_not_ready_addresses
            and rest.partition(".")[0] in ("", service.metadata.namespace)
        ]
        if len(behind) == 1:
            yield name, behind[0]
