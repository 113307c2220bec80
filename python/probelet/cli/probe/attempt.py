"""Runs one probe through the production engine; the result is a ``probelet-probe/1`` document."""

import json
import threading
from collections.abc import Callable

from probelet._rust import attempt
from probelet.cli.exit import CliError, Exit
from probelet.cli.probe.document import Seen, document, exact
from probelet.cli.probe.target import Target
from probelet.spec.read.json import encode_probe


def ask(target: Target, tries: int, kubelet_version: str, runtime: str | None, container_id: str | None) -> Seen:
    """Makes up to ``tries`` attempts until one is no prober error: the kubelet makes three (prober.go, 1.36).

    An exec probe runs in a container of ``runtime``, or on this machine. The document describes the last attempt; its
    ``tries`` is the number of attempts. Raises CliError if no attempt is possible.
    """
    _require_runtime(target, runtime, container_id)
    try:
        if target.probe.handler != "exec":
            return repeated(lambda: over_socket(target, kubelet_version), tries)
        from probelet.cli.probe.exec import exec_attempts

        with exec_attempts(target, runtime, container_id) as attempts:
            return repeated(attempts, tries)
    except KeyboardInterrupt:
        raise CliError("interrupted", code=Exit.CANNOT) from None


def exit_code(seen: Seen) -> Exit:
    """A warning is a success for the prober; an error is none of the program's faults."""
    return {"failure": Exit.FAILED, "error": Exit.CANNOT}.get(seen["outcome"], Exit.GOOD)


def _require_runtime(target: Target, runtime: str | None, container_id: str | None) -> None:
    if runtime is None and container_id is None:
        return
    if runtime is None or container_id is None:
        raise CliError("--runtime and --container-id belong together")
    if target.probe.handler != "exec":
        raise CliError("--runtime and --container-id are for exec: other probes go to --pod-ip")
    from probelet.runtime.cri.client import socket_of

    try:
        socket_of(runtime)
    except ValueError as error:
        raise CliError(f"--runtime: {error}") from error


def repeated(attempts: Callable[[], Seen], tries: int) -> Seen:
    """The document of the last attempt: at most ``tries`` of them, until one is no prober error."""
    tried = 1
    seen = attempts()
    while seen["outcome"] == "error" and tried < tries:
        tried += 1
        seen = attempts()
    return document(seen, tried)


def over_socket(target: Target, kubelet_version: str) -> Seen:
    """Makes one attempt of an HTTP, TCP or gRPC probe, with the rules and the User-Agent of a kubelet release."""
    spec = encode_probe(target.probe)
    # Kubelet pkg/probe/http/request.go, 1.36: kube-probe/<major>.<minor>.
    user_agent = f"kube-probe/{kubelet_version}"

    def work() -> bytes:
        return attempt(spec, target.pod_ip, target.ports, user_agent, kubelet_version=kubelet_version)

    try:
        seen: Seen = json.loads(_interruptible(work))
    except OSError as error:
        raise CliError(f"cannot probe: {error}", code=Exit.CANNOT) from error
    output = seen.pop("output_bytes")
    return seen if output is None else seen | exact(bytes(output))


def _interruptible(work: Callable[[], bytes]) -> bytes:
    """Does ``work`` in a thread: a probe without a timeout may wait for ever, and Ctrl-C reaches only this thread."""
    done: list[bytes] = []
    failed: list[Exception] = []

    def body() -> None:
        try:
            done.append(work())
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]
