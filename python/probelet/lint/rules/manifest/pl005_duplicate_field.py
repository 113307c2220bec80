"""PL005: a key that one mapping has twice."""

from probelet.lint.rule import Rule, by_reading

RULE = Rule(
    id="PL005",
    name="duplicate-field",
    severity="error",
    summary="A mapping has the same field twice; the last one counts.",
    why="""
YAML forbids it, and what happens depends on the reader. Kustomize, `kubectl apply -k` and strict parsers refuse the
whole file. `kubectl apply -f` and the kubelet take the last value without a word, so that the first one has no effect:
often a probe, or limits, that were pasted above others. The API server cannot object, because it only gets the last.
""",
    source=(
        "https://github.com/kubernetes/kubernetes/issues/125885",
        "https://github.com/k8up-io/k8up/pull/452",
        "YAML 1.2, section 3.2.1.3",
    ),
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       readinessProbe:
         httpGet: {path: /readyz, port: 8080}
-        periodSeconds: 5
         periodSeconds: 10
""",
    check=by_reading,
)
