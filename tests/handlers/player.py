"""Plays a case: the scripted server on real sockets, and the production handlers against it."""

import json

from probelet import _rust

from .case import Case, filled
from .compare import Seen
from .server import Server

USER_AGENT = "kube-probe/1.36"


def play(case: Case) -> Seen:
    """Plays a case once, as the kubelet's handlers are called once."""
    with Server(case.listeners) as server:
        probe = json.dumps(filled(case.probe, server.ports), ensure_ascii=False).encode()
        ports = [(name, filled(port, server.ports)) for name, port in case.ports]
        told = json.loads(_rust.attempt(probe, case.pod_ip, ports, USER_AGENT))
    return Seen(told, server.ports, server.ends)
