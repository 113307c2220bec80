"""PL001: a text that is no YAML and no JSON."""

from probelet.lint.rule import Rule, by_reading

RULE = Rule(
    id="PL001",
    name="not-a-manifest",
    severity="error",
    summary="The file is neither YAML nor JSON, or exceeds a limit of the reader.",
    why="""
`kubectl` refuses such a file, and a kubelet that reads it as a static pod passes over it. The message is the parser's;
it names the line at which the parser noticed the mistake, which may be behind the line that has it.

Nothing else in the file is linted: what could not be read might change the meaning of what was read before it.
""",
    source=("sigs.k8s.io/yaml, the reader of kubectl and the kubelet",),
    example="""
 apiVersion: v1
 kind: Pod
-metadata: {name: web
+metadata: {name: web}
 spec:
-  containers: []
+  containers:
+    - name: web
+      image: registry.example/web:1
""",
    check=by_reading,
)
