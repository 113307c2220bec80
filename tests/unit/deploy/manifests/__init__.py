"""The manifests of ``deploy/`` as plain YAML: what must hold of them, without any tool."""
