package kubelet

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
)

func (g *glue) happen(event Event) {
	if event.Op == "cleanup_pods" {
		g.cleanup(event.Desired)
		return
	}
	pod, m := g.pods[event.Pod], g.models[event.Pod]
	switch event.Op {
	case "add_pod":
		g.call("add_pod", "op", pod)
		addPod(g.ctx, g.manager, pod)
	case "remove_pod":
		m.removed = true
		g.call("remove_pod", "op", pod)
		g.manager.RemovePod(pod)
	case "stop_liveness_and_startup":
		g.call("stop_liveness_and_startup", "op", pod)
		g.manager.StopLivenessAndStartup(pod)
	case "status":
		m.patch(event, g.now())
		g.store(m, pod)
	case "runtime":
		m.patch(event, g.now())
		if event.Sync {
			g.sync("sync", m, pod)
		}
	case "sync":
		g.sync("sync", m, pod)
	case "sync_terminating":
		m.terminating = true
		g.sync("sync_terminating", m, pod)
	case "update_pod_status":
		stored, _ := g.status.GetPodStatus(pod.UID)
		updated := *stored.DeepCopy()
		g.statusInput("update_pod_status", "op", pod, &updated)
		g.update(g.ctx, "op", pod, &updated)
		if event.Store {
			g.set("op", pod, updated)
		}
	case "remove_status":
		kept := map[types.UID]bool{}
		for _, other := range g.pods {
			kept[other.UID] = other != pod
		}
		delete(kept, pod.UID)
		g.status.RemoveOrphanedStatuses(klog.FromContext(g.ctx), kept)
		g.tell("remove_status", pod)
	case "set_deletion_timestamp":
		g.markDeleting(event, pod)
	default:
		panic("unknown op " + event.Op)
	}
}

func (g *glue) cleanup(names []string) {
	desired, noted := map[types.UID]sets.Empty{}, line{"cause": "op"}
	for _, name := range names {
		desired[g.pods[name].UID] = sets.Empty{}
	}
	if len(names) > 0 {
		noted["desired"] = names
	}
	g.input(Input{Call: "cleanup_pods"}, noted)
	g.manager.CleanupPods(desired)
}

func (g *glue) markDeleting(event Event, pod *v1.Pod) {
	noted := line{"cause": "op", "pod": pod.Name}
	if event.NewObject {
		pod = pod.DeepCopy()
		g.pods[event.Pod] = pod
	} else {
		noted["in_place"] = true
	}
	now := metav1.Now()
	pod.DeletionTimestamp = &now
	g.input(Input{Call: "set_deletion_timestamp"}, noted)
}

// store writes the model straight to the status manager. A container that was never named has no status.
func (g *glue) store(m *model, pod *v1.Pod) {
	stored, _ := g.status.GetPodStatus(pod.UID)
	list := func(specs []v1.Container, old []v1.ContainerStatus) []v1.ContainerStatus {
		var statuses []v1.ContainerStatus
		for _, spec := range specs {
			known, ok := m.containers[spec.Name]
			if !ok {
				continue
			}
			status := g.containerStatus(spec.Name, known)
			status.Started = known.Started
			for _, before := range old {
				if before.Name == spec.Name && before.ContainerID == status.ContainerID {
					status.Ready = before.Ready
					if status.Started == nil {
						status.Started = before.Started
					}
				}
			}
			statuses = append(statuses, status)
		}
		return statuses
	}
	g.set("status", pod, v1.PodStatus{
		Phase: v1.PodPhase(m.phase), PodIP: m.pod.PodIP,
		ContainerStatuses:     list(pod.Spec.Containers, stored.ContainerStatuses),
		InitContainerStatuses: list(pod.Spec.InitContainers, stored.InitContainerStatuses),
	})
}

func (g *glue) set(cause string, pod *v1.Pod, status v1.PodStatus) {
	g.status.SetPodStatus(klog.FromContext(g.ctx), pod, status)
	g.tell(cause, pod)
}

// sync does what SyncPod does around the prober, or SyncTerminatingPod for a pod that ends.
func (g *glue) sync(cause string, m *model, pod *v1.Pod) {
	g.publish(cause, m, pod)
	if m.terminating {
		g.call("stop_liveness_and_startup", cause, pod)
		g.manager.StopLivenessAndStartup(pod)
	} else if m.phase != string(v1.PodFailed) && m.phase != string(v1.PodSucceeded) {
		g.call("add_pod", cause, pod)
		addPod(g.ctx, g.manager, pod)
	}
}

func (g *glue) publish(cause string, m *model, pod *v1.Pod) {
	status := g.generate(m, pod)
	g.statusInput("update_pod_status", cause, pod, &status)
	g.update(g.ctx, cause, pod, &status)
	g.set(cause, pod, status)
}

// requestSync has a pod synced a little later; requests until then are one.
func (g *glue) requestSync(name string, m *model) {
	if m.syncPending || m.removed {
		return
	}
	m.syncPending = true
	g.agenda.add(g.now()+g.scenario.Glue.SyncDelayMs, func() {
		m.syncPending = false
		if !m.removed {
			g.sync("glue:sync", m, g.pods[name])
		}
	})
}

func (g *glue) considerKill(pod string, m *model, id string) {
	name, ok := m.running(id)
	if !ok || m.killing[name] || m.terminating || !m.isRestarted(name) {
		return
	}
	m.killing[name] = true
	g.agenda.add(g.now()+g.scenario.Glue.KillMs, func() {
		delete(m.killing, name)
		known, ok := m.containers[name]
		if !ok {
			return
		}
		m.containers[name] = &Change{State: "terminated", ID: known.ID, ExitCode: 137}
		if m.removed {
			g.publish("glue:killed:"+name, m, g.pods[pod])
		} else {
			g.sync("glue:killed:"+name, m, g.pods[pod])
		}
		g.agenda.add(g.now()+g.scenario.Glue.RestartMs, func() { g.startAgain(pod, m, name) })
	})
}

func (g *glue) startAgain(pod string, m *model, name string) {
	if _, ok := m.containers[name]; !ok || m.terminating || m.removed {
		return
	}
	m.start(name, g.now())
	g.sync("glue:restarted:"+name, m, g.pods[pod])
}
