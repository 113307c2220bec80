package kubelet

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// model is what the runtime and the pod workers know of a pod.
type model struct {
	pod         *Pod
	phase       string
	containers  map[string]*Change
	killing     map[string]bool
	restarts    map[string]int
	syncPending bool
	terminating bool
	removed     bool
}

func newModel(described *Pod) *model {
	return &model{pod: described, phase: "Running", containers: map[string]*Change{}, killing: map[string]bool{},
		restarts: map[string]int{}}
}

func (m *model) patch(event Event, nowMs int64) {
	if event.Phase != "" {
		m.phase = event.Phase
	}
	for name, change := range event.Containers {
		if change.State == "none" {
			delete(m.containers, name)
			continue
		}
		if change.State == "running" && change.StartedAtMs == nil {
			change.StartedAtMs = &nowMs
		}
		m.containers[name] = &change
	}
}

// running returns the name of the running container with that ID.
func (m *model) running(id string) (string, bool) {
	for _, name := range slices.Sorted(maps.Keys(m.containers)) {
		if m.containers[name].State == "running" && m.containers[name].ID == id {
			return name, true
		}
	}
	return "", false
}

// isRestarted says whether a failed probe has the container killed and started again.
func (m *model) isRestarted(name string) bool {
	if m.pod.Spec.RestartPolicy != v1.RestartPolicyNever {
		return true
	}
	for _, container := range m.pod.Spec.InitContainers {
		policy := container.RestartPolicy
		if container.Name == name && policy != nil && *policy == v1.ContainerRestartPolicyAlways {
			return true
		}
	}
	return false
}

var restartSuffix = regexp.MustCompile(`-r\d+$`)

func (m *model) start(name string, nowMs int64) {
	m.restarts[name]++
	id := fmt.Sprintf("%s-r%d", restartSuffix.ReplaceAllString(cmp.Or(m.containers[name].ID, name), ""), m.restarts[name])
	m.containers[name] = &Change{State: "running", ID: id, StartedAtMs: &nowMs}
}

// generate builds a status from the model, as SyncPod does: a container that the model does not know waits without an
// ID, and a running one keeps the `started` of the status that is stored if the release has it so.
func (g *glue) generate(m *model, pod *v1.Pod) v1.PodStatus {
	stored, _ := g.status.GetPodStatus(pod.UID)
	list := func(specs []v1.Container, old []v1.ContainerStatus) []v1.ContainerStatus {
		var statuses []v1.ContainerStatus
		for _, spec := range specs {
			known, ok := m.containers[spec.Name]
			if !ok {
				known = &Change{State: "waiting"}
			}
			status := g.containerStatus(spec.Name, known)
			for _, before := range old {
				if keepsStarted && status.State.Running != nil && before.Name == spec.Name {
					status.Started = before.Started
				}
			}
			statuses = append(statuses, status)
		}
		return statuses
	}
	return v1.PodStatus{
		Phase: v1.PodPhase(m.phase), PodIP: m.pod.PodIP,
		ContainerStatuses:     list(pod.Spec.Containers, stored.ContainerStatuses),
		InitContainerStatuses: list(pod.Spec.InitContainers, stored.InitContainerStatuses),
	}
}

func (g *glue) containerStatus(name string, known *Change) v1.ContainerStatus {
	status := v1.ContainerStatus{Name: name, ContainerID: known.ID}
	switch known.State {
	case "running":
		startedAt := metav1.NewTime(g.at(*known.StartedAtMs))
		status.State.Running = &v1.ContainerStateRunning{StartedAt: startedAt}
	case "waiting":
		status.State.Waiting = &v1.ContainerStateWaiting{}
	case "terminated":
		status.State.Terminated = &v1.ContainerStateTerminated{ExitCode: known.ExitCode}
	}
	return status
}

// described writes statuses as inputs have them.
func (g *glue) described(statuses []v1.ContainerStatus) []Container {
	containers := shown(statuses)
	for i, status := range statuses {
		switch {
		case status.State.Running != nil:
			startedAt := status.State.Running.StartedAt.Sub(g.start) / time.Millisecond
			containers[i].StartedAtMs = (*int64)(&startedAt)
		case status.State.Terminated != nil:
			containers[i].ExitCode = &status.State.Terminated.ExitCode
		}
	}
	return containers
}
