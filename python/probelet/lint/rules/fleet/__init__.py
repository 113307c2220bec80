"""Rules about replicas, roll-outs, restarts and the node."""
