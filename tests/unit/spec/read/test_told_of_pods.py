"""What a status says of a pod's manifest: a misspelt field of a probe, and for how many pods it stands."""

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


DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: app, image: app}]}}
"""


def test_one_pod_of_a_template_says_for_how_many_it_stands() -> None:
    (one,) = read_pods(Path("web.yaml"), DEPLOYMENT, Rules()).pods
    assert one.stands_for == 3
    (sentence,) = pod_trouble({"ready_reason": "", "stands_for": one.stands_for})
    assert sentence == "stands for the 3 pods that its template asks for; --replicas makes them all"
    several = read_pods(Path("web.yaml"), DEPLOYMENT, Rules(replicas=True)).pods
    assert [found.stands_for for found in several] == [1, 1, 1]


def test_fields_that_no_probe_has_are_kept_with_their_pod() -> None:
    (found,) = read_pods(Path("web.yaml"), POD, Rules()).pods
    assert found.misspelt == (
        "spec.containers[0].livenesProbe: unknown field, ignored; did you mean livenessProbe?",
        "spec.containers[0].readinessProbe.periodSecond: unknown field, ignored; did you mean periodSeconds?",
    )
    shown = pod_trouble({"ready_reason": "", "misspelt": list(found.misspelt)})
    assert shown[0] == "ignored: spec.containers[0].livenesProbe: unknown field; did you mean livenessProbe?"
