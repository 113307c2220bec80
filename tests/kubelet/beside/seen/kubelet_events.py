"""The events in a kubelet's log: the lines of client-go's structured logging, which come before its spam filter."""

import json
import re
from typing import Any

from tests.kubelet.beside.sides.agent import SUFFIX

EVENT = re.compile(
    r'^I\S+ .*?"Event occurred" object="(?P<object>[^"]*)" fieldPath="(?P<field>[^"]*)" kind="Pod" apiVersion="v1"'
    r' type="(?P<type>[^"]*)" reason="(?P<reason>[^"]*)"'
    r' message=(?:(?P<quoted>"(?:[^"\\]|\\.)*")$|<\n(?P<block>(?:\t.*\n)*?) >$)',
    re.MULTILINE,
)
"""A message of several lines is a block that klog indents by a tab."""


def events_of_log(log: str) -> list[dict[str, Any]]:
    """The events about pods."""
    found = []
    for match in EVENT.finditer(log):
        if match["quoted"] is not None:
            message = str(json.loads(match["quoted"]))
        else:
            message = "".join(f"{line[1:]}\n" for line in match["block"].splitlines())
        pod = match["object"].partition("/")[2].removesuffix(SUFFIX)
        event = {name: match[name] for name in ("field", "type", "reason")}
        found.append({"pod": pod, **event, "message": message, "count": 1})
    return found
