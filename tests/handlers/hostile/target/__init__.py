"""A target that means harm: every behaviour on a port of its own, in a process of its own.

Its own process, because what it wastes must not count as the prober's, and because the two must not share a thread.
"""
