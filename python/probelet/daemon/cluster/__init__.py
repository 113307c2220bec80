"""The composition roots of the verbs that talk to an API server."""
