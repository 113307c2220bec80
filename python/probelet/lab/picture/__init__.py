"""Draws a simulation, from its document alone.

Laws
 1. A picture says nothing that the ``probelet-simulate/1`` document does not say: nothing of the cluster is imported.
 2. Equal documents give equal bytes.
 3. A picture's size has a bound, however long the simulation and however many its pods: what is narrower than a pixel
    is merged, and the worst of it survives.
"""
