"""The manifests of ``deploy/`` through the programs that people use: kubectl, helm, and a real API server."""
