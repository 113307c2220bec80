"""Credentials of a program that the kubeconfig names, as the clouds have it (``user.exec``).

client-go plugin/pkg/client/auth/exec/exec.go, 1.36. A program that gives a client certificate instead of a token is
refused in one line: certificates belong to connections, and those are made before the program ran.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import httpx2
import msgspec

from probelet.base.printable import one_line
from probelet.kube.access.token_file import CredentialError

VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")

RUN_SECONDS: Final = 60.0
"""A program that asks a cloud for a token takes seconds; one that waits for a person would wait for ever."""

OUTPUT_BYTES_MAX: Final = 1024 * 1024


class _Status(msgspec.Struct, rename="camel"):
    token: str = ""
    expiration_timestamp: datetime | None = None
    client_certificate_data: str = ""


class _Credential(msgspec.Struct, rename="camel"):
    api_version: str
    status: _Status | None = None


@dataclass
class ExecPlugin(httpx2.Auth):
    """Sends the token that ``command`` prints, until it expires or the server refuses it."""

    command: tuple[str, ...]
    version: str
    environment: Mapping[str, str] = field(default_factory=dict)
    cluster: Mapping[str, Any] | None = None
    """The cluster for the program (``provideClusterInfo``)."""

    def __post_init__(self) -> None:
        self._token = ""
        self._expires: datetime | None = None
        self._running = asyncio.Lock()

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """The flow of the HTTP library: a request, and for a 401 a second one with a new token."""
        sent = await self._fresh(refused="")
        request.headers["Authorization"] = f"Bearer {sent}"
        response = yield request
        if response.status_code == 401:
            request.headers["Authorization"] = f"Bearer {await self._fresh(refused=sent)}"
            yield request

    async def _fresh(self, refused: str) -> str:
        # Requests that wait here together get the token of one run.
        async with self._running:
            expired = self._expires is not None and self._expires <= datetime.now(UTC)
            if not self._token or expired or self._token == refused:
                status = _status(self.command[0], self.version, await self._output())
                self._token, self._expires = status.token, status.expiration_timestamp
            return self._token

    async def _output(self) -> bytes:
        spec: dict[str, Any] = {"interactive": False} | ({"cluster": self.cluster} if self.cluster else {})
        asked = msgspec.json.encode({"kind": "ExecCredential", "apiVersion": self.version, "spec": spec}).decode()
        environment = {**os.environ, **self.environment, "KUBERNETES_EXEC_INFO": asked}
        pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        try:
            process = await asyncio.create_subprocess_exec(
                *self.command, env=environment, stdin=null, stdout=pipe, stderr=pipe, limit=OUTPUT_BYTES_MAX
            )
        except OSError as error:
            raise CredentialError(f"exec {self.command[0]}: {error.strerror}") from error
        try:
            async with asyncio.timeout(RUN_SECONDS):
                output, complaint = await process.communicate()
        except TimeoutError as error:
            raise CredentialError(f"exec {self.command[0]}: not done within {RUN_SECONDS:g} seconds") from error
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            last = one_line(complaint.decode("utf-8", "replace").strip()[-512:])
            raise CredentialError(f"exec {self.command[0]}: exit status {process.returncode}: {last}")
        return output


def _status(command: str, version: str, output: bytes) -> _Status:
    try:
        found = msgspec.json.decode(output, type=_Credential)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise CredentialError(f"exec {command}: its output is no ExecCredential: {error}") from error
    if found.api_version != version:
        raise CredentialError(f"exec {command}: its output has apiVersion {found.api_version!r}, not {version!r}")
    if found.status is None or not found.status.token:
        given = "a client certificate" if found.status and found.status.client_certificate_data else "nothing"
        raise CredentialError(f"exec {command}: gives {given}; probelet needs a token")
    return found.status
