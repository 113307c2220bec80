"""PL002: a template that nobody has rendered."""

from probelet.lint.rule import Rule, by_reading

RULE = Rule(
    id="PL002",
    name="template",
    severity="warning",
    summary="The file, or one value, is a template that has to be rendered first.",
    why="""
What stands between `{{` and `}}`, or in `${...}`, is not the value that the cluster will get, and neither is a
placeholder such as `<seconds>`, `[IMAGE_URL]` or `@NAME@`. Where it is the value of a field that rules read, they could
only guess; where it breaks the YAML, nothing of the file can be read.

Lint what the cluster gets: `helm template CHART | probelet lint -`, `kustomize build DIR | probelet lint -`.
""",
    source=("helm template, kustomize build",),
    example="""
 apiVersion: apps/v1
 kind: Deployment
 metadata: {name: web}
 spec:
-  replicas: "{{ .Values.replicas }}"
+  replicas: 3
   selector: {matchLabels: {app: web}}
   template:
     metadata: {labels: {app: web}}
     spec:
       containers:
         - name: web
           image: registry.example/web:1
""",
    check=by_reading,
)
