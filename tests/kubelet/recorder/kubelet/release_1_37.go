//go:build kubelet_1_37

// The calls of 1.37, which take a logger.

package kubelet

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober"
)

func addPod(ctx context.Context, manager prober.Manager, pod *v1.Pod) { manager.AddPod(ctx, pod) }

func updatePodStatus(ctx context.Context, manager prober.Manager, pod *v1.Pod, status *v1.PodStatus) {
	manager.UpdatePodStatus(ctx, pod, status)
}

func parseContainerID(id string) kubecontainer.ContainerID {
	return kubecontainer.ParseContainerID(klog.Background(), id)
}

// keepsStarted says whether a generated status takes `started` over (kubelet_pods.go:convertToAPIContainerStatuses).
const keepsStarted = true

type latencies struct{}

func (latencies) RecordStatusUpdated(klog.Logger, *v1.Pod) {}

func (latencies) DeletePodStartupState(types.UID) {}
