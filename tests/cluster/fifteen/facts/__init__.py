"""What is compared beside the facts of the comparison with ``run``: conditions, endpoints, the rollout."""
