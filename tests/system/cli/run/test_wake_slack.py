"""``wakeSlack`` reaches the engine: a probe that no other one accompanies is late by the whole of it."""

import re
import urllib.request
from pathlib import Path

import pytest

from tests.system.cli.conftest import Run, Start, manifest, wait_for

pytestmark = pytest.mark.e2e

CONFIG = """
apiVersion: probelet.dev/v1alpha1
kind: ProbeletConfiguration
wakeSlack: 100ms
"""
PROBE = """
    livenessProbe:
      tcpSocket: {host: 127.0.0.1, port: 9}
      periodSeconds: 1
      failureThreshold: 1000
"""
# The upper limit of a bucket below the slack.
BELOW_SECONDS = "0.05"


def late(run: Run) -> tuple[int, int]:
    """The attempts whose lateness is above ``BELOW_SECONDS``, and all attempts."""
    with urllib.request.urlopen(f"{run.url}/metrics", timeout=20) as answer:
        page = answer.read().decode()
    buckets = dict(re.findall(r'^probelet_probe_lateness_seconds_bucket\{le="([^"]+)"\} (\d+)$', page, re.MULTILINE))
    return int(buckets["+Inf"]) - int(buckets[BELOW_SECONDS]), int(buckets["+Inf"])


def test_a_probe_alone_waits_as_long_as_it_may(start: Start, tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(manifest("web", f"slack-{tmp_path.name}", probe=PROBE))
    (tmp_path / "c.yaml").write_text(CONFIG)
    run = start(str(tmp_path / "web.yaml"), "--config", str(tmp_path / "c.yaml"))
    wait_for(lambda: late(run)[1] >= 4, "four attempts")
    waited, attempts = late(run)
    # What else happens on the node may wake the engine a little earlier, so not every attempt waits to the end.
    assert waited >= attempts / 2, f"{waited} of {attempts}"
