"""Rules about the text itself: what is no manifest, and what an API server refuses."""
