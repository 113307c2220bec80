"""The linter beside others: the same manifests, a process each."""
