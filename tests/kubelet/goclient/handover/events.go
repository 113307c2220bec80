package handover

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/reference"

	"probelet.dev/goclient/proberv1"
)

// Record gives the service's events to a kubelet's recorder until the stream ends (kubelet
// prober.go:recordContainerEvent). An event about a pod that is gone is dropped.
func (m *Manager) Record(ctx context.Context, recorder record.EventRecorder) error {
	stream, err := m.reads(ctx, "WatchEvents", &proberv1.WatchEventsRequest{})
	if err != nil {
		return err
	}
	for {
		event := &proberv1.Event{}
		if err := stream.RecvMsg(event); err != nil {
			return err
		}
		m.mu.Lock()
		pod := m.pods[types.UID(event.PodUid)]
		m.mu.Unlock()
		if pod == nil {
			continue
		}
		about, err := reference.GetPartialReference(scheme.Scheme, pod, event.FieldPath)
		if err != nil {
			m.failed(err)
			continue
		}
		recorder.Event(about, event.Type, event.Reason, event.Message)
	}
}
