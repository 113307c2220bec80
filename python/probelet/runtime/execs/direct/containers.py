"""The description of each container for the helper, or why its commands go over the runtime; read once for each
container."""

from collections import OrderedDict
from typing import Final, Protocol

import msgspec

from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.errors import CriError
from probelet.runtime.execs.direct.container import container_info, described, specification
from probelet.runtime.execs.direct.fallback import FallbackError, Reason
from probelet.runtime.execs.direct.filters import Filters
from probelet.runtime.execs.direct.helper_process import Helper
from probelet.runtime.execs.direct.inherited import inherited_attributes
from probelet.runtime.execs.direct.profile import profile_of
from probelet.runtime.execs.direct.specification import SandboxInfo
from probelet.spec.text.container_id import bare_id

CONTAINERS_MAX: Final = 4096
"""Containers whose description is kept; the one that was asked for least recently goes first."""


class DirectEngine(Protocol):
    """The part of ``Engine`` that speaks with the helper."""

    def use_helper(self, socket: int, pidfd: int) -> None: ...
    def lose_helper(self, why: str) -> None: ...
    def describe_container(self, container_id: str, description: bytes) -> None: ...
    def forget_container(self, container_id: str) -> None: ...
    def enter_exec(
        self, run: int, description: bytes, argv: list[str], timeout_seconds: int
    ) -> tuple[int, int, int] | None: ...
    def direct_counts(self) -> tuple[int, int]: ...


class Containers:
    """Describes containers by their full IDs, ``type://id``."""

    def __init__(self, client: RuntimeClient, helper: Helper, filters: Filters) -> None:
        self.engine: DirectEngine | None = None
        """The engine, if it enters described containers without being asked; the owner of the helper sets it."""
        self._client = client
        self._helper = helper
        self._filters = filters
        self._known: OrderedDict[str, bytes | FallbackError] = OrderedDict()

    async def described(self, container_id: str) -> bytes:
        """Returns the description of a container for the helper. A container's specification and its first process
        never change.

        Raises FallbackError if its commands go over the runtime.
        """
        if self._helper.bounds is None:
            raise FallbackError(Reason.HELPER, self._helper.why or "it is starting")
        found = self._known.get(container_id)
        if found is None:
            try:
                found = await self._read(container_id)
            except FallbackError as error:
                found = error
            if not isinstance(found, FallbackError) or found.reason is not Reason.IDENTITY:
                self._keep(container_id, found)
        else:
            self._known.move_to_end(container_id)
        if isinstance(found, FallbackError):
            raise found
        return found

    def forget(self, container_id: str) -> None:
        """Reads this container anew at its next attempt."""
        self._known.pop(container_id, None)
        if self.engine is not None:
            self.engine.forget_container(container_id)

    def clear(self) -> None:
        """Forgets every container, because the next helper may be bound otherwise."""
        self._known.clear()

    def _keep(self, container_id: str, found: bytes | FallbackError) -> None:
        self._known[container_id] = found
        if self.engine is not None and isinstance(found, bytes):
            self.engine.describe_container(container_id, found)
        if len(self._known) > CONTAINERS_MAX:
            self.forget(next(iter(self._known)))

    async def _read(self, container_id: str) -> bytes:
        bounds = self._helper.bounds
        if bounds is None:
            raise FallbackError(Reason.IDENTITY, self._helper.why)
        name = bare_id(container_id)
        try:
            answer = await self._client.container_status(name, verbose=True)
            info = container_info(answer.info.get("info", ""))
            spec = specification(info)
            profile = profile_of(spec.linux.seccomp)
            sandbox = await self._client.pod_sandbox_status(info.sandbox_id, verbose=True)
            sandbox_pid = msgspec.json.decode(sandbox.info.get("info", ""), type=SandboxInfo).pid
        except CriError as error:
            raise FallbackError(Reason.IDENTITY, str(error)) from None
        except msgspec.DecodeError as error:
            raise FallbackError(Reason.RUNTIME, f"PodSandboxStatus says nothing usable: {error}") from None
        inherited = inherited_attributes(info.pid, sandbox_pid, info.sandbox_id)
        seccomp = await self._filters.filter_of(profile, spec.process.no_new_privileges, inherited)
        if self._helper.bounds is not bounds:
            raise FallbackError(Reason.IDENTITY, "the helper was lost meanwhile; the next one may be bound otherwise")
        return described(name, info, spec, inherited, seccomp, bounds)
