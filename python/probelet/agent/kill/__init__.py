"""Kills: each stops one container instance once, with its steps on disk."""
