"""What the restart decision knows. Takes in changes and answers questions; decides nothing about a restart."""
