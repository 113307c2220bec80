"""Incidents of a live process: the detector of ``policy.incidents`` watches the engine's attempts (``watch``) and names
what pods share (``subjects``, ``pod``). Events, documents and an Alertmanager get what it finds; ``webhook`` posts in a
task of its own what ``alerts`` keeps."""
