package handover

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"k8s.io/client-go/tools/record"

	"probelet.dev/goclient/proberv1"
)

// retry is the time from the end of a stream to the next try.
const retry = time.Second

// errLacksPods ends a try to hand over, whose failed call has been reported.
var errLacksPods = errors.New("the service lacks pods")

// Keep connects to the service until ctx ends: it hands over every pod, then follows the results; beside that it records
// events and carries out exec probes. After the service was away it begins again.
func (m *Manager) Keep(
	ctx context.Context, caches *Caches, run func(*proberv1.ExecAttempt) *proberv1.ExecAnswer, recorder record.EventRecorder,
) {
	go m.again(ctx, "events", func() error { return m.Record(ctx, recorder) })
	go m.again(ctx, "execs", func() error { return m.CarryOutExecs(ctx, run) })
	m.again(ctx, "results", func() error {
		following, end := context.WithCancel(ctx)
		defer end()
		if !m.handOver(ctx, end) {
			return errLacksPods
		}
		err := m.Follow(following, caches)
		m.lost()
		return err
	})
}

func (m *Manager) again(ctx context.Context, name string, stream func() error) {
	for {
		err := stream()
		if ctx.Err() != nil {
			return
		}
		m.failed(fmt.Errorf("%s: %w", name, err))
		select {
		case <-time.After(retry):
		case <-ctx.Done():
			return
		}
	}
}

// handOver sends every status and every pod, and returns whether the service was there for all of it. What the service has
// already goes on, also when it is the kubelet that is new. The kubelet's next CleanupPods ends all that has gone meanwhile.
func (m *Manager) handOver(ctx context.Context, giveUp context.CancelFunc) bool {
	there := func(method string, request, response proto.Message) bool {
		// What it refuses it refuses each time.
		code := status.Code(m.invoke(ctx, method, request, response))
		return code != codes.Unavailable && code != codes.DeadlineExceeded
	}
	// A service that hangs is found out before anything waits for mu.
	if !there("ListResults", &proberv1.ListResultsRequest{}, &proberv1.ListResultsResponse{}) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for uid, text := range m.statuses {
		request := &proberv1.SetPodStatusRequest{PodUid: string(uid), Status: text}
		if !there("SetPodStatus", request, &proberv1.SetPodStatusResponse{}) {
			return false
		}
	}
	for _, pod := range m.pods {
		if !there("AddPod", &proberv1.AddPodRequest{Pod: m.json(pod)}, &proberv1.AddPodResponse{}) {
			return false
		}
	}
	for uid := range m.stopped {
		request := &proberv1.StopLivenessAndStartupRequest{PodUid: string(uid)}
		if !there("StopLivenessAndStartup", request, &proberv1.StopLivenessAndStartupResponse{}) {
			return false
		}
	}
	m.answers.Lock()
	defer m.answers.Unlock()
	m.has, m.giveUp = true, giveUp
	return true
}
