"""Validates the values of a configuration, beyond their types."""

import posixpath
from urllib.parse import urlsplit

from probelet.config.kubelet import KubeletConfiguration
from probelet.config.opt_in import ProbeletConfiguration
from probelet.config.probe_options import wrong_defaults
from probelet.spec.text.duration import SECOND, format_duration
from probelet.spec.text.problem import FieldError
from probelet.spec.text.quantity import parse_quantity

LOG_MONITOR_PERIOD_MIN = 3 * SECOND
"""Shortest ``containerLogMonitorInterval`` (apis/config/validation, 1.36)."""


RECORDER_MIN, RECORDER_MAX = 1 << 20, 16 << 30
"""Bytes of a ring: a smaller one has more beginnings than attempts, a larger one fits in no memory of a reader."""


WAKE_SLACK_MAX = SECOND // 10
"""A tenth of the shortest period; a later probe would be felt in the time that ``failureThreshold`` failures take."""


def validate_kubelet(config: KubeletConfiguration) -> list[FieldError]:
    """The mistakes in the kubelet's document."""
    errors = []
    if config.runtime_request_timeout < 0:
        value = format_duration(config.runtime_request_timeout)
        errors.append(FieldError("runtimeRequestTimeout", "Invalid value", value, "must not be negative"))
    parallel = config.max_parallel_image_pulls
    if parallel is not None and parallel < 1:
        errors.append(FieldError("maxParallelImagePulls", "Invalid value", parallel, "must be a positive number"))
    elif parallel is not None and parallel > 1 and config.serialize_image_pulls:
        detail = "cannot be larger than 1 unless serializeImagePulls is set to false"
        errors.append(FieldError("maxParallelImagePulls", "Invalid value", parallel, detail))
    errors += _validate_logs(config)
    score = config.oom_score_adj
    if score is not None and not -1000 <= score <= 1000:
        errors.append(FieldError("oomScoreAdj", "Invalid value", score, "must be between -1000 and 1000, inclusive"))
    logs = config.pod_logs_dir
    if logs and not (logs.isascii() and logs.startswith("/") and posixpath.normpath(logs) == logs):
        # Container runtimes refuse other paths (apis/config/validation, 1.36).
        detail = "must be a clean absolute path of ASCII characters"
        errors.append(FieldError("podLogsDir", "Invalid value", logs, detail))
    return errors


def _validate_logs(config: KubeletConfiguration) -> list[FieldError]:
    errors = []
    try:
        # A part of a byte is no size (kubelet parseMaxSize, 1.36).
        if config.container_log_max_size and parse_quantity(config.container_log_max_size).denominator != 1:
            raise ValueError("must be a whole number of bytes")
    except ValueError as error:
        errors.append(FieldError("containerLogMaxSize", "Invalid value", config.container_log_max_size, str(error)))
    files = config.container_log_max_files
    if files is not None and files < 2:
        errors.append(FieldError("containerLogMaxFiles", "Invalid value", files, "must be greater than 1"))
    period = config.container_log_monitor_interval
    if period and period < LOG_MONITOR_PERIOD_MIN:
        detail = "must be a positive time duration greater than or equal to 3s"
        errors.append(FieldError("containerLogMonitorInterval", "Invalid value", format_duration(period), detail))
    return errors


def validate_probelet(config: ProbeletConfiguration) -> list[FieldError]:
    """The mistakes in our own document."""
    errors = []
    durations = {
        "containerBackoffMin": config.container_backoff_min,
        "execClientDeadline": config.exec_client_deadline,
        "holdKillsFor": config.hold_kills_for,
        "maxContainerAge": config.max_container_age,
    }
    counts = {
        "execMaxInFlight": config.exec_max_in_flight,
        "extraAttemptsPerSecond": config.extra_attempts_per_second,
    }
    if config.restart_budget is not None:
        durations["restartBudget.refill"] = config.restart_budget.refill
        counts["restartBudget.burst"] = config.restart_budget.burst
    for path, duration in durations.items():
        if duration is not None and duration <= 0:
            errors.append(FieldError(path, "Invalid value", format_duration(duration), "must be greater than 0"))
    for path, count in counts.items():
        if count is not None and count < 1:
            errors.append(FieldError(path, "Invalid value", count, "must be greater than or equal to 1"))
    least, most = config.container_backoff_min, config.container_backoff_max
    if 0 < most < least or most <= 0 < least:
        detail = f"must not be below containerBackoffMin, {format_duration(least)}"
        errors.append(FieldError("containerBackoffMax", "Invalid value", format_duration(most), detail))
    errors += _validate_recorder(config)
    errors += _validate_hold(config)
    errors += _validate_webhook(config)
    errors += wrong_defaults(config)
    if config.wake_slack < 0 or config.wake_slack > WAKE_SLACK_MAX:
        detail = f"must be between 0 and {format_duration(WAKE_SLACK_MAX)}, inclusive"
        errors.append(FieldError("wakeSlack", "Invalid value", format_duration(config.wake_slack), detail))
    if not config.starved_share > 0:
        errors.append(FieldError("starvedShare", "Invalid value", config.starved_share, "must be greater than 0"))
    return errors


def _validate_recorder(config: ProbeletConfiguration) -> list[FieldError]:
    if config.flight_recorder is None:
        return []
    size = config.flight_recorder.size
    path = "flightRecorder.size"
    try:
        # A part of a byte is no size.
        if (quantity := parse_quantity(size)).denominator != 1 or not RECORDER_MIN <= quantity <= RECORDER_MAX:
            return [FieldError(path, "Invalid value", size, "must be a whole number of bytes from 1Mi to 16Gi")]
    except ValueError as error:
        return [FieldError(path, "Invalid value", size, str(error))]
    return []


def _validate_hold(config: ProbeletConfiguration) -> list[FieldError]:
    if config.hold_kills == "off" or config.incidents:
        return []
    return [FieldError("holdKills", "Invalid value", config.hold_kills, "needs incidents: true")]


def _validate_webhook(config: ProbeletConfiguration) -> list[FieldError]:
    url = config.incident_webhook
    if url is None:
        return []
    path = "incidentWebhook"
    # The configuration is on the page /configz, and errors are in logs: neither shows a password.
    shown = "" if "@" in url else url
    if not config.incidents:
        return [FieldError(path, "Invalid value", shown, "needs incidents: true")]
    try:
        found = urlsplit(url)
        # Reading the port raises for one that cannot be.
        is_known = found.scheme in ("http", "https") and bool(found.hostname) and found.port != 0
    except ValueError:
        is_known = False
    if not is_known or not url.isprintable() or " " in url or found.fragment:
        return [FieldError(path, "Invalid value", shown, "must be an http or https URL")]
    if found.username is not None or found.password is not None:
        return [FieldError(path, "Invalid value", "", "must not have a user or password")]
    return []
