"""Kubernetes objects as enhanced liveness reads them: structs with only the fields that some rule needs.

At 5,000 nodes a controller holds half a million pods, so a field that no rule reads costs memory for nothing. Each
``read`` takes the object as JSON gives it, and raises ``msgspec.ValidationError`` if a field has a wrong type. Pods and
requests have one reader each (``spec.model.pod_object``, ``recreate_request``), and each rule's struct is made from it.
"""
