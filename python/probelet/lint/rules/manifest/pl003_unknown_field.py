"""PL003: a field that the API does not have."""

from probelet.lint.rule import Rule, by_reading

RULE = Rule(
    id="PL003",
    name="unknown-field",
    severity="error",
    summary="The API has no such field, so it has no effect.",
    why="""
`kubectl apply` refuses an unknown field since Kubernetes 1.27, because it validates strictly. Every other way into the
cluster drops the field without a word: an operator's client, `--validate=false`, a static pod. The probe then runs with
the field's default, such as one second for a misspelt `timeoutSeconds`.

The message names the nearest field that exists. Fields of ours, such as `initializationFailureThreshold`, are known; in
a cluster they need their annotation.
""",
    source=("KEP-2885, server-side field validation",),
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
-        timeoutSecond: 5
+        timeoutSeconds: 5
""",
    check=by_reading,
)
