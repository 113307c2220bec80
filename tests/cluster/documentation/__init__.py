"""docs/cluster/agent.md, followed to the end as a new user would."""
