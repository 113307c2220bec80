// Package kubelet plays scenarios through the kubelet's own prober, of the published module k8s.io/kubernetes, under
// Go's virtual clock.
package kubelet

import (
	"context"
	"sync"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // without it the prober drops every event
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/kubelet/prober"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
	"k8s.io/kubernetes/pkg/kubelet/status"
)

var probeTypes = []string{"startup", "readiness", "liveness"}

type play struct {
	scenario     *Scenario
	start        time.Time
	defaultDelay map[string]int64
	pods         map[string]*v1.Pod
	names        map[types.UID]string
	manager      prober.Manager
	caches       []cache
	lastWorkers  []string
	// glue is nil for a scenario that has inputs instead of events.
	glue *glue

	mu       sync.Mutex
	statuses map[types.UID]v1.PodStatus
	trace    trace
	begun    map[string]int
	attempt  map[string]int
	errored  map[string]bool
}

// Play gives the inputs to a new prober and returns what it did. Call it in a synctest bubble.
func Play(recording *Recording) (trace, error) {
	scenario := &recording.Scenario
	p := &play{
		scenario: scenario, defaultDelay: map[string]int64{},
		pods: map[string]*v1.Pod{}, names: map[types.UID]string{},
		statuses: map[types.UID]v1.PodStatus{}, trace: newTrace(),
		begun: map[string]int{}, attempt: map[string]int{}, errored: map[string]bool{},
	}
	p.start = time.Now().Add(time.Duration(scenario.WarmupMs) * time.Millisecond)
	for index := range scenario.Pods {
		p.make(index, &scenario.Pods[index])
	}
	prober.ProberResults.Reset()
	prober.ProberDuration.Reset()
	for _, probeType := range []string{"liveness", "readiness", "startup"} {
		p.caches = append(p.caches, cache{results.NewManager(), p, probeType})
	}
	done := make(chan struct{})
	go p.follow(done)
	ctx := klog.NewContext(context.Background(), logr.Discard())
	inputs := recording.Trace.Inputs
	if scenario.Events == nil {
		p.manage(statuses{nil, p})
		p.give(ctx, inputs)
		p.settle(scenario.DurationMs)
	} else {
		p.glue = newGlue(ctx, p)
		p.manage(p.glue.status)
		inputs = p.glue.live()
	}
	p.look("end")
	p.trace["end_results"] = append(p.trace["end_results"], p.endResults(inputs)...)
	metrics, err := endMetrics()
	p.trace["end_metrics"] = append(p.trace["end_metrics"], metrics...)
	played := p.cut()
	if p.glue == nil {
		delete(played, "inputs")
	}
	// The bubble ends when its last goroutine ends.
	p.manager.CleanupPods(nil)
	time.Sleep(time.Hour)
	close(done)
	played.canonical()
	return played, err
}

func (p *play) manage(statuses status.Manager) {
	p.manager = prober.NewManager(statuses, p.caches[0], p.caches[1], p.caches[2], runtime{p},
		&recorder{record.NewFakeRecorder(0), p})
}

// make builds a pod with the API server's defaults, and gives each probe without a handler a scripted exec.
func (p *play) make(index int, described *Pod) {
	pod := &v1.Pod{Spec: *described.Spec.DeepCopy()}
	pod.Name, pod.Namespace, pod.UID = described.Name, described.Namespace, types.UID(described.UID)
	var containers []*v1.Container
	for _, list := range [][]v1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			containers = append(containers, &list[i])
		}
	}
	for number, container := range containers {
		for typeNumber, probe := range probesOf(container) {
			probeType := probeTypes[typeNumber]
			key := pod.Name + "/" + container.Name + "/" + probeType
			p.defaultDelay[key] = int64(2 + typeNumber + 3*number + 31*index)
			if probe != nil && probe.Exec == nil {
				probe.Exec = &v1.ExecAction{Command: []string{"probe", pod.Name, container.Name, probeType}}
			}
		}
	}
	corev1.SetObjectDefaults_Pod(pod)
	for _, container := range containers {
		for typeNumber, probe := range probesOf(container) {
			if probe != nil {
				effective := line{"pod": pod.Name, "container": container.Name, "type": probeTypes[typeNumber], "probe": probe}
				p.trace["effective_probes"] = append(p.trace["effective_probes"], effective)
			}
		}
	}
	if described.DeletionTimestampMs != nil {
		pod.DeletionTimestamp = &metav1.Time{Time: p.at(*described.DeletionTimestampMs)}
	}
	if described.APIConditionReady {
		pod.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue}}
	}
	p.pods[pod.Name], p.names[pod.UID] = pod, pod.Name
}

func probesOf(container *v1.Container) []*v1.Probe {
	return []*v1.Probe{container.StartupProbe, container.ReadinessProbe, container.LivenessProbe}
}

// give applies batch after batch, each after the prober has done everything that was due at that moment.
func (p *play) give(ctx context.Context, inputs []Input) {
	for len(inputs) > 0 {
		size := 1
		for size < len(inputs) && inputs[size].Batch == inputs[0].Batch {
			size++
		}
		p.settle(inputs[0].TMs)
		p.look("before " + inputs[0].Call)
		for _, input := range inputs[:size] {
			p.apply(ctx, input)
		}
		synctest.Wait()
		p.look(inputs[size-1].Call)
		inputs = inputs[size:]
	}
}

func (p *play) apply(ctx context.Context, in Input) {
	pod := p.pods[in.Pod]
	switch in.Call {
	case "status":
		p.mu.Lock()
		p.statuses[pod.UID] = p.podStatus(in)
		p.mu.Unlock()
	case "no_status":
		p.mu.Lock()
		delete(p.statuses, pod.UID)
		p.mu.Unlock()
	case "add_pod":
		addPod(ctx, p.manager, pod)
	case "remove_pod":
		p.manager.RemovePod(pod)
	case "stop_liveness_and_startup":
		p.manager.StopLivenessAndStartup(pod)
	case "cleanup_pods":
		desired := map[types.UID]sets.Empty{}
		for _, name := range in.Desired {
			desired[p.pods[name].UID] = sets.Empty{}
		}
		p.manager.CleanupPods(desired)
	case "update_pod_status":
		status := p.podStatus(in)
		p.update(ctx, "op", pod, &status)
	case "set_deletion_timestamp":
		if !in.InPlace {
			pod = pod.DeepCopy()
			p.pods[in.Pod] = pod
		}
		now := metav1.Now()
		pod.DeletionTimestamp = &now
	default:
		panic("unknown call " + in.Call)
	}
}

// update calls UpdatePodStatus and notes what it filled in.
func (p *play) update(ctx context.Context, cause string, pod *v1.Pod, status *v1.PodStatus) {
	updatePodStatus(ctx, p.manager, pod, status)
	filled := line{"cause": cause, "pod": pod.Name}
	if containers := shown(status.ContainerStatuses); containers != nil {
		filled["containers"] = containers
	}
	if containers := shown(status.InitContainerStatuses); containers != nil {
		filled["init_containers"] = containers
	}
	p.note("statuses", filled)
}

func (p *play) at(ms int64) time.Time { return p.start.Add(time.Duration(ms) * time.Millisecond) }

func (p *play) now() int64 { return time.Since(p.start).Milliseconds() }

func (p *play) settle(ms int64) {
	time.Sleep(time.Until(p.at(ms)))
	synctest.Wait()
}
