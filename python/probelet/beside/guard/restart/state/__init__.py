"""The state of the restart decision. Takes in changes and answers questions; decides nothing about a restart."""
