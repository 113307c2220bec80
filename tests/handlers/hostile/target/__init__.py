"""Hostile targets: a process of their own serves every behaviour on a port of its own.

The targets run in their own process, so that their memory does not count as the prober's and the two share no thread.
"""
