package kubelet

import (
	"encoding/json"
	"os"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Recording is the content of a file: a scenario with events, or a scenario and the inputs for the prober.
type Recording struct {
	Scenario Scenario
	Trace    struct{ Inputs []Input }
}

// Scenario has the pods, scripts and events of a recording.
type Scenario struct {
	WarmupMs   int64 `json:"warmup_ms"`
	DurationMs int64 `json:"duration_ms"`
	Glue       Glue  `json:"kubelet_glue"`
	Pods       []Pod
	Scripts    map[string][]Outcome
	Events     []Event
}

// Glue says which results change a status, which ask for a sync, and how long updates, syncs, kills and restarts take.
type Glue struct {
	Startup, Readiness, Sync bool
	UpdateMs                 int64 `json:"update_ms"`
	SyncDelayMs              int64 `json:"sync_delay_ms"`
	KillMs                   int64 `json:"kill_ms"`
	RestartMs                int64 `json:"restart_ms"`
}

// Event is a change of the runtime, or a call of the kubelet that no result asked for.
type Event struct {
	TMs        int64 `json:"t_ms"`
	Op         string
	Pod        string
	Phase      string
	Containers map[string]Change
	Desired    []string
	Sync       bool
	Store      bool
	NewObject  bool `json:"new_object"`
	NoWait     bool `json:"no_wait"`
}

// Change is a container's new state in the runtime; `started` is for a status that is stored without a sync.
type Change struct {
	State       string
	ID          string
	Started     *bool
	StartedAtMs *int64 `json:"started_at_ms"`
	ExitCode    int32  `json:"exit_code"`
}

// Pod is a pod of the scenario; its spec is a Kubernetes PodSpec before defaulting.
type Pod struct {
	Name, Namespace, UID string
	PodIP                string `json:"pod_ip"`
	DeletionTimestampMs  *int64 `json:"deletion_timestamp_ms"`
	APIConditionReady    bool   `json:"api_condition_ready"`
	Spec                 v1.PodSpec
}

// Outcome says how an exec attempt ends.
type Outcome struct {
	Outcome       string
	ExitCode      *int  `json:"exit_code"`
	HangMs        int64 `json:"hang_ms"`
	IgnoreTimeout bool  `json:"ignore_timeout"`
	Repeat        int
	DelayMs       *int64 `json:"delay_ms"`
	Output        string
	OutputRepeat  int `json:"output_repeat"`
	Error         string
}

// Input is one call into the prober; no worker reacts before the last call of a batch.
type Input struct {
	TMs        int64 `json:"t_ms"`
	Batch      int
	Call       string
	Pod        string
	Phase      string
	PodIP      string `json:"pod_ip"`
	Containers []Container
	Init       []Container `json:"init_containers"`
	InPlace    bool        `json:"in_place"`
	Desired    []string
}

// Container is a container's status as recordings write it.
type Container struct {
	Name        string `json:"name"`
	ID          string `json:"id,omitempty"`
	State       string `json:"state"`
	Ready       bool   `json:"ready"`
	Started     *bool  `json:"started"`
	StartedAtMs *int64 `json:"started_at_ms,omitempty"`
	ExitCode    *int32 `json:"exit_code,omitempty"`
}

func load(path string) (*Recording, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	recording := &Recording{}
	return recording, json.Unmarshal(text, recording)
}

func (p *play) podStatus(in Input) v1.PodStatus {
	return v1.PodStatus{
		Phase:                 v1.PodPhase(in.Phase),
		PodIP:                 in.PodIP,
		ContainerStatuses:     p.containerStatuses(in.Containers),
		InitContainerStatuses: p.containerStatuses(in.Init),
	}
}

func (p *play) containerStatuses(containers []Container) []v1.ContainerStatus {
	var statuses []v1.ContainerStatus
	for _, c := range containers {
		status := v1.ContainerStatus{Name: c.Name, ContainerID: c.ID, Ready: c.Ready, Started: c.Started}
		switch c.State {
		case "running":
			status.State.Running = &v1.ContainerStateRunning{}
			if c.StartedAtMs != nil {
				status.State.Running.StartedAt = metav1.NewTime(p.at(*c.StartedAtMs))
			}
		case "waiting":
			status.State.Waiting = &v1.ContainerStateWaiting{}
		case "terminated":
			status.State.Terminated = &v1.ContainerStateTerminated{}
			if c.ExitCode != nil {
				status.State.Terminated.ExitCode = *c.ExitCode
			}
		}
		statuses = append(statuses, status)
	}
	return statuses
}

func shown(statuses []v1.ContainerStatus) []Container {
	var containers []Container
	for _, s := range statuses {
		c := Container{Name: s.Name, ID: s.ContainerID, State: "waiting", Ready: s.Ready, Started: s.Started}
		switch {
		case s.State.Running != nil:
			c.State = "running"
		case s.State.Terminated != nil:
			c.State = "terminated"
		}
		containers = append(containers, c)
	}
	return containers
}
