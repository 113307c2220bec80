"""``make image``: one OCI image for every role of probelet, put together without a container engine or a registry."""
