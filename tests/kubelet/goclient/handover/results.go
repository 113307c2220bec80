package handover

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/grpc"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"

	"probelet.dev/goclient/proberv1"
)

// updatesKept is how many updates may wait before Set blocks, as in a kubelet.
const updatesKept = 20

// Results is the result cache of one probe type.
type Results struct {
	mu      sync.RWMutex
	cache   map[kubecontainer.ContainerID]results.Result
	updates chan results.Update
}

var _ results.Manager = (*Results)(nil)

// NewResults returns an empty cache.
func NewResults() *Results {
	cache := map[kubecontainer.ContainerID]results.Result{}
	return &Results{cache: cache, updates: make(chan results.Update, updatesKept)}
}

// Get returns the cached result of a container.
func (r *Results) Get(id kubecontainer.ContainerID) (results.Result, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	result, found := r.cache[id]
	return result, found
}

// Set caches a result, and sends an update if the container had none or another one.
func (r *Results) Set(id kubecontainer.ContainerID, result results.Result, pod *v1.Pod) {
	r.set(id, result, pod.UID)
}

func (r *Results) set(id kubecontainer.ContainerID, result results.Result, uid types.UID) {
	r.mu.Lock()
	before, found := r.cache[id]
	r.cache[id] = result
	r.mu.Unlock()
	if !found || before != result {
		r.updates <- results.Update{ContainerID: id, Result: result, PodUID: uid}
	}
}

// Remove forgets a container and sends no update.
func (r *Results) Remove(id kubecontainer.ContainerID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.cache, id)
}

// Updates returns the channel of changes. As in a kubelet, Set blocks if nothing reads it.
func (r *Results) Updates() <-chan results.Update { return r.updates }

// Len returns how many results are cached.
func (r *Results) Len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.cache)
}

func (r *Results) keepOnly(known map[kubecontainer.ContainerID]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.cache {
		if !known[id] {
			delete(r.cache, id)
		}
	}
}

// Caches are the three caches of a node, filled by Follow.
type Caches struct {
	Startup, Readiness, Liveness *Results
}

// NewCaches returns three empty caches.
func NewCaches() *Caches { return &Caches{NewResults(), NewResults(), NewResults()} }

func (c *Caches) of(probe proberv1.ProbeType) *Results {
	switch probe {
	case proberv1.ProbeType_STARTUP:
		return c.Startup
	case proberv1.ProbeType_READINESS:
		return c.Readiness
	default:
		return c.Liveness
	}
}

// Follow keeps the caches equal to the service's until the stream ends. A gap in the sequence numbers is an error,
// because the service promises none.
func (m *Manager) Follow(ctx context.Context, caches *Caches) error {
	stream, err := m.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, service+"WatchResults")
	if err != nil {
		return err
	}
	if err := stream.SendMsg(&proberv1.WatchResultsRequest{}); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
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

func (c *Caches) replace(all []*proberv1.ContainerResult) {
	known := map[*Results]map[kubecontainer.ContainerID]bool{c.Startup: {}, c.Readiness: {}, c.Liveness: {}}
	for _, result := range all {
		known[c.of(result.ProbeType)][kubecontainer.ParseContainerID(result.ContainerId)] = true
	}
	for cache, ids := range known {
		cache.keepOnly(ids)
	}
	for _, result := range all {
		c.apply(result)
	}
}

func (c *Caches) apply(change *proberv1.ContainerResult) {
	cache, id := c.of(change.ProbeType), kubecontainer.ParseContainerID(change.ContainerId)
	uid := types.UID(change.PodUid)
	switch change.Result {
	case proberv1.Result_SUCCESS:
		cache.set(id, results.Success, uid)
	case proberv1.Result_FAILURE:
		cache.set(id, results.Failure, uid)
	case proberv1.Result_UNKNOWN:
		cache.set(id, results.Unknown, uid)
	default:
		cache.Remove(id)
	}
}
