"""Validates probes, hooks and their handlers (core ``validateProbe``, ``validateHandler``, 1.36).

Every mistake is reported, not only the first. Port names are not checked here: the prober resolves them at each run.
"""

from probelet.spec.model.container import Lifecycle, LifecycleHandler, SleepAction
from probelet.spec.model.int_or_string import IntOrString
from probelet.spec.model.probe import ExecAction, GRPCAction, HTTPGetAction, Probe, ProbeType, TCPSocketAction
from probelet.spec.rules.names import http_header_name, port_name, port_number
from probelet.spec.text.golang import go_quote
from probelet.spec.text.problem import FieldError

HTTP_SCHEMES = ("HTTP", "HTTPS")
HTTP_PROTOCOLS = ("HTTP1", "HTTP2")
GRPC_MODES = ("Plaintext", "TLS")


def unsupported_value(path: str, value: str, supported: tuple[str, ...]) -> FieldError:
    """``field.NotSupported``."""
    allowed = ", ".join(go_quote(text) for text in supported)
    return FieldError(path, "Unsupported value", value, f"supported values: {allowed}")


def non_negative(path: str, value: int) -> list[FieldError]:
    """``ValidateNonnegativeField``."""
    return [] if value >= 0 else [FieldError(path, "Invalid value", value, "must be greater than or equal to 0")]


def validate_probe(probe: Probe, probe_type: ProbeType, path: str) -> list[FieldError]:
    """Checks one probe: its handler, its numbers in the type's order, then the rules of its probe type."""
    errors = _handlers(probe, path)
    for name, value in (
        ("initialDelaySeconds", probe.initial_delay_seconds),
        ("timeoutSeconds", probe.timeout_seconds),
        ("periodSeconds", probe.period_seconds),
        ("successThreshold", probe.success_threshold),
        ("failureThreshold", probe.failure_threshold),
        ("initializationFailureThreshold", probe.initialization_failure_threshold),
    ):
        errors += non_negative(f"{path}.{name}", value)
    grace, grace_path = probe.termination_grace_period_seconds, f"{path}.terminationGracePeriodSeconds"
    if grace is not None and grace <= 0:
        errors.append(FieldError(grace_path, "Invalid value", grace, "must be greater than 0"))
    if probe_type == "readiness":
        if grace is not None:
            errors.append(FieldError(grace_path, "Invalid value", grace, "must not be set for readinessProbes"))
    elif probe.success_threshold != 1:
        errors.append(FieldError(f"{path}.successThreshold", "Invalid value", probe.success_threshold, "must be 1"))
    return errors


def validate_lifecycle(lifecycle: Lifecycle, grace_seconds: int | None, path: str) -> list[FieldError]:
    """Checks both hooks; a sleep may not exceed the pod's grace period."""
    errors = []
    for name, hook in (("postStart", lifecycle.post_start), ("preStop", lifecycle.pre_stop)):
        if hook is not None:
            errors += _handlers(hook, f"{path}.{name}", grace_seconds)
    return errors


def _handlers(owner: Probe | LifecycleHandler, path: str, grace_seconds: int | None = None) -> list[FieldError]:
    """Validates the first handler in full and refuses each further one."""
    present = [
        (name, handler)
        for name, handler in (
            ("exec", owner.exec),
            ("httpGet", owner.http_get),
            ("tcpSocket", owner.tcp_socket),
            ("grpc", owner.grpc if isinstance(owner, Probe) else None),
            ("sleep", owner.sleep if isinstance(owner, LifecycleHandler) else None),
        )
        if handler is not None
    ]
    if not present:
        return [FieldError(path, "Required value", detail="must specify a handler type")]
    name, first = present[0]
    errors = _handler(first, f"{path}.{name}", grace_seconds)
    for name, _ in present[1:]:
        errors.append(FieldError(f"{path}.{name}", "Forbidden", detail="may not specify more than 1 handler type"))
    return errors


def _handler(
    handler: ExecAction | HTTPGetAction | TCPSocketAction | GRPCAction | SleepAction,
    path: str,
    grace_seconds: int | None,
) -> list[FieldError]:
    match handler:
        case ExecAction():
            return [] if handler.command else [FieldError(f"{path}.command", "Required value")]
        case HTTPGetAction():
            return _http_get(handler, path)
        case TCPSocketAction():
            return _port(handler.port, f"{path}.port")
        case GRPCAction():
            errors = _port(handler.port, f"{path}.port")
            if handler.mode is not None and handler.mode not in GRPC_MODES:
                errors.append(unsupported_value(f"{path}.mode", handler.mode, GRPC_MODES))
            return errors
        case SleepAction():
            if grace_seconds is None or 0 <= handler.seconds <= grace_seconds:
                return []
            detail = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_seconds})"
            return [FieldError(path, "Invalid value", handler.seconds, detail)]


def _http_get(action: HTTPGetAction, path: str) -> list[FieldError]:
    errors = [] if action.path else [FieldError(f"{path}.path", "Required value")]
    errors += _port(action.port, f"{path}.port")
    if action.scheme not in HTTP_SCHEMES:
        errors.append(unsupported_value(f"{path}.scheme", action.scheme, HTTP_SCHEMES))
    for header in action.http_headers:
        for text in http_header_name(header.name):
            errors.append(FieldError(f"{path}.httpHeaders", "Invalid value", header.name, text))
    return errors + _protocol(action, path)


def _protocol(action: HTTPGetAction, path: str) -> list[FieldError]:
    """KEP-5999: HTTP/2 only without TLS, and only to the pod itself."""
    field = f"{path}.protocol"
    if action.protocol is None or action.protocol == "HTTP1":
        return []
    if action.protocol not in HTTP_PROTOCOLS:
        return [unsupported_value(field, action.protocol, HTTP_PROTOCOLS)]
    errors = []
    if action.scheme != "HTTP":
        errors.append(FieldError(field, "Invalid value", action.protocol, "must be HTTP1 unless scheme is HTTP"))
    if action.host:
        errors.append(FieldError(field, "Invalid value", action.protocol, "must be HTTP1 if host is set"))
    return errors


def _port(port: IntOrString, path: str) -> list[FieldError]:
    if not isinstance(port, str):
        return [FieldError(path, "Invalid value", port, text) for text in port_number(port)]
    # The API server's words do not say that a number in quotes is a name.
    hint = f"; for the number write {port} without quotes" if port.isascii() and port.isdigit() else ""
    return [FieldError(path, "Invalid value", port, text + hint) for text in port_name(port)]
