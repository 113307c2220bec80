"""PL004: what the API server refuses."""

from probelet.lint.rule import Rule, by_reading

RULE = Rule(
    id="PL004",
    name="refused",
    severity="error",
    summary="The API server refuses the object; the message is the server's.",
    why="""
The object never gets into the cluster, or a roll-out that worked yesterday stops today. The words are
the ones of `kubectl apply`, so that a search for them finds the same page.

Every mistake of a pod is here, not only those of its probes: a wrong handler, a successThreshold other than 1 on a
liveness or startup probe, a terminationGracePeriodSeconds on a readiness probe, a probe on an init container, a port
outside 1 to 65535. The rules run only on containers without such a mistake.
""",
    source=("kubernetes/pkg/apis/core/validation/validation.go, 1.36",),
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       livenessProbe:
         httpGet: {path: /livez, port: 8080}
-        successThreshold: 2
+        failureThreshold: 6
""",
    check=by_reading,
)
