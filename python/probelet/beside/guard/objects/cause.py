"""Why an attempt failed, by the kubelet's and OpenKruise's texts: a NodePodProbe has no field for it.

The words are those of ``rust/play/src/cause.rs``. A text that is none of these is the output of a command.
"""

import re
from typing import Final

_TEXTS: Final[tuple[tuple[str, str], ...]] = (
    (r"^(HTTP|HTTPS) probe failed with statuscode: \d", "status"),
    (r"^service unhealthy \(responded with|^error: this server does not implement", "grpc_status"),
    (r"timeout: failed to connect service|i/o timeout", "connect_timeout"),
    (r"timeout: health rpc did not complete|Client\.Timeout|context deadline exceeded$", "header_timeout"),
    (r"^command .* timed out|^DeadlineExceeded|exec probe .*timed out", "exec_timeout"),
    (r"connection refused", "refused"),
    (r"connection reset", "reset"),
    (r"no such host|server misbehaving", "dns"),
    (r"no route to host|network is unreachable|host is down", "unreachable"),
    (r"x509: |tls: |HTTP response to HTTPS client", "tls"),
    (r"malformed HTTP", "malformed"),
    (r"stopped after \d+ redirects", "redirect"),
    (r"EOF$", "eof"),
)
_ANY: Final = re.compile("|".join(f"(?P<c{place}>{text})" for place, (text, _) in enumerate(_TEXTS)), re.MULTILINE)

CHARS_MAX: Final = 512
"""A text's beginning says it; a command may print more than that."""


def cause_of(message: str) -> str:
    """The cause in one word."""
    found = _ANY.search(message[:CHARS_MAX])
    return "exec_exit" if found is None or found.lastgroup is None else _TEXTS[int(found.lastgroup[1:])][1]
