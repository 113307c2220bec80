"""What the notes of one side say, in the same words for both sides."""
