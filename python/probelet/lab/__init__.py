"""The laboratory: what probelet plays, calculates and draws without a node. ``lint`` and the verbs stand above it."""
