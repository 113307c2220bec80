"""Rules about the numbers of one probe."""
