package handover

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/grpc"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"

	"probelet.dev/goclient/proberv1"
)

// Caches are the kubelet's result caches of a node, one for each type of probe. Follow fills them.
type Caches struct {
	managers map[proberv1.ProbeType]results.Manager

	mu sync.Mutex
	// The containers of each cache: a results.Manager lists none.
	known map[proberv1.ProbeType]map[kubecontainer.ContainerID]bool
}

// NewCaches returns the caches of these three managers.
func NewCaches(liveness, readiness, startup results.Manager) *Caches {
	c := &Caches{known: map[proberv1.ProbeType]map[kubecontainer.ContainerID]bool{}}
	c.managers = map[proberv1.ProbeType]results.Manager{
		proberv1.ProbeType_LIVENESS: liveness, proberv1.ProbeType_READINESS: readiness, proberv1.ProbeType_STARTUP: startup,
	}
	for probe := range c.managers {
		c.known[probe] = map[kubecontainer.ContainerID]bool{}
	}
	return c
}

// Len returns how many results of this type are cached.
func (c *Caches) Len(probe proberv1.ProbeType) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.known[probe])
}

// Follow keeps the caches equal to the service's until the stream ends. A gap in the sequence numbers is an error,
// because the service promises none. UpdatePodStatus looks there as well.
func (m *Manager) Follow(ctx context.Context, caches *Caches) error {
	m.answers.Lock()
	m.caches = caches
	m.answers.Unlock()
	stream, err := m.reads(ctx, "WatchResults", &proberv1.WatchResultsRequest{})
	if err != nil {
		return err
	}
	var sequence uint64
	var all []*proberv1.ContainerResult
	whole := false
	for {
		message := &proberv1.WatchResultsResponse{}
		if err := stream.RecvMsg(message); err != nil {
			return err
		}
		if message.Reset_ {
			all, whole = nil, true
		}
		if whole {
			all = append(all, message.Results...)
			sequence = message.Sequence
			if !message.More {
				caches.replace(all)
				whole = false
			}
			continue
		}
		if message.Sequence != sequence+1 {
			return fmt.Errorf("change %d follows change %d", message.Sequence, sequence)
		}
		sequence = message.Sequence
		for _, result := range message.Results {
			caches.apply(result)
		}
	}
}

// reads opens a stream that only the service writes to.
func (m *Manager) reads(ctx context.Context, method string, request any) (grpc.ClientStream, error) {
	stream, err := m.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, service+method)
	if err != nil {
		return nil, err
	}
	if err := stream.SendMsg(request); err != nil {
		return nil, err
	}
	return stream, stream.CloseSend()
}

// replace removes what is not among all results of the service, and sets those.
func (c *Caches) replace(all []*proberv1.ContainerResult) {
	for probe, manager := range c.managers {
		kept := map[kubecontainer.ContainerID]bool{}
		for _, result := range all {
			if result.ProbeType == probe {
				kept[kubecontainer.ParseContainerID(result.ContainerId)] = true
			}
		}
		c.mu.Lock()
		gone := c.known[probe]
		c.known[probe] = kept
		c.mu.Unlock()
		for id := range gone {
			if !kept[id] {
				manager.Remove(id)
			}
		}
	}
	for _, result := range all {
		c.apply(result)
	}
}

// apply sets or removes one result. As in a kubelet, Set waits if twenty updates wait to be read.
func (c *Caches) apply(change *proberv1.ContainerResult) {
	probe, id := change.ProbeType, kubecontainer.ParseContainerID(change.ContainerId)
	result, found := map[proberv1.Result]results.Result{
		proberv1.Result_SUCCESS: results.Success,
		proberv1.Result_FAILURE: results.Failure,
		proberv1.Result_UNKNOWN: results.Unknown,
	}[change.Result]
	c.mu.Lock()
	if found {
		c.known[probe][id] = true
	} else {
		delete(c.known[probe], id)
	}
	c.mu.Unlock()
	if !found {
		c.managers[probe].Remove(id)
		return
	}
	// The update carries nothing of the pod but its UID.
	c.managers[probe].Set(id, result, &v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: types.UID(change.PodUid)}})
}
