"""The JSON schema of a configuration file, made from the types and the docstrings of their fields."""
