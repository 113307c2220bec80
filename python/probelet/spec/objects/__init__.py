"""The ConfigMaps and Secrets that stand in the manifests, for the environment of containers.

Law: no value of an object is in a message, in a ``repr`` or in a line of the log: only names and keys are. An object is
read by the API server's rules, and resolving a reference is a pure function of pod, container and objects.
"""
