"""PL007: a suppression that names no rule."""

from probelet.lint.rule import Rule, by_reading

RULE = Rule(
    id="PL007",
    name="unknown-suppression",
    severity="error",
    summary="A comment or annotation is meant to switch a rule off, but names none or cannot be read.",
    why="""
A misspelt id, or a form that the linter does not know, suppresses nothing. Silence about it would leave the author with
the belief that the finding is accepted.

`probelet lint --rules` lists the ids. The forms are `# probelet-lint: disable=PL101,PL205 reason=...` and the
annotation `probelet.dev/lint-ignore` with `PL101,PL205 reason=...`, where a semicolon stands between several entries.
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
-      # probelet-lint: disable=timeout reason=a backup blocks the server for 20 s each night
+      # probelet-lint: disable=PL401 reason=a backup blocks the server for 20 s each night
       livenessProbe:
         httpGet: {path: /livez, port: 8080}
         periodSeconds: 5
         timeoutSeconds: 30
""",
    check=by_reading,
)
