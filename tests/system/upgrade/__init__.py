"""State that released versions left behind, and what this version makes of it. README.md says how to keep one."""
