"""Images are part of a start.

The kubelet requests the image inside startContainer, after the crash-loop gate. The strand that starts a container
(``policy/start/pulling.py``) does the same. It uses two more effects and a back-off table in each pod, because its
keys begin with the pod's UID anyway. ``node/effects/images.py`` limits the pulls of the node, as
``serializeImagePulls`` says.
"""
