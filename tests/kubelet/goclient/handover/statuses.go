package handover

import (
	"context"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/status"
)

// Statuses is a kubelet's status manager that sends on each change of what a prober's worker reads there.
type Statuses struct {
	status.Manager
	to *Manager

	// One change at a time, so that an older status never follows a newer one.
	mu sync.Mutex
}

var _ status.Manager = (*Statuses)(nil)

// NewStatuses wraps a status manager.
func NewStatuses(manager status.Manager, to *Manager) *Statuses {
	return &Statuses{Manager: manager, to: to}
}

// SetPodStatus is the kubelet's own, and then the service's.
func (s *Statuses) SetPodStatus(logger klog.Logger, pod *v1.Pod, status v1.PodStatus) (v1.PodStatus, bool) {
	set, changed := s.Manager.SetPodStatus(logger, pod, status)
	s.send(pod.UID)
	return set, changed
}

// SetContainerReadiness is the kubelet's own, and then the service's.
func (s *Statuses) SetContainerReadiness(logger klog.Logger, uid types.UID, id kubecontainer.ContainerID, ready bool) {
	s.Manager.SetContainerReadiness(logger, uid, id, ready)
	s.send(uid)
}

// SetContainerStartup is the kubelet's own, and then the service's: workers of the other types wait for it.
func (s *Statuses) SetContainerStartup(logger klog.Logger, uid types.UID, id kubecontainer.ContainerID, started bool) {
	s.Manager.SetContainerStartup(logger, uid, id, started)
	s.send(uid)
}

// TerminatePod is the kubelet's own, and then the service's.
func (s *Statuses) TerminatePod(logger klog.Logger, pod *v1.Pod) {
	s.Manager.TerminatePod(logger, pod)
	s.send(pod.UID)
}

// RemoveOrphanedStatuses is the kubelet's own, and then the service's.
func (s *Statuses) RemoveOrphanedStatuses(logger klog.Logger, uids map[types.UID]bool) {
	s.Manager.RemoveOrphanedStatuses(logger, uids)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, uid := range s.to.known() {
		if _, found := s.GetPodStatus(uid); !found {
			s.to.RemovePodStatus(context.Background(), uid)
		}
	}
}

func (s *Statuses) send(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if status, found := s.GetPodStatus(uid); found {
		s.to.SetPodStatus(context.Background(), uid, &status)
	}
}
