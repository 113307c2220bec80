"""What the API server gets: conditions and events."""
