"""What `make` builds for other machines: the installation, wheel and sdist, and the image."""
