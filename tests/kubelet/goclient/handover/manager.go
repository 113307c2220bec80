// Package handover lets `probelet serve` do a kubelet's probing: its types implement the prober.Manager and the three
// results.Managers of Kubernetes 1.36.
package handover

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
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

// Manager is a kubelet's prober whose workers run in another process.
type Manager struct {
	conn *grpc.ClientConn
	// failed gets the error of each failed call, because the methods of prober.Manager return none.
	failed func(error)
}

var _ prober.Manager = (*Manager)(nil)

// Dial connects to the unix socket of `probelet serve`.
func Dial(socket string, failed func(error)) (*Manager, error) {
	sizes := grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage))
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()), sizes)
	if err != nil {
		return nil, err
	}
	return &Manager{conn: conn, failed: failed}, nil
}

// Close ends the connection.
func (m *Manager) Close() error { return m.conn.Close() }

// AddPod starts a worker for every probe of the pod that has none.
func (m *Manager) AddPod(ctx context.Context, pod *v1.Pod) {
	m.call(ctx, "AddPod", &proberv1.AddPodRequest{Pod: m.json(pod)}, &proberv1.AddPodResponse{})
}

// StopLivenessAndStartup ends the pod's liveness and startup workers: the first step of its termination.
func (m *Manager) StopLivenessAndStartup(pod *v1.Pod) {
	request := &proberv1.StopLivenessAndStartupRequest{PodUid: string(pod.UID)}
	m.call(context.Background(), "StopLivenessAndStartup", request, &proberv1.StopLivenessAndStartupResponse{})
}

// RemovePod ends the pod's workers.
func (m *Manager) RemovePod(pod *v1.Pod) {
	request := &proberv1.RemovePodRequest{PodUid: string(pod.UID)}
	m.call(context.Background(), "RemovePod", request, &proberv1.RemovePodResponse{})
}

// CleanupPods ends the workers of all pods that are not in desiredPods.
func (m *Manager) CleanupPods(desiredPods map[types.UID]sets.Empty) {
	request := &proberv1.CleanupPodsRequest{}
	for uid := range desiredPods {
		request.DesiredPodUids = append(request.DesiredPodUids, string(uid))
	}
	m.call(context.Background(), "CleanupPods", request, &proberv1.CleanupPodsResponse{})
}

// UpdatePodStatus fills started and ready of each container in status.
func (m *Manager) UpdatePodStatus(ctx context.Context, pod *v1.Pod, status *v1.PodStatus) {
	response := &proberv1.UpdatePodStatusResponse{}
	request := &proberv1.UpdatePodStatusRequest{Pod: m.json(pod), Status: m.json(status)}
	if !m.call(ctx, "UpdatePodStatus", request, response) {
		return
	}
	var filled v1.PodStatus
	if err := json.Unmarshal(response.Status, &filled); err != nil {
		m.failed(fmt.Errorf("UpdatePodStatus: %w", err))
		return
	}
	*status = filled
}

// SetPodStatus forwards a status from the kubelet's status manager: the workers read the latest one.
func (m *Manager) SetPodStatus(ctx context.Context, pod *v1.Pod, status *v1.PodStatus) {
	request := &proberv1.SetPodStatusRequest{PodUid: string(pod.UID), Status: m.json(status)}
	m.call(ctx, "SetPodStatus", request, &proberv1.SetPodStatusResponse{})
}

// RemovePodStatus drops the status of a pod that is gone.
func (m *Manager) RemovePodStatus(ctx context.Context, uid types.UID) {
	request := &proberv1.RemovePodStatusRequest{PodUid: string(uid)}
	m.call(ctx, "RemovePodStatus", request, &proberv1.RemovePodStatusResponse{})
}

func (m *Manager) call(ctx context.Context, method string, request, response proto.Message) bool {
	if err := m.conn.Invoke(ctx, service+method, request, response); err != nil {
		m.failed(fmt.Errorf("%s: %w", method, err))
		return false
	}
	return true
}

func (m *Manager) json(object any) []byte {
	text, err := json.Marshal(object)
	if err != nil {
		m.failed(err)
	}
	return text
}
