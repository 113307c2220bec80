"""Findings that the author of a manifest accepts: by a comment or an annotation, each with its reason."""
