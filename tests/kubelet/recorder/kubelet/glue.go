package kubelet

import (
	"context"
	"encoding/json"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
	"k8s.io/kubernetes/pkg/kubelet/status"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
)

// glue stands in for what the kubelet has around its prober: the kubelet's own status manager, the reactions of its
// sync loop to results, the pod workers' syncs, and a runtime that kills and restarts by the clock.
type glue struct {
	*play
	ctx    context.Context
	status status.Manager
	told   map[types.UID]string
	models map[string]*model
	agenda agenda
	batch  int
	// numbered says whether the turn under way has a batch number; a batch is numbered by its first input.
	numbered bool
	inputs   []Input
}

func newGlue(ctx context.Context, p *play) *glue {
	g := &glue{play: p, ctx: ctx, told: map[types.UID]string{}, models: map[string]*model{}, agenda: newAgenda()}
	g.status = status.NewManager(nil, podManager{p}, nil, latencies{})
	for _, described := range p.scenario.Pods {
		g.models[described.Name] = newModel(&described)
	}
	return g
}

// live plays the events; it returns the inputs of the prober.
func (g *glue) live() []Input {
	events := g.scenario.Events
	end := g.scenario.DurationMs
	for len(events) > 0 {
		size := 1
		for size < len(events) && events[size-1].NoWait && events[size].TMs == events[0].TMs {
			size++
		}
		together := events[:size]
		g.until(together[0].TMs)
		g.look("before " + together[0].Op)
		g.turn(func() {
			for _, event := range together {
				g.happen(event)
			}
		})
		g.look(together[size-1].Op)
		end = max(end, together[0].TMs)
		events = events[size:]
	}
	g.until(end)
	return g.inputs
}

// turn makes changes whose inputs are one batch, and lets everything that follows happen.
func (g *glue) turn(change func()) {
	g.numbered = false
	change()
	g.settle(g.now())
}

// input notes a call into the prober.
func (g *glue) input(in Input, noted line) {
	if !g.numbered {
		g.batch++
		g.numbered = true
	}
	in.TMs, in.Batch = g.now(), g.batch
	noted["t_ms"], noted["batch"], noted["call"] = in.TMs, in.Batch, in.Call
	g.inputs = append(g.inputs, in)
	g.note("inputs", noted)
}

func (g *glue) call(call, cause string, pod *v1.Pod) {
	noted := line{"cause": cause, "pod": pod.Name}
	if call == "add_pod" && pod.DeletionTimestamp != nil {
		noted["deleting"] = true
	}
	g.input(Input{Call: call, Pod: pod.Name}, noted)
}

// statusInput notes a status that the prober gets as an argument, or will get from the status manager.
func (g *glue) statusInput(call, cause string, pod *v1.Pod, status *v1.PodStatus) {
	in := Input{Call: call, Containers: g.described(status.ContainerStatuses), Init: g.described(status.InitContainerStatuses)}
	noted := line{"cause": cause, "pod": pod.Name}
	if status.Phase != "" {
		noted["phase"] = string(status.Phase)
	}
	if status.PodIP != "" {
		noted["pod_ip"] = status.PodIP
	}
	if in.Containers != nil {
		noted["containers"] = in.Containers
	}
	if in.Init != nil {
		noted["init_containers"] = in.Init
	}
	g.input(in, noted)
}

// tell notes the stored status if the prober's workers see another one than before.
func (g *glue) tell(cause string, pod *v1.Pod) {
	stored, ok := g.status.GetPodStatus(pod.UID)
	if !ok {
		if g.told[pod.UID] != "" {
			delete(g.told, pod.UID)
			g.call("no_status", cause, pod)
		}
		return
	}
	seen, _ := json.Marshal([]any{stored.Phase, stored.PodIP, g.described(stored.ContainerStatuses),
		g.described(stored.InitContainerStatuses)})
	if g.told[pod.UID] != string(seen) {
		g.told[pod.UID] = string(seen)
		g.statusInput("status", cause, pod, &stored)
	}
}

// react does with a result what the kubelet's sync loop does (kubelet.go:syncLoopIteration).
func (g *glue) react(probeType string, update results.Update) {
	pod := g.pods[g.names[update.PodUID]]
	wanted := g.scenario.Glue
	success := update.Result == results.Success
	g.numbered = false
	switch {
	case probeType == "startup" && wanted.Startup:
		g.status.SetContainerStartup(klog.FromContext(g.ctx), update.PodUID, update.ContainerID, success)
		g.tell("glue:SetContainerStartup", pod)
	case probeType == "readiness" && wanted.Readiness:
		g.status.SetContainerReadiness(klog.FromContext(g.ctx), update.PodUID, update.ContainerID, success)
		g.tell("glue:SetContainerReadiness", pod)
	}
	model := g.models[pod.Name]
	if wanted.KillMs > 0 && probeType != "readiness" && update.Result == results.Failure {
		g.considerKill(pod.Name, model, update.ContainerID.String())
	}
	if wanted.Sync && (probeType != "liveness" || update.Result == results.Failure) {
		g.requestSync(pod.Name, model)
	}
}

// podManager knows the scenario's pods and no mirror pods.
type podManager struct{ play *play }

func (m podManager) GetPodByUID(uid types.UID) (*v1.Pod, bool) {
	pod, ok := m.play.pods[m.play.names[uid]]
	return pod, ok
}

func (podManager) GetMirrorPodByPod(*v1.Pod) (*v1.Pod, bool) { return nil, false }

func (podManager) TranslatePodUID(uid types.UID) kubetypes.ResolvedPodUID {
	return kubetypes.ResolvedPodUID(uid)
}

func (podManager) GetUIDTranslations() (
	map[kubetypes.ResolvedPodUID]kubetypes.MirrorPodUID, map[kubetypes.MirrorPodUID]kubetypes.ResolvedPodUID,
) {
	return nil, nil
}
