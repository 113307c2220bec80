"""PL006: a suppression that does not say why."""

from probelet.lint.rule import Rule, by_reading

RULE = Rule(
    id="PL006",
    name="suppression-without-reason",
    severity="error",
    summary="A comment or annotation switches a rule off and gives no reason.",
    why="""
A later reader of the manifest has to decide whether the reason still holds, and needs its text for that.
A suppression without a reason suppresses nothing, so the finding that it was meant for is in the report too.

A comment `# probelet-lint: disable=PL205 reason=the kill is cheap` counts for everything that begins on its line, and
on a line of its own for everything that begins on the next one. The annotation `probelet.dev/lint-ignore` with the text
`PL205 reason=the kill is cheap` counts for the whole object.
""",
    source=("docs/lint.md, Suppressing a finding",),
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
-      livenessProbe: # probelet-lint: disable=PL401
+      livenessProbe: # probelet-lint: disable=PL401 reason=a backup blocks the server for 20 s each night
         httpGet: {path: /livez, port: 8080}
         periodSeconds: 5
         timeoutSeconds: 30
""",
    check=by_reading,
)
