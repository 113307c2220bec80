"""The dependency that a probe asks beyond its own container: from the hosts in the manifest for certain, from names as
a guess."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from probelet.lint.command.decides import decides
from probelet.lint.command.why_it_succeeds import why_it_succeeds
from probelet.lint.facts.asked import API_SERVER, SHARED, Asked, asked
from probelet.lint.finding import Confidence
from probelet.lint.model.workload import LintProbe

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
    decides: bool = True
    """False: the command has branches or later statements, so its answer may not be the probe's."""

    def fails(self, consequence: str) -> str:
        """For a message: what is asked, and what its failure does."""
        if self.kind in ("name", "whole"):
            return f"asks {self.what}; if it does, an outage there {consequence}"
        if not self.decides:
            return f"asks {self.what}; if the script fails with it, an outage there {consequence}"
        return f"asks {self.what}: an outage of it {consequence}"

    @property
    def is_guess(self) -> bool:
        """True if a name is all that says so, or if the failure may not be the probe's."""
        return self.kind in ("name", "whole") or not self.decides

    @property
    def confidence(self) -> Confidence:
        """A name is a guess, and so is what a script makes of an answer."""
        return "heuristic" if self.is_guess else "certain"


_DEEP: Final = "deep"
"""The word of a health check that follows its dependencies."""

_WHOLE: Final = frozenset({"full", "all"})
"""Words of a health check that checks everything, which may be all of its own container: in argo-cd it is."""

_HEALTH: Final = re.compile(r"(health|ready|readiness|live|liveness|status|check|ping|probe)")
_OFF: Final = frozenset({"false", "0", "no", "off"})


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
    found = (*_of_hosts(probe), *_of_path(probe))
    return min(found, key=lambda each: each.is_guess, default=None)


def _of_hosts(probe: LintProbe) -> Iterator[Dependency]:
    """The hosts that are not the pod itself."""
    is_sure = decides(probe.argv)
    for each in asked(probe):
        if each.where == "own service":
            service = each.host.partition(".")[0]
            yield Dependency(f"the Service {service} in front of these pods", each.field, "own service", is_sure)
        elif each.where in ("own name", "shared name", "other"):
            yield Dependency(_what(each), each.field, "host" if each.where == "other" else "name", is_sure)


def _what(each: Asked) -> str:
    if each.where == "own name":
        return f"the host {each.host}, which by its name is the Service in front of these pods"
    if each.where == "shared name":
        return f"{each.host}, which by its name is another host"
    return API_SERVER if each.host == API_SERVER else f"the host {each.host}"


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
    named = [word for word in words if word in SHARED and word not in image]
    whole = list[str]()
    if any(map(_HEALTH.search, words)):
        named += [word for word in words if word == _DEEP]
        whole += [word for word in words if word in _WHOLE]
    for key, value in parse_qsl(url.query, keep_blank_values=True):
        if value.lower() not in _OFF:
            named += [word for word in (key.lower(), value.lower()) if word in SHARED or word == _DEEP]
            whole += [word for word in (key.lower(), value.lower()) if word in _WHOLE]
    if named:
        yield Dependency(f"{path}, which by its name ({named[0]}) checks more than its own container", field, "name")
    elif whole:
        what = f"{path}, which by its name ({whole[0]}) is a thorough check and may ask more than its own container"
        yield Dependency(what, field, "whole")
