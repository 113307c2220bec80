"""The objects of a cluster as manifests write them: workloads, Services, PodDisruptionBudgets. Reads, decides
nothing."""
