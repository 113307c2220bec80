"""The configuration, from the data of a ConfigMap."""
