"""Which probes the NodePodProbe of each node should have: one key per node, so many pods cost one write.

Source: OpenKruise pull request 1544 (689efeed5, unmerged), without its finalizer. Where it loses entries, fights other
writers or retries for ever, docs/dev/enhanced-liveness-cases.md says what happens here instead.
"""
