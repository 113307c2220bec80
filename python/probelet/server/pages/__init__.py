"""The HTTP port and its pages."""
