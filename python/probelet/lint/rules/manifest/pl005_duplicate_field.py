"""PL005: a key that one mapping has twice."""

from probelet.lint.rule import Rule, by_reading

RULE = Rule(
    id="PL005",
    name="duplicate-field",
    severity="error",
    summary="A mapping has the same field twice; the last one counts.",
    why="""
`kubectl apply` refuses the object, because it validates strictly. Other readers of YAML take the last value without a
word, the kubelet too, so the first one has no effect: often a probe that was pasted above another one.
""",
    source=("KEP-2885, server-side field validation", "YAML 1.2, section 3.2.1.3"),
    bad="""
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: web
      image: registry.example/web:1
      readinessProbe:
        httpGet: {path: /readyz, port: 8080}
        periodSeconds: 5
        periodSeconds: 10
""",
    good="""
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: web
      image: registry.example/web:1
      readinessProbe:
        httpGet: {path: /readyz, port: 8080}
        periodSeconds: 10
""",
    check=by_reading,
)
