package main

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	nooptrace "go.opentelemetry.io/otel/trace/noop"
	internalapi "k8s.io/cri-api/pkg/apis"
	remote "k8s.io/cri-client/pkg"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"probelet.dev/benches/harness"
)

// A runner is the container runtime of exec probes: every command succeeds at once, unless there is a real runtime. It
// notes when it was asked.
type runner struct {
	service   internalapi.RuntimeService // Nil without a real runtime.
	recording atomic.Bool
	began     time.Time
	asked     [][]time.Duration
}

// Room for so many runs of a worker; later ones are not noted.
const runsMax = 64

func newRunner(ctx context.Context, o harness.Options) *runner {
	r := &runner{began: time.Now()}
	if o.Runtime != "" {
		// The kubelet's own client with the kubelet's own timeout (runtimeRequestTimeout).
		service, err := remote.NewRemoteRuntimeService(ctx, o.Runtime, 2*time.Minute, nooptrace.NewTracerProvider(), false)
		if err != nil {
			harness.Refuse(err)
		}
		r.service = service
	}
	if o.Handler == "exec" {
		expected := min(runsMax, int((o.Duration+o.Warm)/o.Period)+4)
		r.asked = make([][]time.Duration, o.Workers)
		for worker := range r.asked {
			r.asked[worker] = make([]time.Duration, 0, expected)
		}
	}
	return r
}

// RunInContainer with a real runtime is kuberuntime_container.go:RunInContainer, 1.36.
func (r *runner) RunInContainer(ctx context.Context, id kubecontainer.ContainerID, command []string, timeout time.Duration) ([]byte, error) {
	if r.service != nil {
		stdout, stderr, err := r.service.ExecSync(ctx, id.ID, command, timeout)
		return append(stdout, stderr...), err
	}
	if r.recording.Load() {
		_, number, _ := strings.Cut(id.ID, "-")
		// One goroutine asks for one worker, so its list needs no lock.
		if worker, err := strconv.Atoi(number); err == nil && worker < len(r.asked) && len(r.asked[worker]) < runsMax {
			r.asked[worker] = append(r.asked[worker], time.Since(r.began))
		}
	}
	return nil, nil
}

// lateness of exec runs against each worker's own grid, whose earliest run, modulo the period, is on time; nil for
// sockets, whose target knows it.
func (r *runner) lateness(period time.Duration) map[string]float64 {
	var late []time.Duration
	for _, asked := range r.asked {
		if len(asked) < 3 {
			continue // two points make no grid
		}
		offsets, earliest := make([]time.Duration, len(asked)), time.Duration(0)
		for i, at := range asked {
			since := at - asked[0]
			offsets[i] = since - since.Round(period)
			earliest = min(earliest, offsets[i])
		}
		for _, offset := range offsets {
			late = append(late, offset-earliest)
		}
	}
	if len(late) == 0 {
		return nil
	}
	slices.Sort(late)
	quantile := func(q float64) float64 { return harness.Round(late[int(float64(len(late)-1)*q)].Seconds()*1e3, 3) }
	return map[string]float64{"p50": quantile(.5), "p99": quantile(.99), "max": quantile(1)}
}
