"""Connects the policy of a pod with the prober, on a live node and on one in virtual time.

The policy returns statuses to publish and takes published results; the prober takes facts and asks for syncs. Neither
knows the other, and both kinds of node put the same code between them.
"""
