"""The runtime's reports about pods, kept and translated: the cache, the PLEG that keeps it equal to the runtime, the
labels, and the hooks that containers run."""
