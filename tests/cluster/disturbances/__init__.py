"""What goes wrong in a cluster, and what becomes of pods whose probes probelet took over."""
