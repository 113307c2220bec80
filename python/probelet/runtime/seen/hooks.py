"""Lifecycle hooks, as ExecSync calls and HTTP requests: kubelet pkg/kubelet/lifecycle/handlers.go, 1.36."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

import msgspec

from probelet._rust import attempt
from probelet.policy.protocol.effects import Outcome, RunHook
from probelet.runtime.cri import errors
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.seen.hook_slots import HookSlots
from probelet.spec.model.container import Container
from probelet.spec.model.probe import HTTPGetAction, Probe
from probelet.spec.read.json import encode_probe
from probelet.spec.text.container_id import bare_id

UNLIMITED_SECONDS: Final = 86_400
"""The longest timeout of a request, and the timeout of a request without a limit. The kubelet has none there; a day is
long enough for a hook and ends the thread."""

OUTPUT_BYTES_MAX: Final = 10 * 1024
"""How much of a hook's output the text of its failure keeps, as for a probe. The kubelet keeps all of it."""

THREAD_RETRY_SECONDS: Final = 1.0
"""A thread that cannot start is tried again after this time: a limit of this process is no failure of a container."""

_ANSWERED: Final = frozenset({"body", "status"})
"""Causes of failed attempts that got an answer. A hook succeeds with any answer, whatever its status and body."""


class Hooks:
    """Runs hooks; the policy decides how long a container's end waits for one."""

    def __init__(self, client: RuntimeClient, user_agent: str) -> None:
        self._client = client
        self._user_agent = user_agent
        self._slots = HookSlots()

    async def run(self, effect: RunHook, pod_uid: str, pod_ip: str) -> Outcome:
        """Runs an exec or httpGet hook. A failure is an outcome, with the text of the kubelet's error."""
        if effect.handler.exec is not None:
            return await self._exec(effect.container_id, effect.handler.exec.command)
        action = effect.handler.http_get
        assert action is not None, "policy sleeps by itself"
        return await self._http(action, effect.container, pod_uid, pod_ip, effect.limit_seconds)

    async def _exec(self, container_id: str, command: list[str]) -> Outcome:
        try:
            answer = await self._client.exec_sync(bare_id(container_id), command, 0)
        except errors.CriError as error:
            return Outcome(error=str(error))
        if answer.exit_code == 0:
            return Outcome()
        error_text = f"command '{' '.join(command)}' exited with {answer.exit_code}: {_text(answer.stderr)}"
        both = answer.stdout[:OUTPUT_BYTES_MAX] + answer.stderr[:OUTPUT_BYTES_MAX]
        return Outcome(error=error_text, detail=_text(both))

    async def _http(
        self, action: HTTPGetAction, container: Container, pod_uid: str, pod_ip: str, limit: int | None
    ) -> Outcome:
        host = action.host or pod_ip
        if not host:
            return Outcome(error="failed to find networking container: the sandbox has no address")
        # Only probes have a protocol (KEP-5999): the kubelet's hooks speak HTTP/1.1.
        over_http1 = msgspec.structs.replace(action, protocol=None)
        seconds = min(limit or UNLIMITED_SECONDS, UNLIMITED_SECONDS)
        probe = encode_probe(Probe(http_get=over_http1, timeout_seconds=seconds))
        ports = [(port.name, port.container_port) for port in container.ports if port.name]
        give_back = await self._slots.acquire(pod_uid)
        request = partial(attempt, probe, pod_ip, ports, self._user_agent)
        seen = msgspec.json.decode(await _in_thread(request, give_back))
        if seen["outcome"] in ("success", "warning") or seen["cause"] in _ANSWERED:
            return Outcome(id=f"{host}:{container.numbered(action.port)}")
        return Outcome(error=seen["error"] or seen["output"])


def _text(output: bytes) -> str:
    return output[:OUTPUT_BYTES_MAX].decode(errors="replace")


async def _in_thread(work: Callable[[], bytes], ended: Callable[[], None]) -> bytes:
    """Runs work that blocks, in a thread of its own, which the service does not join: a hook may outlast it.

    ``ended`` is called on the loop when the thread ends, or will never start; that may be after a cancellation.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[bytes] = loop.create_future()

    def settle(answer: bytes | None, error: BaseException | None) -> None:
        ended()
        if result.done():
            return
        if error is not None:
            result.set_exception(error)
        else:
            result.set_result(answer or b"")

    def run() -> None:
        answer, failure = None, None
        try:
            answer = work()
        except Exception as error:
            failure = error
        # With the loop closed, no task waits for the result.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, answer, failure)

    try:
        while not _started(threading.Thread(target=run, name="http hook", daemon=True)):  # noqa: ASYNC110
            await asyncio.sleep(THREAD_RETRY_SECONDS)
    except asyncio.CancelledError:
        ended()
        raise
    return await result


def _started(thread: threading.Thread) -> bool:
    """Starts a thread; False if the process may have no more of them."""
    try:
        thread.start()
    except RuntimeError:
        return False
    return True
