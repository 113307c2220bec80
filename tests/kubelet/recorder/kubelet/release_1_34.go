//go:build kubelet_1_34

// The calls of 1.34, which take no context.

package kubelet

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober"
)

func addPod(ctx context.Context, manager prober.Manager, pod *v1.Pod) { manager.AddPod(pod) }

func updatePodStatus(ctx context.Context, manager prober.Manager, pod *v1.Pod, status *v1.PodStatus) {
	manager.UpdatePodStatus(pod, status)
}

func parseContainerID(id string) kubecontainer.ContainerID { return kubecontainer.ParseContainerID(id) }

// keepsStarted says whether a generated status takes `started` over (kubelet_pods.go:convertToAPIContainerStatuses).
const keepsStarted = false

type latencies struct{}

func (latencies) RecordStatusUpdated(*v1.Pod) {}

func (latencies) DeletePodStartupState(types.UID) {}
