package kubelet

import (
	"crypto/sha256"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
	"k8s.io/kubernetes/pkg/kubelet/status"
)

// Of a message above longMessage bytes a recording keeps the first keptBytes and the hash of the whole.
const longMessage, keptBytes = 1024, 256

// statuses is a status manager that answers from the scenario; the prober calls no other method of it.
type statuses struct {
	status.Manager
	play *play
}

func (s statuses) GetPodStatus(uid types.UID) (v1.PodStatus, bool) {
	s.play.mu.Lock()
	defer s.play.mu.Unlock()
	found, ok := s.play.statuses[uid]
	return found, ok
}

// cache is the kubelet's own results manager, and notes what the prober sets and removes.
type cache struct {
	results.Manager
	play      *play
	probeType string
}

func (c cache) Set(id kubecontainer.ContainerID, result results.Result, pod *v1.Pod) {
	before, had := c.Get(id)
	c.play.note("results", line{"type": c.probeType, "op": "set", "container_id": id.String(),
		"result": result.String(), "changed": !had || before != result})
	c.Manager.Set(id, result, pod)
}

func (c cache) Remove(id kubecontainer.ContainerID) {
	_, had := c.Get(id)
	c.play.note("results", line{"type": c.probeType, "op": "remove", "container_id": id.String(), "changed": had})
	c.Manager.Remove(id)
}

// follow takes the updates of all three types in one goroutine, as the kubelet's sync loop does.
func (p *play) follow(done <-chan struct{}) {
	for {
		var update results.Update
		var from cache
		select {
		case update = <-p.caches[0].Updates():
			from = p.caches[0]
		case update = <-p.caches[1].Updates():
			from = p.caches[1]
		case update = <-p.caches[2].Updates():
			from = p.caches[2]
		case <-done:
			return
		}
		p.note("updates", line{"type": from.probeType, "pod_uid": string(update.PodUID),
			"container_id": update.ContainerID.String(), "result": update.Result.String()})
		if p.glue != nil {
			p.glue.react(from.probeType, update)
			time.Sleep(time.Duration(p.scenario.Glue.UpdateMs) * time.Millisecond)
		}
	}
}

// recorder notes events.
type recorder struct {
	*record.FakeRecorder
	play *play
}

func (r *recorder) WithLogger(klog.Logger) record.EventRecorderLogger { return r }

func (r *recorder) Eventf(object kruntime.Object, eventType, reason, format string, args ...any) {
	reference := object.(*v1.ObjectReference)
	message := fmt.Sprintf(format, args...)
	event := line{"pod": reference.Name, "field_path": reference.FieldPath, "type": eventType, "reason": reason,
		"message": message, "message_bytes": len(message)}
	if len(message) > longMessage {
		event["message"] = message[:keptBytes]
		event["message_sha256"] = fmt.Sprintf("%x", sha256.Sum256([]byte(message)))
	}
	r.play.note("events", event)
}
