"""What the detector of incidents finds in clusters of which it is known what broke, and when."""
