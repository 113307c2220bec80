// Package handover lets `probelet serve` do a kubelet's probing. Manager implements the prober.Manager of Kubernetes
// 1.36, Caches fill the kubelet's three results.Managers, and Statuses send on what its status.Manager keeps.
package handover

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/kubelet/prober"

	"probelet.dev/goclient/proberv1"
)

const service = "/probelet.v1.Prober/"

// maxMessage is the size of the largest message that either side accepts.
const maxMessage = 16 << 20

// patience is how long a call waits for a service that hangs.
const patience = 10 * time.Second

// Manager is a kubelet's prober whose workers run in another process. Keep connects it.
type Manager struct {
	conn *grpc.ClientConn
	// failed gets the error of each failed call, because the methods of prober.Manager return none.
	failed func(error)

	// mu is held during a call that changes what is handed over, so that handOver sends nothing older than that.
	mu sync.Mutex
	// What was handed over, because a service that was restarted has to get it again.
	pods     map[types.UID]*v1.Pod
	statuses map[types.UID][]byte
	stopped  map[types.UID]bool

	// answers guards the rest, and no call is made under it.
	answers sync.Mutex
	// has is true while the service has every pod: one that lacks a pod's workers takes its containers for ready.
	has bool
	// giveUp ends Follow, for a service that hangs.
	giveUp context.CancelFunc
	// filled has the last answers of UpdatePodStatus.
	filled map[types.UID]*v1.PodStatus
	caches *Caches
}

var _ prober.Manager = (*Manager)(nil)

// Dial names the unix socket of `probelet serve`. No service has to be there yet.
func Dial(socket string, failed func(error)) (*Manager, error) {
	sizes := grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage))
	soon := backoff.Config{BaseDelay: retry / 10, Multiplier: 1.6, MaxDelay: retry}
	params := grpc.WithConnectParams(grpc.ConnectParams{Backoff: soon, MinConnectTimeout: patience})
	credentials := grpc.WithTransportCredentials(insecure.NewCredentials())
	conn, err := grpc.NewClient("unix://"+socket, credentials, sizes, params)
	if err != nil {
		return nil, err
	}
	m := &Manager{conn: conn, failed: failed}
	m.pods, m.statuses, m.stopped = map[types.UID]*v1.Pod{}, map[types.UID][]byte{}, map[types.UID]bool{}
	m.filled = map[types.UID]*v1.PodStatus{}
	return m, nil
}

// Close ends the connection.
func (m *Manager) Close() error { return m.conn.Close() }

// AddPod starts a worker for every probe of the pod that has none.
func (m *Manager) AddPod(ctx context.Context, pod *v1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pods[pod.UID] = pod
	m.call(ctx, "AddPod", &proberv1.AddPodRequest{Pod: m.json(pod)}, &proberv1.AddPodResponse{})
}

// StopLivenessAndStartup ends the pod's liveness and startup workers: the first step of its termination.
func (m *Manager) StopLivenessAndStartup(pod *v1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stopped[pod.UID] = true
	request := &proberv1.StopLivenessAndStartupRequest{PodUid: string(pod.UID)}
	m.call(context.Background(), "StopLivenessAndStartup", request, &proberv1.StopLivenessAndStartupResponse{})
}

// RemovePod ends the pod's workers.
func (m *Manager) RemovePod(pod *v1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(pod.UID)
	request := &proberv1.RemovePodRequest{PodUid: string(pod.UID)}
	m.call(context.Background(), "RemovePod", request, &proberv1.RemovePodResponse{})
}

// CleanupPods ends the workers of all pods that are not in desiredPods.
func (m *Manager) CleanupPods(desiredPods map[types.UID]sets.Empty) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for uid := range m.pods {
		if _, found := desiredPods[uid]; !found {
			m.forget(uid)
		}
	}
	request := &proberv1.CleanupPodsRequest{}
	for uid := range desiredPods {
		request.DesiredPodUids = append(request.DesiredPodUids, string(uid))
	}
	m.call(context.Background(), "CleanupPods", request, &proberv1.CleanupPodsResponse{})
}

// SetPodStatus forwards a status from the kubelet's status manager: the workers read the latest one.
func (m *Manager) SetPodStatus(ctx context.Context, uid types.UID, status *v1.PodStatus) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.statuses[uid] = m.json(status)
	request := &proberv1.SetPodStatusRequest{PodUid: string(uid), Status: m.statuses[uid]}
	m.call(ctx, "SetPodStatus", request, &proberv1.SetPodStatusResponse{})
}

// RemovePodStatus drops the status of a pod that is gone.
func (m *Manager) RemovePodStatus(ctx context.Context, uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(uid)
	delete(m.statuses, uid)
	m.answers.Lock()
	delete(m.filled, uid)
	m.answers.Unlock()
	request := &proberv1.RemovePodStatusRequest{PodUid: string(uid)}
	m.call(ctx, "RemovePodStatus", request, &proberv1.RemovePodStatusResponse{})
}

// known returns the pods whose statuses the service has.
func (m *Manager) known() []types.UID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.statuses))
}

func (m *Manager) forget(uid types.UID) {
	delete(m.pods, uid)
	delete(m.stopped, uid)
}

// call returns whether the service answered. While it lacks pods nothing is asked: handOver sends what was said meanwhile.
func (m *Manager) call(ctx context.Context, method string, request, response proto.Message) bool {
	if !m.hasPods() {
		return false
	}
	err := m.invoke(ctx, method, request, response)
	if status.Code(err) == codes.DeadlineExceeded {
		m.lost()
	}
	return err == nil
}

// lost notes that the service lacks pods, or that nobody knows: nothing is asked, and Follow ends.
func (m *Manager) lost() {
	m.answers.Lock()
	defer m.answers.Unlock()
	m.has = false
	m.giveUp()
}

func (m *Manager) invoke(ctx context.Context, method string, request, response proto.Message) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := m.conn.Invoke(ctx, service+method, request, response)
	if err != nil {
		m.failed(fmt.Errorf("%s: %w", method, err))
	}
	return err
}

func (m *Manager) hasPods() bool {
	m.answers.Lock()
	defer m.answers.Unlock()
	return m.has
}

func (m *Manager) json(object any) []byte {
	text, err := json.Marshal(object)
	if err != nil {
		m.failed(err)
	}
	return text
}
