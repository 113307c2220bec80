"""The dependency that a probe asks beyond its own container: from the hosts in the manifest for certain, from names as
a guess."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, Literal, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from probelet.lint.command.host import hosts, is_loopback
from probelet.lint.command.shell import program
from probelet.lint.command.statements import statements
from probelet.lint.command.why_it_succeeds import why_it_succeeds
from probelet.lint.finding import Confidence
from probelet.lint.model.workload import LintContainer, LintProbe
from probelet.spec.model.env import EnvVar

Kind: TypeAlias = Literal["host", "own service", "name", "whole"]


@dataclass(frozen=True, slots=True)
class Dependency:
    """Something whose failure is the probe's failure."""

    what: str
    """For a sentence: ``the host db.shop``."""
    field: str
    """The field of the probe that says so."""
    kind: Kind
    """``host``: another host. ``own service``: the Service in front of these very pods. ``name``: its name says
    so, which is a guess. ``whole``: its name says that the check is a thorough one, which may be of the container
    alone."""

    def fails(self, consequence: str) -> str:
        """For a message: what is asked, and what its failure does."""
        if self.is_guess:
            return f"asks {self.what}; if it does, an outage there {consequence}"
        return f"asks {self.what}: an outage of it {consequence}"

    @property
    def is_guess(self) -> bool:
        """True if a name is all that says so."""
        return self.kind in ("name", "whole")

    @property
    def confidence(self) -> Confidence:
        """A name is a guess."""
        return "heuristic" if self.is_guess else "certain"


_SHARED: Final = frozenset(
    {
        *("dependency", "dependencies", "downstream", "downstreams", "upstream", "upstreams"),
        *("db", "database", "databases", "postgres", "postgresql", "mysql", "mongo", "mongodb"),
        *("redis", "kafka", "rabbitmq", "amqp", "elasticsearch"),
    }
)
"""Words of a path that name a dependency."""

_DEEP: Final = "deep"
"""The word of a health check that follows its dependencies."""

_WHOLE: Final = frozenset({"full", "all"})
"""Words of a health check that checks everything, which may be all of its own container: in argo-cd it is."""

_HEALTH: Final = re.compile(r"(health|ready|readiness|live|liveness|status|check|ping|probe)")
_OFF: Final = frozenset({"false", "0", "no", "off"})
_VARIABLE: Final = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")
_KUBERNETES: Final = re.compile(r"\$\(([A-Za-z_][\w.-]*)\)")
_POSTGRES: Final = frozenset({"psql", "pg_isready"})


def dependency(probe: LintProbe) -> Dependency | None:
    """Returns the surest dependency that the probe asks beside its container; None if nothing says that it does."""
    # Seven rules ask this of each probe.
    if dependency not in probe.memo:
        probe.memo[dependency] = _surest(probe)
    found: Dependency | None = probe.memo[dependency]
    return found


def _surest(probe: LintProbe) -> Dependency | None:
    if why_it_succeeds(probe.argv) is not None:
        # What it asks does not matter: PL518.
        return None
    found = _of_command(probe) if probe.handler == "exec" else (*_of_host(probe), *_of_path(probe))
    return min(found, key=lambda each: each.is_guess, default=None)


def _of_host(probe: LintProbe) -> Iterator[Dependency]:
    """The field ``host``, which replaces the pod's address."""
    if probe.host:
        yield from _foreign(probe.container, probe.host, f"{probe.handler}.host")


def _of_path(probe: LintProbe) -> Iterator[Dependency]:
    """The path of an HTTP probe."""
    if probe.handler != "httpGet" or probe.spec.http_get is None:
        return
    path, field = probe.spec.http_get.path, "httpGet.path"
    try:
        url = urlsplit(path)
    except ValueError:
        return
    if re.search(r"/actuator/health/?$", url.path):
        what = f"{path}, which by its name is the health of all that a Spring application uses, such as its database"
        yield Dependency(what, field, "name")
        return
    image = probe.container.spec.image.lower()
    words = re.findall(r"[a-z]+", url.path.lower())
    named = [word for word in words if word in _SHARED and word not in image]
    whole = list[str]()
    if any(map(_HEALTH.search, words)):
        named += [word for word in words if word == _DEEP]
        whole += [word for word in words if word in _WHOLE]
    for key, value in parse_qsl(url.query, keep_blank_values=True):
        if value.lower() not in _OFF:
            named += [word for word in (key.lower(), value.lower()) if word in _SHARED or word == _DEEP]
            whole += [word for word in (key.lower(), value.lower()) if word in _WHOLE]
    if named:
        yield Dependency(f"{path}, which by its name ({named[0]}) checks more than its own container", field, "name")
    elif whole:
        what = f"{path}, which by its name ({whole[0]}) is a thorough check and may ask more than its own container"
        yield Dependency(what, field, "whole")


def _of_command(probe: LintProbe) -> Iterator[Dependency]:
    """The clients in a command."""
    container = probe.container
    names = {entry.name for entry in container.spec.env}
    # The kubelet puts these values in before a shell sees the text.
    argv = [_KUBERNETES.sub(lambda m: f"${{{m[1]}}}" if m[1] in names else m[0], word) for word in probe.argv]
    for words in statements(argv):
        if program(words) == "kubectl":
            yield Dependency("the API server, with kubectl", "exec.command", "host")
        asked = list(hosts(words))
        if not asked and program(words) in _POSTGRES and (entry := _variable(container, "PGHOST")) is not None:
            asked = [entry.value]
        for host in asked:
            yield from _foreign(container, host, "exec.command")


def _foreign(container: LintContainer, host: str, field: str) -> Iterator[Dependency]:
    """The host, if it is not the pod itself."""
    if "$" in host:
        yield from _of_variable(container, host, field)
        return
    workload, first = container.workload, host.partition(".")[0]
    if is_loopback(host) or _is_node(container, host):
        return
    if first in (workload.pod.spec.hostname, workload.name if workload.kind == "Pod" else ""):
        return
    if workload.kind == "StatefulSet" and re.fullmatch(rf"{re.escape(workload.name)}-\d+", first):
        return
    if first in {service.metadata.name for service in workload.services} and not _is_address(host):
        yield Dependency(f"the Service {first} in front of these pods", field, "own service")
    elif first == workload.name:
        # Its Service stands elsewhere. An address is no name of a workload.
        yield Dependency(f"the host {host}, which by its name is the Service in front of these pods", field, "name")
    else:
        yield Dependency(f"the host {host}", field, "host")


def _of_variable(container: LintContainer, host: str, field: str) -> Iterator[Dependency]:
    """The host that a variable of the container names."""
    found = _VARIABLE.fullmatch(host)
    if found is None:
        return
    entry = _variable(container, found[1])
    if entry is not None and entry.value:
        for value in hosts(["curl", entry.value]):
            if "$" not in value:
                yield from _foreign(container, value, field)
        return
    if entry is not None and entry.value_from is not None and entry.value_from.field_ref is not None:
        # The pod's own address or that of its node.
        return
    # The value is in a ConfigMap, a Secret or the image.
    if set(re.findall(r"[a-z]+", found[1].lower())) & _SHARED:
        yield Dependency(f"${found[1]}, which by its name is another host", field, "name")


def _variable(container: LintContainer, name: str) -> EnvVar | None:
    return next((entry for entry in container.spec.env if entry.name == name), None)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_node(container: LintContainer, host: str) -> bool:
    """True for an address in a pod that shares the node's: static pods name it."""
    return container.workload.pod.spec.host_network and _is_address(host)
