"""A misspelt field of a probe is known beside the pod that runs without it."""

from pathlib import Path

from probelet.server.summary import pod_trouble
from probelet.spec.read.load import read_pods
from probelet.spec.read.objects import Rules

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  hostNetwrok: true
  containers:
  - name: app
    livenesProbe: {httpGet: {port: 80}}
    readinessProbe: {tcpSocket: {port: 80}, periodSecond: 5}
"""


def test_fields_that_no_probe_has_are_kept_with_their_pod() -> None:
    (found,) = read_pods(Path("web.yaml"), POD, Rules()).pods
    assert found.misspelt == (
        "spec.containers[0].livenesProbe: unknown field, ignored; did you mean livenessProbe?",
        "spec.containers[0].readinessProbe.periodSecond: unknown field, ignored; did you mean periodSeconds?",
    )
    shown = pod_trouble({"ready_reason": "", "misspelt": list(found.misspelt)})
    assert shown[0] == "ignored: spec.containers[0].livenesProbe: unknown field; did you mean livenessProbe?"
