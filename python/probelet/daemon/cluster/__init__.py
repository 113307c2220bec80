"""The composition roots of the verbs for a cluster: `webhook` beside an API server."""
