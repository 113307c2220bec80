"""What a maintainer's make targets run; no part of the package."""
