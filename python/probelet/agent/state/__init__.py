"""The files in the state directory: one JSON file for each pod as first seen, and one for each kill under way."""
