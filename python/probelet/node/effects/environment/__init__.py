"""The environment, the command and the arguments of a container.

Law: a pure function of pod, container and place. What stands in for an API server is part of the place: the ConfigMaps
and Secrets of the manifests, and what this machine has to give.
"""
