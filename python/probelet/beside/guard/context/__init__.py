"""The annotation ``apps.kruise.io/container-probe-context``: written byte for byte as OpenKruise, read leniently."""
