"""The logs of pods: what readers have to know about them, and their rotation on a CRI runtime."""
