"""One node of a virtual cluster: its prober, its restart gate, its pods. What a kubelet decides, the policy decides."""
