"""Enhanced liveness as the detector of incidents sees it: the states in NodePodProbes become attempts.

Laws
 1. A state says how the last attempts ended, not how many there were: ``Failed`` stands for as many failed attempts in
    a row as the probe's ``failureThreshold`` says, the word that the last attempt failed for one.
 2. A node that is silent or not Ready says nothing: its pods are forgotten until it is heard again.
 3. Nodes write what happened within ``PUBLISHED_NS``. So what speaks against one container alone, the rest of the
    attempts that ``Failed`` stands for and a restart, waits until a period and that have gone by since its first
    failure: until then whatever struck it has struck the others, and their nodes have said so.
 4. Work for a change grows with the pods of its node only. What is kept of a node and a pod is bounded.
"""
