"""Texts without what differs from run to run: IDs, addresses, ports, folders, moments."""

import re

from tests.kubelet.beside.sides.agent import SUFFIX
from tests.system.containerd.machine import POD_CIDR

POD_IP = re.escape(POD_CIDR.rsplit(".", 2)[0]) + r"\.\d+\.\d+"

FORGOTTEN = (
    (r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])", "ID"),
    (r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])", "UID"),
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UID"),
    (rf"{POD_IP}:\d{{5}}->", "IP:PORT->"),
    (POD_IP, "IP"),
    (r"/\S*/ctd-\w+", "FOLDER"),
    (r"current time \S+ is after \S+", "current time T is after T"),
    (r'"at":\d+', '"at":0'),
)


def text(message: str) -> str:
    """A text of one run, comparable with that of another."""
    for pattern, word in FORGOTTEN:
        message = re.sub(pattern, word, message)
    return message.replace(SUFFIX, "")
