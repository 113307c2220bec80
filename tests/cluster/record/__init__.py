"""Records what happens in a namespace of the cluster, and reads it back."""
