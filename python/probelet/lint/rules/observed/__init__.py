"""Rules about what was observed of the pods (``--observed``): without observations they are silent."""
