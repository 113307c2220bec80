"""Answers the questions that several rules ask of a workload, a container or a probe, each in one place. A function
here returns a value or words for a message, never a hit, and imports no rule; so no rule needs another rule's file."""
