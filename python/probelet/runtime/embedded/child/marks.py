"""The marks in the environment of every process of a container. A stand-in reads them as it starts, so this module
imports nothing."""

CONTAINER_VARIABLE = b"PROBELET_CONTAINER_ID"
"""In the environment of every process of a container, to find a process that left its session."""

ROOT_VARIABLE = b"PROBELET_RUNTIME_ROOT"
"""In the environment of every process of a runtime, to find a process that a killed runtime left behind."""
