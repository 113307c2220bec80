"""Clusters of three nodes: what probelet does when the pods, the controllers and the faults are on several of them."""
