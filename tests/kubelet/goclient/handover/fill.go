package handover

import (
	"context"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"

	"probelet.dev/goclient/proberv1"
)

// UpdatePodStatus fills started and ready of each container in status. While the service is away, a container that still
// runs keeps what it had, and one that the service has never seen is what it is without a first result.
func (m *Manager) UpdatePodStatus(ctx context.Context, pod *v1.Pod, status *v1.PodStatus) {
	answer, fresh := m.ask(ctx, pod, status)
	fill := func(statuses, answered []v1.ContainerStatus, containers []v1.Container) {
		for i := range statuses {
			status := &statuses[i]
			one := answerAbout(status, answered)
			switch {
			case one != nil && (fresh || status.State.Running != nil):
				status.Started, status.Ready = one.Started, one.Ready
			case !fresh:
				container := named(status.Name, containers)
				started := status.State.Running != nil && container.StartupProbe == nil
				status.Started, status.Ready = &started, started && container.ReadinessProbe == nil
			}
			m.correct(status)
		}
	}
	// Only these two fields are the prober's, and a time in JSON has lost its fractions of a second.
	fill(status.InitContainerStatuses, answer.InitContainerStatuses, pod.Spec.InitContainers)
	fill(status.ContainerStatuses, answer.ContainerStatuses, pod.Spec.Containers)
}

// ask returns the service's answer and true, or the last answer about this pod and false.
func (m *Manager) ask(ctx context.Context, pod *v1.Pod, status *v1.PodStatus) (*v1.PodStatus, bool) {
	response, answer := &proberv1.UpdatePodStatusResponse{}, &v1.PodStatus{}
	request := &proberv1.UpdatePodStatusRequest{Pod: m.json(pod), Status: m.json(status)}
	fresh := m.call(ctx, "UpdatePodStatus", request, response)
	if fresh {
		if err := json.Unmarshal(response.Status, answer); err != nil {
			m.failed(fmt.Errorf("UpdatePodStatus: %w", err))
			fresh = false
		}
	}
	m.answers.Lock()
	defer m.answers.Unlock()
	if fresh {
		m.filled[pod.UID] = answer
	} else if last, found := m.filled[pod.UID]; found {
		answer = last
	}
	return answer, fresh
}

// correct takes the results that came while the answer was on its way. The kubelet has acted on them, and an older answer
// would turn a condition back until the next sync.
func (m *Manager) correct(status *v1.ContainerStatus) {
	m.answers.Lock()
	caches := m.caches
	m.answers.Unlock()
	if caches == nil || status.State.Running == nil {
		return
	}
	id := kubecontainer.ParseContainerID(status.ContainerID)
	if result, found := caches.managers[proberv1.ProbeType_STARTUP].Get(id); found {
		started := result == results.Success
		status.Started = &started
	}
	result, found := caches.managers[proberv1.ProbeType_READINESS].Get(id)
	if found && status.Started != nil && *status.Started {
		status.Ready = result == results.Success
	}
}

func answerAbout(status *v1.ContainerStatus, answered []v1.ContainerStatus) *v1.ContainerStatus {
	for i := range answered {
		if answered[i].Name == status.Name && answered[i].ContainerID == status.ContainerID {
			return &answered[i]
		}
	}
	return nil
}

func named(name string, containers []v1.Container) v1.Container {
	for _, one := range containers {
		if one.Name == name {
			return one
		}
	}
	return v1.Container{}
}
